"""Newton's steps of single rows: their equations are solved, whether Hessians are of low rank."""

import numpy as np
import pytest

from skrldp import JointDistribution
from skrldp.design.central_path import RowPaths
from skrldp.design.newton_system import Part
from skrldp.design.path_blocks import path_blocks
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import ConditionalsSet, RenyiSet

TABLE = np.random.default_rng(0).integers(5, 60, size=(2, 9))
SETS = {
    "ball": (RenyiSet(2.0, 0.02), "joint"),
    "product": (RenyiSet(0.4, 0.02), "product"),
    "pairs": (ConditionalsSet(0.03, 0.04, 0.02), "joint"),
    "lower": (RenyiSet(2.0, 0.02), "lower"),
    "public": (RenyiSet(2.0, 0.0), "joint"),
}


def requirements_of(name):
    uncertainty, region = SETS.get(name, (RenyiSet(2.0, 0.02), name))
    joint = JointDistribution(TABLE)
    return Requirements.of(privacy_region(joint, uncertainty, region=region), 0.7)


def part_on_its_way(requirements, steps=6):
    rng = np.random.default_rng(1)
    paths = RowPaths(rng.normal(size=(5, requirements.n_cells)), path_blocks(requirements))
    for _ in range(steps):
        assert paths.advance(np.full(5, 1e-3))
    (part,) = paths._parts
    return part, rng


@pytest.mark.parametrize("name", SETS)
def test_two_secrets_have_hessians_of_low_rank(name):
    part, rng = part_on_its_way(requirements_of(name))
    right = rng.normal(size=(5, part.rows.shape[1], 2))
    equations = part.linearise(1e-6)
    assert equations.low_rank is not None
    np.testing.assert_allclose(equations.hessian @ equations.solve(right), right, atol=1e-6)


@pytest.mark.parametrize("name", [*SETS, "box"])
def test_steps_make_all_products_equal_the_barrier_to_first_order(name):
    part, rng = part_on_its_way(requirements_of(name))
    steps = part.linearise(0.3).steps(rng.normal(size=part.rows.shape))
    assert sum(len(point.amounts) for point in part.points) + 1 == len(steps.kinds)
    for amount, change, dual, dual_change in steps.kinds:
        product = amount * dual + amount * dual_change + dual * change
        np.testing.assert_allclose(product, 0.3, rtol=1e-9, atol=1e-9)


def test_a_row_of_few_entries_and_many_pairs_has_whole_hessians():
    joint = JointDistribution(np.arange(1, 13).reshape(4, 3))
    region = privacy_region(joint, RenyiSet(2.0, 0.02), region="joint")
    part = Part(slice(0, 2), np.full((2, 12), 1 / 12), path_blocks(Requirements.of(region, 1.0)), 1)
    equations = part.linearise(1e-6)
    assert equations.low_rank is None
    right = np.ones((2, 12, 1))
    np.testing.assert_allclose(equations.hessian @ equations.solve(right), right, atol=1e-9)
