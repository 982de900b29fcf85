"""Two waves of reports in which persons are the same: errors against sums over the persons.

Where reports are drawn, seeds are fixed and the tests are of identities, which hold for all draws.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fits_of_counts import COUNTS, DISTRIBUTION, TABLE, fit_counts, grr, plain, sanitizers
from statsmodels.stats.contingency_tables import SquareTable

from skrldp import FrequencyEstimator, GRRSanitizer, IntervalDisplay, batches
from skrldp.estimation import PairedReports, difference, ratio

# Of 1,300 persons who are in both waves: rows, columns are the values of U in each wave.
CHANGED = np.array([[320, 40, 25], [70, 400, 30], [20, 45, 350]])
NAMES = [("ill", True), ("visits", False)]
EXACT = plain(np.eye(6), 2).named(None, NAMES)  # reports are the records
GRR = plain(grr(6, 3.0), 2).named(None, NAMES)


def fitted(counts, mechanism=None, method="least-squares"):
    """An estimator of the values 1, 2 and 3 of U, whose reports are counted."""
    return fit_counts(mechanism or EXACT, counts, method)


def panel(cross, first_alone=0, second_alone=0, **options):
    """Estimators of both waves, and the pairs, of persons whose two reports are counted."""
    cross = np.asarray(cross)
    one = fitted(cross.sum(axis=1) + first_alone, **options)
    two = fitted(cross.sum(axis=0) + second_alone, **options)
    rows, columns = np.indices(cross.shape).reshape(2, -1)
    return one, two, PairedReports(one, two, rows, columns, sample_weight=cross.ravel())


def exact_panel(changed=CHANGED):
    cross = np.zeros((6, 6), int)
    cross[:3, :3] = changed
    return panel(cross)


def drawn(mechanism=GRR, n=4_000, seed=0, method="ml", both=0.8):
    """Waves of reports about correlated records, of whom a part is in one wave alone."""
    rng = np.random.default_rng(seed)
    cells = rng.choice(6, n, p=DISTRIBUTION.ravel())
    later = np.where(rng.random(n) < 0.8, cells, rng.choice(6, n, p=DISTRIBUTION.ravel()))
    matrix = mechanism.matrix.cumsum(axis=0)
    sent = [(rng.random(n) > matrix[:, own]).sum(axis=0) for own in (cells, later)]
    ids = np.arange(n)
    here = [rng.random(n) < both, rng.random(n) < both]
    waves = [(own[kept], ids[kept]) for own, kept in zip(sent, here, strict=True)]
    estimators = [FrequencyEstimator(mechanism, method, encode="symbol").fit(y) for y, _ in waves]
    pairs = PairedReports(*estimators, *(y for y, _ in waves), ids=[own for _, own in waves])
    return estimators, waves, pairs


# -- known cases ----------------------------------------------------------------------------------


def test_exact_reports_have_the_variance_of_mcnemar():
    changed = np.array([[500, 60], [25, 415]])
    one, two, pairs = panel(
        np.pad(changed, (0, 2)),
        mechanism=plain(np.eye(4), 2).named(None, NAMES),
    )
    found = difference(two.marginal("visits"), one.marginal("visits"), paired=pairs)
    b, c, n = 60, 25, 1_000
    np.testing.assert_allclose(found.values[1], (b - c) / n)
    np.testing.assert_allclose(found.std_error, np.sqrt(b + c - (b - c) ** 2 / n) / n)


def test_exact_reports_have_the_variance_of_the_paired_t_test():
    one, two, pairs = exact_panel()
    found = difference(two.mean("visits"), one.mean("visits"), paired=pairs)
    rows, columns = np.indices((3, 3)).reshape(2, -1)
    each = np.repeat(columns - rows, CHANGED.ravel())
    assert found.value == pytest.approx(each.mean())
    assert found.std_error == pytest.approx(each.std() / np.sqrt(len(each)))


def test_the_wald_test_of_exact_reports_is_bhapkars():
    one, two, pairs = exact_panel()
    found = difference(two.marginal("visits"), one.marginal("visits"), paired=pairs)
    statistic, p_value, df = found.wald_test()
    known = SquareTable(CHANGED, shift_zeros=False).homogeneity(method="bhapkar")
    assert (statistic, df) == (pytest.approx(known.statistic), 2)
    assert p_value == pytest.approx(known.pvalue)


@pytest.mark.parametrize("method", ["ml", "least-squares"])
@pytest.mark.parametrize("name", ["grr", "polyopt"])
def test_covariances_are_sums_over_persons(name, method):
    """Of each person the influence on both estimates, by the matrix and the observed shares."""
    mechanism = GRR if name == "grr" else sanitizers()[name].mechanism_
    n = 20_000
    (one, two), waves, pairs = drawn(mechanism, n, method=method)
    shares = np.tile(np.eye(3), 2)
    moves = np.zeros((3, n))
    for sign, (y, own), estimator in zip((-1, 1), waves, (one, two), strict=True):
        # Least squares has weights at a uniform distribution, maximum likelihood at its own.
        at = np.full(6, 1 / 6) if method == "least-squares" else estimator.frequencies_.ravel()
        matrix = mechanism.matrix
        scaled = matrix / np.maximum(matrix @ at, 1e-300)[:, None]
        weights = shares @ np.linalg.inv(matrix.T @ scaled) @ scaled.T
        moves[:, own] += sign * (weights[:, y] - weights[:, y].mean(1, keepdims=True)) / len(y)
    found = difference(two.marginal("visits"), one.marginal("visits"), paired=pairs)
    # PolyOpt has more symbols than cells: their shares are not exactly those of the estimate.
    close = {"rtol": 1e-5} if name == "grr" else {"atol": 0.03 * (moves**2).sum(axis=1).max()}
    np.testing.assert_allclose(found._covariance(True), moves @ moves.T, **close)
    if name == "grr":
        apart = difference(two.marginal("visits"), one.marginal("visits"))
        np.testing.assert_allclose(found.std_error, np.sqrt((moves**2).sum(axis=1)))
        assert (found.std_error < 0.9 * apart.std_error).all()


def test_fresh_reports_go_together_as_the_records_do():
    """Given the records the reports are independent: the covariance is the records'."""
    n, joint = 1e9, np.diag(DISTRIBUTION.ravel()) * 0.7
    joint = joint + 0.3 * np.outer(DISTRIBUTION, np.roll(DISTRIBUTION, 1))
    first, second = (sanitizers()[name].mechanism_ for name in ("grr", "srr"))
    cross = np.rint(n * first.matrix @ joint @ second.matrix.T)
    one, two = fit_counts(first, cross.sum(axis=1)), fit_counts(second, cross.sum(axis=0))
    rows, columns = np.indices(cross.shape).reshape(2, -1)
    pairs = PairedReports(one, two, rows, columns, sample_weight=cross.ravel())
    own = one.mean("visits"), two.mean("visits")
    found = difference(*own, paired=pairs)
    covariance = (own[0].std_error ** 2 + own[1].std_error ** 2 - found.std_error**2) / 2
    numbers = TABLE["visits"].to_numpy()
    means = numbers @ joint.sum(axis=1), numbers @ joint.sum(axis=0)
    expected = numbers @ joint @ numbers - means[0] * means[1]
    assert covariance * n == pytest.approx(expected, rel=1e-4)


