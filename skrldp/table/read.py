"""A common interface to the columns of numpy, pandas, polars and pyarrow tables.

A table is read one chunk of one column at a time, as *positions* into a short list of distinct
Python scalars, so that Python handles distinct values rather than rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from skrldp._frames import decoded, one_dictionary, refuse_without_plugin
from skrldp._params import is_whole
from skrldp.alphabet.categories import listed
from skrldp.alphabet.values import CategoryError, plain

# --- One column as positions into a short list of distinct Python scalars -------------------------


# Strings of the first rows that are looked up in long columns; more would save no time.
_SOME, _MANY = 5_000, 50_000


def series_from_array(values: np.ndarray) -> nw.Series[Any]:
    """Return one column of an array as a narwhals series."""
    import pandas as pd

    if values.dtype.kind in "OS":
        values = values.astype(object)
        return nw.from_native(pd.Series(values, dtype=object), series_only=True)
    if values.dtype.kind in "iufM" and not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if values.dtype == np.longdouble:
        values = values.astype(np.float64)
    return nw.from_native(pd.Series(values), series_only=True)


def factorize(series: nw.Series[Any], texts: Sequence[str] = ()) -> tuple[np.ndarray, list[Any]]:
    """Encode a series as positions into a list of distinct Python scalars; see `Table.factorize`.

    Given likely strings are looked up first, and begin the list.
    """
    if len(series) > _MANY and not texts:
        _, distinct = _factorize_any(series[:_SOME])
        texts = [text for text in distinct if isinstance(text, str)]
        texts = texts if len(texts) < _SOME // 10 else ()
    positions = _places_among(texts, series) if 0 < len(texts) <= len(series) else None
    if positions is None:
        return _factorize_any(series)
    rest = np.flatnonzero(positions < 0)
    if not rest.size:
        return positions, list(texts)
    rest_positions, distinct = _factorize_any(series[rest])
    positions = positions.copy()  # the library's memory must not be modified
    positions[rest] = np.where(rest_positions < 0, -1, rest_positions + len(texts))
    return positions, [*texts, *distinct]


def _factorize_any(series: nw.Series[Any]) -> tuple[np.ndarray, list[Any]]:
    native = series.to_native()
    if series.implementation.is_pandas_like():
        positions, distinct = _factorize_pandas(native)
    elif series.dtype.is_nested():
        raise TypeError(f"values of type {series.dtype}")
    elif isinstance(series.dtype, nw.Object | nw.Unknown | nw.Decimal):
        positions, distinct = _factorize_objects(series.to_list())
    elif series.implementation.is_polars():
        pl = series.__native_namespace__()
        numbered = isinstance(series.dtype, nw.Enum | nw.Categorical)
        read = _factorize_numbered if numbered else _factorize_polars
        positions, distinct = read(native, pl)
    else:
        positions, distinct = _factorize_arrow(native)
    return positions, [plain(value) for value in distinct]


# Each library has a different fast function. Those of narwhals, `unique` and `replace_strict`, are
# ten times slower in pandas, and pass the values as Python lists, which lose the dtype.


def _places_among(texts: Sequence[str], series: nw.Series[Any]) -> np.ndarray | None:
    """Find each row among given strings, -1 if absent; None if the column has no strings.

    This takes half the time of finding the distinct values first, because each row is looked up
    once.
    """
    native = series.to_native()
    if series.implementation.is_polars():
        if series.dtype != nw.String:
            return None
        pl: Any = series.__native_namespace__()
        return _filled(native.cast(pl.Enum(texts), strict=False).to_physical(), pl)
    if series.implementation.is_pandas_like():
        if getattr(native.dtype, "storage", None) != "pyarrow":
            return None
        native = native.array.__arrow_array__()
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(native.type) or pa.types.is_large_string(native.type)):
        return None
    return np.asarray(pc.index_in(native, pa.array(texts, type=native.type)).fill_null(-1))


def _filled(numbers: Any, pl: Any) -> np.ndarray:
    """Return a polars series of integers as an array, with -1 for null."""
    array: np.ndarray = numbers.cast(pl.Int32).fill_null(-1).to_numpy()
    return array


def _factorize_pandas(native: Any) -> tuple[np.ndarray, list[Any]]:
    if hasattr(getattr(native.dtype, "pyarrow_dtype", None), "index_type"):
        return _factorize_arrow(native.array.__arrow_array__())
    if native.dtype == "category":
        return native.cat.codes.to_numpy(), native.cat.categories.tolist()
    positions, distinct = native.factorize()
    return positions, distinct.tolist()


def _factorize_objects(values: list[Any]) -> tuple[np.ndarray, list[Any]]:
    import pandas as pd

    return _factorize_pandas(pd.Series(values, dtype=object))


def _factorize_polars(native: Any, pl: Any) -> tuple[np.ndarray, list[Any]]:
    distinct = native.unique()
    ranks = pl.int_range(len(distinct), dtype=pl.Int32, eager=True)
    positions = native.replace_strict(distinct, ranks).to_numpy()
    if getattr(native.dtype, "time_unit", None) == "ns":  # Python's datetime would truncate digits
        counts = distinct.to_physical().to_list()
        return positions, [_moment(count, native.dtype, pl) for count in counts]
    return positions, distinct.to_list()


def _factorize_numbered(native: Any, pl: Any) -> tuple[np.ndarray, list[Any]]:
    """Read an Enum or a Categorical, whose codes need not be indices of its categories."""
    distinct = native.unique()
    codes = _filled(distinct.to_physical(), pl)
    ranks = np.empty(codes.max(initial=-1) + 2, dtype=np.int32)
    ranks[codes] = np.arange(len(codes))
    return ranks[_filled(native.to_physical(), pl)], distinct.to_list()


def _moment(nanoseconds: int | None, dtype: Any, pl: Any) -> Any:
    import pandas as pd

    if nanoseconds is None:
        return None
    if isinstance(dtype, pl.Duration):
        return pd.Timedelta(nanoseconds, unit="ns")
    return pd.Timestamp(nanoseconds, unit="ns", tz="UTC" if dtype.time_zone else None)


def _factorize_arrow(native: Any) -> tuple[np.ndarray, list[Any]]:
    encoded = one_dictionary(native).dictionary_encode().combine_chunks()
    positions = encoded.indices.cast("int32").fill_null(-1).to_numpy(zero_copy_only=False)
    return positions, encoded.dictionary.to_pylist()


# --- Levels --------------------------------------------------------------------------------------


def levels_of(series: nw.Series[Any], *, given: bool) -> list[Any] | None:
    """Return the values that a dtype lists, in order, used or not; None if it lists none.

    pandas' category, polars' Enum, pyarrow's ordered dictionary and booleans list values. A polars
    Categorical and an unordered pyarrow dictionary only compress strings, in the order of the rows.
    If levels are `given`, unordered dictionaries also list values.

    Raises ValueError if a number is infinite or complex, or the chunks of a dictionary with
    declared levels have different ones.
    """
    if series.dtype == nw.Boolean:
        return [False, True]
    native = series.to_native()
    listed: list[Any] | None = None
    if series.implementation.is_pandas_like():
        if native.dtype == "category":
            listed = native.cat.categories.tolist()
    elif series.implementation.is_polars():
        if isinstance(series.dtype, nw.Enum):
            listed = list(native.dtype.categories)
    elif hasattr(native.type, "ordered") and (given or native.type.ordered):
        dictionaries = [chunk.dictionary for chunk in native.chunks]
        if all(dictionary.equals(dictionaries[0]) for dictionary in dictionaries):
            listed = dictionaries[0].to_pylist()
        elif given:
            raise CategoryError(
                "categories='dtype' needs a single dictionary, but chunks have different ones; "
                "call the table's unify_dictionaries()"
            )
    if listed is None:
        return None
    levels = dict.fromkeys(plain(value) for value in listed)
    levels.pop(None, None)  # missing is a category only if rows contain it
    return list(levels)


# --- Tables ---------------------------------------------------------------------------------------


def is_object(dtype: Any) -> bool:
    """Whether a dtype of any library is numpy's object."""
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


