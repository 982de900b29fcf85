"""Designs that do not see the secret: their optima by other routes, and their release."""

import itertools

import numpy as np
import pytest
from conftest import EXAMPLE
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from skrldp import JointDistribution, Mechanism
from skrldp.certificate import release
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.distance_problem import (
    expected_distance,
)
from skrldp.design.engine import solve
from skrldp.information import row_information
from skrldp.privacy.private_rows import Layout, privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import REGIONS, RenyiSet

TABLES = [
    np.array([[300, 200, 100], [150, 250, 500]]),
    np.array([[78, 0, 16, 6], [217, 169, 0, 57], [20, 40, 0, 90]]),
    10 * EXAMPLE,
]
OBSERVED = ("nonsensitive", "all")


def region_of(joint, kind):
    radius = {"simplex": np.inf, "point": 0.0}.get(kind, 0.02)
    kind = kind if kind in REGIONS else "joint"
    layout = Layout.plain(*joint.counts.shape, "nonsensitive")
    return privacy_region(joint, RenyiSet(2.0, radius), region=kind, layout=layout)


def tiled(matrix, joint):
    return np.tile(matrix, (1, len(joint.secrets)))


# --- RobustMSE -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "radius"),
    [(0.3, 0.05), (1.0, 0.05), (2.0, 0.05), (3.0, 0.05), (2.0, 0.0), (1.0, np.inf)],
)
def test_a_ball_of_joint_distributions_is_a_ball_for_u(alpha, radius):
    rng = np.random.default_rng(0)
    for counts in TABLES:
        joint = JointDistribution(counts)
        distance = rng.random((counts.shape[1], 4))
        cost, whole = (
            expected_distance(joint, distance, RenyiSet(alpha, radius), observe=o) for o in OBSERVED
        )
        for matrix in rng.dirichlet(np.ones(4), size=(5, counts.shape[1])).transpose(0, 2, 1):
            value, distribution = cost.worst(matrix)
            expected, full = whole.worst(tiled(matrix, joint))
            assert value == pytest.approx(expected, rel=1e-7)
            if np.isfinite(radius):
                np.testing.assert_allclose(
                    distribution, full.reshape(counts.shape).sum(0), atol=1e-4
                )


# --- PolyOpt -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("solver", "eps"), [("vertices", 0.3), ("auto", 2.0)])
def test_for_all_distributions_it_is_plain_local_privacy_of_u(eps, solver, request):
    if solver == "vertices":
        request.getfixturevalue("cdd")
    joint = JointDistribution(TABLES[1])
    distribution = joint.probabilities.sum(axis=0)
    patterns = np.array(list(itertools.product([1.0, np.exp(eps)], repeat=len(distribution))))
    best = -linprog(
        -row_information(patterns, distribution), A_eq=patterns.T, b_eq=np.ones(len(distribution))
    ).fun
    found = solve(
        CriterionProblem(joint),
        Requirements.of(region_of(joint, "simplex"), eps),
        solver=solver,
        time_limit=None,
    )
    assert found.objective == pytest.approx(best, rel=1e-5)
    assert np.all(found.matrix.max(axis=1) <= np.exp(eps) * found.matrix.min(axis=1) * (1 + 1e-6))


# --- The release ---------------------------------------------------------------------------------


@st.composite
def problems(draw):
    a1, a2 = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    counts = draw(st.lists(st.integers(0, 60), min_size=a1 * a2, max_size=a1 * a2))
    counts[0] += 1
    matrix = np.random.default_rng(draw(st.integers(0, 99))).dirichlet(np.ones(3), size=a2).T
    alpha, radius = (
        draw(st.sampled_from([0.7, 1.0, 2.0])),
        draw(st.sampled_from([0.0, 0.05, np.inf])),
    )
    return JointDistribution(np.reshape(counts, (a1, a2))), matrix, alpha, radius


@settings(max_examples=20)
@given(problems(), st.sampled_from([0.05, 0.5, 3.0]))
def test_what_is_released_is_proven_and_tied(problem, eps):
    joint, matrix, alpha, radius = problem
    mechanism, certificate = release(
        matrix, Requirements.asked(joint, RenyiSet(alpha, radius), eps, observe="nonsensitive")
    )
    assert certificate.holds(eps)
    assert mechanism.observe == "nonsensitive"
    (b, a), (a1, a2) = mechanism.shape, joint.counts.shape
    assert mechanism.weights.shape == mechanism.matrix.shape == (b, a) and a == a1 * a2
    parts = mechanism.weights.reshape(b, a1, a2)
    assert np.all(parts == parts[:, :1])
    seeing = Mechanism.from_matrix(mechanism.matrix, joint.secrets, joint.values)
    np.testing.assert_array_equal(seeing.weights, mechanism.weights)
    distribution = joint.probabilities
    assert mechanism.leakage(distribution) == pytest.approx(seeing.leakage(distribution), abs=1e-12)
    assert mechanism.leakage(distribution) <= certificate.eps + 1e-12
    value = mechanism.mutual_information(distribution)
    assert value == pytest.approx(seeing.mutual_information(distribution), abs=1e-12)
