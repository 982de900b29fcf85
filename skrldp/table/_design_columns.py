"""Columns of a table that say how its rows were drawn, apart from the record itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from skrldp.alphabet import plain
from skrldp.table._lazy import LazyTable, lazy_names
from skrldp.table._read import Table, lazy_frame, read_table
from skrldp.table._select import column_names, resolve_columns

__all__ = [
    "column_reader",
    "is_missing",
    "numbers_of",
    "row_contents",
    "take_rows",
    "weighted_rows",
    "with_columns",
    "with_values",
    "without_columns",
]


_MOST_ROWS = 1 << 23  # of a lazy frame, that are brought


def column_reader(X: Any, what: str) -> Callable[[Any], NDArray[Any]]:
    """Return a function that gives the values of a column, by name or position.

    The function raises ValueError if there is no such column.
    """
    table = read_table(X)

    def read(name: Any) -> NDArray[Any]:
        (place,) = resolve_columns(X, [name], what)
        return table.array(place)

    return read


def numbers_of(table: Table, place: int) -> NDArray[Any]:
    """Return the values of a column; of a category, texts of whole numbers become these numbers."""
    dtype = None if table.is_array else table.source[:, place].dtype
    if not isinstance(dtype, nw.Categorical | nw.Enum):
        return table.array(place)
    positions, distinct = table.factorize(place, slice(0, table.n_rows))
    numbers = [
        int(v) if isinstance(v, str) and v.isascii() and v.isdecimal() else v for v in distinct
    ]
    return np.array([*numbers, None], dtype=object)[positions]  # -1 is the last


def without_columns(X: Any, names: Sequence[Any], what: str) -> Any:
    """Return a table without some columns, in its own library; a `Table` stays one."""
    places = set(resolve_columns(X, list(names), what)) if names else set()
    left = [place for place in range(len(column_names(X))) if place not in places]
    if isinstance(X, Table):
        own = tuple(X.names[place] for place in left)
        return Table(X.source[:, left], own, X.n_rows, X.records)
    return with_columns(X, left)


def weighted_rows(X: Any, weights: Any, others: Sequence[Any]) -> tuple[Table, Any]:
    """Bring the distinct rows of a lazy frame, and sums of the weights of the records of each.

    The column of weights is left out, unless it is one of `others`. Returns as
    :meth:`LazyTable.weighted_rows`. Raises ValueError if a column is not there or holds no numbers,
    or there are too many distinct rows.
    """
    frame = lazy_frame(X)
    assert frame is not None
    lazy = LazyTable.of(frame)
    own = () if weights is None else resolve_columns(X, [weights], "survey", lazy.names)
    if own and not lazy.dtypes[own[0]].is_numeric():
        raise ValueError(f"column {weights!r} of weights must hold numbers.")
    kept = resolve_columns(X, list(others), "survey", lazy.names) if others else ()
    places = [place for place in range(len(lazy.names)) if place not in own or place in kept]
    n_rows = lazy.n_combinations(places)
    if n_rows > _MOST_ROWS:
        raise ValueError(
            f"the survey has {n_rows:,} different records within strata and clusters, and at most "
            f"{_MOST_ROWS:,} are brought. Use fewer columns, or coarser categories."
        )
    return lazy.weighted_rows(own[0] if own else None, places, _MOST_ROWS)


def with_columns(X: Any, places: Sequence[int]) -> Any:
    """Return some columns of a table or lazy frame, by their places, in its own library."""
    lazy = lazy_frame(X)
    if lazy is not None:
        names = lazy_names(lazy)
        return lazy.select([names[place] for place in places]).to_native()
    table = read_table(X)
    found = table.source[:, list(places)]
    return found if table.is_array else found.to_native()


def with_values(X: Any, values: Mapping[int, NDArray[Any]]) -> Any:
    """Return a table with other values in some columns, by their places, in its own library."""
    table = read_table(X)
    if table.is_array:
        dtype = np.result_type(table.source, *values.values())
        found = table.source.astype(dtype, copy=True)
        for place, column in values.items():
            found[:, place] = column
        return found
    frame = table.source
    columns = [
        nw.new_series(table.names[place], column, backend=frame.implementation)
        for place, column in values.items()
    ]
    return frame.with_columns(*columns).to_native()


def is_missing(X: Any, places: Sequence[int]) -> NDArray[np.bool_]:
    """Tell which rows lack a value in one of some columns, shape (n,)."""
    table = read_table(X)
    found = np.zeros(table.n_rows, dtype=bool)
    for place in places:
        positions, distinct = table.factorize(place, slice(0, table.n_rows))
        none = np.array([*(plain(value) is None for value in distinct), True])
        found |= none[positions]  # -1 is the last
    return found


def take_rows(X: Any, kept: NDArray[np.bool_]) -> Any:
    """Return some rows of a table, in its own library."""
    table = read_table(X)
    if table.is_array:
        return table.source[kept]
    return table.source[np.flatnonzero(kept).tolist(), :].to_native()


def row_contents(X: Any) -> list[bytes]:
    """Write each row as bytes that do not depend on other rows, nor on the library.

    Two rows have the same bytes if their values are the same.
    """
    table = read_table(X)
    columns = [_column_contents(table, place) for place in range(len(table.names))]
    return [b"".join(row) for row in zip(*columns, strict=True)]


def _column_contents(table: Table, place: int) -> list[bytes]:
    positions, distinct = table.factorize(place, slice(0, table.n_rows))
    written = [_written(plain(value)) for value in distinct]
    missing = _written(None)
    return [missing if place < 0 else written[place] for place in positions.tolist()]


def _written(value: Any) -> bytes:
    text = f"{type(value).__name__} {value!r}".encode()
    return len(text).to_bytes(8, "big") + text
