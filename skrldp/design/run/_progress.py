"""A line that tells how far a design has come."""

import threading
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from skrldp.design.run._limits import Limits

__all__ = ["Progress", "Quantity"]

# How tqdm writes a line of progress: with a bar of 20 characters if there is a time limit.
_BAR = "{desc} |{bar:20}|{postfix}"
_UNLIMITED = "{desc}{postfix}"
_TICK = 1.0  # seconds after which a line of progress is written again


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
