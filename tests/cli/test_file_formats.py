"""Tables in files: values of CSV are strings, always; and what is wrong with a file."""

import datetime
import gzip
import json
import os
import string
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from command_files import (
    CHECKED,
    DAYS,
    DESIGN,
    KEY,
    KEYED,
    call,
    designed,
    folder,
    read,
    ready,
    table,
    write,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import Mechanism
from skrldp.batches import Reporter
from skrldp.cli._mechanism import read_categories
from skrldp.cli._tables import Table

__all__ = ["call", "designed", "folder", "ready"]  # fixtures

SECRET = "nobody-may-read-this"


def rows_of(path, columns=None):
    return pa.Table.from_batches(Table(str(path), columns).batches()).to_pylist()


def reported(call, name, *more):
    """The report of each id."""
    done = call("report", "mechanism.json", name, *CHECKED, "-o", "out.parquet", *more)
    assert done == (0, "", "")
    found = read("out.parquet").to_pydict()
    os.unlink("out.parquet")
    return dict(zip(map(str, found["person"]), found["report"], strict=True))


@pytest.fixture
def expected(designed):
    """The reports of the records, by id."""
    made = Reporter(designed, id="person", key=KEY)(table()).to_pydict()
    return dict(zip(map(str, made["person"]), made["report"], strict=True))


# --- Values are texts ----------------------------------------------------------------------------

ODD = ["007", "1e5", "true", "0x1F", "12345678901234567890123", "NaN", "null", "2026-01-01", "1.50"]


def test_a_value_is_what_the_file_says(call, folder):
    """In designs, reports and counts: odd strings, a sixth of them missing."""
    rows = [f"{('no', 'yes')[i % 2]},{code}" for i, code in enumerate([*ODD, "", "NA"] * 6)]
    (folder / "odd.csv").write_text("\n".join(["ill,code", *rows]))
    options = ("-s", "ill", "-e", "1", "--sanitizer", "srr", "--missing", "NA")
    assert call("design", "odd.csv", *options, "-o", "m.json")[0] == 0
    assert json.loads((folder / "m.json").read_text())["values"] == [*sorted(ODD), None]
    assert call("report", "m.json", "odd.csv", "--missing", "NA")[0] == 0
    assert call("verify", "m.json", "odd.csv", "--missing", "NA")[0] == 0
    code, _, err = call("report", "m.json", "odd.csv")
    assert code == 2 and "does not know a value (not shown)" in err


TEXTS = st.text(string.ascii_letters + string.digits + " .,;\"'+-\t\n\r|é", max_size=9)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=9))
@settings(max_examples=50, deadline=None)
def test_whatever_texts_are_written_are_read(tmp_path_factory, rows):
    """Quotes, delimiters and line ends in them, too; an empty field is missing."""
    place = tmp_path_factory.mktemp("texts")
    given = [{"a": a or None, "b": b or None} for a, b in rows if a or b]
    if not given:
        return
    quoted = [",".join('"' + (r[c] or "").replace('"', '""') + '"' for c in "ab") for r in given]
    (place / "t.csv").write_text("a,b\n" + "\n".join(quoted) + "\n", newline="")
    with pytest.warns(UserWarning, match="begin within") if _split(given) else nullcontext():
        assert rows_of(place / "t.csv") == given


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_empty_line_is_a_missing_value_of_a_single_column(tmp_path, end):
    """As Polars writes it; a quoted one, as pandas and Arrow write it, is missing as well."""
    for values in ["a", None, "b"], [None, "a", None, None], [None], ["ab", None] * 40_000:
        for missing in ("", '""'):
            lines = ["", "", "x", *(missing if value is None else value for value in values)]
            text = "".join(line + end for line in lines).encode("utf-8-sig")
            (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text, 1))
            assert [row["x"] for row in rows_of(tmp_path / "t.csv.gz")] == values


def _split(rows):
    return any(end in (text or "") for row in rows for text in row.values() for end in "\r\n")


