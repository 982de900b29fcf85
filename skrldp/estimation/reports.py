"""Reports of any form, read and counted: symbols, one-hot columns or cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Real
from operator import eq
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from skrldp._arrays import chunks, refuse_masked
from skrldp._typing import Floats
from skrldp.alphabet.columns import Column
from skrldp.alphabet.values import is_missing
from skrldp.joint import JointDistribution, as_counts
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sanitizers.access import as_block_sanitizer, as_sanitizer
from skrldp.table.columns import encode_column
from skrldp.table.lazy import distinct_rows, lazy_names
from skrldp.table.read import lazy_frame, read_table
from skrldp.table.select import numbers_of

__all__ = [
    "ENCODINGS",
    "Rows",
    "Source",
    "check_names",
    "count_reports",
    "number_reports",
    "read_mechanism",
    "read_rows",
    "read_source",
]

ENCODINGS = ("auto", "symbol", "onehot", "cells")

# What to do with weights that are no counts.
_WEIGHTED = (
    "where those who report have survey weights, give FrequencyEstimator(survey=) their columns"
)
_BLOCK = 1 << 16  # rows counted at a time, since bincount needs int64
_MOST_KEYS = 1 << 24  # combinations of categories that are counted in a table
_LOST = (
    " If they are cells (encode='cells' of an optimised mechanism): several symbols may be written "
    "as the same cell, and the mechanism alone does not say which. Pass the fitted sanitizer in "
    "its place, or reports with encode='symbol'."
)

_NOT_COUNTED = " Nothing can be estimated from encode='posterior': estimate from encode='symbol'."


class Coded(NamedTuple):
    """A column of categories."""

    categories: tuple[Any, ...]
    codes: NDArray[np.intp]  # (b,), number of each row's category

    @classmethod
    def of(cls, values: Sequence[Any]) -> "Coded":
        """Give categories numbers in the order in which they occur."""
        categories = tuple(dict.fromkeys(values))
        places = dict(zip(categories, range(len(categories)), strict=True))
        return cls(categories, np.array([places[value] for value in values], dtype=np.intp))

    def at(self, rows: NDArray[np.intp]) -> "Coded":
        """Return some rows, with the categories that they have."""
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        return Coded(tuple(self.categories[place] for place in present), codes.reshape(-1))


@dataclass(frozen=True)
class Source:
    """Where reports come from: a mechanism, and how it writes them."""

    mechanism: Mechanism  # the mechanism that was sampled
    written: list[Coded] | None  # the columns of a table of cells, a row for each symbol, if known
    columns: tuple[Any, ...]  # names of that table's columns; empty if not known
    names: tuple[Any, ...] = ()  # names of the columns that a sanitizer writes; empty if not known
    joint: JointDistribution | None = None  # the public distribution of a sanitizer


# -- the mechanism --------------------------------------------------------------------------------


def read_source(mechanism: Any) -> Source:
    """Make a source from a mechanism, its JSON, or a fitted sanitizer or pipeline."""
    own, sanitizer = read_mechanism(mechanism)
    if sanitizer is None:
        return Source(own, *_written(own, None))
    names, joint = tuple(sanitizer.get_feature_names_out()), sanitizer.joint_
    written = _written(own, joint.probabilities, names)
    return Source(own, *written, names, joint)


def read_mechanism(mechanism: Any) -> tuple[Mechanism, Any]:
    """Read a mechanism alone, without how its reports are written."""
    if isinstance(mechanism, str):
        mechanism = Mechanism.from_json(mechanism)
    if isinstance(mechanism, Mechanism):
        return mechanism, None
    if not (hasattr(mechanism, "transform") and hasattr(mechanism, "fit")):
        raise TypeError(
            "mechanism must be a Mechanism, its JSON text or a fitted sanitizer, got "
            f"{type(mechanism).__name__}."
        )
    try:
        sanitizer = as_sanitizer(mechanism)
    except NotFittedError as error:
        raise ValueError(
            f"mechanism is a {type(mechanism).__name__} that is not fitted, so it has made no "
            "reports. scikit-learn's clone (in cross-validation, say) unfits a sanitizer: pass its "
            "`mechanism_`, or wrap it in sklearn.frozen.FrozenEstimator."
        ) from error
    if as_block_sanitizer(mechanism) is not None:
        raise TypeError(
            "mechanism is a BlockSanitizer, which has a mechanism for each block: BlockEstimator "
            "estimates from the reports of all blocks."
        )
    if sanitizer is None:
        raise TypeError(
            f"mechanism is a {type(mechanism).__name__}, which is no sanitizer: give a Mechanism, "
            "its JSON text, a fitted sanitizer or a Pipeline that ends in a sanitizer."
        )
    return sanitizer.mechanism_, sanitizer


def _written(
    mechanism: Mechanism, distribution: NDArray[Any] | None, written_names: tuple[Any, ...] = ()
) -> tuple[list[Coded] | None, tuple[Any, ...]]:
    """Return what symbols look like as cells, column by column, and the names of the columns.

    Symbols that are cells or values of U are written as such; numbered symbols as the most probable
    cell at the public distribution, if that is known. Symbols that are integers are values of U if
    the sanitizer writes the columns of U.
    """
    names = tuple(name for name, _ in mechanism.columns)
    of_u = tuple(name for name, sensitive in mechanism.columns if not sensitive)
    numbered = mechanism.symbols == tuple(range(mechanism.shape[0]))
    if numbered and not (of_u and written_names == as_strings(of_u)):
        if distribution is None:
            return None, names
        cells = mechanism.likely_cells(distribution)
    else:
        found = _cells_of(mechanism)
        if found is None:
            return _columns_of(mechanism.symbols, len(of_u) > 1), of_u
        cells = found
    flags = [sensitive for _, sensitive in mechanism.columns] or [True, False]
    of_secrets, of_values = np.divmod(cells, len(mechanism.values))
    secrets = iter(_columns_of(mechanism.secrets, flags.count(True) > 1))
    values = iter(_columns_of(mechanism.values, flags.count(False) > 1))
    columns = [next(secrets).at(of_secrets) if s else next(values).at(of_values) for s in flags]
    return columns, names


def _cells_of(mechanism: Mechanism) -> NDArray[np.intp] | None:
    """Return the cells that the symbols are, (b,); None if some are no cells."""
    b, a = mechanism.shape
    if b == a and all(map(eq, mechanism.symbols, product(mechanism.secrets, mechanism.values))):
        return np.arange(a)
    places = {cell: place for place, cell in enumerate(mechanism.cells)}
    if not set(mechanism.symbols) <= set(places):
        return None
    return np.array([places[symbol] for symbol in mechanism.symbols], dtype=np.intp)


def _columns_of(alphabet: Sequence[Any], several: bool) -> list[Coded]:
    return [Coded.of(column) for column in (zip(*alphabet, strict=True) if several else [alphabet])]


def as_strings(columns: Sequence[Any]) -> tuple[str, ...]:
    """Name columns as sanitizers do: those that have only a position n are "xn"."""
    return tuple(name if isinstance(name, str) else f"x{name}" for name in columns)


# -- the form -------------------------------------------------------------------------------------


def _form_of(table: Any, source: Source) -> str:
    """Find the form of reports: by the names of their columns, or else as the only form possible.

    If the reports have no names, those that a sanitizer would write are used, except for a single
    column of values of U, since clients send one column too, of numbers.
    """
    width = len(table.names)
    for names in (table.names, source.names):
        found = _forms_by_name(tuple(names), width, source)
        if len(found) == 1 and (width > 1 or names is table.names or found != ["cells"]):
            return found[0]
    n_symbols, written = source.mechanism.shape[0], source.written
    fits = []
    if width == 1:
        fits.append("symbol")
    if width == n_symbols:
        fits.append("onehot")
    numbered = source.mechanism.symbols == tuple(range(n_symbols))
    if written and width == len(written) and not (width == 1 and numbered):
        fits.append("cells")
    if fits == ["symbol", "cells"]:
        return _numbers_or_values(table, source)
    if len(fits) == 1:
        return fits[0]
    if not fits:
        third = f", or the {len(written)} column(s) of a record ('cells')" if written else ""
        hint = _NOT_COUNTED if written else _LOST
        raise ValueError(
            f"Y has {width} columns, but a report of this mechanism is one number ('symbol') or "
            f"{n_symbols} columns of 0 and 1 ('onehot'){third}.{hint}"
        )
    raise ValueError(
        f"the reports may be meant as any of {fits}: say which with encode=..., such as "
        f"encode={fits[-1]!r}."
    )


def _forms_by_name(names: tuple[Any, ...], width: int, source: Source) -> list[str]:
    """List the forms whose columns have these names."""
    if len(names) != width or not all(isinstance(name, str) for name in names):
        return []
    found = []
    if names == ("report",):
        found.append("symbol")
    if _are_onehot(names, source.mechanism.shape[0]):
        found.append("onehot")
    if source.written and sorted(names) == sorted(as_strings(source.columns)):
        found.append("cells")
    return found


def _are_onehot(names: Sequence[Any], b: int) -> bool:
    return len(names) == b and list(names) == [f"report_{symbol}" for symbol in range(b)]


def _numbers_or_values(table: Any, source: Source) -> str:
    """Decide between numbers of symbols and values of U for a column without a name.

    An error is raised if a number in it can be both the number of one symbol and the value of
    another.
    """
    assert source.written is not None
    alphabet = [source.written[0].categories[code] for code in source.written[0].codes]
    numbers = range(len(alphabet))
    for symbol, value in enumerate(alphabet):
        if value in numbers and value != symbol:
            raise ValueError(
                "the reports may be meant as any of ['symbol', 'cells']: "
                f"{value!r} is the value of report {symbol} and the number of another. Say "
                "encode='symbol' for numbers, as clients make them, or encode='cells' for values."
            )
    _, unknown = encode_column(table, 0, Column.of_values(table.names[0], alphabet))
    return "symbol" if unknown and all(isinstance(v, Real) for v in unknown) else "cells"


# -- the reports ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """A table of reports, or the distinct rows of one."""

    table: Any  # two-dimensional
    weights: Any = None  # (n,), how many reports each row stands for; None for one
    are_distinct: bool = False  # whether these are the distinct rows of a lazy frame, in no order

    def named(self, row: int) -> str:
        """Say in a message which row is meant."""
        return f"a row (of {self.weights[row]:,} alike)" if self.are_distinct else f"row {row}"


def read_rows(Y: Any, source: Source, encode: str, sample_weight: ArrayLike | None) -> Rows:
    """Read reports: a table, a column of it, or the distinct rows of a lazy frame.

    No more distinct rows are brought than there are symbols, and one: if there are more, one of
    them is no report.

    Shapes: sample_weight (n,).
    """
    frame = lazy_frame(Y)
    if frame is None:
        return Rows(_as_table(Y), sample_weight)
    if sample_weight is not None:
        raise ValueError(
            "sample_weight cannot follow the rows of a lazy frame, which have no order. Equal "
            "reports are counted without it; if rows have counts, add them up, collect the result, "
            "and pass its counts as sample_weight."
        )
    names = tuple(lazy_names(frame))
    if len(names) > 1:
        _form_and_places(_Header(names), source, encode)
    return Rows(*distinct_rows(frame, source.mechanism.shape[0] + 1), are_distinct=True)


def _as_table(Y: Any) -> Any:
    """Make a table of one column from one-dimensional reports; leave tables as they are."""
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


def count_reports(rows: Rows, source: Source, encode: str) -> tuple[Floats, NDArray[np.intp]]:
    """Count how often each symbol was sent.

    Shape: counts (m,), kinds (b,).
    """
    table = read_table(rows.table)
    n_symbols = source.mechanism.shape[0]
    weights = None
    if rows.weights is not None:
        weights = as_counts(rows.weights, table.n_rows, "report", rows.table, weighted=_WEIGHTED)
    form, places = _form_and_places(table, source, encode)
    if form == "symbol":
        numbers = _numbers(table, 0, "symbols", rows)
        return _count(numbers, n_symbols, weights, rows), np.arange(n_symbols)
    if form == "onehot":
        return _count_onehot(table, places, weights, rows), np.arange(n_symbols)
    return _count_cells(table, places, source, weights, rows)


def number_reports(
    rows: Rows, source: Source, encode: str
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find what each row reports, where single rows matter; the kinds are those of the counts.

    Shapes: numbers (n,) of kinds, kinds (b,).
    """
    table = read_table(rows.table)
    n_symbols = source.mechanism.shape[0]
    form, places = _form_and_places(table, source, encode)
    if form == "cells":
        keys, of_symbols, _ = _keys(table, places, source, rows)
        place, order, kinds = _places_of_keys(keys, of_symbols, rows, keys)
        return order[place], kinds
    if form == "symbol":
        numbers = _numbers(table, 0, "symbols", rows)
        _count(numbers, n_symbols, None, rows)  # refuses what is no symbol
        return numbers.astype(np.intp), np.arange(n_symbols)
    _count_onehot(table, places, None, rows)
    columns = (symbol * _one(table, place, rows) for symbol, place in enumerate(places))
    return np.sum(list(columns), axis=0).astype(np.intp), np.arange(n_symbols)


