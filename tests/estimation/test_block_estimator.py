"""Blocks give the population's shares with intervals of the larger error; raking is optimal."""

import itertools

import numpy as np
import pandas as pd
import pytest
from block_tables import KNOWN, expected_reports, fitted_blocks, wide_table
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skrldp import (
    AOptimalSanitizer,
    BlockEstimator,
    BlockSanitizer,
    Manifest,
    Mechanism,
    RakingWeights,
    SRRSanitizer,
)
from skrldp.estimation import FrequencyEstimator, expected_std_error

TABLE = wide_table()


def test_without_noise_estimates_are_the_populations():
    """Of another population than the public table's."""
    sanitizer, other = fitted_blocks(), wide_table(6_000, seed=3, young=4.0)
    rows = expected_reports(sanitizer, other)
    estimator = BlockEstimator(sanitizer.manifest_).fit(rows, sample_weight=rows["count"])
    for columns in ("age", ["age", "job"], ["job", "home"], ["ill", "home"], "ill"):
        found = estimator.marginal(columns)
        names = [columns] if isinstance(columns, str) else columns
        shares = other[names].value_counts(normalize=True)
        expected = [shares.get(label, 0.0) for label in found.labels]
        for values in (found.estimate, found.unbiased):
            np.testing.assert_allclose(values, expected, atol=1e-7)
    mean = estimator.mean("age", by="job")
    expected = other.groupby("job")["age"].mean()
    np.testing.assert_allclose(
        mean.estimate, expected[[label for (label,) in mean.labels]], atol=1e-6
    )
    shares = estimator.marginal("home", by="ill")
    inside = pd.crosstab(other["ill"], other["home"], normalize="index")
    np.testing.assert_allclose(
        shares.estimate, [inside.loc[s, home] for s, home in shares.labels], atol=1e-6
    )
    assert estimator.quantile("age", 0.9).estimate.tolist() == [other["age"].quantile(0.9)]
    medians = estimator.quantile("age", 0.5, by="job")
    expected = other.groupby("job")["age"].quantile(0.5, interpolation="lower")
    assert list(medians.estimate) == list(expected[[label for (label,) in medians.labels]])
    assert estimator.mean("age").estimate[0] == pytest.approx(other["age"].mean(), abs=1e-7)


def errors_by_the_whole_table(sanitizer, block_counts, names):
    """Standard errors of shares at the public distribution, by least squares over all 36 cells."""
    cells = pd.MultiIndex.from_product(KNOWN.values(), names=KNOWN).to_frame(index=False)
    information = np.zeros((len(cells), len(cells)))
    for fit, n in zip(sanitizer.sanitizers_, block_counts, strict=True):
        mechanism, of_u = fit.mechanism_, [c for c, secret in fit.mechanism_.columns if not secret]
        values = [
            value if len(of_u) > 1 else value[0]
            for value in cells[of_u].itertuples(index=False, name=None)
        ]
        codes = [mechanism.secrets.index(s) for s in cells["ill"]]
        codes = np.array(codes) * len(mechanism.values)
        codes += [mechanism.values.index(value) for value in values]
        channel = mechanism.matrix[:, codes]
        report = mechanism.matrix @ fit.joint_.summary().smoothed().ravel()
        information += n * channel.T @ (channel / report[:, None])
    tangent = np.linalg.svd(np.ones((1, len(cells))))[2][1:].T
    spread = tangent @ np.linalg.pinv(tangent.T @ information @ tangent, rcond=1e-9) @ tangent.T
    groups = cells.groupby(names, sort=False).ngroup().to_numpy()
    indicators = (groups == np.arange(groups.max() + 1)[:, None]).astype(float)
    return np.sqrt(np.diag(indicators @ spread @ indicators.T))


