r"""PolyOpt for large alphabets: annealing from several starts, and what they found put together.

Where a way down the central path ends depends on its start, so it is repeated from another start,
with more reports, always the same ones. Then the decoders of the runs are gathered: a program
with all of them that differ, fixed, finds the best mechanism for these, in which each run's
reports make room for those of the others. Near the end of the path the decoders are updated
again.

**Deterministic annealing**: one way down the central path, while a decoder follows the mechanism.

A *decoder* w gives a posterior distribution of X for each report. For every decoder,
:math:`I(X;Y) \ge \mathbb E \log(w_Y(X)/P_X)`, with equality at the true posterior. So a mechanism
that maximises the right-hand side, which is a linear program over private mechanisms
(:mod:`skrldp.design.least_cost`), followed by its posterior, followed by the next mechanism and
so on, never loses information: a Blahut-Arimoto step, whose first half is a program of the kind
that RobustMSE solves. Solved to the end each time, these programs go from vertex to vertex and
soon reach a local optimum. Here the decoder is updated after every Newton step instead, while the
barrier parameter of the path (:mod:`skrldp.design.central_path`) falls slowly. It acts as the
temperature does in deterministic annealing (Rose 1998): at first all reports are nearly alike,
then they part where most is to be gained.

Decoders that are good already, the best of several runs, are treated otherwise: they stay fixed
until the barrier parameter is so low that reports do not become alike again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from skrldp._typing import Floats
from skrldp.design.central_path import CentralPath
from skrldp.design.constraint_blocks import pair_function, path_blocks
from skrldp.design.criteria import TINY, Information
from skrldp.design.programs import ExpectedCost
from skrldp.design.run import Limits, Workers
from skrldp.privacy.requirements import Requirement, Requirements, repair

# Gamma noise of shape 1/2, times 1 + _BIAS where report y stands for value y. Noise alone leaves
# values without a report of their own, and values alone leave S out. The bias doubled loses
# 1e-4 on a table of 12 cells, and shape 0.75 gains as much.
_BIAS = 4.0
_GAMMA_SHAPE = 0.5
_LEAST_NOISE = 1e-9
# Standard deviation of the logarithms of what entries are multiplied by, where rows are perturbed.
PERTURBATION = 0.7


def starts(shape: tuple[int, int], b: int, seed: int) -> Floats:
    """Draw a mechanism to start from: noise, with a report for each value in turn.

    Shapes: returns (b, a).
    """
    noise = np.random.default_rng(seed).gamma(_GAMMA_SHAPE, size=(b, *shape)) + _LEAST_NOISE
    report = np.arange(b)
    noise[report, :, report % shape[1]] *= 1.0 + _BIAS
    return (noise / noise.sum(axis=0)).reshape(b, -1)


# --- One way down the central path ----------------------------------------------------------------


# The numbers below were chosen on two tables of 240 and 252 cells. "Doubled" is the relative loss
# of information on one of 12 cells; numbers without it lose nothing there.

# Where paths begin and end: duality gaps.
_FIRST_GAP = 30.0  # relative to the entropy: reports are nearly constant there. Doubled: 1e-4
LAST_GAP = 1e-3  # relative to the information found, as the following are. Doubled: 2e-6
_FIXED_GAP = 3e-3  # where decoders that were fixed begin to be updated

# Newton steps.
_FINAL_STEPS = 30  # until the path is centred at the end: what is not is costly to repair
_CENTRED = 0.9  # length of a step from a point that is
_REPAIR_EVERY = 10  # steps between two mechanisms that are repaired and compared with the best
_LEAST_FACTOR = 0.1  # a step aims at no less than this part of the gap
# Nor at less than the last step left undone, up to this: reports part then, and the path has to
# follow them. Without it, runs with 16 reports on 252 cells end up to 3 % lower.
_MOST_FACTOR = 0.99
# When time is short: part of what is left that is planned with, since many a step falls short of
# its aim, and steps that are left to centre.
_PLANNED_TIME, _RESERVED_STEPS = 0.6, 6

# Reports.
_ALIKE = 0.05  # l1 distance of posteriors up to which reports are alike
_RARE = 1e-5  # probability up to which a report hardly matters

Callback = Callable[[Floats], None]  # gets private mechanisms


def path_requirements(requirements: Requirements) -> Requirements:
    """Find the weakest requirements that imply some others and have a central path.

    Returns Requirements: the same, or over larger regions where it has none: boxes, a shared budget
    near order 1/2, and the public distribution with secrets that it lacks.
    """
    return Requirements(tuple(_with_path(one) for one in requirements))


def _with_path(one: Requirement) -> Requirement:
    if one.everywhere or pair_function(one) is not None:
        return one
    return replace(one, region=one.region.wider())


class Annealing:
    """A way down the path, and the best mechanism on it.

    Parameters
    ----------
    criterion : Information
        What is maximised.
    requirements : Requirements
        What a row must satisfy.
    start : array of shape (b, a)
        Mechanism, private or not, around which the criterion is expanded first.
    callback : callable, optional
        Gets each private mechanism.
    workers : Workers, optional
        Who does the work; None is the thread that calls.

    Attributes
    ----------
    matrix : array of shape (b, a)
        The best mechanism so far, private.
    value : float
        Its value by the criterion.
    steps : int
        Newton steps taken.
    finished : bool
        Whether the end of the path was reached.
    seconds : float
        Time that :meth:`anneal` took.
    """

    def __init__(
        self,
        criterion: Information,
        requirements: Requirements,
        start: Floats,
        callback: Callback | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.criterion, self.requirements, self.callback = criterion, requirements, callback
        self.matrix: Floats = np.full(start.shape, 1.0 / len(start))
        self.value, self.finished, self.seconds = criterion.value(self.matrix), False, 0.0
        cost = ExpectedCost(criterion.expand(start), criterion.distribution)
        blocks = path_blocks(path_requirements(requirements))
        assert blocks is not None  # lower bounds have a central path
        gap = _FIRST_GAP * criterion.scale
        self._path = CentralPath(cost, blocks, scale=1.0, gap=gap, workers=workers)

    @property
    def steps(self) -> int:
        """Newton steps taken."""
        return self._path.steps

    def anneal(self, factor: float, limits: Limits, last_gap: float = LAST_GAP) -> None:
        """Go down the path while the decoder follows the mechanism."""
        path, schedule, began = (self._path, _Schedule(limits, factor, self.steps), limits.elapsed)
        end, going = last_gap * self.criterion.scale, True
        while going and not path.arrived(end) and not limits.met:
            limits.count()
            going = path.advance(least_gap=end, centring=schedule.factor(path, end))
            self._expand()
            end = last_gap * self._unit()
            if path.steps % _REPAIR_EVERY == 0 or not going or limits.met:
                self._offer()
        self.finished = path.arrived(end)
        self._centre(path.gap, limits)
        self.seconds = limits.elapsed - began

    def solve_fixed(self, limits: Limits) -> None:
        """Go down the path with the decoder fixed, to where :meth:`anneal` goes on."""
        path, end, going = self._path, _FIXED_GAP * self.criterion.scale, True
        while going and not path.arrived(end) and not limits.met:
            limits.count()
            going = path.advance(least_gap=end)
            end = _FIXED_GAP * self._unit()

    def _centre(self, gap: float, limits: Limits) -> None:
        """Centre the path at a gap with the decoder as it is, and offer what is found."""
        for _ in range(_FINAL_STEPS):
            if limits.met:
                break
            limits.count()
            factor = min(max(gap / self._path.gap, _LEAST_FACTOR), 1.0)
            going = self._path.advance(least_gap=gap, centring=factor)
            if not going or (self._path.step_length >= _CENTRED and self._path.arrived(gap)):
                break
        self._offer()

    def _rows(self) -> Floats:
        rows: Floats = np.maximum(self._path.rows, 0.0)
        return rows

    def _unit(self) -> float:
        """Size of the gaps that matter for the path's mechanism, before repair."""
        rows = self._rows()
        return self.criterion.progress(rows / rows.sum(axis=0))

    def _expand(self) -> None:
        self._path.set_cost(self.criterion.expand(self._rows()))

    def _offer(self) -> None:
        """Repair the path's mechanism, and keep it if it is the best."""
        private = repair(self._rows(), self.requirements)
        value = self.criterion.value(private)
        if value > self.value:
            self.matrix, self.value = private, value
        if self.callback is not None:
            self.callback(private)


