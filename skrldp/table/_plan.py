"""What is to be learned from a public table: its columns' roles, and the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skrldp.table._columns import Given
from skrldp.table._grouping import Grouping

__all__ = ["MAX_CELLS", "LearningPlan"]

MAX_CELLS = 1_000_000


@dataclass(frozen=True)
class LearningPlan:
    """What :func:`learn` was asked for."""

    # secrets, values: Positions of the columns of S, and of U
    secrets: tuple[int, ...]
    values: tuple[int, ...]
    given: Sequence[Given]  # the categories that the user gives for each column; None to learn them
    everything: bool  # whether all combinations were asked for, with ``categories="product"``
    grouping: Grouping
    max_cells: int = MAX_CELLS
    advice: str = ""  # sentence for the message if there are more cells

    def is_product(self, positions: Sequence[int]) -> bool:
        """Whether the alphabet of these columns is all combinations of their categories."""
        return self.everything or any(self.given[place] is not None for place in positions)

    def takes_others(self, position: int) -> bool:
        """Whether values of a column that are not listed become "other"."""
        return self.grouping.unknown and position in self.values
