"""PolyOpt as a whole: reference optima, and how the optimum moves with what it is asked."""

import numpy as np
import pytest
from conftest import EXAMPLE, REFERENCE, slow_clock

from skrldp import JointDistribution, RenyiBall
from skrldp.certificate import release
from skrldp.design.closed_form import grr, independent_reporting, srr
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.subset_optimum import group_reporting
from skrldp.information import block_information, mutual_information
from skrldp.privacy.private_rows import Layout, privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet

CASES = REFERENCE["mi"]


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


def released_information(found, joint, eps, alpha=2.0):
    """What the released mechanism tells at the public distribution; it is proven private."""
    radius = RenyiBall(alpha).radius_for(joint.n, joint.counts.size)
    promise = Requirements.asked(joint, RenyiSet(alpha, radius), eps)
    mechanism, certificate = release(found.matrix, promise)
    assert certificate.eps_attained <= certificate.eps <= eps
    return mechanism.mutual_information(joint.probabilities)


# -- reference values -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "key"),
    [(0, "published"), (1, "distinct_secrets"), (2, "published"), (3, "distinct_secrets")],
)
def test_enumerated_optima(number, key, cdd):
    case = CASES[number]
    joint = JointDistribution(case["counts"])
    region = region_of(joint, "lower", same_secret=key == "published")
    problem, required = CriterionProblem(joint), Requirements.of(region, case["eps"])
    listed = solve(problem, required, solver="vertices")
    assert listed.objective == pytest.approx(case[key], abs=1e-5)
    assert listed.status == "optimal"
    generated = solve(problem, required, time_limit=None)
    assert generated.objective == pytest.approx(case[key], rel=1e-4)
    assert generated.objective <= listed.objective * (1.0 + 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("case", [CASES[0], CASES[3]])  # the others take longer
def test_exact_ball(case):
    joint = JointDistribution(case["counts"])
    region = region_of(joint)
    found = solve(CriterionProblem(joint), Requirements.of(region, case["eps"]), time_limit=None)
    assert found.solver == "rows"
    assert found.objective >= case["exact_ball_at_least"] * (1.0 - 5e-4)
    assert found.objective >= case["distinct_secrets"] * (1.0 - 1e-4)
    assert found.objective <= found.bound
    assert joint.entropy == pytest.approx(case["entropy_X"], abs=1e-6)
    value = released_information(found, joint, case["eps"])
    assert value == pytest.approx(found.objective, rel=1e-6)


# -- what is asked, and what is said --------------------------------------------------------------


def test_what_is_found_is_printed_if_asked_for(capsys, cdd):
    joint = JointDistribution(EXAMPLE)
    region = region_of(joint, "lower")
    silent = solve(CriterionProblem(joint), Requirements.of(region, 0.5), solver="vertices")
    assert capsys.readouterr().out == ""
    solve(CriterionProblem(joint), Requirements.of(region, 0.5), solver="vertices", verbose=1)
    out = capsys.readouterr().out
    for part in (f"I(X;Y) {silent.objective:.5g} nats", silent.gap_in_words, silent.message):
        assert part in out


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
    value = released_information(found, joint, eps)
    assert value >= known * (1.0 - 1e-6)


# -- relations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "eps"), [((2, 5), 0.3), ((4, 3), 4.0)])
def test_a_search_without_time_is_never_worse_than_what_needs_none(shape, eps):
    """GRR, SRR, independent reporting, and reports on groups of values."""
    a1, a2 = shape
    joint = JointDistribution(np.random.default_rng(0).geometric(0.003, shape))
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


MANY = np.array(EXAMPLE) * 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "kind", "alpha", "least"),
    [
        (MANY, "product", 0.3, 1.2),
        (MANY, "joint", 0.7, 1.2),
        (MANY, "box", 3.0, 1.2),
        # unseen secrets and values
        ([[20, 30], [0, 0]], "joint", 2.0, 1.0 - 1e-7),
        ([[200, 300, 0], [140, 60, 0]], "lower", 2.0, 1.0 - 1e-7),
    ],
)
def test_designs_are_better_than_independent_reporting_and_released_whole(
    counts, kind, alpha, least, cdd
):
    joint, eps = JointDistribution(counts), 0.65
    problem, asked = CriterionProblem(joint), Requirements.of(region_of(joint, kind, alpha), eps)
    found = solve(problem, asked, time_limit=None)
    assert found.objective >= least * independent_reporting(joint, asked).information
    if kind in ("box", "lower"):
        best = solve(problem, asked, solver="vertices").objective
        assert found.objective * (1.0 - 1e-7) <= best <= found.objective * (1.0 + 2e-3)
    value = released_information(found, joint, eps, alpha)
    assert value == pytest.approx(found.objective, rel=1e-5)
