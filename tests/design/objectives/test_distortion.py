"""NUNP, NURP, RUNP and RURP: references by three routes, relations, what stops a search."""

import itertools

import numpy as np
import pytest
from conftest import REFERENCE
from conic_program import solve_conic
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import JointDistribution, RenyiBall
from skrldp.design import least_cost as search_module
from skrldp.design.closed_form import closed_forms
from skrldp.design.distance_problem import (
    DistanceProblem,
    distance_matrix,
    expected_distance,
)
from skrldp.design.engine import solve
from skrldp.design.least_cost import minimise
from skrldp.design.limits import Limits
from skrldp.privacy.private_rows import Layout, privacy_region
from skrldp.privacy.requirements import Requirements, repair
from skrldp.sets.fitted_sets import ConditionalsSet, RenyiSet

CASES = REFERENCE["mse"]
PROBLEMS = {
    "NUNP": (False, False),
    "NURP": (False, True),
    "RUNP": (True, False),
    "RURP": (True, True),
}


def program(counts, problem, alpha=2.0, region="joint", values=None, radius=None, name="squared"):
    joint = JointDistribution(counts)
    if radius is None:
        radius = RenyiBall(alpha).radius_for(joint.n, joint.counts.size)
    robust_utility, robust_privacy = PROBLEMS[problem]
    values = joint.values if values is None else values
    distance = distance_matrix(name, values)
    cost = expected_distance(joint, distance, RenyiSet(alpha, radius if robust_utility else 0.0))
    around = radius if robust_privacy else 0.0
    return cost, privacy_region(joint, RenyiSet(alpha, around), region=region)


def search(cost, region, eps, central=True, **options):
    """Minimise with the central path, or by cuts alone as where a region has none."""
    with pytest.MonkeyPatch.context() as patch:
        if not central:
            patch.setattr(search_module, "has_path", lambda _: False)
        return minimise(cost, Requirements.of(region, eps), **options)


def value(*args, eps=0.5, gap=1e-5, central=True, **options):
    cost, region = program(*args, **options)
    found = search(cost, region, eps, central, gap=gap, limits=Limits(None))
    check(found, cost, region, eps)
    return found.objective


def check(found, cost, region, eps):
    matrix = found.matrix
    assert np.all(matrix >= 0)
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0, atol=1e-12)
    rows = matrix.reshape(len(matrix), *region.rows.parts.shape)
    worst = region.worst(rows, eps, conditionals=True)
    first, second = (rows[worst.row, region.rows.place[s]] for s in (worst.first, worst.second))
    odds = np.stack([first, -np.exp(eps) * second], axis=1)
    assert (
        np.einsum("mtu,mtu->m", odds, worst.conditionals).max() <= 1e-15
    )  # no distribution breaks the promise
    assert found.objective == pytest.approx(cost.worst(matrix)[0], rel=1e-12)
    assert found.bound <= found.objective + 1e-15


@pytest.mark.parametrize(
    ("case", "problem", "central"),
    [
        *((case, problem, True) for case in (0, 1, 4) for problem in PROBLEMS),
        *((0, problem, False) for problem in PROBLEMS),  # others take longer
    ],
)
def test_reference_values(case, problem, central):
    """The references are right to about 1e-6; by a central path, or by cuts alone."""
    counts, eps, expected = CASES[case]["counts"], CASES[case]["eps"], CASES[case][problem]
    cost, region = program(counts, problem)
    found = search(cost, region, eps, central, gap=1e-5, limits=Limits(None))
    check(found, cost, region, eps)
    assert found.status == "optimal" and found.gap <= 1e-5
    assert found.objective == pytest.approx(expected, rel=1.2e-5)
    assert found.bound == pytest.approx(expected, rel=1.2e-5)
    if not central and PROBLEMS[problem][1]:
        asked = Requirements.of(region, eps)
        conic = solve_conic(cost, asked)
        assert conic.value == pytest.approx(expected, abs=1e-6)  # the references' accuracy
        assert cost.worst(repair(conic.matrix, asked))[0] == pytest.approx(expected, abs=1e-6)


TABLES = st.tuples(st.integers(2, 3), st.integers(2, 4)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 60), min_size=shape[1], max_size=shape[1]).filter(any),
        min_size=shape[0],
        max_size=shape[0],
    )
)