def test_intervals_are_those_of_the_larger_of_two_errors():
    """That of the reports, and that at the public distribution; estimates below 0 count as 0.

    The hypothetical reports that are added lengthen each side by less than a quarter.
    """
    sanitizer, negative = fitted_blocks(), 0
    for seed in range(10):
        wave = TABLE.sample(260, random_state=seed)
        estimator = BlockEstimator(sanitizer).fit(sanitizer.transform(wave))
        shares = estimator.marginal(["age", "job"])
        at_public = errors_by_the_whole_table(sanitizer, estimator.block_counts_, ["age", "job"])
        stated = np.isfinite(shares.std_error)  # where 30 reports would determine the share
        half = norm.ppf(0.975) * np.maximum(shares.std_error, at_public)
        middle = np.clip(shares.unbiased, 0, 1)
        inner, outer = (
            np.clip([middle - factor * half, middle + factor * half], 0, 1)[:, stated]
            for factor in (1.0, 1.25)
        )
        low, high = shares.confidence_interval()[stated].T
        assert (low <= inner[0] + 1e-6).all() and (inner[1] - 1e-6 <= high).all()
        assert (outer[0] <= low).all() and (high <= outer[1]).all()
        negative += (shares.unbiased[stated] < 0).sum()
        assert shares.estimate.min() >= 0 and shares.estimate.sum() == pytest.approx(1.0)
    assert negative >= 3


def test_a_block_without_reports_says_what_is_not_determined():
    sanitizer = fitted_blocks()
    reports = sanitizer.transform(TABLE)
    others = reports.loc[reports["block"] != 1, ["report", "block"]]  # found by name
    estimator = BlockEstimator(sanitizer).fit(others)
    assert estimator.block_counts_[1] == 0
    assert np.isfinite(estimator.marginal("age").std_error).all()  # of another block
    with pytest.warns(UserWarning, match=r"nobody reported the block \('age', 'job'\)") as said:
        crosstab = estimator.marginal(["age", "job"])
    assert said[0].filename == __file__
    assert np.isnan(crosstab.unbiased).all()
    assert np.isnan(crosstab.std_error).all()
    assert (crosstab.confidence_interval() == [0.0, 1.0]).all()


@pytest.mark.slow
def test_drift_is_found_and_no_drift_is_not():
    """False alarms: 1 in 10,000 by the test's own level; a median of 15 is below .15 in 1e-4."""
    sanitizer = clone(fitted_blocks()).fit(TABLE)
    found = []
    for seed in range(15):
        sanitizer.random_state = seed
        wave = wide_table(3_000, seed=100 + seed)
        found.append(BlockEstimator(sanitizer).fit(sanitizer.transform(wave)).drift_test().p_value)
    assert np.median(found) > 0.12
    moved = wide_table(20_000, seed=5, young=6.0)
    test = BlockEstimator(sanitizer).fit(sanitizer.transform(moved)).drift_test()
    assert test.p_value < 1e-4
    assert "age" in test.columns
    with pytest.raises(ValueError, match="counts of its public table"):
        BlockEstimator(sanitizer.manifest_.to_json(public=False)).fit(
            sanitizer.transform(moved)
        ).drift_test()


@pytest.mark.parametrize(
    ("reports", "message"),
    [
        (pd.DataFrame({"block": [0], "report": [99]}), "symbol of the row's block"),
        (pd.DataFrame({"block": [7], "report": [0]}), "in 'block' .* from 0 to"),
        (np.zeros((3, 3), int), "columns 'block' and 'report'"),
        (pd.DataFrame({"block": [], "report": []}, dtype=int), "one report|0 sample|minimum"),
    ],
)
def test_what_are_no_reports(reports, message):
    estimator = BlockEstimator(fitted_blocks())
    with pytest.raises(ValueError, match=message):
        estimator.fit(reports)
    with pytest.raises(NotFittedError):
        estimator.marginal("age")


@pytest.mark.slow
def test_columns_of_one_block_are_tested_for_independence_by_its_reports():
    sanitizer, apart = fitted_blocks(), wide_table(9_000, seed=2)
    apart["home"] = np.random.default_rng(0).permutation(apart["home"])
    reports = sanitizer.transform(apart)
    estimator = BlockEstimator(sanitizer).fit(reports)
    assert estimator.test_independence("age", "home").p_value > 1e-3  # false alarm
    found = estimator.test_independence("age", "job", given="ill")
    number = sanitizer.manifest_.blocks.index(("age", "job"))
    own = FrequencyEstimator(sanitizer.sanitizers_[number], encode="symbol")
    own = own.fit(reports["report"][reports["block"] == number].to_numpy())
    own = own.test_independence("age", "job", given="ill")
    assert found.statistic == pytest.approx(own.statistic, rel=1e-6) and found.p_value < 1e-9
    with pytest.raises(ValueError, match="no block contains the columns"):
        estimator.test_independence("age", "job", given="home")


