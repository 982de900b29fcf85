"""What the central path asks of each requirement: a block of constraints on every row."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from skrldp._typing import Floats
from skrldp.design.programs import Cuts

__all__ = ["Block", "Kind", "LowRank", "by_row", "dual_step"]

# A kind of positive variable, its step, its multiplier and that one's step.
Kind = tuple[Floats, Floats, Floats, Floats]


class LowRank(NamedTuple):
    """Hessians that are diagonal but for forms in few functions of a row."""

    diagonal: Floats  # (b, a), the diagonal
    basis: Floats  # (b, r, a), the functions
    form: Floats  # (b, r, r), a quadratic form in their values


class Block(ABC):
    """One requirement on all rows, with variables of its own and their multipliers.

    The variables occur in this requirement alone, so they are eliminated from the Newton equations:
    what is left is a Hessian and a gradient for each row.
    """

    @abstractmethod
    def start(self, rows: Floats, mean: float) -> None:
        """Choose variables that are strictly inside, and multipliers.

        Shapes: `rows` (b, a).
        """

    @abstractmethod
    def scale_multipliers(self, factor: float) -> None:
        """Multiply all multipliers by a number."""

    @abstractmethod
    def variables(self, rows: Floats) -> list[tuple[Floats, Floats]]:
        """Return the positive variables, each kind with its multipliers.

        Shapes: `rows` (b, a).
        """

    @abstractmethod
    def hessian(self, rows: Floats) -> Floats:
        """Linearise the requirement.

        Shapes: `rows` (b, a). Returns (b, a, a): what it adds to the Hessian of each row.
        """

    def low_rank(self, rows: Floats) -> LowRank | None:
        """Linearise the requirement as :meth:`hessian` does, where that is of low rank.

        Shapes: `rows` (b, a). Returns LowRank or None: where it is not, nothing is done.
        """
        return None

    @abstractmethod
    def gradient(self, targets: Sequence[Floats]) -> Floats:
        """Eliminate the block's own variables from the right-hand side.

        Returns (b, a): what the requirement adds to the gradient of each row.
        """

    @abstractmethod
    def step(self, rows: Floats) -> list[Kind]:
        """Find the steps of the block's own variables from that of the rows.

        Shapes: `rows` (b, a). Returns list of Kind: the positive variables and multipliers with
        their steps.
        """

    @abstractmethod
    def correct(self, length: float) -> None:
        """Aim at what a part of the last step would miss because the requirement is curved.

        The next gradient and step use it: a second-order correction (Nocedal and Wright,
        section 18.3). A linear requirement needs none.
        """

    @abstractmethod
    def undo_correction(self) -> None:
        """Aim at what was aimed at before the last correction."""

    @abstractmethod
    def take(self, length: Floats, dual_length: Floats) -> None:
        """Take a part of the last step.

        Shapes: `length` and `dual_length` (b,).
        """

    @abstractmethod
    def cuts(self, rows: Floats) -> tuple[Cuts, Floats]:
        """Write the multipliers as cuts and the dual variables of these.

        Shapes: `rows` (b, a). Returns `cuts`: with conditionals of the region; `multipliers` (m,):
        in units of the path's cost.
        """


def by_row(of_rows: Floats, like: Floats) -> Floats:
    """Shape what each row has so that it is broadcast along all else.

    Shapes: `of_rows` (b,); `like` (b, ...); returns (b, 1, ..., 1).
    """
    return of_rows.reshape(-1, *(1,) * (like.ndim - 1))


def dual_step(target: Floats, amount: Floats, step: Floats, dual: Floats) -> Floats:
    """Find the step of a multiplier, so that its product with the variable is what is aimed at.

    Shapes: `target` and `amount` and `step` and `dual` (b, ...).
    """
    found: Floats = (target - dual * step) / amount - dual
    return found