@dataclass(frozen=True)
class _Header:
    """The names of a lazy frame's columns, which say what its rows are before any is read."""

    names: tuple[Any, ...]
    is_array: bool = False


def _form_and_places(table: Any, source: Source, encode: str) -> tuple[str, list[int]]:
    """Find the form of reports and their columns, in the mechanism's order."""
    n_symbols, width = source.mechanism.shape[0], len(table.names)
    form = _form_of(table, source) if encode == "auto" else encode
    if form == "cells":
        return form, _places(table, source)
    if form == "symbol":
        if width != 1:
            raise ValueError(
                f"encode='symbol' is one column of numbers, but Y has {width} columns."
            )
        return form, [0]
    if width != n_symbols:
        raise ValueError(
            f"encode='onehot' is a column for each of {n_symbols} symbols, but Y has {width} "
            "columns."
        )
    named = {name: place for place, name in enumerate(table.names)}
    own = [f"report_{symbol}" for symbol in range(n_symbols)]
    _check_order(table, range(n_symbols))
    return form, [named[name] for name in own] if named.keys() == set(own) else [*range(width)]


def _numbers(table: Any, position: int, what: str, rows: Rows) -> NDArray[Any]:
    """Read a column of whole numbers."""
    column = numbers_of(table, position)
    if column.dtype.kind == "O":
        try:
            if any(isinstance(value, str | bytes) for value in column):
                raise TypeError
            column = np.array([np.nan if is_missing(value) else value for value in column], float)
        except (TypeError, ValueError, OverflowError):  # messages of libraries may quote a value
            raise ValueError(f"{what} must be whole numbers, but Y holds other values.") from None
    if column.ndim != 1:  # of lists
        raise ValueError(f"{what} must be whole numbers, but Y holds other values.")
    if column.dtype.kind == "b":
        return column.view(np.uint8)
    if column.dtype.kind == "f":
        wrong = ~np.isfinite(column) | (column != np.floor(column))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"{what} must be whole numbers, but {rows.named(row)} of Y has none. Drop rows "
                "without a report."
            )
    elif column.dtype.kind not in "iu":
        raise ValueError(f"{what} must be whole numbers, but Y has dtype {column.dtype}.")
    return np.asarray(column)


