"""Count how often each symbol was sent, from reports of any form."""

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._arrays import chunks, refuse_masked
from skrldp._typing import Floats
from skrldp.aggregate._forms import LOST, form_of
from skrldp.aggregate._source import Source
from skrldp.alphabet import Column
from skrldp.joint import as_counts
from skrldp.table import encode_column, read_table

__all__ = ["ENCODINGS", "as_rows", "count_reports"]

ENCODINGS = ("auto", "symbol", "onehot", "cells")


_BLOCK = 1 << 16  # rows counted at a time: NumPy's bincount wants them as int64
_MOST_KEYS = 1 << 24  # combinations of categories that are counted in a table


# -- the reports ----------------------------------------------------------------------------------


def as_rows(Y: Any) -> Any:
    """Make a table of one column from one-dimensional reports; leave tables as they are.

    Parameters
    ----------
    Y : array, list, series or data frame
        Reports.

    Returns
    -------
    array or data frame
        Two-dimensional.
    """
    series = nw.from_native(Y, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series):
        return series.to_frame().to_native()
    if isinstance(Y, list | tuple | range | np.ndarray):
        refuse_masked(Y, "the reports")
        array = np.asarray(Y)
        if array.ndim == 1:
            if array.dtype.kind in "US":  # numpy may have made strings of a list's numbers
                array = np.asarray(Y, dtype=object)
            return array[:, None]
    return Y


def count_reports(
    Y: Any, source: Source, encode: str, sample_weight: ArrayLike | None
) -> tuple[Floats, NDArray[np.intp]]:
    """Count how often each symbol was sent.

    Parameters
    ----------
    Y : array, list of rows, or data frame of shape (n, n_columns)
        Reports.
    source : Source
        The mechanism that made them.
    encode : {"auto", "symbol", "onehot", "cells"}
        Their form.
    sample_weight : array of shape (n,), optional
        How many reports each row stands for.

    Returns
    -------
    counts : array of shape (m,)
        Number of reports of each kind.
    kinds : array of shape (b,)
        Which kind of report each symbol is: m is less than b where several symbols are written as
        the same cell; else 0, 1, ....

    Raises
    ------
    TypeError, ValueError
        If they are not reports of the mechanism.
    """
    table = read_table(Y)
    n_symbols = source.mechanism.shape[0]
    weights = None
    if sample_weight is not None:
        weights = as_counts(sample_weight, table.n_rows, "report")
    form = form_of(table, source) if encode == "auto" else encode
    if form == "symbol":
        if len(table.names) != 1:
            raise ValueError(
                f"encode='symbol' is one column of numbers, but Y has {len(table.names)} columns."
            )
        numbers = _numbers(table, 0, "symbols")
        return _count(numbers, n_symbols, weights), np.arange(n_symbols)
    if form == "onehot":
        return _count_onehot(table, n_symbols, weights), np.arange(n_symbols)
    return _count_cells(table, source, weights)


def _numbers(table: Any, position: int, what: str) -> NDArray[Any]:
    """Read a column of whole numbers."""
    source = table.source
    column = source[:, position] if table.is_array else source[:, position].to_numpy()
    if column.dtype.kind == "O":
        try:
            if any(isinstance(value, str) for value in column):
                raise TypeError
            column = np.array([np.nan if value is None else value for value in column], float)
        except (TypeError, ValueError, OverflowError):  # their messages may quote a value
            raise ValueError(f"{what} must be whole numbers, but Y holds other values.") from None
    if column.dtype.kind == "b":
        return column.view(np.uint8)
    if column.dtype.kind == "f":
        wrong = ~np.isfinite(column) | (column != np.floor(column))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"{what} must be whole numbers, but row {row} of Y has none. Drop rows without a "
                "report."
            )
    elif column.dtype.kind not in "iu":
        raise ValueError(f"{what} must be whole numbers, but Y has dtype {column.dtype}.")
    return np.asarray(column)


def _count(numbers: NDArray[Any], size: int, weights: Floats | None) -> Floats:
    counts = np.zeros(size)
    for rows in chunks(len(numbers), _BLOCK):
        block = numbers[rows]
        wrong = (block < 0) | (block >= size) if block.dtype.kind != "u" else block >= size
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"row {rows.start + row} of Y has a number that is no symbol: the mechanism's are "
                f"numbered 0 to {size - 1}. These are reports of another mechanism, or not "
                "symbols."
            )
        if block.dtype.kind == "f" or block.dtype == np.uint64:
            block = block.astype(np.intp)
        own = None if weights is None else weights[rows]
        counts += np.bincount(block, weights=own, minlength=size)
    return counts


