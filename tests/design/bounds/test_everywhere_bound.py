"""The bound for privacy over all distributions: never below the optimum, and near it."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from skrldp.design import bounds
from skrldp.design.bounds import _extreme_rays, everywhere_bound, log_ratios
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.limits import Limits
from skrldp.design.mutual_information import Information
from skrldp.joint import JointDistribution
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.parameter_objects import AllDistributions, LikelihoodRatioSet


def problem(counts, eps):
    """Return the joint distribution, and the requirements at eps."""
    joint = JointDistribution(np.asarray(counts))
    region = privacy_region(joint, AllDistributions().fit_set(joint), region="joint")
    return joint, Requirements.of(region, eps)


def drawn(rng, a1, a2, scale=1.5):
    return problem(rng.integers(1, 400, (a1, a2)), rng.uniform(0.05, scale))


def information(joint, about):
    return Information(joint.probabilities.ravel(), about)


def two_levels(joint, requirements, ratios):
    """Optimum over rows of a grid of ends, by another linear program: no more than the true one."""
    a1, a2 = joint.counts.shape
    grid = np.exp(np.linspace(-1.5, 1.5, 7))
    rows = []
    for ends in product(grid, repeat=2 * a1):
        low, high = np.array(ends[:a1]), np.array(ends[a1:])
        if low.min() == grid[0] and np.all(low <= high):
            inside = np.log(high)[:, None] - np.log(low) <= ratios + 1e-12
            if inside.all():
                for pattern in product((0, 1), repeat=a1 * a2):
                    choice = np.array(pattern).reshape(a1, a2)
                    rows.append(np.where(choice, high[:, None], low[:, None]).ravel())
    return np.unique(rows, axis=0)


@pytest.mark.parametrize("about_u", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_at_least_the_optimum_over_enumerated_rows(seed, about_u):
    rng = np.random.default_rng(seed)
    a1, a2 = 2, 3
    eps = [0.5, 1.0][seed % 2]  # ends on the grid
    joint, requirements = problem(rng.integers(1, 400, (a1, a2)), eps)
    about = np.tile(np.arange(a2), a1) if about_u else None
    criterion = information(joint, about)
    rows = two_levels(joint, requirements, log_ratios(requirements))
    best = linprog(
        -criterion.prices(rows),
        A_eq=rows.T,
        b_eq=np.ones(a1 * a2),
        method="highs",
        bounds=(0, None),
    )
    found = everywhere_bound(
        criterion.distribution, about, requirements, np.ones((1, a1 * a2)), goal=1e-6
    )
    # The grid has all extreme rays of one eps.
    assert -best.fun <= found.value <= -best.fun * (1.0 + 1e-5) + 1e-8
    assert found.reached == pytest.approx(-best.fun, rel=1e-5)


@pytest.mark.parametrize("about_u", [False, True])
@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (3, 3), (2, 9), (4, 6)])
def test_no_private_mechanism_has_more(shape, about_u):
    rng = np.random.default_rng(sum(shape))
    a1, a2 = shape
    joint, requirements = drawn(rng, a1, a2)
    about = np.tile(np.arange(a2), a1) if about_u else None
    criterion = information(joint, about)
    found = everywhere_bound(
        criterion.distribution, about, requirements, np.ones((1, a1 * a2)), goal=1e-3
    )
    assert np.allclose(found.matrix.sum(axis=0), 1.0)
    assert requirements.shifts(found.matrix).max() <= 1e-9
    assert criterion.value(found.matrix) == pytest.approx(found.reached, abs=1e-9)
    assert found.reached <= found.value <= found.reached * 1.25
    for _ in range(20):
        rows = requirements.shift(rng.exponential(size=(40, a1 * a2)) ** 4)
        weights = linprog(
            -criterion.prices(rows), A_eq=rows.T, b_eq=np.ones(a1 * a2), bounds=(0, None)
        )
        if weights.status == 0:
            assert -weights.fun <= found.value


def test_entries_of_a_part_differ_by_way_of_another_secret():
    _, requirements = problem(np.full((3, 2), 10), 0.2)
    assert log_ratios(requirements) == pytest.approx(0.2 * (1.0 + np.eye(3)))
    rays = _extreme_rays(log_ratios(requirements))
    assert np.all(rays[:, 0] <= rays[:, 1] * (1 + 1e-9))


@pytest.mark.parametrize("eps", [0.1, 1.0])
@pytest.mark.parametrize("about_u", [False, True])
def test_designs_say_how_near_they_are(about_u, eps):
    # 22 extreme rays: the rows of nine cells are listed one by one; those of twelve are not, and
    # the bound by bisection is 1 % to 13 % above the design.
    joint, requirements = problem([[70, 240, 310], [90, 60, 380], [55, 340, 90]], eps)
    about = np.tile(np.arange(3), 3) if about_u else None
    found = solve(CriterionProblem(joint, information(joint, about)), requirements)
    assert found.objective <= found.bound <= 1.01 * found.objective
    assert found.bound_by == "reduced costs of all extreme rows"


def test_where_nothing_is_for_all_distributions_there_is_none():
    joint = JointDistribution(np.array([[30, 50], [80, 40]]))
    region = privacy_region(joint, LikelihoodRatioSet().fit_set(joint), region="joint")
    requirements = Requirements.of(region, 1.0)
    assert (
        everywhere_bound(joint.probabilities.ravel(), None, requirements, np.ones((1, 4))) is None
    )


def test_a_linear_program_without_end_gives_no_bound(monkeypatch):
    """It has a second at least, and as long as the search may take."""
    joint, requirements = problem([[10, 20], [30, 40]], 1.0)
    distribution, seconds = joint.probabilities.ravel(), []
    assert everywhere_bound(distribution, None, requirements, np.ones((1, 4))) is not None

    def endless(mixture, left):
        seconds.append(left)
        raise TimeoutError

    monkeypatch.setattr(bounds.RowMixture, "solve", endless)
    for limits in (None, Limits(1e-9), Limits(5.0)):
        bound = everywhere_bound(distribution, None, requirements, np.ones((1, 4)), limits=limits)
        assert bound is None
    assert seconds[0] == 60.0 and seconds[1] == 1.0 and 4.0 < seconds[2] <= 5.0