@dataclass(frozen=True)
class Table:
    """The columns of a user's table, an array or a data frame."""

    source: Any  # (n_rows, n_columns)
    names: tuple[Any, ...]  # column names; indices for arrays
    n_rows: int
    # (n_rows,), how many records each row represents; None if each represents one
    records: NDArray[np.int64] | None = None
    # Each column's alphabet and the codes of its rows, if already learned; None for a column with
    # too many categories
    learned: tuple[tuple[Any, NDArray[Any]] | None, ...] = ()

    def of_columns(self, positions: Sequence[int]) -> Table:
        """Return a table of some columns, with what was learned about them.

        Names that are numbers are positions, so they are renumbered.
        """
        names: Any = [self.names[position] for position in positions]
        if all(map(is_whole, names)):
            names = range(len(positions))
        pairs = [self.learned[position] for position in positions if self.learned]
        learned = [
            pair and (replace(pair[0], name=n), pair[1])
            for pair, n in zip(pairs, names, strict=False)
        ]
        source = self.source[:, list(positions)]
        return Table(source, tuple(names), self.n_rows, self.records, tuple(learned))

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self.n_rows if self.records is None else int(self.records.sum())

    @property
    def is_array(self) -> bool:
        """Whether the table has no column names."""
        return isinstance(self.source, np.ndarray)

    @property
    def library(self) -> str:
        """Name of the table's library."""
        return "numpy" if self.is_array else str(self.source.implementation.value)

    def dtype(self, position: int) -> Any:
        """Native dtype of a column."""
        if self.is_array:
            return self.source.dtype
        native = self.source[:0, position].to_native()
        return getattr(native, "type" if self.library == "pyarrow" else "dtype")

    def float_size(self, position: int) -> int:
        """Return the number of bytes of a column's floats."""
        if self.is_array:
            return int(self.source.dtype.itemsize)
        return 4 if self.source[:0, position].dtype == nw.Float32 else 8

    def chunk(self, position: int, rows: slice) -> nw.Series[Any]:
        """Rows of one column, as a narwhals series."""
        if self.is_array:
            return series_from_array(self.source[rows, position])
        return self.source[rows, position]

    def array(self, position: int) -> np.ndarray:
        """Return a column as a NumPy array, (n_rows,)."""
        if self.is_array:
            column: np.ndarray = self.source[:, position]
            return column
        series = self.source[:, position]
        if self.library == "pyarrow":
            series = nw.from_native(decoded(series.to_native()), series_only=True)
        values: np.ndarray = series.to_numpy()
        return values

    def factorize(
        self, position: int, rows: slice, texts: Sequence[str] = ()
    ) -> tuple[np.ndarray, list[Any]]:
        """Encode rows of a column as positions into a list of distinct values.

        `texts` are likely strings: it is faster if all rows have one of these.

        Returns `positions` (n,): −1 for a missing value (which may also be a None in `distinct`);
        `distinct`: may contain values that no row has (a categorical's unused categories) and,
        after their conversion to Python, equal values. Raises TypeError if the values cannot be
        categories, because they are lists, dictionaries or the like. Raises ValueError if a number
        is infinite or complex.
        """
        with self._naming(position):
            positions, distinct = factorize(self.chunk(position, rows), texts)
            for value in distinct:
                hash(value)
        return positions, distinct

    def levels(self, position: int, *, given: bool = False) -> list[Any] | None:
        """Return the levels that a column's dtype lists, in order; None if it lists none."""
        with self._naming(position):
            if self.is_array:
                return [False, True] if self.source.dtype.kind == "b" else None
            return levels_of(self.source[:, position], given=given)

    def fixes_levels(self, position: int) -> bool:
        """Whether a column's levels cannot come from rows, unlike those of categories."""
        if self.is_array:
            return bool(self.source.dtype.kind == "b")
        series = self.source[:, position]
        is_enum = series.implementation.is_polars() and series.dtype == nw.Enum
        return is_enum or series.dtype == nw.Boolean

    @contextmanager
    def _naming(self, position: int) -> Iterator[None]:
        """Add the column's name to errors, without text that may quote a value."""
        name = self.names[position]
        try:
            yield
        except TypeError:
            raise wrong_values(name) from None
        except CategoryError as error:
            raise ValueError(f"{error}, in column {name!r}") from None
        except (ValueError, OverflowError):
            raise ValueError(f"column {name!r} contains values that cannot be read") from None

    def raw(self, row: int, position: int) -> Any:
        """Return one value as the table writes it."""
        if self.is_array:
            return self.source[row, position]
        return self.chunk(position, slice(row, row + 1))[0]