MOMENT = datetime.datetime(2026, 1, 31, 12, 30)
MEETING = [  # a category, the texts that meet it, and some that do not
    (
        5,
        ["5", "5.0", "+5", "5e0", "05"],
        ["5.00000000000000000001", "5,0", "0x5", " 5", "٥", "5_0"],
    ),
    (0.1, ["0.1", "1e-1", ".10"], ["0.10000000000000001", "0.1f"]),
    (2**60 + 1, [str(2**60 + 1)], [str(2**60), "1.152921504606847e18"]),
    (True, ["true", "True"], ["1", "yes", "t"]),
    (DAYS[0], ["2026-01-01", "2026-01-01 00:00"], ["2026-1-1", "01.01.2026", "2026-01-01 00:01"]),
    (MOMENT, ["2026-01-31 12:30:00", "2026-01-31T12:30"], ["2026-01-31"]),
    (datetime.time(12, 30), ["12:30", "12:30:00"], ["12:30:01"]),
    ("5", ["5"], ["5.0"]),
]


@pytest.mark.parametrize("case", MEETING, ids=lambda case: repr(case[0]))
def test_a_text_meets_the_category_that_it_parses_to_exactly(case):
    category, those, others = case
    texts = pa.array([*those, *others, None])
    found = read_categories(texts, "column", [category], "row {}", 0).to_pylist()
    assert found[: len(those)] == [category] * len(those)
    assert category not in found[len(those) :]


def test_what_is_declared_missing_is_not_the_empty_string(call, folder):
    """An empty field may be the empty string, which a mechanism may know."""
    secrets = Mechanism.from_matrix(np.eye(2), ("",), ("", "a"), observe="nonsensitive")
    (folder / "m.json").write_text(secrets.named(None, [("s", True), ("u", False)]).to_json())
    files = {
        "empty.csv": ("u,v\n,1\na,1\n", 0),
        "declared.csv": ("u,v\nNA,1\na,1\n", 2),
    }
    for name, (text, expected) in files.items():
        (folder / name).write_text(text)
        code, out, err = call("report", "m.json", name, "--missing", "NA")
        assert code == expected, name
        assert out == ('"report"\n0\n1\n' if code == 0 else "")
        assert ("does not know a value" in err) == (code == 2)


def test_what_a_mechanism_does_not_see(call, folder):
    """Columns of S need not be there; unknown values are "other" where the mechanism says so."""
    raw = Mechanism.from_matrix(np.eye(3), ("no", "yes"), (1, 2, "other"), observe="nonsensitive")
    mechanism = replace(raw.named(None, [("ill", True), ("value", False)]), others=(True,))
    (folder / "m.json").write_text(mechanism.to_json())
    (folder / "in.csv").write_text("more,value\nx,2\ny,1.0\nz,77\nz,many\n")
    assert call("report", "m.json", "in.csv") == (0, '"report"\n1\n0\n2\n2\n', "")


@pytest.mark.parametrize("text", [SECRET, "nan"])
def test_a_number_that_is_none_is_an_error_with_its_row(call, folder, text):
    """Numbers to be cut into bins are parsed, in their column alone; counts are whole numbers."""
    rows = [f"{ill},{age},{home},2" for ill in ("no", "yes") for age in (1, 2.5) for home in "ab"]
    (folder / "public.csv").write_text("ill,age,home,n\n" + "\n".join(rows * 9) + "\n")
    asked = ("design", "public.csv", "-s", "ill", "-e", "1", "--sanitizer", "grr", "-o", "m.json")
    asked = (*asked, "--blocks", "singles", "--bins", "age=0,2,9", "--counts", "n")
    assert call(*asked)[0] == 0
    (folder / "records.csv").write_text(f'ill,age,home\nno,1e0,a\nno,"{text}",b\n')
    code, out, err = call("report", "m.json", "records.csv")
    assert (code, out) == (2, "") and SECRET not in err and text not in err.replace("counted", "")
    assert "row 1 (counted from 0) has a string in column 'age' that is not a number" in err
    (folder / "public.csv").write_text(f'ill,age,home,n\nno,1,a,2\nno,1,b,"{text}"\n')
    code, _, err = call(*asked[:-4], "-c", "home", *asked[-2:], "-o", "n.json")
    assert code == 2 and "row 1 (counted from 0) has no integer" in err


