r"""RobustMSE: the mechanism whose reports are closest to U among the private ones.

Utility and privacy may each be robust or not, which makes ISIT's four problems: NUNP, NURP, RUNP
and RURP (ISIT (7)-(10)). All minimise :math:`\max_P \mathbb E_P\, d(U, Y)`, over distributions
P of a ball if the utility is robust and at the public one alone if not, under the same for privacy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats
from skrldp.design.least_cost import minimise
from skrldp.design.objectives._problem import Problem, Search, Task
from skrldp.design.programs import ExpectedCost
from skrldp.design.run import Quantity, Solution
from skrldp.privacy import repair

__all__ = ["SOLVERS_OF_DISTANCES", "DistanceProblem"]


SOLVERS_OF_DISTANCES = ("auto",)


@dataclass
class _ExpectedDistance:
    """The expected distance, for readers."""

    name: str = "expected distance"
    unit: str = ""
    sense: int = -1


class DistanceProblem(Problem):
    """The mechanism with the least expected distance of its reports from U.

    Parameters
    ----------
    cost : ExpectedCost
        The expected distance.
    gap : float
        Relative distance from the optimum that is allowed.
    simple : callable, optional
        Makes mechanisms that take no search, of shape (b, n_cells): the solution is not worse, if
        their reports are taken for the nearest outputs.
    """

    solvers = SOLVERS_OF_DISTANCES
    quantity: Quantity = _ExpectedDistance()

    def __init__(
        self,
        cost: ExpectedCost,
        gap: float = 1e-4,
        simple: Callable[[], Sequence[Floats]] | None = None,
    ) -> None:
        self.cost, self.gap, self.simple = cost, gap, simple
        self.size = "{} outputs x {} cells".format(*cost.cost.shape)

    def begin(self, task: Task) -> Search:
        """Begin a search."""
        return _DistanceSearch(self, task)


class _DistanceSearch(Search):
    """A design by a central path, and by linear programs."""

    def __init__(self, problem: DistanceProblem, task: Task) -> None:
        self.problem, self.task = problem, task

    def run(self) -> Solution:
        """Solve for the outputs that are of use.

        To send an output that is nowhere nearer than another instead of the other is of no use: to
        merge the two is private as well.
        """
        cost, task = self.problem.cost, self.task
        useful = _undominated(cost.cost)
        solution = minimise(
            replace(cost, cost=cost.cost[useful]),
            task.requirements,
            gap=self.problem.gap,
            limits=task.limits,
            verbose=task.verbose,
        )
        matrix = np.zeros(cost.cost.shape)
        matrix[useful] = solution.matrix
        return replace(solution, matrix=matrix)

    def at_least_simple(self, solution: Solution) -> Solution:
        """Return the best of a solution and mechanisms whose reports are taken for outputs."""
        cost, simple = self.problem.cost, self.problem.simple
        message = f"{solution.message} A mechanism that takes no search was better."
        for form in () if simple is None else simple():
            private = repair(_as_outputs(form, cost), self.task.requirements)
            value = cost.worst(private)[0]
            if value < solution.objective:
                solution = replace(solution, objective=value, matrix=private, message=message)
        return solution


def _as_outputs(form: Floats, cost: ExpectedCost) -> Floats:
    """Take each report of a mechanism for the output that is nearest on average."""
    nearest = ((form * cost.distribution) @ cost.cost.T).argmin(axis=1)
    merged = np.zeros(cost.cost.shape)
    np.add.at(merged, nearest, form)
    return merged


def _undominated(cost: Floats) -> NDArray[np.intp]:
    """Find the outputs to which no other is preferable for every value; of equals the first."""
    kept: list[int] = []
    for y in np.lexsort((np.arange(len(cost)), cost.sum(axis=1))):
        if not np.any(np.all(cost[kept] <= cost[y], axis=1)):
            kept.append(int(y))
    return np.sort(kept)
