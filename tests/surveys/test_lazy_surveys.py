"""Surveys that are elsewhere: engines add weights up within clusters; the fit is the same."""

import numpy as np
import polars as pl
import pytest
from lazy_frames import ENGINES, rows_brought

from skrldp import IRSanitizer, LikelihoodRatioSet, SurveyDesign

VALUES = {"ill": ["no", "yes"], "visits": ["few", "many", None]}
ASYMPTOTIC = LikelihoodRatioSet(radius="asymptotic")
DESIGNS = {
    "all": SurveyDesign(weights="weight", strata="region", clusters="place", nest=True),
    "strata": SurveyDesign(weights="weight", strata="region"),
    "clusters": SurveyDesign(clusters=["region", "place"]),
}


def survey(n=1_200):
    rng = np.random.default_rng(0)
    place = np.repeat(np.arange(60), n // 60)
    shares = rng.beta(4.0, 6.0, size=60)[place]
    ill = rng.random(n) < shares
    visits = np.where(rng.random(n) < 0.3 + 0.4 * shares, "many", "few").astype(object)
    visits[rng.random(n) < 0.1] = None
    return pl.DataFrame(
        {
            "weight": rng.choice([1.0, 2.5, 3.25], n),
            "ill": np.where(ill, "yes", "no"),
            "region": place // 20,
            "place": place % 20,
            "visits": pl.Series(visits.tolist(), dtype=pl.String),
        }
    )


def fitted(table, design, **options):
    options = {"categories": VALUES, "uncertainty": ASYMPTOTIC} | options
    return IRSanitizer(1.0, sensitive="ill", survey=design, random_state=0, **options).fit(table)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", DESIGNS)
def test_a_lazy_survey_is_fitted_as_the_same_rows(engine, name, monkeypatch):
    table, design = survey(), DESIGNS[name]
    columns = ["ill", "visits", *design.columns]
    table = table.select([c for c in table.columns if c in columns])
    brought = rows_brought(monkeypatch)
    found = fitted(ENGINES[engine](table), design)
    if design.clusters is None:
        assert max(brought) <= 18  # cells within regions
    expected = fitted(table, design)
    assert np.array_equal(found.joint_.counts, expected.joint_.counts)
    for own in ("totals", "squares", "covariance"):
        one, two = (getattr(f.joint_.survey, own) for f in (found, expected))
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9)
    assert found.survey_.n_clusters == expected.survey_.n_clusters
    assert found.survey_.degrees == expected.survey_.degrees
    assert found.survey_.n_rows == 1_200
    one, two = (f.certificate_.uncertainty for f in (found, expected))
    assert one.pair == pytest.approx(two.pair, rel=1e-9)
    reports = found.transform(table.select("ill", "visits"))
    assert np.array_equal(reports, expected.transform(table.select("ill", "visits")))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (0.0, "positive numbers, but some are"),
        (float("nan"), "positive numbers, but"),
        (None, "numbers, but 60 are missing"),
        (1e-165, "give weights in other units"),
    ],
)
def test_weights_of_lazy_frames_are_checked(engine, weight, message):
    weights = pl.when(pl.col("place") % 20 == 3).then(weight).otherwise(1.0)
    with pytest.raises(ValueError, match=message):
        fitted(ENGINES[engine](survey().with_columns(weight=weights)), DESIGNS["all"])


@pytest.mark.parametrize(
    ("design", "options", "message"),
    [
        (SurveyDesign(clusters="place", strata="region"), {}, "codes of clusters are in more than"),
        (
            SurveyDesign(weights="weight", max_weight=4.0),
            {"uncertainty": LikelihoodRatioSet()},
            "a survey with radius='finite-sample' needs the rows",
        ),
    ],
)
def test_what_lazy_surveys_do_not_have(design, options, message):
    with pytest.raises(ValueError, match=message):
        fitted(survey().lazy(), design, **options)
