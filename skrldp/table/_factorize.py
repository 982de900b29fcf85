"""One column of any library as positions into a short list of distinct Python scalars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from skrldp._frames import one_dictionary
from skrldp.alphabet import CategoryError, plain

__all__ = ["factorize", "levels_of", "series_from_array"]


# Texts of the first rows are looked up in a column of many; more of them would save nothing.
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
    """Write a series as positions into a list of distinct Python scalars; see `Table.factorize`.

    Texts that rows are likely to have, if given, are looked up first, and begin the list.
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
    places, distinct = _factorize_any(series[rest])
    positions = positions.copy()  # the library's memory is not to be written to
    positions[rest] = np.where(places < 0, -1, places + len(texts))
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


# Each library has its own fast function. Those of narwhals, `unique` and `replace_strict`, are ten
# times slower in pandas, and pass the values in Python lists, which lose the dtype.


def _places_among(texts: Sequence[str], series: nw.Series[Any]) -> np.ndarray | None:
    """Find each row among some texts, -1 elsewhere; None if the library does not hold texts.

    Half the time of finding the distinct values of rows first: each row is looked up once.
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
    """Return a polars series of numbers as an array, -1 where there is none."""
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
    places = pl.int_range(len(distinct), dtype=pl.Int32, eager=True)
    positions = native.replace_strict(distinct, places).to_numpy()
    if getattr(native.dtype, "time_unit", None) == "ns":  # Python's datetime would lose digits
        counts = distinct.to_physical().to_list()
        return positions, [_moment(count, native.dtype, pl) for count in counts]
    return positions, distinct.to_list()


def _factorize_numbered(native: Any, pl: Any) -> tuple[np.ndarray, list[Any]]:
    """Read an Enum or a Categorical, whose numbers need not be those of its own categories."""
    distinct = native.unique()
    own = _filled(distinct.to_physical(), pl)
    places = np.empty(own.max(initial=-1) + 2, dtype=np.int32)
    places[own] = np.arange(len(own))
    return places[_filled(native.to_physical(), pl)], distinct.to_list()


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
    """Return the values that a dtype lists, in its order, used or not; None if it lists none.

    pandas' category, polars' Enum, pyarrow's ordered dictionary and booleans list values. A polars
    Categorical and an unordered pyarrow dictionary only store strings in less memory: their order
    is that of the rows. If levels are `given`, unordered dictionaries list values as well.

    Raises ValueError if a number is infinite or complex, or the chunks of a dictionary whose levels
    are given have different ones.
    """
    if series.dtype == nw.Boolean:
        return [False, True]
    native = series.to_native()
    found: list[Any] | None = None
    if series.implementation.is_pandas_like():
        if native.dtype == "category":
            found = native.cat.categories.tolist()
    elif series.implementation.is_polars():
        if isinstance(series.dtype, nw.Enum):
            found = list(native.dtype.categories)
    elif hasattr(native.type, "ordered") and (given or native.type.ordered):
        dictionaries = [chunk.dictionary for chunk in native.chunks]
        if all(dictionary.equals(dictionaries[0]) for dictionary in dictionaries):
            found = dictionaries[0].to_pylist()
        elif given:
            raise CategoryError(
                "categories='dtype' needs one dictionary, but chunks have different ones; call "
                "unify_dictionaries() of the table"
            )
    if found is None:
        return None
    levels = dict.fromkeys(plain(value) for value in found)
    levels.pop(None, None)  # missing is a category only where rows have it
    return list(levels)
