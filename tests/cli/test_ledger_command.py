"""``skrldp report --ledger``: one rule, settings that stay, and no third report whatever happens.

``make lives`` kills a run at every write, and flips more bits.
"""

import itertools
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import warnings
from contextlib import chdir, contextmanager
from dataclasses import replace

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pytest
from command_files import CHECKED, KEY, KEYED, call, designed, folder, read, ready, table, write
from conftest import few_iterations
from hypothesis import given
from hypothesis import strategies as st
from lazy_frames import in_arrow

from skrldp import Mechanism, SRRSanitizer
from skrldp.batches import LedgerReporter, key_check
from skrldp.batches.ledger_reporter import IS_NEW, SETTLED, SETTLED_AT, settled
from skrldp.claims import Around, Claim, Claims
from skrldp.cli import _ledger_file, main

__all__ = ["call", "designed", "folder", "ready"]  # fixtures

LIVES = int(os.environ.get("SKRLDP_LIVES", "6"))
NAME = "people.duckdb"
LEDGER = ("--ledger", NAME)
REPORT = ("report", "mechanism.json", "records.csv", *KEYED, *LEDGER)


def changed():
    """The same persons with other records."""
    records = table()
    return records.set_column(1, "ill", records["ill"].take(pa.array(range(299, -1, -1))))


def rows(query="FROM reports"):
    with duckdb.connect(NAME, read_only=True) as engine:
        return engine.execute(query).fetchall()


# The rule


def by_the_rule(given, person, design, epoch, most, candidate):
    """Return the report that leaves, and whether it is new; given: {(design, epoch): report}."""
    if (design, epoch) in given:
        return (given[design, epoch], epoch), False
    if len(given) < most:
        return (candidate, epoch), True
    earlier = [e for d, e in given if d == design and e < epoch]
    if not earlier:
        return None, False
    return (given[design, max(earlier)], max(earlier)), False


PUBLIC = pa.table({"ill": ["no", "yes"], "visits": ["rare", "often"]})
MECHANISM = SRRSanitizer(eps=1.0, sensitive="ill").fit(PUBLIC).mechanism_
DIGEST = LedgerReporter(MECHANISM, id="person", key=KEY).digest
PEOPLE = [f"{person:032x}" for person in range(1, 6)]


@pytest.mark.slow
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(PEOPLE), st.integers(1, 2), st.integers(0, 3)),
        st.integers(0, 1),
        max_size=12,
    ),
    st.lists(st.sampled_from(PEOPLE), unique=True, min_size=1),
    st.integers(0, 3),
    st.integers(1, 3),
    st.sampled_from(["pyarrow", "pandas", "polars", "lazy"]),
)
def test_the_joins_follow_the_rule(entries, asked, epoch, most, library):
    """Those of DuckDB, of the command's tables, and of the reporter, in which rows are doubled."""
    expected = {}
    for person in asked:
        own = {key[1:]: report for key, report in entries.items() if key[0] == person}
        found, is_new = by_the_rule(own, person, 1, epoch, most, candidate=1)
        expected[person] = (*(found or (0, -1)), is_new)

    with duckdb.connect() as engine:
        engine.execute(_ledger_file._TABLES)
        if entries:
            values = [(0, person, e, d, report) for (person, d, e), report in entries.items()]
            engine.executemany("INSERT INTO reports VALUES (?, ?, ?, ?, ?)", values)
        engine.register("made", pa.table({"holder": asked, "candidate": [1] * len(asked)}))
        candidates = engine.sql("SELECT holder::UUID AS holder, candidate FROM made")
        found = settled(candidates, engine.table("reports"), ("design", 1), epoch, most)
        columns = f'holder, "{SETTLED}", "{SETTLED_AT}", "{IS_NEW}"'
        out = {
            holder.hex: tuple(row) for holder, *row in found.to_native().project(columns).fetchall()
        }
    assert out == expected

    one = LedgerReporter(MECHANISM, id="person", key=KEY, max_reports=most, epoch=epoch)
    columns = [(p, one.ledger_key_check, e, (DIGEST, "b" * 64)[d - 1]) for p, d, e in entries]
    columns = dict(zip(one.schema().names, [*zip(*columns, strict=True)] or [()] * 4, strict=False))
    ledger = pa.table({**columns, "report": list(entries.values())}, one.schema())
    ledger = pa.concat_tables([ledger, ledger])
    texts = pa.array(asked, pa.string())
    made = {"person": texts, "candidate": pa.array([1] * len(asked), pa.uint8()), "holder": texts}

    def make(table):
        frame = nw.from_arrow(table, backend="polars" if library == "lazy" else library)
        return (frame.lazy() if library == "lazy" else frame).to_native()

    candidates = make(pa.table(made))
    new = in_arrow(one.entries(candidates, make(ledger)))
    assert sorted(new["holder"].to_pylist()) == sorted(p for p in asked if expected[p][2])
    grown = make(pa.concat_tables([ledger, new.cast(ledger.schema)]))
    leaves = in_arrow(one.reports(candidates, grown))
    wanted = {p: tuple(found[:2]) for p, found in expected.items() if found[1] >= 0}
    found = zip(*(leaves[name].to_pylist() for name in leaves.column_names), strict=True)
    assert {person: (report, epoch) for person, report, epoch in found} == wanted


