"""Estimates add up cells; differences, ratios and pooled ones have the errors of their parts."""

import numpy as np
import pandas as pd
import pytest
from fits_of_counts import DISTRIBUTION, TABLE, fit_counts, fit_distribution, grr, sanitizers

from skrldp import (
    Bins,
    BlockEstimator,
    BlockSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    Mechanism,
    SRRSanitizer,
    SurveyDesign,
)
from skrldp.estimation import PairedReports, difference, pooled, ratio
from skrldp.estimation.errors_and_intervals import combined_ends, ratio_ends


@pytest.fixture(scope="module")
def fitted():
    return sanitizers()


@pytest.fixture(scope="module")
def four_columns():
    rows = [(a, s, b, t) for a in "xy" for s in (0, 1) for b in (7, 5) for t in "pq"]
    X = pd.DataFrame(rows, columns=["a", "s", "b", "t"])
    X = X[(X["a"] == "x") | (X["b"] == 5)]  # so that U has no (y, 7)
    sanitizer = GRRSanitizer(2.0, sensitive=["s", "t"]).fit(X)
    mechanism = sanitizer.mechanism_
    shares = np.random.default_rng(7).dirichlet(np.full(len(mechanism.cells), 3.0))
    return fit_counts(mechanism, np.round(40_000 * mechanism.matrix @ shares))


def by_hand(estimator, columns):
    """Unbiased shares of columns, and which cells they add up."""
    names = ("s", "t", "a", "b")
    cells = [(*s, *u) for s, u in estimator.mechanism_.cells]
    unbiased = estimator.marginal().unbiased
    found = {}
    for cell, share in zip(cells, unbiased, strict=True):
        label = tuple(cell[names.index(name)] for name in columns)
        found[label] = found.get(label, 0.0) + share
    return found


@pytest.mark.parametrize("columns", [["t", "a"], ["b", "s", "a", "t"]])
def test_marginals_add_up_cells(four_columns, columns):
    found = four_columns.marginal(columns)
    assert found.names == tuple(columns)
    assert list(found.labels) == sorted(found.labels)
    expected = by_hand(four_columns, columns)
    assert dict(zip(found.labels, found.unbiased, strict=True)) == pytest.approx(expected)
    assert found.estimate.sum() == pytest.approx(1.0) and found.estimate.min() >= 0.0


def test_shares_and_means_within_groups_are_ratios(four_columns):
    both, alone = by_hand(four_columns, ["a", "b"]), by_hand(four_columns, ["a"])
    shares = four_columns.marginal("b", by="a")
    assert shares.labels == (("x", 5), ("x", 7), ("y", 5), ("y", 7))
    expected = [both.get(label, 0.0) / alone[label[:1]] for label in shares.labels]
    assert shares.unbiased == pytest.approx(expected)
    means = four_columns.mean("b", by="a")
    assert means.unbiased[0] == pytest.approx(5 * expected[0] + 7 * expected[1])
    assert means.groups == ["x", "y"] and means.estimate[1] == 5.0 and means.std_error[1] == 0.0
    whole = four_columns.mean("b")
    weights = [alone["x",], alone["y",]]
    assert whole.unbiased[0] == pytest.approx(means.unbiased @ weights)


def test_quantiles_are_numbers_of_the_column(fitted):
    estimator = fit_distribution(fitted["grr"].mechanism_, DISTRIBUTION)
    found = estimator.quantile(1)
    assert found.estimate.tolist() == [2.0] and np.isnan(found.std_error).all()
    assert estimator.quantile(1, 0.29).estimate.tolist() == [1.0]
    assert found.confidence_interval().tolist() == [[2.0, 2.0]]
    by_group = estimator.quantile(1, 0.3, by=0)
    assert by_group.estimate.tolist() == [1.0, 2.0]
    few = fit_counts(fitted["grr"].mechanism_, [3, 5, 2, 8, 9, 3])
    assert few.quantile(1).confidence_interval().tolist() == [[1.0, 3.0]]
    with pytest.raises(ValueError, match="q=1 must be a number between 0 and 1"):
        few.quantile(1, 1)


