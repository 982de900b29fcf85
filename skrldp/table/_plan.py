"""What is to be learned from a public table: its columns' roles, and the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skrldp.table._columns import Given
from skrldp.table._grouping import Grouping

__all__ = ["MAX_CELLS", "Plan"]

MAX_CELLS = 1_000_000


@dataclass(frozen=True)
class Plan:
    """What :func:`learn` was asked for.

    Attributes
    ----------
    secrets, values : tuple of int
        Positions of the columns of S, and of U.
    given : sequence of tuple or None
        The categories that the user lists for each column; None to learn them.
    everything : bool
        Whether all combinations were asked for, with ``categories="product"``.
    grouping : Grouping
    max_cells : int
    advice : str
        Sentence for the message if there are more cells.
    """

    secrets: tuple[int, ...]
    values: tuple[int, ...]
    given: Sequence[Given]
    everything: bool
    grouping: Grouping
    max_cells: int = MAX_CELLS
    advice: str = ""

    def is_product(self, positions: Sequence[int]) -> bool:
        """Whether the alphabet of these columns is all combinations of their categories."""
        return self.everything or any(self.given[place] is not None for place in positions)

    def takes_others(self, position: int) -> bool:
        """Whether values of a column that are not listed become "other"."""
        return self.grouping.unknown and position in self.values