# Runs


def test_a_first_report_is_repeated(call, ready, designed):
    """Whatever becomes of the record; the order is that of the records."""
    code, _, err = call(*REPORT, "-o", "a.csv")
    assert code == 0
    assert err == (
        f"skrldp: warning: there is no ledger {NAME}: a new one is created, without any "
        "earlier reports.\n"
    )
    assert stat.S_IMODE((ready / NAME).stat().st_mode) == 0o600 or os.name != "posix"
    made = LedgerReporter(designed, id="person", key=KEY)(table())
    assert read("a.csv")["report"].to_pylist() == made["candidate"].to_pylist()
    entries = {str(holder).replace("-", ""): report for _, holder, _, _, report in rows()}
    expected = zip(made["holder"].to_pylist(), made["candidate"].to_pylist(), strict=True)
    assert entries == dict(expected)

    write(changed(), "changed.csv")
    before = (ready / NAME).read_bytes()
    arguments = ("report", "mechanism.json", "changed.csv", *KEYED)
    assert call(*arguments, *LEDGER, "-o", "b.csv") == (0, "", "")
    assert read("b.csv") == read("a.csv")
    assert call(*arguments[:3], *CHECKED, "-o", "without.csv") == (0, "", "")
    assert read("without.csv") != read("a.csv")
    assert (ready / NAME).read_bytes() == before
    assert not [name for name in os.listdir(ready) if name.startswith((".", NAME + "."))]


@pytest.mark.slow
def test_parts_of_many_records_are_settled_in_their_order(call, ready, designed):
    """Parts of at least 262,144 records, each by one scan of the ledger."""
    records = pa.concat_tables([table()] * 1_000)
    records = records.set_column(0, "person", pa.array(range(len(records))))
    write(records, "records.parquet")
    run = ("report", "mechanism.json", "records.parquet", *KEYED, *LEDGER, "-o", "a.parquet")
    assert call(*run)[0] == 0
    entries = LedgerReporter(designed, id="person", key=KEY)(records)
    assert read("a.parquet")["person"].to_pylist() == records["person"].to_pylist()
    assert read("a.parquet")["report"].to_pylist() == entries["candidate"].to_pylist()
    assert rows("SELECT count(*) FROM reports") == [(len(records),)]


@pytest.fixture(scope="module")
def designs(tmp_path_factory):
    """Mechanisms of two secrets; one of them bounds one report alone."""
    place = tmp_path_factory.mktemp("designs")
    public = write(table(), place / "public.parquet")
    for name, eps, secret in (("a", 1, "ill"), ("b", 1.5, "ill"), ("c", 1, "zip")):
        columns = [word for n in ("ill", "zip") if n != secret for word in ("-c", n)]
        arguments = ("design", public, "-s", secret, *columns, "-e", eps, "--eps-worst-case", 2)
        with few_iterations(), warnings.catch_warnings(action="ignore"):
            assert main([*map(str, arguments), "-o", str(place / f"{name}.json")]) == 0
    made = Mechanism.from_matrix(np.full((2, 4), 0.5), ("no", "yes"), ("01", "02"))
    near = Around("renyi", {"alpha": 2.0, "radius": 0.1}, "given")
    made = made.named(None, [("ill", True), ("zip", False)])
    one = replace(made, claims=Claims((Claim(0.75, 0.5, near, ("ill",)),)))
    (place / "d.json").write_text(one.to_json())
    return place


