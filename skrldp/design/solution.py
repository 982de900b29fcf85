"""What a design returns."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Solution"]


@dataclass(frozen=True, eq=False)
class Solution:
    """A design and how it came about.

    Attributes
    ----------
    status : str
        ``"optimal"`` (the global optimum over the region, up to the solver's tolerance),
        ``"converged"`` (no improvement found), ``"time_limit"`` (the best found in time) or
        ``"closed form"``.
    solver : str
        The solver that made it.
    objective : float
        Value of the design before repair and rounding, in nats for mutual information.
    bound : float
        No mechanism that is private over the region has a better value.
    iterations : int
        Rounds of the solver.
    seconds : float
        Time taken.
    message : str
        What happened on the way, for a reader; empty if nothing did.
    matrix : array of shape (b, a) or None
        The design; None for closed forms.
    """

    status: str
    solver: str
    objective: float
    bound: float
    iterations: int
    seconds: float
    message: str = ""
    matrix: NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """Relative distance of the objective from the bound."""
        scale = max(abs(self.bound), abs(self.objective), 1e-300)
        return abs(self.bound - self.objective) / scale