def test_em_has_other_points_and_the_same_intervals(fitted):
    counts = np.round(900 * fitted["grr"].mechanism_.matrix @ [0.0, 0.1, 0.0, 0.4, 0.5, 0.0])
    both = [fit_counts(fitted["grr"].mechanism_, counts, method) for method in ("unbiased", "em")]
    shares = [one.marginal(1) for one in both]
    assert shares[0].confidence_interval() == pytest.approx(shares[1].confidence_interval())
    assert shares[0].std_error == pytest.approx(shares[1].std_error)
    assert shares[1].estimate == pytest.approx(both[1].frequencies_.sum(axis=0))
    report = fitted["grr"].mechanism_.matrix @ both[1].frequencies_.ravel()
    slope = fitted["grr"].mechanism_.matrix.T @ (np.array(counts) / sum(counts) / report)
    assert slope.max() <= 1.0 + 1e-6  # no distribution is likelier


def test_an_empty_group_has_no_figure():
    X = [["no", "a", 1], ["no", "a", 2], ["yes", "b", None], ["yes", "b", None]]
    sanitizer = GRRSanitizer(4.0, sensitive=0).fit(X)
    estimator = FrequencyEstimator(sanitizer.mechanism_).fit(
        range(len(sanitizer.mechanism_.symbols)), sample_weight=[30, 40, 20, 10, 20, 30]
    )
    means = estimator.mean(2, by=1)
    assert means.labels == (("a",), ("b",))
    assert np.isfinite(means.estimate[0]) and np.isnan(means.estimate[1])
    assert np.isnan(means.std_error[1]) and np.isnan(means.confidence_interval()[1]).all()


def test_noise_is_the_part_of_the_error_that_the_mechanism_adds(fitted):
    """Raw answers have errors without noise; their variances add up."""
    n = 40_000
    truth = fit_counts(
        Mechanism.from_matrix(np.eye(6), (0, 1), (1, 2, 3)).named(None, [(0, True), (1, False)]),
        np.round(n * DISTRIBUTION.ravel()),
    )
    reports = fit_distribution(fitted["grr"].mechanism_, DISTRIBUTION)
    scale = np.sqrt(reports.n_reports_ / n)
    for asked in (lambda e: e.marginal(1), lambda e: e.mean(1, by=0), lambda e: e.marginal()):
        raw, own = asked(truth), asked(reports)
        assert raw.noise_error == pytest.approx(0.0, abs=1e-6)
        assert (own.std_error * scale) ** 2 == pytest.approx(
            raw.std_error**2 + (own.noise_error * scale) ** 2, rel=1e-3
        )


# -- order ----------------------------------------------------------------------------------------

SIZES = ["small", "middle", "large"]  # not sorted by name


@pytest.fixture(scope="module")
def named_and_ranked():
    """Estimators of the same reports, with names and with ranks for the sizes."""
    rng = np.random.default_rng(0)
    rank = np.where(rng.random(4000) < 0.05, -1, rng.choice(3, 4000, p=[0.2, 0.25, 0.55]))
    estimators = []
    for values in (pd.Categorical.from_codes(rank, SIZES, ordered=True), rank.astype(float)):
        X = pd.DataFrame({"ill": np.arange(4000) % 2 == 0, "size": values})
        X.loc[rank < 0, "size"] = None
        sanitizer = GRRSanitizer(2.0, sensitive="ill", random_state=1).fit(X)
        estimators.append(FrequencyEstimator(sanitizer).fit(sanitizer.transform(X)))
    return estimators


@pytest.mark.parametrize("q", [0.1, 0.4, 0.9])
def test_ordered_categories_have_the_quantiles_of_their_ranks(named_and_ranked, q):
    named, ranked = named_and_ranked
    named, ranked = named.quantile("size", q, order=SIZES), ranked.quantile("size", q)
    assert SIZES.index(named.estimate[0]) == ranked.estimate[0]
    for level in (0.5, 0.999):
        ends = [SIZES.index(end) for end in named.confidence_interval(level)[0]]
        assert ends == ranked.confidence_interval(level)[0].tolist()


