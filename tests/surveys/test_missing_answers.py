"""Surveys with missing answers, columns that are named twice, and weights that cannot be."""

import numpy as np
import pandas as pd
import pytest

from skrldp import IRSanitizer, LikelihoodRatioSet, SurveyDesign
from skrldp.surveys.records import SurveyRecords, SurveyTotals

VALUES = {"ill": ["no", "yes"], "visits": ["few", "many"]}
DESIGN = SurveyDesign(weights="weight", clusters="place")


def survey(n=1_200):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "weight": rng.choice([1.0, 2.5], n),
            "ill": rng.choice(["no", "yes"], n),
            "visits": rng.choice(["few", "many"], n),
            "place": np.arange(n) // 15,
        }
    )


def fit(table, **options):
    options = {"survey": DESIGN, "categories": VALUES, "sensitive": "ill"} | options
    asymptotic = LikelihoodRatioSet(radius="asymptotic")
    return IRSanitizer(1.0, uncertainty=asymptotic, **options).fit(table)


@pytest.mark.parametrize("values", [VALUES, "auto"])
def test_a_survey_whose_secret_is_missing_is_refused(values):
    table = survey().astype({"ill": object})
    table.loc[:20, "ill"] = None
    with pytest.raises(ValueError, match=r"21 records .* SurveyDesign.complete\(sample, 'ill'"):
        fit(table, categories=values)


def test_complete_records_stand_for_others_of_their_class():
    table = survey()
    table.loc[::7, "visits"] = None
    found = DESIGN.complete(table, "visits", within=["ill"])
    kept = table["visits"].notna().to_numpy()
    assert len(found) == kept.sum()
    assert found["place"].tolist() == table["place"][kept].tolist()
    whole = table.groupby("ill")["weight"].sum()
    own = table[kept].groupby("ill")["weight"].sum()
    np.testing.assert_allclose(found.groupby("ill")["weight"].sum(), whole)
    expected = table["weight"][kept] * (whole / own)[table["ill"][kept]].to_numpy()
    np.testing.assert_allclose(found["weight"], expected)
    assert fit(found).joint_.n == kept.sum()


def test_answers_missing_at_random_within_secrets_leave_the_conditionals():
    """Whoever is ill answers half as often: the conditionals are right, and the shares again."""
    rng, n = np.random.default_rng(1), 60_000
    ill = rng.random(n) < 0.3
    table = survey(n).assign(
        weight=1.0,
        ill=np.where(ill, "yes", "no"),
        visits=np.where(rng.random(n) < np.where(ill, 0.8, 0.4), "many", "few"),
    )
    table.loc[rng.random(n) < np.where(ill, 0.6, 0.2), "visits"] = None
    found = fit(DESIGN.complete(table, within=["ill"])).joint_
    np.testing.assert_allclose(found.conditionals, [[0.6, 0.4], [0.2, 0.8]], atol=0.01)
    np.testing.assert_allclose(found.marginal, [0.7, 0.3], atol=0.01)


def test_what_cannot_be_completed_is_refused():
    table = survey()
    table.loc[table["ill"] == "yes", "visits"] = None
    with pytest.raises(ValueError, match="1 of 2 classes have no record with all answers"):
        DESIGN.complete(table, within=["ill"])
    with pytest.raises(ValueError, match="need weights: add a column of ones"):
        SurveyDesign(clusters="place").complete(table)
    with pytest.raises(ValueError, match="within column 'town' not found"):
        DESIGN.complete(table, within=["town"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"survey": SurveyDesign(clusters="ill")}, r"\['ill'\] are named in sensitive= and in sur"),
        ({"survey": SurveyDesign(clusters="visits")}, r"\['visits'\] are named in categories="),
    ],
)
def test_columns_that_cannot_be_the_designs(options, message):
    with pytest.raises(ValueError, match=message):
        fit(survey(), **options)


@pytest.mark.parametrize("heavy", ["secret", "record"])
def test_nearly_all_weight_on_few_records_is_refused(heavy):
    """At 1e20 the conditional of the others was rounded to the uniform one, in silence."""
    table = survey()
    chosen = table["ill"] == "yes" if heavy == "secret" else table.index == 0
    table["weight"] = np.where(chosen, 1e20, 1.0)
    with pytest.raises(ValueError, match="nearly all weight is on few records"):
        fit(table)


def test_shares_of_light_cells_are_exact():
    weights = np.array([1e8, 2e8, 1.0, 3.0])
    records = SurveyRecords(weights, np.zeros(4, int), np.arange(4))
    shares = SurveyTotals.of(records, np.arange(4), 4).shares
    assert shares[3] / shares[2] == pytest.approx(3.0, rel=1e-6)
