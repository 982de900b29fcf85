"""One column of any library as positions into a short list of distinct Python scalars."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from skrldp.alphabet import plain

__all__ = ["declared_levels", "factorize", "series_from_array"]


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


# Each library has its own fast function. Those of narwhals, `unique` and `replace_strict`, are ten
# times slower in pandas, and pass the values in Python lists, which lose the dtype.


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


# --- Declared levels -----------------------------------------------------------------------------


def declared_levels(series: nw.Series[Any]) -> list[Any] | None:
    """Return the values that a dtype declares, in its order, used or not; None if it does not.

    pandas' category, polars' Enum, pyarrow's ordered dictionary and booleans declare values. A
    polars Categorical and an unordered pyarrow dictionary only store strings in less memory: their
    categories depend on the rows.

    Raises ValueError if a number is infinite or complex.
    """
    if series.dtype == nw.Boolean:
        return [False, True]
    native = series.to_native()
    found: list[Any] | None = None
    if series.implementation.is_pandas_like():
        if hasattr(native, "cat"):
            found = native.cat.categories.tolist()
    elif series.implementation.is_polars():
        if isinstance(series.dtype, nw.Enum):
            found = list(native.dtype.categories)
    elif getattr(native.type, "ordered", False):
        dictionaries = [chunk.dictionary for chunk in native.chunks]
        if all(dictionary.equals(dictionaries[0]) for dictionary in dictionaries):
            found = dictionaries[0].to_pylist()
    if found is None:
        return None
    levels = dict.fromkeys(plain(value) for value in found)
    levels.pop(None, None)  # missing is a category only where rows have it
    return list(levels)