@pytest.fixture
def bounded(ready, designs):
    """The folder with these mechanisms."""
    shutil.copytree(designs, ready, dirs_exist_ok=True)
    return ready


def test_at_most_so_many_reports(call, bounded):
    """Of two mechanisms and epochs; who has none left of another mechanism is left out."""
    few = write(table().slice(100), bounded / "few.parquet")
    assert call("report", "a.json", few, *KEYED, *LEDGER, "-o", "1.parquet")[0] == 0
    second = ("report", "b.json", "records.csv", *KEYED, *LEDGER)
    code, _, err = call(*second, "-o", "2.parquet")
    assert code == 0
    assert "warning: 200 of 300 records were left out, because these people have used" in err
    people = [str(person) for person in table()["person"].to_pylist()[:100]]
    assert read("2.parquet")["person"].to_pylist() == people  # ids in text files are texts

    code, _, err = call(*second, "--max-reports", "2", "-o", "3.parquet")
    assert code == 2 and "and 2 would let 2 reports about a person leak eps<=" in err
    bound = re.search(r"eps<=([0-9.]+)", err)[1]
    assert 1.5 < float(bound) <= 1.5 + 2.0  # eps of one of them, and eps_worst_case of the other
    raised = (*second, "--max-reports", "2", "--raise-max-reports")
    assert call(*raised, "-o", "3.parquet")[0] == 0
    assert len(read("3.parquet")) == 300
    assert read("3.parquet").slice(0, 100) == read("2.parquet")
    late = ("report", "a.json", "records.csv", *KEYED, *LEDGER, "--epoch", "700")
    assert call(*late, "-o", "4.parquet")[0] == 0  # as many as the ledger allows
    found = read("4.parquet")
    assert found["epoch"].to_pylist() == [700] * 100 + [0] * 200
    assert found["report"].to_pylist()[100:] == read("1.parquet")["report"].to_pylist()
    assert max(rows("SELECT count(*) FROM reports GROUP BY holder")) == (2,)

    code, out, err = call("inspect", NAME)
    assert (code, err) == (0, "")
    for line in (
        "people        300",
        f"2, which together leak eps<={bound}",
        "200 in epoch 0, 100 in",
    ):
        assert line in out


def test_numbers_that_are_rounded_at_random(call, ready):
    """A report is repeated whatever becomes of the number; counts need the witness of design."""
    hours = [row % 97 for row in range(300)]
    records = table().select(["person", "ill"])
    for name, shift in (("records.csv", 0), ("moved.csv", 2)):
        write(records.append_column("hours", pa.array([n + shift for n in hours])), name)
    asked = ("design", "records.csv", "-s", "ill", "-c", "hours", "-e", "1", "--sanitizer", "srr")
    files = ("--witness", "w.json", "--public-counts", "c.json", "-o", "k.json")
    assert call(*asked, "--knots", "hours=0,50,99", *files)[0] == 0
    run = ("report", "k.json")
    assert call(*run, "records.csv", *KEYED, *LEDGER, "--max-reports", "2", "-o", "a.csv")[0] == 0
    assert call(*run, "moved.csv", *KEYED, *LEDGER, "-o", "b.csv")[0] == 0
    assert read("b.csv") == read("a.csv")
    for epoch in ("1", "2"):
        again = ("--epoch", epoch, "-o", f"{epoch}.csv")
        assert call(*run, "moved.csv", *KEYED, *LEDGER, *again)[0] == 0
    assert read("1.csv") == read("2.csv") and read("1.csv")["report"] != read("a.csv")["report"]
    code, _, err = call("verify", "k.json", "records.csv")
    assert code == 2 and "pass --witness and --public-counts, written by design" in err
    assert call("verify", "k.json", *files[:4])[0] == 0


