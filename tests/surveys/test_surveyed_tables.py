"""Sanitizers fitted to surveys protect the population: designs, sets, missing answers.

Coverage of the exact set is simulated with fixed seeds; false alarms below 1e-6.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lazy_frames import ENGINES, rows_brought
from sklearn.base import clone

from skrldp import (
    IRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RobustMSESanitizer,
    SurveyDesign,
    certify,
    privacy_report,
)
from skrldp.surveys.records import SurveyRecords, independent_part

SHARE = np.array([[0.3, 0.1], [0.15, 0.45]])
VALUES = {"ill": ["no", "yes"], "visits": ["few", "many"]}
ASYMPTOTIC = LikelihoodRatioSet(radius="asymptotic")
DESIGN = SurveyDesign(weights="weight", clusters="place")


def survey(clusters=80, size=15, seed=0):
    rng = np.random.default_rng(seed)
    own = rng.dirichlet(SHARE.ravel() * 15, size=clusters)
    cells = np.concatenate([rng.choice(4, size=size, p=p) for p in own])
    return pd.DataFrame(
        {
            "weight": rng.choice([1.0, 2.5], size=cells.size),
            "ill": np.array(["no", "yes"])[cells // 2],
            "place": np.repeat(np.arange(clusters), size),
            "visits": np.array(["few", "many"])[cells % 2],
        }
    )


def make(cls, uncertainty=ASYMPTOTIC, **options):
    options = {"survey": DESIGN, "categories": VALUES, "sensitive": "ill"} | options
    if cls is RobustMSESanitizer:
        options["distance"] = "hamming"
    return cls(1.0, uncertainty=uncertainty, **options)


@pytest.fixture(scope="module")
def surveyed():
    return make(PolyOptSanitizer).fit(survey())


def test_sanitizers_take_surveys_and_report_records_without_a_design():
    table = survey()
    found = make(RobustMSESanitizer, random_state=0).fit(table)
    assert found.certificate_.holds(1.0) and found.certificate_.uncertainty.rule == "survey"
    assert [name for name, _ in found.mechanism_.columns] == ["ill", "visits"]
    weighted = table.pivot_table("weight", "ill", "visits", aggfunc="sum").to_numpy()
    np.testing.assert_allclose(found.joint_.probabilities, weighted / weighted.sum(), rtol=1e-9)
    # Private records need no columns of the design, and those that have them are reported alike.
    private = table[["ill", "visits"]]
    again, whole = found.transform(private), found.transform(table)
    assert np.array_equal(np.asarray(again), np.asarray(whole))
    around = found.mechanism_.claims.main.around
    assert (around.rule, around.beta) == ("survey", 0.05)


def test_the_proof_is_over_the_whole_set(surveyed):
    """Distributions of the corrected set, some outside the usual one, are all private."""
    table, found = survey(), surveyed
    around, joint = found.certificate_.uncertainty, found.joint_
    usual = ASYMPTOTIC.fit_set(JointDistribution(joint.counts))
    rng, outside = np.random.default_rng(0), 0
    for _ in range(2_000):
        conditionals = rng.dirichlet([30, 30], size=2) * 0.3 + joint.conditionals * 0.7
        distribution = conditionals * joint.marginal[:, None]
        if around.contains(joint, distribution):
            outside += not usual.contains(joint, distribution)
            assert found.mechanism_.leakage(distribution) <= 1.0
    assert outside > 50
    again = certify(found.mechanism_, ASYMPTOTIC, joint)
    assert again.eps == pytest.approx(found.certificate_.eps, abs=1e-9)
    naive = make(PolyOptSanitizer, survey=None).fit(table[["ill", "visits"]])
    assert certify(naive.mechanism_, around, joint).eps > 1.05  # what silence would have cost


def test_known_columns_have_the_design_too():
    table = survey().assign(sex=np.random.default_rng(1).choice(["f", "m"], 1_200))
    values = VALUES | {"sex": ["f", "m"]}
    found = make(RobustMSESanitizer, observer_columns="sex", categories=values).fit(table)
    assert found.certificate_.claims.known.around.rule == "survey"
    assert found.certificate_.claims.known.eps <= 1.0


def test_codes_of_two_types_are_refused():
    """pandas reads the parts of a large CSV by themselves: 7 and "7" would be two clusters."""
    table = pd.DataFrame({"school": [7, 7, 8, "7", "8", "9"], "weight": 1.0})
    design = SurveyDesign(weights="weight", clusters="school")
    with pytest.raises(
        ValueError, match=r"by a string and some by a number.*dtype={'school': str}"
    ):
        design.read(table.get)
    found = design.read(table.astype({"school": str}).get)
    assert found.clusters.tolist() == [0, 0, 1, 0, 1, 2]


def test_what_is_told_of_a_survey(surveyed):
    told = surveyed.survey_
    assert (told.n_rows, told.n_clusters, told.degrees) == (1_200, 80, 79)
    (no, few), (yes, many) = told.effective
    assert (no, yes) == ("no", "yes") and 50 < few < 450 and 50 < many < 700
    note = next(n for n in privacy_report(surveyed).notes if "survey" in n)
    assert "79 degrees of freedom" in note and "SurveyDesign(weights='weight'" in note
    assert make(IRSanitizer, survey=None).fit(survey()[["ill", "visits"]]).survey_ is None


def test_an_exact_set_keeps_an_independent_part():
    table = survey()
    design = SurveyDesign(weights="weight", clusters="place", max_weight=60.0)
    exact = make(IRSanitizer, LikelihoodRatioSet(), survey=design).fit(table)
    summary, joint = exact.survey_, exact.joint_
    assert summary.exact and joint.survey is None and joint.n == summary.n_records < 80
    assert exact.certificate_.uncertainty.rule == "finite-sample"
    mixed = table.sample(frac=1.0, random_state=0)
    again = clone(exact).fit(pl.DataFrame(mixed.to_dict("list")))
    assert np.array_equal(again.joint_.counts, joint.counts)  # whatever the rows' order
    assert again.mechanism_.digest == exact.mechanism_.digest
    assert "independent sample of the population if clusters" in summary.describe()


def test_of_a_cluster_one_record_is_kept_in_proportion_to_its_weight():
    rng = np.random.default_rng(0)
    n = 20_000
    clusters = np.repeat(np.arange(n // 2), 2)
    weights = np.tile([1.0, 3.0], n // 2)
    content = [rng.bytes(8) for _ in range(n)]
    most = np.array([8.0])
    records = SurveyRecords(weights, np.zeros(n, int), clusters, max_weights=most)
    kept = independent_part(records, content)
    per_cluster = np.bincount(clusters[kept], minlength=n // 2)
    assert per_cluster.max() == 1
    light, heavy = kept[::2].mean(), kept[1::2].mean()
    assert light == pytest.approx(1 / 8, abs=5 * np.sqrt(1 / 8 / n * 2))
    assert heavy == pytest.approx(3 / 8, abs=5 * np.sqrt(1 / 4 / n * 2))


@pytest.mark.parametrize(
    ("change", "design", "message"),
    [
        ({"weight": 1e-165}, {}, "rescale the weights"),
        ({"weight": -1.0}, {}, "column 'weight' of weights must contain positive numbers"),
        ({"weight": np.nan}, {}, "lacks the weight of 1,200 of 1,200 records: rows 0, 1, 2"),
        ({"place": None}, {}, "column 'place' lacks the cluster of 1,200 of 1,200 records"),
        ({"area": range(1_200)}, {"strata": "area"}, "80 codes of clusters|codes of clusters are"),
        ({}, {"clusters": "town"}, "survey column 'town' not found; the columns are"),
        (
            {"area": lambda t: np.maximum(t["place"] - 1, 0)},
            {"strata": "area"},
            "as many strata as clusters|strata have one cluster",
        ),
    ],
)
def test_designs_that_are_wrong_are_refused(change, design, message):
    table = survey().assign(**change)
    stated = SurveyDesign(**{"weights": "weight", "clusters": "place"} | design)
    sanitizer = make(IRSanitizer, survey=stated)
    with pytest.raises(ValueError, match=message):
        sanitizer.fit(table)
    assert not hasattr(sanitizer, "mechanism_")


def test_strata_of_one_cluster():
    table = survey().assign(area=lambda t: np.minimum(t["place"], 39) // 39)
    table.loc[table["place"] == 0, "area"] = 7
    pairs = {}
    for singleton in ("center", "certainty"):
        design = SurveyDesign(
            weights="weight", strata="area", clusters="place", singleton=singleton
        )
        found = make(IRSanitizer, survey=design).fit(table)
        pairs[singleton] = found.certificate_.uncertainty.pair
    assert pairs["center"] > pairs["certainty"]
    with pytest.raises(ValueError, match="1 of 3 strata have one cluster"):
        make(IRSanitizer, survey=SurveyDesign(strata="area", clusters="place")).fit(
            table.drop(columns="weight")
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"uncertainty": LikelihoodRatioSet()}, "largest sum of weights that its plan"),
        ({"survey": "weight"}, "survey='weight' must be None or a SurveyDesign"),
        (
            {
                "uncertainty": LikelihoodRatioSet(),
                "survey": SurveyDesign(weights="weight", clusters="place", max_weight=10.0),
            },
            "max_weight=10 is less than a cluster's sum of weights",
        ),
    ],
)
def test_what_a_survey_does_not_go_with(options, message):
    options = {"uncertainty": ASYMPTOTIC} | options
    with pytest.raises(ValueError, match=message):
        make(IRSanitizer, **options).fit(survey())
    with pytest.raises(ValueError, match="sample_weight= counts equal records"):
        make(IRSanitizer).fit(survey(), sample_weight=np.ones(1_200))


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ({}, "a survey's design needs a column"),
        ({"replicate_weights": ["a", "b"]}, "replicate_weights need scale"),
        (
            {"replicate_weights": ["a", "b"], "scale": 1.0, "strata": "c"},
            "omit either strata and clusters",
        ),
        ({"weights": "w", "singleton": "adjust"}, "singleton='adjust' must be one of 'error'"),
        ({"weights": "w", "nest": True}, "nest=True concerns codes of clusters within strata"),
    ],
)
def test_designs_that_contradict_themselves(design, message):
    with pytest.raises(ValueError, match=message):
        SurveyDesign(**design)


def test_learned_values_and_few_clusters_are_warned_of():
    with pytest.warns(PrivacyLeakWarning, match="learned from the records of a survey"):
        found = make(IRSanitizer, categories="auto").fit(survey())
    assert found.joint_.alphabet == "learned"
    with pytest.warns(PrivacyLeakWarning, match=r"few clusters \(7 degrees of freedom"):
        make(IRSanitizer).fit(survey(clusters=8, size=200))


def test_strata_of_unknown_sizes_have_no_exact_set():
    """The sizes of strata were not drawn; neither is what replicate weights say of them."""
    table = survey().assign(area=lambda t: t["place"] % 4, other=1.5, third=2.0)
    design = SurveyDesign(weights="weight", strata="area", clusters="place", max_weight=60.0)
    replicated = SurveyDesign(
        weights="weight", replicate_weights=["other", "third"], scale=0.5, max_weight=3.0
    )
    refused = {
        design: "with the number of people in each",
        replicated: "replicate weights do not contain",
    }
    for stated, message in refused.items():
        with pytest.raises(ValueError, match=message):
            make(IRSanitizer, LikelihoodRatioSet(), survey=stated).fit(table)


@pytest.mark.parametrize("values", [VALUES, "auto"])
def test_a_survey_whose_secret_is_missing_is_refused(values):
    table = survey().astype({"ill": object})
    table.loc[:20, "ill"] = None
    with pytest.raises(ValueError, match=r"21 records .* SurveyDesign.complete\(sample, 'ill'"):
        make(IRSanitizer, categories=values).fit(table)


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
    assert make(IRSanitizer).fit(found).joint_.n == kept.sum()


def test_what_cannot_be_completed_is_refused():
    table = survey()
    table.loc[table["ill"] == "yes", "visits"] = None
    with pytest.raises(ValueError, match="1 of 2 classes have no record with all answers"):
        DESIGN.complete(table, within=["ill"])
    with pytest.raises(ValueError, match=r"need weights.*add a column of ones"):
        SurveyDesign(clusters="place").complete(table)
    with pytest.raises(ValueError, match="within column 'town' not found"):
        DESIGN.complete(table, within=["town"])


def test_columns_of_the_design_are_no_others():
    for name, parameter in (("ill", "sensitive="), ("visits", "categories=")):
        with pytest.raises(ValueError, match=rf"\['{name}'\] are named in both {parameter}"):
            make(IRSanitizer, survey=SurveyDesign(clusters=name)).fit(survey())


@pytest.mark.parametrize("heavy", ["secret", "record"])
def test_nearly_all_weight_on_few_records_is_refused(heavy):
    """At 1e20 the conditional of the others was rounded to the uniform one, in silence."""
    table = survey()
    chosen = table["ill"] == "yes" if heavy == "secret" else table.index == 0
    table["weight"] = np.where(chosen, 1e20, 1.0)
    with pytest.raises(ValueError, match="nearly all weight is on few records"):
        make(IRSanitizer).fit(table)


LAZY = {
    "all": SurveyDesign(weights="weight", strata="region", clusters="place", nest=True),
    "strata": SurveyDesign(weights="weight", strata="region"),
    "clusters": SurveyDesign(clusters=["region", "place"]),
}


def of_regions(design, weights=None):
    """Four regions of 20 places, with missing answers, and the columns that a fit needs."""
    table = survey().assign(region=lambda t: t["place"] // 20, place=lambda t: t["place"] % 20)
    table.loc[::10, "visits"] = None
    table = pl.from_pandas(table)
    if weights is not None:
        table = table.with_columns(weight=weights)
    return table.select("ill", "visits", *design.columns)


def fit_lazily(table, design, **options):
    values = {"ill": ["no", "yes"], "visits": ["few", "many", None]}
    return make(IRSanitizer, survey=design, categories=values, random_state=0, **options).fit(table)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_survey_is_fitted_as_the_same_rows(engine, name, monkeypatch):
    table, brought = of_regions(LAZY[name]), rows_brought(monkeypatch)
    found = fit_lazily(ENGINES[engine](table), LAZY[name])
    assert name != "strata" or max(brought) <= 24  # cells within regions
    expected = fit_lazily(table, LAZY[name])
    assert np.array_equal(found.joint_.counts, expected.joint_.counts)
    for sums in ("totals", "squares", "covariance"):
        of_both = [getattr(each.joint_.survey, sums) for each in (found, expected)]
        np.testing.assert_allclose(*of_both, rtol=1e-9, atol=1e-9)
    for number in ("n_clusters", "degrees", "n_rows"):
        assert getattr(found.survey_, number) == getattr(expected.survey_, number)
    of_both = [each.certificate_.uncertainty.pair for each in (found, expected)]
    assert of_both[0] == pytest.approx(of_both[1], rel=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (0.0, "positive numbers, but some are"),
        (float("nan"), "positive numbers, but"),
        (None, "numbers, but 60 are missing"),
        (1e-165, "rescale the weights"),
    ],
)
def test_weights_of_lazy_surveys_are_checked(engine, weight, message):
    weights = pl.when(pl.col("place") == 3).then(weight).otherwise(1.0)
    with pytest.raises(ValueError, match=message):
        fit_lazily(ENGINES[engine](of_regions(LAZY["all"], weights)), LAZY["all"])


def test_exact_sets_of_lazy_surveys_need_the_rows():
    design = SurveyDesign(weights="weight", max_weight=4.0)
    with pytest.raises(ValueError, match="a survey with radius='finite-sample' needs the rows"):
        fit_lazily(of_regions(design).lazy(), design, uncertainty=LikelihoodRatioSet())
