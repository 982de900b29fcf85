"""Reports in an SQLite database: one for each id, without times or the order in which they came."""

import sqlite3
from contextlib import closing

SCHEMA = """
CREATE TABLE IF NOT EXISTS survey (digest TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reports (id TEXT PRIMARY KEY, report INTEGER NOT NULL) WITHOUT ROWID;
"""


class Store:
    """The reports of one mechanism.

    The table is sorted by the random ids, so that rows do not tell who came when.

    Parameters
    ----------
    path : path
        The database; made if it is not there.
    digest : str
        The mechanism's.
    """

    def __init__(self, path, digest):
        self.path = path
        with closing(self._open()) as base, base:
            base.executescript(SCHEMA)
            base.execute("INSERT OR IGNORE INTO survey VALUES (?)", (digest,))
            digests = [row[0] for row in base.execute("SELECT digest FROM survey")]
        if digests != [digest]:
            raise ValueError(
                f"{path} has reports of another mechanism. They cannot be counted together: take "
                "another folder, or the mechanism.json that belongs to it."
            )

    def _open(self):
        base = sqlite3.connect(self.path, timeout=20.0)
        base.execute("PRAGMA secure_delete = ON")
        return base

    def add(self, id, report):
        """Store a report; return the one that is stored under this id, and whether it is new."""
        with closing(self._open()) as base, base:
            added = base.execute("INSERT OR IGNORE INTO reports VALUES (?, ?)", (id, report))
            new = added.rowcount == 1
            (stored,) = base.execute("SELECT report FROM reports WHERE id = ?", (id,)).fetchone()
        return stored, new

    def add_many(self, reports):
        """Store pairs of id and report, each of which is new."""
        with closing(self._open()) as base, base:
            base.executemany("INSERT INTO reports VALUES (?, ?)", reports)

    def counts(self, n_symbols):
        """Count the reports of each symbol."""
        with closing(self._open()) as base:
            seen = dict(base.execute("SELECT report, COUNT(*) FROM reports GROUP BY report"))
        return [seen.get(report, 0) for report in range(n_symbols)]
