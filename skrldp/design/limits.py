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

# Maximum array entries in one step of a search, which takes a few seconds. Doubling it doubles the
# time.
MOST_ENTRIES = 1 << 21
# Maximum number of rounds; searches nearly always end sooner. Doubling it changes nothing.
MOST_ROUNDS = 100
# Scale of the log-normal perturbation in searches. Doubling it loses at most 0.1 %.
SPREAD = 0.7

# Tolerances. Doubling all of them at once changes results by at most 0.1 %.
ROUNDING = 1e-12  # maximum rounding error of sums of probabilities
TIGHT = 1e-8  # smaller values count as zero in programs and paths, whose tolerance is 1e-9
EQUAL = 1e-6  # relative distance at which two objectives count as equal
LITTLE = 1e-4  # negligible relative loss of an objective
TOL = 1e-3  # results of different runs differ by less: sums of variances, for about ten tables

# --- Threads and limits --------------------------------------------------------------------------


class Workers:
    """Threads that execute tasks in parallel.

    NumPy releases the interpreter's lock while it computes, so threads are sufficient. Their number
    affects only the time.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn: None means 1 unless in a :func:`joblib.parallel_config` context, and -1
        means all processors.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.number = effective_n_jobs(n_jobs)
        self._pool: ThreadPoolExecutor | None = None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Call a function with each item.

        Returns list of results, in the order of the items.
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


# Statuses of searches that were ended by a limit, with the limit's name.
LIMITS = {"iteration_limit": "The limit of iterations", "time_limit": "The time limit"}

# Seconds for a design that is part of a larger task; None otherwise.
_seconds: ContextVar[float | None] = ContextVar("seconds", default=None)


@contextmanager
def part_of_larger_work(seconds: float = math.inf) -> Iterator[None]:
    """Limit the time of designs, and hide their progress because the larger task shows its own."""
    token = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(token)


def shortened(seconds: float | None) -> float | None:
    """Return a time limit in seconds, or that of the larger task if this is shorter."""
    least = min(math.inf if limit is None else limit for limit in (seconds, _seconds.get()))
    return None if least == math.inf else least


class Limits:
    """The limits of a design: time, iterations, and threads.

    Iterations are counted by the solvers: Newton steps, rounds of linear programs. Without a time
    limit a design is a function of its input; with one, it depends on the machine and its load.

    Parameters
    ----------
    seconds : float, optional
        Time limit from now; None for no limit.
    most_iterations : int, optional
        Number of iterations; None for no limit.
    workers : Workers, optional
        The threads; by default, the calling thread.
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
        """Return limits with a share of the remaining time, and count their iterations here too."""
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
        """Remaining seconds; None for no limit."""
        return None if self._end is None else max(self._end - time.perf_counter(), 0.0)

    @property
    def iterations_left(self) -> int | None:
        """Remaining iterations; None for no limit."""
        return None if self._most is None else max(self._most - self.iterations, 0)

    @property
    def met(self) -> bool:
        """Whether one of the limits is reached, so that no new work begins."""
        return self.left == 0.0 or self.iterations_left == 0

    @property
    def status(self) -> str:
        """Status of a solution: the limit that was reached, otherwise ``"converged"``."""
        if self.left == 0.0:
            return "time_limit"
        return "iteration_limit" if self.met else "converged"


def ended_by(status: str, what: str) -> str:
    """State that a limit ended a search, with a trailing space; empty for other statuses."""
    return f"{LIMITS[status]} ended {what}. " if status in LIMITS else ""
