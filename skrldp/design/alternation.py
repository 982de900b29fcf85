r"""PolyOpt for large alphabets: annealing from several starts.

Where a way down the central path ends depends on its start, so it is repeated from another start,
with more reports, always the same ones.

**Deterministic annealing**: one way down the central path, while a decoder follows the mechanism.

A *decoder* w gives a posterior distribution of X for each report. For every decoder,
:math:`I(X;Y) \ge \mathbb E \log(w_Y(X)/P_X)`, with equality at the true posterior. So a mechanism
that maximises the right-hand side, which is a linear program over private mechanisms
(:mod:`skrldp.design.least_cost`), followed by its posterior, followed by the next mechanism and
so on, never loses information: a Blahut-Arimoto step, whose first half is a program of the kind
that RobustMSE solves. Solved to the end each time, these programs go from vertex to vertex and
soon reach a local optimum. Here the decoder is updated after every Newton step instead, while the
barrier parameter of the path (:mod:`skrldp.design.central_path`) falls slowly. It acts as the
temperature does in deterministic annealing (Rose 1998): at first all reports are nearly equal,
then they part where most is to be gained.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skrldp._typing import Floats
from skrldp.design.central_path import CENTRING_RANGE, FIRST_GAP, CentralPath
from skrldp.design.constraint_blocks import path_blocks
from skrldp.design.criteria import Information
from skrldp.design.limits import MOST_ROUNDS, TIGHT, TOL, Limits, Workers
from skrldp.design.newton_system import MOST_IN_HESSIANS
from skrldp.design.programs import ExpectedCost
from skrldp.privacy.requirements import Requirement, Requirements, repair

# A start is gamma noise of this shape. Twice as much loses 13 % at 9 cells, where privacy is over
# all distributions.
_SHAPE = 0.5
# It is multiplied by 1 + this where report y stands for value y: noise alone leaves values without
# their own report, and values alone leave S out. Twice as much loses 1e-4 at 12 cells.
_BIAS = 4.0


def starts(shape: tuple[int, int], b: int, seed: int) -> Floats:
    """Draw a mechanism to start from: noise, with a report for each value in turn.

    Shapes: returns (b, a).
    """
    noise = np.random.default_rng(seed).gamma(_SHAPE, size=(b, *shape))
    report = np.arange(b)
    noise[report, :, report % shape[1]] *= 1.0 + _BIAS
    return (noise / noise.sum(axis=0)).reshape(b, -1)


# --- One way down the central path ----------------------------------------------------------------


# Newton steps between two mechanisms that are repaired and compared with the best. Twice as many
# lose nothing at 12 cells.
_REPAIR_EVERY = 10
# Part of the time left that is planned with when it is short, since many a step falls short of its
# aim. With all of it, paths do not reach their ends.
_PLANNED_TIME = 0.6
# Part of the gap that a step leaves, where time allows and steps are long. The root of it takes
# twice as many steps.
_COOLING = 0.8

Callback = Callable[[float], None]  # gets the values of private mechanisms


def path_requirements(requirements: Requirements) -> Requirements:
    """Find the weakest requirements that imply some others and have a central path.

    Returns Requirements: the same, or over larger regions where it has none: a shared budget
    near order 1/2, and the public distribution with secrets that it lacks.
    """
    return Requirements(tuple(_with_path(one) for one in requirements))


def _with_path(one: Requirement) -> Requirement:
    if path_blocks(Requirements((one,))) is not None:
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
    callback : callable
        Gets the value of each private mechanism.
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
        callback: Callback = lambda value: None,
        workers: Workers | None = None,
    ) -> None:
        self.criterion, self.requirements, self.callback = criterion, requirements, callback
        self.matrix: Floats = np.full(start.shape, 1.0 / len(start))
        self.value, self.finished, self.seconds = criterion.value(self.matrix), False, 0.0
        cost = ExpectedCost(criterion.expand(start), criterion.distribution)
        blocks = path_blocks(path_requirements(requirements))
        assert blocks is not None  # lower bounds have a central path
        gap = FIRST_GAP * criterion.scale
        self._path = CentralPath(cost, blocks, scale=1.0, gap=gap, workers=workers)

    @property
    def steps(self) -> int:
        """Newton steps taken."""
        return self._path.steps

    def anneal(self, limits: Limits) -> None:
        """Go down the path while the decoder follows the mechanism."""
        path, schedule, began = self._path, _Schedule(limits, self.steps), limits.elapsed
        end, going = TOL * self.criterion.scale, True
        while going and not path.arrived(end) and not limits.met:
            limits.count()
            going = path.advance(least_gap=end, centring=schedule.factor(path, end))
            self._expand()
            end = TOL * self._unit()
            if path.steps % _REPAIR_EVERY == 0 or not going or limits.met:
                self._offer()
        self.finished = path.arrived(end)
        self._centre(path.gap, limits)
        self.seconds = limits.elapsed - began

    def _centre(self, gap: float, limits: Limits) -> None:
        """Centre the path at a gap with the present decoder, and offer the result."""
        for _ in range(MOST_ROUNDS):
            if limits.met:
                break
            limits.count()
            factor = min(max(gap / self._path.gap, CENTRING_RANGE[0]), 1.0)
            going = self._path.advance(least_gap=gap, centring=factor)
            centred = 1.0 - self._path.step_length <= CENTRING_RANGE[0]
            if not going or (centred and self._path.arrived(gap)):
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
        self.callback(value)


def _steps_left(limits: Limits, seconds: float) -> float:
    """Newton steps that are left, each of which takes so long; infinite without limits."""
    left, steps = limits.left, limits.iterations_left
    by_time = np.inf if left is None else left / max(seconds, TIGHT)
    return min(by_time, np.inf if steps is None else float(steps))


class _Schedule:
    """The cooling factor of each step: slow where steps are short, fast where time is."""

    def __init__(self, limits: Limits, first: int) -> None:
        self.limits, self.first, self.began = limits, first, limits.elapsed

    def factor(self, path: CentralPath, end: float) -> float:
        slowest = max(_COOLING, min(1.0 - path.step_length, CENTRING_RANGE[1]))
        taken = path.steps - self.first
        if taken < _REPAIR_EVERY:
            return slowest
        seconds = (self.limits.elapsed - self.began) / taken
        steps = max(_PLANNED_TIME * _steps_left(self.limits, seconds) - _REPAIR_EVERY, 1.0)
        needed = (end / max(path.gap, end)) ** (1.0 / steps)
        # What time there is to spare is spent where reports part, before the rest of the path.
        return slowest if needed >= _COOLING else max(needed, CENTRING_RANGE[0])


# --- Runs from several starts ---------------------------------------------------------------------


# Numbers of reports of the runs. Without the second, 4x8 cells with 200 records lose 2 %; the last
# alone loses 4 % there. Twice as many take twice the time.
_RUNS = (16, 16, 40)
# From this many cells times pairs of secrets on, a step takes a quarter of a second and more, and
# the last run is the only one. Privacy over all distributions costs little: it is about the
# extremes of each secret's entries. With twice as many, larger tables take three runs, in twice the
# time.
_COSTLY = 200_000


@dataclass(frozen=True, eq=False)
class Run:
    """What a run found."""

    matrix: Floats  # (b, a), its best mechanism, private
    value: float  # the value of this by the criterion
    steps: int = 0  # Newton steps taken
    seconds: float = 0.0  # time taken


def alternate(
    criterion: Information,
    requirements: Requirements,
    *,
    limits: Limits,
    callback: Callback = lambda value: None,
) -> tuple[list[Run], str]:
    """Anneal from several starts.

    Returns `runs`: at least one; `status`: ``"converged"``, ``"iteration_limit"``
    or ``"time_limit"``. Without a limit of time they do not depend on the number of workers.
    """
    size = criterion.distribution.size
    if not requirements.any_pair:  # nothing is secret, so records are reported unchanged
        whole = np.eye(size)
        return [Run(whole, criterion.value(whole))], "converged"
    most = max(MOST_IN_HESSIANS // size**2, _RUNS[0] // 2)
    pairs = sum(one.n_pairs for one in requirements if not one.everywhere)
    planned = _RUNS[-1:] if size * pairs >= _COSTLY else _RUNS
    share = None if limits.iterations_left is None else limits.iterations_left // len(planned)
    runs: list[Run] = []
    complete = True
    for seed, reports in enumerate(planned):
        asked = min(reports, max(size, _RUNS[0]), most)
        b = affordable(asked, runs, limits)
        complete = complete and b == asked
        if b < min(asked, _RUNS[0] // 2):  # few are not worth another run
            break
        own = Limits(limits.left, share, limits.workers)
        start = starts(requirements.shape, b, seed)
        runs.append(_anneal(criterion, requirements, start, own, callback))
        limits.count(runs[-1].steps)
    return runs, limits.status if complete else "time_limit"


def affordable(reports: int, before: Sequence[Run], limits: Limits) -> int:
    """Count the reports that there is time for.

    Returns int: all of them without a limit of time.
    """
    if not before or limits.left is None:
        return reports
    run = before[-1]
    each = max(run.seconds / len(run.matrix), TIGHT)
    return min(reports, int(limits.left / each))


def _anneal(
    criterion: Information,
    requirements: Requirements,
    start: Floats,
    limits: Limits,
    callback: Callback,
) -> Run:
    if limits.met:  # to prepare a path takes seconds at hundreds of cells
        constant = np.full(start.shape, 1.0 / len(start))
        return Run(constant, criterion.value(constant))
    found = Annealing(criterion, requirements, start, callback, limits.workers)
    found.anneal(limits)
    return Run(found.matrix, found.value, found.steps, found.seconds)
