"""``skrldp report --ledger``: the ledger's rules, on files written in a safe order."""

import os
import stat
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_files import CHECKED, DESIGN, KEY, KEYED, read, table, write
from command_fixtures import call, designed, folder, ready
from hypothesis import given
from hypothesis import strategies as st

from skrldp import SRRSanitizer
from skrldp.batches import LedgerReporter
from skrldp.cli import _report

__all__ = ["call", "designed", "folder", "ready"]  # fixtures

LEDGER = ("--ledger", "ledger.parquet")


def new_key(path, text="abcd" * 16):
    path.touch(0o600)
    path.write_text(text)


def changed():
    """The same persons with other records."""
    records = table()
    return records.set_column(1, "ill", records["ill"].take(pa.array(range(299, -1, -1))))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_first_report_is_repeated(call, ready, designed, ending):
    """Whatever becomes of the record and of the key; the order is that of the records."""
    code, _, err = call("report", "mechanism.json", "records.csv", *KEYED, *LEDGER, "-o", "a.csv")
    assert code == 0
    assert err == (
        "skrldp: warning: there is no ledger ledger.parquet: a new one begins, which knows of no "
        "report given before.\n"
    )
    assert stat.S_IMODE((ready / "ledger.parquet").stat().st_mode) == 0o600 or os.name != "posix"
    one = LedgerReporter(designed, id="person", key=KEY)
    made = one(table())
    assert read("a.csv")["report"].to_pylist() == made["candidate"].to_pylist()
    entries = pq.read_table("ledger.parquet")
    assert entries.schema.equals(one.schema()) and len(entries) == 300
    assert entries["holder"].to_pylist() == made["holder"].to_pylist()

    write(changed(), f"changed.{ending}")
    before = (ready / "ledger.parquet").stat().st_mtime_ns
    arguments = ("report", "mechanism.json", f"changed.{ending}", *KEYED)
    assert call(*arguments, *LEDGER, "-o", "b.csv") == (0, "", "")
    assert read("b.csv") == read("a.csv")
    assert call(*arguments[:3], *CHECKED, "-o", "without.csv") == (0, "", "")
    assert read("without.csv") != read("a.csv")
    new_key(ready / "new.key")
    rotated = ("--id", "person", "--key", "new.key", *LEDGER)
    code, _, err = call(*arguments[:3], *rotated, "-o", "c.csv")
    assert code == 2 and "Report with the key with which it began" in err
    assert "ledger_key" not in err
    assert not (ready / "c.csv").exists()
    assert (ready / "ledger.parquet").stat().st_mtime_ns == before
    assert not [name for name in os.listdir(ready) if name.endswith(".part")]


@pytest.mark.parametrize("kind", ["views", "views in a dictionary"])
def test_ids_in_other_forms(call, ready, kind):
    """The ledger's joins lack views; a dictionary of which an entry is missing has no missing row.

    In Arrow files, dictionaries may not change from batch to batch.
    """
    if not hasattr(pa, "string_view"):
        pytest.skip("this pyarrow has no views")
    few, names = table().slice(0, 250), [f"person number {row} of all" for row in range(250)]
    plain = pa.array(names)
    ids, missing = plain.cast(pa.string_view()), pa.array([None, *names[1:]])
    if kind != "views":
        rows = pa.array(range(250), pa.int32())
        ids, missing = (pa.DictionaryArray.from_arrays(rows, own) for own in (ids, missing))
    arguments = ("report", "mechanism.json", "few.arrow", *KEYED, *LEDGER, "-o", "out.arrow")
    write(few.set_column(0, "person", missing), "few.arrow")
    code, _, err = call(*arguments)
    assert code == 2 and "column 'person' has no id in 1 row (0)" in err
    write(few.set_column(0, "person", ids), "few.arrow")
    assert call(*arguments)[0] == 0
    assert read("out.arrow")["person"].to_pylist() == names
    assert call(*arguments[:5], "--key", "key", "-o", "without.arrow")[0] == 0
    assert read("without.arrow")["report"].to_pylist() == read("out.arrow")["report"].to_pylist()