# -- special pairs --------------------------------------------------------------------------------


def figures():
    return {
        "mean": lambda e: e.mean("visits"),
        "variance": lambda e: e.variance("visits"),
        "shares": lambda e: e.marginal("visits"),
        "means": lambda e: e.mean("visits", by="ill"),
        "shares by group": lambda e: e.marginal("visits", by="ill"),
        "distribution function": lambda e: e.distribution_function("visits", by="ill"),
        "quantile": lambda e: e.quantile("visits", 0.5),
        "quantiles": lambda e: e.quantile("visits", 0.4, by="ill"),
    }


@pytest.mark.parametrize("between", [difference, ratio])
def test_without_a_person_in_both_waves_they_are_independent(between):
    (one, two), waves, _ = drawn(method="least-squares")
    ids = [range(len(waves[0][0])), [f"new {k}" for k in range(len(waves[1][0]))]]
    none = PairedReports(one, two, waves[0][0], waves[1][0], ids=ids)
    assert none.n_pairs == 0
    for figure in figures().values():
        own, apart = (between(figure(two), figure(one), paired=p) for p in (none, None))
        np.testing.assert_allclose(own.std_error, apart.std_error, rtol=1e-9)
        np.testing.assert_allclose(
            own.confidence_interval(), apart.confidence_interval(), rtol=1e-6, atol=1e-12
        )
    found, apart = (
        between(two.marginal("visits"), one.marginal("visits"), paired=p) for p in (none, None)
    )
    np.testing.assert_allclose(found.covariance(), apart.covariance(), atol=1e-15)


