"""A column of which equal values are written once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Factorized"]


@dataclass(frozen=True, eq=False, repr=False)
class Factorized:
    """A column as positions into its distinct values."""

    positions: NDArray[Any]  # (n,), each row's place in `distinct`; -1 if its value is missing
    # Python scalars, or what :func:`plain` makes into such. Values that no row has, and values that
    # are there twice, do no harm.
    distinct: Sequence[Any] | NDArray[Any]

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, row: int) -> Any:
        place = int(self.positions[row])
        return None if place < 0 else self.distinct[place]

    def spread(self, found: NDArray[Any], missing: Any) -> NDArray[Any]:
        """Give each row what was found for its value.

        Shapes: `found` (len(distinct),); returns (n,).
        """
        return np.append(found, found.dtype.type(missing))[self.positions]
