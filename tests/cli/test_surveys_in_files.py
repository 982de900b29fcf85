"""Surveys on the command line: the set of a design is the one that certify makes."""

import json

import command_fixtures
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_files import write

from skrldp import IRSanitizer, LikelihoodRatioSet, Mechanism, RenyiBall, SurveyDesign, certify

call, designed = command_fixtures.call, command_fixtures.designed
folder, ready = command_fixtures.folder, command_fixtures.ready

DRAWN = ("--weights", "weight", "--clusters", "place")
TENDS = LikelihoodRatioSet(radius="asymptotic")
REGIONS = np.arange(600) % 2
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


@pytest.mark.parametrize(
    ("asked", "drawn"),
    [
        ({"uncertainty": LikelihoodRatioSet(radius=0.05)}, ()),
        ({"uncertainty": RenyiBall(radius=0.02)}, ()),
        ({"survey": SurveyDesign(weights="weight", clusters="place"), "uncertainty": TENDS}, DRAWN),
    ],
)
def test_sets_stated_by_numbers_are_made_anew_for_all_combinations(call, survey, asked, drawn):
    """Of two declared columns not all combinations occur; a set by a rule is for all of them."""
    rows = pq.read_table("survey.parquet").to_pandas()
    rows["job"] = rows["zip"].eq("01") * (rows.index % 3)
    rows.to_csv("three.csv", index=False)
    rows["zip"] = pd.Categorical(rows["zip"], ["01", "02"], ordered=True)
    rows["job"] = pd.Categorical(rows["job"], range(9), ordered=True)
    design = [] if drawn else ["weight", "place"]
    found = IRSanitizer(sensitive="ill", **asked).fit(rows.drop(columns=design))
    assert (len(found.joint_.values), found.joint_.most_values) == (4, 18)
    (survey / "m.json").write_text(found.mechanism_.to_json())
    around = TENDS if drawn else LikelihoodRatioSet()
    anew = certify(found.mechanism_, around, found.joint_)
    options = ("certify", "m.json", "three.csv", *drawn, "--beta", "0.05", "--json")
    assert json.loads(call(*options)[1])["distributions"] == anew.uncertainty.describe()


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


def test_replicate_weights(call, survey):
    """A jackknife of the 60 places: the set is the one that Python makes of the same columns."""
    table = pq.read_table(survey / "survey.parquet").to_pandas()
    for place in range(60):
        table[f"w{place}"] = table["weight"] * (table["place"] != place) * 60 / 59
    table = table.drop(columns="place")
    table.to_parquet(survey / "survey.parquet")
    names = [f"w{place}" for place in range(60)]
    drawn = ["--weights", "weight", *(f"--replicate-weights={name}" for name in names)]
    asked = (*ASKED[:1], "survey.parquet", *ASKED[2:], *KNOWN)
    code, _, err = call(*asked, *drawn)
    assert code == 2 and "replicate_weights need scale" in err
    assert call(*asked, *drawn, "--scale", str(59 / 60))[0] == 0
    design = SurveyDesign("weight", replicate_weights=names, scale=59 / 60)
    around = LikelihoodRatioSet(radius="asymptotic")
    values = {"ill": ["no", "yes"], "zip": ["01", "02"]}
    made = IRSanitizer(1, sensitive="ill", survey=design, uncertainty=around, categories=values)
    made.fit(table)
    stated = Mechanism.from_json((survey / "m.json").read_text()).guarantee.distributions
    assert stated.pair == pytest.approx(made.certificate_.uncertainty.pair, rel=1e-12)
    drawn += ["--scale", str(59 / 60)]
    found = json.loads(call("certify", "m.json", "survey.parquet", *drawn, "--json")[1])
    assert found["holds"] and found["proofs"][0]["eps"] <= 1


def test_strata_of_several_columns_and_of_fixed_sizes(call, survey):
    table = pq.read_table(survey / "survey.parquet").to_pandas().drop(columns="place")
    table["north"], table["urban"] = table.index % 2, table.index % 300 // 150
    table["people"], table["weight"] = 200 * (1 + table["north"]), 2.0
    table.to_parquet(survey / "survey.parquet")
    drawn = ["--weights", "weight", "--strata", "north", "--strata", "urban"]
    asked = (*ASKED[:1], "survey.parquet", *ASKED[2:], *KNOWN)
    code, _, err = call(*asked, *drawn, "--max-weight", "2")
    assert code == 2 and "--stratum-sizes COLUMN, or leave --max-weight out" in err
    exact = ["--max-weight", "weight", "--stratum-sizes", "people"]
    assert call(*asked, *drawn, *exact)[0] == 0
    claim = json.loads((survey / "m.json").read_text())["guarantee"]
    assert 300 < claim["n_records"] < 450
    found = json.loads(call("certify", "m.json", "survey.parquet", *drawn, *exact, "--json")[1])
    assert found["holds"] and found["n_records"] == claim["n_records"]
    assert claim["distributions"]["rule"] == "finite-sample"


@pytest.mark.parametrize(
    ("change", "drawn", "message"),
    [
        ({}, ("--weights", "wt"), "survey column 'wt' not found; the columns are"),
        ({"weight": -1.0}, (), "must hold positive numbers, but 600 of 600 are not. Records"),
        (
            {"place": 0, "area": REGIONS},
            ("--strata", "area"),
            "begin anew in each stratum, say --nest;",
        ),
    ],
)
def test_what_is_wrong_is_said_in_words_of_the_command(call, survey, change, drawn, message):
    table = pq.read_table(survey / "survey.parquet").to_pandas().assign(**change)
    table.to_parquet(survey / "survey.parquet")
    asked = (*ASKED[:1], "survey.parquet", *ASKED[2:], *KNOWN)
    code, _, err = call(*asked, *DRAWN, *drawn)
    assert code == 2 and message in " ".join(err.split())