@pytest.mark.parametrize("name", ["grr", "polyopt"])
def test_the_same_reports_differ_by_nothing(name):
    """A share of 0 or more is not found wrong for certain, though nobody has changed."""
    mechanism = sanitizers()[name].mechanism_
    counts = np.random.default_rng(3).multinomial(5_000, mechanism.matrix @ DISTRIBUTION.ravel())
    one, two, pairs = panel(np.diag(counts), mechanism=mechanism, method="ml")
    found = difference(two.marginal("visits"), one.marginal("visits"), paired=pairs)
    apart = difference(two.marginal("visits"), one.marginal("visits"))
    assert (found.values == 0.0).all()
    assert found._covariance(True).max() < 1e-6 * apart.covariance().max()  # of unseen symbols
    assert np.isnan(found.std_error).all()
    lower, upper = found.confidence_interval().T
    assert (lower < 0).all() and (upper > 0).all()
    lengths = np.diff(apart.confidence_interval())[:, 0]
    assert (upper - lower < 0.15 * lengths).all()


def test_keyed_reports_of_unchanged_records_cancel_out():
    """The variance is that of the changes, of whom each is worth two fresh reports or fewer."""
    n, n_changed = 3_000, 150
    sanitizer = GRRSanitizer(3.0, sensitive="ill").fit(TABLE, sample_weight=COUNTS.ravel())
    rng = np.random.default_rng(1)
    people = TABLE.iloc[rng.choice(6, n, p=DISTRIBUTION.ravel())].reset_index(drop=True)
    people["person"] = np.arange(n)
    later = people.copy()
    later.loc[: n_changed - 1, "visits"] = rng.choice([1, 2, 3], n_changed)
    reporter = batches.Reporter(sanitizer.mechanism_, id="person", key=bytes(range(32)))
    first, second = reporter(people), reporter(later.sample(frac=1.0, random_state=0))
    one, two = (FrequencyEstimator(sanitizer).fit(w[["report"]]) for w in (first, second))
    ids = first["person"], second["person"].astype(str)
    pairs = PairedReports(one, two, first[["report"]], second[["report"]], ids=ids)
    assert pairs.n_pairs == n
    found, apart = (
        difference(two.mean("visits"), one.mean("visits"), paired=p) for p in (pairs, None)
    )
    assert found.std_error < 1.1 * apart.std_error * np.sqrt(n_changed / n)
    fresh = reporter(later)
    assert (fresh["report"][n_changed:] == first["report"][n_changed:]).all()


def test_an_error_rests_on_some_changes():
    few = np.diag([500, 300, 200])
    for moved, stated in ((4, False), (12, True)):
        few[0, 1] = moved
        one, two, pairs = exact_panel(few)
        found = difference(two.marginal("visits"), one.marginal("visits"), paired=pairs)
        assert np.isfinite(found.std_error[:2]).all() == stated
        assert np.isnan(found.std_error[2])  # nobody moved there
        lower, upper = found.confidence_interval()[0] * few.sum()
        assert lower < -moved < upper
        assert 2 * 1.9 * np.sqrt(moved) < upper - lower < 2 * 2.1 * np.sqrt(moved + 3)


# -- figures of figures ---------------------------------------------------------------------------


def test_differences_of_differences():
    (one, two), _, pairs = drawn()
    for figure in (figures()["means"], figures()["shares by group"]):
        changes = difference(figure(two), figure(one), paired=pairs)
        by_wave = changes.difference(1, 0)
        gaps = [figure(e).difference(1, 0) for e in (two, one)]
        by_group = difference(*gaps, paired=pairs)
        np.testing.assert_allclose(by_wave.std_error, by_group.std_error)
        assert changes.groups == [0, 1]
        np.testing.assert_allclose(np.sqrt(np.diag(changes.covariance())), changes.std_error)


