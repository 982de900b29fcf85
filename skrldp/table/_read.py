"""Reading columns of numpy, pandas, polars and pyarrow tables.

A table is read one block of one column at a time, each block as *positions* into a short list of
distinct Python scalars, so Python never sees the rows. The way back is :mod:`skrldp.table`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from skrldp.alphabet import plain

BLOCK = 1 << 20  # rows handled at a time: bounds temporary memory, and a block stays in cache


def blocks(n_rows: int) -> Iterator[slice]:
    """Cut rows 0…n_rows−1 into slices of at most `BLOCK` rows."""
    return (slice(start, min(start + BLOCK, n_rows)) for start in range(0, n_rows, BLOCK))


def smallest_dtype(largest: int, *, signed: bool = False) -> np.dtype[Any]:
    """Smallest integer dtype that holds 0…`largest` (and −1 if `signed`)."""
    return np.min_scalar_type(-largest - 1 if signed else largest)


# --- Reading -------------------------------------------------------------------------------------


def is_object(dtype: Any) -> bool:
    """Whether a dtype of any library is numpy's object."""
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


@dataclass(frozen=True)
class Table:
    """A user's table: an array or a data frame, seen as columns.

    Attributes
    ----------
    source : ndarray of shape (n_rows, n_columns) or narwhals DataFrame
    names : tuple
        Column names; positions for arrays.
    n_rows : int
    """

    source: Any
    names: tuple[Any, ...]
    n_rows: int

    @property
    def is_array(self) -> bool:
        """Whether the table has no column names of its own."""
        return isinstance(self.source, np.ndarray)

    @property
    def library(self) -> str:
        """Name of the library the table comes from."""
        return "numpy" if self.is_array else str(self.source.implementation.value)

    def dtype(self, position: int) -> Any:
        """Native dtype of a column."""
        if self.is_array:
            return self.source.dtype
        native = self.source[:0, position].to_native()
        return getattr(native, "type" if self.library == "pyarrow" else "dtype")

    def block(self, position: int, rows: slice) -> nw.Series[Any]:
        """Rows of one column, as a narwhals series."""
        if self.is_array:
            return series_from_array(self.source[rows, position])
        return self.source[rows, position]

    def factorize(self, position: int, rows: slice) -> tuple[np.ndarray, list[Any]]:
        """Write rows of a column as positions into a list of distinct values.

        Returns
        -------
        positions : ndarray of shape (n,)
            −1 for a missing value (which may also be a None in `distinct`).
        distinct : list of Python scalars
            May hold values that no row has (a categorical's unused categories) and, after their
            conversion to Python, equal values.

        Raises
        ------
        TypeError
            If the values cannot be categories, because they are lists, dictionaries or the like.
        ValueError
            If a number is infinite or complex.
        """
        name = self.names[position]
        try:
            positions, distinct = factorize(self.block(position, rows))
            for value in distinct:
                hash(value)
        except TypeError as error:
            raise TypeError(
                f"column {name!r} holds values that cannot be categories ({error}); "
                "an argument must be a string, a number, a boolean, a date or missing"
            ) from error
        except ValueError as error:
            raise ValueError(f"{error}, in column {name!r}") from error
        return positions, distinct

    def raw(self, row: int, position: int) -> Any:
        """Return one value as the table writes it."""
        if self.is_array:
            return self.source[row, position]
        return self.block(position, slice(row, row + 1))[0]


def read_table(X: Any) -> Table:
    """See an array, a list of rows or a data frame as a table.

    Raises
    ------
    TypeError
        For sparse matrices and lazy frames.
    ValueError
        If it is not two-dimensional, has no rows or columns, duplicate column names or complex
        numbers.
    """
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError(
            "A sparse matrix was passed, but dense data is required; "
            "use X.toarray() to convert it to a dense array"
        )
    _refuse_duplicate_columns(X)
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("A lazy frame was passed, but its rows are needed; call .collect() on it")
    if isinstance(frame, nw.DataFrame):
        table = Table(frame, tuple(frame.columns), len(frame))
    else:
        array = _as_array(X)
        table = Table(array, tuple(range(array.shape[1])), array.shape[0])
    shape = (table.n_rows, len(table.names))
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
            )
    return table


def _refuse_duplicate_columns(X: Any) -> None:
    names = getattr(X, "column_names", None)
    if names is None and hasattr(
        X, "shape"
    ):  # lazy frames have none, and warn when asked for names
        names = getattr(X, "columns", None)
    if names is None:
        return
    duplicates = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
    if duplicates:
        raise ValueError(
            f"the table has duplicate column names, {duplicates}; rename or drop columns"
        )


def _as_array(X: Any) -> np.ndarray:
    array = np.asarray(X)
    if array.dtype.kind in "US" and not hasattr(X, "dtype"):
        array = np.asarray(X, dtype=object)  # numpy made strings of a list's numbers: undo it
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n(an array of dtype {array.dtype})")
    if array.dtype.kind == "V":
        raise TypeError("structured arrays are not supported; pass a data frame")
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead.\nReshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it "
            "contains a single sample."
        )
    return array


