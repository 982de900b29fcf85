"""Tables in all the files in which people have them, and what is wrong with such files."""

import json
import os
import re
import subprocess
import sys
from itertools import pairwise

import command_fixtures
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from command_files import CHECKED, DESIGN, KEYED, read, table, write

from skrldp.cli._formats import Asked, Kind, kind_of

call, designed = command_fixtures.call, command_fixtures.designed
folder, ready = command_fixtures.folder, command_fixtures.ready


def with_delimiter(records, path, delimiter):
    pacsv.write_csv(records, path, pacsv.WriteOptions(delimiter=delimiter))


def reported(call, name, *more, to="out.parquet"):
    code, out, err = call("report", "mechanism.json", name, *CHECKED, "-o", to, "--force", *more)
    assert (code, out, err) == (0, "", "")
    found = read(to).to_pydict()
    return dict(zip(map(str, found["person"]), found["report"], strict=True))


@pytest.fixture
def expected(call, ready):
    """The reports of the records, by id."""
    return reported(call, "records.csv")


# --- Text ----------------------------------------------------------------------------------------


def test_delimiters_of_what_is_read_and_written(call, ready, expected):
    write(table(), "in.tsv")
    with_delimiter(table(), "semicolons.csv", ";")
    with_delimiter(table(), "tabs.csv", "\t")
    for name, *more in (
        ("in.tsv",),
        ("semicolons.csv", "--delimiter", ";"),
        ("tabs.csv", "--delimiter", "\\t"),
        ("tabs.csv", "--format", "tsv"),
    ):
        assert reported(call, name, *more) == expected
    assert reported(call, "records.csv", to="out.tsv") == expected
    assert (ready / "out.tsv").read_text().startswith('"person"\t"report"\n')
    kept = ("--keep", "person", "--delimiter", ";", "-o", "out.csv")
    assert call("report", "mechanism.json", "records.parquet", *kept)[0] == 2
    write(table(), "records.parquet")
    assert call("report", "mechanism.json", "records.parquet", *kept)[0] == 0
    assert (ready / "out.csv").read_text().startswith('"report";"person"\n')
    call("estimate", "mechanism.json", "out.tsv", "--of", "ill", "-o", "estimate.tsv")
    assert (ready / "estimate.tsv").read_text().startswith('"ill"\t"frequency"\t')


@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz"])
def test_json_lines(call, ready, expected, name):
    """Ids may be numbers and texts by turns."""
    write(table(), name)
    with pa.input_stream(name) as source:
        text = source.read().decode()
    turns = re.sub(r'"person": (\d+[02468]),', r'"person": "\1",', text)
    with pa.output_stream(name) as sink:
        sink.write(turns.encode())
    assert turns != text
    assert reported(call, name) == expected
    call("design", name, *DESIGN, "-o", "again.json", "--force")
    again, first = (json.loads((ready / f"{n}.json").read_text()) for n in ("again", "mechanism"))
    assert again["weights"] == first["weights"]
    assert again["values"] != first["values"]  # where days are texts
    kept = ("--keep", "person", "--text", "person", "-o", "out.jsonl")
    assert call("report", "mechanism.json", name, *kept) == (0, "", "")
    rows = [json.loads(line) for line in (ready / "out.jsonl").read_text().splitlines()]
    assert [row["person"] for row in rows] == list(expected)
    call("estimate", "mechanism.json", "out.jsonl", "--of", "ill", "-o", "estimate.jsonl")
    assert json.loads((ready / "estimate.jsonl").read_text().splitlines()[0])["ill"] == "no"


