"""Indexes of pandas, which go with the rows of a frame into what is made of it."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

__all__ = ["own_index", "refuse_index"]


def refuse_index(frame: Any, columns: Container[Any]) -> None:
    """Refuse a pandas frame that has one of some columns as its index, which would leave.

    Raises ValueError; frames of other libraries have no index.
    """
    # Of the type: a frame of Spark Connect gives a column for any name.
    own = frame.index if hasattr(type(frame), "index") else None
    names = getattr(own, "names", None) or ()
    raw = [repr(name) for name in names if name is not None and name in columns]
    if raw:
        raise ValueError(
            f"the index is the column {', '.join(raw)}, which is to be reported: beside the "
            "report, it would itself leave as it is. Give the records another index, as "
            "frame.reset_index() does. Nothing was reported."
        )


def own_index(index: Any) -> Any:
    """Return pandas' index without the labels of rows that were filtered out."""
    if hasattr(index, "levels"):
        index = index.remove_unused_levels()
        return index.set_levels([own_index(level) for level in index.levels])
    return getattr(index, "remove_unused_categories", lambda: index)()
