"""How far a design has come, for those who wait."""

from types import TracebackType
from typing import Any

from skrldp.design.cone import Deadline

__all__ = ["Progress"]

_BAR = "{desc} |{bar:20}|{postfix}"
_UNLIMITED = "{desc}{postfix}"


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