def test_settings_stay(call, bounded):
    """Another number, key, secret or version is an error, and changes nothing."""
    one = ("report", "a.json", "records.csv", *KEYED, *LEDGER)
    assert call(*one, "--max-reports", "2", "-o", "1.csv")[0] == 0
    before = (bounded / NAME).read_bytes()
    (bounded / "new.key").touch(0o600)
    (bounded / "new.key").write_text(KEY[::-1].hex())
    rotated = ("--id", "person", "--key", "new.key", *LEDGER)
    for arguments, message in (
        ((*one, "--max-reports", "1"), "made: 1 is too few. Omit it."),
        ((*one, "--max-reports", "1", "--raise-max-reports"), "is too few. Omit it."),
        ((*one, "--max-reports", "3"), "and 3 would let 3 reports about a person leak eps<="),
        ((*one[:3], *rotated), f"Report with the key whose check digits are {key_check(KEY)}"),
        ((one[0], "c.json", *one[2:]), 'counts reports about ["ill"], but this mechanism prot'),
        (
            (one[0], "d.json", *one[2:]),
            "but 2 may reveal the secret. Fit with --eps-worst-case",
        ),
    ):
        code, _, err = call(*arguments, "-o", "2.csv")
        assert code == 2 and message in err, err
        assert (bounded / NAME).read_bytes() == before and not (bounded / "2.csv").exists()
    os.unlink(NAME)
    assert call(one[0], "d.json", *one[2:], "-o", "2.csv")[0] == 0
    more = (*one, "--max-reports", "2", "--raise-max-reports", "-o", "3.csv")
    assert "counts reports of a mechanism that bounds one report" in call(*more)[2]


# Faults


