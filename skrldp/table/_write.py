"""Building columns of numpy, pandas, polars and pyarrow tables.

A column is built from the few values that it can take, stored once with the right dtype, and from
the index of each row's value. So a dtype needs to be restored and checked on few values only: if
these do not read back as they were written, another dtype is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from skrldp._frames import own_index
from skrldp.alphabet import OTHER, is_missing, plain
from skrldp.table._factorize import factorize, series_from_array
from skrldp.table._read import Table, is_object


@dataclass(frozen=True)
class NewColumn:
    """One column to build: the values it may take, its dtype, and which value each row has."""

    values: Sequence[Any]
    dtype: Any
    positions: np.ndarray


def without_levels(dtype: Any, values: Sequence[Any]) -> Any:
    """Return a column's type without what tells of its rows: levels, and the width of texts.

    Levels that a table was given are often those that its rows have, and they may be no values
    here. An order of levels is kept if `values` have it, too.
    """
    if isinstance(dtype, np.dtype) and dtype.kind in "US":
        return np.dtype(dtype.kind)
    kind = type(dtype)
    if kind.__name__ == "Enum":
        return kind([])
    if kind.__name__ == "CategoricalDtype":
        known = [level for level in map(plain, dtype.categories) if level in set(values)]
        in_order = known == [value for value in values if value in set(known)]
        return kind(dtype.categories[:0], dtype.ordered and in_order)
    return dtype


def build_array(columns: Sequence[NewColumn], dtype: Any) -> np.ndarray:
    """Build an array of shape (n_rows, n_columns).

    The array has the requested dtype if that can hold every value exactly, else the one that numpy
    infers, else object.
    """
    values = [value for column in columns for value in column.values]
    for candidate in (dtype, None, np.dtype(object)):
        flat = _array_of(values, candidate)
        if flat is not None and _holds(series_from_array(flat), values):
            break
    assert flat is not None  # dtype object holds anything
    out = np.empty((len(columns[0].positions), len(columns)), dtype=flat.dtype)
    start = 0
    for place, column in enumerate(columns):
        stop = start + len(column.values)
        out[:, place] = flat[start:stop][column.positions]
        start = stop
    return out


def _array_of(values: list[Any], dtype: Any) -> np.ndarray | None:
    if is_object(dtype):
        array = np.empty(len(values), dtype=object)
        for place, value in enumerate(values):  # a slice assignment would unpack tuples
            array[place] = value
        return array
    numpy_values = [  # numpy would drop the nanoseconds of pandas' timestamps
        v.to_numpy() if hasattr(v, "to_numpy") and not is_missing(v) else v for v in values
    ]
    try:
        array = np.array(numpy_values, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        return None
    return array if array.ndim == 1 else None


def build_frame(
    columns: Sequence[NewColumn], like: Table, wanted: Sequence[int | None], names: Sequence[Any]
) -> Any:
    """Build a frame of the same library as `like`.

    `wanted` gives the position of each column in `like`, None for those that it lacks. Each column
    has the requested dtype if that can hold the values exactly (categorical dtypes are extended),
    else the one the library infers. A pandas index is kept if the lengths agree.

    Raises ValueError if the library has no dtype for the values of a column, such as numbers beside
    strings.
    """
    library = _LIBRARIES["pandas" if like.source.implementation.is_pandas_like() else like.library]
    namespace = like.source.__native_namespace__()
    built = []
    for column, name in zip(columns, names, strict=True):
        series = _series_of(column, namespace, library, name)
        built.append(series[column.positions].to_native())
    if library is _LIBRARIES["pandas"] and None not in wanted:
        names = like.source.to_native().columns[list(wanted)]  # keeps the name of the column index
    return library.table(namespace, built, like, names)


def category_series(values: Sequence[Any]) -> Any:
    """Write categories as a pandas series that holds them exactly, missing or not."""
    import pandas as pd

    kinds = {type(value) for value in values if value is not None}
    nullable = {int: "Int64", bool: "boolean"}.get(kinds.pop()) if len(kinds) == 1 else None
    for dtype in (nullable if None in values else None, None):
        with suppress(TypeError, ValueError, OverflowError):
            series = pd.Series(values, dtype=dtype)
            if _holds(nw.from_native(series, series_only=True), values):
                return series
    return pd.Series(values, dtype=object)


def _series_of(column: NewColumn, namespace: Any, library: _Library, name: Any) -> nw.Series[Any]:
    # "other" beside numbers needs a column of objects, which pyarrow does not have.
    last = [object] if any(isinstance(v, str) and v == OTHER for v in column.values) else []
    for dtype in (column.dtype, None, *last):
        try:
            native = library.column(namespace, column.values, dtype)
        except Exception:  # each library has errors of its own for a value that does not fit
            continue
        series: nw.Series[Any] = nw.from_native(native, series_only=True)
        if _holds(series, column.values):
            return series
    raise ValueError(
        f"no {namespace.__name__} column can hold the categories of column {name!r}; "
        "give it categories of one type, or use another encode"
    )


def _holds(series: nw.Series[Any], values: Sequence[Any]) -> bool:
    """Whether a series holds exactly these values, none truncated, rounded or lost."""
    positions, distinct = factorize(series)
    found = [None if position < 0 else distinct[position] for position in positions]
    return found == [plain(value) for value in values]


@dataclass(frozen=True)
class _Library:
    """How a library makes a column from values and a dtype, and a table from columns."""

    column: Callable[[Any, Sequence[Any], Any], Any]
    table: Callable[[Any, list[Any], Table, Sequence[Any]], Any]


def _pandas_column(pd: Any, values: Sequence[Any], dtype: Any) -> Any:
    if isinstance(dtype, pd.CategoricalDtype):
        new = _not_in(values, dtype.categories)
        if new:
            dtype = pd.CategoricalDtype(dtype.categories.append(pd.Index(new)), dtype.ordered)
    return pd.Series(values, dtype=dtype)


def _polars_column(pl: Any, values: Sequence[Any], dtype: Any) -> Any:
    if isinstance(dtype, pl.Enum):
        dtype = pl.Enum([*dtype.categories, *_not_in(values, dtype.categories)])
    if any(getattr(value, "value", None) is not None for value in values):
        # Times with nanoseconds, which polars would cut to microseconds.
        values = [None if is_missing(v) else _nanoseconds(v) for v in values]
        return pl.Series(values, dtype=pl.Int64).cast(dtype)
    return pl.Series(values, dtype=dtype, strict=False)


def _nanoseconds(moment: datetime | timedelta) -> int:
    import pandas as pd

    boxed = pd.Timedelta(moment) if isinstance(moment, timedelta) else pd.Timestamp(moment)
    return int(boxed.as_unit("ns").value)


def _arrow_column(pa: Any, values: Sequence[Any], dtype: Any) -> Any:
    if isinstance(dtype, pa.DictionaryType):  # pyarrow cannot fill every kind of these itself
        array = pa.array(values, type=dtype.value_type).dictionary_encode().cast(dtype)
    else:
        array = pa.array(values, type=dtype)
    return pa.chunked_array([array])


def _not_in(values: Sequence[Any], categories: Any) -> list[Any]:
    known = {plain(category) for category in categories}
    return [v for v in dict.fromkeys(values) if not is_missing(v) and v not in known]


def _pandas_table(pd: Any, columns: list[Any], like: Table, names: Sequence[Any]) -> Any:
    n_rows = len(columns[0])
    same = n_rows == like.n_rows
    index = own_index(like.source.to_native().index) if same else pd.RangeIndex(n_rows)
    frame = pd.DataFrame({place: c.set_axis(index) for place, c in enumerate(columns)})
    frame.columns = names
    return frame


def _polars_table(pl: Any, columns: list[Any], like: Table, names: Sequence[Any]) -> Any:
    return pl.DataFrame(dict(zip(names, columns, strict=True)))


def _arrow_table(pa: Any, columns: list[Any], like: Table, names: Sequence[Any]) -> Any:
    return pa.table(dict(zip(names, columns, strict=True)))


_LIBRARIES = {
    "pandas": _Library(_pandas_column, _pandas_table),
    "polars": _Library(_polars_column, _polars_table),
    "pyarrow": _Library(_arrow_column, _arrow_table),
}