def _count(numbers: NDArray[Any], size: int, weights: Floats | None, rows: Rows) -> Floats:
    counts = np.zeros(size)
    for part in chunks(len(numbers), _BLOCK):
        block = numbers[part]
        wrong = (block < 0) | (block >= size) if block.dtype.kind != "u" else block >= size
        if wrong.any():
            row = part.start + int(np.argmax(wrong))
            raise ValueError(
                f"{rows.named(row)} of Y has a number that is no symbol: the mechanism's are "
                f"numbered 0 to {size - 1}. These are reports of another mechanism, or not "
                "symbols."
            )
        if block.dtype.kind == "f" or block.dtype == np.uint64:
            block = block.astype(np.intp)
        own = None if weights is None else weights[part]
        counts += np.bincount(block, weights=own, minlength=size)
    return counts


def _count_onehot(table: Any, places: Sequence[int], weights: Floats | None, rows: Rows) -> Floats:
    counts, sums = np.zeros(len(places)), np.zeros(table.n_rows)
    for symbol, place in enumerate(places):
        column = _one(table, place, rows)
        sums += column
        counts[symbol] = column.sum() if weights is None else column @ weights
    if np.any(sums != 1):
        row = int(np.argmax(sums != 1))
        raise ValueError(
            f"each row of one-hot reports must have a single 1, but {rows.named(row)} of Y has "
            f"{int(sums[row])}."
        )
    return counts