def distinct_reports(matrix: Floats, distribution: Floats) -> NDArray[np.intp]:
    """Find reports whose posterior differs from those of all before them.

    Shapes: `matrix` (b, a); `distribution` (a,). Returns (m,): their places, in order. Reports that
    are hardly ever sent are not among them.
    """
    posterior = matrix * distribution
    mass = posterior.sum(axis=1)
    posterior /= np.maximum(mass, TINY)[:, None]
    kept: list[int] = []
    for y in np.flatnonzero(mass > _RARE):
        if all(np.abs(posterior[y] - posterior[z]).sum() > _ALIKE for z in kept):
            kept.append(int(y))
    return np.array(kept, dtype=np.intp)


def _steps_left(limits: Limits, seconds: float) -> float:
    """Newton steps that are left, each of which takes so long; infinite without limits."""
    left, steps = limits.left, limits.iterations_left
    by_time = np.inf if left is None else left / max(seconds, TINY)
    return min(by_time, np.inf if steps is None else float(steps))


class _Schedule:
    """The cooling factor of each step: slow where steps are short, fast where time is."""

    def __init__(self, limits: Limits, factor: float, first: int) -> None:
        self.limits, self.fastest, self.first = limits, factor, first
        self.began = limits.elapsed

    def factor(self, path: CentralPath, end: float) -> float:
        slowest = max(self.fastest, min(1.0 - path.step_length, _MOST_FACTOR))
        taken = path.steps - self.first
        if taken < _REPAIR_EVERY:
            return slowest
        seconds = (self.limits.elapsed - self.began) / taken
        steps = max(_PLANNED_TIME * _steps_left(self.limits, seconds) - _RESERVED_STEPS, 1.0)
        needed = (end / max(path.gap, end)) ** (1.0 / steps)
        # What time there is to spare is spent where reports part, before the rest of the path.
        return slowest if needed >= self.fastest else max(needed, _LEAST_FACTOR)


