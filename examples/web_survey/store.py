"""Reports in an SQLite database: one for each id, without times or the order in which they came."""

import sqlite3
from collections import deque
from concurrent.futures import Future
from contextlib import closing
from threading import Lock

SCHEMA = """
CREATE TABLE IF NOT EXISTS survey (digest TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reports (id TEXT PRIMARY KEY, report INTEGER NOT NULL) WITHOUT ROWID;
"""


class Store:
    """The reports of one mechanism.

    The table is sorted by the random ids, so its rows do not tell who came when. SQLite's pages do:
    each new row is put where there is room. So the database is written anew, in the order of the
    ids, whenever rows have been added. But for counters of how often it was written, its bytes are
    then a function of the reports that it has.

    Parameters
    ----------
    path : path
        The database; made if it is not there.
    digest : str
        The mechanism's.
    """

    def __init__(self, path, digest):
        self.path, self._writing, self._waiting = path, Lock(), deque()
        with self._open() as base:
            base.executescript(SCHEMA)
            base.execute("INSERT OR IGNORE INTO survey VALUES (?)", (digest,))
            base.commit()
            digests = [row[0] for row in base.execute("SELECT digest FROM survey")]
            base.execute("VACUUM")  # a server that was killed may not have come to this
        if digests != [digest]:
            raise ValueError(
                f"{path} has reports of another mechanism. They cannot be counted together: take "
                "another folder, or the mechanism.json that belongs to it."
            )

    def _open(self):
        base = sqlite3.connect(self.path, timeout=20.0)
        base.execute("PRAGMA secure_delete = ON")
        base.execute("PRAGMA temp_store = MEMORY")
        return closing(base)

    def add(self, id, report):
        """Store a report; return the one that is stored under this id, and whether it is new."""
        return self.add_many([(id, report)])[0]

    def add_many(self, reports):
        """Store pairs of id and report; return for each what :meth:`add` does."""
        answers = Future()
        self._waiting.append((list(reports), answers))
        with self._writing:
            if not answers.done():  # or they were written with those of others
                self._write()
        return answers.result()

    def _write(self):
        """Write all that is waiting."""
        waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            reports = sorted({pair for pairs, _ in waiting for pair in pairs})
            with self._open() as base:
                found = {pair: _insert(base, *pair) for pair in reports}
                base.commit()
                base.execute("VACUUM")
            for pairs, answers in waiting:
                answers.set_result([found[pair] for pair in pairs])
        except BaseException as problem:
            for _, answers in waiting:
                answers.set_exception(problem)

    def counts(self, n_symbols):
        """Count the reports of each symbol."""
        with self._writing, self._open() as base:
            seen = dict(base.execute("SELECT report, COUNT(*) FROM reports GROUP BY report"))
        return [seen.get(report, 0) for report in range(n_symbols)]


def _insert(base, id, report):
    added = base.execute("INSERT OR IGNORE INTO reports VALUES (?, ?)", (id, report))
    (stored,) = base.execute("SELECT report FROM reports WHERE id = ?", (id,)).fetchone()
    return stored, added.rowcount == 1