@pytest.mark.parametrize("ending", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("is_entered", [False, True])
def test_the_ledger_is_written_first(call, ready, monkeypatch, ending, is_entered):
    """A run that ends before or after has lost nothing: the next one repeats what was entered."""
    enter = _ledger_file.Ledger.enter

    def stop(self):
        if is_entered:
            enter(self)
        raise ending

    monkeypatch.setattr(_ledger_file.Ledger, "enter", stop)
    code, _, err = call(*REPORT, "-o", "out.csv")
    assert code == (130 if ending is KeyboardInterrupt else 2)
    assert (f"the ledger {NAME} may have the entries of this run" in err) == is_entered
    assert set(os.listdir(ready)) == {"key", "mechanism.json", "records.csv", NAME}
    monkeypatch.setattr(_ledger_file.Ledger, "enter", enter)
    entered = [report for *_, report in rows()]
    assert len(entered) == 300 * is_entered
    write(changed(), "records.csv")
    assert call(*REPORT, "-o", "out.csv")[0] == 0
    assert sorted(read("out.csv")["report"].to_pylist()) == sorted(entered) or not is_entered


@contextmanager
def user_of_the_ledger():
    """Another process that has the ledger open."""
    code = f"import duckdb\nd = duckdb.connect({NAME!r})\nprint('open', flush=True)\ninput()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as other:
        assert other.stdout.readline() == "open\n"
        try:
            yield other
        finally:
            other.kill()


def test_another_run_waits(call, ready, monkeypatch):
    """As long as a run has the ledger, and says so; one that was killed has nothing."""
    assert call(*REPORT, "-o", "a.csv")[0] == 0
    with user_of_the_ledger() as other:
        code, out, err = call(*REPORT, "--wait", "0")
        assert (code, out) == (2, "")
        assert f"another process (PID {other.pid}) uses the ledger {NAME}." in err
        monkeypatch.setattr(
            _ledger_file.time, "sleep", lambda seconds: (other.kill(), other.wait())
        )
        code, _, err = call(*REPORT, "-o", "b.csv")
    assert code == 0
    assert err == (
        f"skrldp: warning: another process (PID {other.pid}) uses the ledger {NAME}; waiting up to "
        "60 s.\n"
    )
    assert read("b.csv") == read("a.csv")


EDITS = {
    "a row is deleted": "DELETE FROM reports WHERE rowid = 7",
    "so that the count is right": "DELETE FROM reports WHERE rowid = 7; "
    "INSERT INTO reports FROM reports LIMIT 1",
    "a person is elsewhere": "UPDATE reports SET part = 1 - part WHERE part < 2",
    "a row is doubled": "INSERT INTO reports FROM reports LIMIT 1",
    "a person is unknown": "UPDATE reports SET holder = uuid() WHERE rowid = 7",
    "a report": "UPDATE reports SET report = report + 1 WHERE rowid = 7",
    "a digest": "UPDATE designs SET digest = 'ab'",
    "a bound": "UPDATE designs SET eps_all = 0.1",
    "a setting": "UPDATE settings SET max_reports = 2",
    "the settings": "DELETE FROM settings",
    "the table": "DROP TABLE reports",
    "a column": "ALTER TABLE reports DROP COLUMN epoch",
    "version": "UPDATE settings SET version = 2",
}


@pytest.fixture(scope="module")
def begun(tmp_path_factory, designed):
    """A folder with a ledger, in which each person has a report."""
    place = tmp_path_factory.mktemp("begun")
    (place / "mechanism.json").write_bytes(designed)
    (place / "key").touch(0o600)
    (place / "key").write_text(KEY.hex())
    write(table(), place / "records.csv")
    with chdir(place):
        assert main([*REPORT, "-o", "a.csv"]) == 0
    write(changed(), place / "records.csv")
    return place


@pytest.fixture
def again(begun, tmp_path, monkeypatch):
    """A copy of that folder, the current one."""
    shutil.copytree(begun, tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    return tmp_path / "own"


@pytest.mark.parametrize("case", EDITS)
def test_ledgers_that_were_edited_are_refused(call, again, case):
    """An error that names no person and no value, before anything is reported."""
    with duckdb.connect(NAME) as engine:
        engine.execute(EDITS[case])
    code, out, err = call(*REPORT, "-o", "b.csv")
    assert (code, out) == (2, "") and not (again / "b.csv").exists()
    assert ("a ledger of version 2" if case == "version" else f"{NAME} is damaged, or") in err


def test_few_records_read_the_rows_that_are_checked_and_no_others(call, again):
    """The other parts of the ledger may be damaged, even by rows of these people; none may lack."""
    first = dict(zip(*(read("a.csv")[n].to_pylist() for n in ("person", "report")), strict=True))
    write(changed().slice(0, 1), "one.csv")
    run = ("report", "mechanism.json", "one.csv", *KEYED, *LEDGER)
    assert call(*run, "-o", "b.csv")[0] == 0
    [(holder,)] = rows("SELECT holder FROM reports ORDER BY rowid LIMIT 1")
    with duckdb.connect(NAME) as engine:
        other = f"rowid = (SELECT min(rowid) FROM reports WHERE part != {holder.bytes[0]})"
        engine.execute(f"UPDATE reports SET holder = '{holder}', report = 999 WHERE {other}")
    assert call(*run, "-o", "c.csv")[0] == 0
    assert read("c.csv").to_pylist() == [{"person": 0, "report": first[0]}]
    with duckdb.connect(NAME) as engine:
        engine.execute(f"DELETE FROM reports WHERE holder = '{holder}' AND report = 999")
    assert call(*run, "-o", "d.csv")[0] == 2


def test_flipped_bits_are_noticed_or_change_nothing(call, again):
    """Half of them in blocks that are used."""
    whole = (again / NAME).read_bytes()
    draw = random.Random(LIVES)
    used = [start for start in range(0, len(whole), 4096) if any(whole[start : start + 4096])]
    outcomes = []
    for number in range(LIVES):
        start = draw.choice(used) if number % 2 else draw.randrange(0, len(whole), 4096)
        flipped = bytearray(whole)
        flipped[start + draw.randrange(4096)] ^= 1 << draw.randrange(8)
        (again / NAME).write_bytes(flipped)
        code, _, _ = call(*REPORT, "-o", f"{number}.csv")
        assert code == 2 or (code == 0 and read(f"{number}.csv") == read("a.csv"))
        outcomes.append(code)
    assert 2 in outcomes


@pytest.mark.skipif(LIVES < 50 or not shutil.which("strace"), reason="make lives, with strace")
@pytest.mark.parametrize("what", ["pwrite64", "fdatasync,fsync", "link,unlink"])
def test_a_run_that_is_killed_loses_nothing(call, again, what):
    """At each of these system calls: in the transaction, in the checkpoint and between."""
    half = table().set_column(0, "person", pa.array(range(1050, 1350)))  # some are known
    write(half, "half.csv")
    whole = (again / NAME).read_bytes()
    run = [sys.executable, "-c", "import sys; from skrldp.cli import main; sys.exit(main())"]
    arguments = ("report", "mechanism.json", "half.csv", *KEYED, *LEDGER)
    first = dict(zip(*(read("a.csv")[n].to_pylist() for n in ("person", "report")), strict=True))
    for number in itertools.count(1):
        for left in again.glob(f"{NAME}*"):
            left.unlink()
        (again / NAME).write_bytes(whole)
        inject = [
            "strace",
            "-f",
            "-o",
            os.devnull,
            "-e",
            f"inject={what}:signal=KILL:when={number}",
        ]
        killed = subprocess.run([*inject, *run, *arguments, "-o", "k.csv"], capture_output=True)
        out = read("k.csv") if (again / "k.csv").exists() else None
        assert call(*arguments, "-o", "n.csv")[0] == 0
        now = read("n.csv")
        reports = dict(zip(*(now[n].to_pylist() for n in ("person", "report")), strict=True))
        assert out is None or out == now
        assert all(reports[person] == first[person] for person in first.keys() & reports.keys())
        assert rows("SELECT count(*), count(DISTINCT holder) FROM reports") == [
            (len(first | reports),) * 2
        ]
        for name in ("k.csv", "n.csv"):
            (again / name).unlink(missing_ok=True)
        if killed.returncode == 0:
            break
    assert number >= 3


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of a file's size")
@pytest.mark.parametrize("size", [64, 300])
def test_a_full_disk_is_said_with_the_name(again, size):
    """Whichever file is full; afterwards the ledger is as it was, or has the entries."""
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size} << 10,) * 2); "
        "from skrldp.cli import main; sys.exit(main())"
    )
    write(table().set_column(0, "person", pa.array(range(5000, 5300))), "others.csv")
    run = [sys.executable, "-c", code, "report", "mechanism.json", "others.csv", *KEYED, *LEDGER]
    done = subprocess.run([*run, "-o", "b.csv"], capture_output=True, text=True)
    if done.returncode:
        assert done.returncode == 2 and not (again / "b.csv").exists()
        assert NAME in done.stderr or "b.csv" in done.stderr, done.stderr
    assert len(rows()) in ((300, 600) if done.returncode else (600,))


