r"""Deterministic annealing: one way down the central path, while a decoder follows the mechanism.

A *decoder* w gives a posterior distribution of X for each report. For every decoder,
:math:`I(X;Y) \ge \mathbb E \log(w_Y(X)/P_X)`, with equality at the true posterior. So a mechanism
that maximises the right-hand side, which is a linear program over private mechanisms
(:mod:`skrldp.design.least_cost`), followed by its posterior, followed by the next mechanism and
so on, never loses information: a Blahut-Arimoto step, whose first half is a program of the kind
that RobustMSE solves. Solved to the end each time, these programs go from vertex to vertex and
soon reach a local optimum. Here the decoder is updated after every Newton step instead, while the
barrier parameter of the path (:mod:`skrldp.design.interior_point`) falls slowly. It acts as the
temperature does in deterministic annealing (Rose 1998): at first all reports are nearly alike, then
they part where most is to be gained.

Decoders that are good already, the best of several runs, are treated otherwise: they stay fixed
until the barrier parameter is so low that reports do not become alike again.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats
from skrldp.design.criteria import TINY, Information
from skrldp.design.interior_point import CentralPath, pair_function, path_blocks
from skrldp.design.programs import ExpectedCost
from skrldp.design.run import Limits, Workers
from skrldp.privacy import Requirement, Requirements, repair

__all__ = ["Annealing", "Callback", "distinct_reports", "path_requirements"]


# The numbers below were chosen on two tables of 240 and 252 cells: benchmarks/bench_alternation.py
# and docs/large_alphabets.md, sections 2 and 5. "Doubled" is what benchmarks/bench_constants.py
# finds on one of 12 cells, as relative loss of information; numbers without it lose nothing there.

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
        path, schedule, began = (
            self._path,
            _Schedule(limits, factor, self.steps),
            limits.elapsed,
        )
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
