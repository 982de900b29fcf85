"""Work that is shared among threads, with results that do not depend on their number."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import effective_n_jobs

__all__ = ["Workers"]

Item = TypeVar("Item")
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