def test_columns_that_stand_in_no_block_together():
    estimator = BlockEstimator(fitted_blocks()).fit(fitted_blocks().transform(TABLE))
    with pytest.raises(ValueError, match=r"no block contains the columns .* with RakingWeights"):
        estimator.marginal(["age", "home", "job"])
    with pytest.raises(ValueError, match=r"not numeric.*Knots or Bins"):
        estimator.mean("job")
    with pytest.raises(TypeError, match="fitted BlockSanitizer"):
        BlockEstimator(fitted_blocks().sanitizers_[0]).fit([[0, 0]])


def test_calibrated_weights_are_those_of_a_generic_solver():
    """The primal problem, over the distribution of the kinds of records, by another method."""
    from scipy.optimize import minimize

    sanitizer = fitted_blocks("singles")
    public = wide_table(300, seed=9)
    rows = expected_reports(sanitizer, wide_table(900, seed=4, young=3.0), n=2_000)
    strength = 200.0
    own = RakingWeights(sanitizer, public, strength=strength).fit(rows, sample_weight=rows["count"])
    records = own._records
    q = np.bincount(records.kinds, own.weights_) / len(public)
    assert q.sum() == pytest.approx(1.0)
    cells = records.distributions(q)
    # The reports' covariance is that at the result of the first of two rounds: near that at q.
    information = records.design.information(cells)

    def loss(log_q):
        q = np.exp(log_q - log_q.max())
        q = q / q.sum()
        total, cells = strength * (q @ np.log(q / records.shares)), records.distributions(q)
        for k, (one, counts) in enumerate(zip(information, own._counts, strict=True)):
            matrix = records.design.matrices[k]
            off = counts.sum() * (counts / counts.sum() - matrix @ cells[k])
            score = one.channel.T @ (off / one.report)
            inverse = np.linalg.pinv(counts.sum() * one.matrix, hermitian=True, rcond=1e-10)
            total += 0.5 * score @ inverse @ score
        return total

    best = minimize(loss, np.log(records.shares), method="L-BFGS-B", options={"maxfun": 10**6})
    assert loss(np.log(q)) <= best.fun + 1e-3
    best_q = np.exp(best.x - best.x.max())
    np.testing.assert_allclose(q, best_q / best_q.sum(), atol=2e-3)


def test_the_number_of_reports_of_each_block_is_given():
    """So differences between blocks add nothing to the variance of a mean of all reports."""
    sanitizer = fitted_blocks("singles")
    reports = BlockEstimator(sanitizer).fit(sanitizer.transform(TABLE))._reports
    weights = np.random.default_rng(0).normal(size=(1, len(reports.sample.shares)))
    counts, expected = reports.sample.shares * len(TABLE), 0.0
    for first, last in itertools.pairwise(reports.ends):
        values = np.repeat(weights[0, first:last], np.rint(counts[first:last]).astype(int))
        expected += len(values) * values.var() / len(TABLE) ** 2
    assert reports.sample.covariance(weights, weights)[0, 0] == pytest.approx(expected)


def test_replicate_weights_vary_as_estimates_of_the_reports_do():
    """If the table hardly counts; 30 replicates are off by a third with probability 1e-2."""
    sanitizer = fitted_blocks("singles")
    reports = sanitizer.transform(TABLE)
    own = RakingWeights(sanitizer, TABLE, strength=1.0).fit(reports)
    replicates = own.replicate_weights(30, random_state=0)
    assert replicates.shape == (len(TABLE), 30)
    spread = np.std([np.average(TABLE["age"] == 0, weights=w) for w in replicates.T])
    stated = BlockEstimator(sanitizer).fit(reports).marginal("age").std_error[0]
    assert spread == pytest.approx(stated, rel=1 / 3)


# Each report counts nine times, so that its noise may look like reports of another mechanism.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:no distribution of records explains")
def test_leakage_is_that_of_the_worst_block_at_the_weights():
    """Those who see U alone leak S as well, and calibrated records have the secrets they had."""
    sanitizer = fitted_blocks("singles", 4.0, AOptimalSanitizer(observe="nonsensitive"))
    other = wide_table(6_000, seed=3, young=4.0)
    reports = sanitizer.transform(other)
    own = RakingWeights(sanitizer, TABLE, strength=50.0).fit(reports)
    with pytest.warns(UserWarning, match=r"differ from the public table in .*'age'"):
        BlockEstimator(sanitizer).fit(reports, sample_weight=np.full(len(reports), 9))

    def worst(people, weights):
        each = []
        for one, (name,) in zip(sanitizer.manifest_.mechanisms, own.manifest_.blocks, strict=True):
            table = pd.crosstab(people["ill"], people[name], values=weights, aggfunc="sum")
            table = table.loc[list(one.secrets), list(one.values)]
            each.append(one.leakage(table / table.to_numpy().sum()))
        return max(each)

    assert own.leakage_ == pytest.approx(worst(TABLE, own.weights_))
    assert worst(other, np.ones(len(other))) <= own.leakage_at_most_ < np.inf
    assert own.leakage_ <= own.leakage_at_most_


