"""Selection of columns of a table: the record's, and those of the sampling design."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from skrldp.alphabet.categories import listed
from skrldp.alphabet.values import plain
from skrldp.table.lazy import LazyTable, lazy_names
from skrldp.table.read import Table, lazy_frame, read_table


def column_names(X: Any) -> list[Any]:
    """Return the names of a table's columns; indices for an array.

    Examples
    --------
    >>> column_names([["no", 1], ["yes", 2]])
    [0, 1]
    """
    return list(read_table(X).names)


def resolve_columns(
    X: Any, selection: Any, label: str = "sensitive", names: Sequence[Any] | None = None
) -> tuple[int, ...]:
    """Find the indices of the columns that a parameter selects; `names` are those of X, if known.

    Returns tuple of int: in table order, without duplicates. Raises ValueError if there is no such
    column, or none is selected. Raises TypeError if the selection is of a different kind.

    Examples
    --------
    >>> resolve_columns([["no", 1, 2.5]], [-1, 0])
    (0, 2)
    """
    if names is None:
        lazy = lazy_frame(X)
        names = column_names(X) if lazy is None else lazy_names(lazy)
    names = list(names)
    if callable(selection):
        selection = selection(X)
    positions = _selected(selection, names, label)
    if not positions:
        raise ValueError(
            f"{label}={selection!r} selects no column; the columns are [{listed(names)}]"
        )
    return tuple(sorted(set(positions)))


def _selected(selection: Any, names: list[Any], label: str) -> list[int]:
    if isinstance(selection, slice):
        start, stop = selection.start, selection.stop
        if isinstance(start, str):
            start = _position(start, names, label)
        if isinstance(stop, str):
            stop = _position(stop, names, label) + 1  # a slice of names includes its end
        return list(range(len(names)))[start : stop : selection.step]
    if isinstance(selection, str) or not isinstance(selection, Iterable):
        return [_position(selection, names, label)]
    items = list(selection)
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != len(names):
            raise ValueError(
                f"{label} is a mask of {len(items)} values, but there are {len(names)} columns"
            )
        return [position for position, selected in enumerate(items) if selected]
    return [_position(item, names, label) for item in items]


def _position(selection: Any, names: list[Any], label: str) -> int:
    if isinstance(selection, bool) or not isinstance(selection, str | Integral):
        raise TypeError(
            f"{label} must be a column name or position, a list of them, a slice, a boolean mask "
            f"or a callable, got {selection!r}"
        )
    if isinstance(selection, str):
        if selection in names:
            return names.index(selection)
    elif -len(names) <= int(selection) < len(names):
        position = int(selection) % len(names)
        if selection in names and names.index(selection) != position:
            raise ValueError(
                f"{label} column {selection!r} is ambiguous: it may be the column of this name, or "
                f"the one at this position, {names[position]!r}. The columns are "
                f"[{listed(names)}]. Rename them to strings with X.rename(columns=str), and pass "
                "names."
            )
        return position
    message = f"{label} column {selection!r} not found; the columns are [{listed(names)}]"
    if isinstance(selection, str) and names == list(range(len(names))):
        message += (
            ": the table's columns have no names. Pass a position; or, in a Pipeline, keep the "
            "names in earlier steps with .set_output(transform='pandas')"
        )
    raise ValueError(message)


# --- Columns that say how rows were drawn ---------------------------------------------------------


_MOST_ROWS = 1 << 23  # maximum rows of a lazy frame that are fetched


def column_reader(X: Any, label: str) -> Callable[[Any], NDArray[Any]]:
    """Return a function that returns the values of a column by name or index.

    The function raises ValueError if there is no such column.
    """
    table = read_table(X)

    def read(name: Any) -> NDArray[Any]:
        (position,) = resolve_columns(X, [name], label)
        return table.array(position)

    return read


def numbers_of(table: Table, position: int) -> NDArray[Any]:
    """Return the values of a column; strings of integers in a categorical become integers."""
    dtype = None if table.is_array else table.source[:, position].dtype
    if not isinstance(dtype, nw.Categorical | nw.Enum):
        return table.array(position)
    positions, distinct = table.factorize(position, slice(0, table.n_rows))
    numbers = [
        int(v) if isinstance(v, str) and v.isascii() and v.isdecimal() else v for v in distinct
    ]
    return np.array([*numbers, None], dtype=object)[positions]  # -1 reads the last


def whole_numbers(table: Table, position: int, size: int) -> NDArray[np.int64]:
    """Read a column of the numbers 0, ..., size - 1, shape (n,): -1 for anything else."""
    column = numbers_of(table, position)
    if column.dtype.kind == "O":
        of_numbers: Any = Real | Decimal | np.bool_
        column = np.array(
            [v if isinstance(v, of_numbers) and v == v and 0 <= v < size else -1 for v in column],
            dtype=float,
        )
    if column.dtype.kind not in "biuf" or column.ndim > 1:
        return np.full(table.n_rows, -1)
    numbers = column.astype(float)  # -1 does not fit into an unsigned dtype
    is_known = (numbers >= 0.0) & (numbers < size) & (np.floor(numbers) == numbers)
    return np.where(is_known, numbers, -1.0).astype(np.int64)


def without_columns(X: Any, names: Sequence[Any], label: str) -> Any:
    """Return a table without given columns, in its library; a `Table` remains one."""
    dropped = set(resolve_columns(X, list(names), label)) if names else set()
    left = [position for position in range(len(column_names(X))) if position not in dropped]
    return X.of_columns(left) if isinstance(X, Table) else with_columns(X, left)


def weighted_rows(X: Any, weights: Any, extra: Sequence[Any]) -> tuple[Table, Any]:
    """Fetch the distinct rows of a lazy frame, and sums of the weights of the records of each.

    The column of weights is omitted, unless it is one of `extra`. Returns as
    :meth:`LazyTable.weighted_rows`. Raises ValueError if a column is missing or not numeric, or
    there are too many distinct rows.
    """
    frame = lazy_frame(X)
    assert frame is not None
    lazy = LazyTable.of(frame)
    weight = () if weights is None else resolve_columns(X, [weights], "survey", lazy.names)
    if weight and not lazy.dtypes[weight[0]].is_numeric():
        raise ValueError(f"column {weights!r} of weights must contain numbers.")
    kept_columns = resolve_columns(X, list(extra), "survey", lazy.names) if extra else ()
    record = [
        position
        for position in range(len(lazy.names))
        if position not in weight or position in kept_columns
    ]
    n_rows = lazy.n_combinations(record)
    if n_rows > _MOST_ROWS:
        raise ValueError(
            f"the survey has {n_rows:,} distinct records within strata and clusters, but at most "
            f"{_MOST_ROWS:,} can be fetched. Use fewer columns, or coarser categories."
        )
    return lazy.weighted_rows(weight[0] if weight else None, record, _MOST_ROWS)


def with_columns(X: Any, positions: Sequence[int]) -> Any:
    """Return given columns of a table or lazy frame, by their indices, in its library."""
    lazy = lazy_frame(X)
    if lazy is not None:
        names = lazy_names(lazy)
        return lazy.select([names[position] for position in positions]).to_native()
    table = read_table(X)
    columns = table.source[:, list(positions)]
    return columns if table.is_array else columns.to_native()


def with_values(X: Any, values: Mapping[int, NDArray[Any]]) -> Any:
    """Return a table with new values in given columns, by their indices, in its library."""
    table = read_table(X)
    if table.is_array:
        dtype = np.result_type(table.source, *values.values())
        array = table.source.astype(dtype, copy=True)
        for position, column in values.items():
            array[:, position] = column
        return array
    frame = table.source
    columns = [
        nw.new_series(table.names[position], column, backend=frame.implementation)
        for position, column in values.items()
    ]
    return frame.with_columns(*columns).to_native()


def is_missing(X: Any, columns: Sequence[int]) -> NDArray[np.bool_]:
    """Return which rows have a missing value in given columns, shape (n,)."""
    table = read_table(X)
    is_row_missing = np.zeros(table.n_rows, dtype=bool)
    for column in columns:
        positions, distinct = table.factorize(column, slice(0, table.n_rows))
        none = np.array([*(plain(value) is None for value in distinct), True])
        is_row_missing |= none[positions]  # -1 reads the last
    return is_row_missing


def take_rows(X: Any, is_kept: NDArray[np.bool_]) -> Any:
    """Return given rows of a table, in its library."""
    table = read_table(X)
    if table.is_array:
        return table.source[is_kept]
    return table.source[np.flatnonzero(is_kept).tolist(), :].to_native()


def row_contents(X: Any) -> list[bytes]:
    """Encode each row as bytes that depend neither on other rows nor on the library.

    Two rows have the same bytes if their values are the same.
    """
    table = read_table(X)
    columns = [_column_contents(table, position) for position in range(len(table.names))]
    return [b"".join(row) for row in zip(*columns, strict=True)]


def _column_contents(table: Table, position: int) -> list[bytes]:
    positions, distinct = table.factorize(position, slice(0, table.n_rows))
    written = [_written(plain(value)) for value in distinct]
    missing = _written(None)
    return [missing if position < 0 else written[position] for position in positions.tolist()]


def _written(value: Any) -> bytes:
    text = f"{type(value).__name__} {value!r}".encode()
    return len(text).to_bytes(8, "big") + text
