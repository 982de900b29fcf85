"""Intervals by the likelihood ratio, estimates over an uncertainty set, and a weighted prior."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom, binomtest, chi2

from skrldp import (
    AllDistributions,
    FrequencyEstimator,
    JointDistribution,
    LikelihoodRatioSet,
    Mechanism,
    PolyOptSanitizer,
    RenyiBall,
)
from skrldp.estimation.figures._intervals import likelihood_drops
from skrldp.estimation.likelihood._convex_functions import Divergence, Logarithms, Means
from skrldp.estimation.likelihood._interior_point import State, _Programs

HALF = chi2.ppf(0.95, 1) / 2.0  # nats
COUNTS = np.array([[40, 12, 3], [9, 30, 26]])
SETS = (
    RenyiBall(),
    RenyiBall(1.0),
    RenyiBall(0.4),
    RenyiBall(100.0, radius=6.0),
    LikelihoodRatioSet(),
)


def estimate(matrix, counts, shape=None, **options):
    a1, a2 = shape or (1, len(matrix[0]))
    mechanism = Mechanism.from_matrix(np.asarray(matrix), range(a1), range(a2))
    estimator = FrequencyEstimator(mechanism, "ml", encode="symbol", **options)
    return estimator.fit(range(len(matrix)), sample_weight=counts)


def noisy(seed, shape=(2, 3), n_symbols=6, sharpness=6.0):
    """A random mechanism that tells something."""
    rng = np.random.default_rng(seed)
    a = shape[0] * shape[1]
    matrix = rng.dirichlet(np.ones(n_symbols), a).T + sharpness * np.eye(n_symbols, a)
    return matrix / matrix.sum(axis=0)


# -- intervals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [[3000, 7000], [1, 99], [0, 50]])
def test_a_share_that_is_seen_has_the_interval_of_a_binomial(counts):
    estimator = estimate(np.eye(2), counts)
    found = estimator._fit.region.ends(np.eye(2)[:1], HALF)[0]
    if min(counts) > 1000:  # there the interval is this range
        np.testing.assert_allclose(estimator.confidence_interval()[0, 0], found, atol=2e-6)
    n, share = sum(counts), counts[0] / sum(counts)

    def excess(p):
        seen = counts[0] * np.log(share / p) if counts[0] else 0.0
        return seen + counts[1] * np.log((1.0 - share) / (1.0 - p)) - HALF

    least = brentq(excess, 1e-12, share) if share else 0.0
    most = brentq(excess, share, 1.0 - 1e-12) if share else 1.0 - np.exp(-HALF / n)
    np.testing.assert_allclose(found, [least, most], atol=3e-6)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [60, 300, 5000])
def test_few_reports_have_the_exact_interval_of_a_binomial(n, level):
    """That of Clopper and Pearson, to within a tenth of its length, and it holds as often.

    Coverage is exact: over all counts, at shares of 0.3 expected reports and more.
    """
    counts = np.arange(16)
    ours = [estimate(np.eye(2), [k, n - k]).confidence_interval(level)[0, 0] for k in counts]
    exact = [binomtest(int(k), n).proportion_ci(level, "exact") for k in counts]
    lengths = np.diff(exact)
    assert np.all(np.abs(np.array(ours) - exact) <= 0.1 * lengths)
    low, high = np.transpose(ours)
    for share in np.geomspace(0.3, 5.0, 40) / n:
        held = binom.pmf(counts, n, share) @ ((low <= share) & (share <= high))
        assert held >= level - 0.01


def solved(matrix, counts, function, drop, more=()):
    """The same range from another solver."""
    import cvxpy as cp

    x = cp.Variable(matrix.shape[1], nonneg=True)
    seen = counts > 0
    likelihood = counts[seen] @ cp.log(matrix[seen] @ x)
    rules = [cp.sum(x) == 1, *(rule(cp, x) for rule in more)]
    ends = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = cp.Problem(cp.Maximize(likelihood), rules).solve(solver=cp.CLARABEL)
        for sense in (cp.Minimize, cp.Maximize):
            problem = cp.Problem(sense(function @ x), [*rules, likelihood >= best - drop])
            ends.append(problem.solve(solver=cp.CLARABEL))
    return ends


def assert_between(found, *ranges):
    """Each end is that of the inner or, if it is reached at the boundary, of the outer range."""
    errors = np.abs(np.array(ranges) - found)
    np.testing.assert_allclose(errors.min(axis=0), 0.0, atol=2e-5)


@pytest.mark.parametrize(
    ("seed", "n_symbols", "counts"),
    [(0, 6, [90, 3, 40, 0, 12, 55]), (1, 4, [1000, 200, 3000, 800])],
)
def test_intervals_are_the_ranges_that_another_solver_finds(seed, n_symbols, counts):
    """With as many symbols as cells, and with fewer, where no cell is identifiable."""
    matrix, counts = noisy(seed, n_symbols=n_symbols), np.array(counts)
    estimator = estimate(matrix, counts, (2, 3))
    region, of_values = estimator._fit.region, np.tile(np.eye(3), 2)
    found = region.ends(np.eye(6), *likelihood_drops(0.95)[:2])
    of_value = region.ends(of_values, *likelihood_drops(0.95, 3)[:2])
    for few, plain in (
        (estimator.confidence_interval().reshape(6, 2), found),
        (estimator.marginal(part="nonsensitive").confidence_interval(simultaneous=True), of_value),
    ):
        assert np.all((few[:, 0] <= plain[:, 0] + 1e-5) & (few[:, 1] >= plain[:, 1] - 1e-5))
        assert np.all(np.diff(few) <= 1.4 * np.diff(plain))  # a symbol that was seen 3 times
    wider = chi2.ppf(0.95 ** (1 / 3), 1) / 2.0
    for cell in (0, 4):
        drops = HALF, likelihood_drops(0.95)[1]
        assert_between(found[cell], *(solved(matrix, counts, np.eye(6)[cell], d) for d in drops))
    drops = wider, likelihood_drops(0.95, 3)[1]
    assert_between(of_value[1], *(solved(matrix, counts, of_values[1], d) for d in drops))


def test_ranges_of_many_cells_are_those_that_another_solver_finds():
    """Where Hessians are not exact, and programs begin where others were on the way."""
    rng = np.random.default_rng(6)
    matrix = noisy(6, (2, 30), 60, sharpness=0.3)
    counts = rng.multinomial(9_000, matrix @ rng.dirichlet(np.full(60, 0.8)))
    region, of_values = estimate(matrix, counts, (2, 30))._fit.region, np.tile(np.eye(30), 2)
    inner, outer, _ = likelihood_drops(0.95)
    found, wider = region.ends(of_values, inner, outer), region.ends(of_values, outer)
    assert np.all(found[:, 0] >= wider[:, 0] - 1e-5) and np.all(found[:, 1] <= wider[:, 1] + 1e-5)
    for value in (0, 17):
        function = of_values[value]
        np.testing.assert_allclose(wider[value], solved(matrix, counts, function, outer), atol=2e-5)
        assert_between(found[value], *(solved(matrix, counts, function, d) for d in (inner, outer)))


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(3, 10**7))
def test_intervals_hold_the_estimate_and_the_bounds(seed, n_symbols, n):
    """Whatever the mechanism: within 0 and 1, never NaN, and wider at a higher level."""
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.full(n_symbols, 0.5), 6).T
    counts = rng.multinomial(n, matrix @ rng.dirichlet(np.full(6, 0.3)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the likelihood may be flat to the last digit
        estimator = estimate(matrix, counts, (2, 3))
    cells = estimator.marginal()
    narrow, wide = (cells.confidence_interval(level) for level in (0.5, 0.95))
    assert np.all((wide[:, 0] >= 0.0) & (wide[:, 1] <= 1.0))
    for inner in (narrow, np.stack([cells.frequencies] * 2, axis=1)):
        assert np.all(wide[:, 0] <= inner[:, 0] + 1e-5)
        assert np.all(wide[:, 1] >= inner[:, 1] - 1e-5)


def test_what_is_not_identifiable_has_bounds_widened_by_sampling_error():
    """A mechanism that tells U alone: a cell has at most the probability of its value."""
    tells = np.tile([[0.75, 0.25], [0.25, 0.75]], 2)
    estimator = estimate(tells, [600, 400], (2, 2))
    cells, values = estimator.marginal(), estimator.marginal(part="nonsensitive")
    # A cell's end is reached by a distribution with zeros, where the quantile is larger.
    of_value = estimator._fit.region.ends(np.tile(np.eye(2), 2), likelihood_drops(0.95)[1])
    expected = [[0.0, of_value[u, 1]] for _ in range(2) for u in range(2)]
    assert np.all(values.confidence_interval()[:, 1] < of_value[:, 1])
    found = estimator._fit.region.ends(np.eye(4), *likelihood_drops(0.95)[:2])
    np.testing.assert_allclose(found, expected, atol=5e-6)
    np.testing.assert_allclose(cells.confidence_interval(), expected, atol=2e-3)
    assert np.all(estimator.bounds()[:, 1] < cells.confidence_interval()[:, 1])
    assert np.isnan(cells.confidence_interval(method="wald")).all()
    assert "0.0000 to 0.7000" in cells._repr_html_()  # bounds in place of one of many estimates
    assert not cells.to_frame()[["lower", "upper"]].isna().any(axis=None)


def test_intervals_that_cannot_be_had():
    mechanism = Mechanism.from_matrix(np.eye(3), [0], range(3))
    plain = FrequencyEstimator(mechanism, "least-squares", encode="symbol").fit(range(3))
    with pytest.raises(ValueError, match=r"likelihood ratio need FrequencyEstimator.*method='ml'"):
        plain.confidence_interval(method="likelihood-ratio")
    with pytest.raises(ValueError, match="method='exact' must be one of"):
        plain.marginal().confidence_interval(method="exact")


# -- over an uncertainty set ----------------------------------------------------------------------


@pytest.mark.parametrize("uncertainty", SETS, ids=str)
def test_an_estimate_over_a_set_is_in_it(uncertainty):
    public, matrix = JointDistribution(COUNTS, (0, 1), (0, 1, 2)), noisy(2)
    reports = np.array([250, 10, 350, 5, 45, 150])
    free = estimate(matrix, reports, (2, 3))
    bound = estimate(matrix, reports, (2, 3), restrict_to=uncertainty, public=public)
    fitted = uncertainty.fit_set(public)
    inside = 0.999 * bound.frequencies_ + 0.001 * public.probabilities  # rounding at its border
    if isinstance(uncertainty, RenyiBall):
        assert fitted.contains(public, inside)
        assert not fitted.contains(public, free.frequencies_)
    given_secret = inside / inside.sum(axis=1, keepdims=True)
    own = public.conditionals
    taken = public.marginal * np.sum(own * np.log(own / given_secret), axis=1)
    if not isinstance(uncertainty, RenyiBall):
        assert np.all(taken <= fitted.single_budgets(public.marginal))
    scores = [e.score(range(6), sample_weight=reports) for e in (free, bound)]
    at_public = reports @ np.log(matrix @ public.probabilities.ravel()) / reports.sum()
    assert at_public < scores[1] < scores[0]
    assert 0.0 <= bound.gap_ <= 1e-7
    lengths = [np.diff(e._fit.region.ends(np.eye(6), HALF)).sum() for e in (free, bound)]
    assert lengths[1] < lengths[0]


def test_a_set_bounds_intervals_as_another_solver_finds():
    public, matrix = JointDistribution(COUNTS, (0, 1), (0, 1, 2)), noisy(3)
    counts, fitted = np.array([50, 20, 70, 10, 90, 30]), RenyiBall().fit_set(public)
    estimator = estimate(matrix, counts, (2, 3), restrict_to=fitted, public=public)
    found = estimator._fit.region.ends(np.eye(6), *likelihood_drops(0.95)[:2])
    centre = public.probabilities.ravel()

    def ball(cp, x):
        return cp.sum(cp.multiply(centre**2, cp.inv_pos(x))) <= np.exp(fitted.radius)

    expected = solved(matrix, counts, np.eye(6)[2], likelihood_drops(0.95)[1], [ball])
    np.testing.assert_allclose(found[2], expected, atol=2e-5)


def test_all_distributions_are_no_restriction():
    public, matrix, counts = JointDistribution(COUNTS, (0, 1), (0, 1, 2)), noisy(4), range(20, 26)
    free = estimate(matrix, counts, (2, 3))
    same = estimate(matrix, counts, (2, 3), restrict_to=AllDistributions(), public=public)
    np.testing.assert_allclose(same.frequencies_, free.frequencies_, atol=1e-4)
    np.testing.assert_allclose(same.confidence_interval(), free.confidence_interval(), atol=1e-5)


@pytest.mark.parametrize(
    "function",
    [
        Logarithms(np.array([2.0, 0.5]), 0.1, np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])),
        Logarithms(np.array([0.5, 0.0, 0.2]), 0.3),
        Divergence(np.array([0.7, 0.0, 0.3]), 2.0, 0.3),
        Divergence(np.array([0.6, 0.1, 0.3]), 0.5, 0.3),
        Means(np.array([0, 2]), np.array([0.3, 0.7]), 0.4),
    ],
    ids=lambda function: type(function).__name__,
)
def test_derivatives(function):
    points = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    curvature = np.zeros((2, 3, 3))
    function.add_curvature(points, np.array([1.0, 1.0]), curvature)
    for axis, step in enumerate(1e-5 * np.eye(3)):
        rise = (function.value(points + step) - function.value(points - step)) / 2e-5
        np.testing.assert_allclose(function.slope(points)[:, axis], rise, atol=1e-7)
        bend = (function.slope(points + step) - function.slope(points - step)) / 2e-5
        np.testing.assert_allclose(curvature[:, :, axis], bend, atol=1e-6)
    assert np.all(np.linalg.eigvalsh(curvature) >= -1e-12)


def test_the_set_of_a_sanitizer():
    """A fitted sanitizer knows its public distribution; a mechanism has to be told."""
    X = [[s, u] for s in ("no", "yes") for u in (1, 2)]
    sanitizer = PolyOptSanitizer(
        1.0, uncertainty=LikelihoodRatioSet(region="lower"), sensitive=0
    ).fit(X, sample_weight=[30, 10, 20, 40])
    around = sanitizer.uncertainty_
    reports = sanitizer.mechanism_.shape[0]
    own = FrequencyEstimator(sanitizer, "ml", restrict_to=around, encode="symbol")
    told = FrequencyEstimator(
        sanitizer.mechanism_, "ml", restrict_to=around, public=sanitizer.joint_, encode="symbol"
    )
    found = [e.fit(range(reports)).frequencies_ for e in (own, told)]
    np.testing.assert_array_equal(*found)
    other = JointDistribution(COUNTS, (0, 1), (0, 1, 2))
    for options, message in (
        ({"public": None}, "restrict_to needs the public distribution"),
        ({"public": other}, "the public distribution has other secrets than the mechanism"),
        ({"public": COUNTS}, "public must be a JointDistribution"),
        ({"restrict_to": RenyiBall(radius=0.0)}, "there is nothing to estimate"),
        ({"restrict_to": "F"}, "restrict_to must be an uncertainty set"),
        ({"method": "least-squares"}, "restrict_to needs method='ml'"),
    ):
        wrong = FrequencyEstimator(**{**told.get_params(deep=False), **options})
        with pytest.raises(ValueError, match=message):
            wrong.fit(range(reports))


def test_copies_of_an_estimate_find_further_intervals():
    whole = estimate(np.eye(2), [30, 70]).marginal()
    first = whole.confidence_interval(0.9)
    copied = pickle.loads(pickle.dumps(whole))
    np.testing.assert_array_equal(copied.confidence_interval(0.9), first)
    assert np.all(np.ptp(copied.confidence_interval(0.99), axis=1) > np.ptp(first, axis=1))


# -- a weighted prior -----------------------------------------------------------------------------


def test_a_weighted_prior_counts_less():
    matrix, counts = noisy(5), [50, 20, 70, 10, 90, 30]
    once, twice = (JointDistribution(k * COUNTS, (0, 1), (0, 1, 2)) for k in (1, 2))
    none, whole = (estimate(matrix, counts, (2, 3), **o) for o in ({}, {"prior": once}))
    half = estimate(matrix, counts, (2, 3), prior=twice, prior_weight=0.5)
    off = estimate(matrix, counts, (2, 3), prior=once, prior_weight=0)
    for same, other in ((half, whole), (off, none)):
        np.testing.assert_allclose(same.frequencies_, other.frequencies_, atol=1e-6)
        np.testing.assert_allclose(same.std_error_, other.std_error_, rtol=1e-5)
    for wrong in (-0.1, 1.1, np.nan, "1"):
        with pytest.raises(ValueError, match=r"prior_weight=.* must be a number between 0 and 1"):
            estimate(matrix, counts, (2, 3), prior=once, prior_weight=wrong)


@pytest.mark.parametrize("a", [40, 41])
def test_a_program_that_has_lost_its_precision_ends(a):
    """A slack far below the rounding of its constraint: no step is left, and no error either.

    That is where programs came to for mechanisms with symbols that are all but never sent.
    """
    one = np.ones((1, 1))
    programs = _Programs(np.eye(a)[:1], [Logarithms(np.ones(a), 1e4)], None, (0.05, 0.2, 0.9))
    x = np.full((1, a), 1.0 / a)
    state = State(x, 5e-68 * one, x, 7e245 * one, one[0])
    slopes = programs._slopes(x) * np.linspace(0.5, 1.5, a)
    with np.errstate(over="ignore", invalid="ignore"):
        found = programs._step(state, -1e-12 * one, np.eye(a)[:1], slopes)
    assert not np.isfinite(found.barrier).all()
    ended = programs.solve(x[0], 0.0, 1e-300)  # a first barrier that any step exceeds
    assert ended.steps <= 2 and np.all(ended.bounds <= ended.values)
