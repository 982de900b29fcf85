"""Reports about sets of many values: few coefficients, even groups, and work that is bounded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp import JointDistribution
from skrldp._highs import LinearProgram
from skrldp.certificate import release
from skrldp.design import criterion_problem as problems
from skrldp.design import subset_optimum as set_mixture
from skrldp.design import subset_search as quick
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.run import Limits
from skrldp.design.subset_optimum import (
    MANY_VALUES,
    SetMixture,
    even_groups,
    first_sets,
    optimal_response,
    set_rows,
    simple_sets,
)
from skrldp.design.subset_search import quick_reporting
from skrldp.information import mutual_information, mutual_information_bound, row_information
from skrldp.privacy.requirements import Promise
from skrldp.sets.parameter_objects import LikelihoodRatioSet


def promise(a1, a2, n=20_000, eps=1.0):
    shares = np.random.default_rng(0).dirichlet(np.full(a1 * a2, 0.5))
    counts = np.random.default_rng(1).multinomial(n, shares).reshape(a1, a2)
    joint = JointDistribution(counts)
    return Promise.of(joint, LikelihoodRatioSet().fit_set(joint), eps)


@pytest.fixture
def programs(monkeypatch):
    """The linear programs that are solved, by their numbers of columns."""
    solved, original = [], LinearProgram.solve

    def counted(self, seconds=None):
        solved.append(self.n_columns)
        return original(self, seconds)

    monkeypatch.setattr(LinearProgram, "solve", counted)
    return solved


@given(st.integers(0, 10**6), st.integers(2, 12))
def test_programs_with_few_coefficients_are_the_same_programs(seed, size):
    rng = np.random.default_rng(seed)
    distribution = rng.dirichlet(np.ones(size))
    sets = np.concatenate([simple_sets(size), rng.random((20, size)) < 0.5])
    drop = np.append(1.0, rng.random(len(sets) - 1) * rng.integers(0, 2, len(sets) - 1))
    found = []
    for many in (size, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(set_mixture, "MANY_VALUES", many)
            mixture = SetMixture(distribution)
        mixture.add(sets, drop)
        weights, duals, value = mixture.solve()
        found.append(value)
        rows = set_rows(mixture.sets, mixture.drop)
        # Weak duality: the dual variables prove that no mixture has more.
        assert duals.sum() == pytest.approx(value, abs=1e-8)
        assert np.all(row_information(rows, distribution) <= rows @ duals + 1e-7)
        matrix = mixture.matrix(weights)
        np.testing.assert_allclose(matrix.sum(axis=0), 1.0, atol=1e-12)
        assert mutual_information(matrix, distribution) == pytest.approx(value, abs=1e-7)
    assert found[0] == pytest.approx(found[1], abs=1e-8)


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_groups_are_even_under_every_secret(seed, a1):
    conditionals = np.random.default_rng(seed).dirichlet(np.ones(60), a1)
    groups = even_groups(conditionals, 300)
    sizes = (groups @ conditionals.T) * 2.0
    halves = sizes[np.abs(sizes - 1.0).max(axis=1) < 0.25]
    assert len(halves) >= 4  # two partitions into halves, at least
    first = groups[:2]
    np.testing.assert_array_equal(first.sum(axis=0), 1)  # each value is in one half
    largest = conditionals.max()
    assert np.abs(first @ conditionals.T - 0.5).max() <= a1 * largest
    few = np.full((1, MANY_VALUES), 1.0 / MANY_VALUES)
    np.testing.assert_array_equal(first_sets(few, 300), simple_sets(MANY_VALUES))


@pytest.mark.parametrize("eps", [0.1, 1.0, 3.0])
def test_reports_of_many_values_are_nearly_the_best(eps, programs):
    counts = np.random.default_rng(0).multinomial(20_000, np.full(200, 1 / 200))
    best = optimal_response(counts, eps, rounds=2)
    most = mutual_information_bound((counts / counts.sum())[:, None], eps)
    assert best.information >= most * (1.0 - 2e-3)
    assert len(programs) == 3


def test_a_search_of_sets_ends_with_its_time(programs):
    """What is found is put together by a program for each split and kind of report, no more."""
    asked = promise(2, 60)
    joint, requirements = asked.joint, asked.requirements()
    late, calls = quick_reporting(joint, requirements, Limits(0.0)), len(programs)
    assert calls <= 12
    long = quick_reporting(joint, requirements)
    assert len(programs) - calls > 2 * calls
    values = [mutual_information(found, joint.probabilities.ravel()) for found in (late, long)]
    assert 0.8 * values[1] <= values[0] <= values[1] * (1.0 + 1e-9)
    _, certificate = release(late, asked)
    assert certificate.holds(1.0)


def test_a_design_without_time_solves_few_programs(programs, monkeypatch):
    monkeypatch.setattr(problems, "_MANY_CELLS", 100)
    asked = promise(2, 60)
    found = solve(CriterionProblem(asked.joint), asked.requirements(), time_limit=1e-6)
    assert found.status == "time_limit"
    large = [columns for columns in programs if columns > 60]  # others are about two secrets
    assert 0 < len(large) <= 6
    _, certificate = release(found.matrix, asked)
    assert certificate.holds(1.0)


def test_more_values_take_fewer_programs():
    sizes = [10, 40, 100, 300, 500, 1_000]
    numbers = [quick._programs(size) for size in sizes]
    assert numbers[:3] == [50, 15, 8]  # as many as ever
    assert all(n * size**2 <= 700_000 for n, size in zip(numbers, sizes, strict=True))
    assert numbers[-1] == 0
