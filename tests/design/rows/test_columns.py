"""Column generation: it reaches the enumerated optima, is deterministic, and minds the time."""

import numpy as np
import pytest
from conftest import EXAMPLE

from skrldp import JointDistribution, RenyiBall
from skrldp.certificate import release
from skrldp.design import column_generation as columns_module
from skrldp.design.closed_form import independent_reporting, srr
from skrldp.design.column_generation import generate_columns
from skrldp.design.criteria import information_bound
from skrldp.design.limits import TOL, Limits
from skrldp.design.vertices import enumerate_vertices
from skrldp.information import block_information, mutual_information
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet

JOINT = JointDistribution(EXAMPLE)


def region_of(joint, kind="joint", **options):
    radius = RenyiBall().radius_for(joint.n, joint.counts.size)
    return privacy_region(joint, RenyiSet(2.0, radius), region=kind, **options)


def columns(joint, region, eps, patience=None, **options):
    """Generate columns; patience: rounds over which the gain is judged."""
    with pytest.MonkeyPatch.context() as patch:
        if patience is not None:
            patch.setattr(columns_module, "_ROUNDS", patience)
        limits = options.pop("limits", Limits(None))
        return generate_columns(joint, Requirements.of(region, eps), limits=limits, **options)


def check(found, joint, region, eps):
    """What every result must be, whatever ended the search."""
    distribution = joint.probabilities.ravel()
    assert found.solver == "columns"
    np.testing.assert_allclose(found.matrix.sum(axis=0), 1.0, atol=1e-7)
    assert np.all(found.matrix >= 0.0)
    unit = found.matrix / found.matrix.sum(axis=1, keepdims=True)
    assert region.worst(unit.reshape(len(unit), *joint.counts.shape), eps).bound.max() <= 1e-12
    assert found.objective == pytest.approx(
        mutual_information(found.matrix, distribution), rel=1e-6
    )
    expected = information_bound(joint, Requirements.of(region, eps))
    assert (found.bound, found.bound_by) == (expected.value, expected.by)
    assert found.objective <= found.bound
    # never worse than what is known beforehand
    a1, a2 = joint.counts.shape
    known = [
        block_information(srr(eps, a1, a2), joint.probabilities),
        independent_reporting(joint, Requirements.of(region, eps)).information,
    ]
    assert found.objective >= max(known) * (1.0 - 1e-7)


@pytest.mark.parametrize("kind", ["joint", "product", "box", "lower", "simplex", "point"])
@pytest.mark.parametrize("eps", [0.5, 2.0])
def test_what_comes_back(kind, eps):
    if kind in ("simplex", "point"):
        radius = np.inf if kind == "simplex" else 0.0
        region = privacy_region(JOINT, RenyiSet(1.0, radius))
    else:
        region = region_of(JOINT, kind)
    limits = Limits(None)
    found = columns(JOINT, region, eps, patience=2, limits=limits)
    check(found, JOINT, region, eps)
    assert found.status == "converged"
    if kind in ("joint", "product"):
        assert limits.iterations >= 2  # the patience, at the least
    assert "rows generated" in found.message


@pytest.mark.parametrize("shape", [(2, 4), (3, 2)])
@pytest.mark.parametrize("kind", ["lower", "box", "simplex", "point"])
def test_against_enumeration(kind, shape, cdd):
    joint = JointDistribution(np.random.default_rng(1).integers(1, 150, size=shape))
    if kind in ("simplex", "point"):
        radius = np.inf if kind == "simplex" else 0.0
        region = privacy_region(joint, RenyiSet(2.0, radius))
    else:
        region = region_of(joint, kind)
    best = enumerate_vertices(joint, Requirements.of(region, 0.6)).objective
    found = columns(joint, region, 0.6).objective
    assert found == pytest.approx(best, rel=TOL)
    assert found <= best * (1.0 + 1e-7)


def test_first_rows_are_used():
    region = region_of(JOINT, "lower")
    best = columns(JOINT, region, 0.5)
    unit = best.matrix / best.matrix.sum(axis=1, keepdims=True)
    none, given, sharp = (
        columns(JOINT, region, 0.5, limits=Limits(None, 0), first=first)  # no search
        for first in ([], [unit], [np.eye(4)])
    )
    assert none.objective < best.objective * 0.9
    assert given.objective == pytest.approx(best.objective, rel=1e-8)
    check(sharp, JOINT, region, 0.5)  # what is not private is made so


# -- time -----------------------------------------------------------------------------------------


class Clock(Limits):
    """Limits that are met after so many glances at it."""

    def __init__(self, glances):
        super().__init__(None)
        self.glances = glances

    @property
    def left(self):
        self.glances -= 1
        return 1000.0 if self.glances > 0 else 0.0


@pytest.mark.parametrize("glances", [1, 3, 10, 40, 150])
@pytest.mark.parametrize("kind", ["joint", "lower"])
def test_time_may_run_out_anywhere(kind, glances):
    joint = JointDistribution([[9, 4, 31], [40, 25, 14]])
    region = region_of(joint, kind)
    clock = Clock(glances)
    found = columns(joint, region, 0.5, limits=clock, patience=50)
    assert found.status == "time_limit"
    assert clock.glances > -100  # it hardly looks again
    check(found, joint, region, 0.5)
    radius = RenyiBall().radius_for(joint.n, joint.counts.size)
    mechanism, certificate = release(
        found.matrix, Requirements.asked(joint, RenyiSet(2.0, radius), 0.5)
    )
    assert certificate.holds(0.5)
    assert mechanism.mutual_information(joint.probabilities) == pytest.approx(
        found.objective, rel=1e-6
    )


def test_no_time_at_all():
    region = region_of(JOINT)
    limits = Limits(0.0)
    found = columns(JOINT, region, 0.5, limits=limits)
    # To tell whether the cone is curved is begun, and no round of the search.
    assert found.status == "time_limit" and limits.iterations <= 1
    check(found, JOINT, region, 0.5)


# -- large tables ---------------------------------------------------------------------------------


def test_large_tables():
    """Certified, and clearly better than the closed forms."""
    shape = (3, 24)
    rng = np.random.default_rng(3)
    cells = shape[0] * shape[1]
    joint = JointDistribution(rng.multinomial(30_000, rng.dirichlet(np.ones(cells))).reshape(shape))
    region = region_of(joint)
    found = generate_columns(joint, Requirements.of(region, 1.0), limits=Clock(150))
    assert found.status == "time_limit"
    check(found, joint, region, 1.0)
    known = independent_reporting(joint, Requirements.of(region, 1.0)).information
    known = max(known, block_information(srr(1.0, *shape), joint.probabilities))
    assert found.objective > 1.2 * known
    radius = RenyiBall().radius_for(joint.n, joint.counts.size)
    mechanism, certificate = release(
        found.matrix, Requirements.asked(joint, RenyiSet(2.0, radius), 1.0)
    )
    assert certificate.holds(1.0)
    assert mechanism.mutual_information(joint.probabilities) == pytest.approx(
        found.objective, rel=1e-5
    )
