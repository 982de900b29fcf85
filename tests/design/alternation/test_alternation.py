"""Alternation: what a decoder's cost is, that paths end private and better, and which are taken."""

import numpy as np
import pytest
from conftest import excess, pairwise
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import JointDistribution, RenyiBall
from skrldp.certificate import release
from skrldp.design import alternation
from skrldp.design import alternation as annealing
from skrldp.design.alternation import (
    Annealing,
    Run,
    alternate,
    path_requirements,
    starts,
)
from skrldp.design.closed_form import grr, independent_reporting, srr
from skrldp.design.criteria import Information
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.limits import Limits, Workers
from skrldp.information import block_information, entropy, mutual_information
from skrldp.privacy.private_rows import (
    BoxRegion,
    JointRegion,
    LowerRegion,
    ProductRegion,
    SimplexRegion,
    privacy_region,
)
from skrldp.privacy.requirements import Requirements, repair
from skrldp.sets.fitted_sets import REGIONS, RenyiSet

TABLE = [[90, 40, 310], [400, 250, 140], [30, 5, 77]]
EMPTY = [[90, 0, 310], [400, 250, 0], [0, 5, 77]]


def region_of(counts, kind="joint", alpha=2.0, radius=None, same_secret=False):
    joint = JointDistribution(counts)
    if radius is None:
        radius = RenyiBall(alpha).radius_for(joint.n, joint.counts.size)
    return privacy_region(joint, RenyiSet(alpha, radius), region=kind, same_secret=same_secret)


def distribution_of(counts):
    return JointDistribution(counts).probabilities.ravel()


@pytest.fixture(autouse=True)
def few_runs(monkeypatch):
    """Quick ones show all there is."""
    monkeypatch.setattr(alternation, "_RUNS", (16, 16, 24))


def one_path(counts, region, eps, b=9, seed=0, callback=None):
    options = {} if callback is None else {"callback": callback}
    start = starts(Requirements.of(region, eps).shape, b, seed)
    run = Annealing(
        Information(distribution_of(counts)), Requirements.of(region, eps), start, **options
    )
    run.anneal(Limits(None))
    return run


# -- the decoder ----------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(2, 6))
@settings(max_examples=25, deadline=None)
def test_a_decoder_bounds_the_information_of_every_mechanism(seed, b):
    """I(X;Y) >= E log(w_Y(X) / P_X) for every decoder w, with equality at the posterior."""
    rng = np.random.default_rng(seed)
    distribution = rng.dirichlet(np.full(6, 0.5))
    mechanism, other = rng.dirichlet(np.full(b, 0.3), size=(2, 6)).swapaxes(1, 2)
    information = mutual_information(mechanism, distribution)

    def bound_of(decoder_of):
        return -float(
            (distribution * mechanism * Information(distribution).expand(decoder_of)).sum()
        )

    assert bound_of(other) <= information + 1e-12
    assert bound_of(mechanism) <= information + 1e-12
    # the smoothing takes next to nothing
    assert bound_of(mechanism) >= information - b * 1e-5 * 10


def test_a_decoder_is_a_posterior():
    distribution = distribution_of(EMPTY)
    matrix = np.random.default_rng(0).dirichlet(np.ones(4), size=9).T
    posterior = distribution * np.exp(-Information(distribution).expand(matrix))
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-12)


# -- starts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("b", [1, 2, 5, 40])
def test_starts(b):
    start = starts((3, 4), b, 0)
    assert start.shape == (b, 12) and (start > 0).all()
    np.testing.assert_allclose(start.sum(axis=0), 1.0)
    np.testing.assert_array_equal(start, starts((3, 4), b, 0))
    assert b == 1 or not np.allclose(start, starts((3, 4), b, 1))


# -- regions with a path --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "alpha", "radius", "expected"),
    [
        ("joint", 2.0, 0.01, JointRegion),
        ("joint", 0.5, 0.01, ProductRegion),
        ("product", 2.0, 0.01, ProductRegion),
        ("box", 2.0, 0.01, BoxRegion),
        ("lower", 2.0, 0.01, LowerRegion),
    ],
)
def test_the_path_of_a_region_is_that_of_one_around_it(kind, alpha, radius, expected):
    region = region_of(TABLE, kind, alpha, radius)
    around = path_requirements(Requirements.of(region, 1.0)).only.region
    assert type(around) is expected
    rows = np.random.default_rng(0).random((50, 3, 3))
    assert np.all(excess(region, rows, 1.0) <= excess(around, rows, 1.0) + 1e-9)


