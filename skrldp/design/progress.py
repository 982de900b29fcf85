"""A progress line on the terminal, for searches that last more than two seconds."""

import sys
import threading
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from skrldp.design.limits import Limits
from skrldp.design.solution import relative_gap

# Seconds before the first line, and between two lines. If they are doubled, a search looks stuck.
_FIRST, _TICK = 2.0, 1.0


class Quantity(Protocol):
    """The quantity that a design optimises, for display."""

    name: str
    unit: str
    sense: int


class Progress:
    """A line with the seconds, the stage, and the best mechanism so far with its gap.

    A thread writes it to stderr once a second during the computation. Nothing is written if stderr
    is not a terminal, because a log would keep every line.

    Parameters
    ----------
    limits : Limits
        The limits of the design.
    quantity : object
        The optimised quantity, with ``name``, ``unit`` and ``sense``: 1 or -1.

    Attributes
    ----------
    bound : float
        Bound on the quantity for every mechanism; infinite while it is unknown.
    stage : str
        The current stage, in a few words.
    """

    def __init__(self, limits: Limits, quantity: Quantity) -> None:
        self.limits, self.quantity = limits, quantity
        self.bound, self.best, self.stage = np.inf, np.nan, ""
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "Progress":
        if self.limits.alone and sys.stderr is not None and sys.stderr.isatty():
            self._thread = threading.Thread(target=self._run, name="skrldp", daemon=True)
            self._thread.start()
        return self

    def _run(self) -> None:
        if self._ended.wait(_FIRST):
            return
        from tqdm import tqdm  # imported only if needed

        left = self.limits.left
        total = None if left is None else left + self.limits.elapsed
        form = "{desc}{postfix}" if total is None else "{desc} |{bar:20}|{postfix}"
        with tqdm(total=total, desc="[skrldp]", bar_format=form, leave=False) as bar:
            while True:
                self._write(bar)
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

    def words(self, reached: float) -> str:
        """Format an amount of the quantity."""
        return f"{self.quantity.name} {reached:.5g} {self.quantity.unit}".rstrip()

    def show(self, reached: float) -> None:
        """Show the best mechanism so far."""
        better = np.fmax if self.quantity.sense > 0 else np.fmin
        self.best = float(better(self.best, reached))

    def _write(self, bar: Any) -> None:
        elapsed = self.limits.elapsed
        bar.n = elapsed if bar.total is None else min(elapsed, bar.total)
        words = [f"{elapsed:.0f} s", self.stage] if self.stage else [f"{elapsed:.0f} s"]
        if np.isfinite(self.best):
            words.append(self.words(self.best))
            if np.isfinite(self.bound) and (gap := relative_gap(self.best, self.bound)) <= 1.0:
                words.append(f"gap {gap:.0%}")
        bar.set_postfix_str(", ".join(words))
