"""PolyOpt as a whole: reference optima, and how the optimum moves with what it is asked."""

import itertools

import numpy as np
import pytest
from conftest import EXAMPLE, REFERENCE, slow_clock
from scipy.optimize import linprog

from skrldp import JointDistribution, RenyiBall
from skrldp.certificate import release
from skrldp.design.closed_form import grr, independent_reporting, srr
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.mutual_information import Information
from skrldp.design.subset_optimum import group_reporting
from skrldp.exceptions import SolverError
from skrldp.information import block_information, mutual_information, row_information
from skrldp.privacy.private_rows import Layout, privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet

CASES = REFERENCE["mi"]
NAMES = ["x".join(map(str, np.shape(case["counts"]))) for case in CASES]
SMALL = [[9, 4, 31], [40, 25, 14]]


def region_of(joint, kind="joint", alpha=2.0, **options):
    radius = RenyiBall(alpha).radius_for(joint.n, joint.counts.size)
    return privacy_region(joint, RenyiSet(alpha, radius), region=kind, **options)


def optimum(counts, eps, kind="joint", **options):
    """The objective, without a time limit, so that it is the same on every machine."""
    joint = counts if isinstance(counts, JointDistribution) else JointDistribution(counts)
    if kind in ("simplex", "point"):
        region = privacy_region(joint, RenyiSet(2.0, np.inf if kind == "simplex" else 0.0))
    else:
        region = region_of(joint, kind)
    return solve(
        CriterionProblem(joint), Requirements.of(region, eps), time_limit=None, **options
    ).objective


# -- reference values -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=NAMES)
@pytest.mark.parametrize(("key", "same_secret"), [("published", True), ("distinct_secrets", False)])
def test_enumerated_optima(case, key, same_secret, cdd):
    joint = JointDistribution(case["counts"])
    region = region_of(joint, "lower", same_secret=same_secret)
    listed = solve(CriterionProblem(joint), Requirements.of(region, case["eps"]), solver="vertices")
    assert listed.objective == pytest.approx(case[key], abs=1e-5)
    assert listed.status == "optimal"
    if (len(case["counts"]) < len(case["counts"][0])) is same_secret:  # each once takes seconds
        return
    generated = solve(
        CriterionProblem(joint),
        Requirements.of(region, case["eps"]),
        time_limit=None,
    )
    assert generated.objective == pytest.approx(case[key], rel=1e-4)
    assert generated.objective <= listed.objective * (1.0 + 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [case for case, name in zip(CASES, NAMES, strict=True) if name not in ("2x4", "3x3")]
)  # these take longer than all others
def test_exact_ball(case):
    joint = JointDistribution(case["counts"])
    region = region_of(joint)
    found = solve(CriterionProblem(joint), Requirements.of(region, case["eps"]), time_limit=None)
    assert found.solver == "rows"
    assert found.objective >= case["exact_ball_at_least"] * (1.0 - 5e-4)
    assert found.objective >= case["distinct_secrets"] * (1.0 - 1e-4)
    assert found.objective <= found.bound
    assert joint.entropy == pytest.approx(case["entropy_X"], abs=1e-6)
    radius = RenyiBall().radius_for(joint.n, joint.counts.size)
    mechanism, certificate = release(
        found.matrix, Requirements.asked(joint, RenyiSet(2.0, radius), case["eps"])
    )
    assert certificate.holds(case["eps"])
    value = mechanism.mutual_information(joint.probabilities)
    assert value == pytest.approx(found.objective, rel=1e-6)


# -- what is asked, and what is said --------------------------------------------------------------


def test_a_failure_names_the_problem():
    joint = JointDistribution(SMALL)
    with pytest.raises(SolverError) as found:
        solve(CriterionProblem(joint), Requirements.of(region_of(joint), 0.25), solver="vertices")
    for part in (
        *("eps=0.25", "JointRegion", "2 secrets x 3 values", "solver='vertices'"),
        *("no finite list of vertices", "Try solver='auto'"),
    ):
        assert part in str(found.value)