CASES = {
    "no id": (("--ledger", "l.duckdb"), "--ledger require --id and --key"),
    "no ledger": ((*KEYED, "--max-reports", "2"), "require --ledger"),
    "other file": (
        (*KEYED, "--ledger", "records.csv"),
        "records.csv is damaged, or is not a ledger",
    ),
    "other database": ((*KEYED, "--ledger", "other.duckdb"), "is not a ledger"),
    "empty": ((*KEYED, "--ledger", "empty"), "is not a ledger"),
    "standard": ((*KEYED, "--ledger", "-"), "a ledger is a DuckDB file"),
    "no folder": ((*KEYED, "--ledger", "no/l.duckdb"), "there is no folder"),
    "the output": ((*KEYED, "--ledger", "out.csv"), "is both input and output"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_ledgers(call, ready, case):
    arguments, fragment = CASES[case]
    (ready / "empty").touch()
    with duckdb.connect("other.duckdb") as engine:
        engine.execute("CREATE TABLE settings (name VARCHAR)")
    before = {name: (ready / name).read_bytes() for name in os.listdir(ready)}
    code, out, err = call("report", "mechanism.json", "records.csv", *arguments, "-o", "out.csv")
    assert (code, out) == (2, "")
    assert fragment in err
    assert {
        name: (ready / name).read_bytes() for name in os.listdir(ready) if name != "out.csv"
    } == before
