"""The solution of a design, its status, and its distance from the optimum.

The statuses of every solver stand here, and nowhere else:

``"optimal"``
    The objective is within the solver's tolerance of the global optimum over the region.
``"converged"``
    The search ended by itself: nothing it tried was better. For PolyOpt, whose programs are not
    convex, that is a local optimum. The message says what gap is left where one was requested.
``"closed form"``
    The mechanism is given by a formula: nothing was searched.
``"optimal_inaccurate"``
    The solver stopped near the optimum, short of its tolerances.
``"iteration_limit"``, ``"time_limit"``
    The limit of 10,000 iterations, or that of time, ended the search; the mechanism is the best
    found by then, and the message begins with what was left to do.

For the last three :attr:`Solution.unfinished` is true: more work, or another solver, may do
better. Whatever the status, the mechanism is repaired and certified before it is released.
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
    """A value that no mechanism is better than."""

    value: float  # in the unit of the objective
    by: str  # where the value comes from, as a noun: it stands behind "bound:"


def least(bounds: Iterable[ObjectiveBound]) -> ObjectiveBound:
    """Take the least of several bounds on a quantity that is maximised."""
    return min(bounds, key=lambda bound: bound.value)


def relative_gap(objective: float, bound: float) -> float:
    """Return the distance of an objective from its bound, as a share of the bound.

    The optimum is between the two, so its distance from the objective is at most this share of the
    optimum if both have one sign, and of the objective otherwise. Above 1 the bound is useless.

    Examples
    --------
    >>> relative_gap(0.75, 1.0), relative_gap(3.0, 1.0)
    (0.25, 2.0)
    """
    distance = abs(objective - bound)
    scale = abs(bound) if objective * bound > 0.0 else max(abs(objective), abs(bound))
    return distance / scale if distance else 0.0


# Where bounds come from: they stand behind "bound:".
AT_PUBLIC = "the optimum for the public distribution alone"
NEAR_PUBLIC = f"an upper bound on {AT_PUBLIC}"


@dataclass(frozen=True, eq=False)
class Solution(ReadOnly):
    """A design and how it came about.

    Attributes
    ----------
    status : str
        ``"optimal"``, ``"converged"``, ``"closed form"``, ``"optimal_inaccurate"``,
        ``"iteration_limit"`` or ``"time_limit"``; the module says what each means.
    solver : str
        The solver that made it.
    objective : float
        Value of the design before repair and rounding, in nats for mutual information.
    bound : float
        No mechanism that is private over the region has a better value.
    bound_by : str
        What has the bound's value, in a few words.
    iterations : int
        What the solver counted: Newton steps, rounds of linear programs.
    seconds : float
        Time taken.
    message : str
        What was done, for a reader; after a limit, first what was left to do. May be empty.
    matrix : array of shape (b, a) or None
        The design; None for closed forms.
    estimate : float or None
        What the optimum is about, which is not proved: no row that the last rounds of a search
        found would lead beyond it. None where the search has none.
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
        """How far the objective is from the optimum, and by which bound."""
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