LINE = {"person": 1, "ill": "no", "visits": 1, "zip": "01", "day": "2026-01-01"}
SECRET = "nobody-may-read-this"
BAD_LINES = {
    "float id": ({"person": 7.0}, "row 1 (counted from 0) has a value in column 'person'"),
    "bool id": ({"person": True}, "that is no text and no whole number"),
    "no id": ({"person": ""}, "has no id in 1 row (1)"),
    "null id": ({"person": None}, "has no id in 1 row (1)"),
    "number as text": ({"visits": SECRET}, "'visits' that is no number"),
    "true as number": ({"visits": True}, "'visits' that is no number"),
    "text as number": ({"zip": 1}, "'zip' that is no text"),
    "no date": ({"day": SECRET}, "'day' that is no date"),
    "no object": ([SECRET], "row 1 (counted from 0) is no JSON object"),
    "column twice": ('{"person": 2, "person": 3}', "row 1 (counted from 0) is no JSON object"),
    "no JSON": ("{", "row 1 (counted from 0) is no JSON object, has a name twice, or is cut off"),
}


@pytest.mark.parametrize("case", BAD_LINES)
def test_bad_json_lines(call, ready, case):
    change, fragment = BAD_LINES[case]
    bad = {**LINE, "person": 2, **change} if isinstance(change, dict) else change
    text = bad if isinstance(bad, str) else json.dumps(bad)
    (ready / "bad.jsonl").write_text(f"{json.dumps(LINE)}\n{text}\n")
    code, out, err = call("report", "mechanism.json", "bad.jsonl", *KEYED, "-o", "out.csv")
    assert (code, out) == (2, "")
    assert fragment in err
    assert SECRET not in err and not (ready / "out.csv").exists()


def test_what_json_has_no_word_for(call, ready):
    """Numbers that are none become null, and bytes are refused."""
    records = table().append_column("more", pa.array([float("nan"), 0.5, float("inf")] * 100))
    records = records.append_column("raw", pa.array([b"1"] * 300))
    write(records, "in.arrow")
    done = call("report", "mechanism.json", "in.arrow", "--keep", "more", "-o", "out.jsonl")
    assert done == (0, "", "")
    rows = [json.loads(line) for line in (ready / "out.jsonl").read_text().splitlines()]
    assert [row["more"] for row in rows] == [None, 0.5, None] * 100
    done = call("report", "mechanism.json", "in.arrow", "--keep", "raw", "-o", "none.jsonl")
    assert done[0] == 2
    assert "column 'raw'" in done[2] and "cannot be written in JSON" in done[2]
    uuids = pa.array([number.to_bytes(16) for number in range(300)], pa.binary(16))
    write(table().set_column(0, "person", uuids), "uuids.parquet")
    done = call("report", "mechanism.json", "uuids.parquet", *CHECKED, "-o", "none.csv")
    assert done[0] == 2
    assert "column 'person'" in done[2] and "cannot be written in CSV" in done[2]
    assert call("report", "mechanism.json", "uuids.parquet", *CHECKED, "-o", "some.parquet")[0] == 0


# --- Folders and patterns ------------------------------------------------------------------------


def parts_of(records, folder, ending, cuts=(0, 120, 120, 300)):
    """Write a table in parts, one of them without rows, as Spark does."""
    folder.mkdir()
    for number, (start, stop) in enumerate(pairwise(cuts)):
        part = records.slice(start, stop - start)
        write(part, folder / f"part-{number:05d}-0f.{ending}")
    for name in ("_SUCCESS", ".part-00000.crc", "_committed_1"):
        (folder / name).write_text("")


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow", "jsonl"])
def test_folders_and_patterns(call, ready, expected, ending):
    if ending == "jsonl":
        (ready / "parts").mkdir()
        write(table().slice(0, 120), "parts/a.jsonl")
        (ready / "parts/b.jsonl").write_text("")
        write(table().slice(120), "parts/c.jsonl")
    else:
        parts_of(table(), ready / "parts", ending)
    for name in ("parts", "parts/", f"parts/*.{ending}"):
        assert reported(call, name, to="out.parquet") == expected
    if ending == "jsonl":
        return
    of = table().drop_columns(["person"])
    write(of, "public.parquet")
    columns = ("--text", "zip") if ending == "csv" else ()
    assert call("design", "parts", *DESIGN, *columns, "-o", "again.json")[0] == 0
    assert (ready / "again.json").read_bytes() == (ready / "mechanism.json").read_bytes()
    one, several = (call("certify", "mechanism.json", name) for name in ("public.parquet", "parts"))
    assert one == several and one[0] == 0
    parts_of(read("out.parquet"), ready / "reports", ending)
    one, several = (call("estimate", "mechanism.json", name) for name in ("out.parquet", "reports"))
    assert one == several and one[0] == 0


