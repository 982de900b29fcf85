"""The solution of a design, its status, and its distance from the optimum.

The statuses of all solvers:

``"optimal"``
    The objective is within the solver's tolerance of the global optimum over the region.
``"converged"``
    The search ended by itself, because further rows gained too little. For PolyOpt, whose programs
    are not convex, the result is a local optimum. The message states the remaining gap if a gap was
    requested.
``"closed form"``
    The mechanism is given by a formula.
``"optimal_inaccurate"``
    The solver stopped near the optimum, short of its tolerances.
``"iteration_limit"``, ``"time_limit"``
    The limit of 10,000 iterations, or the time limit, ended the search. The mechanism is the best
    one found, and the message begins with the limit.

For the last three, :attr:`Solution.unfinished` is true: a longer search, or another solver, may
find a better mechanism. Regardless of the status, the mechanism is repaired and certified before it
is released.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly
from skrldp._params import at_most
from skrldp.design.limits import EQUAL, LIMITS


@dataclass(frozen=True)
class ObjectiveBound:
    """An upper bound on the value of all mechanisms, with its source."""

    value: float  # in the unit of the objective
    by: str  # the source of the value, a noun that follows "bound:"


def least(bounds: Iterable[ObjectiveBound]) -> ObjectiveBound:
    """Return the smallest of several bounds on a maximised quantity."""
    return min(bounds, key=lambda bound: bound.value)


def relative_gap(objective: float, bound: float) -> float:
    """Return the distance of an objective from its bound, as a share of the bound.

    The optimum is between the two. If both have the same sign, the distance of the objective from
    the optimum is therefore at most this share of the optimum. Otherwise, the share is that of the
    larger absolute value. Above 1, the bound is too weak to be useful.

    Examples
    --------
    >>> relative_gap(0.75, 1.0), relative_gap(3.0, 1.0)
    (0.25, 2.0)
    """
    distance = abs(objective - bound)
    scale = abs(bound) if objective * bound > 0.0 else max(abs(objective), abs(bound))
    return distance / scale if distance else 0.0


# Sources of bounds, which follow "bound:".
AT_PUBLIC = "the optimum for the public distribution alone"
NEAR_PUBLIC = f"an upper bound on {AT_PUBLIC}"


@dataclass(frozen=True, eq=False)
class Solution(ReadOnly):
    """A design, its solver and its distance from the optimum.

    Attributes
    ----------
    status : str
        ``"optimal"``, ``"converged"``, ``"closed form"``, ``"optimal_inaccurate"``,
        ``"iteration_limit"`` or ``"time_limit"``; the module's docstring explains them.
    solver : str
        The solver.
    objective : float
        Value of the design before repair and rounding, in nats for mutual information.
    bound : float
        Bound on the value of every mechanism that is private over the region.
    bound_by : str
        Source of the bound, in a few words.
    iterations : int
        Number of Newton steps, or rounds of linear programs.
    seconds : float
        Time taken.
    message : str
        Description of the search, which begins with the limit if one ended the search. May be
        empty.
    matrix : array of shape (b, a) or None
        The design; None for closed forms.
    estimate : float or None
        An unproved estimate of the optimum: the value that no row found in the last rounds of a
        search could exceed. None if the search has no estimate.
    """

    status: str
    solver: str
    objective: float
    bound: float
    iterations: int = 0
    seconds: float = 0.0
    message: str = ""
    matrix: NDArray[np.float64] | None = field(default=None, repr=False)
    bound_by: str = ""
    estimate: float | None = None

    @property
    def gap(self) -> float:
        """Distance of the objective from the bound, as a share of the bound."""
        return relative_gap(self.objective, self.bound)

    @property
    def gap_in_words(self) -> str:
        """The distance of the objective from the optimum in words, with the bound's source."""
        origin = f" (bound: {self.bound_by})" if self.bound_by else ""
        if self.gap <= EQUAL:
            return f"optimal to six digits{origin}"
        if self.gap > 1.0:
            about = np.inf if self.estimate is None else relative_gap(self.objective, self.estimate)
            if about > 1.0:
                return "no useful bound on the optimum"
            return f"about {about:.1%} from an unproved estimate of the optimum".replace("%", " %")
        side = "below" if self.objective < self.bound else "above"
        most = f"{float(at_most(100.0 * self.gap, '.3g')):g} %"
        if self.objective * self.bound <= 0.0:
            most = at_most(abs(self.objective - self.bound), ".3g")
        return f"at most {most} {side} the best possible{origin}"

    @property
    def unfinished(self) -> bool:
        """Whether a limit ended the search before it was done."""
        return self.status in (*LIMITS, "optimal_inaccurate")