@pytest.mark.parametrize(("solver", "name"), [("vertices", "vertices"), ("auto", "rows")])
def test_verbose(capsys, solver, name):
    joint = JointDistribution(EXAMPLE)
    region = region_of(joint, "lower")
    silent = solve(CriterionProblem(joint), Requirements.of(region, 0.5), solver=solver)
    assert capsys.readouterr().out == ""
    solve(CriterionProblem(joint), Requirements.of(region, 0.5), solver=solver, verbose=1)
    out = capsys.readouterr().out
    assert f"[skrldp] {name}: I(X;Y) {silent.objective:.5g} nats ({silent.status}, " in out
    assert f"{silent.gap_in_words})" in out
    assert silent.message in out


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.0, 1_000.0])
def test_what_there_is_when_time_is_up(limit):
    """On 80 cells: a valid mechanism, no worse than the closed forms."""
    rng = np.random.default_rng(0)
    joint = JointDistribution(rng.integers(0, 300, size=(8, 10)))
    region, eps = region_of(joint), 0.8
    with slow_clock(2.0):
        found = solve(CriterionProblem(joint), Requirements.of(region, eps), time_limit=limit)
    assert found.status == "time_limit"
    known = independent_reporting(joint, Requirements.of(region, eps)).information
    assert found.objective >= known * (5.0 if limit else 1.0 - 1e-7)
    radius = RenyiBall().radius_for(joint.n, 80)
    mechanism, certificate = release(
        found.matrix, Requirements.asked(joint, RenyiSet(2.0, radius), eps)
    )
    assert certificate.holds(eps)
    value = mechanism.mutual_information(joint.probabilities)
    assert value >= known * (1.0 - 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("eps", [100.0, 800.0])
def test_large_budgets(eps):
    """Nothing overflows, and all is told."""
    joint = JointDistribution(EXAMPLE)
    for kind in ("lower", "joint"):
        assert optimum(joint, eps, kind) == pytest.approx(joint.entropy, rel=1e-6)


# -- relations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "eps"), [((2, 5), 0.3), ((4, 3), 4.0)])
def test_a_search_without_time_is_never_worse_than_what_needs_none(shape, eps):
    """GRR, SRR, independent reporting, and reports on groups of values."""
    a1, a2 = shape
    for seed in range(1):
        joint = JointDistribution(np.random.default_rng(seed).geometric(0.003, shape))
        around = RenyiSet(1.0, 0.003)
        asked = Requirements.of(privacy_region(joint, around), eps)
        found = solve(CriterionProblem(joint), asked, time_limit=1e-6)
        assert found.status == "time_limit"
        for blocks in (
            grr(eps, a1 * a2),
            srr(eps, a1, a2),
            independent_reporting(joint, asked).blocks,
        ):
            assert found.objective >= block_information(blocks, joint.probabilities) * (1 - 1e-9)
        layout = Layout.plain(*joint.counts.shape, "nonsensitive")
        blind = Requirements.of(privacy_region(joint, around, layout=layout), eps)
        short = solve(CriterionProblem(joint), blind, time_limit=1e-6)
        public = joint.probabilities.sum(axis=0)
        alone = mutual_information(group_reporting(joint, blind), public)
        assert alone * (1.0 - 1e-9) <= short.objective <= short.bound


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["vertices", "auto"])
@pytest.mark.parametrize("eps", [4.0, 6.0])
@pytest.mark.parametrize("counts", [EXAMPLE, [[30, 40], [60, 20], [20, 30]], [[30, 40, 25]] * 2])
def test_srr_is_optimal_for_all_distributions_and_large_eps(counts, eps, solver):
    joint = JointDistribution(counts)
    blocks = srr(eps, *joint.counts.shape)
    expected = block_information(blocks, joint.probabilities)
    found = optimum(joint, eps, "simplex", solver=solver)
    assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("counts", "eps"), [([5, 9], 0.3), ([3, 20, 8], 2.0)])
