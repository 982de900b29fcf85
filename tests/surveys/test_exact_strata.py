"""Exact sets for strata of fixed sizes: what is kept is an independent sample of the population.

False alarms below 1e-6, with fixed seeds.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skrldp import (
    IRSanitizer,
    LikelihoodRatioSet,
    PrivacyLeakWarning,
    SurveyDesign,
)
from skrldp.surveys.records import SurveyRecords, independent_part

SIZES = np.array([5.0, 3.0, 2.0])  # of the population's strata
DRAWN = np.array([100, 100, 200])  # records of each
OWN = np.array([[6, 1, 1, 2], [1, 6, 2, 1], [1, 1, 7, 1]]) / 10  # distributions of 2 x 2 cells
TRUTH = (SIZES / SIZES.sum() @ OWN).reshape(2, 2)
STRATA = np.repeat(np.arange(3), DRAWN)
DESIGN = SurveyDesign(
    weights="weight", strata="region", max_weight="weight", stratum_sizes="people"
)


def sample(rng, *, half_as_often=False):
    """Records of strata; those of even cells may be drawn half as often, and weigh twice."""
    own = OWN / np.where(half_as_often & (np.arange(4) % 2 == 0), 2.0, 1.0)
    own /= own.sum(axis=1, keepdims=True)
    cells = (rng.random(STRATA.size)[:, None] > own.cumsum(axis=1)[STRATA, :3]).sum(axis=1)
    weights = np.where(half_as_often & (cells % 2 == 0), 2.0, 1.0)
    return cells, weights


def kept_of(rng, cells, weights, most):
    records = SurveyRecords(
        weights, STRATA, None, max_weights=np.full(3, most), stratum_sizes=SIZES
    )
    try:
        return independent_part(records, [rng.bytes(8) for _ in cells])
    except ValueError as error:  # one in a thousand
        assert "a stratum has too few records" in str(error)
        return None


@pytest.mark.slow
@pytest.mark.parametrize("half_as_often", [False, True])
def test_what_is_kept_is_drawn_from_all(half_as_often):
    """Of 120 tables: sizes of strata as multinomial draws have them, and cells as the population.

    Their variance is that of draws, which samples with strata of fixed shares do not have.
    """
    rng, found = np.random.default_rng(0), []
    cells, weights = sample(rng, half_as_often=half_as_often)
    for table in range(120):
        if table % 6 == 0:
            cells, weights = sample(rng, half_as_often=half_as_often)
        kept = kept_of(rng, cells, weights, 1.0 + half_as_often)
        if kept is not None:
            codes = STRATA[kept] * 4 + cells[kept]
            found.append(np.bincount(codes, minlength=12).reshape(3, 4))
    assert len(found) >= 117
    strata_kept, cells_kept = np.sum(found, axis=2), np.sum(found, axis=1)
    n = strata_kept.sum(axis=1)
    if not half_as_often:  # the number of records that could be kept is the same in all tables
        assert n.min() == n.max() > 140
        exact = n[0] * SIZES / 10 * (1 - SIZES / 10)
        ratio = strata_kept.var(axis=0, ddof=1) / exact
        assert np.all(np.abs(ratio - 1) < 5.5 * np.sqrt(2 / len(found)))
    apart = strata_kept.sum(axis=0) / n.sum() - SIZES / 10
    assert np.all(np.abs(apart) < 5.5 * np.sqrt(0.25 / n.sum()))
    # 20 samples of records, of each of which about 150 are kept again and again.
    shares = cells_kept.sum(axis=0) / n.sum()
    assert np.all(np.abs(shares - TRUTH.ravel()) < 5.5 * np.sqrt(0.25 / (20 * 150)))
    assert np.abs(OWN[STRATA].mean(axis=0) - TRUTH.ravel()).max() > 0.15  # if all were kept


def frame(n_regions=3):
    cells, _ = sample(np.random.default_rng(3))
    return pd.DataFrame(
        {
            "ill": cells // 2,
            "visits": cells % 2,
            "region": STRATA % n_regions,
            "weight": (SIZES / DRAWN * 100)[STRATA],
            "people": SIZES[STRATA] * 1000,
        }
    )


def fit(table, design=DESIGN, uncertainty=None):
    values = {"ill": [0, 1], "visits": [0, 1]}
    around = {"uncertainty": uncertainty, "categories": values}
    return IRSanitizer(1.0, sensitive="ill", survey=design, **around).fit(table)


def test_sanitizers_keep_a_sample_of_the_population():
    table = frame()
    found = fit(table)
    assert found.certificate_.uncertainty.rule == "finite-sample"
    assert 140 < found.joint_.n == found.survey_.n_records < 200
    mixed = fit(table.sample(frac=1.0, random_state=0))
    assert np.array_equal(mixed.joint_.counts, found.joint_.counts)  # whatever the rows' order


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"people": np.arange(400.0) + 1}, "of stratum_sizes must contain one number for each str"),
        (
            {"weight": np.tile([1.0, 2.0], 200)},
            "'weight' of max_weight must contain one number for",
        ),
    ],
)
def test_what_strata_must_say(change, message):
    table = frame().assign(**change)
    with pytest.raises(ValueError, match=message):
        fit(table)
    none_is_kept = SurveyDesign("weight", "region", max_weight=1e9, stratum_sizes="people")
    with pytest.raises(ValueError, match="of 3 strata the smallest keeps 0"):
        fit(frame(), none_is_kept)


def test_sizes_that_contradict_the_weights_are_warned_of():
    """Numbers of records in place of people make the set around another population."""
    table = frame()
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyLeakWarning)
        fit(table)
    with pytest.warns(PrivacyLeakWarning, match="has 50.0% of the population, .* 20.0% of the w"):
        fit(table.assign(people=DRAWN[STRATA]))


def test_sizes_without_weights_are_for_exact_sets_alone():
    """The asymptotic set was around the sample's distribution, whatever the sizes of strata."""
    table = frame().drop(columns="weight")
    exact = SurveyDesign(strata="region", stratum_sizes="people", max_weight=1.0)
    assert fit(table, exact).certificate_.uncertainty.rule == "finite-sample"
    design = SurveyDesign(strata="region", stratum_sizes="people")
    asymptotic = LikelihoodRatioSet(radius="asymptotic")
    with pytest.raises(ValueError, match="Name a column of weights"):
        fit(table, design, asymptotic)


def test_all_tables_keep_as_many_records():
    """A stratum without enough records is an error, since fewer would depend on the records.

    It is to happen in at most one of 1,000 tables of a size, here in .98 of 1,000 of them.
    """
    strata, records = np.repeat([0, 1], [10, 10]), [bytes([i]) for i in range(20)]
    design = SurveyRecords(
        np.ones(20), strata, None, max_weights=np.ones(2), stratum_sizes=np.array([1.0, 1.0])
    )
    n_kept, n_refused = set(), 0
    for table in range(4_000):
        try:
            kept = independent_part(design, [table.to_bytes(2) + record for record in records])
        except ValueError as error:
            assert "a stratum has too few records" in str(error)
            n_refused += 1
        else:
            n_kept.add(int(kept.sum()))
    assert len(n_kept) == 1
    assert 0 < n_refused <= stats.binom.isf(1e-6, 4_000, 1e-3)