def test_the_public_distribution_with_an_unseen_secret_is_followed_exactly():
    counts = [[20, 30, 5], [0, 0, 0], [14, 60, 9]]
    region = region_of(counts, radius=0.0)
    around = path_requirements(Requirements.of(region, 1.0)).only.region
    assert isinstance(around, LowerRegion)
    rows = np.random.default_rng(1).random((50, 3, 3))
    np.testing.assert_allclose(excess(region, rows, 1.0), excess(around, rows, 1.0), atol=1e-12)


# -- one path -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "counts", "same_secret"), pairwise(REGIONS, [TABLE, EMPTY], [False, True])
)
def test_a_path_ends_private_and_better_than_the_closed_forms(counts, kind, same_secret):
    region, eps = region_of(counts, kind, same_secret=same_secret), 1.0
    joint = JointDistribution(counts)
    run = one_path(counts, region, eps)
    assert run.finished
    np.testing.assert_allclose(run.matrix.sum(axis=0), 1.0, rtol=1e-12)
    assert (run.matrix >= 0).all()
    assert excess(region, run.matrix.reshape(-1, 3, 3), eps).max() <= 1e-12
    assert run.value == pytest.approx(
        mutual_information(run.matrix, distribution_of(counts)), abs=1e-12
    )
    forms = (
        srr(eps, 3, 3),
        grr(eps, 9),
        independent_reporting(joint, Requirements.of(region, eps)).blocks,
    )
    assert run.value > max(block_information(f, joint.probabilities) for f in forms)


@pytest.mark.parametrize("alpha", [0.3, 0.5, 1.0, 3.0])
def test_every_order(alpha):
    kind = "joint" if alpha >= 0.5 else "product"
    region = region_of(TABLE, kind, alpha)
    run = one_path(TABLE, region, 0.5)
    assert run.finished and run.value > 0.1 * entropy(distribution_of(TABLE))
    assert excess(region, run.matrix.reshape(-1, 3, 3), 0.5).max() <= 1e-12


@pytest.mark.parametrize("radius", [0.0, np.inf])
def test_the_public_distribution_alone_and_all_distributions(radius, cdd):
    region = region_of(TABLE, radius=radius)
    runs, _ = alternate(
        Information(distribution_of(TABLE)), Requirements.of(region, 1.0), limits=Limits(None)
    )
    found = max(run.value for run in runs)
    best = solve(
        CriterionProblem(JointDistribution(TABLE)),
        Requirements.of(region, 1.0),
        solver="vertices",
        time_limit=None,
    )
    assert 0.97 * best.objective <= found <= best.objective * (1.0 + 1e-9)


def test_what_is_shown_on_the_way_rises_to_a_private_mechanism():
    region, seen = region_of(TABLE), []
    run = one_path(TABLE, region, 1.0, callback=seen.append)
    assert run.value == max(seen) == mutual_information(run.matrix, distribution_of(TABLE))
    assert seen[-1] >= 0.999 * max(seen)
    assert excess(region, run.matrix.reshape(-1, 3, 3), 1.0).max() <= 1e-12


def test_the_end_of_a_path_is_stationary():
    """With its own decoder, no private mechanism is clearly better than the one found."""
    from skrldp.design.least_cost import minimise
    from skrldp.design.programs import ExpectedCost

    region, distribution = region_of(TABLE), distribution_of(TABLE)
    run = one_path(TABLE, region, 1.0)
    cost = ExpectedCost(Information(distribution).expand(run.matrix), distribution)
    best = minimise(cost, Requirements.of(region, 1.0), gap=1e-5, limits=Limits(None))
    assert -best.bound <= run.value * 1.004


def test_the_end_of_a_path_needs_hardly_any_repair():
    """The path ends centred: what it found before the repair is what is left after it."""
    region, distribution = region_of(TABLE), distribution_of(TABLE)
    run = one_path(TABLE, region, 1.0)
    rows = run._rows() / run._rows().sum(axis=0)
    assert run.value >= mutual_information(rows, distribution) * (1.0 - 1e-5)


# -- many paths -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("most", "status"), [(1_000, "converged"), (60, "iteration_limit")])
def test_alternation_is_deterministic_and_ends(most, status):
    """Whatever the number of threads; every step counts."""
    region, distribution = region_of(TABLE), distribution_of(TABLE)
    limits = [Limits(most_iterations=most, workers=Workers(n_jobs)) for n_jobs in (1, 2)]
    first, second = (
        alternate(Information(distribution), Requirements.of(region, 1.0), limits=one)
        for one in limits
    )
    assert first[1] == second[1] == status
    assert 16 in {len(run.matrix) for run in first[0]}
    assert max(len(run.matrix) for run in first[0]) <= 16
    for one, other in zip(first[0], second[0], strict=True):
        np.testing.assert_array_equal(one.matrix, other.matrix)
    steps = sum(run.steps for run in first[0])
    assert [one.iterations for one in limits] == [steps, steps] and steps <= most