# --- Runs from several starts, side by side in processes where there are any ----------------------


# Cells from which on runs take longer than it takes to start a process, a second.
_WORTH_A_PROCESS = 60
FEWEST_REPORTS = 8  # reports that are worth another run
_TIME_OF_A_RUN = 0.7  # of the run before, for each report, that a run must have time for


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
    each = max(_TIME_OF_A_RUN * run.seconds / len(run.matrix), np.finfo(float).tiny)
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


# --- What the runs found, put together ------------------------------------------------------------


# Chosen on two tables of 240 and 252 cells: docs/large_alphabets.md, sections 2 and 5.

# Runs: numbers of reports, and cooling factor, the part of the gap that a step leaves.
_RUNS = ((16, 0.9), (16, 0.9), (40, 0.8))
_SHORT = ((16, 0.8),)
# From so many cells times pairs of secrets on, a step takes a quarter of a second and more. Privacy
# over all distributions costs little: it is about the extremes of each secret's entries.
_COSTLY = 200_000
_COSTLY_RUNS = ((12, 0.9), (16, 0.9))
# Where memory leaves no room for more reports than one run takes, and time is not limited.
_WIDEST_RUN = ((64, 0.8),)
# Cooling factor once the decoders that were gathered are updated, and duality gap where that ends.
_GATHERED_FACTOR, _GATHERED_GAP = 0.9, 3e-4

# Numbers of reports.
_MOST, _FEW = 64, 20  # no more than cells are of use in the end, but a few more on the way
# Entries of the matrices of all reports, of which some five sets are kept at a time: 1.3 GB. More
# reports are what helps most at a thousand cells, where this is room for 32.
_ENTRIES = 32_000_000

_FILL = 36  # gathered reports up to which perturbed copies join them


def alternate(
    criterion: Information,
    requirements: Requirements,
    *,
    limits: Limits,
    callback: Callback | None = None,
    short: bool = False,
) -> tuple[list[Run], str]:
    """Anneal from several starts, and gather what was found.

    Returns `runs`: at least one; `status`: ``"converged"``, ``"iteration_limit"``
    or ``"time_limit"``.
    """
    distribution = criterion.distribution
    if not requirements.any_pair:  # nothing is secret, so records are reported as they are
        whole = np.eye(distribution.size)
        return [Run(whole, criterion.value(whole))], "converged"
    most = _most(distribution)
    pairs = sum(one.n_pairs for one in requirements if not one.everywhere)
    costly = distribution.size * pairs >= _COSTLY
    widest = most < min(_MOST, distribution.size) and limits.left is None
    usual = _WIDEST_RUN if widest else _COSTLY_RUNS if costly else _RUNS
    planned: tuple[tuple[int, float], ...] = _SHORT if short else usual
    plans = [RunPlan(min(b, most), factor, seed) for seed, (b, factor) in enumerate(planned)]
    gathers = not (short or widest)
    reserved = _FEW if gathers else 0
    runs = anneal_each(criterion, requirements, plans, limits, callback, reserved)
    complete = sum(len(run.matrix) for run in runs) == sum(plan.reports for plan in plans)
    if gathers:
        rows = gather(runs, distribution, requirements.shape)
        room = affordable(len(rows), runs, limits)
        complete = complete and room == len(rows)
        if room >= min(len(rows), FEWEST_REPORTS):
            joined = Annealing(criterion, requirements, rows[:room], callback, limits.workers)
            joined.solve_fixed(limits)
            joined.anneal(_GATHERED_FACTOR, limits, _GATHERED_GAP)
            runs.append(Run.of(joined))
    return runs, limits.status if complete else "time_limit"


def _most(distribution: Floats) -> int:
    """As many reports as are of use and have room."""
    room = max(_ENTRIES // distribution.size**2, FEWEST_REPORTS)
    return min(_MOST, max(distribution.size, _FEW), room)


def gather(runs: Sequence[Run], distribution: Floats, shape: tuple[int, int]) -> Floats:
    """Take the reports of several runs whose posteriors differ, the best run's first.

    If they are few, perturbed copies join them: those of no use will not be sent.

    Shapes: `distribution` (number of cells of a row,). Returns (m, number of cells of a row): rows
    of mean 1, no more than there may be reports.
    """
    ranked = sorted(runs, key=lambda run: -run.value)
    rows = np.concatenate([run.matrix for run in ranked])
    rows = rows[distinct_reports(rows, distribution)[: _most(distribution)]]
    missing = max(min(_FILL, _most(distribution)) - len(rows), 0)
    noise = np.random.default_rng(len(runs)).normal(scale=PERTURBATION, size=(2, missing, *shape))
    perturbed = rows[np.arange(missing) % len(rows)]
    perturbed *= np.exp(noise[0] + noise[1, :, :, :1]).reshape(missing, distribution.size)
    rows = np.concatenate([rows, perturbed])
    unit: Floats = rows / rows.mean(axis=1, keepdims=True)
    return unit
