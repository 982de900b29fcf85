"""The conic programs that other tests compare with: right by references.

Each table and problem is met, not all of their combinations: what the package itself finds is
compared with every reference in tests/design/objectives/test_distortion.py.
"""

import itertools

import numpy as np
import pytest
from conftest import REFERENCE, excess
from conic_program import solve_conic

from skrldp import JointDistribution, RenyiBall
from skrldp.design.least_cost import minimise
from skrldp.design.limits import Limits
from skrldp.design.programs import ExpectedCost
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements, repair
from skrldp.sets.fitted_sets import RenyiSet

CASES = REFERENCE["mse"]


def solved(reference, kind):
    """What a solver says, how private it is, and its worst cost once it is repaired."""
    joint, eps = JointDistribution(reference["counts"]), reference["eps"]
    ball = RenyiBall().radius_for(joint.n, joint.counts.size)
    useful, private = (ball if letter == "R" else 0.0 for letter in (kind[0], kind[2]))
    value = np.arange(joint.counts.shape[1])
    distance = np.tile((value[:, None] - value) ** 2.0, (1, len(joint.counts)))
    cost = ExpectedCost(distance, joint.probabilities.ravel(), 2.0, useful)
    region = privacy_region(joint, RenyiSet(2.0, private))
    asked = Requirements.of(region, eps)
    found = solve_conic(cost, asked)
    assert found.status == "optimal"
    clean = np.clip(found.matrix, 0.0, None)
    matrix, shape = repair(found.matrix, asked), (-1, *joint.counts.shape)
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0, atol=1e-12)
    assert matrix.min() >= 0.0 and excess(region, matrix.reshape(shape), eps).max() <= 1e-14
    violation = excess(region, (clean / clean.sum(axis=0)).reshape(shape), eps).max()
    return found.value, violation, cost.worst(matrix)[0]


@pytest.mark.parametrize(
    ("case", "kind"),
    list(zip(range(len(CASES)), itertools.cycle(["RURP", "NURP", "RUNP", "NUNP"]))),
)
def test_reference(case, kind):
    value, violation, repaired = solved(CASES[case], kind)
    assert value == pytest.approx(CASES[case][kind], abs=1e-6)  # the references' accuracy
    assert violation <= 1e-8
    assert repaired == pytest.approx(CASES[case][kind], abs=1e-6)


@pytest.mark.parametrize(
    ("options", "observe"), [({"eps_worst_case": 1.1}, "all"), ({"known": (0,)}, "nonsensitive")]
)
def test_several_requirements_by_the_central_path(options, observe):
    """Over the exact ball, where no linear program is the whole truth."""
    secrets, values = [(0, "a"), (0, "b"), (1, "a")], [(0, "p"), (0, "q"), (1, "p")]
    counts = [[10, 7, 101], [161, 144, 3], [6, 12, 59]]
    joint = JointDistribution(counts, secrets, values)
    promise = Requirements.asked(joint, RenyiSet(2.0, 0.02), 0.8, observe=observe, **options)
    required = promise.over()
    assert len(required) > 1
    table = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.5], [3.0, 2.0, 0.0]])
    cost = ExpectedCost(
        np.tile(table, (1, required.n_cells // 3)), required.fold(joint.probabilities)
    )
    found = minimise(cost, required, gap=1e-6, limits=Limits(None))
    result = solve_conic(cost, required)
    assert found.bound - 1e-7 <= result.value <= found.objective + 1e-7
    assert found.objective == pytest.approx(result.value, rel=1e-5)
    assert cost.worst(repair(result.matrix, required))[0] >= found.bound