def test_differences_of_waves_have_a_covariance_without_pairs_too():
    (one, two), _, _ = drawn()
    own = [e.marginal("visits", by="ill") for e in (one, two)]
    found = difference(*own)
    np.testing.assert_allclose(found.covariance(), own[0].covariance() + own[1].covariance())
    shares = difference(one.marginal("visits"), two.marginal("visits"))
    expected = one.covariance("visits") + two.covariance("visits")
    np.testing.assert_allclose(shares.covariance(), expected)
    statistic, _, df = shares.wald_test()
    first_two = shares.values[:2] @ np.linalg.inv(expected[:2, :2]) @ shares.values[:2]
    assert (statistic, df) == (pytest.approx(first_two), 2)


def test_the_error_of_a_ratio_is_that_of_the_logarithms_difference():
    (one, two), _, pairs = drawn()
    own = [e.marginal("visits") for e in (two, one)]
    apart, paired = (difference(*own, paired=p).std_error ** 2 for p in (None, pairs))
    covariance = (apart - paired) / 2
    quotient = ratio(*own, paired=pairs)
    (a, b), (e, f) = ([getattr(x, k) for x in own] for k in ("frequencies", "std_error"))
    expected = (a / b) * np.sqrt((e / a) ** 2 + (f / b) ** 2 - 2 * covariance / (a * b))
    np.testing.assert_allclose(quotient.std_error, expected)
    lengths = np.diff(np.log(quotient.confidence_interval()))[:, 0]
    np.testing.assert_allclose(lengths, 2 * 1.96 * expected / (a / b), rtol=0.05)


def test_the_order_of_the_waves_is_that_of_the_figures():
    (one, two), _, pairs = drawn()
    found, back = (
        difference(*own, paired=pairs)
        for own in (
            (two.mean("visits"), one.mean("visits")),
            (one.mean("visits"), two.mean("visits")),
        )
    )
    assert (found.value, found.std_error) == (-back.value, pytest.approx(back.std_error))


def test_quantiles_of_the_same_persons_are_compared_as_those_of_others():
    """Their intervals hold whatever the dependence."""
    (one, two), _, pairs = drawn(n=80, method="least-squares")
    figure = figures()["quantiles"]
    own, apart = (difference(figure(two), figure(one), paired=p) for p in (pairs, None))
    assert (np.diff(apart.confidence_interval()) > 0).all()
    np.testing.assert_array_equal(own.std_error, apart.std_error)
    np.testing.assert_allclose(own.confidence_interval(), apart.confidence_interval())


def test_a_paired_difference_is_shown():
    (one, two), _, pairs = drawn(method="least-squares")
    found = difference(two.marginal("visits"), one.marginal("visits"), paired=pairs)
    assert list(found.to_frame()) == ["value", "std_error", "lower", "upper"]
    shown = IntervalDisplay.from_figures(found)
    np.testing.assert_allclose(shown.intervals[""][:, 0], found.values)


# -- how pairs are given --------------------------------------------------------------------------


def test_rows_ids_and_counts_are_the_same_pairs():
    y = np.array([0, 1, 2, 2, 5, 4]), np.array([1, 1, 2, 3, 5, 0])
    one, two = (FrequencyEstimator(GRR, encode="symbol").fit(own) for own in y)
    order = np.array([3, 1, 0, 5, 4, 2])
    of_frames = pl.Series(y[0]), pl.Series(y[1][order])
    ids = [11, 12, 13, 14, 15, 16], pl.Series(np.array([11, 12, 13, 14, 15, 16])[order])
    ways = [
        PairedReports(one, two, *y),
        PairedReports(one, two, *of_frames, ids=ids),
        PairedReports(one, two, *y, ids=(list("abcdef"), pd.Series(list("abcdef")))),
        PairedReports(one, two, *y, sample_weight=np.ones(6, int)),
    ]
    errors = [difference(one.marginal(), two.marginal(), paired=p)._covariance(True) for p in ways]
    for own in errors[1:]:
        np.testing.assert_allclose(own, errors[0], atol=1e-16)
    assert repr(ways[1]) == "PairedReports(6 persons in both waves)"