@pytest.mark.parametrize("order", [SIZES[:2], [*SIZES, "small"], 3])
def test_quantiles_of_names_need_their_order(named_and_ranked, order):
    with pytest.raises(ValueError, match="from least to greatest, each once"):
        named_and_ranked[0].quantile("size", 0.5, order=order)
    with pytest.raises(ValueError, match=r"not numeric.*marginal.*need their `order`"):
        named_and_ranked[0].quantile("size", 0.5)


def test_quantiles_of_bins_lie_between_their_edges():
    """Also where the names sort differently, with open ends, by secret and of blocks."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"ill": rng.random(4000) < 0.5, "age": rng.integers(0, 200, 4000)})
    bins = Bins([-np.inf, 9, 30, 100, np.inf])
    categories = {"ill": [False, True], "age": bins}
    options = {"sensitive": "ill", "categories": categories, "random_state": 0}
    sanitizer = GRRSanitizer(4.0, **options).fit(X)
    blocks = BlockSanitizer(4.0, base=GRRSanitizer(), **options).fit(X)
    estimators = (
        FrequencyEstimator(sanitizer).fit(sanitizer.transform(X)),
        BlockEstimator(blocks).fit(blocks.transform(X)),
    )
    for q in (0.02, 0.1, 0.4, 0.9):
        expected = np.clip(200 * q, 9, 100)  # the finite edge of an open bin
        for estimator in estimators:
            found = estimator.quantile("age", q), estimator.quantile("age", q, by="ill")
            np.testing.assert_allclose(found[0].estimate, expected, atol=15)
            np.testing.assert_allclose(found[1].estimate, expected, atol=25)


def test_estimates_come_in_the_order_that_is_declared():
    """Although some combinations lack, so that the order must be read off the others."""
    X = pd.DataFrame(
        [(0, "x", "small"), (1, "x", "middle"), (0, "y", "middle"), (1, "y", "large")] * 3,
        columns=["s", "u", "size"],
    )
    for dtype, order in (("object", sorted(SIZES)), (pd.CategoricalDtype(SIZES), SIZES)):
        table = X.astype({"size": dtype})
        sanitizer = GRRSanitizer(2.0, sensitive="s", random_state=0).fit(table)
        shares = FrequencyEstimator(sanitizer).fit(sanitizer.transform(table)).marginal("size")
        assert shares.labels == tuple((size,) for size in order)


# -- differences and ratios -----------------------------------------------------------------------


def waves(shares, n=10_000, seed=None):
    sanitizer = sanitizers()["srr"]
    expected = n * sanitizer.mechanism_.matrix @ np.ravel(shares)
    counts = np.rint(expected)
    if seed is not None:
        counts = np.random.default_rng(seed).multinomial(n, expected / n)
    return FrequencyEstimator(sanitizer.mechanism_).fit(range(6), sample_weight=counts)


def test_differences_of_populations_add_variances():
    one, two = waves(DISTRIBUTION), waves(DISTRIBUTION[::-1])
    for asked in (lambda e: e.marginal(1), lambda e: e.mean(1), lambda e: e.mean(1, by=0)):
        first, second = asked(one), asked(two)
        found = difference(first, second)
        assert found.estimate == pytest.approx(first.estimate - second.estimate)
        assert found.std_error == pytest.approx(np.hypot(first.std_error, second.std_error))
        low, high = found.confidence_interval().T
        assert (low < found.estimate).all() and (found.estimate < high).all()
        assert found.covariance() == pytest.approx(first.covariance() + second.covariance())
        parts = ratio(first, second)
        assert parts.estimate == pytest.approx(first.estimate / second.estimate)
    quantiles = difference(one.quantile(1), two.quantile(1))
    assert quantiles.estimate.tolist() == [0.0]
    assert quantiles.n_reports == one.n_reports_ + two.n_reports_


def test_groups_of_one_population_go_together():
    means = waves(DISTRIBUTION).mean(1, by=0)
    gap = means.difference("yes", "no")
    covariance = means.covariance()
    variance = covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1]
    assert gap.std_error[0] ** 2 == pytest.approx(variance)
    assert means.contrast({"yes": 2.0, "no": -2.0}).std_error == pytest.approx(2.0 * gap.std_error)
    share = means.ratio("yes", "no")
    low, high = share.confidence_interval()[0]
    assert low < share.estimate[0] == means.estimate[1] / means.estimate[0] < high
    back = means.ratio("no", "yes")
    assert back.confidence_interval()[0] == pytest.approx([1.0 / high, 1.0 / low])
    with pytest.raises(ValueError, match=r"group 'none' does not exist.*\['no', 'yes'\]"):
        means.difference("none", "no")


def test_what_has_no_difference_is_refused():
    one = waves(DISTRIBUTION)
    other = FrequencyEstimator(Mechanism.from_matrix(grr(4), (0, 1), (0, 1)))
    other.fit(range(4), sample_weight=[9] * 4)
    with pytest.raises(ValueError, match="different columns or categories"):
        difference(one.marginal(part="sensitive"), other.marginal(part="nonsensitive"))
    with pytest.raises(TypeError, match="estimates of two estimators"):
        difference(one, one)
    for of_quantiles in (pooled, lambda first, _: first.total(9)):
        with pytest.raises(ValueError, match="quantiles have no"):
            of_quantiles(one.quantile(1), one.quantile(1))


def test_ratios_are_those_that_differences_do_not_contradict():
    """Also of negative estimates, of 0, and where the denominator may be 0 or has either sign."""
    rng = np.random.default_rng(0)
    values = rng.normal(0.0, 1.0, (2, 400))
    ends = values[..., None] + np.array([-1.0, 1.0]) * rng.exponential(0.7, (2, 400, 2))
    share = slice(200, None)  # shares, of which some are 0
    values[:, share], ends[:, share] = (np.clip(x[:, share], 0.0, 1.0) for x in (values, ends))
    correlation = np.where(rng.random(400) < 0.2, np.nan, rng.uniform(-1.0, 1.0, 400))
    spreads = np.where(rng.random((2, 400)) < 0.2, np.nan, rng.exponential(0.5, (2, 400)))
    # The set of the ends alone, which is wider, is given where the denominator's spread reaches 0.
    is_wider = spreads[1] >= np.abs(values[1])
    low, high = ratio_ends(values, ends, correlation, spreads).T
    both = np.ones((2, 2, 400))
    both[0, 1] = both[1, 0] = correlation
    either_sign = (ends[1, :, 0] < 0.0) & (ends[1, :, 1] > 0.0)
    assert np.isinf([low, high])[:, either_sign].all()
    has_zero = (ends == 0.0).any(axis=(0, 2))  # an end at 0 is a ratio of 0 or infinity
    for r in rng.normal(0.0, 2.0, 300):
        of_r = combined_ends(np.array([1.0, -r]), values, ends, both, spreads)
        within, expected = (of_r[:, 0] <= 0.0) & (of_r[:, 1] >= 0.0), (low <= r) & (r <= high)
        impossible = (r < 0.0) & (ends >= 0.0).all(axis=(0, 2))
        sure = (np.abs(of_r).min(axis=1) > 1e-9) & ~impossible & ~either_sign
        assert expected[sure & within].all()
        assert not expected[sure & ~within & ~has_zero & ~is_wider].any()


def test_a_ratio_of_one_category_needs_nothing_of_the_others():
    one, two = waves([[0.3, 0.2, 0.0], [0.3, 0.2, 0.0]], 900), waves(DISTRIBUTION, 900, seed=0)
    top, base = one.marginal(1), two.marginal(1)
    assert (top.estimate == 0.0).any()
    up, down = ratio(top, base), ratio(base, top)
    empty = top.estimate == 0.0
    assert up.estimate == pytest.approx(top.estimate / base.estimate)
    assert np.isnan(down.estimate[empty]).all() and np.isfinite(down.estimate[~empty]).all()
    assert np.isnan(down.std_error[empty]).all() and np.isfinite(up.std_error).all()
    few = waves(DISTRIBUTION, 200, seed=0).marginal(1)
    is_near_0 = few.estimate < 4.0 * few.std_error  # where a linear approximation fails
    assert np.isnan(ratio(base, few).std_error).tolist() == is_near_0.tolist()
    assert is_near_0.any() and not is_near_0.all()


def test_totals_are_shares_and_means_of_so_many_people():
    wave = waves(DISTRIBUTION)
    shares, groups = wave.marginal(1), wave.mean(1, by=0)
    people = shares.total(2_000)
    assert people.estimate == pytest.approx(2_000 * shares.estimate)
    assert people.confidence_interval(0.9) == pytest.approx(2_000 * shares.confidence_interval(0.9))
    assert people.covariance() == pytest.approx(4e6 * shares.covariance())
    visits = groups.total({"yes": 10.0, "no": 30.0})
    assert visits.std_error == pytest.approx([30.0, 10.0] * groups.std_error)
    with pytest.raises(ValueError, match="Expected the number of people of each group"):
        groups.total({"yes": 3})


# -- the same persons twice -----------------------------------------------------------------------


def test_pairs_of_true_records_have_the_errors_of_each_persons_answers():
    """Without noise: McNemar's error of a difference; of a level, that of two answers' mean."""
    identity = Mechanism.from_matrix(np.eye(2), ("no", "yes"), ("all",))
    before, after = (np.repeat(wave, [50, 30, 10, 60]) for wave in ([0, 0, 1, 1], [0, 1, 0, 1]))
    one, two = (FrequencyEstimator(identity).fit(wave) for wave in (before, after))
    pairs = PairedReports(one, two, before, after)
    shares = [estimator.marginal(part="sensitive") for estimator in (two, one)]
    gap, level = difference(*shares, paired=pairs), pooled(*shares, paired=pairs)
    assert gap.std_error == pytest.approx(np.std(after - before) / np.sqrt(150))
    assert pairs.n_pairs == 150 and level.n_reports == 300
    assert (gap.std_error < difference(*shares).std_error).all()
    assert (pooled(*shares).std_error < level.std_error).all()
    weight = (level.estimate[1] - before.mean()) / (after.mean() - before.mean())
    mean = weight * after + (1.0 - weight) * before
    assert level.std_error == pytest.approx(np.std(mean) / np.sqrt(150))


def test_precise_waves_weigh_more_and_shares_still_add_up():
    small, large = waves(DISTRIBUTION, 1_000, seed=1), waves(DISTRIBUTION, 8_000, seed=2)
    for asked in (lambda e: e.marginal(1), lambda e: e.mean(1)):
        parts = asked(small), asked(large)
        level = pooled(*parts)
        assert (level.std_error < np.minimum(*(one.std_error for one in parts))).all()
        low, high = np.sort([one.estimate for one in parts], axis=0)
        assert ((low - 1e-9 <= level.estimate) & (level.estimate <= high + 1e-9)).all()
    assert pooled(small.marginal(1), large.marginal(1)).estimate.sum() == pytest.approx(1.0)


def test_equal_noise_of_an_integer_random_state_is_warned_of():
    sanitizer = SRRSanitizer(1.0, sensitive=0, random_state=0)
    sanitizer.fit(TABLE, sample_weight=[70, 100, 40, 260, 570, 160])
    people = TABLE.iloc[np.random.default_rng(0).integers(0, 6, 800)].reset_index(drop=True)
    later = people.copy()
    later.iloc[:240] = TABLE.iloc[0].to_list()

    def of(design, *seeds):
        sent = [
            design.set_params(random_state=seed).transform(wave)
            for seed, wave in zip(seeds, (people, later), strict=True)
        ]
        fits = [FrequencyEstimator(design).fit(reports) for reports in sent]
        return PairedReports(*fits, *sent)

    with pytest.warns(UserWarning, match="of 800 people have equal reports in both waves"):
        of(sanitizer, 0, 0)
    of(sanitizer, 0, 1)


def test_pairs_are_found_by_ids():
    estimators = [waves(DISTRIBUTION, 30), waves(DISTRIBUTION, 30)]
    sent = [np.repeat(range(6), estimator.counts_) for estimator in estimators]
    ids = [np.arange(len(sent[0])), np.arange(len(sent[1])) + 10]
    pairs = PairedReports(*estimators, *sent, ids=ids)
    assert pairs.n_pairs == len(sent[0]) - 10
    with pytest.raises(ValueError, match="more than one row of Y_first"):
        PairedReports(*estimators, *sent, ids=[np.zeros(len(sent[0]), int), ids[1]])
    other = waves(DISTRIBUTION, 30)
    with pytest.raises(ValueError, match="link the two estimators"):
        difference(other.mean(1), estimators[1].mean(1), paired=pairs)


# -- weights, groups ------------------------------------------------------------------------------


def test_groups_of_a_surveys_reports_are_as_each_alone_and_vary_together():
    """Clusters that reach over both groups: the difference of twins' means has no error."""
    mechanism = sanitizers()["srr"].mechanism_
    rng = np.random.default_rng(2)
    report = rng.choice(6, 400, p=mechanism.matrix @ DISTRIBUTION.ravel())
    half = pd.DataFrame(
        {"report": report, "weight": rng.choice([1.0, 2.0], 400), "school": range(400)}
    )
    Y = pd.concat([half.assign(region="north"), half.assign(region="south")], ignore_index=True)
    design = SurveyDesign(weights="weight", clusters="school")
    both = FrequencyEstimator(mechanism, survey=design, groups="region").fit(Y)
    alone = FrequencyEstimator(mechanism, survey=design).fit(half)
    means, one = both.mean(1), alone.mean(1)
    assert means.groups == ["north", "south"]
    for name in ("estimate", "std_error", "noise_error"):
        expected = np.repeat(getattr(one, name), 2)
        assert getattr(means, name) == pytest.approx(expected, nan_ok=True, rel=0.01)
    assert means.confidence_interval() == pytest.approx(
        one.confidence_interval().repeat(2, 0), rel=0.01
    )
    assert means.difference("north", "south").std_error == pytest.approx(0.0, abs=1e-9)
    plain = FrequencyEstimator(mechanism, groups="region").fit(Y[["report", "region"]]).mean(1)
    alone = FrequencyEstimator(mechanism).fit(half[["report"]]).mean(1)
    np.testing.assert_array_equal(plain.estimate, alone.estimate.repeat(2))
    assert plain.confidence_interval() == pytest.approx(alone.confidence_interval().repeat(2, 0))
    gap = plain.difference("north", "south")
    assert gap.std_error == pytest.approx(np.hypot(*plain.std_error))


def test_points_of_what_reports_say_nothing_of_do_not_depend_on_rounding(fitted):
    """Of weights that are as good, those of no reports are taken: others are noise of a solver."""
    counts = np.round(300 * fitted["mse"].mechanism_.matrix @ DISTRIBUTION.ravel())
    members, visits, found = np.repeat(np.eye(2), 3, axis=1), np.tile([1.0, 2.0, 3.0], 2), []
    for step in (0.0, 1e-15, 1e-13):
        own = fit_counts(fitted["mse"], counts)._own
        own.channel.public = own.channel.public * (1.0 + step * np.arange(6))
        sample = own.one_sample("a test")
        found.append(own.statistic(members * visits, members, sample).inference(sample).points)
    assert found[1] == pytest.approx(found[0]) and found[2] == pytest.approx(found[0])
