"""Time, iterations and threads of a design, and the tolerances that all solvers share."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from joblib import effective_n_jobs

Item = TypeVar("Item")
Result = TypeVar("Result")

# --- Numbers that all solvers share ---------------------------------------------------------------

# Maximum array entries in one step of a search: some seconds. Twice as many take twice the time.
MOST_ENTRIES = 1 << 21
# Maximum number of rounds; searches nearly always end sooner. Twice as many change nothing.
MOST_ROUNDS = 100
# Standard deviation of the logarithms of what a search perturbs. Twice as much loses .1 % at most.
SPREAD = 0.7

# Tolerances. All of them doubled at once, results change by .1 % at most.
ROUNDING = 1e-12  # what sums of probabilities lose by rounding, at most
TIGHT = 1e-8  # smaller values count as zero in programs and paths, whose tolerance is 1e-9
EQUAL = 1e-6  # relative distance of two objectives that are called equal
LITTLE = 1e-4  # part of an objective that is no loss: other mechanisms are as good
TOL = 1e-3  # sums of variances of designs for some ten tables differ by less from run to run

# --- Threads and limits --------------------------------------------------------------------------


class Workers:
    """Threads that do parts of a work at the same time.

    NumPy releases the interpreter's lock while it computes, so threads suffice. Nothing here
    depends on their number but the time.

    Parameters
    ----------
    n_jobs : int or None
        As scikit-learn has it: None is 1 unless in a :func:`joblib.parallel_config` context, -1
        is all processors.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.number = effective_n_jobs(n_jobs)
        self._pool: ThreadPoolExecutor | None = None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Call a function with each item.

        Returns list: what it returned, in the order of the items.
        """
        items = list(items)
        if self.number == 1 or len(items) < 2:
            return [function(item) for item in items]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.number, thread_name_prefix="skrldp")
        return list(self._pool.map(function, items))

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


# Statuses of searches that a limit ended, and what the limit is called.
LIMITS = {"iteration_limit": "The limit of iterations", "time_limit": "The time limit"}

# Seconds for a design that is a part of a larger work; None where a design is all there is.
_seconds: ContextVar[float | None] = ContextVar("seconds", default=None)


@contextmanager
def part_of_larger_work(seconds: float = math.inf) -> Iterator[None]:
    """Limit the time of designs, and show no progress of each: the larger work shows its own."""
    token = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(token)


def shortened(seconds: float | None) -> float | None:
    """Return a time limit in seconds, or that of a part of a larger work if this is shorter."""
    least = min(math.inf if limit is None else limit for limit in (seconds, _seconds.get()))
    return None if least == math.inf else least


class Limits:
    """What a design may take: time, iterations, and threads.

    Iterations are what the solvers count: Newton steps, rounds of linear programs. Without a limit
    of time a design is a function of its input; with one, it depends on the machine and its load.

    Parameters
    ----------
    seconds : float, optional
        Time from now; None for no limit.
    most_iterations : int, optional
        Number of iterations; None for no limit.
    workers : Workers, optional
        Who does the work; None is the thread that calls.
    """

    def __init__(
        self,
        seconds: float | None = None,
        most_iterations: int | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.start = time.perf_counter()
        self.alone = _seconds.get() is None
        self.workers = workers or Workers()
        self.iterations = 0
        self._end = None if seconds is None else self.start + seconds
        self._most = most_iterations
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
        return None if self._most is None else max(self._most - self.iterations, 0)

    @property
    def met(self) -> bool:
        """Whether one of the limits is met: no new work is begun."""
        return self.left == 0.0 or self.iterations_left == 0

    @property
    def status(self) -> str:
        """Status of a solution: the limit that was met, else ``"converged"``."""
        if self.left == 0.0:
            return "time_limit"
        return "iteration_limit" if self.met else "converged"


def ended_by(status: str, what: str) -> str:
    """State that a limit ended a search, with a trailing space; nothing for other statuses."""
    return f"{LIMITS[status]} ended {what}. " if status in LIMITS else ""