# --- Whose record it is --------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "csv.gz"])
def test_the_same_id_in_all_formats(call, ready, designed, ending):
    """An integer and its digits are the same id, beyond 2**53 too; "007" and "7.0" are others."""
    ids = [2**53 + 1, 2**63 - 1, -7, 0, *range(10**9, 10**9 + 296)]
    records = table().set_column(0, "person", pa.array(ids))
    made = Reporter(designed, id="person", key=KEY)(records)["report"].to_pylist()
    for column in (ids, list(map(str, ids))):
        write(records.set_column(0, "person", pa.array(column)), f"in.{ending}")
        assert reported(call, f"in.{ending}") == dict(zip(map(str, ids), made, strict=True))
    odd = ["007", "7", "+7", " 7", "7.0", "NA", "null", "nan", "true", "2026-01-01"]
    write(table().slice(0, len(odd)).set_column(0, "person", pa.array(odd)), f"odd.{ending}")
    assert list(reported(call, f"odd.{ending}")) == odd


@pytest.mark.parametrize("given", [KEYED, ("--keep", "person")])
def test_two_quotes_too_many_let_no_record_out(call, ready, given):
    """A reader of CSV makes one field of all lines between them: here an id with raw records."""
    text = (ready / "records.csv").read_text().replace('"', "")
    (ready / "odd.csv").write_text(text.replace("\n7,", '\n"7,').replace("\n2093,", '\n"2093,'))
    code, out, err = call("report", "mechanism.json", "odd.csv", *given, "-o", "out.csv")
    assert (code, out) == (2, "")
    assert "row 1 (counted from 0) has a line break in column 'person'" in err
    assert not (ready / "out.csv").exists()


# --- Files ---------------------------------------------------------------------------------------


def test_how_texts_are_written(folder):
    """What is between the fields is told by the header; line ends, marks and quotes may differ."""
    expected = [{"a": "1", "b": "x y"}, {"a": "2", "b": None}]
    for text in (
        "a,b\n1,x y\n2,\n",
        "a;b\r\n1;x y\r\n2;\r\n",
        "a\tb\r1\tx y\r2\t\r",
        "a|b\n\n1|x y\n2|",
        '\ufeff"a","b"\n"1","x y"\n"2",""\n',
    ):
        (folder / "t.csv").write_bytes(text.encode())
        assert rows_of("t.csv") == expected
    (folder / "t.csv.gz").write_bytes(gzip.compress(b"b,a\n,2\n"))
    assert rows_of("t.csv.gz", ["a", "b"]) == expected[1:]


ROW = b"person,ill,visits,zip,day\n1,no,1,01,2026-01-01\n"
DAMAGED = {
    "ragged.csv": (ROW + f"2,{SECRET}\n".encode(), "row 3 has 2 values where the header has 5"),
    "late.csv": (ROW + b"2,no,1,01,2026-01-01\n" * 60_000 + b"3,no\n", "row 60003 has 2 values"),
    "quote.csv": (ROW + f'"{SECRET}\n'.encode(), "is truncated or ragged"),
    "latin.csv": (ROW + "3,é,1,01,2026-01-01".encode("latin-1"), "not in UTF-8; convert it"),
    "wide.csv": (ROW.decode().encode("utf-16"), "is in UTF-16; convert it to UTF-8"),
    "twice.csv": (b"person,ill,visits,zip,zip\n" + ROW[26:], "more than one column"),
    "lacking.csv": (b"person,ill,visit,zip,day\n" + ROW[26:], "lacks the column 'visits'"),
    "headless.csv": (f"9,{SECRET},1,01,x\n".encode() * 3, "contain the column names (not sh"),
    "picture.csv": (b"\x89PNG\r\n\x1a\n\0\0", "is not a CSV file"),
    "empty.csv": (b"", "has no rows"),
    "rows.csv": (ROW[:26], "has no rows"),
    "cut.csv.gz": (
        gzip.compress(os.urandom(999).hex().encode() + ROW)[:300],
        "truncated or damaged",
    ),
    "picture.parquet": (b"\x89PNG\r\n\x1a\n\0\0", "is not a valid Parquet file"),
    "picture.arrow": (b"\x89PNG\r\n\x1a\n\0\0", "is not a valid Arrow file"),
    "table.xlsx": (b"", "cannot infer the format"),
}


@pytest.fixture
def several_threads():
    """Arrow numbers rows if it reads with one thread, for example where OMP_NUM_THREADS is 1."""
    before = pa.cpu_count()
    pa.set_cpu_count(2)
    yield
    pa.set_cpu_count(before)