def read_table(X: Any) -> Table:
    """Make a table from an array, a list of rows or a data frame; return a table unchanged.

    Raises TypeError for sparse matrices, lazy frames, masked arrays and dictionaries. Raises
    ValueError if X is not two-dimensional, or has no rows or columns, duplicate column names or
    complex numbers.
    """
    if isinstance(X, Table):
        return X
    lazy = lazy_frame(X)  # checked first, because some lazy frames seem to have every attribute
    if lazy is not None:
        call = _CALLS.get(str(lazy.implementation.value), ".collect()")
        raise TypeError(
            f"A lazy frame was passed, but its rows are needed; call {call} on it, or use "
            "skrldp.batches to report records inside the engine"
        )
    _refuse_other_containers(X)
    _refuse_column_names(X)
    frame = nw.from_native(_as_arrow_table(X), pass_through=True)
    if isinstance(frame, nw.DataFrame):
        table = Table(frame, tuple(frame.columns), len(frame))
    else:
        array = _as_array(X)
        table = Table(array, tuple(range(array.shape[1])), array.shape[0])
    if table.n_rows == 0 or not table.names:
        raise without_rows(table.n_rows, len(table.names))
    return table


def lazy_frame(X: Any) -> nw.LazyFrame[Any] | None:
    """Return a lazy frame of narwhals, whose rows are in an engine; None for anything else.

    Nothing is computed.
    """
    if isinstance(X, np.ndarray | list | tuple) or nw.dependencies.is_into_dataframe(X):
        return None
    frame = nw.from_native(X, pass_through=True)
    if frame is X:
        refuse_without_plugin(X)  # otherwise its rows would be read as an array
    return frame if isinstance(frame, nw.LazyFrame) else None


