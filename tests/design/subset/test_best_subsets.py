"""Reports about sets of values: the best ones against all sets, and even groups of many values."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from skrldp import JointDistribution
from skrldp._params import OBSERVED
from skrldp.certificate import release
from skrldp.design.closed_form import closed_forms
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.limits import Limits
from skrldp.design.subset_optimum import (
    best_sets,
    group_reporting,
    most_of_small_shares,
    optimal_response,
    reduced_profit,
)
from skrldp.information import mutual_information, row_information
from skrldp.privacy.requirements import Requirements
from skrldp.sets.parameter_objects import LikelihoodRatioSet


def draw(seed, size, n=3_000, zeros=False):
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n, rng.dirichlet(np.full(size, 0.7)))
    if zeros:
        counts[rng.integers(size)] = 0
    counts[0] += 1
    return counts


def enumerated(counts, eps):
    """The linear program over all 2^k sets, by scipy."""
    size, distribution = len(counts), counts / counts.sum()
    sets = np.array(list(itertools.product([0, 1], repeat=size)))
    rows = 1.0 + np.expm1(eps) * sets
    mu = row_information(rows, distribution)
    found = linprog(-mu, A_eq=rows.T, b_eq=np.ones(size), method="highs")
    assert found.status == 0
    return -found.fun


def assert_local(matrix, eps):
    assert matrix.min() >= 0
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0, atol=1e-12, rtol=0)
    assert np.all(np.exp(-eps) * matrix.max(axis=1) <= matrix.min(axis=1) + 1e-12)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(2, 8), st.floats(0.01, 6.0), st.booleans())
def test_no_mixture_of_sets_says_more(seed, size, eps, zeros):
    counts = draw(seed, size, zeros=zeros)
    best = optimal_response(counts, eps, gap=1e-8)
    assert_local(best.matrix, eps)
    distribution = counts / counts.sum()
    assert best.information == pytest.approx(
        mutual_information(best.matrix, distribution), abs=1e-12
    )
    truth = enumerated(counts, eps)
    assert best.information == pytest.approx(truth, abs=2e-8, rel=1e-6)
    assert best.bound >= truth - 1e-9
    assert best.matrix.shape[0] <= size


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.integers(1, 9), st.floats(0.01, 12.0), st.sampled_from([0, 3, 9]))
def test_no_set_is_beyond_the_bound(seed, size, eps, n_whole):
    """The bound is that of the best set if no value may be in a set in part."""
    rng = np.random.default_rng(seed)
    distribution, drop = rng.dirichlet(np.full(size, 0.5)), np.exp(-eps)
    distribution[(rng.random(size) < 0.1) & (distribution < distribution.max())] = 0.0
    distribution /= distribution.sum()
    duals = (distribution + 0.05 * rng.normal(size=size)) * rng.random()

    def reduced_cost(sets):
        return reduced_profit(sets @ distribution, sets @ duals, duals.sum(), drop)

    every = np.array(list(itertools.product([False, True], repeat=size)))[:-1]
    most = reduced_cost(every).max()
    found = best_sets(distribution, duals, drop, n_whole)
    near = 1e-9 * most_of_small_shares(eps) + 1e-12
    assert found.bound >= most - 1e-12
    if n_whole >= size:
        assert found.bound <= max(most, 0.0) + near
        if most > 1e-9:
            assert reduced_cost(found.sets).max() == pytest.approx(most, abs=1e-12)


@pytest.mark.slow
def test_a_frequent_value_among_many_rare_ones():
    """Duals are degenerate: with the best sets alone the value stands still for 300 rounds."""
    counts = np.concatenate([[29_170, 643, 583], 200 * 0.95 ** np.arange(39)]).astype(int)
    best = optimal_response(counts, 1.0)
    assert best.bound <= best.information * (1.0 + 1e-3)
    assert best.rounds < 120


def test_a_time_limit_ends_the_linear_programs():
    """Of 150 values, which take a minute."""
    counts = draw(1, 150, n=20_000)
    best = optimal_response(counts, 1.0, limits=Limits(0.0))
    assert_local(best.matrix, 1.0)
    assert best.rounds == 0
    assert best.information <= best.bound


def test_ends():
    np.testing.assert_array_equal(optimal_response([3, 4, 5], 0.0).matrix, np.ones((1, 3)))
    np.testing.assert_array_equal(optimal_response([3], 1.0).matrix, [[1.0]])
    assert optimal_response([3, 0], 1.0).information == pytest.approx(0.0, abs=1e-12)
    assert_local(optimal_response([3, 0, 0, 7], 1.0).matrix, 1.0)


def promise(a1, a2, n=20_000, eps=1.0, **options):
    shares = np.random.default_rng(0).dirichlet(np.full(a1 * a2, 0.5))
    counts = np.random.default_rng(1).multinomial(n, shares).reshape(a1, a2)
    joint = JointDistribution(counts)
    return Requirements.asked(joint, LikelihoodRatioSet().fit_set(joint), eps, **options)


@pytest.mark.parametrize("observe", OBSERVED)
def test_groups_are_told_privately_and_better_than_by_closed_forms(observe):
    asked = promise(4, 60, observe=observe)
    joint, requirements = asked.joint, asked.over()
    found = group_reporting(joint, requirements)
    public = requirements.fold(joint.probabilities)
    forms = [mutual_information(form, public) for form in closed_forms(joint, requirements)]
    assert mutual_information(found, public) > 5.0 * max(forms)
    _, certificate = release(found, asked)
    assert certificate.holds(1.0)
    # a search without time has them
    short = solve(CriterionProblem(joint), requirements, time_limit=1e-6)
    assert short.status == "time_limit"
    assert short.objective >= mutual_information(found, public) * (1.0 - 1e-9)


@pytest.mark.parametrize("counts", [[[1, 0], [0, 0]], [[3, 0, 0], [0, 0, 9]]])
def test_groups_without_values_are_none(counts):
    joint = JointDistribution(counts)
    asked = Requirements.asked(joint, LikelihoodRatioSet().fit_set(joint), 0.5)
    found = group_reporting(joint, asked.over())
    np.testing.assert_allclose(found.sum(axis=0), 1.0, atol=1e-7)
    assert asked.over().shifts(found).max() <= 1e-12
