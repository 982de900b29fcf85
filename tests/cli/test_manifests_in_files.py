"""Manifests on the command line: blocks of columns are designed, reported and estimated."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow.csv as pacsv
import pytest
from block_tables import fitted_blocks, wide_table
from command_files import call, folder

from skrldp import (
    Bins,
    BlockEstimator,
    BlockSanitizer,
    GRRSanitizer,
    Knots,
    Manifest,
)
from skrldp.batches import BlockReporter, key_check
from skrldp.claims_in_words import claim_lines

__all__ = ["call", "folder"]  # fixtures

KEY = bytes(range(32))
KEYED = ("--id", "person", "--key", "key", "--key-check", key_check(KEY))
RECORDS = wide_table(400, seed=5).assign(person=[f"p{n}" for n in range(400)])
FIGURES = ["estimate", "std_error", "conf_low", "conf_high"]
ASKED = ("design", "public.csv", "-s", "ill", "-e", "2", "--sanitizer", "grr")


@pytest.fixture
def ready(folder):
    """The folder with a manifest, a key, the public table, and records."""
    (folder / "manifest.json").write_text(fitted_blocks().manifest_.to_json())
    (folder / "key").touch(0o600)
    (folder / "key").write_text(KEY.hex())
    wide_table(1_000).to_csv(folder / "public.csv", index=False)
    RECORDS.to_csv(folder / "records.csv", index=False)
    return folder


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (("--blocks", "age, job", "--blocks", '"home"'), {"blocks": [["age", "job"], ["home"]]}),
        (
            ("--blocks", "singles", "--bins", "age=-inf,0.5,3"),
            {"categories": {"age": Bins([-np.inf, 0.5, 3])}},
        ),
        (
            ("--blocks", "singles", "--knots", "age=0,2"),
            {"categories": {"age": Knots([0, 2])}},
        ),
    ],
)
def test_design_writes_the_manifest_of_the_sanitizer(call, ready, options, parameters):
    table = pd.read_csv(ready / "public.csv", dtype=str)
    if "categories" in parameters:
        table["age"] = table["age"].astype(float)
    own = BlockSanitizer(eps=2.0, sensitive="ill", base=GRRSanitizer(), **parameters).fit(table)
    code, out, err = call(*ASKED, *options, "-o", "made.json")
    assert (code, err) == (0, "")
    assert out.startswith("Privacy report: BlockSanitizer")
    assert (ready / "made.json").read_text() == own.manifest_.to_json()


def test_designs_that_are_refused(call, ready):
    for options, message in (
        (("--blocks", "age,job"), "no block contains the columns ['home']"),
        (("--blocks", ""), '--blocks is "singles" or "pairs", once, or columns'),
        (("--blocks", "pairs", "--target", "age"), "--target applies to a single mechanism"),
        (("--bins", "age"), "--bins age: pass a column and numbers"),
        (("--knots", "age=1,x"), "--knots age=1,x: pass a column and numbers"),
        (("--knots", "ill=0,1"), "'ill' that is not a number"),
    ):
        code, out, err = call(*ASKED, *options, "-o", "made.json")
        assert code == 2 and out == "" and message in err, options
    assert not (ready / "made.json").exists()


def test_keyed_reports_and_estimates(call, ready):
    """Reports are those of the reporter; estimates those of the estimator, also from counts."""
    arguments = ("report", "manifest.json", "records.csv", *KEYED, "-o", "out.csv")
    assert call(*arguments) == (0, "", "")
    reporter = BlockReporter(fitted_blocks().manifest_, id="person", key=KEY)
    expected = reporter(RECORDS)
    found = pd.read_csv(ready / "out.csv")
    assert found.columns.tolist() == ["person", "block", "report"]
    assert found.astype(str).equals(expected.astype(str))

    own = BlockEstimator(fitted_blocks().manifest_).fit(expected)
    code, out, err = call("estimate", "manifest.json", "out.csv", "--of", "age", "--of", "job")
    assert (code, err) == (0, "")
    rows = pacsv.read_csv(io.BytesIO(out.encode())).to_pandas()
    frame = own.marginal(["age", "job"]).to_frame()[["age", "job", *FIGURES]]
    pd.testing.assert_frame_equal(rows, frame, check_exact=False, rtol=1e-12)
    grouped = ("--of", "ill", "--by", "home", "--level", "0.9", "-o", "e.csv")
    assert call("estimate", "manifest.json", "out.csv", *grouped) == (0, "", "")
    by = own.marginal("ill", by="home").to_frame(0.9)
    found = pd.read_csv(ready / "e.csv")
    assert found.columns.tolist()[:2] == ["home", "ill"]
    np.testing.assert_allclose(found[FIGURES], by[FIGURES], rtol=1e-12)
    counted = expected.groupby(["block", "report"]).size().rename("n").reset_index()
    counted.to_csv(ready / "counted.csv", index=False)
    each, together = (
        call("estimate", "manifest.json", *options, "--of", "job")
        for options in (("out.csv",), ("counted.csv", "--counts", "n"))
    )
    assert each[0] == 0 and together == each


def test_records_have_numbers_where_a_manifest_has_bins(call, ready):
    """Reports are those of the bins, whatever numbers of a bin the records have."""
    asked = (*ASKED, "--blocks", "singles", "--bins", "age=0,1,10", "-o", "cut.json")
    assert call(*asked)[0] == 0
    assert "numbers in [0, 10), cut into [0, 1), [1, 10)" in " ".join(
        call("inspect", "cut.json")[1].split()
    )
    for number, ages in enumerate((RECORDS["age"], RECORDS["age"].astype(float) * 4 + 0.25)):
        RECORDS.assign(age=ages).to_csv("people.csv", index=False)
        code, _, err = call("report", "cut.json", "people.csv", *KEYED, "-o", f"{number}.csv")
        assert (code, err) == (0, "")
    assert (ready / "0.csv").read_text() == (ready / "1.csv").read_text()
    RECORDS.assign(age=10).to_csv(ready / "old.csv", index=False)
    code, out, err = call("report", "cut.json", "old.csv", *KEYED)
    assert code == 2 and not out and "numbers in [0, 10)" in err and "a wider range" in err


def test_inspect(call, ready):
    manifest = fitted_blocks().manifest_
    code, out, _ = call("inspect", "manifest.json", "--digest", manifest.digest)
    assert code == 0 and out.startswith("Manifest manifest.json")
    for words in (
        manifest.digest,
        "'age', 'job': 18 reports",
        "each bound is that of the worst block",
    ):
        assert words in out
    code, out, _ = call("inspect", "manifest.json", "--json", "--digest", "0" * 64)
    figures = json.loads(out)
    assert code == 1
    assert figures["claimed"] == json.loads(json.dumps(manifest.claims.figures()))
    assert [one["columns"] for one in figures["blocks"]] == [list(own) for own in manifest.blocks]
    assert figures["proven"]["claims"][0]["eps"] == pytest.approx(2.0, rel=1e-8)


def test_what_manifests_do_not_go_with(call, ready):
    call("report", "manifest.json", "records.csv", *KEYED, "-o", "out.csv")
    reports = pd.read_csv(ready / "out.csv")
    reports.assign(report=17, block=0).to_csv(ready / "strange.csv", index=False)
    reports.assign(block=3).to_csv(ready / "other.csv", index=False)
    estimate = ("estimate", "manifest.json")
    records = ("report", "manifest.json", "records.csv")
    for arguments, message in (
        ((*records, *KEYED, "--ledger", "l.duckdb"), "--ledger supports only single mechanisms"),
        ((*estimate, "out.csv"), "no block of manifest.json has the columns"),
        ((*estimate, "out.csv", "--of", "age", "--by", "wage"), "has no column 'wage' (--by)"),
        ((*estimate, "strange.csv", "--of", "age"), "reports of a different manifest"),
        ((*estimate, "other.csv", "--of", "age"), "must be a block of the mechanism"),
        ((*estimate, "records.csv", "--of", "age"), "block"),
    ):
        code, out, err = call(*arguments)
        assert (code, out) == (2, "") and message in err, (arguments, err)


def test_a_manifest_is_verified_by_its_proof(call, ready):
    """Against the counts that it is about, those of each block: one record more is refused."""
    proof = ("--witness", "witness.json", "--public-counts", "counts.json")
    code, _, err = call(*ASKED, "--blocks", "singles", *proof, "-o", "proven.json")
    assert (code, err) == (0, "")
    code, out, err = call("verify", "proven.json", *proof)
    assert (code, err) == (0, "") and out.startswith("holds\nblock 0, secret ")
    manifest = Manifest.from_json((ready / "proven.json").read_text())
    for label, said in claim_lines(manifest.claims):
        assert f"{label}: {said}" in out
    assert out.splitlines()[-1] == f"manifest: {manifest.digest}"
    counts = json.loads((ready / "counts.json").read_text())
    counts["blocks"][1]["counts"][0][0] += 1
    (ready / "counts.json").write_text(json.dumps(counts))
    code, out, _ = call("verify", "proven.json", *proof)
    assert code == 1 and out.startswith("not shown")