def series_from_array(values: np.ndarray) -> nw.Series[Any]:
    """See one column of an array as a narwhals series."""
    import pandas as pd

    if values.dtype.kind in "OS":
        values = values.astype(object)
        return nw.from_native(pd.Series(values, dtype=object), series_only=True)
    if values.dtype.kind in "iufM" and not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if values.dtype == np.longdouble:
        values = values.astype(np.float64)
    return nw.from_native(pd.Series(values), series_only=True)


def factorize(series: nw.Series[Any]) -> tuple[np.ndarray, list[Any]]:
    """Write a series as positions into a list of distinct Python scalars; see `Table.factorize`."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        positions, distinct = _factorize_pandas(native)
    elif series.dtype.is_nested():
        raise TypeError(f"values of type {series.dtype}")
    elif isinstance(series.dtype, nw.Object | nw.Unknown | nw.Decimal):
        positions, distinct = _factorize_objects(series.to_list())
    elif series.implementation.is_polars():
        positions, distinct = _factorize_polars(native, series.__native_namespace__())
    else:
        positions, distinct = _factorize_arrow(native)
    return positions, [plain(value) for value in distinct]


# Each library has its own fast way. What narwhals has for all, `unique` and `replace_strict`, is
# ten times slower in pandas and hands the values over in Python lists, which lose the dtype.


def _factorize_pandas(native: Any) -> tuple[np.ndarray, list[Any]]:
    if hasattr(native, "cat"):
        return native.cat.codes.to_numpy(), native.cat.categories.tolist()
    positions, distinct = native.factorize()
    return positions, distinct.tolist()


def _factorize_objects(values: list[Any]) -> tuple[np.ndarray, list[Any]]:
    import pandas as pd

    return _factorize_pandas(pd.Series(values, dtype=object))


def _factorize_polars(native: Any, pl: Any) -> tuple[np.ndarray, list[Any]]:
    distinct = native.unique()
    places = pl.int_range(len(distinct), dtype=pl.Int32, eager=True)
    positions = native.replace_strict(distinct, places).to_numpy()
    if getattr(native.dtype, "time_unit", None) == "ns":  # Python's datetime would lose digits
        counts = distinct.to_physical().to_list()
        return positions, [_moment(count, native.dtype, pl) for count in counts]
    return positions, distinct.to_list()


def _moment(nanoseconds: int | None, dtype: Any, pl: Any) -> Any:
    import pandas as pd

    if nanoseconds is None:
        return None
    if isinstance(dtype, pl.Duration):
        return pd.Timedelta(nanoseconds, unit="ns")
    return pd.Timestamp(nanoseconds, unit="ns", tz="UTC" if dtype.time_zone else None)


def _factorize_arrow(native: Any) -> tuple[np.ndarray, list[Any]]:
    encoded = native.dictionary_encode().combine_chunks()
    positions = encoded.indices.cast("int32").fill_null(-1).to_numpy(zero_copy_only=False)
    return positions, encoded.dictionary.to_pylist()


# --- Choosing columns -----------------------------------------------------------------------------


def column_names(X: Any) -> list[Any]:
    """Names of a table's columns; positions for an array.

    Examples
    --------
    >>> column_names([["no", 1], ["yes", 2]])
    [0, 1]
    """
    return list(read_table(X).names)


def resolve_sensitive(X: Any, sensitive: Any) -> tuple[int, ...]:
    """Find the positions of the sensitive columns.

    Parameters
    ----------
    X : array, list of rows, or data frame
    sensitive : str, int, list, slice, boolean mask or callable
        A column by name or (also from the end) by position, several of them, or a function that is
        called with X and returns one of these, as in scikit-learn's `ColumnTransformer`.

    Returns
    -------
    tuple of int
        In the table's order, each once.

    Raises
    ------
    ValueError
        If there is no such column, or none is selected.
    TypeError
        If `sensitive` is none of the above.

    Examples
    --------
    >>> resolve_sensitive([["no", 1, 2.5]], [-1, 0])
    (0, 2)
    """
    names = column_names(X)
    if callable(sensitive):
        sensitive = sensitive(X)
    positions = _selected(sensitive, names)
    if not positions:
        raise ValueError(f"sensitive={sensitive!r} selects no column; the columns are {names}")
    return tuple(sorted(set(positions)))


def _selected(selection: Any, names: list[Any]) -> list[int]:
    if isinstance(selection, slice):
        start, stop = selection.start, selection.stop
        if isinstance(start, str):
            start = _position(start, names)
        if isinstance(stop, str):
            stop = _position(stop, names) + 1  # a slice of names includes its end
        return list(range(len(names)))[start : stop : selection.step]
    if isinstance(selection, str) or not isinstance(selection, Iterable):
        return [_position(selection, names)]
    items = list(selection)
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != len(names):
            raise ValueError(
                f"sensitive is a mask of {len(items)} values, but there are {len(names)} columns"
            )
        return [position for position, selected in enumerate(items) if selected]
    return [_position(item, names) for item in items]


def _position(selection: Any, names: list[Any]) -> int:
    if isinstance(selection, bool) or not isinstance(selection, str | Integral):
        raise TypeError(
            "sensitive must be a column name or position, a list of them, a slice, a boolean mask "
            f"or a callable, got {selection!r}"
        )
    if isinstance(selection, str):
        if selection in names:
            return names.index(selection)
    elif -len(names) <= int(selection) < len(names):
        return int(selection) % len(names)
    raise ValueError(f"sensitive column {selection!r} not found; the columns are {names}")
