"""A run of a design: its threads, limits, progress, bounds and solution.

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

For the last three :attr:`Solution.unfinished` is true: more work, or another solver, may do
better. Whatever the status, the mechanism is repaired and certified before it is released.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly
from skrldp._params import at_most

Item = TypeVar("Item")

# --- Numbers that all solvers share ---------------------------------------------------------------

# Numbers in the tables of one step of a search: some seconds. Twice as many take twice the time.
MOST_ENTRIES = 1 << 21
# Rounds of what ends by itself, nearly always sooner. Twice as many change nothing.
MOST_ROUNDS = 100
# Standard deviation of the logarithms of what a search perturbs. Twice as much loses .1 % at most.
SPREAD = 0.7

# Tolerances. All of them doubled at once, results change by .1 % at most.
ROUNDING = 1e-12  # what sums of probabilities lose by rounding, at most
TIGHT = 1e-8  # less is none to linear programs and paths, whose own tolerance is 1e-9
EQUAL = 1e-6  # relative distance of two objectives that are called equal
LITTLE = 1e-4  # part of an objective that is no loss: other mechanisms are as good
TOL = 1e-3  # sums of variances of designs for some ten tables differ by less from run to run

# --- Threads and limits ---------------------------------------------------------------------------
Result = TypeVar("Result")


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
            self._pool = ThreadPoolExecutor(self.number - 1, thread_name_prefix="skrldp")
        found: dict[int, Result] = {}
        left = deque(range(len(items)))

        def work() -> None:
            while True:
                try:
                    place = left.popleft()
                except IndexError:  # none is left
                    return
                try:
                    found[place] = function(items[place])
                except BaseException:
                    left.clear()
                    raise

        # The thread that calls works too: to wake another one takes as long as a short item.
        helpers = [self._pool.submit(work) for _ in range(min(self.number, len(items)) - 1)]
        try:
            work()
        finally:
            for helper in helpers:
                if not helper.cancel():
                    helper.result()
        return [found[place] for place in range(len(items))]

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


# Statuses of searches that a limit ended, and what the limit is called.
LIMITS = {"iteration_limit": "The limit of iterations", "time_limit": "The time limit"}

# Part of the time gone that the last mixture may take beyond the limit, so that the rows that were
# found last count. Twice as much lets designs end as much later.
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


# How tqdm writes a line of progress: with a bar of 20 characters if there is a time limit.
_BAR = "{desc} |{bar:20}|{postfix}"
_UNLIMITED = "{desc}{postfix}"
_TICK = 1.0  # seconds after which a line of progress is written again; twice as many look stuck


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


@dataclass(frozen=True)
class ObjectiveBound:
    """A value that no mechanism is better than."""

    value: float  # in the unit of the objective
    by: str  # where the value comes from, as a noun: it stands behind "bound:"


def least(bounds: Iterable[ObjectiveBound]) -> ObjectiveBound:
    """Take the least of several bounds on a quantity that is maximised."""
    return min(bounds, key=lambda bound: bound.value)


def distance_in_words(objective: float, bound: float, by: str) -> str:
    """Say how far an objective is from the optimum at most, and by which bound.

    The optimum is between the two. So the distance, as a share of the optimum, is at most the
    distance as a share of the bound, if both have one sign. A bound that is further away than its
    own size says nothing of use, and has no words.

    Examples
    --------
    >>> distance_in_words(0.75, 1.0, "entropy of U"), distance_in_words(3.0, 1.0, "records")
    ('at most 25 % below the best possible (bound: entropy of U)', '')
    """
    origin = f" (bound: {by})" if by else ""
    distance = abs(objective - bound)
    if distance <= EQUAL * abs(bound):
        return f"optimal to six digits{origin}"
    side = "below" if objective < bound else "above"
    if objective * bound <= 0.0:
        most = at_most(distance, ".3g")
    elif distance <= abs(bound):
        most = f"{float(at_most(100.0 * distance / abs(bound), '.3g')):g} %"
    else:
        return ""
    return f"at most {most} {side} the best possible{origin}"


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
