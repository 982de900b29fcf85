"""What a design returns.

The statuses of every solver stand here, and nowhere else:

``"optimal"``
    The objective is within the solver's tolerance of the global optimum over the region.
``"converged"``
    The search ended by itself: nothing it tried was better. For PolyOpt, whose programs are not
    convex, that is a local optimum. The message says what gap is left where one was asked for.
``"closed form"``
    The mechanism is given by a formula: nothing was searched.
``"optimal_inaccurate"``
    The solver stopped near the optimum, short of its tolerances.
``"iteration_limit"``, ``"time_limit"``
    The limit of 10,000 iterations, or that of time, ended the search; the mechanism is the best
    found by then, and the message begins with what was left to do.

For the last three :attr:`Solution.unfinished` is true: more work, or another solver, may do better.
Whatever the status, the mechanism is repaired and certified before it is released.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly
from skrldp.design.run._bound import distance_in_words
from skrldp.design.run._limits import LIMITS

__all__ = ["Solution"]

_UNFINISHED = (*LIMITS, "optimal_inaccurate")


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
        What the optimum is about, which is not proven: no row that the last rounds of a search
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
    def gap_in_words(self) -> str:
        """How far the objective is from the bound, and from which; empty if that is too far."""
        return distance_in_words(self.objective, self.bound, self.bound_by)

    @property
    def gap(self) -> float:
        """Relative distance of the objective from the bound."""
        scale = max(abs(self.bound), abs(self.objective))
        return abs(self.bound - self.objective) / scale if scale else 0.0

    @property
    def unfinished(self) -> bool:
        """Whether a limit ended the search before it was done."""
        return self.status in _UNFINISHED