def test_costly_tables_have_fewer_runs_unless_privacy_is_over_all_distributions(monkeypatch):
    """Pairs of secrets cost little there: only the extremes of each secret's entries matter."""
    monkeypatch.setattr(alternation, "_COSTLY", 1)
    around, distribution = region_of(TABLE), distribution_of(TABLE)
    everywhere = SimplexRegion(
        around.conditionals, around.marginal, around.weights, layout=around.rows
    )
    found = [
        alternate(Information(distribution), Requirements.of(region, 1.0), limits=Limits(None))[0]
        for region in (around, everywhere)
    ]
    assert [len(runs) for runs in found] == [1, 3]


class Clock(Limits):
    """Limits that are met after so many looks at it."""

    def __init__(self, looks):
        super().__init__(None)
        self.looks = looks

    @property
    def left(self):
        self.looks -= 1
        return float(max(self.looks, 0))


def test_as_many_reports_as_there_is_time_for():
    """After 16 reports in 4 s, 6.4 s suffice for 25."""

    class Left(Limits):
        left = 6.4

    before = [Run(np.ones((16, 4)), 1.0, seconds=4.0)]
    assert alternation.affordable(40, before, Left()) == 25
    assert alternation.affordable(40, before, Limits(None)) == 40
    assert alternation.affordable(40, [], Left()) == 40


@pytest.mark.parametrize("looks", [1, 2, 4])
def test_time_is_up(looks):
    region = region_of(TABLE)
    runs, status = alternate(
        Information(distribution_of(TABLE)), Requirements.of(region, 1.0), limits=Clock(looks)
    )
    assert status == "time_limit" and runs
    for run in runs:
        assert excess(region, run.matrix.reshape(-1, 3, 3), 1.0).max() <= 1e-12


def test_steps_grow_longer_when_time_is_short():
    limits = Limits(1000.0)
    schedule = annealing._Schedule(limits, 0)

    class Path:
        steps, gap, step_length = 100, 10.0, 1.0

    assert schedule.factor(Path, 1e-3) == 0.8
    limits._end = limits.start + limits.elapsed * 1.2
    assert 0.1 <= schedule.factor(Path, 1e-3) < 0.8
    Path.gap = 1e-4  # at the end already
    assert schedule.factor(Path, 1e-3) <= 0.8
    limits._end, Path.step_length = None, 0.05  # reports part: slower
    assert schedule.factor(Path, 1e-3) == 0.95


# -- as a solver ----------------------------------------------------------------------------------


def test_auto_is_no_worse_than_its_parts():
    joint, region = JointDistribution(TABLE[:2]), region_of(TABLE[:2])
    found = {
        solver: solve(
            CriterionProblem(joint), Requirements.of(region, 1.0), solver=solver, time_limit=None
        )
        for solver in ("auto", "alternation", "columns")
    }
    assert found["alternation"].solver == "alternation"
    value = found["auto"].objective
    assert value >= found["alternation"].objective * (1.0 - 1e-4)
    assert value >= found["columns"].objective * (1.0 - 5e-4)
    assert value <= found["auto"].bound


def test_large_table_is_certified_and_far_better_than_the_closed_forms():
    rng = np.random.default_rng(3)
    joint = JointDistribution(rng.multinomial(30_000, rng.dirichlet(np.ones(48))).reshape(6, 8))
    region, eps = region_of(joint.counts), 1.0
    radius = RenyiBall().radius_for(joint.n, 48)
    distribution = joint.probabilities.ravel()
    run = one_path(joint.counts, region, eps, b=12)
    mechanism, certificate = release(
        run.matrix, Requirements.asked(joint, RenyiSet(2.0, radius), eps)
    )
    assert certificate.holds(eps)
    assert mechanism.mutual_information(distribution) == pytest.approx(run.value, rel=1e-6)
    known = independent_reporting(joint, Requirements.of(region, eps)).information
    assert run.value > 3.0 * known


def test_one_secret_and_one_value():
    for counts in ([[4, 9, 2]], [[4], [9], [2]]):
        joint, region = JointDistribution(counts), region_of(counts)
        found = solve(
            CriterionProblem(joint),
            Requirements.of(region, 1.0),
            solver="alternation",
            time_limit=None,
        )
        private = repair(found.matrix, Requirements.of(region, 1.0))
        assert mutual_information(private, distribution_of(counts)) <= found.bound + 1e-9
        best = solve(
            CriterionProblem(joint), Requirements.of(region, 1.0), solver="columns", time_limit=None
        )
        assert found.objective >= 0.97 * best.objective
