"""Runs of annealing from several starts, side by side in processes where there are any."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from skrldp._typing import Floats
from skrldp.design.alternation._annealing import Annealing, Callback
from skrldp.design.alternation._starts import starts
from skrldp.design.criteria import Information
from skrldp.design.run import Limits, Workers
from skrldp.privacy import Requirements

__all__ = ["FEWEST_REPORTS", "Run", "RunPlan", "affordable", "anneal_each"]

# Cells from which on runs take longer than it takes to start a process, a second.
_WORTH_A_PROCESS = 60
FEWEST_REPORTS = 8  # reports that are worth another run
_PLANNED_TIME = 0.7  # of the run before, for each report, that a run must have time for


@dataclass(frozen=True)
class RunPlan:
    """How to anneal."""

    reports: int  # number of reports
    factor: float  # cooling factor: the part of the duality gap that each step leaves
    seed: int  # which of the fixed starts


@dataclass(frozen=True, eq=False)
class Run:
    """What a run found."""

    matrix: Floats  # (b, a), its best mechanism, private
    value: float  # the value of this by the criterion
    steps: int = 0  # Newton steps taken
    seconds: float = 0.0  # time taken

    @classmethod
    def of(cls, annealing: Annealing) -> "Run":
        """Take what a way down the path has found so far."""
        return cls(annealing.matrix, annealing.value, annealing.steps, annealing.seconds)


def anneal_each(
    criterion: Information,
    requirements: Requirements,
    plans: Sequence[RunPlan],
    limits: Limits,
    callback: Callback | None = None,
    reserved: int = 0,
) -> list[Run]:
    """Anneal from several starts.

    Runs are side by side in processes where there are several jobs and time for all runs. Where
    time is short, each run has all jobs for itself: they share its rows.

    Returns list of Run: without a limit of time, they do not depend on the number of workers.
    """
    number, left = limits.workers.number, limits.iterations_left
    share = None if left is None else left // (len(plans) + 1)  # one for what follows
    runs: list[Run] = []
    worthwhile = number > 1 and criterion.distribution.size >= _WORTH_A_PROCESS
    for place, plan in enumerate(plans):
        rest = plans[place:]
        # With a limit of time, the first run tells whether there is time for all of the others.
        known = limits.left is None or len(runs) > 0
        if worthwhile and known and len(rest) > 1 and _time_for_all(rest, runs, limits, reserved):
            runs += _side_by_side(criterion, requirements, rest, limits, share, callback)
            break
        b = affordable(plan.reports, runs, limits, reserved)
        if b < min(plan.reports, FEWEST_REPORTS):
            break
        own = Limits(limits.left, share, limits.workers)
        runs.append(_anneal(criterion, requirements, replace(plan, reports=b), own, callback))
    limits.count(sum(run.steps for run in runs))
    return runs


def _time_for_all(
    plans: Sequence[RunPlan], before: Sequence[Run], limits: Limits, reserved: int
) -> bool:
    """Whether there is time for all runs, even one after the other."""
    reports = sum(plan.reports for plan in plans)
    return affordable(reports, before, limits, reserved) == reports


def _side_by_side(
    criterion: Information,
    requirements: Requirements,
    plans: Sequence[RunPlan],
    limits: Limits,
    share: int | None,
    callback: Callback | None,
) -> list[Run]:
    """Anneal in processes, as many as there are jobs for."""
    number = min(limits.workers.number, len(plans))
    together = -(-len(plans) // number)  # runs of one process, one after the other
    seconds = None if limits.left is None else limits.left / together
    jobs = max(limits.workers.number // len(plans), 1)
    common = criterion, requirements, seconds, share, jobs
    order = sorted(range(len(plans)), key=lambda i: -plans[i].reports)  # the longest first
    tasks = [delayed(_anneal_alone)(plans[i], *common) for i in order]
    found = dict(zip(order, Parallel(n_jobs=number)(tasks), strict=True))
    runs = [found[i] for i in range(len(plans))]
    if callback is not None:
        for run in runs:
            callback(run.matrix)
    return runs


def affordable(reports: int, before: Sequence[Run], limits: Limits, reserved: int = 0) -> int:
    """Count the reports that there is time for.

    Returns int: all of them without a limit of time.
    """
    if not before or limits.left is None:
        return reports
    run = before[-1]
    each = max(_PLANNED_TIME * run.seconds / len(run.matrix), np.finfo(float).tiny)
    return min(reports, max(int(limits.left / each) - reserved, 0))


def _anneal_alone(
    plan: RunPlan,
    criterion: Information,
    requirements: Requirements,
    seconds: float | None,
    iterations: int | None,
    n_jobs: int,
) -> Run:
    """Anneal in a process that knows nothing else."""
    limits = Limits(seconds, iterations, Workers(n_jobs))
    with threadpool_limits(limits=1, user_api="blas"):
        return _anneal(criterion, requirements, plan, limits, None)


def _anneal(
    criterion: Information,
    requirements: Requirements,
    plan: RunPlan,
    limits: Limits,
    callback: Callback | None,
) -> Run:
    start = starts(requirements.shape, plan.reports, plan.seed)
    if limits.met:  # to prepare a path takes seconds at hundreds of cells
        constant = np.full(start.shape, 1.0 / len(start))
        return Run(constant, criterion.value(constant))
    annealing = Annealing(criterion, requirements, start, callback, limits.workers)
    annealing.anneal(plan.factor, limits)
    return Run.of(annealing)
