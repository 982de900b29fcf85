"""Surveys on the command line: the set of a design is the one that certify makes."""

import json

import command_fixtures
import numpy as np
import pyarrow as pa
import pytest
from command_files import write

call, designed = command_fixtures.call, command_fixtures.designed
folder, ready = command_fixtures.folder, command_fixtures.ready

DRAWN = ("--weights", "weight", "--clusters", "place")
ASKED = ("design", "survey.csv", "-s", "ill", "-e", "1", "--sanitizer", "ir", "-o", "m.json")
KNOWN = ("--categories", "values.json", "--force")


@pytest.fixture
def survey(folder):
    """A survey of 600 records with weights, in 60 places; text that looks like numbers."""
    rng = np.random.default_rng(0)
    drawn = {
        "weight": rng.choice([1.0, 2.5], 600),
        "ill": rng.choice(["no", "yes"], 600),
        "zip": rng.choice(["01", "02"], 600),
        "place": np.repeat(np.arange(60), 10),
    }
    write(pa.table(drawn), folder / "survey.csv")
    write(pa.table(drawn), folder / "survey.parquet")
    (folder / "values.json").write_text('{"ill": ["no", "yes"], "zip": ["01", "02"]}')
    return folder


@pytest.mark.parametrize("table", ["survey.csv", "survey.parquet"])
@pytest.mark.parametrize("beta", ["0.05", "0.2"])
@pytest.mark.parametrize("exact", [(), ("--max-weight", "25")])
def test_the_set_of_a_survey_is_made_anew(call, survey, exact, beta, table):
    """The proven bound is that of the design, for the set in the same words, and β is stated."""
    options = (*DRAWN, *exact, "--beta", beta)
    code, out, _ = call(*ASKED, *KNOWN, *options, "--text", "zip", "--json")
    assert code == 0
    designed = json.loads(out)
    found = json.loads(call("certify", "m.json", table, *options, "--json")[1])
    assert found["holds"] and found["distributions"] == designed["holds_for"]
    stated = json.loads((survey / "m.json").read_text())["guarantee"]
    assert found["proofs"][0]["eps"] == pytest.approx(stated["eps"], rel=1e-9)
    assert found["n_records"] == stated["n_records"] and found["beta"] == float(beta)


def test_unweighted_counts_are_another_table(call, survey):
    """Without the survey's options the set is around the records as they are, and is said to be."""
    assert call(*ASKED, *KNOWN, *DRAWN, "--text", "zip")[0] == 0
    code, out, _ = call("certify", "m.json", "survey.csv")
    assert "the set is stated by its numbers" in " ".join(out.split())
    code, out, _ = call("certify", "m.json", "survey.csv", *DRAWN)
    assert code == 0 and "stated by its numbers" not in out
    code, _, err = call("certify", "m.json", "survey.csv", *DRAWN, "--counts", "place")
    assert code == 2 and "--counts does not go with a survey's design" in err


def test_codes_that_begin_anew_and_strata_of_one_cluster(call, survey):
    """The ways out that Python has: without them the command says what is wrong."""
    row, rng = np.arange(600), np.random.default_rng(0)
    columns = {
        "ill": np.tile(["no", "yes"], 300),
        "zip": np.where(rng.random(600) < rng.random(60)[row // 10], "01", "02"),
        "place": np.where(row < 590, row // 10, 0),
        "region": row // 590,
    }
    write(pa.table(columns), survey / "survey.csv")
    drawn = ("--strata", "region", "--clusters", "place", "--text", "zip")
    code, _, err = call(*ASKED, *KNOWN, *drawn)
    assert code == 2 and "1 codes of clusters are in more than one stratum" in err
    code, _, err = call(*ASKED, *KNOWN, *drawn, "--nest")
    assert code == 2 and "1 of 2 strata have one cluster" in err
    budgets = []
    for rule in ("center", "certainty"):
        options = (*drawn[:4], "--nest", "--singleton", rule)
        assert call(*ASKED, *KNOWN, *options, "--text", "zip")[0] == 0
        found = json.loads(call("certify", "m.json", "survey.csv", *options, "--json")[1])
        assert found["holds"]
        budgets.append(json.loads((survey / "m.json").read_text())["guarantee"])
    assert budgets[0]["distributions"] != budgets[1]["distributions"]
