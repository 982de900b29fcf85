"""The command line: what it writes is what the package computes, or nothing, with a message."""

import datetime
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
import tomllib
import warnings
from dataclasses import replace

import command_fixtures
import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from command_files import CHECKED, DAYS, DESIGN, ENDINGS, KEY, KEYED, read, table, write
from conftest import ROOT, few_iterations

from skrldp import (
    FrequencyEstimator,
    IRSanitizer,
    LikelihoodRatioSet,
    Mechanism,
    PrivacyLeakWarning,
    RenyiBall,
    SRRSanitizer,
    certify,
)
from skrldp.batches import Reporter, key_check
from skrldp.cli import main

call, designed = command_fixtures.call, command_fixtures.designed
folder, ready = command_fixtures.folder, command_fixtures.ready


# --- What the commands compute -------------------------------------------------------------------


def test_design_writes_what_the_sanitizer_finds(call, folder):
    """CSV as well as Parquet; distinct rows with counts too; the report on standard output."""
    of = table().drop_columns(["person"])
    fitted = SRRSanitizer(eps=1.0, sensitive="ill").fit(of)
    write(of, folder / "public.parquet")
    write(of.group_by(of.column_names).aggregate([([], "count_all")]), folder / "counted.csv")
    for name, more in (("public.parquet", ()), ("counted.csv", ("--counts", "count_all"))):
        arguments = ("design", name, *DESIGN, "--text", "zip", *more, "-o", f"{name}.json")
        code, out, err = call(*arguments[: None if more else -2], *arguments[-2:])
        assert (code, err) == (0, "")
        assert out.startswith("Privacy report: SRRSanitizer")
        assert (folder / f"{name}.json").read_text() == fitted.mechanism_.to_json()
    code, out, err = call("design", "public.parquet", *DESIGN, "-o", "-", "--json", "--quiet")
    assert (code, out) == (0, fitted.mechanism_.to_json())
    assert json.loads(err)["digest"] == fitted.mechanism_.digest
    call("design", "public.parquet", *DESIGN, "-o", "again.json", "--html", "page.html")
    assert "Privacy report: SRRSanitizer" in (folder / "page.html").read_text()


@pytest.mark.parametrize("ending", ENDINGS)
def test_reports_and_estimates(call, ready, designed, ending):
    """In all formats the reports are those of `batches`, and the estimates those of the package."""
    write(table(), ready / f"in.{ending}")
    arguments = ("report", "mechanism.json", f"in.{ending}", *KEYED, "--key-check", key_check(KEY))
    done = call(*arguments, "-o", f"out.{ending}")
    assert done == (0, "", "")
    found = read(ready / f"out.{ending}")
    batch = table().combine_chunks().to_batches()[0]
    expected = Reporter(designed, id="person", key=KEY).report_batch(batch)
    assert found.to_pydict() == expected.to_pydict()

    code, out, err = call("estimate", "mechanism.json", f"out.{ending}", "--of", "ill")
    assert (code, err) == (0, "")
    rows = pacsv.read_csv(io.BytesIO(out.encode())).to_pylist()
    mechanism = Mechanism.from_json(designed)
    own = FrequencyEstimator(mechanism, encode="symbol").fit(expected["report"].to_numpy())
    frame = own.marginal("ill").to_frame().reset_index()
    assert rows == frame.astype(object).where(frame.notna(), None).to_dict("records")
    of = ("--of", "visits", "--of", "zip")
    more = (*of, "--method", "least-squares", "--level", "0.9", "-o", "e.json")
    assert call("estimate", "mechanism.json", f"out.{ending}", *more) == (0, "", "")
    figures = json.loads((ready / "e.json").read_text())
    assert (figures["n_reports"], len(figures["estimates"])) == (300, 8)
    assert not [name for name in os.listdir(ready) if name.endswith(".part")]


def test_fresh_reports_are_drawn_anew(call, ready, designed):
    """Two runs agree by chance with a probability below 1e-50."""
    kept = ("--keep", "person", "-q")
    runs = [
        call("report", "mechanism.json", "-", *kept, stdin=records)
        for _ in range(2)
        for records in [(ready / "records.csv").read_bytes()]
    ]
    assert [code for code, *_ in runs] == [0, 0]
    tables = [pacsv.read_csv(io.BytesIO(out.encode())) for _, out, _ in runs]
    assert tables[0]["report"] != tables[1]["report"]
    for reports in tables:
        assert reports["person"].to_pylist() == table()["person"].to_pylist()
        assert set(reports["report"].to_pylist()) <= set(
            range(Mechanism.from_json(designed).shape[0])
        )


