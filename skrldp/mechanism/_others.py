"""Which values of U are reported as "other"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skrldp.alphabet import OTHER, Column
from skrldp.mechanism._json_checks import malformed

__all__ = ["Others", "check_others"]

Others = bool | tuple[Any, ...] | None


def check_others(others: Any, values: Sequence[Any]) -> None:
    """Check that there is a value "other" where values are reported as such.

    Raises ValueError if they do not fit.
    """
    widths = [len(value) if isinstance(value, tuple) else 1 for value in values]
    width = widths[0]
    if set(widths) != {width}:
        raise malformed("other needs values of U that all have the same number of columns")
    if not isinstance(others, tuple) or len(others) != width:
        raise malformed(f"other must have an entry for each of the {width} columns of U")
    for place, entry in enumerate(others):
        if entry is None:
            continue
        column = Column.of_values(place, (v[place] if width > 1 else v for v in values))
        if column.other is None:
            raise malformed(f"column {place} of U has others, but no value {OTHER!r}")
        if entry is True:
            continue
        if not isinstance(entry, tuple) or not entry:
            raise malformed("each of other must be null, true, or a list of values")
        known = column.codes(entry)
        if (known >= 0).any() or len(Column.of_values(place, entry)) < len(entry):
            raise malformed("other has values that repeat, or are values of U as well")
    if width > 1 and all(entry is True for entry in others) and (OTHER,) * width not in values:
        raise malformed(f"U has no value in which all columns are {OTHER!r}")