def test_one_value_reduces_to_ldp_on_the_secret(counts, eps):
    joint = JointDistribution(np.array(counts)[:, None])
    patterns = np.array(list(itertools.product([1.0, np.exp(eps)], repeat=len(counts))))
    worth = row_information(patterns, joint.probabilities.ravel())
    best = -linprog(-worth, A_eq=patterns.T, b_eq=np.ones(len(counts))).fun
    for kind in ("joint", "product", "box", "lower", "simplex", "point"):
        assert optimum(joint, eps, kind) == pytest.approx(best, rel=1e-6)
    assert optimum(joint, eps, "lower") == pytest.approx(best, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "kind"),
    [
        ([[20, 30], [0, 0]], "joint"),
        ([[20, 30], [0, 0]], "lower"),
        ([[200, 300, 0], [140, 60, 0]], "lower"),
        ([[0, 30], [25, 0]], "product"),
        ([[0, 30], [25, 0]], "box"),
        ([[20, 30], [0, 0], [14, 60]], "product"),
        ([[20, 30], [0, 0], [14, 60]], "box"),
    ],
)
def test_unseen_secrets_and_values(counts, kind, cdd):
    joint = JointDistribution(counts)
    region, eps = region_of(joint, kind), 0.7
    found = solve(CriterionProblem(joint), Requirements.of(region, eps), time_limit=None)
    assert found.objective >= independent_reporting(
        joint, Requirements.of(region, eps)
    ).information * (1 - 1e-7)
    if kind in ("box", "lower"):
        best = solve(
            CriterionProblem(joint), Requirements.of(region, eps), solver="vertices"
        ).objective
        assert best >= found.objective * (1.0 - 1e-7)
        assert found.objective >= best * (1.0 - 2e-3)
    radius = RenyiBall().radius_for(joint.n, joint.counts.size)
    mechanism, certificate = release(
        found.matrix, Requirements.asked(joint, RenyiSet(2.0, radius), eps)
    )
    assert certificate.holds(eps)
    value = mechanism.mutual_information(joint.probabilities)
    assert value == pytest.approx(found.objective, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha", "kind"),
    [
        *((0.5, "lower"), (0.7, "joint"), (1.0, "joint"), (3.0, "joint")),
        *((0.3, "product"), (0.3, "box"), (0.3, "lower"), (0.7, "product"), (3.0, "box")),
    ],
)
def test_every_order(alpha, kind):
    joint = JointDistribution(np.array(EXAMPLE) * 4)
    region, eps = region_of(joint, kind, alpha), 0.6
    found = solve(CriterionProblem(joint), Requirements.of(region, eps), time_limit=None)
    assert (
        found.objective
        > 1.2 * independent_reporting(joint, Requirements.of(region, eps)).information
    )
    radius = RenyiBall(alpha).radius_for(joint.n, 4)
    mechanism, certificate = release(
        found.matrix, Requirements.asked(joint, RenyiSet(alpha, radius), eps)
    )
    assert certificate.holds(eps)
    assert certificate.eps_attained <= eps
    value = mechanism.mutual_information(joint.probabilities)
    assert value == pytest.approx(found.objective, rel=1e-5)


# -- where the public table is empty --------------------------------------------------------------


def test_smoothing_leaves_no_column_to_chance(cdd):
    """What a cell without records reports is then decided by what it would tell."""
    counts = np.array([[30, 0, 50], [20, 40, 10]])
    joint = JointDistribution(counts)
    region = region_of(joint, "lower")
    for smoothing in (1e-6, 0.5):
        distribution = joint.smoothed(smoothing).ravel()
        best = solve(
            CriterionProblem(joint, Information(distribution)),
            Requirements.of(region, 1.0),
            solver="vertices",
        )
        plain = solve(CriterionProblem(joint), Requirements.of(region, 1.0), solver="vertices")
        at = [float(row_information(found.matrix, distribution).sum()) for found in (best, plain)]
        assert at[0] >= at[1] * (1.0 - 1e-12)
        assert best.objective >= plain.objective * (1.0 - smoothing * 0.02)
    # the bound is about all private mechanisms at the public distribution
    assert plain.objective <= best.bound