def _count_onehot(table: Any, n_symbols: int, weights: Floats | None) -> Floats:
    if len(table.names) != n_symbols:
        raise ValueError(
            f"encode='onehot' is a column for each of {n_symbols} symbols, but Y has "
            f"{len(table.names)} columns."
        )
    named = {name: place for place, name in enumerate(table.names)}
    own = [f"report_{symbol}" for symbol in range(n_symbols)]
    places = [named[name] for name in own] if named.keys() == set(own) else range(n_symbols)
    _check_order(table, range(n_symbols))
    counts, sums = np.zeros(n_symbols), np.zeros(table.n_rows)
    for symbol, place in enumerate(places):
        column = _one(table, place)
        sums += column
        counts[symbol] = column.sum() if weights is None else column @ weights
    if np.any(sums != 1):
        row = int(np.argmax(sums != 1))
        raise ValueError(
            f"each row of one-hot reports must have a single 1, but row {row} of Y has "
            f"{int(sums[row])}."
        )
    return counts


def _one(table: Any, position: int) -> Floats:
    column: Floats = _numbers(table, position, "one-hot reports").astype(float)
    wrong = (column != 0) & (column != 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"one-hot reports must be 0 or 1, but row {row} of Y has another number.")
    return column


# -- reports written as cells ---------------------------------------------------------------------


def _count_cells(
    table: Any, source: Source, weights: Floats | None
) -> tuple[Floats, NDArray[np.intp]]:
    """Count rows of categories: number the combinations, then look up that of each symbol."""
    if source.rows is None:
        raise ValueError(f"these reports cannot be read as cells.{LOST}")
    places = _places(table, source)
    written = list(zip(*source.rows, strict=True))
    alphabets = [tuple(dict.fromkeys(column)) for column in written]
    sizes = [len(alphabet) for alphabet in alphabets]
    if np.prod([float(size) for size in sizes]) > 2.0**62:
        raise ValueError("the columns have too many categories for cells; use encode='symbol'.")
    keys = np.zeros(table.n_rows, dtype=np.int64)
    symbol_keys = np.zeros(len(source.rows), dtype=np.int64)
    for place, column, alphabet, size in zip(places, written, alphabets, sizes, strict=True):
        codes, unknown = encode_column(table, place, Column(table.names[place], alphabet))
        if unknown:
            n_rows = unknown.total()
            raise ValueError(
                f"column {table.names[place]!r} of Y has {n_rows:,} row{'s' if n_rows > 1 else ''} "
                f"with values that no report of this mechanism has, the first in row "
                f"{int(np.argmax(codes < 0))} (values are not shown): these are reports of another "
                "mechanism, or not reports."
            )
        keys = keys * size + codes
        index = {category: code for code, category in enumerate(alphabet)}
        symbol_keys = symbol_keys * size + np.array([index[category] for category in column])
    found, first, kinds = np.unique(symbol_keys, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # order of the kinds by their first symbols
    n_keys = int(np.prod(sizes))
    if n_keys <= _MOST_KEYS:
        per_key = _count(keys, n_keys, weights)
        present = np.flatnonzero(per_key)
        amounts = per_key[present]
    else:
        present, inverse = np.unique(keys, return_inverse=True)
        amounts = np.bincount(inverse, weights=weights).astype(float)
    position = np.minimum(np.searchsorted(found, present), len(found) - 1)
    strange = found[position] != present
    if strange.any():
        row = int(np.argmax(keys == present[np.argmax(strange)]))
        raise ValueError(
            f"row {row} of Y is a combination of categories that no report of this mechanism has: "
            "these are reports of another mechanism, or not reports."
        )
    counts = np.zeros(len(found))
    counts[order[position]] = amounts
    return counts, order[kinds.reshape(-1)]


def _places(table: Any, source: Source) -> list[int]:
    """Find the columns of the cells: by name if both sides have names, else by number."""
    assert source.rows is not None
    names, wanted, width = list(table.names), list(source.columns), len(source.rows[0])
    named = all(isinstance(name, str) for name in [*names, *wanted]) and wanted
    if named and sorted(names) == sorted(wanted):
        return [names.index(name) for name in wanted]
    _check_order(table, wanted)
    if len(names) != width or (named and width > 1):
        raise ValueError(
            f"reports as cells have {width} columns{f', {wanted}' if wanted else ''}, but Y has "
            f"{len(names)}: {names}."
        )
    return list(range(width))


def _check_order(table: Any, wanted: Sequence[Any]) -> None:
    """Refuse a frame that has the wanted columns, whose names are numbers, in another order."""
    names, wanted = list(table.names), list(wanted)
    if not table.is_array and names != wanted and set(names) == set(wanted):
        raise ValueError(
            f"the reports have the same columns in another order: {names[:8]}, not {wanted[:8]}. "
            "Numbers may be names or places; put the columns in order, or give an array."
        )
