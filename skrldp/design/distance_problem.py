r"""RobustMSE: the mechanism whose reports are closest to U among the private ones.

Utility and privacy may each be robust or not, which results in ISIT's four problems: NUNP, NURP,
RUNP and RURP (ISIT (7)-(10)). All minimise :math:`\max_P \mathbb E_P\, d(U, Y)`, over the
distributions P of a ball if the utility is robust and for the public one alone if not. Likewise,
privacy is required over a ball or for the public distribution.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import refuse_masked
from skrldp._params import OBSERVED, check_choice
from skrldp._typing import Floats
from skrldp.design.engine import Problem, Task
from skrldp.design.least_cost import minimise
from skrldp.design.limits import LITTLE
from skrldp.design.programs import ExpectedCost
from skrldp.design.progress import Quantity
from skrldp.design.solution import Solution
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import repair
from skrldp.sets.fitted_sets import FittedSet

DISTANCES = ("auto", "squared", "absolute", "hamming")
# Largest absolute value of numbers for squared distances, so that these remain finite
_LARGEST = 1e100


def distance_matrix(
    distance: str | Callable[[Any, Any], float] | Sequence[Sequence[float]] | Floats,
    values: Sequence[Any],
) -> Floats:
    """Tabulate the distance of each reported value (columns) from each value (rows).

    Shapes: `distance` (a2, a2); returns (a2, a2). Raises ValueError if the distance is unknown, is
    not a table of that shape, has entries that are not finite and non-negative, or is for numbers
    but the values are not numbers.

    Examples
    --------
    >>> distance_matrix("squared", (1, 2, 4))
    array([[0., 1., 9.],
           [1., 0., 4.],
           [9., 4., 0.]])
    """
    if isinstance(distance, str):
        table = _named(distance, values)
    elif callable(distance):
        table = np.array([[_measured(distance, u, y) for y in values] for u in values])
    else:
        table = _as_table(distance)
        if table.shape != (len(values), len(values)):
            raise ValueError(
                f"the table `distance` has shape {table.shape}, but U has {len(values)} values: it "
                f"needs shape {(len(values), len(values))}, in the order of `joint_.values`."
            )
    wrong = ~np.isfinite(table) | (table < 0)
    if wrong.any():
        u, y = np.argwhere(wrong)[0]
        raise ValueError(
            f"distances must be finite and non-negative, but that from value {values[u]!r} to "
            f"value {values[y]!r} is {table[u, y]}."
        )
    return table


def suited_distance(values: Sequence[Any]) -> str:
    """Name the default distance for values of U.

    Returns {"squared", "hamming"}: "squared" if all are real numbers of moderate size. Booleans are
    not treated as numbers here; for them, both distances are the same.

    Examples
    --------
    >>> suited_distance((1, 2.5)), suited_distance((1, None)), suited_distance((1, "other"))
    ('squared', 'hamming', 'hamming')
    """
    for value in values:
        if isinstance(value, bool) or not isinstance(value, Real):
            return "hamming"
        if not abs(value) <= _LARGEST:  # type: ignore[operator]
            return "hamming"
    return "squared"


def _as_table(distance: Any) -> Floats:
    refuse_masked(distance, "the table `distance`")
    try:
        table = np.asarray(distance)
        if table.ndim == 2 and not np.iscomplexobj(table):
            return table.astype(float)
    except (TypeError, ValueError):  # rows of different lengths, or strings
        pass
    kind = f"a {type(distance).__name__}" if hasattr(distance, "__len__") else repr(distance)
    raise ValueError(
        "distance must be 'auto', 'squared', 'absolute', 'hamming', a function of two "
        f"values of U, or a table of numbers (real), got {kind}."
    )


def _named(name: str, values: Sequence[Any]) -> Floats:
    if name not in DISTANCES:
        raise ValueError(
            f"distance={name!r} must be one of {', '.join(map(repr, DISTANCES))}, a function of "
            "two values of U, or a table."
        )
    if name == "auto":
        name = suited_distance(values)
    if name == "hamming":
        return np.array([[_hamming(u, y) for y in values] for u in values])
    numbers = _numbers(name, values)
    gap = np.subtract.outer(numbers, numbers)
    return np.abs(gap) if name == "absolute" else gap * gap


def _numbers(name: str, values: Sequence[Any]) -> Floats:
    """Values of U as floats."""
    for value in values:
        if not isinstance(value, Real):
            found = "several columns" if isinstance(value, tuple) else f"the value {value!r}"
            found = "missing values" if value is None else found
            raise ValueError(
                f"distance={name!r} needs numbers, but U has {found}; use "
                "distance='hamming', a function of two values, or a table of distances."
            )
        if abs(value) > _LARGEST:  # type: ignore[operator]
            raise ValueError(
                f"distance={name!r} needs numbers of moderate size, but U contains one beyond "
                f"{_LARGEST:g}."
            )
    return np.array(values, dtype=float)


def _hamming(value: Any, output: Any) -> float:
    if isinstance(value, tuple) and isinstance(output, tuple):
        return float(sum(u != y for u, y in zip(value, output, strict=True)))
    return float(value != output)


def _measured(distance: Callable[[Any, Any], float], value: Any, output: Any) -> float:
    found = distance(value, output)
    try:
        return float(found)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"distance({value!r}, {output!r}) must be a number, got {found!r}."
        ) from error


def expected_distance(
    joint: JointDistribution, distance: Floats, uncertainty: FittedSet, *, observe: str = "all"
) -> ExpectedCost:
    """Make the distance of reports from U the cost, at the worst distribution of a ball.

    Shapes: `distance` (a2, b).
    """
    alpha, radius = uncertainty.alpha, uncertainty.joint_radius
    assert radius is not None  # as the sanitizer has checked
    check_choice("observe", observe, OBSERVED)
    if observe == "nonsensitive":
        return ExpectedCost(distance.T, joint.probabilities.sum(axis=0), alpha, radius)
    cost = np.tile(distance.T, (1, len(joint.secrets)))
    return ExpectedCost(cost, joint.probabilities.ravel(), alpha, radius)


SOLVERS_OF_DISTANCES = ("auto",)


@dataclass
class _ExpectedDistance:
    """The expected distance, for progress and messages."""

    name: str = "expected distance"
    unit: str = ""
    sense: int = -1


class DistanceProblem(Problem):
    """The mechanism with the smallest expected distance of its reports from U.

    Parameters
    ----------
    cost : ExpectedCost
        The expected distance.
    gap : float
        Allowed relative distance from the optimum.
    simple : callable, optional
        Returns mechanisms without a search, of shape (b, n_cells). The solution is at least as good
        as these with reports mapped to the nearest outputs.
    """

    solvers = SOLVERS_OF_DISTANCES
    quantity: Quantity = _ExpectedDistance()

    def __init__(
        self,
        cost: ExpectedCost,
        gap: float = LITTLE,
        simple: Callable[[], Sequence[Floats]] | None = None,
    ) -> None:
        self.cost, self.gap, self.simple = cost, gap, simple
        self.size = "{} outputs x {} cells".format(*cost.cost.shape)

    def solve(self, task: Task) -> Solution:
        """Solve for the useful outputs.

        An output that is never nearer than some other output is useless, because the mechanism
        remains private if the two are merged.
        """
        useful = _undominated(self.cost.cost)
        cost = replace(self.cost, cost=self.cost.cost[useful])
        solution = minimise(cost, task.requirements, gap=self.gap, limits=task.limits)
        matrix = np.zeros(self.cost.cost.shape)
        matrix[useful] = solution.matrix
        solution = replace(solution, matrix=matrix)
        return solution if solution.status == "optimal" else self._at_least_simple(solution, task)

    def _at_least_simple(self, solution: Solution, task: Task) -> Solution:
        """Return the best of a solution and mechanisms with their reports mapped to outputs."""
        message = f"{solution.message} A mechanism in closed form was better."
        for form in () if self.simple is None else self.simple():
            private = repair(_as_outputs(form, self.cost), task.requirements)
            value = self.cost.worst(private)[0]
            if value < solution.objective:
                solution = replace(solution, objective=value, matrix=private, message=message)
        return solution


def _as_outputs(form: Floats, cost: ExpectedCost) -> Floats:
    """Map each report of a mechanism to the output that is nearest on average."""
    nearest = ((form * cost.distribution) @ cost.cost.T).argmin(axis=1)
    merged = np.zeros(cost.cost.shape)
    np.add.at(merged, nearest, form)
    return merged


def _undominated(cost: Floats) -> NDArray[np.intp]:
    """Find the outputs that no other output dominates; of equal outputs, the first."""
    kept: list[int] = []
    for y in np.lexsort((np.arange(len(cost)), cost.sum(axis=1))):
        if not np.any(np.all(cost[kept] <= cost[y], axis=1)):
            kept.append(int(y))
    return np.sort(kept)
