"""A run of a design: what it returns, when it ends, and how far it has come."""

import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Deadline", "Progress", "Solution"]

_BAR = "{desc} |{bar:20}|{postfix}"
_UNLIMITED = "{desc}{postfix}"


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


class Deadline:
    """A moment after which no new work is begun.

    Parameters
    ----------
    seconds : float or None
        Time from now; None for no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self.start = time.perf_counter()
        self._end = None if seconds is None else self.start + seconds

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start

    @property
    def left(self) -> float | None:
        """Seconds that are left; None for no limit."""
        return None if self._end is None else max(self._end - time.perf_counter(), 0.0)

    @property
    def passed(self) -> bool:
        """Whether the moment has come."""
        return self.left == 0.0


class Progress:
    """A bar of the time that has gone, with the utility, its bound and the gap between them.

    Parameters
    ----------
    verbose : int
        Shows nothing unless positive.
    deadline : Deadline
        When the design ends.
    bound : float
        No mechanism tells more, in nats.
    """

    def __init__(self, verbose: int, deadline: Deadline, bound: float) -> None:
        self.deadline, self.bound, self.best = deadline, bound, 0.0
        self._bar: Any = None
        if verbose:
            from tqdm.auto import tqdm  # loaded when needed

            left = deadline.left
            form = _UNLIMITED if left is None else _BAR
            self._bar = tqdm(total=left, desc="[skrldp]", bar_format=form)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, information: float) -> None:
        """Say what the latest mechanism tells.

        Parameters
        ----------
        information : float
            I(X; Y) at the public law, in nats.
        """
        self.best = max(self.best, information)
        if self._bar is None:
            return
        gone, bar = self.deadline.elapsed, self._bar
        bar.n = gone if bar.total is None else min(gone, bar.total)
        bar.set_postfix_str(
            f"{gone:.0f} s, I(X;Y) {self.best:.4f} nats, bound {self.bound:.4f}, "
            f"gap {1.0 - self.best / self.bound:.0%}"
            if self.bound > 0
            else f"{gone:.0f} s"
        )
