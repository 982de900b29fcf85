"""The web survey's database: what its bytes tell of reports and invitations, and many writers."""

import secrets
import sqlite3
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import ROOT

pytest.importorskip("fastapi", reason="fastapi (group: survey) is missing")
sys.path.append(str(ROOT / "examples" / "web_survey"))

from store import SCHEMA, Outcome, Sent, Store, hash_of

PAGE = 4096
COUNTERS = slice(24, 28), slice(40, 44), slice(92, 96)  # of transactions, in SQLite's header


@pytest.fixture(autouse=True)
def connect(monkeypatch):
    """SQLite that does not wait for the disk, and for others only as long as it is asked to."""
    options, plain = {}, sqlite3.connect

    def connect(path, **others):
        base = plain(path, **{**others, **options})
        base.execute("PRAGMA synchronous = OFF")
        return base

    monkeypatch.setattr(sqlite3, "connect", connect)
    return options


def drawn(n):
    return [
        Sent(
            secrets.token_hex(16),
            secrets.token_hex(16),
            secrets.randbelow(3),
            secrets.randbelow(60),
        )
        for _ in range(n)
    ]


def plainly(path, reports):
    """Store reports as SQLite does by itself."""
    for sent in reports:
        base = sqlite3.connect(path)
        base.executescript(SCHEMA)
        base.execute("INSERT OR IGNORE INTO survey VALUES ('d')")
        base.execute("INSERT INTO invitations VALUES (?, 1)", (hash_of(sent.invitation),))
        base.execute("INSERT INTO reports VALUES (?, ?, ?)", sent[1:])
        base.commit()
        base.close()


def invited(path, reports, *others):
    into = Store(path, "d")
    into.invite(sorted([*others, *(sent.invitation for sent in reports)]))
    return into


def test_the_bytes_are_a_function_of_the_reports_and_invitations(tmp_path):
    """Not of order, groups, interruptions, nor of which invitation a report was sent with.

    All who are invited are in the database, used or not, and so is no invitation itself.
    """
    reports, late = drawn(300), secrets.token_hex(16)
    shuffled = [reports[i] for i in np.random.default_rng().permutation(300)]
    swapped = [a._replace(invitation=b.invitation) for a, b in zip(reports, shuffled, strict=True)]
    for name, several in {"ordered": reports, "shuffled": shuffled, "swapped": swapped}.items():
        into, size = invited(tmp_path / name, reports, late), 37 if name == "swapped" else 1
        for start in range(0, 300, size):
            assert set(into.add_many(several[start : start + size])) == {Outcome.NEW}
    plainly(tmp_path / "interrupted", shuffled)
    plain = (tmp_path / "interrupted").read_bytes()
    Store(tmp_path / "interrupted", "d").invite([late])
    written = {path.name: bytearray(path.read_bytes()) for path in tmp_path.iterdir()}
    assert written["ordered"] == written["shuffled"]  # to the last byte: as many writes
    assert len(written["ordered"]) > 4 * PAGE and plain != written["interrupted"]
    assert sorted(written) == ["interrupted", "ordered", "shuffled", "swapped"]  # and no journal
    for raw in written.values():
        for counter in COUNTERS:
            raw[counter] = bytes(4)
    raw = written["ordered"]
    assert all(other == raw for other in written.values())
    for token in [late, *(sent.invitation for sent in reports)]:
        assert token.encode() not in raw
        assert hash_of(token).encode() in raw


def test_what_is_refused_is_not_written(tmp_path):
    """Neither the database nor a journal beside it is touched."""
    reports = drawn(4)
    into = invited(tmp_path / "reports.sqlite", reports[:2])
    into.add(reports[0])
    used = reports[0]._replace(id=secrets.token_hex(16))
    refused = [*reports[2:], reports[0], reports[0]._replace(report=61), used]
    before = [path.stat().st_mtime_ns for path in (tmp_path, into.path)], into.path.read_bytes()
    outcomes = [into.add(sent) for sent in refused] + into.add_many(refused)
    assert len(set(outcomes)) == 4 and Outcome.NEW not in outcomes
    after = [path.stat().st_mtime_ns for path in (tmp_path, into.path)], into.path.read_bytes()
    assert after == before


@pytest.mark.parametrize("step", [1, 7])
def test_results_are_renewed_by_whole_steps_whatever_happens(step, tmp_path):
    """Reports come in groups of any size; restarts and other servers are in between."""
    rng, reports = np.random.default_rng(), drawn(60)
    into = invited(tmp_path / "reports.sqlite", reports)
    shown, stored = into.shown(step), 0
    while stored < len(reports):
        group = reports[stored : stored + rng.integers(0, 10)]
        into.add_many(group)
        stored += len(group)
        if rng.random() < 0.5:
            into = Store(tmp_path / "reports.sqlite", "d")
        renewed = into.shown(step)
        further = (renewed - shown).total()
        assert shown <= renewed
        assert further == 0 or further >= step
        assert stored - renewed.total() < step
        if further:
            assert renewed == Counter(sent[2:] for sent in reports[:stored])
        shown = renewed


def test_many_writers_do_not_wait_for_the_database(tmp_path, connect):
    """A database that is in use is an error at once here, yet none of 40 threads meets one."""
    connect["timeout"] = 0.0
    reports, (first, second) = drawn(150), drawn(2)
    into = invited(tmp_path / "reports.sqlite", [*reports, first, second])
    same = [first._replace(report=y) for y in range(50)]  # one id, and so one browser
    token = [second._replace(id=secrets.token_hex(16), report=y) for y in range(50)]
    with ThreadPoolExecutor(40) as threads:
        answers = threads.map(into.add, reports)
        contested = [threads.map(into.add, several) for several in (same, token)]
        seen = [threads.submit(into.shown, 1) for _ in range(20)]
    assert set(answers) == {Outcome.NEW}
    contested = [list(found) for found in contested]
    for found, refused in zip(contested, (Outcome.OTHER, Outcome.USED), strict=True):
        assert sorted(each.name for each in found) == sorted(["NEW"] + 49 * [refused.name])
    stored = [
        several[found.index(Outcome.NEW)]
        for several, found in zip((same, token), contested, strict=True)
    ]
    assert into.shown(1) == Counter(sent[2:] for sent in [*reports, *stored])
    assert all(each.result().total() <= 152 for each in seen)
