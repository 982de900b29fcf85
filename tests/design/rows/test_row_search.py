"""The search for rows: private, as good as enumerated vertices, deterministic, and in time."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import excess

from skrldp import JointDistribution, RenyiBall
from skrldp.design.a_optimality import Variance
from skrldp.design.annealing import annealed
from skrldp.design.central_path import RowPaths
from skrldp.design.closed_form import closed_forms, grr, independent_reporting, srr
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.limits import Limits, Workers
from skrldp.design.mutual_information import Information
from skrldp.design.path_blocks import path_blocks
from skrldp.design.pricers import LevelRows
from skrldp.design.row_search import RowSearch
from skrldp.information import block_information, mutual_information
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import REGIONS, RenyiSet, fitted_set
from skrldp.sets.parameter_objects import AllDistributions, LikelihoodRatioSet

TABLE = [[90, 40, 310], [400, 250, 140], [30, 5, 77]]
EMPTY = [[90, 0, 310], [400, 250, 0], [0, 5, 77]]
SMALL = JointDistribution([[90, 40, 310], [400, 250, 140]])
SMOOTH = SMALL.smoothed(0.5).ravel()
CRITERIA = {
    "I(X;Y)": None,
    "I(U;Y)": Information(SMOOTH, np.tile(np.arange(3), 2), "I(U;Y)"),
    "shares of U": Variance(SMOOTH, np.tile(np.eye(3), 2)),
    "crosstab": Variance(SMOOTH, np.eye(6)),
}


def region_of(counts, kind="joint", alpha=2.0, **options):
    joint = JointDistribution(counts)
    if kind in ("simplex", "point"):
        return privacy_region(joint, RenyiSet(alpha, np.inf if kind == "simplex" else 0.0))
    radius = RenyiBall(alpha).radius_for(joint.n, joint.counts.size)
    return privacy_region(joint, RenyiSet(alpha, radius), region=kind, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "counts", "same_secret"),
    list(zip(REGIONS, [TABLE, EMPTY] * 2, [False, False, True, True], strict=True)),
)
def test_annealing_ends_private_and_better_than_the_closed_forms(kind, counts, same_secret):
    joint, region = JointDistribution(counts), region_of(counts, kind, same_secret=same_secret)
    requirements, distribution = Requirements.of(region, 1.0), joint.probabilities.ravel()
    criterion = Information(distribution)
    start = (distribution, criterion.expand, criterion.scale, requirements, 9)
    limits = [Limits(workers=Workers(n_jobs)) for n_jobs in (1, 2)]
    matrix, again = (annealed(*start, one) for one in limits)
    np.testing.assert_array_equal(matrix, again)
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0, rtol=1e-12)
    assert excess(region, matrix.reshape(-1, 3, 3), 1.0).max() <= 1e-12
    forms = srr(1.0, 3, 3), grr(1.0, 9), independent_reporting(joint, requirements).blocks
    best = max(block_information(form, joint.probabilities) for form in forms)
    assert mutual_information(matrix, distribution) > best


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "lower") for name in CRITERIA),
        *(("crosstab", "box"), ("shares of U", "simplex"), ("I(X;Y)", "point")),
    ],
)
def test_as_good_as_all_vertices(name, kind, cdd):
    requirements = Requirements.of(region_of(SMALL.counts, kind), 0.6)
    problem = CriterionProblem(SMALL, CRITERIA[name])
    best, searched = (
        solve(problem, requirements, solver=solver, time_limit=None)
        for solver in ("vertices", "auto")
    )
    # The mixture with the closed forms, which are private over the set itself, may be better than
    # the lower bounds of its conditionals allow.
    assert searched.objective == pytest.approx(best.objective, rel=1e-4 if "I(" in name else 5e-4)
    assert requirements.shifts(searched.matrix).max() <= 1e-9


class Clock(Limits):
    """Limits that are met once they were read so many times."""

    def __init__(self, readings):
        super().__init__(None)
        self.readings = readings

    @property
    def left(self):
        self.readings -= 1
        return 1000.0 if self.readings > 0 else 0.0


@pytest.mark.parametrize("name", ["I(X;Y)", "crosstab"])
def test_time_may_run_out_before_between_and_in_mixtures(name):
    """A mechanism is returned: no worse than the first, and not much worse than with less time."""
    requirements = Requirements.of(region_of(SMALL.counts), 1.0)
    criterion = CRITERIA[name] or Information(SMALL.probabilities.ravel())
    first = closed_forms(SMALL, requirements)
    values = []
    for readings in (1, 3, 10, 40, 100):
        search = RowSearch(
            criterion, requirements, first, Clock(readings), lambda value: None, 1e-3
        )
        assert search.run() == "time_limit"
        assert requirements.shifts(search.best).max() <= 1e-9
        np.testing.assert_allclose(search.best.sum(axis=0), 1.0, atol=1e-6)
        values.append(criterion.value(search.best))
    assert np.all(np.diff(values) >= -0.1 * abs(values[-1]))
    assert values[-1] > values[0]


# -- whole records --------------------------------------------------------------------------------


def test_whole_records_are_told_as_well_as_by_all_sets_of_cells():
    counts = np.array([500, 200, 150, 100, 30, 20])
    joint = JointDistribution(counts[:, None])
    asked = Requirements.asked(joint, fitted_set(joint, AllDistributions()), 1.0).over()
    assert asked.of_whole_records
    criterion = Variance(joint.smoothed().ravel(), np.eye(6))
    matrix = solve(CriterionProblem(joint, criterion), asked, time_limit=None).matrix
    assert (matrix.max(axis=1) / matrix.min(axis=1)).max() <= np.e * (1 + 1e-9)
    every = np.unpackbits(np.arange(1, 63, dtype=np.uint8)[:, None], axis=1)[:, 2:]
    best = criterion.master(1.0 + np.expm1(1.0) * every).solve().value
    assert criterion.value(matrix) == pytest.approx(best, rel=1e-3)


# -- rows of few levels ---------------------------------------------------------------------------


COUNTS = np.random.default_rng(0).integers(20, 900, (4, 5))


def required(counts=COUNTS, **options):
    joint = JointDistribution(counts)
    around = LikelihoodRatioSet()
    promise = Requirements.asked(joint, around.fit_set(joint), 1.0, fit=around.fit_set, **options)
    return joint, promise.over()


def variance(joint):
    a1, a2 = joint.counts.shape
    return Variance(joint.smoothed().ravel(), np.tile(np.eye(a2), (1, a1)))


@pytest.mark.parametrize("n_levels", [2, 4])
@pytest.mark.parametrize("options", [{}, {"eps_worst_case": 3.0}])
def test_rows_are_private_and_have_few_levels(options, n_levels):
    joint, requirements = required(**options)
    master = variance(joint).master(requirements.shift(np.eye(20)))
    master.solve()
    pricer = LevelRows(requirements, n_levels, Limits())
    rows = pricer.ascend(np.zeros((0, 20)), master, 1e-4, np.random.default_rng(1))
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    for value, row in zip(pricer.values, rows.reshape(-1, 4, 5), strict=True):
        others = np.delete(row, value, axis=1).round(12)
        assert np.unique(others, axis=1).shape[1] == n_levels - 1
    assert requirements.shifts(rows).max() < 0.05  # paths end near the boundary
    for value in range(5):
        assert master.reduced_costs(rows[pricer.values == value]).max() > 0.0


@pytest.mark.parametrize("options", [{}, {"eps_worst_case": 3.0}])
def test_each_row_goes_as_it_would_with_the_region_of_its_groups_alone(options):
    _, requirements = required(**options)
    rng = np.random.default_rng(2)
    groups = np.eye(3)[rng.permuted(np.tile([0, 1, 1, 2, 2], (8, 1)), axis=1)]
    slopes = rng.normal(size=(8, 12))
    slopes /= np.ptp(slopes, axis=1, keepdims=True)
    together = RowPaths(slopes, LevelRows(requirements, 3, Limits()).blocks(groups))
    for _ in range(8):
        together.advance(np.full(8, 1e-3))
    for row, of_row in enumerate(groups):
        merged = (replace(one, region=one.region.grouped(of_row)) for one in requirements)
        alone = RowPaths(slopes[[row]], path_blocks(Requirements(tuple(merged))))
        for _ in range(8):
            alone.advance(np.array([1e-3]))
        np.testing.assert_allclose(together.rows[row], alone.rows[0], rtol=1e-6)


@pytest.mark.parametrize("kind", [*REGIONS, "simplex", "point"])
def test_groups_of_values_need_what_their_rows_need(kind):
    """Rows that are constant on groups are as private as their entries over the groups' region."""
    region, groups = region_of(np.tile(EMPTY, 2), kind), np.eye(3)[[0, 1, 1, 2, 1, 2]]
    entries = np.random.default_rng(0).random((10, 3, 3))
    whole, few = (Requirements.of(each, 0.7) for each in (region, region.grouped(groups)))
    shifts = whole.shifts((entries @ groups.T).reshape(10, -1))
    of_groups = few.shifts(entries.reshape(10, -1))
    if kind == "lower":  # bounds of the groups are tighter than the sums of bounds
        assert np.all(of_groups <= shifts + 1e-9)
    else:
        np.testing.assert_allclose(of_groups, shifts, atol=1e-8)