def test_one_blocks_bound_on_the_leakage_is_that_of_its_reports_alone():
    """The same exact function bounds what raking and a single mechanism's reports may leak."""
    block = ["age", "home", "job"]
    sanitizer = BlockSanitizer(base=SRRSanitizer(), sensitive="ill", blocks=[block])
    reports = sanitizer.set_params(random_state=0).fit(TABLE).transform(TABLE[:300])
    own = RakingWeights(sanitizer, TABLE, strength=9.0).fit(reports)
    (mechanism,) = own.manifest_.mechanisms
    alone = FrequencyEstimator(mechanism).fit(reports["report"].to_numpy())
    assert 0.0 < own.leakage_at_most_ == alone.leakage_bound(0.05)


@pytest.mark.parametrize(
    ("public", "options", "message"),
    [
        (TABLE, {"strength": 0}, "strength"),
        (TABLE, {"random_state": None}, "repeatable"),
        (TABLE[["ill", "age"]], {}, "lacks the column"),
    ],
)
def test_bad_calibration_is_refused(public, options, message):
    with pytest.raises(ValueError, match=message):
        RakingWeights(fitted_blocks(), public, **options).fit(fitted_blocks().transform(TABLE))


def test_reports_of_another_manifest_are_warned_of():
    """If its probabilities differ: of as many blocks and symbols, with a greater eps."""
    sanitizer = fitted_blocks()
    other = clone(sanitizer).set_params(eps=6.0).fit(TABLE)
    rows = expected_reports(other, TABLE, n=20_000)
    own = expected_reports(sanitizer, wide_table(young=9.0), n=20_000)
    for estimator in (
        BlockEstimator(sanitizer),
        RakingWeights(sanitizer, TABLE, strength=1_000.0),
    ):
        with pytest.warns(UserWarning, match=r"these .* reports of the block \(") as said:
            estimator.fit(rows, sample_weight=rows["count"])
        assert said[0].filename == __file__
        estimator.fit(own, sample_weight=own["count"])  # no warning, which would be an error here


def test_the_public_table_is_not_printed():
    table = pd.DataFrame({"ill": ["no", "yes"], "job": ["VALUE", "VALUE"]})
    for public, shown in ((table, "<DataFrame (2, 2)>"), ([["no", "VALUE"]], "<list>")):
        assert repr(RakingWeights("{}", public)) == (
            f"RakingWeights(mechanism='{{}}', public={shown})"
        )


def test_blocks_whose_reports_do_not_determine_all_cells_have_right_errors():
    """Reports tell the secret of one value of U alone: some cells are not determined."""
    whole = fitted_blocks().manifest_
    partly = []
    for one in whole.mechanisms:
        by_secret = one.matrix.reshape(2, len(one.values), -1)
        rows = np.vstack([by_secret[:, 0], by_secret[:, 1:].sum(axis=0)])
        blurred = Mechanism.from_matrix(rows, one.secrets, one.values)
        partly.append(blurred.named(None, one.columns))
    manifest = Manifest.of(partly, whole.shares)
    joints = [one.joint_ for one in fitted_blocks().sanitizers_]
    planned = expected_std_error(manifest, 40_000, "age", distribution=joints)
    expected = []
    for number, (one, joint) in enumerate(zip(partly, joints, strict=True)):
        counts = np.rint(
            40_000 * manifest.shares[number] * one.matrix @ joint.probabilities.ravel()
        )
        expected.append(pd.DataFrame({"block": number, "report": range(len(counts)), "n": counts}))
    rows = pd.concat(expected, ignore_index=True)
    estimator = BlockEstimator(manifest).fit(rows, sample_weight=rows["n"])
    np.testing.assert_allclose(estimator.marginal("age").std_error, planned, rtol=0.03)
