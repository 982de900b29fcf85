"""The least variance of whole records: as good as all rows, and no worse than any protocol."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.limits import Limits
from skrldp.design.variances import Variance
from skrldp.design.whole_records import balanced_sets, best_sets, least_variance
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import fitted_set
from skrldp.sets.parameter_objects import AllDistributions

RACES = np.array([311, 1039, 3124, 271, 27816])  # Adult
EDUCATIONS = np.array(
    [933, 1175, 433, 168, 333, 646, 514, 1067, 1382, 5355, 413, 10501, 1723, 51, 576, 7291]
)
SEEDS = st.integers(0, 2**32 - 1)


def designed(distribution, eps, tol=1e-3, functions=None, limits=None):
    functions = np.eye(len(distribution)) if functions is None else functions
    criterion = Variance(distribution, functions)
    return least_variance(criterion, eps, tol, limits or Limits())


def variance(matrix, distribution, functions=None):
    functions = np.eye(len(distribution)) if functions is None else functions
    return -Variance(distribution, functions).value(matrix)


def plain(distribution, eps):
    """Least sum of variances of the protocols that treat all values alike."""
    k, odds = len(distribution), np.exp(eps)
    hashed = max(2, round(1 + odds))
    pairs = [
        (odds / (odds + k - 1), 1 / (odds + k - 1)),  # GRR
        (0.5, 1 / (odds + 1)),  # OUE
        (odds / (odds + hashed - 1), 1 / hashed),  # OLH
    ]
    for d in range(1, k):  # subset selection, Ye and Barg 2018
        total = d * odds + k - d
        pairs.append((d * odds / total, d / (k - 1) * ((d - 1) * odds + k - d) / total))
    shares = [(p - q) * distribution + q for p, q in pairs]
    return min(
        (share * (1 - share)).sum() / (p - q) ** 2
        for share, (p, q) in zip(shares, pairs, strict=True)
    )


def assert_private(matrix, eps):
    assert np.allclose(matrix.sum(axis=0), 1.0, atol=1e-6)
    ratios = matrix.max(axis=1) / matrix.min(axis=1)
    assert ratios.max() <= np.exp(eps) * (1 + 1e-9)


@settings(max_examples=8)
@given(st.integers(2, 12), st.sampled_from([0.3, 1.0, 3.0]), SEEDS)
def test_no_protocol_that_treats_values_alike_is_better(k, eps, seed):
    distribution = np.random.default_rng(seed).dirichlet(np.full(k, 0.7)) * 0.99 + 0.01 / k
    _, matrix = designed(distribution, eps)
    assert_private(matrix, eps)
    assert variance(matrix, distribution) <= plain(distribution, eps) * (1 + 1e-3)


@pytest.mark.parametrize(
    ("counts", "eps", "ratio"),
    [(RACES, 0.5, 0.986), (RACES, 1.0, 0.944), (EDUCATIONS, 1.0, 0.984), (EDUCATIONS, 2.0, 0.943)],
)
def test_public_tables_far_from_uniform_pay(counts, eps, ratio):
    """Ratios of a prototype, which rounds nothing and has a master of its own."""
    distribution = (counts + 0.5 / len(counts)) / (counts.sum() + 0.5)
    _, matrix = designed(distribution, eps)
    found = np.sqrt(variance(matrix, distribution) / plain(distribution, eps))
    assert found == pytest.approx(ratio, abs=0.003)


@pytest.mark.parametrize("eps", [0.5, 2.0])
def test_as_good_as_the_mixture_of_all_threshold_rows(eps):
    distribution = np.array([0.5, 0.2, 0.15, 0.1, 0.03, 0.02])
    every = np.unpackbits(np.arange(1, 63, dtype=np.uint8)[:, None], axis=1)[:, 2:]
    mixture = Variance(distribution, np.eye(6)).mixture()
    mixture.add(1.0 + np.expm1(eps) * every)
    best = -mixture.solve().value
    _, matrix = designed(distribution, eps, tol=1e-4)
    assert variance(matrix, distribution) == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize(
    ("n_cells", "eps"), [(3, 1.0), (7, 0.3), (30, 0.5), (30, 2.0), (240, 0.5), (240, 1.0)]
)
def test_balanced_sets_are_nearly_as_good_as_all_sets_of_one_size(n_cells, eps):
    sets = balanced_sets(n_cells, eps)
    assert len(np.unique(sets.sum(axis=0))) == 1
    rows = np.where(sets, np.exp(eps), 1.0)
    uniform = np.full(n_cells, 1 / n_cells)
    assert variance(rows / rows.sum(axis=0), uniform) <= plain(uniform, eps) * 1.02


@settings(max_examples=10)
@given(st.integers(3, 8), SEEDS)
def test_the_local_search_ends_where_no_single_cell_helps(k, seed):
    rng = np.random.default_rng(seed)
    distribution, drop = rng.dirichlet(np.full(k, 1.0)) + 0.01, 0.3
    mixture = Variance(distribution / distribution.sum(), np.eye(k)).mixture()
    rows = np.where(np.eye(k, dtype=bool), 1.0, drop)
    mixture.add(rows)
    mixture.solve()

    def worth(sets):
        rows = np.where(sets, 1.0, drop)
        return mixture.reduced_costs(rows) / (rows @ mixture.distribution)

    sets, gains = best_sets(mixture, rng.random((5, k)) < 0.5, drop)
    np.testing.assert_allclose(gains, worth(sets), atol=1e-8 * np.abs(mixture.price).max())
    for cell in range(k):
        changed = sets.copy()
        changed[:, cell] ^= True
        assert (worth(changed) <= gains + 2e-6).all()


def test_cells_that_need_not_be_told_apart_are_one():
    """The shares of one column of a table of two are estimated as from this column alone."""
    column = np.array([0.6, 0.3, 0.1])
    other = np.array([0.25, 0.75])
    _, alone = designed(column, 1.0, tol=1e-5)
    functions = np.kron(np.eye(3), np.ones(2))
    _, matrix = designed(np.kron(column, other), 1.0, tol=1e-5, functions=functions)
    assert_private(matrix, 1.0)
    found = variance(matrix, np.kron(column, other), functions)
    assert found == pytest.approx(variance(alone, column), rel=1e-4)


def test_without_time_reports_are_equally_likely_and_private():
    distribution = EDUCATIONS / EDUCATIONS.sum()
    status, matrix = designed(distribution, 1.0, limits=Limits(0.0))
    assert status == "time_limit"
    assert_private(matrix, 1.0)
    assert variance(matrix, distribution) <= 1.1 * plain(distribution, 1.0)


def test_alphabets_beyond_the_search_get_randomised_response():
    uniform = np.full(1_001, 1 / 1_001)
    status, matrix = designed(uniform, 2.0)
    assert status == "closed form"
    assert matrix.shape == (1_001, 1_001)
    assert np.allclose(matrix[0, 0] / matrix[0, 1], np.exp(2.0))


def test_the_engine_takes_the_formula_of_each_criterion():
    joint = JointDistribution(RACES[:, None])
    promise = Requirements.asked(joint, fitted_set(joint, AllDistributions()), 1.0)
    requirements = promise.over()
    assert requirements.of_whole_records
    information = solve(CriterionProblem(joint), requirements)
    assert (information.solver, information.status) == ("coupling", "optimal")
    shares = CriterionProblem(joint, Variance(joint.smoothed().ravel(), np.eye(5)))
    assert solve(shares, requirements).solver == "thresholds"
    two = JointDistribution([[3, 4], [5, 6]])
    assert (
        not Requirements.asked(two, fitted_set(two, AllDistributions()), 1.0)
        .over()
        .of_whole_records
    )
