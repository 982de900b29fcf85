"""Arrow's dictionaries, of which each chunk of a column may have its own."""

from __future__ import annotations

from typing import Any

__all__ = ["decoded", "one_dictionary", "values_of", "without_views"]


def without_views(column: Any) -> Any:
    """Cast types for which Arrow lacks functions."""
    import pyarrow as pa

    name = str(column.type)
    if name in ("string_view", "binary_view"):
        return column.cast(pa.large_string() if name == "string_view" else pa.large_binary())
    return column


def values_of(column: Any) -> Any:
    """Return the values of a dictionary column's rows, which may be a dictionary column again."""
    return without_views(column.dictionary).take(column.indices)


def decoded(column: Any) -> Any:
    """Return an Arrow column, in chunks or not, in chunks without dictionaries.

    NumPy's array of a dictionary has the last value in place of a missing one.
    """
    import pyarrow as pa

    while pa.types.is_dictionary(column.type):
        held = without_views(pa.nulls(0, column.type.value_type)).type
        chunks = getattr(column, "chunks", [column])
        column = pa.chunked_array([values_of(chunk) for chunk in chunks], held)
    return column


def one_dictionary(column: Any) -> Any:
    """Give the chunks of an Arrow column one dictionary, with codes that are wide enough.

    Arrow keeps the width of the chunks' codes, and unites no dictionaries with missing values.
    """
    if column.num_chunks == 1 or not hasattr(column.type, "index_type"):
        return column
    return decoded(column).dictionary_encode()