@pytest.mark.parametrize("encode", ["symbol", "onehot", "cells"])
def test_reports_of_any_form_are_paired(encode):
    sanitizer = GRRSanitizer(1.0, sensitive="ill", encode=encode)
    sanitizer.fit(TABLE, sample_weight=COUNTS.ravel())
    people = TABLE.iloc[np.arange(60) % 6]
    sent = [sanitizer.set_params(random_state=seed).transform(people) for seed in (0, 1)]
    one, two = (FrequencyEstimator(sanitizer).fit(own) for own in sent)
    pairs = PairedReports(one, two, *sent)
    numbers = [
        sanitizer.set_params(random_state=seed, encode="symbol").transform(people)
        for seed in (0, 1)
    ]
    first, second = (own.to_numpy().ravel() for own in numbers)
    keys, known = np.unique(6 * first + second, return_counts=True)
    np.testing.assert_array_equal(6 * pairs._waves[0].symbols + pairs._waves[1].symbols, keys)
    np.testing.assert_array_equal(pairs._numbers, known)


def test_wrong_pairs():
    y = np.arange(6)
    one, two, three = (fitted(np.ones(6), GRR) for _ in range(3))
    prior = FrequencyEstimator(
        sanitizers()["grr"], prior=sanitizers()["grr"].joint_, encode="symbol"
    ).fit(y)
    frame = pd.Series(y)

    def pair(*args, **options):
        return PairedReports(one, two, *(args or (y, y)), **options)

    cases = [
        (lambda: PairedReports(one, one, y, y), "one estimator"),
        (lambda: PairedReports(one, prior, y, y), "a prior or restrict_to"),
        (lambda: pair(y, y[:5]), "6 rows and Y_second 5"),
        (lambda: pair(y, y, ids=[range(6), range(5)]), "5 ids for 6 rows of Y_second"),
        (lambda: pair(y, y, ids=[range(6), [1, 2, 3, 2, 4, 5]]), "more than one row of Y_second"),
        (lambda: pair(y, y, ids=[range(6), ["7", 7, 1, 2, 3, 4]]), "more than one row of Y_second"),
        (lambda: pair(y, y, ids=[[*"abcde", ""], range(6)]), "1 rows of Y_first have no id"),
        (lambda: pair(y, y, ids=range(6)), "must be a pair"),
        (lambda: pair(y, y, ids=[y, y], sample_weight=y), "no sample_weight"),
        (lambda: pair(y, y, sample_weight=[0.5] * 6), r"survey weights are no counts\.$"),
        (lambda: pair(frame, frame.iloc[::-1]), "other indexes"),
        (lambda: pair(pl.LazyFrame({"report": y}), y), "lazy frame"),
        (lambda: pair([0, 0], [0, 1]), "2 persons of the pairs sent report 0 in the first wave"),
        (lambda: difference(one.mean("visits"), three.mean("visits"), paired=pair()), "of each"),
        (lambda: difference(one.mean("visits"), one.mean("visits"), paired=pair()), "of each"),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="whole numbers, texts or bytes, got 'float"):
        pair(y, y, ids=[y, y + 0.5])
    with pytest.raises(TypeError, match="PairedReports or None, got float"):
        difference(one.mean("visits"), two.mean("visits"), paired=0.5)
    with pytest.raises(TypeError, match="fitted FrequencyEstimators"):
        PairedReports(one, "two", y, y)


def test_what_reports_do_not_determine_has_no_error():
    mechanism = sanitizers()["blind"].mechanism_
    one, two, pairs = panel(
        np.full((mechanism.shape[0],) * 2, 50), mechanism=mechanism, method="ml"
    )
    found = difference(two.marginal("ill"), one.marginal("ill"), paired=pairs)
    assert np.isnan(found.std_error).all()
    lower, upper = found.confidence_interval().T
    np.testing.assert_allclose([lower, upper], [[-1, -1], [1, 1]], atol=0.05)
    with pytest.raises(ValueError, match="no standard error: it takes more reports"):
        found.wald_test()
