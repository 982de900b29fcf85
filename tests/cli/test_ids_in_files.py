"""Whose record it is: the same id in all formats, whatever else a file holds."""

import command_fixtures
import polars as pl
import pyarrow as pa
import pytest
from command_files import CHECKED, KEY, KEYED, read, table, write

from skrldp.batches import Reporter, key_check

call, designed = command_fixtures.call, command_fixtures.designed
folder, ready = command_fixtures.folder, command_fixtures.ready


def reports_of(call, folder, name):
    """The report of each id, as the file has the id."""
    done = call("report", "mechanism.json", name, *CHECKED, "-o", "reports.parquet", "--force")
    assert (done[0], done[2]) == (0, ""), done
    found = read(folder / "reports.parquet").to_pydict()
    return dict(zip(found["person"], found["report"], strict=True))


def test_one_odd_id_changes_nobodys_report(call, ready):
    """The type of ids is not inferred from rows: those of 299 others stay what they are."""
    before = reports_of(call, ready, "records.csv")
    text = (ready / "records.csv").read_text()
    assert text.count("\n2093,") == 1
    (ready / "odd.csv").write_text(text.replace("\n2093,", "\nx9,"))
    after = reports_of(call, ready, "odd.csv")
    assert set(before) - set(after) == {"2093"}
    assert [after[id] for id in before if id != "2093"] == list(before.values())[:-1]


def test_ids_go_out_as_they_came_in(call, ready):
    ids = ["007", "7", "+7", " 7", "7.0", "NA", "null", "nan", "true", "2026-01-01"]
    records = table().slice(0, len(ids)).set_column(0, "person", pa.array(ids))
    write(records, ready / "odd.csv")
    write(records, ready / "odd.parquet")
    found = reports_of(call, ready, "odd.csv")
    assert list(found) == ids
    assert found == reports_of(call, ready, "odd.parquet")


def test_an_empty_field_is_no_id(call, ready):
    text = (ready / "records.csv").read_text()
    for field in ("", '""'):
        (ready / "odd.csv").write_text(text.replace("\n2093,", f"\n{field},"))
        code, out, err = call("report", "mechanism.json", "odd.csv", *CHECKED, "-o", "out.csv")
        assert (code, out) == (2, "")
        assert "has no id in 1 row (299)" in err


@pytest.mark.parametrize("given", [KEYED, ("--keep", "person")])
def test_two_quotes_too_many_let_no_record_out(call, ready, given):
    """A reader of CSV makes one field of all lines between them: here an id with raw records."""
    text = (ready / "records.csv").read_text().replace('"', "")
    (ready / "odd.csv").write_text(text.replace("\n7,", '\n"7,').replace("\n2093,", '\n"2093,'))
    code, out, err = call("report", "mechanism.json", "odd.csv", *given, "-o", "out.csv")
    assert (code, out) == (2, "")
    assert "row 1 (counted from 0) has a line end in column 'person'" in err
    assert not (ready / "out.csv").exists()


def test_lines_within_a_quoted_field_are_told(call, ready):
    """Of a column that is not read: nothing but the number of rows shows what was swallowed."""
    lines = (ready / "records.csv").read_text().replace('"', "").splitlines()
    notes = ["note", *([""] * 300)]
    arguments = ("report", "mechanism.json", "odd.csv", *CHECKED, "-o", "out.csv", "--force")

    def reported(notes, end="\n"):
        text = "".join(f"{line},{note}{end}" for line, note in zip(lines, notes, strict=True))
        (ready / "odd.csv").write_bytes(text.encode())
        code, _, err = call(*arguments)
        assert code == 0
        return len(read(ready / "out.csv")), err

    assert reported(notes) == (300, "")
    assert reported(notes, "\r\n\n") == (300, "")  # lines without a character are no rows
    assert reported(notes, "\r") == (300, "")  # as some programs end lines
    notes[2], notes[8] = '"', 'odd"'
    number, err = reported(notes)
    assert number == 294
    assert "odd.csv: 6 of 301 lines begin within a quoted field" in err and "quote too many" in err


ENDINGS_OF_IDS = ("csv", "tsv", "jsonl", "parquet", "arrow")


@pytest.mark.parametrize("ending", ENDINGS_OF_IDS)
@pytest.mark.parametrize("kind", ["numbers", "texts"])
def test_the_same_id_in_all_formats(call, ready, designed, ending, kind):
    """An integer and its digits are the same id, beyond 2**53 too; the same in Python."""
    ids = [2**53 + 1, 2**63 - 1, -7, 0, *range(10**9, 10**9 + 296)]
    records = table().set_column(0, "person", pa.array(ids))
    expected = Reporter(designed, id="person", key=KEY).report_batch(
        records.combine_chunks().to_batches()[0]
    )
    if kind == "texts":
        records = records.set_column(0, "person", pa.array(list(map(str, ids))))
    write(records, ready / f"in.{ending}")
    found = reports_of(call, ready, f"in.{ending}")
    assert list(map(str, found)) == list(map(str, ids))
    assert list(found.values()) == expected["report"].to_pylist()


def test_a_run_without_a_check_of_its_key_says_which_to_give(call, ready):
    """A key file that was written anew would report everybody a second time, without a word."""
    given = ("report", "mechanism.json", "records.csv", *KEYED)
    code, _, err = call(*given, "-o", "first.csv")
    check = key_check(KEY)
    assert code == 0
    assert f"would report a second time. Add --key-check {check} in later runs." in err
    (ready / "key").write_text("ab" * 32)
    code, _, err = call(*given, "--key-check", check, "-o", "second.csv")
    assert code != 0
    assert "another one than" in err
    assert not (ready / "second.csv").exists()


@pytest.mark.parametrize("given", [KEYED, ("--keep", "person")])
def test_ids_that_are_pieces_of_lines_let_no_line_out(call, ready, given):
    """Views of Arrow share the buffer of the whole texts, which an Arrow file holds."""
    lines = pl.DataFrame({"line": [f"person-number-{row:03d};SECRET" for row in range(9)]})
    ids = lines.select(person=pl.col("line").str.head(17)).to_arrow(
        compat_level=pl.CompatLevel.newest()
    )
    write(table().slice(0, 9).set_column(0, "person", ids["person"]), ready / "cut.arrow")
    assert b"SECRET" in (ready / "cut.arrow").read_bytes()
    assert call("report", "mechanism.json", "cut.arrow", *given, "-o", "out.arrow")[0] == 0
    out = (ready / "out.arrow").read_bytes()
    assert b"person-number-008" in out and b"SECRET" not in out