def test_at_most_so_many_reports(call, ready, designed):
    """Of two mechanisms and epochs; who has none left of another mechanism is left out."""
    public = write(table(), ready / "public.parquet")
    other = [word if word != "1" else "1.5" for word in DESIGN]
    assert call("design", public, *other, "-o", "other.json")[0] == 0
    few = write(table().slice(100), ready / "few.parquet")
    first = ("report", "mechanism.json", few, *KEYED, *LEDGER)
    assert call(*first, "-o", "1.parquet")[0] == 0
    second = ("report", "other.json", "records.csv", *KEYED, *LEDGER)
    code, _, err = call(*second, "-o", "2.parquet")
    assert code == 0
    assert "warning: 200 of 300 records were left out: these persons have no report left" in err
    people = [str(person) for person in table()["person"].to_pylist()[:100]]
    assert read("2.parquet")["person"].to_pylist() == people  # ids in text files are texts
    code, _, err = call(*second, "--max-reports", "2", "-o", "3.parquet")
    assert code == 0
    assert (
        "warning: the ledger ledger.parquet began with --max-reports 1, and this run has 2" in err
    )
    assert len(read("3.parquet")) == 300
    assert read("3.parquet").slice(0, 100) == read("2.parquet")
    late = ("report", "mechanism.json", "records.csv", *KEYED, *LEDGER, "--epoch", "700")
    assert call(*late, "--max-reports", "2", "-o", "4.parquet")[0] == 0
    found = read("4.parquet")
    assert found["epoch"].to_pylist() == [700] * 100 + [0] * 200
    assert found["report"].to_pylist()[100:] == read("1.parquet")["report"].to_pylist()
    assert len(pq.read_table("ledger.parquet")) == 600


def test_the_ledger_is_written_first(call, ready):
    """A run that ends between the two has lost nothing: the next one repeats what was entered."""
    done = []

    def stopping(rename):
        def stop(source, target):
            if done:
                raise OSError(28, "No space left on device")
            done.append(os.path.basename(target))
            return rename(source, target)

        return stop

    patch = pytest.MonkeyPatch()
    for name in ("replace", "link"):
        patch.setattr(os, name, stopping(getattr(os, name)))
    arguments = ("report", "mechanism.json", "records.csv", *KEYED, *LEDGER, "-o", "out.csv")
    assert call(*arguments)[0] == 2
    assert done == ["ledger.parquet"]
    assert sorted(os.listdir(ready)) == [
        ".ledger.parquet.lock",
        "key",
        "ledger.parquet",
        "mechanism.json",
        "records.csv",
    ]
    patch.undo()
    entered = pq.read_table("ledger.parquet")["report"].to_pylist()
    write(changed(), "records.csv")
    assert call(*arguments) == (0, "", "")
    assert read("out.csv")["report"].to_pylist() == entered