def _one(table: Any, position: int, rows: Rows) -> Floats:
    column: Floats = _numbers(table, position, "one-hot reports", rows).astype(float)
    wrong = (column != 0) & (column != 1)
    if wrong.any():
        where = rows.named(int(np.argmax(wrong)))
        raise ValueError(f"one-hot reports must be 0 or 1, but {where} of Y has another number.")
    return column


# -- reports written as cells ---------------------------------------------------------------------


def _count_cells(
    table: Any, places: Sequence[int], source: Source, weights: Floats | None, rows: Rows
) -> tuple[Floats, NDArray[np.intp]]:
    """Count rows of categories: number the combinations, then look up that of each symbol."""
    keys, of_symbols, n_keys = _keys(table, places, source, rows)
    if n_keys <= _MOST_KEYS:
        per_key = _count(keys, n_keys, weights, rows)
        present = np.flatnonzero(per_key)
        amounts = per_key[present]
    else:
        present, inverse = np.unique(keys, return_inverse=True)
        amounts = np.bincount(inverse, weights=weights).astype(float)
    place, order, kinds = _places_of_keys(present, of_symbols, rows, keys)
    counts = np.zeros(len(order))
    counts[order[place]] = amounts
    return counts, kinds


def _keys(
    table: Any, places: Sequence[int], source: Source, rows: Rows
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Give combinations of categories numbers: those of rows (n,), of symbols (b,), how many.

    Raises ValueError for values that no report has.
    """
    assert source.written is not None
    sizes = [len(column.categories) for column in source.written]
    if np.prod([float(size) for size in sizes]) > 2.0**62:
        raise ValueError("the columns have too many categories for cells; use encode='symbol'.")
    keys = np.zeros(table.n_rows, dtype=np.int64)
    symbol_keys = np.zeros(source.mechanism.shape[0], dtype=np.int64)
    for place, column, size in zip(places, source.written, sizes, strict=True):
        codes, unknown = encode_column(table, place, Column(table.names[place], column.categories))
        if unknown:
            n_rows, row = unknown.total(), int(np.argmax(codes < 0))
            where, first_of = (
                f"{n_rows:,} row{'s' if n_rows > 1 else ''}",
                f", the first in row {row}",
            )
            if rows.are_distinct:
                where, first_of = rows.named(row), ""
            raise ValueError(
                f"column {table.names[place]!r} of Y has {where} with values that no report of "
                f"this mechanism has{first_of} (values are not shown): these are reports of "
                "another mechanism, or not reports."
            )
        keys = keys * size + codes
        symbol_keys = symbol_keys * size + column.codes
    return keys, symbol_keys, int(np.prod(sizes))


def _places_of_keys(
    wanted: NDArray[np.int64], of_symbols: NDArray[np.int64], rows: Rows, keys: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Find combinations among those of the symbols: their places, then kinds by place and symbol.

    Raises ValueError for a combination, of the rows' `keys`, that no symbol has.
    """
    found, first, kinds = np.unique(of_symbols, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # order of the kinds by their first symbols
    position = np.minimum(np.searchsorted(found, wanted), len(found) - 1)
    strange = found[position] != wanted
    if strange.any():
        row = int(np.argmax(keys == wanted[np.argmax(strange)]))
        raise ValueError(
            f"{rows.named(row)} of Y is a combination of categories that no report of this "
            "mechanism has: these are reports of another mechanism, or not reports."
        )
    return position, order, order[kinds.reshape(-1)]


def _places(table: Any, source: Source) -> list[int]:
    """Find the columns of the cells: by name if both sides have names, else by number."""
    if source.written is None:
        raise ValueError(f"these reports cannot be read as cells.{_LOST}")
    names, wanted, width = list(table.names), list(source.columns), len(source.written)
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


def check_names(what: str, joint: JointDistribution, mechanism: Mechanism) -> None:
    """Refuse a distribution of other secrets or values than a mechanism's."""
    for name, own, its in (
        ("secrets", mechanism.secrets, joint.secrets),
        ("values", mechanism.values, joint.values),
    ):
        if tuple(own) != tuple(its):
            raise ValueError(
                f"{what} has other {name} than the mechanism, or in another order; make it with "
                "JointDistribution(counts, mechanism.secrets, mechanism.values)."
            )