MOMENT = datetime.datetime(2026, 1, 31, 12, 30)
ALPHABETS = [
    ["1", "01", "1.0"],
    [1, 2, 10],
    [0.5, 1.0],
    [2**60, 2**60 + 1],
    [True, False],
    DAYS,
    [MOMENT, MOMENT + datetime.timedelta(hours=1)],
    [datetime.time(12, 30), datetime.time(0, 0)],
    ["", "NA", "null"],
    [None, "a"],
    [None, 1, 2],
    ["a,b", 'c"d', "e\nf", "é"],
]


def test_text_becomes_the_categories(call, folder):
    """A CSV file gives the same reports as the Arrow table that it was written from."""
    (folder / "key").touch(0o600)
    (folder / "key").write_text(KEY.hex())
    for values in ALPHABETS:
        secrets = Mechanism.from_matrix(np.eye(2 * len(values)), ("no", "yes"), values)
        mechanism = secrets.named(None, [("ill", True), ("value", False)])
        (folder / "m.json").write_text(mechanism.to_json(), "utf-8")
        rows = 3 * values
        records = pa.table({"ill": ["no", "yes", "no"] * len(values), "value": pa.array(rows)})
        records = records.add_column(0, "person", pa.array([str(n) for n in range(len(rows))]))
        for ending in ("csv", "arrow"):
            arguments = ("m.json", write(records, folder / f"r.{ending}"), *CHECKED, "--force")
            code, _, err = call("report", *arguments, "-o", f"o-{ending}.csv")
            is_split = ending == "csv" and any("\n" in str(value) for value in values)
            assert code == 0 and ("lines begin within" in err if is_split else not err), values
        assert (folder / "o-csv.csv").read_bytes() == (folder / "o-arrow.csv").read_bytes(), values
        places = {value: place for place, value in enumerate(values)}
        expected = [
            (ill == "yes") * len(values) + places[value]
            for ill, value in zip(records["ill"].to_pylist(), rows, strict=True)
        ]
        assert read(folder / "o-csv.csv")["report"].to_pylist() == expected, values


def test_what_a_mechanism_does_not_see(call, folder):
    """Columns of S need not be there; unknown values are "other" where the mechanism says so."""
    identity = Mechanism.from_matrix(
        np.eye(3), ("no", "yes"), (1, 2, "other"), observe="nonsensitive"
    )
    mechanism = replace(identity.named(None, [("ill", True), ("value", False)]), others=(True,))
    (folder / "m.json").write_text(mechanism.to_json())
    (folder / "in.csv").write_text("more,value\nx,2\ny,1\nz,77\n")
    assert call("report", "m.json", "in.csv") == (0, '"report"\n1\n0\n2\n', "")