@settings(max_examples=8)
@given(
    TABLES,
    st.sampled_from(["joint", "product", "box", "lower"]),
    st.sampled_from([0.5, 0.6, 1.0, 2.0, 3.0]),
    st.sampled_from(list(PROBLEMS)),
    st.sampled_from([0.2, 1.0]),
)
def test_the_central_path_and_cuts_agree(counts, region, alpha, problem, eps):
    options = {"alpha": alpha, "region": region, "eps": eps}
    path = value(counts, problem, **options)
    cuts = value(counts, problem, central=False, **options)
    assert path == pytest.approx(cuts, rel=2e-5, abs=1e-8)


COUNTS = [[30, 9, 2, 40], [5, 22, 31, 12], [14, 3, 50, 8]]


def test_large_and_small_eps():
    assert value(COUNTS, "RURP", eps=36.0) <= 1e-8
    cost, _ = program(COUNTS, "RURP")
    constant = cost.worst_constant().min()
    values = [constant, *(value(COUNTS, "RURP", eps=eps) for eps in (1e-6, 0.1, 0.5, 2.0))]
    assert all(b <= a * (1 + 2e-5) for a, b in itertools.pairwise(values))


def test_time_runs_out():
    cost, region = program(COUNTS, "RURP")
    for central in (True, False):
        found = search(cost, region, 0.5, central, gap=1e-4, limits=Limits(1e-9))
        assert found.status == "time_limit" and found.unfinished
        check(found, cost, region, 0.5)
    rough = solve(DistanceProblem(cost), Requirements.of(region, 0.5), time_limit=1e-9)
    assert rough.status == "time_limit"
    fine = solve(DistanceProblem(cost), Requirements.of(region, 0.5))
    assert rough.objective >= fine.objective and rough.bound <= fine.bound


def test_a_search_without_time_takes_what_needs_none():
    """Reports of closed forms become outputs, each the nearest; the result is as private."""
    joint = JointDistribution(np.random.default_rng(0).geometric(0.003, (3, 4)))
    cost = expected_distance(joint, distance_matrix("absolute", range(4)), RenyiSet(1.0, 0.0))
    asked = Requirements.of(privacy_region(joint, RenyiSet(1.0, 0.001)), 1.0)
    forms = closed_forms(joint, asked)
    plain = solve(DistanceProblem(cost), asked, time_limit=1e-6)
    found = solve(DistanceProblem(cost, simple=lambda: forms), asked, time_limit=1e-6)
    assert found.objective < 0.95 * plain.objective  # a constant
    check(found, cost, asked.items[0].region, 1.0)
    told = [form * joint.probabilities.ravel() @ cost.cost.T for form in forms]
    assert found.objective == pytest.approx(min(by.min(axis=1).sum() for by in told), rel=1e-6)


@pytest.mark.parametrize(
    ("observe", "useful", "seed"), [("all", 0.0, 0), ("nonsensitive", 0.01, 1)]
)
def test_second_route_for_sets_of_conditionals(observe, useful, seed):
    """Budgets of one and of two, with drift and without; the ball for the utility has order 2."""
    rng = np.random.default_rng(seed)
    joint = JointDistribution(rng.multinomial(900, rng.dirichlet(np.full(9, 2.0))).reshape(3, 3))
    distance = distance_matrix("squared", joint.values)
    cost = expected_distance(joint, distance, RenyiSet(2.0, useful), observe=observe)
    values = []
    for pair, drift in ((0.008, 0.0), (0.011, 0.0), (0.016, 0.0), (0.011, 0.004)):
        around, layout = ConditionalsSet(0.008, pair, drift), Layout.plain(3, 3, observe)
        region = privacy_region(joint, around, layout=layout)
        conic = solve_conic(cost, Requirements.of(region, 1.0))
        for central in (True, False) if drift else (True,):
            found = search(cost, region, 1.0, central, gap=1e-5, limits=Limits(None))
            check(found, cost, region, 1.0)
            assert found.gap <= 1e-5
            assert conic.value == pytest.approx(found.objective, rel=2e-5)
        values.append(conic.value)
    assert np.all(np.diff(values[:3]) > 1e-3 * values[0])  # what two may take matters
    assert values[3] > 1.001 * values[1]