@pytest.mark.usefixtures("several_threads")
@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files(call, ready, name):
    """Arrow's messages, which quote rows, are not passed on."""
    content, fragment = DAMAGED[name]
    (ready / name).write_bytes(content)
    code, out, err = call("report", "mechanism.json", name, "-o", "out.csv")
    assert (code, out) == (2, "") and fragment in err and SECRET not in err
    assert not (ready / "out.csv").exists()
    assert "no such file or folder" in call("report", "mechanism.json", f"no-{name}.csv")[2]


def test_what_text_has_no_word_for(call, ready):
    write(table().append_column("raw", pa.array([b"1"] * 300)), "in.arrow")
    done = call("report", "mechanism.json", "in.arrow", "--keep", "raw", "-o", "none.csv")
    assert done[0] == 2 and "column 'raw'" in done[2] and "write Parquet or Arrow" in done[2]


def test_an_index_of_pandas_is_no_column(call, folder):
    frame = table().drop_columns(["person"]).to_pandas()
    frame[frame["visits"] < 3].to_parquet("public.parquet")
    assert call("design", "public.parquet", *DESIGN[:4], "-e", "1", "-o", "m.json")[0] == 0
    columns = [name for name, _ in Mechanism.from_json((folder / "m.json").read_text()).columns]
    assert columns == ["ill", "visits", "zip", "day"]


# --- Folders -------------------------------------------------------------------------------------


def parts_of(records, folder, ending, cuts=(0, 120, 120, 300)):
    """Write a table in parts, one of them without rows, as Spark does."""
    folder.mkdir()
    for number, (start, stop) in enumerate(pairwise(cuts)):
        part = records.slice(start, stop - start)
        write(part, folder / f"part-{number:05d}-0f.{ending}")
    for name in ("_SUCCESS", ".part-00000.crc", "_committed_1"):
        (folder / name).write_text("")


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_folders(call, ready, expected, ending):
    """Read in the order of the names; a file of two names once, or it would report twice."""
    parts_of(table(), ready / "parts", ending)
    os.symlink(f"part-00000-0f.{ending}", ready / "parts" / f"same.{ending}")
    assert list(reported(call, "parts").items()) == list(expected.items())
    one, several = (call("verify", "mechanism.json", name) for name in ("records.csv", "parts"))
    assert one == several and one[0] == 0
    assert call("report", "mechanism.json", "parts", *CHECKED, "-o", "out.parquet")[0] == 0
    parts_of(read("out.parquet"), ready / "reports", ending)
    one, several = (call("estimate", "mechanism.json", name) for name in ("out.parquet", "reports"))
    assert one == several and one[0] == 0
    done = call("report", "mechanism.json", "parts", "-o", "parts/out.parquet")
    assert done[0] == 2 and "both input and output" in done[2]


WRONG = {
    "other type": (
        lambda: write(
            table().set_column(2, "visits", table()["visits"].cast(pa.int32())), "parts/x.parquet"
        ),
        "column 'visits' differs: int32 in parts/x.parquet, and int64 in parts/part-00000-0f",
    ),
    "other columns": (
        lambda: write(table().drop_columns(["zip"]), "parts/x.parquet"),
        "x.parquet lacks the column 'zip'",
    ),
    "other format": (lambda: write(table(), "parts/x.csv"), "the files have different formats"),
    "same person": (
        lambda: write(table().slice(0, 1), "parts/x.parquet"),
        "rows 0 and 300 (counted from 0) have the same id",
    ),
    "partitions": (lambda: os.mkdir("parts/year=2026"), "folders, such as parts/year=2026"),
    "truncated": (
        lambda: Path("parts/x.parquet").write_bytes(b"PAR1"),
        "x.parquet is not a valid Parquet file",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_folders(call, ready, case):
    change, fragment = WRONG[case]
    parts_of(table(), ready / "parts", "parquet")
    change()
    code, out, err = call("report", "mechanism.json", "parts", *CHECKED, "-o", "out.csv")
    assert (code, out) == (2, "") and fragment in err
    assert not (ready / "out.csv").exists()


def test_a_part_with_another_column_is_not_cut_to_size_in_silence(call, ready):
    parts_of(table(), ready / "parts", "csv")
    write(table().append_column("more", table()["visits"]), ready / "parts/x.csv")
    code, _, err = call("design", "parts", *DESIGN[:4], "-e", "1", "-o", "m.json")
    assert code == 2 and "column 'more' differs: " in err
    assert "no such column in parts/part-00000-0f" in err