def test_certify_proves_again(call, ready):
    code, out, _ = call("certify", "mechanism.json", "records.csv", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["holds"]
    assert 0.99 < found["proofs"][0]["eps"] <= 1.0
    code, out, _ = call("certify", "mechanism.json", "records.csv", "--eps", "0.9")
    assert code == 1
    assert "asked 0.9: not kept" in out
    assert call("certify", "mechanism.json", "records.csv", "--eps-all", "0.9")[0] == 1
    assert call("certify", "mechanism.json", "records.csv", "-k", "2", "--eps", "1.9")[0] == 1
    assert call("certify", "mechanism.json", "records.csv", "-k", "2", "--eps", "2.001")[0] == 0


def test_certify_proves_what_else_is_promised(call, folder):
    """Of a mechanism that was weakened, and whose claims stayed, it says so."""
    write(table(), folder / "public.arrow")
    columns = ("-s", "ill", "-c", "visits", "-c", "zip")
    options = ("--sanitizer", "ir", "-e", "1", "--eps-all", "2", "--known", "zip", "-o", "m.json")
    assert call("design", "public.arrow", *columns, *options)[0] == 0
    code, out, _ = call("certify", "m.json", "public.arrow", "--eps-all", "2", "--json")
    assert code == 0
    assert [p["about"] for p in json.loads(out)["proofs"]] == [
        "one report",
        "to somebody who knows 'zip'",
    ]
    assert call("certify", "m.json", "public.arrow", "--eps", "0.5")[0] == 1  # one of the two fails
    raw = json.loads((folder / "m.json").read_text())
    weights = np.array(raw["weights"])
    top = weights.argmax(axis=0)
    moved = weights // 2
    weights -= moved
    weights[top, range(weights.shape[1])] += moved.sum(axis=0)
    (folder / "weak.json").write_text(json.dumps(raw | {"weights": weights.tolist()}))
    assert call("inspect", "weak.json")[0] == 0  # its claims stand, and are no proof
    code, out, _ = call("certify", "weak.json", "public.arrow")
    assert code == 1
    assert "NOT PROVEN" in out


@pytest.mark.parametrize(
    ("around", "options", "more"),
    [
        (LikelihoodRatioSet(radius="asymptotic"), {"min_frequency": "auto"}, 20),
        (RenyiBall(), {"min_frequency": "auto"}, 20),
        (RenyiBall(1.0, radius="finite-sample"), {"handle_unknown": "infrequent_if_exist"}, 0),
    ],
)
def test_certify_makes_the_set_again_for_as_many_values(call, folder, around, options, more):
    """Of learned values, an asymptotic set counts those that were seen, others one more."""
    rows = np.arange(1_000)
    visits = np.where(rows % 3 == 0, rows % 96, rows % 4) if more else rows // 2 % 4
    records = pa.table({"ill": rows % 2, "visits": visits})
    fitted = IRSanitizer(sensitive="ill", uncertainty=around, **options).fit(records)
    joint = fitted.joint_
    assert joint.alphabet == "frequent" and joint.most_values >= len(joint.values) + more
    (folder / "m.json").write_text(fitted.mechanism_.to_json())
    write(records, folder / "public.parquet")
    code, out, _ = call("certify", "m.json", "public.parquet", "--json")
    found = json.loads(out)
    assert found["distributions"] == fitted.certificate_.uncertainty.describe()
    assert found["proofs"][0]["eps"] == pytest.approx(fitted.certificate_.eps, rel=1e-9)
    assert (code, found["beta"], found["alphabet"]) == (0, 0.05, "frequent")


def test_certify_for_a_smaller_beta_wants_more_records_of_learned_values(call, folder):
    """Fifty records of a value are enough at .05; at 1e-9 they may be there by chance."""
    rows = np.arange(1_000)
    records = pa.table({"ill": rows % 2, "visits": np.where(rows < 50, 9, rows // 2 % 3)})
    fitted = IRSanitizer(sensitive="ill", budget="theorem5").fit(records)
    (folder / "m.json").write_text(fitted.mechanism_.to_json())
    write(records, folder / "public.parquet")
    for beta, source in ((0.05, "frequent"), (1e-9, "learned")):
        asked = ("certify", "m.json", "public.parquet", "--beta", f"{beta}", "--json")
        anew = certify(fitted.mechanism_, LikelihoodRatioSet(beta), fitted.joint_)
        assert json.loads(call(*asked)[1])["alphabet"] == anew.alphabet == source


@pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")
def test_what_is_known_has_a_set_of_its_own(call, folder):
    """Each set may miss by itself, so each is stated."""
    records = table().drop_columns(["person", "day"])
    fitted = IRSanitizer(sensitive="ill", known="zip").fit(records)
    (folder / "m.json").write_text(fitted.mechanism_.to_json())
    write(records, folder / "public.csv")
    within = fitted.certificate_.known.uncertainty
    files = ("--witness", "w.json", "--public-counts", "n.json")
    for command in (
        ("inspect", "m.json"),
        ("certify", "m.json", "public.csv", *files),
        ("verify", "m.json", "--witness", "w.json", "--counts", "n.json"),
    ):
        words = " ".join(call(*command)[1].split())
        assert words.count("misses the true conditionals with probability at most 0.05") == 2
        if command[0] == "certify":
            assert f"over {within.describe()}" in words
    found = json.loads(call("inspect", "m.json", "--json")[1])["claimed"]
    assert [one["beta"] for one in found["further"]] == [0.05]


def test_inspect_never_states_less_than_beta(call, folder):
    of = table().drop_columns(["person"])
    around = LikelihoodRatioSet(beta=0.12345649)
    fitted = IRSanitizer(eps=1.0, sensitive="ill", uncertainty=around)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        (folder / "own.json").write_text(fitted.fit(of).mechanism_.to_json())
    code, out, _ = call("inspect", "own.json")
    assert code == 0 and "with probability at most 0.1235;" in " ".join(out.split())


def test_inspect(call, ready, designed):
    mechanism = Mechanism.from_json(designed)
    code, out, _ = call("inspect", "mechanism.json", "--html", "page.html")
    assert code == 0
    assert mechanism.digest in out
    assert mechanism.digest in (ready / "page.html").read_text()
    code, out, _ = call("inspect", "-", "--json", "--digest", mechanism.digest, stdin=designed)
    found = json.loads(out)
    assert code == 0
    assert found["claimed"]["eps"] == mechanism.guarantee.eps
    assert found["proven"]["eps_all"] <= 1.0
    assert call("inspect", "mechanism.json", "--digest", "0" * 64)[0] == 1


def test_a_key_is_its_owners_alone(call, folder):
    code, out, err = call("key", "new")
    text = (folder / "new").read_text()
    assert (code, out, err) == (0, key_check(bytes.fromhex(text)) + "\n", "")
    assert re.fullmatch(r"[0-9a-f]{64}\n", text)
    if os.name == "posix":
        assert stat.S_IMODE((folder / "new").stat().st_mode) == 0o600
    code, _, err = call("key", "new")
    assert code == 2
    assert "exists" in err and "a second time" in err and "--force" not in err
    assert (folder / "new").read_text() == text


# --- What can be wrong ---------------------------------------------------------------------------

SECRET = "nobody-may-read-this"  # a value of the sensitive column, or of one that is not asked for


def changed(name, change):
    """Change the bytes of a file, and keep it under another name."""

    def make(folder):
        path = folder / name
        (folder / f"bad-{name}").write_bytes(change(path.read_bytes()))
        shutil.copymode(path, folder / f"bad-{name}")

    return make


def in_row(number, text):
    """Replace a row of the records."""

    def change(content):
        lines = content.decode().splitlines(keepends=True)
        lines[number] = text + "\n"
        return "".join(lines).encode()

    return changed("records.csv", change)


def written(ending, cut):
    """The records in another format, cut off."""

    def make(folder):
        path = write(table(), folder / f"bad-records.{ending}")
        path.write_bytes(cut(path.read_bytes()))

    return make


def old_version(content):
    return json.dumps(json.loads(content) | {"version": 99}).encode()


def nothing(folder):
    """Change nothing."""


REPORT = ("report", "mechanism.json", "bad-records.csv", "-o", "out.csv")
GOOD = ("report", "mechanism.json", "records.csv", "-o", "out.csv")
HALF = lambda content: content[: len(content) // 2]  # noqa: E731
CASES = {
    "parquet cut": (written("parquet", HALF), "parquet", "is no Parquet file, or is cut off"),
    "arrow cut": (written("arrow", HALF), "arrow", "is no Arrow file, or is cut off"),
    "stream cut": (written("arrows", HALF), "arrows", "is cut off"),
    "stream without end": (written("arrows", lambda c: c[:-8]), "arrows", "no mark of its end"),
    "gzip cut": (written("csv.gz", HALF), "csv.gz", "is cut off or damaged"),
    "ragged": (in_row(50, f"1,{SECRET}"), REPORT, "row 51 has 2 values where the header has 5"),
    "no number": (in_row(50, f"1,no,{SECRET},01,2026-01-01"), REPORT, "'visits' that is no number"),
    "no date": (in_row(50, f"1,no,1,01,{SECRET}"), REPORT, "'day' that is no date"),
    "unknown secret": (in_row(9, f"1,{SECRET},1,01,2026-01-01"), REPORT, "not know the value"),
    "unknown value": (in_row(9, "1,no,77,01,2026-01-01"), REPORT, "know the value (not shown)"),
    "wrong columns": (in_row(0, "person,ill,visit,zip,day"), REPORT, "lacks the column 'visits'"),
    "column twice": (in_row(0, "person,ill,visits,zip,zip"), REPORT, "more than one column 'zip'"),
    "no UTF-8": (changed("records.csv", lambda c: c.replace(b"no", b"\xff")), REPORT, "UTF-8"),
    "no rows": (changed("records.csv", lambda c: c.split(b"\n")[0]), REPORT, "has no rows"),
    "empty": (changed("records.csv", lambda c: b""), REPORT, "is empty"),
    "picture": (changed("records.csv", lambda c: b"\x89PNG\r\n\x1a\n\0\0"), REPORT, "is no CSV"),
    "picture as Parquet": (written("parquet", lambda c: b"\x89PNG\r\n"), "parquet", "no Parquet"),
    "folder": (lambda f: (f / "bad-records.csv").mkdir(), REPORT, "is a folder"),
    "no such file": (nothing, REPORT, "there is no such file"),
    "no such format": (nothing, (*REPORT[:2], "records.xlsx"), "does not tell the format"),
    "missing id": (
        in_row(9, ",no,1,01,2026-01-01"), (*REPORT, *KEYED), "has no id in 1 row (8). Give"
    ),
    "no digits": (
        changed("key", lambda c: b"not a key"), (*GOOD, *KEYED[:3], "bad-key"),
        "of hexadecimal digits. Make one with skrldp key FILE",
    ),
    "repeated id": (
        in_row(9, "7,no,1,01,2026-01-01"), (*REPORT, *KEYED),
        "rows 1 and 8 (counted from 0) have the same id in column 'person'",
    ),
    "no id column": (nothing, (*GOOD, "--id", "who", *KEYED[2:]), "lacks the column 'who'"),
    "short key": (
        changed("key", lambda c: c[:10]), (*GOOD, *KEYED[:3], "bad-key"),
        "at least 16 bytes (32 hexadecimal digits), got 5: make one with skrldp key FILE",
    ),
    "open key": (
        lambda folder: (folder / "key").chmod(0o644), (*GOOD, *KEYED),
        "no modes, the key of the reports can be in a variable: report --key-variable NAME.",
    ),
    "key as name": (
        nothing, (*GOOD, "--id", "person", "--key-variable", "0x" + KEY.hex()),
        "--key-variable takes the name of an environment variable, not a key: put",
    ),
    "key as file": (
        nothing, (*GOOD, *KEYED[:3], KEY.hex()),
        "a key file is given by its name, not as a key: put the key there",
    ),
    "no key file": (nothing, (*GOOD, *KEYED[:3], "none"), "cannot be read"),
    "another key": (nothing, (*GOOD, *KEYED, "--key-check", "0" * 16), "is another one than"),
    "no key variable": (nothing, (*GOOD, "--id", "person", "--key-variable", "NO"), "is not set"),
    "id alone": (nothing, (*GOOD, "--id", "person"), "need both --id"),
    "other version": (
        changed("mechanism.json", old_version),
        ("report", "bad-mechanism.json", "records.csv"),
        "this mechanism has version 99",
    ),
    "no mechanism": (nothing, ("inspect", "records.csv"), "not a mechanism"),
    "secret kept": (nothing, (*GOOD, "--keep", "ill"), "cannot be passed on"),
    "output exists": (nothing, (*GOOD[:-1], "key"), "does not tell the format"),
    "output there": (
        changed("records.csv", lambda c: c), (*GOOD[:-1], "bad-records.csv"), "--force"
    ),
    "output is input": (nothing, (*GOOD[:-1], "records.csv", "--force"), "to be read and written"),
    "output is no file": (nothing, (*GOOD[:-1], os.devnull, "--output-format", "csv"), "regular"),
    "no folder": (nothing, (*GOOD[:-1], "none/out.csv"), "make it first"),
    "no reports": (nothing, ("estimate", "mechanism.json", "records.csv"), "lacks the column"),
    "other reports": (
        nothing, ("estimate", "mechanism.json", "records.csv", "--report-column", "person"),
        "that is no report",
    ),
    "text as reports": (
        nothing, ("estimate", "mechanism.json", "records.csv", "--report-column", "ill"),
        "'ill' that is no whole number",
    ),
    "no such sensitive": (
        nothing, ("design", "records.csv", *DESIGN[:3], "sick", "-e", "1", "-o", "m.json"),
        "lacks the column 'sick'",
    ),
    "not for it": (
        nothing, ("design", "records.csv", *DESIGN, "--time-limit", "9", "-o", "m.json"),
        "--time-limit does not go with --sanitizer srr, but with polyopt",
    ),
    "impossible eps": (
        nothing, ("design", "records.csv", *DESIGN[:-1], "-1", "-o", "m.json"), "eps"
    ),
    "no categories": (
        nothing, ("design", "records.csv", *DESIGN, "--categories", "key", "-o", "m.json"),
        "is no JSON object",
    ),
    "no header": (
        lambda ready: (ready / "bad-records.csv").write_text(f"1,{SECRET},1,01,2026-01-01\n" * 3),
        "csv", "its first line must have the names of the columns (not shown",
    ),
    "unknown in public": (
        in_row(9, f"1,{SECRET},1,01,2026-01-01"), ("certify", "mechanism.json", "bad-records.csv"),
        "does not know the value",
    ),
    "no such option": (nothing, ("report", "--fast"), "No such option"),
    "no such command": (nothing, ("reprot",), "No such command"),
    "missing argument": (nothing, ("report",), "Missing argument"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_input(call, ready, case):
    """A message on standard error, exit code 2, nothing on standard output, nothing written."""
    make, arguments, fragment = CASES[case]
    make(ready)
    if isinstance(arguments, str):
        arguments = ("report", "mechanism.json", f"bad-records.{arguments}", "-o", "out.csv")
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


def test_ids_of_distant_rows(call, ready, monkeypatch):
    """Ids are compared over the whole table, a part at a time, whatever their type."""
    from skrldp.cli import _repeated_ids

    monkeypatch.setattr(_repeated_ids, "_AT_ONCE", 7)
    monkeypatch.setattr(_repeated_ids, "_BLOCK", 10)
    ids = [*range(-150, 149), -110]
    for column in (pa.array(ids), pa.array(map(str, ids)), pa.array([b"%d" % i for i in ids])):
        for rows in (300, 299):
            records = table().set_column(0, "person", column).slice(0, rows)
            write(records, ready / "in.arrow")
            done = call("report", "mechanism.json", "in.arrow", *KEYED, "-o", f"{rows}.csv")
            assert done[0] == (2 if rows == 300 else 0)
            if rows == 300:
                assert "rows 40 and 299 (counted from 0) have the same id" in done[2]
        (ready / "299.csv").unlink()
        assert not (ready / "300.csv").exists()


def test_an_interrupted_command_leaves_nothing(call, ready, monkeypatch):
    from skrldp.cli import _report

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    (ready / "out.csv").write_text("before")
    monkeypatch.setattr(_report, "progress", interrupted)
    names = sorted(os.listdir(ready))
    code, out, err = call(*GOOD, "--force")
    assert (code, out) == (130, "")
    assert "interrupted; nothing was written" in err
    assert sorted(os.listdir(ready)) == names
    assert (ready / "out.csv").read_text() == "before"
    monkeypatch.undo()
    os.chdir(ready)
    assert main([*GOOD, "--force"]) == 0
    assert (ready / "out.csv").read_text().startswith('"report"\n')


class Terminal(io.StringIO):
    """Standard error as people see it."""

    def isatty(self):
        return True


@pytest.mark.parametrize("name", ["records.csv", "records.parquet"])
def test_progress_is_for_people(ready, monkeypatch, name):
    write(table(), ready / name)
    for more, shown in (((), True), (("--quiet",), False)):
        monkeypatch.setattr(sys, "stderr", Terminal())
        assert main(["report", "mechanism.json", name, "-o", "out.csv", "--force", *more]) == 0
        said = sys.stderr.getvalue()
        assert ("reported" in said) is shown
        assert said.startswith("\rskrldp") is ("skrldp: loading" in said) is shown
        assert (f"skrldp: reading {name}" in said) is shown
        assert not any(thread.name == "skrldp" for thread in threading.enumerate())


def test_a_design_says_what_it_does(folder, monkeypatch, capfd):
    """From the first moment to the last; the line is gone when the report is printed."""
    write(table().select(["ill", "visits"]), folder / "public.csv")
    asked = ["design", "public.csv", "-s", "ill", "-e", "1", "--for", "records", "-o", "m.json"]
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(asked) == 0
    said = sys.stderr.getvalue()
    steps = ("loading", "reading public.csv", "designing", "writing the privacy report")
    places = [said.index(f"skrldp: {step}") for step in steps]
    assert places == sorted(places) and "[skrldp]" in said[places[2] : places[3]]
    assert said.endswith("\r") and capfd.readouterr().out.startswith("Privacy report")
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main([*asked, "--force", "--quiet"]) == 0
    assert "skrldp]" not in sys.stderr.getvalue() and "\r" not in sys.stderr.getvalue()


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
KEYED = ["--id", "person", "--key-file", "key", "--key-check", "6340cf24a19fc29f"]
from skrldp.cli import main
assert main(["--version"]) == 0
assert main(["report", "mechanism.json", "records.csv", "-o", "out.csv"]) == 0
assert main(["--help"]) == 0
assert main(["report", "mechanism.json", "records.csv", "-o", "keyed.csv", *KEYED]) == 0
heavy = {"sklearn", "scipy", "cvxpy", "highspy", "narwhals", "matplotlib", "pandas", "tqdm", "rich"}
print(*sorted(heavy & {name.split(".")[0] for name in sys.modules}), "end")
"""


def test_the_command_starts_without_what_it_does_not_need(ready):
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


def test_any_value_is_printed_in_any_locale(folder):
    """Else a mechanism was written, and the command failed at the words about it."""
    mechanism = Mechanism.from_matrix(np.eye(2) / 2 + 0.25, ("é", "Ł"), (1,))
    (folder / "m.json").write_text(mechanism.to_json(), "utf-8")
    command = "import sys; from skrldp.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", command, "inspect", "m.json", "--json"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert "é" in done.stdout.decode() and "Ł" in str(json.loads(done.stdout))


def test_what_reports_are_for(call, folder):
    """Figures by default; --for and --sanitizer exclude each other."""
    write(table().select(["ill", "visits"]), folder / "public.parquet")
    asked = ("design", "public.parquet", "-s", "ill", "-e", "1", "--force", "-o", "m.json")
    kinds = {
        (): "AOptimalSanitizer",
        ("--for", "figures"): "AOptimalSanitizer",
        ("--for", "records"): "RobustMSESanitizer",
        ("--for", "information"): "PolyOptSanitizer",
    }
    for options, name in kinds.items():
        with few_iterations():
            code, out, _ = call(*asked, *options)
        assert code == 0 and out.startswith(f"Privacy report: {name}")
    code, _, err = call(*asked, "--for", "figures", "--sanitizer", "srr")
    assert code == 2 and "--for and --sanitizer exclude each other" in err


def test_a_survey_is_designed_for_from_a_file(call, folder):
    """The options are those of SurveyDesign; with --max-weight the set is exact."""
    rng = np.random.default_rng(0)
    drawn = {
        "ill": rng.choice(["no", "yes"], 600),
        "visits": rng.choice(["few", "many"], 600),
        "weight": rng.choice([1.0, 2.5], 600),
        "place": np.repeat(np.arange(60), 10),
    }
    write(pa.table(drawn), folder / "survey.csv")
    (folder / "values.json").write_text('{"ill": ["no", "yes"], "visits": ["few", "many"]}')
    asked = ("design", "survey.csv", "-s", "ill", "-e", "1", "--sanitizer", "ir", "-o", "m.json")
    asked += (
        "--weights",
        "weight",
        "--clusters",
        "place",
        "--categories",
        "values.json",
        "--force",
    )
    code, out, err = call(*asked)
    assert (code, err) == (0, "") and "59 degrees of freedom" in " ".join(out.split())
    code, out, err = call(*asked, "--max-weight", "25")
    assert (code, err) == (0, "") and "an independent sample" in " ".join(out.split())
    code, _, err = call(*asked, "--counts", "place")
    assert code == 2 and "--counts does not go with a survey's design" in err
