"""A run of a design: what it returns, when it ends, and how far it has come.

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
``"max_iter"``, ``"time_limit"``
    The limit of iterations, or that of time, ended the search; the mechanism is the best found by
    then, and the message begins with what was left to do.

For the last three :attr:`Solution.unfinished` is true: more work, or another solver, may do better.
Whatever the status, the mechanism is repaired and certified before it is released.
"""

import threading
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly
from skrldp.design._bound import distance_in_words
from skrldp.design._workers import Workers

__all__ = ["Limits", "Progress", "Solution", "ended_by"]

# How tqdm writes a line of progress: with a bar of 20 characters if there is a time limit.
_BAR = "{desc} |{bar:20}|{postfix}"
_UNLIMITED = "{desc}{postfix}"
_LIMITS = {"max_iter": "max_iter", "time_limit": "The time limit"}
_UNFINISHED = (*_LIMITS, "optimal_inaccurate")
_TICK = 1.0  # seconds after which a line of progress is written again
_LEAST_SCALE = 1e-300  # so that the gap of zero from zero is zero


@dataclass(frozen=True, eq=False)
class Solution(ReadOnly):
    """A design and how it came about.

    Attributes
    ----------
    status : str
        ``"optimal"``, ``"converged"``, ``"closed form"``, ``"optimal_inaccurate"``,
        ``"max_iter"`` or ``"time_limit"``; :mod:`skrldp.design._run` says what each means.
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
    """

    status: str
    solver: str
    objective: float
    bound: float
    iterations: int
    seconds: float
    message: str = ""
    matrix: NDArray[np.float64] | None = field(default=None, repr=False)
    bound_by: str = ""

    @property
    def gap_in_words(self) -> str:
        """How far the objective is from the bound, and from which bound."""
        return distance_in_words(self.objective, self.bound, self.bound_by)

    @property
    def gap(self) -> float:
        """Relative distance of the objective from the bound."""
        scale = max(abs(self.bound), abs(self.objective), _LEAST_SCALE)
        return abs(self.bound - self.objective) / scale

    @property
    def unfinished(self) -> bool:
        """Whether a limit ended the search before it was done."""
        return self.status in _UNFINISHED


class Limits:
    """What a design may take: time, iterations, and threads.

    Iterations are what the solvers count: Newton steps, rounds of linear programs. Without a limit
    of time a design is a function of its input; with one, it depends on the machine and its load.

    Parameters
    ----------
    seconds : float, optional
        Time from now; None for no limit.
    max_iter : int, optional
        Number of iterations; None for no limit.
    workers : Workers, optional
        Who does the work; None is the thread that calls.
    """

    def __init__(
        self,
        seconds: float | None = None,
        max_iter: int | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.start = time.perf_counter()
        self.workers = workers or Workers()
        self.iterations = 0
        self._end = None if seconds is None else self.start + seconds
        self._max_iter = max_iter
        self._whole: Limits | None = None

    def part(self, share: float) -> "Limits":
        """Limit to a share of what is left. Its iterations count here, too."""
        left, iterations = self.left, self.iterations_left
        part = Limits(
            None if left is None else left * share,
            None if iterations is None else int(iterations * share),
            self.workers,
        )
        part._whole = self
        return part

    def count(self, number: int = 1) -> None:
        """Count iterations."""
        self.iterations += number
        if self._whole is not None:
            self._whole.count(number)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start

    @property
    def left(self) -> float | None:
        """Seconds that are left; None for no limit."""
        return None if self._end is None else max(self._end - time.perf_counter(), 0.0)

    @property
    def iterations_left(self) -> int | None:
        """Iterations that are left; None for no limit."""
        return None if self._max_iter is None else max(self._max_iter - self.iterations, 0)

    @property
    def met(self) -> bool:
        """Whether one of the limits is met: no new work is begun."""
        return self.left == 0.0 or self.iterations_left == 0

    @property
    def status(self) -> str:
        """Status of a solution: the limit that was met, else ``"converged"``."""
        if self.left == 0.0:
            return "time_limit"
        return "max_iter" if self.met else "converged"


def ended_by(status: str, what: str) -> str:
    """Say that a limit ended a search, with a space behind it; nothing for other statuses."""
    return f"{_LIMITS[status]} ended {what}. " if status in _LIMITS else ""


class Quantity(Protocol):
    """What a design maximises or minimises, for readers."""

    name: str
    unit: str
    sense: int


class Progress:
    """A line on the time that has gone, with what was reached, its bound and the gap between them.

    It is written once a second, from the first one to the last, by a thread: whatever is computed
    meanwhile.

    Parameters
    ----------
    verbose : int
        Shows nothing unless positive.
    limits : Limits
        Of the design.
    quantity : object, optional
        What is maximised or minimised, with ``name``, ``unit`` and ``sense``: 1 or -1. None: the
        time alone is shown.

    Attributes
    ----------
    bound : float
        No mechanism is better; infinite as long as it is not known.
    stage : str
        What is being done, in a few words.
    """

    def __init__(self, verbose: int, limits: Limits, quantity: Quantity | None = None) -> None:
        self.limits, self.quantity = limits, quantity
        self.bound, self.best, self.stage = np.inf, np.nan, ""
        self._bar: Any = None
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        if verbose:
            from tqdm.auto import tqdm  # loaded when needed

            left = limits.left
            form = _UNLIMITED if left is None else _BAR
            self._bar = tqdm(total=left, desc="[skrldp]", bar_format=form)

    def __enter__(self) -> "Progress":
        if self._bar is not None:
            self._thread = threading.Thread(target=self._tick, name="skrldp", daemon=True)
            self._thread.start()
        return self

    def _tick(self) -> None:
        while True:
            self._write()
            if self._ended.wait(_TICK):
                return

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        if self._bar is not None:
            self._bar.close()

    def words(self, reached: float) -> str:
        """Write an amount of the quantity."""
        assert self.quantity is not None
        return f"{self.quantity.name} {reached:.5g} {self.quantity.unit}".rstrip()

    def show(self, reached: float) -> None:
        """Show the best mechanism so far."""
        assert self.quantity is not None
        better = np.fmax if self.quantity.sense > 0 else np.fmin
        self.best = float(better(self.best, reached))

    def _write(self) -> None:
        gone, bar = self.limits.elapsed, self._bar
        bar.n = gone if bar.total is None else min(gone, bar.total)
        words = [f"{gone:.0f} s", self.stage] if self.stage else [f"{gone:.0f} s"]
        if np.isfinite(self.best):
            words.append(self.words(self.best))
            least, greatest = sorted((self.best, self.bound))
            if 0 < greatest < np.inf:
                words += [f"bound {self.bound:.5g}", f"gap {1.0 - least / greatest:.0%}"]
        bar.set_postfix_str(", ".join(words))
