"""The web survey's database: what its bytes tell of the order of reports, and many writers."""

import secrets
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import ROOT
from scipy.stats import spearmanr

sys.path.append(str(ROOT / "examples" / "web_survey"))

import store

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
    return [(secrets.token_hex(16), secrets.randbelow(60)) for _ in range(n)]


def plainly(path, reports):
    """Store reports as SQLite does by itself."""
    for pair in reports:
        base = sqlite3.connect(path)
        base.executescript(store.SCHEMA)
        base.execute("INSERT OR IGNORE INTO survey VALUES ('d')")
        base.execute("INSERT INTO reports VALUES (?, ?)", pair)
        base.commit()
        base.close()


def one_by_one(path, reports):
    into = store.Store(path, "d")
    for pair in reports:
        assert into.add(*pair) == (pair[1], True)


def attack(folder, reports):
    """Correlate the order of arrival with where each id is in all files, and how often."""
    raw = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    clues = []
    for id, _ in reports:
        first, last = raw.find(id.encode()), raw.rfind(id.encode())
        assert first >= 0
        clues.append((first, last, first % PAGE, last % PAGE, raw.count(id.encode())))
    found = []
    for clue in np.transpose(clues):
        constant = (clue == clue[0]).all()
        found.append(0.0 if constant else spearmanr(clue, np.arange(len(clue))).statistic)
    return found


@pytest.mark.parametrize("write", [one_by_one, plainly])
def test_the_order_of_reports_cannot_be_read_from_the_files(write, tmp_path):
    """Reports that SQLite puts where there is room are in their order, the survey's are not.

    Five rank correlations, means of 20 runs of 60 reports each. For an order that is not there each
    has mean 0 and standard deviation (20 · 59)^-1/2 = .029: false alarms below 5e-8.
    """
    found = []
    for run in range(20):
        folder = tmp_path / str(run)
        folder.mkdir()
        reports = drawn(60)
        write(folder / "reports.sqlite", reports)
        found.append(attack(folder, reports))
    worst = np.abs(np.mean(found, axis=0)).max()
    assert worst > 0.99 if write is plainly else worst < 0.17


def test_the_bytes_are_a_function_of_the_reports(tmp_path):
    """Several pages of reports, in other orders, alone and in groups, and after an interruption."""
    reports = drawn(300)
    shuffled = [reports[i] for i in np.random.default_rng().permutation(300)]
    for name, pairs in {"one": reports, "two": shuffled}.items():
        one_by_one(tmp_path / name, pairs)
    into = store.Store(tmp_path / "groups", "d")
    for start in range(0, 300, 37):
        into.add_many(shuffled[start : start + 37])
    plainly(tmp_path / "interrupted", shuffled)
    plain = (tmp_path / "interrupted").read_bytes()
    store.Store(tmp_path / "interrupted", "d")
    written = {path.name: bytearray(path.read_bytes()) for path in tmp_path.iterdir()}
    assert written["one"] == written["two"]  # to the last byte: as many writes
    assert len(written["one"]) > 4 * PAGE and plain != written["interrupted"]
    assert sorted(written) == ["groups", "interrupted", "one", "two"]  # and no journal
    for raw in written.values():
        for counter in COUNTERS:
            raw[counter] = bytes(4)
    assert all(raw == written["one"] for raw in written.values())


def test_many_writers_do_not_wait_for_the_database(tmp_path, connect):
    """A database that is in use is an error at once here, yet none of 40 threads meets one."""
    connect["timeout"] = 0.0
    into = store.Store(tmp_path / "reports.sqlite", "d")
    reports = drawn(150)
    same = secrets.token_hex(16)
    with ThreadPoolExecutor(40) as threads:
        answers = [threads.submit(into.add, *pair) for pair in reports]
        contested = [threads.submit(into.add, same, y) for y in range(50)]
        seen = [threads.submit(into.counts, 60) for _ in range(20)]
    assert [each.result() for each in answers] == [(y, True) for _, y in reports]
    (stored,) = {each.result()[0] for each in contested}  # all are told of the same one
    assert [each.result()[1] for each in contested] == [y == stored for y in range(50)]
    expected = np.bincount([y for _, y in reports] + [stored], minlength=60).tolist()
    assert into.counts(60) == expected
    assert all(sum(each.result()) <= 151 for each in seen)


def test_a_failure_to_write_is_told_to_all_who_wait(tmp_path):
    into = store.Store(tmp_path / "reports.sqlite", "d")
    into.path = tmp_path / "none" / "reports.sqlite"
    with ThreadPoolExecutor(4) as threads:
        answers = [threads.submit(into.add, *pair) for pair in drawn(8)]
    assert all(isinstance(each.exception(), sqlite3.OperationalError) for each in answers)
    into.path = tmp_path / "reports.sqlite"
    assert into.add("0" * 32, 3) == (3, True)
    assert sum(into.counts(60)) == 1
