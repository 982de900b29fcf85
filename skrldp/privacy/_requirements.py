"""Requirements on the rows of a mechanism, and how far rows are from meeting them (Lemma 25)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from skrldp._typing import Floats, Indices
from skrldp.privacy._region import Region

__all__ = ["Requirement", "Requirements"]


@dataclass(frozen=True, eq=False)
class Requirement:
    """What a row must satisfy: privacy of some pairs of secrets over a region."""

    region: Region  # the secrets, the pairs of them that are compared, and their conditionals
    eps: float  # privacy parameter, in nats

    @property
    def n_pairs(self) -> int:
        """Number of pairs of secrets that are compared."""
        return len(self.region.pairs[0])

    @property
    def part_pairs(self) -> tuple[Indices, Indices]:
        """The parts of a row that are compared, each two once; two arrays of shape (m,).

        Where secrets share their part, pairs of secrets may say the same.
        """
        first, second = (self.region.rows.place[secret] for secret in self.region.pairs)
        pairs = np.unique(np.stack([first, second], axis=1), axis=0)
        return pairs[:, 0], pairs[:, 1]

    @property
    def everywhere(self) -> bool:
        """Whether it is for all distributions: a matter of greatest and least entries."""
        return self.region.is_everything


@dataclass(frozen=True, eq=False)
class Requirements:
    """All that a row must satisfy. The rows that do form a convex cone, with the all-ones row."""

    items: tuple[Requirement, ...]  # at least one; all are about the same rows
    # The rows as tables, of a part for each secret or one for all; see :attr:`shape`
    table: tuple[int, int] | None = None

    @classmethod
    def of(cls, region: Region, eps: float) -> "Requirements":
        """Make a list of one requirement."""
        return cls((Requirement(region, eps),))

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def only(self) -> Requirement | None:
        """The requirement, if there is no other; else None."""
        return self.items[0] if len(self.items) == 1 else None

    @property
    def of_whole_records(self) -> bool:
        """Whether every entry is a secret of its own, so that no distribution plays a part.

        A row is then private if its greatest entry is at most e^ε times its least.
        """
        one = self.only
        if one is None or one.region.compared is not None:
            return False
        return one.region.rows.parts.shape == (self.n_cells, 1)

    @property
    def n_cells(self) -> int:
        """Number of entries of a row."""
        return self.items[0].region.rows.n_cells

    @property
    def n_pairs(self) -> int:
        """Number of pairs of secrets that are compared, over all requirements."""
        return sum(one.n_pairs for one in self.items)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of parts of a row and of entries of each, whose product is :attr:`n_cells`.

        Searches begin with rows of this shape. Without a table it is that of the first requirement
        whose parts make up a row.
        """
        if self.table is not None:
            return self.table
        for one in self:
            if one.region.rows.in_order:
                parts, size = one.region.rows.parts.shape
                return int(parts), int(size)
        return 1, self.n_cells

    @cached_property
    def any_pair(self) -> bool:
        """Whether anything is compared; otherwise all rows will do."""
        return any(one.n_pairs for one in self.items)

    @cached_property
    def least_eps(self) -> float:
        """The least ε, in nats; infinite if nothing is compared."""
        return min((one.eps for one in self if one.n_pairs), default=np.inf)

    def at_most(self, eps: float) -> "Requirements":
        """Limit every ε, for the arithmetic of designs."""
        if all(one.eps <= eps for one in self):
            return self
        limited = tuple(replace(one, eps=min(one.eps, eps)) for one in self)
        return replace(self, items=limited)

    def describe(self) -> str:
        """Name the requirements, for messages."""
        return " and ".join(f"eps={one.eps:g} over {type(one.region).__name__}" for one in self)

    def fold(self, distribution: Floats) -> Floats:
        """Take the distribution of the entries of a row: of X, or of U if U alone is observed.

        Shapes: `distribution` (a1, a2); returns (n_cells,).
        """
        if distribution.size == self.n_cells:
            return distribution.ravel()
        return distribution.sum(axis=0)

    def shifts(
        self,
        rows: Floats,
        rounding: float = 0.0,
        callback: Callable[[int], None] | None = None,
    ) -> Floats:
        r"""Find what must be added to all entries of each row, so that it meets the requirements.

        If a row violates the privacy of a pair by at most δ, adding
        :math:`\delta/(e^\epsilon - 1)` to its entries makes it private for the pair, and so does
        anything more (docs/proofs.md, the repair lemma).

        Shapes: `rows` (b, ...); returns (b,).
        """
        shifts = np.zeros(len(rows))
        for one in self:
            needed = one.region.shifts(rows, one.eps, rounding, callback)
            shifts = np.maximum(shifts, needed)
        return shifts

    def shift(self, rows: Floats) -> Floats:
        """Lift rows until they meet the requirements, each by as little as it needs.

        Shapes: `rows` (b, n_cells). Returns (b, n_cells): private rows of unit sum.
        """
        unit = rows / rows.sum(axis=1, keepdims=True)
        return shifted(unit, self.shifts(unit))


def shifted(rows: Floats, shifts: Floats) -> Floats:
    """Add to all entries of each row, and scale it to unit sum."""
    higher = rows + shifts[:, None]
    return higher / higher.sum(axis=1, keepdims=True)