@pytest.mark.parametrize("ending", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("entered", [0, 1, 2])
def test_a_run_that_ends_early_says_what_it_wrote(call, ready, monkeypatch, ending, entered):
    """While the ledger is written, while the output is, and where it had all entries before."""
    done = []

    def stopping(rename):
        def stop(source, target):
            if len(done) == min(entered, 1):
                raise ending()
            done.append(os.path.basename(target))
            return rename(source, target)

        return stop

    arguments = ("report", "mechanism.json", "records.csv", *KEYED, *LEDGER)
    if entered == 2:  # and nothing is new
        assert call(*arguments, "-o", "before.csv")[0] == 0
        done.append("ledger.parquet")
    for name in ("replace", "link"):
        monkeypatch.setattr(os, name, stopping(getattr(os, name)))
    code, _, err = call(*arguments, "-o", "out.csv")
    assert code == (130 if ending is KeyboardInterrupt else 2)
    last = err.splitlines()[-1]
    assert ("interrupted; nothing was written" in last) == (code == 130 and entered == 2)
    assert ("the ledger ledger.parquet may have the entries of this run" in last) == (entered < 2)
    assert not (ready / "out.csv").exists()


PUBLIC = pa.table({"ill": ["no", "yes"], "visits": ["rare", "often"]})
MECHANISM = SRRSanitizer(eps=1.0, sensitive="ill").fit(PUBLIC).mechanism_
DIGEST = LedgerReporter(MECHANISM, id="person", key=KEY).digest


@given(st.data())
def test_batches_are_settled_as_tables_are(data):
    """Against the joins of an engine: two designs, epochs, rows written twice."""
    people = [f"{person:032x}" for person in range(1, 6)]
    row = st.tuples(st.sampled_from(people), st.integers(0, 3), st.sampled_from([DIGEST, "b" * 64]))
    most, epoch = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 3))
    rows = data.draw(st.lists(row, max_size=12))
    asked = data.draw(st.lists(st.sampled_from(people), unique=True))
    one = LedgerReporter(MECHANISM, id="person", key=KEY, max_reports=most, epoch=epoch)
    holder, epochs, digest = zip(*rows, strict=True) if rows else ((), (), ())
    columns = {"holder": holder, "key": [one.ledger_key_check] * len(rows), "epoch": epochs}
    columns |= {"digest": digest, "report": [(3 * e + len(h)) % 2 for h, e, _ in rows]}
    ledger = pa.table(columns, one.schema())
    candidates = pa.table(
        {
            "person": pa.array(asked, pa.string()),
            "candidate": pa.array([1] * len(asked), pa.uint8()),
            "holder": pa.array(asked, pa.string()),
        }
    )
    made, past = (pl.from_arrow(table).lazy() for table in (candidates, ledger))
    new = one.entries(made, past)
    wanted = one.reports(made, pl.concat([past, new])).collect().to_dicts()
    new = new.collect().to_dicts()
    assert sorted(one.entries(candidates, ledger).to_pylist(), key=repr) == sorted(new, key=repr)
    grown = pa.concat_tables([ledger, pa.Table.from_pylist(new, ledger.schema)])
    own = one.reports(candidates, grown).to_pylist()
    assert sorted(own, key=repr) == sorted(wanted, key=repr)
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a new ledger, of people left out
        path = Path(place, "ledger.parquet")
        if rows:
            pq.write_table(ledger, path)
        book = _report._Ledger(str(path), path, one)
        schema = book.output_schema(candidates.schema, with_epoch=True)
        found = [
            row
            for batch in candidates.to_batches(max_chunksize=2)
            for row in book.settle(batch, schema).to_pylist()
        ]
        book.enter([])
        after = pq.read_table(path) if path.exists() else ledger
    assert sorted(found, key=repr) == sorted(wanted, key=repr)
    assert after.to_pylist()[: len(ledger)] == ledger.to_pylist()
    assert sorted(after.to_pylist()[len(ledger) :], key=repr) == sorted(new, key=repr)


HOLDER = """
import sys, time
from skrldp.cli._report import held
from skrldp.batches import LedgerReporter
one = LedgerReporter(open("mechanism.json").read(), id="person", key=bytes(range(32)))
with held("ledger.parquet", one):
    print("held", flush=True)
    time.sleep(600)
"""


def test_another_run_waits(call, ready, monkeypatch):
    """As long as a run holds the ledger; one that was killed holds nothing."""
    monkeypatch.setattr("skrldp.cli._report._PATIENCE", 0.2)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True
    ) as other:
        try:
            assert other.stdout.readline() == "held\n"
            arguments = ("report", "mechanism.json", "records.csv", *KEYED, *LEDGER)
            code, out, err = call(*arguments)
            assert (code, out) == (2, "")
            assert "another run holds the ledger" in err
            assert not (ready / "ledger.parquet").exists()
        finally:
            other.kill()
    assert call(*arguments)[0] == 0


CASES = {
    "no id": (("--ledger", "l.parquet"), "--ledger go with --id and --key"),
    "no ledger": ((*KEYED, "--max-reports", "2"), "go with --ledger"),
    "other file": ((*KEYED, "--ledger", "records.csv"), "records.csv is no ledger"),
    "other table": ((*KEYED, "--ledger", "table.parquet"), "table.parquet is no ledger"),
    "standard": ((*KEYED, "--ledger", "-"), "a ledger is a Parquet file"),
    "no folder": ((*KEYED, "--ledger", "no/l.parquet"), "there is no folder"),
    "the output": ((*KEYED, "--ledger", "out.csv"), "is to be read and written"),
    "eps": ((*KEYED, *LEDGER, "--max-reports", "0"), "--max-reports"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_ledgers(call, ready, case):
    arguments, fragment = CASES[case]
    pq.write_table(table(), ready / "table.parquet")
    before = {name for name in os.listdir(ready) if not name.endswith(".lock")}
    code, out, err = call("report", "mechanism.json", "records.csv", *arguments, "-o", "out.csv")
    assert (code, out) == (2, "")
    assert fragment in err
    assert {name for name in os.listdir(ready) if not name.endswith(".lock")} == before
