"""The command line: what it writes is what the package computes, or nothing, with a message."""

import csv
import doctest
import io
import json
import math
import os
import re
import shlex
import subprocess
import sys
import threading
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.csv as pacsv
import pytest
from command_files import (
    CHECKED,
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
from conftest import ROOT, few_iterations

from skrldp import AOptimalSanitizer, FrequencyEstimator, Mechanism, SRRSanitizer
from skrldp.batches import Reporter, key_check
from skrldp.cli import main
from skrldp.targets import Marginal

__all__ = ["call", "designed", "folder", "ready"]  # fixtures


# --- What the commands compute -------------------------------------------------------------------


def test_design_writes_what_the_sanitizer_finds(call, folder):
    """From rows as well as from counts; the report goes where the mechanism does not."""
    of = table().drop_columns(["person"])
    fitted = SRRSanitizer(eps=1.0, sensitive="ill").fit(of)
    write(of, folder / "public.parquet")
    write(of.group_by(of.column_names).aggregate([([], "count_all")]), folder / "counted.arrow")
    for name, more in (("public.parquet", ()), ("counted.arrow", ("--counts", "count_all"))):
        code, out, err = call("design", name, *DESIGN, *more, "-o", f"{name}.json")
        assert (code, err) == (0, "")
        assert out.startswith("Privacy report: SRRSanitizer")
        assert (folder / f"{name}.json").read_text() == fitted.mechanism_.to_json()
    code, out, err = call("design", "public.parquet", *DESIGN, "-o", "-")
    assert (code, out) == (0, fitted.mechanism_.to_json())
    assert err.startswith("Privacy report: SRRSanitizer")


def test_a_design_of_many_rows_is_that_of_their_counts(call, folder):
    """Equal rows are put together after a million, so that memory grows with the values."""
    counts = {"a,y": 700_000, "b,x": 500_000, "a,x": 200_000}
    (folder / "many.csv").write_text("s,u\n" + "".join(f"{row}\n" * counts[row] for row in counts))
    (folder / "few.csv").write_text("s,u,n\n" + "".join(f"{row},{counts[row]}\n" for row in counts))
    asked = ("--sensitive", "s", "--eps", "1", "--sanitizer", "grr")
    assert call("design", "many.csv", *asked, "-o", "many.json")[0] == 0
    assert call("design", "few.csv", "--counts", "n", *asked, "-o", "few.json")[0] == 0
    assert (folder / "many.json").read_bytes() == (folder / "few.json").read_bytes()


def test_survey_weights_are_no_counts_although_equal_rows_are_put_together(call, folder):
    """200 people with weights of 1,000 are no 200,000 records: the set would be far too small."""
    (folder / "t.csv").write_text("s,u,n\n" + "no,a,1000\nno,b,1000\nyes,a,1000\nyes,b,1000\n" * 50)
    asked = ("--sensitive", "s", "--eps", "1", "--sanitizer", "grr", "-o", "m.json")
    code, _, err = call("design", "t.csv", "--counts", "n", *asked)
    assert code == 2 and "200,000 for 200 rows, 196 of which duplicate others" in err
    assert "the column of --counts" in err and "need Python: SurveyDesign" in err
    assert call("design", "t.csv", *asked)[0] == 0


def test_floats_that_are_one_value_are_counted_together(call, folder):
    table = pl.DataFrame({"s": [0, 1] * 200, "u": [0.0, -0.0, 1.0, math.nan, None] * 80})
    table.write_parquet(folder / "t.parquet")
    asked = ("--sensitive", "s", "--eps", "1", "--sanitizer", "srr", "-o", "m.json")
    assert call("design", "t.parquet", *asked)[0] == 0
    assert json.loads((folder / "m.json").read_text())["values"] == [0.0, 1.0, None]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_shares_of_a_column_matter_if_it_is_named(call, folder):
    of = table().select(["ill", "zip"])
    write(of, folder / "public.parquet")
    asked = ("design", "public.parquet", "-s", "ill", "-e", "1", "--target", "zip", "-o", "m.json")
    with few_iterations():
        code, out, _ = call(*asked)
        own = AOptimalSanitizer(eps=1.0, sensitive="ill", targets=[Marginal("zip")]).fit(of)
    assert code == 0 and "--eps-worst-case bounds both" in " ".join(out.split())
    assert (folder / "m.json").read_text() == own.mechanism_.to_json()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_declared_categories_and_an_eps_over_all(call, folder):
    """Declared values of a table of texts are texts; of Parquet they have their types."""
    write(table(), folder / "public.parquet")
    write(table(), folder / "public.csv")
    values = {"ill": ["no", "yes"], "visits": [0, 1, 2, 3, 4]}
    (folder / "values.json").write_text(json.dumps(values))
    asked = ("-s", "ill", "-c", "visits", "-e", "1", "--categories", "values.json")
    for name, options, wanted in (
        ("public.parquet", ("polyopt", "--eps-worst-case", "2"), [0, 1, 2, 3, 4]),
        ("public.csv", ("ir",), list("01234")),
    ):
        with few_iterations():
            done = call("design", name, *asked, "-o", f"{name}.json", "--sanitizer", *options)
        assert done[0] == 0
        made = json.loads((folder / f"{name}.json").read_text())
        assert made["values"] == wanted
        first, everywhere, _ = made["claims"]
        assert first["around"]["values_from"] == "declared"
        assert everywhere["eps"] <= 2 or "--eps-worst-case" not in options


def test_all_columns_are_the_whole_record(call, folder):
    """Unless a column is called so."""
    for second in ("home", "all"):
        (folder / "public.csv").write_text(f"ill,{second}\n" + "no,a\nyes,b\nno,b\n" * 9)
        asked = ("design", "public.csv", "--sanitizer", "grr", "-e", "1", "-o")
        assert call(*asked, f"{second}.json", "-s", "all")[0] == 0
        made = json.loads((folder / f"{second}.json").read_text())
        assert made["columns"] == [["ill", second == "home"], [second, True]]


FIGURES = ["estimate", "std_error", "conf_low", "conf_high"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_reports_and_estimates(call, ready, designed, ending):
    """In all formats the reports are those of `batches`, and the estimates those of the package."""
    write(table(), ready / f"in.{ending}")
    done = call("report", "mechanism.json", f"in.{ending}", *CHECKED, "-o", f"out.{ending}")
    assert done == (0, "", "")
    found = read(ready / f"out.{ending}")
    batch = table().combine_chunks().to_batches()[0]
    expected = Reporter(designed, id="person", key=KEY).report_batch(batch)
    assert found["report"].to_pylist() == expected["report"].to_pylist()
    assert list(map(str, found["person"].to_pylist())) == list(
        map(str, expected["person"].to_pylist())
    )
    code, out, err = call("estimate", "mechanism.json", f"out.{ending}", "--of", "ill")
    assert (code, err) == (0, "")
    rows = pacsv.read_csv(io.BytesIO(out.encode())).to_pylist()
    mechanism = Mechanism.from_json(designed)
    own = FrequencyEstimator(mechanism, encode="symbol").fit(expected["report"].to_numpy())
    frame = own.marginal("ill").to_frame()[["ill", *FIGURES]]
    assert rows == frame.astype(object).where(frame.notna(), None).to_dict("records")
    more = ("--of", "visits", "--by", "zip", "--level", "0.9", "-o", "e.arrow")
    assert call("estimate", "mechanism.json", f"out.{ending}", *more) == (0, "", "")
    assert len(read(ready / "e.arrow")) == 8
    assert not [name for name in os.listdir(ready) if name.endswith(".part")]


def test_labels_do_not_run_in_a_spreadsheet(call, folder):
    labels = ["=1+1", "@sum", "-x", "+y", "plain"]
    rows = "".join(f"{secret},{label}\n" for label in labels * 40 for secret in ("no", "yes"))
    (folder / "t.csv").write_text("s,=u\n" + rows)
    options = ("-s", "s", "-e", "1", "--sanitizer", "srr", "-o", "m.json")
    assert call("design", "t.csv", *options)[0] == 0
    assert call("report", "m.json", "t.csv", "-o", "r.csv")[0] == 0
    for options, mark in ((), ""), (("--spreadsheet",), "'"):
        code, out, _ = call("estimate", "m.json", "r.csv", "--of", "=u", *options)
        header, *rows = (row[0] for row in csv.reader(out.splitlines()))
        assert code == 0 and header == f"{mark}=u"
        assert sorted(rows) == sorted([*(mark + label for label in labels[:4]), "plain"])


def test_fresh_reports_are_drawn_anew(call, ready, designed):
    """Two runs agree by chance with a probability below 1e-50."""
    records = (ready / "records.csv").read_bytes()
    asked = ("report", "mechanism.json", "-", "--keep", "person")
    runs = [call(*asked, stdin=records) for _ in range(2)]
    assert [code for code, *_ in runs] == [0, 0]
    tables = [pacsv.read_csv(io.BytesIO(out.encode())) for _, out, _ in runs]
    assert tables[0]["report"] != tables[1]["report"]
    for reports in tables:
        assert reports["person"].to_pylist() == table()["person"].to_pylist()
        assert set(reports["report"].to_pylist()) <= set(
            range(Mechanism.from_json(designed).shape[0])
        )


def test_inspect(call, ready, designed):
    mechanism = Mechanism.from_json(designed)
    code, out, _ = call("inspect", "mechanism.json", "--digest", mechanism.digest)
    assert code == 0 and mechanism.digest in out
    code, out, _ = call("inspect", "-", "--json", stdin=designed)
    found = json.loads(out)
    assert code == 0 and found["digest"] == mechanism.digest
    claimed = {one["reports"]: one["eps"] for one in found["claimed"]["claims"] if "reports" in one}
    assert claimed[2] == mechanism.claims.bound_of(2)
    assert found["claimed"]["claims"][0]["eps"] == mechanism.claims.eps
    assert found["proven"]["claims"][0]["eps"] <= 1.0
    code, out, _ = call("inspect", "mechanism.json", "--digest", "0" * 64)
    assert code == 1 and "ANOTHER DIGEST" in out


def test_any_value_is_printed_in_any_locale(folder, monkeypatch):
    """Else a mechanism was written, and the command failed at the words about it."""
    mechanism = Mechanism.from_matrix(np.eye(2) / 2 + 0.25, ("é", "Ł"), (1,))
    (folder / "m.json").write_text(mechanism.to_json(), "utf-8")
    printed = io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True)
    monkeypatch.setattr(sys, "stdout", printed)
    monkeypatch.setattr(sys, "argv", ["skrldp", "inspect", "m.json"])
    monkeypatch.setattr("signal.signal", lambda number, handler: None)  # of a process of its own
    assert main() == 0
    assert {"é", "Ł"} <= set(printed.buffer.getvalue().decode())


# --- Bad input -----------------------------------------------------------------------------------

SECRET = "nobody-may-read-this"


def in_row(number, text):
    """Write the records with another row, as bad-records.csv."""

    def make(folder):
        lines = (folder / "records.csv").read_text().splitlines()
        lines[number] = text
        (folder / "bad-records.csv").write_text("\n".join([*lines, ""]))

    return make


def nothing(folder):
    """Change nothing."""


REPORT = ("report", "mechanism.json", "bad-records.csv", "-o", "out.csv")
GOOD = ("report", "mechanism.json", "records.csv", "-o", "out.csv")
CASES = {
    "unknown secret": (in_row(9, f"1,{SECRET},1,01,2026-01-01"), REPORT, "not know a value"),
    "missing id": (
        in_row(9, ",no,1,01,2026-01-01"), (*REPORT, *KEYED), "has no id in 1 row (8). Add"
    ),
    "repeated id": (
        in_row(9, "7,no,1,01,2026-01-01"), (*REPORT, *KEYED),
        "rows 1 and 8 (counted from 0) have the same id in column 'person'",
    ),
    "no id column": (nothing, (*GOOD, "--id", "who", *KEYED[2:]), "lacks the column 'who'"),
    "open key": (lambda folder: (folder / "key").chmod(0o644), (*GOOD, *KEYED), "(mode 644)"),
    "key as file": (nothing, (*GOOD, *KEYED[:3], KEY.hex()), "given by its name, not as a key"),
    "another key": (nothing, (*GOOD, *KEYED, "--key-check", "0" * 16), "does not match --key-che"),
    "id alone": (nothing, (*GOOD, "--id", "person"), "need both --id"),
    "key twice": (nothing, ("key", "key"), "a key in it may be in use"),
    "key on standard output": (nothing, ("key", "-"), "not written to standard output"),
    "secret kept": (nothing, (*GOOD, "--keep", "ill"), "must not be output unchanged"),
    "output there": (
        nothing, (*GOOD[:2], "none.csv", "-o", "key.csv"), "key.csv exists; choose a different name"
    ),
    "output is packed": (nothing, (*GOOD[:-1], "out.csv.gz"), "cannot infer the format"),
    "output is no file": (nothing, ("design", "records.csv", *DESIGN, "-o", os.devnull), "regular"),
    "no reports": (nothing, ("estimate", "mechanism.json", "records.csv"), "lacks the column"),
    "other reports": (
        lambda ready: (ready / "r.csv").write_text("report\n0\n77777\n"),
        ("estimate", "mechanism.json", "r.csv"), "row 1 (counted from 0) of column",
    ),
    "groups of nothing": (
        nothing, ("estimate", "mechanism.json", "key.csv", "--by", "zip"), "--by requires --of"
    ),
    "not for it": (
        nothing, ("design", "records.csv", *DESIGN, "--target", "zip", "-o", "m.json"),
        "--target cannot be used with --sanitizer srr, only with a-optimal",
    ),
    "no categories": (
        nothing, ("design", "records.csv", *DESIGN, "--categories", "key", "-o", "m.json"),
        "must be a JSON object",
    ),
    "no such command": (nothing, ("reprot",), "No such command"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_input(call, ready, case):
    """A message on standard error, exit code 2, nothing on standard output, nothing written."""
    make, arguments, fragment = CASES[case]
    (ready / "key.csv").write_text("report\n0\n")
    make(ready)
    before = {path: path.stat().st_mtime_ns for path in ready.iterdir()}
    code, out, err = call(*arguments)
    assert fragment in err
    assert (code, out) == (2, "")
    assert SECRET not in err
    assert "Traceback" not in err
    assert not re.search(r"check_ids|secrets\.|key\.hex|batch", err)  # this is no Python
    assert {path: path.stat().st_mtime_ns for path in ready.iterdir()} == before
    if not err.startswith("Usage"):
        assert re.fullmatch(r"skrldp: error: [^\n]+\n", err)


def test_a_run_without_a_check_of_its_key_says_which_to_give(call, ready):
    """A key file that was written anew would report everybody a second time, without a word."""
    code, _, err = call(*GOOD, *KEYED)
    assert code == 0 and f"Add --key-check {key_check(KEY)} in later runs" in err


# --- The command itself --------------------------------------------------------------------------


class Terminal(io.StringIO):
    """Standard error as people see it."""

    def isatty(self):
        return True


def test_people_are_told_what_is_done(folder, monkeypatch, capfd):
    write(table().select(["ill", "visits"]), folder / "public.csv")
    asked = ["design", "public.csv", "-s", "ill", "-e", "1", "--sanitizer", "grr", "-o", "m.json"]
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(asked) == 0
    said = sys.stderr.getvalue()
    steps = ("reading public.csv", "designing", "writing the privacy report")
    places = [said.index(f"skrldp: {step}") for step in steps]
    assert places == sorted(places) and " rows" in said
    assert capfd.readouterr().out.startswith("Privacy report")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    Path("m.json").unlink()
    assert main(asked) == 0 and sys.stderr.getvalue() == ""
    assert not any(thread.name == "skrldp" for thread in threading.enumerate())


@pytest.mark.parametrize("package", ["typer", "pyarrow"])
def test_without_the_extra(call, monkeypatch, package):
    monkeypatch.delitem(sys.modules, "skrldp.cli._app", raising=False)
    if package == "typer":
        monkeypatch.setitem(sys.modules, package, None)
    else:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, out, err = call("--help")
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"skrldp: .* {package}, .* pip install \"skrldp\[cli\]\"\n", err)


LIGHT = """
import sys
KEYED = ["--id", "person", "--key", "key", "--key-check", "6340cf24a19fc29f"]
from skrldp.cli import main
assert main(["--version"]) == 0
assert main(["report", "mechanism.json", "records.csv", "-o", "out.csv"]) == 0
assert main(["--help"]) == 0
assert main(["report", "mechanism.json", "records.csv", "-o", "keyed.csv", *KEYED]) == 0
heavy = {"sklearn", "scipy", "cvxpy", "highspy", "narwhals", "matplotlib", "tqdm", "rich"}
print(*sorted(heavy & {name.split(".")[0] for name in sys.modules}), "end")
"""


@pytest.mark.slow
def test_the_command_starts_without_what_it_does_not_need(ready):
    """Arrow's datasets load pandas; nothing else does that is not needed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"skrldp": "skrldp.cli:main"}
    done = subprocess.run(
        [sys.executable, "-c", LIGHT],
        cwd=ready,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"skrldp {project['version']}\nUsage: skrldp")
    assert done.stdout.endswith("\nend\n")


# --- The page ------------------------------------------------------------------------------------

PAGE = ROOT / "docs" / "guide" / "command_line.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def output_of(command):
    """Do one line of the example; return what it prints."""
    printed = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    words = shlex.split(command)
    assert words[0] == "skrldp"
    with redirect_stdout(printed):
        if "||" in words:
            words = words[: words.index("||")]
            print(f"exit code {main(words[1:])}")
        else:
            assert main(words[1:]) == 0
    return printed.buffer.getvalue().decode()


def test_the_example_of_the_page(folder):
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    done = 0
    for step in (step for block in blocks for step in block.split("$ ")[1:]):
        command, _, expected = step.partition("\n")
        if command.startswith("cat "):
            Path(command.removeprefix("cat ")).write_text(expected)
            continue
        found = output_of(command)
        assert doctest.OutputChecker().check_output(expected, found, FLAGS), f"{command}\n{found}"
        done += 1
    assert done == 10
    assert not [name for name in os.listdir(folder) if name.endswith(".part")]
