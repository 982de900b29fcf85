"""Reports and invitations in an SQLite database, without times, order or the senders of reports."""

import enum
import hashlib
import sqlite3
from collections import Counter, deque
from concurrent.futures import Future
from contextlib import closing
from threading import Lock
from typing import NamedTuple

SCHEMA = """
CREATE TABLE IF NOT EXISTS survey (digest TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reports
  (id TEXT PRIMARY KEY, block INTEGER NOT NULL, report INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS invitations
  (hash TEXT PRIMARY KEY, used INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shown
  (block INTEGER, report INTEGER, number INTEGER, PRIMARY KEY (block, report)) WITHOUT ROWID;
"""
COUNTS = "SELECT block, report, COUNT(*) FROM reports GROUP BY block, report"


class Sent(NamedTuple):
    """A browser's message, of which only `id`, `block` and `report` are stored together."""

    invitation: str
    id: str
    block: int
    report: int


class Outcome(enum.Enum):
    """The outcome of a report."""

    NEW = "stored"
    AGAIN = "stored before"
    OTHER = "another report is stored under this id"
    USED = "the invitation was used before"
    UNKNOWN = "there is no such invitation"


class Store:
    """The reports of one manifest, and the invitations to send them.

    Tables are sorted by random ids and by hashes of random tokens, so that rows do not reveal who
    came when, or whose report is whose. SQLite's pages would reveal it, because each new row is
    stored where there is room. Therefore, the database is rewritten in sorted order after each
    change. Apart from counters of writes, its bytes then depend only on the reports, the used
    invitations and the counts whose results were shown.

    Parameters
    ----------
    path : path
        Path of the database, which is created if it does not exist.
    digest : str
        Digest of the manifest.
    """

    def __init__(self, path, digest):
        self.path, self._writing, self._waiting = path, Lock(), deque()
        with self._open() as base:
            base.executescript(SCHEMA)
            first = "INSERT INTO survey SELECT ? WHERE NOT EXISTS (SELECT 1 FROM survey)"
            base.execute(first, (digest,))
            base.commit()
            digests = [row[0] for row in base.execute("SELECT digest FROM survey")]
            base.execute("VACUUM")  # a server that was killed may not have done this
        if digests != [digest]:
            raise ValueError(
                f"{path} has reports of another manifest. They cannot be counted together: take "
                "another folder, or the manifest.json that belongs to it."
            )

    def _open(self):
        base = sqlite3.connect(self.path, timeout=20.0)
        base.execute("PRAGMA secure_delete = ON")
        base.execute("PRAGMA temp_store = MEMORY")
        return closing(base)

    def invite(self, tokens):
        """Accept one report for each of these tokens."""
        with self._writing, self._open() as base:
            rows = [(hash_of(token),) for token in tokens]
            base.executemany("INSERT OR IGNORE INTO invitations VALUES (?, 0)", rows)
            base.commit()
            base.execute("VACUUM")

    def add(self, sent):
        """Store a report if its invitation is open; return the outcome."""
        return self.add_many([sent])[0]

    def add_many(self, reports):
        """Store reports; return the outcome of each."""
        answers = Future()
        self._waiting.append((list(reports), answers))
        with self._writing:
            if not answers.done():  # unless they were written together with those of others
                self._write()
        return answers.result()

    def _write(self):
        """Write all pending reports."""
        waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            reports = sorted({sent for several, _ in waiting for sent in several})
            with self._open() as base:
                base.execute("BEGIN IMMEDIATE")
                found = {sent: _insert(base, sent) for sent in reports}
                base.commit()
                if Outcome.NEW in found.values():  # otherwise, nothing has been written
                    base.execute("VACUUM")
            for several, answers in waiting:
                answers.set_result([found[sent] for sent in several])
        except BaseException as problem:
            for _, answers in waiting:
                answers.set_exception(problem)

    def check(self):
        """Raise sqlite3.Error if the database cannot be read."""
        with self._open() as base:
            base.execute("SELECT digest FROM survey").fetchone()

    def shown(self, step):
        """Count the reports that results show: a number for each pair of block and report.

        They are stored, and updated only after at least `step` further reports, so that nobody can
        compute from two results what fewer reports have changed, not even after a restart.
        """
        with self._writing, self._open() as base:
            if _further(base) >= step:
                base.execute("BEGIN IMMEDIATE")
                if _further(base) >= step:  # unless another process has updated them
                    base.execute("DELETE FROM shown")
                    base.execute(f"INSERT INTO shown {COUNTS}")
                base.commit()
                base.execute("VACUUM")
            rows = base.execute("SELECT block, report, number FROM shown")
            return Counter({(block, report): number for block, report, number in rows})


def hash_of(token):
    """Return the hash of a token, so that readers of the database cannot use open invitations."""
    return hashlib.sha256(token.encode()).hexdigest()


def _insert(base, sent):
    """Store a report and use up its invitation, both or neither.

    Without an invitation, nobody can find out whether an id has been stored.
    """
    hashed = (hash_of(sent.invitation),)
    invited = base.execute("SELECT used FROM invitations WHERE hash = ?", hashed).fetchone()
    if invited is None:
        return Outcome.UNKNOWN
    stored = base.execute("SELECT block, report FROM reports WHERE id = ?", (sent.id,)).fetchone()
    if stored is not None:
        return Outcome.AGAIN if stored == (sent.block, sent.report) else Outcome.OTHER
    if invited[0]:
        return Outcome.USED
    base.execute("UPDATE invitations SET used = 1 WHERE hash = ?", hashed)
    base.execute("INSERT INTO reports VALUES (?, ?, ?)", (sent.id, sent.block, sent.report))
    return Outcome.NEW


def _further(base):
    """Return the number of reports that are not yet shown."""
    (stored,) = base.execute("SELECT COUNT(*) FROM reports").fetchone()
    (shown,) = base.execute("SELECT TOTAL(number) FROM shown").fetchone()
    return stored - shown
