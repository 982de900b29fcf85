"""The optimum for the public distribution alone: against all vertices, and as it is released."""

import numpy as np
import pytest
from conftest import REFERENCE, few_iterations
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import JointDistribution, RenyiBall
from skrldp.certificate import release
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.mutual_information import information_bound
from skrldp.design.subset_optimum import optimal_response
from skrldp.exceptions import SolverError
from skrldp.information import entropy
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet

POINT = RenyiSet(2.0, 0.0)
AT_PUBLIC = "the optimum for the public distribution alone"


def draw(seed, shape, n=400):
    rng = np.random.default_rng(seed)
    return rng.multinomial(n, rng.dirichlet(np.full(np.prod(shape), 0.6))).reshape(shape)


def promise_of(counts, eps, **options):
    return Requirements.asked(JointDistribution(counts), POINT, eps, **options)


def best(promise, criterion=None, **options):
    return solve(CriterionProblem(promise.joint, criterion), promise.over(), **options)


def assert_kept(found, promise):
    """Nothing is lost by the repair, the rounding and the proof."""
    mechanism, certificate = release(found.matrix, promise)
    public = promise.joint.probabilities
    assert mechanism.mutual_information(public) == pytest.approx(found.objective, rel=1e-6)
    assert certificate.eps <= promise.items[0].claim.asked
    assert found.matrix.shape[0] <= promise.joint.counts.size


@settings(max_examples=12)
@given(
    st.integers(0, 10**6),
    st.sampled_from([(2, 2), (2, 3), (3, 2), (2, 4)]),
    st.floats(0.05, 3.0),
)
def test_no_vertices_say_more(seed, shape, eps):
    """Against the list of all extreme rays of the whole cone; tables have cells without records."""
    promise = promise_of(draw(seed, shape), eps)
    found = best(promise)
    assert (found.solver, found.status) == ("coupling", "optimal")
    try:
        listed = best(promise, solver="vertices")
    except SolverError:  # a cone that is not listed without cddlib, or not by it
        listed = found
    assert found.objective == pytest.approx(listed.objective, rel=1e-6, abs=1e-9)
    assert listed.objective <= found.bound + 1e-9
    assert found.bound == pytest.approx(found.objective, rel=1e-6)
    assert_kept(found, promise)


@pytest.mark.parametrize(("shape", "eps"), [((42, 3), 0.1), ((4, 60), 4.0)])
def test_many_cells(shape, eps):
    promise = promise_of(draw(1, shape, n=20_000), eps)
    found = best(promise)
    assert (found.status, found.bound_by) == ("optimal", AT_PUBLIC)
    assert found.objective <= found.bound <= found.objective * (1.0 + 1e-5)
    assert_kept(found, promise)


@pytest.mark.parametrize("case", REFERENCE["mi"], ids=lambda case: str(np.shape(case["counts"])))
def test_the_chain_rule(case):
    """The optimum is H(U|S) and the best that an independent program finds for S alone."""
    promise = promise_of(case["counts"], case["eps"])
    found, joint = best(promise), promise.joint
    of_secret = optimal_response(joint.counts.sum(axis=1), case["eps"]).information
    of_values = joint.entropy - entropy(joint.marginal)
    assert found.objective == pytest.approx(of_values + of_secret, rel=1e-9)
    columns = best(promise, solver="vertices", time_limit=None)
    assert columns.objective <= found.bound + 1e-9
    assert columns.objective == pytest.approx(found.objective, rel=2e-3)
    assert columns.bound == pytest.approx(found.objective, rel=1e-4)


# -- as a bound on other designs ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 3), (12, 2)])
def test_it_bounds_robust_designs(shape):
    counts = draw(7, shape, n=50_000) + 1
    point = best(promise_of(counts, 1.0))
    joint = JointDistribution(counts)
    ball = RenyiSet(2.0, RenyiBall().radius_for(joint.n, joint.counts.size))
    requirements = Requirements.asked(joint, ball, 1.0).over()
    bound = information_bound(joint, requirements)
    assert point.objective * (1.0 - 1e-12) <= bound.value
    assert bound.value <= point.objective * 1.0002
    if shape[0] == 2:
        assert bound.by == AT_PUBLIC
        with few_iterations(200):
            robust = solve(CriterionProblem(joint), requirements)
        assert robust.objective <= robust.bound <= bound.value