def without_rows(n_rows: int, n_columns: int) -> ValueError:
    """Return the error for a table without rows or columns."""
    shape = (n_rows, n_columns)
    item = "sample" if n_rows == 0 else "feature"
    return ValueError(
        f"Found array with 0 {item}(s) (shape={shape}) while a minimum of 1 is required."
    )


def wrong_values(name: Any) -> TypeError:
    """Return the error for a column of lists, dictionaries or the like."""
    return TypeError(
        f"column {name!r} contains values that cannot be categories; an argument must be a string, "
        "a number, a boolean, a date or missing"
    )


# How to compute a lazy frame, by library.
_CALLS = {
    "duckdb": ".df(), .pl() or .to_arrow_table()",
    "dask": ".compute()",
    "ibis": ".to_pandas() or .to_polars()",
    "pyspark": ".toPandas()",
    "sqlframe": ".toPandas()",
}


def _refuse_other_containers(X: Any) -> None:
    """Raise errors that state how to convert other containers to tables."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError(
            "A sparse matrix was passed, but dense data is required; "
            "use X.toarray() to convert it to a dense array"
        )
    is_rows = isinstance(X, list | tuple)
    if isinstance(X, Mapping) or (is_rows and any(isinstance(row, Mapping) for row in X)):
        container = "A list of dictionaries" if is_rows else "A dictionary"
        raise TypeError(
            f"{container} was passed, but a table is needed; use pandas.DataFrame(X) or another "
            "data frame"
        )
    masked = np.ma.MaskedArray
    if isinstance(X, masked) or (is_rows and any(isinstance(row, masked) for row in X)):
        raise TypeError(
            "A masked array was passed, and its mask would be lost; use "
            "numpy.where(X.mask, None, X.data), so that masked entries are missing values"
        )


def _as_arrow_table(X: Any) -> Any:
    """Convert a record batch to a table of one batch; return anything else unchanged."""
    if type(X).__name__ == "RecordBatch" and type(X).__module__.startswith("pyarrow"):
        import pyarrow as pa

        return pa.Table.from_batches([X])
    return X


def _refuse_column_names(X: Any) -> None:
    names = getattr(X, "column_names", None)
    if names is None and hasattr(X, "shape"):
        names = getattr(X, "columns", None)
    if names is None:
        return
    refuse_duplicates(names)
    if any(isinstance(name, tuple) for name in names):
        raise ValueError(
            "the table's column names are tuples, as in a MultiIndex. Join them into strings: "
            "X.columns = ['_'.join(map(str, name)) for name in X.columns]."
        )


def refuse_duplicates(names: Any) -> None:
    """Reject duplicate column names.

    Raises ValueError if there are any.
    """
    duplicates = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
    if duplicates:
        raise ValueError(
            f"the table has duplicate column names, [{listed(duplicates)}]; rename or drop columns"
        )


def _as_array(X: Any) -> np.ndarray:
    array = np.asarray(X)
    if not hasattr(X, "dtype") and _is_rewritten(array):
        array = np.asarray(X, dtype=object)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n(an array of dtype {array.dtype})")
    if array.dtype.kind == "V":
        raise TypeError("structured arrays are not supported; pass a data frame")
    if hasattr(X, "to_frame"):
        raise ValueError(
            f"Expected a table, but X is a single column, a {type(X).__name__}: pass X.to_frame()."
        )
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead.\nReshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it "
            "contains a single sample."
        )
    return array


def _is_rewritten(array: np.ndarray) -> bool:
    """Whether NumPy may have converted a list's numbers to strings, or its integers to floats."""
    return array.dtype.kind in "US" or (
        array.dtype.kind == "f" and bool(np.abs(array).max(initial=0.0) >= 2.0**53)
    )