def other_type(folder):
    other = table().set_column(2, "visits", table()["visits"].cast(pa.int32()))
    write(other, folder / "parts/part-9.parquet")


def other_columns(folder):
    write(table().drop_columns(["zip"]), folder / "parts/part-9.parquet")


def other_format(folder):
    write(table(), folder / "parts/part-9.csv")


def same_person(folder):
    write(table().slice(299), folder / "parts/part-9.parquet")


def partitioned(folder):
    (folder / "parts/year=2026").mkdir()


def cut_off(folder):
    (folder / "parts/part-9.parquet").write_bytes(b"PAR1")


WRONG = {
    "other type": (
        other_type, "parts",
        "part-9.parquet: column 'visits' has the type int32, but int64 in parts/part-00000-0f",
    ),
    "other columns": (other_columns, "parts", "part-9.parquet lacks the column 'zip'"),
    "other format": (other_format, "parts", "the files have several formats"),
    "same person": (same_person, "parts", "rows 299 and 300 (counted from 0) have the same id"),
    "partitions": (partitioned, "parts", "holds folders, such as parts/year=2026"),
    "cut off": (cut_off, "parts", "part-9.parquet is no Parquet file, or is cut off"),
    "no folder": (lambda folder: None, "prats/", "prats/: there is no such file or folder"),
    "nothing": (lambda folder: None, "parts/*.csv", "there is no such file"),
}  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_file_with_two_names_is_read_once(call, ready):
    """Else every record in it would be reported twice."""
    (ready / "a" / "b").mkdir(parents=True)
    os.rename("records.csv", "a/b/1.csv")
    for name in ("**/**/*.csv", "a/b/*.csv", "a/b"):
        assert call("report", "mechanism.json", name, "-o", "out.jsonl", "--force")[0] == 0
        assert len((ready / "out.jsonl").read_text().splitlines()) == len(table())
        if name.startswith("*"):
            os.symlink("1.csv", "a/b/2.csv")


@pytest.mark.parametrize("case", WRONG)
def test_wrong_folders(call, ready, case):
    change, name, fragment = WRONG[case]
    parts_of(table(), ready / "parts", "parquet")
    change(ready)
    code, out, err = call("report", "mechanism.json", name, *CHECKED, "-o", "out.csv")
    assert (code, out) == (2, "")
    assert fragment in err
    assert not (ready / "out.csv").exists()


def test_a_folder_is_not_written_into_while_it_is_read(call, ready):
    parts_of(table(), ready / "parts", "parquet")
    for name in ("parts", "parts/*"):
        done = call("report", "mechanism.json", name, *CHECKED, "-o", "parts/out.parquet")
        assert done[0] == 2
        assert "to be read and written" in done[2]
    part = "parts/part-00000-0f.parquet"
    done = call("report", "mechanism.json", "parts/*", *CHECKED, "-o", part, "--force")
    assert "to be read and written" in done[2]


def test_design_of_parts_that_differ(call, ready):
    """Where all columns are read, a part with another one is not cut to size in silence."""
    parts_of(table(), ready / "parts", "parquet")
    more = table().append_column("more", table()["visits"])
    write(more, ready / "parts/part-9.parquet")
    options = ("--sanitizer", "srr", "-s", "ill", "-e", "1", "-o", "m.json")
    code, _, err = call("design", "parts", *options)
    assert code == 2
    assert "have different columns: 'more' in one of them" in err


# --- Options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (("records.csv", "--delimiter", ";;"), "--delimiter is one character"),
        (("records.csv", "--delimiter", '"'), "--delimiter is one character"),
        (("records.parquet", "--delimiter", ";", "-o", "o.arrow"), "--delimiter is for CSV"),
        (("semicolons.csv",), "has no comma but semicolon; say with --delimiter"),
        (("commas.tsv",), "has no tab but comma"),
    ],
)
def test_wrong_delimiters(call, ready, arguments, fragment):
    write(table(), "records.parquet")
    with_delimiter(table(), "semicolons.csv", ";")
    with_delimiter(table(), "commas.tsv", ",")
    code, out, err = call("report", "mechanism.json", *arguments)
    assert (code, out) == (2, "")
    assert fragment in err


