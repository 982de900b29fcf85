"""What a design may take: time, iterations, and threads."""

import time

from skrldp.design.run._workers import Workers

__all__ = ["LIMITS", "Limits", "ended_by"]

# Statuses of searches that a limit ended, and what the limit is called.
LIMITS = {"iteration_limit": "The limit of iterations", "time_limit": "The time limit"}

# Part of the time gone that the last mixture may take beyond the limit, so that the rows that were
# found last count. Chosen by hand.
_OVERTIME = 0.2


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
    def overtime(self) -> float:
        """Seconds beyond the limit that the last mixture may take."""
        return _OVERTIME * self.elapsed

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
    """Say that a limit ended a search, with a space behind it; nothing for other statuses."""
    return f"{LIMITS[status]} ended {what}. " if status in LIMITS else ""
