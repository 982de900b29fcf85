"""Frames of some libraries: pandas' indexes, Arrow's dictionaries, narwhals' plugins."""

from __future__ import annotations

from collections.abc import Container
from typing import Any


def refuse_index(frame: Any, columns: Container[Any]) -> None:
    """Reject a pandas frame with one of the given columns in its index, which the output keeps.

    Raises ValueError; frames of other libraries have no index.
    """
    # Check the type, because a Spark Connect frame returns a column for any attribute.
    index = frame.index if hasattr(type(frame), "index") else None
    names = getattr(index, "names", None) or ()
    raw = [repr(name) for name in names if name is not None and name in columns]
    if raw:
        raise ValueError(
            f"the index contains {', '.join(raw)}, which the mechanism reports, so the output "
            "would keep its values beside the reports. Use a different index, for example "
            "frame.reset_index(). Nothing was reported."
        )


def own_index(index: Any) -> Any:
    """Return a pandas index without labels of rows that were filtered out."""
    if hasattr(index, "levels"):
        index = index.remove_unused_levels()
        return index.set_levels([own_index(level) for level in index.levels])
    return getattr(index, "remove_unused_categories", lambda: index)()


def without_views(column: Any) -> Any:
    """Cast types for which Arrow lacks functions."""
    import pyarrow as pa

    name = str(column.type)
    if name in ("string_view", "binary_view"):
        return column.cast(pa.large_string() if name == "string_view" else pa.large_binary())
    return column


def values_of(column: Any) -> Any:
    """Return the values of a dictionary column's rows, which may again be a dictionary column."""
    return without_views(column.dictionary).take(column.indices)


def decoded(column: Any) -> Any:
    """Return an Arrow column, chunked or not, as a chunked array without dictionaries.

    NumPy's array of a dictionary has the last value in place of missing ones.
    """
    import pyarrow as pa

    while pa.types.is_dictionary(column.type):
        value_type = without_views(pa.nulls(0, column.type.value_type)).type
        chunks = getattr(column, "chunks", [column])
        column = pa.chunked_array([values_of(chunk) for chunk in chunks], value_type)
    return column


def one_dictionary(column: Any) -> Any:
    """Unify the dictionaries of an Arrow column's chunks, with sufficiently wide codes.

    Arrow keeps the width of the chunks' codes, and cannot unify dictionaries with missing values.
    """
    if column.num_chunks == 1 or not hasattr(column.type, "index_type"):
        return column
    return decoded(column).dictionary_encode()


_PLUGINS = {"dask": "narwhals-dask"}


def refuse_without_plugin(frame: Any) -> None:
    """Raise an error with the required package, for a frame that narwhals cannot read.

    Raises TypeError if a package is missing.
    """
    library = type(frame).__module__.partition(".")[0]
    if library in _PLUGINS:
        plugin = _PLUGINS[library]
        raise TypeError(
            f"narwhals does not read this frame of {library} without the package {plugin!r}: "
            f"pip install {plugin}, or narwhals 2.29, which does not need it."
        )