def test_names_tell_formats(folder):
    none = Asked()
    assert kind_of("a.TSV.gz", none) == Kind("csv", "\t")
    assert kind_of("-", Asked(delimiter=";")) == Kind("csv", ";")
    (folder / "odd[1].csv").write_text("a\n1\n")
    assert kind_of("odd[1].csv", none) == Kind("csv", ",")  # a file's own name, and no pattern


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(shell):
    """A script that a shell can run; with it, words are completed."""

    def asked(**more):
        command = "import sys; from skrldp.cli import main; sys.exit(main())"
        done = subprocess.run(
            [sys.executable, "-c", command],
            env={**os.environ, **more},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    script = asked(_SKRLDP_COMPLETE=f"source_{shell}")
    assert f"_SKRLDP_COMPLETE=complete_{shell}" in script
    if shell == "bash":
        words = {"COMP_WORDS": "skrldp es", "COMP_CWORD": "1"}
        assert asked(_SKRLDP_COMPLETE="complete_bash", **words).split() == ["estimate"]


# --- Public tables -------------------------------------------------------------------------------


def test_public_tables_are_counted_in_parts(call, ready, monkeypatch):
    """However many parts there are, and whatever type their first rows seem to have."""
    from skrldp.cli import _distinct, _opened, _tables, _text_files

    monkeypatch.setattr(_distinct, "_AT_ONCE", 50)
    monkeypatch.setattr(_tables, "BATCH_ROWS", 7)
    monkeypatch.setattr(_text_files, "BLOCK", 1000)
    assert _opened.BLOCK > 1000
    odd = table().drop_columns(["person"]).to_pydict()
    odd["code"] = [*("1" for _ in range(299)), "1A"]
    odd["size"] = [*(1 for _ in range(299)), 0.5]
    write(pa.table(odd), ready / "odd.csv")
    write(pa.table(odd), ready / "odd.arrow")
    columns = ("--text", "zip", "-s", "ill", "-c", "code", "-c", "size", "-c", "zip", "-c", "day")
    for name, own in (("odd.csv", columns), ("odd.arrow", columns[2:])):
        options = ("--sanitizer", "srr", "-e", "1", "-o", f"{name}.json")
        assert call("design", name, *own, *options)[0] == 0
    assert (ready / "odd.csv.json").read_bytes() == (ready / "odd.arrow.json").read_bytes()


@pytest.mark.parametrize("ordered", [True, False])
def test_dictionaries_are_given_if_the_user_says_so(ordered, call, folder):
    of = pa.DictionaryArray.from_arrays(
        pa.array([0, 2] * 50, pa.int8()), pa.array(["often", "never", "rare"]), ordered=ordered
    )
    write(pa.table({"ill": ["no", "no", "yes", "yes"] * 25, "visits": of}), folder / "public.arrow")
    (folder / "values.json").write_text('{"visits": "dtype"}')
    options = ("--sanitizer", "ir", "-s", "ill", "-e", "1", "--force", "-o", "m.json")
    for more, source in (((), "learned"), (("--categories", "values.json"), "declared")):
        code, _, err = call("design", "public.arrow", *options, *more)
        made = json.loads((folder / "m.json").read_text())
        given = source == "declared"
        assert code == 0 and ("were learned from the table" in err) is (ordered and not given)
        if given or ordered:
            assert made["values"] == ["often", "never", "rare"]
        if given:
            assert (
                json.loads(call("inspect", "m.json", "--json")[1])["claimed"]["alphabet"] == source
            )


def test_ordered_dictionaries_keep_their_order(call, folder):
    """With the values that no row has."""
    of = pa.DictionaryArray.from_arrays(
        pa.array([0, 2, 0, 2] * 25, pa.int8()), pa.array(["often", "never", "rare"]), ordered=True
    )
    records = pa.table({"ill": ["no", "no", "yes", "yes"] * 25, "visits": of})
    write(records, folder / "public.arrow")
    options = ("--sanitizer", "srr", "-s", "ill", "-e", "1", "-o", "m.json")
    assert call("design", "public.arrow", *options)[0] == 0
    assert json.loads((folder / "m.json").read_text())["values"] == ["often", "never", "rare"]


def test_what_is_no_category(call, ready):
    write(table().append_column("list", pa.array([[1]] * 300)), "lists.arrow")
    options = ("--sanitizer", "srr", "-s", "ill", "-e", "1", "-o", "m.json")
    code, _, err = call("design", "lists.arrow", *options)
    assert code == 2
    assert "column 'list' has the type list" in err


def test_dictionaries_with_narrow_codes(call, folder):
    """Streams have one for each batch; of a Parquet file Arrow makes one, with too few codes."""
    parts = [pa.DictionaryArray.from_arrays(pa.array(range(100), pa.int8()),
             pa.array([f"{name} {row}" for row in range(100)])) for name in "abc"]  # fmt: skip
    columns = {"ill": ["no", "yes"] * 150, "u": pa.chunked_array(parts)}
    write(pa.table(columns), "in.arrows")
    pq.write_table(pa.table(columns), "in.parquet")
    design = ("--sanitizer", "srr", "-s", "ill", "-e", "1", "-o", "m.json")
    assert call("design", "in.arrows", *design)[0] == 0
    assert call("report", "m.json", "in.arrows", "-o", "out.csv")[0] == 0
    code, _, err = call("report", "m.json", "in.parquet", "-o", "out.csv", "--force")
    assert code == 2 and "more values than its narrow codes can number. Write the column" in err


def test_too_many_distinct_rows(call, ready, monkeypatch):
    from skrldp.cli import _distinct

    monkeypatch.setattr(_distinct, "_MOST", 100)
    options = ("--sanitizer", "srr", "-s", "ill", "-e", "1", "-o", "m.json")
    code, _, err = call("design", "records.csv", *options)
    assert code == 2
    assert "more than 100 distinct rows" in err and "'person': 300" in err and "--column" in err


def test_counts_of_distinct_rows_are_summed(call, folder):
    rows = "ill,visits,people\n" + "no,1,2\nyes,1,3\nno,1,5\nyes,2,1\nno,2,4\n" * 3
    (folder / "counted.csv").write_text(rows)
    options = ("--counts", "people", "--sanitizer", "srr", "-s", "ill", "-e", "1", "-o", "m.json")
    assert call("design", "counted.csv", *options)[0] == 0
    guarantee = json.loads((folder / "m.json").read_text())["guarantee"]
    assert guarantee["n_records"] == 45
    (folder / "counted.csv").write_text(rows.replace("no,2,4", "no,2,-4"))
    code, _, err = call("design", "counted.csv", *options, "--force")
    assert code == 2
    assert "(--counts) is negative" in err


def test_rare_values_of_a_learned_table(call, folder):
    """Are warned of in the command's words; grouped, the certificate can be made anew."""
    rows = [(("no", "yes")[i % 2], f"rare {i}" if i < 4 else "ab"[i % 3 == 0]) for i in range(900)]
    (folder / "public.csv").write_text("ill,job\n" + "".join(f"{s},{u}\n" for s, u in rows))
    options = ("design", "public.csv", "-s", "ill", "--eps", 1, "--sanitizer", "ir", "--force")
    code, _, said = call(*options, "-o", "m.json")
    assert code == 0
    assert "column 'job' has 4 values with fewer than" in said
    assert "Use --min-frequency auto" in said and "(--categories)" in said and "_" not in said
    code, _, said = call(*options, "-o", "m.json", "--min-frequency", "auto")
    assert (code, "learned" in said) == (0, False)
    assert json.loads((folder / "m.json").read_text())["guarantee"]["alphabet"] == "frequent"
    assert call("certify", "m.json", "public.csv")[0] == 0
    code, _, said = call(*options, "-o", "m.json", "--min-frequency", "often")
    assert code == 2 and "'auto'" in said
