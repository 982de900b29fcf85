"""Pairs of secrets with what they may violate privacy by, and how far that shifts a row."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skrldp._arrays import LARGEST_EXPONENT, Batch
from skrldp._typing import Floats, Indices

__all__ = ["WorstPairs", "odds_factor", "shifts_of"]


# By how much more than needed rows are shifted, relatively: covers rounding. Twice as much costs
# utility of the same order.
_MARGIN = 1e-9


def odds_factor(eps: float | Floats) -> Any:
    """Return exp(ε), or less where that would overflow: bounds are then too large."""
    return np.exp(np.minimum(eps, LARGEST_EXPONENT))


def shifts_of(bound: Floats, eps: Floats) -> Floats:
    r"""Find what to add to rows so that they are private for pairs of secrets.

    If a row violates the privacy of a pair by at most δ, adding
    :math:`\delta/(e^\epsilon - 1)` to all its entries makes it private for the pair, and so
    does anything more (docs/proofs.md, the repair lemma).
    """
    return bound * (1.0 + _MARGIN) / np.expm1(np.minimum(eps, LARGEST_EXPONENT))


@dataclass(frozen=True)
class WorstPairs(Batch):
    """Pairs of secrets and how much they may violate privacy in some row, one entry each."""

    # row, first, second: (m,), row of the mechanism and the two secrets
    row: Indices
    first: Indices
    second: Indices
    # (m,), upper bound on ``R1 . v[first] - exp(eps) R2 . v[second]`` over the region.
    bound: Floats
    eps: Floats  # (m,), ε of the pair, in nats
    conditionals: Floats | None  # (m, 2, k), conditionals of the region that nearly attain it

    @property
    def shifts(self) -> Floats:
        """What to add to the rows so that they are private for these pairs, shape (m,)."""
        return shifts_of(self.bound, self.eps)

    @property
    def odds_room(self) -> Floats:
        """The height for a violation by exp(ε), shape (m,)."""
        return odds_factor(self.eps) / np.expm1(np.minimum(self.eps, LARGEST_EXPONENT))

    def per_row(self, n_rows: int) -> Floats:
        """Greatest height of each row; 0 for a row without entries.

        Shapes: returns (n_rows,).
        """
        greatest = np.zeros(n_rows)
        np.maximum.at(greatest, self.row, self.shifts)
        return greatest
