"""Conversion of raw records to cells, by the mechanism's alphabets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp.alphabet.categories import OTHER, Column, Factorized, hint_of, known_of, listed, named
from skrldp.alphabet.combinations import Alphabet, combine
from skrldp.alphabet.numbers import Draws, Knots, Numbers
from skrldp.alphabet.values import CategoryError, brief

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skrldp.mechanism.manifest import Manifest


_NOTHING = "Nothing was reported."


class RecordReader:
    """Finds the cell of raw records.

    Values are compared as in :mod:`skrldp.alphabet`.

    Parameters
    ----------
    columns : sequence of (name, bool)
        The table's columns and whether each is sensitive.
    secrets, values : sequence
        The alphabets.
    observe : {"all", "nonsensitive"}
        Whether cells are of S and U, or only of U.
    others : tuple, optional
        For each column of U, which values are "other": True for all unknown ones, a tuple of
        values, or None.
    numbers : sequence, optional
        For each column, its :class:`~skrldp.Bins` or :class:`~skrldp.Knots`, or None.
    """

    def __init__(
        self,
        columns: Sequence[tuple[Any, bool]],
        secrets: Sequence[Any],
        values: Sequence[Any],
        observe: str,
        others: Sequence[Any] | None = None,
        numbers: Sequence[Numbers | None] | None = None,
    ) -> None:
        self._names = [name for name, _ in columns]
        self._of_u = observe == "nonsensitive"
        self._shape = 1 if self._of_u else len(secrets), len(values)
        wanted = [(values, False)] if self._of_u else [(secrets, True), (values, False)]
        if not self._of_u and columns and all(flag for _, flag in columns):  # U is empty
            wanted, self._shape = wanted[:1], (1, len(secrets))
        self._parts = []
        for members, flag in wanted:
            positions = [index for index, (_, sensitive) in enumerate(columns) if sensitive is flag]
            others_of = [None] * len(positions) if flag or others is None else others
            rare = [entry if isinstance(entry, tuple) else () for entry in others_of]
            cut = None if numbers is None else [numbers[index] for index in positions]
            alphabet = Alphabet.of_members([self._names[p] for p in positions], members, rare, cut)
            takes_all = [entry is True for entry in others_of]
            self._parts.append(_Part(alphabet, positions, takes_all))
        self._wanted = sorted(index for part in self._parts for index in part.places)

    @classmethod
    def of(cls, mechanism: Any, observe: str | None = None) -> RecordReader:
        """Return the reader of a mechanism's records; `observe` defaults to the mechanism's own."""
        named, seen = mechanism.columns, observe or mechanism.observe
        columns = named or (("secret", True), ("value", False))
        numbers = mechanism.numbers if named else None
        parts = mechanism.secrets, mechanism.values
        return cls(columns, *parts, seen, mechanism.others, numbers)

    @property
    def columns(self) -> list[Column]:
        """The columns that are needed, with their categories."""
        return [column for part in self._parts for column in part.alphabet.columns]

    @property
    def knots(self) -> dict[Any, Knots]:
        """For each column with knots, the knots."""
        return {c.name: c.numbers for c in self.columns if isinstance(c.numbers, Knots)}

    def cells(self, records: Any, draws: Draws | None = None) -> NDArray[Any]:
        """Find the cells of many records; `draws` are for rounding numbers.

        Shapes: `records` (n, k). Returns (n,): in the smallest unsigned dtype.
        """
        members = self._members(records, draws)
        secrets = members[0] if len(members) > 1 else np.zeros_like(members[0])
        return combine(secrets, members[-1], self._shape)

    def _members(self, records: Any, draws: Draws | None) -> list[NDArray[Any]]:
        """Find the members of each part; reject unknown values in any column."""
        columns = self._columns(records)
        return [
            part.indices([columns[index] for index in part.places], draws) for part in self._parts
        ]

    @property
    def known(self) -> dict[Any, list[Any] | Numbers]:
        """For each column, the valid values of a record, or its Bins or Knots."""
        return {name: values for part in self._parts for name, values in part.known()}

    _or_tuple = ", or a tuple in this order"

    # -- shapes of records ------------------------------------------------------------------------

    def _picked(self, record: Any, label: str) -> dict[int, Any]:
        """Return the values of the required columns by their indices."""
        if hasattr(record, "keys"):
            self._check_names(record.keys(), label)  # a default must not replace a value
            return {index: record[self._names[index]] for index in self._wanted}
        _refuse_masked(record)
        if isinstance(record, np.ndarray) and record.ndim != 1:
            raise ValueError(f"{label} has shape {record.shape}, but is one row. {_NOTHING}")
        if not isinstance(record, tuple | list | np.ndarray):
            raise ValueError(
                f"{label} is of type {type(record).__name__}; it must be a dict of the columns "
                f"{self._listed_names()}{self._or_tuple}. {_NOTHING}"
            )
        return dict(zip(self._wanted, self._in_order(record, len(record), label), strict=True))

    def _columns(self, records: Any) -> dict[int, Any]:
        """Return the required columns, as arrays or lists, by their indices."""
        if isinstance(records, np.ndarray):
            _refuse_masked(records)
            if records.ndim != 2 or records.dtype.kind in "cV":
                raise ValueError(
                    f"an array of records must have shape (n, {len(self._names)}) and contain "
                    f"plain values, got shape {records.shape} and dtype {records.dtype}. {_NOTHING}"
                )
            parts = self._in_order(records.T, records.shape[1], "the array")
            return dict(zip(self._wanted, parts, strict=True))
        if isinstance(records, list | tuple):
            several = len(records) > 1
            labels = (f"record {n}" if several else "the record" for n in range(len(records)))
            rows = list(map(self._picked, records, labels))
            return {index: [row[index] for row in rows] for index in self._wanted}
        names = _column_names(records)
        if names is None:
            raise ValueError(
                "records must be a list of dicts or tuples, a dict of columns, a data frame with "
                f"its rows in memory, or an array, got {type(records).__name__}. {_NOTHING}"
            )
        self._check_names(names, "the table")
        columns = {p: _column(self._names[p], records[self._names[p]]) for p in self._wanted}
        lengths = {self._names[index]: len(column) for index, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"the columns differ in length: {brief(str(lengths))}. {_NOTHING}")
        return columns

    def _in_order(self, items: Any, n: int, label: str) -> list[Any]:
        if n == len(self._names):
            return [items[index] for index in self._wanted]
        if n == len(self._wanted):
            return list(items)
        alone = f", or the {len(self._wanted)} that are not sensitive" if self._of_u else ""
        raise ValueError(
            f"{label} has {n} values, but the mechanism has {len(self._names)} columns"
            f"{alone}: {self._listed_names()}. {_NOTHING}"
        )

    def _check_names(self, names: Collection[Any], label: str) -> None:
        for index in self._wanted:
            name = self._names[index]
            if name not in names or (isinstance(names, list) and names.count(name) > 1):
                problem = "has twice" if name in names else "lacks"
                raise ValueError(
                    f"{label} {problem} the column {brief(repr(name))}; the mechanism needs "
                    f"{self._listed_names()}. {_NOTHING}"
                )

    def _listed_names(self) -> str:
        return listed([self._names[index] for index in self._wanted])


def _column_names(table: Any) -> list[Any] | None:
    """Return the column names of a data frame of any library, or of a dict; None for neither."""
    if hasattr(table, "__getitem__") and not hasattr(table, "collect"):  # as for lazy frames
        for attribute in ("column_names", "columns", "keys"):
            if hasattr(table, attribute):
                names = getattr(table, attribute)
                return list(names() if callable(names) else names)
    return None


def _column(name: Any, values: Any) -> Any:
    """Return a column as an array if that loses nothing, otherwise as a list."""
    if isinstance(values, list | tuple | Factorized):
        return values
    _refuse_masked(values)
    if hasattr(values, "to_pylist") and values.null_count:
        # Converted to arrays, Arrow's dictionaries have a value instead of nulls
        return _listed(values)
    try:
        array = np.asarray(values)
    # Libraries raise different errors, for example Polars for integers of 128 bits
    except Exception:
        return _listed(values)
    if array.ndim != 1:
        raise ValueError(
            f"column {brief(repr(name))} must be one-dimensional, got shape {array.shape}. "
            f"{_NOTHING}"
        )
    if isinstance(values, np.ndarray):
        return array
    # Data frames lose information when they convert nulls and times with a zone to arrays.
    holes = array.dtype.kind == "f" and bool(np.isnan(array).any())
    if holes or array.dtype.kind in "mMUS":
        return _listed(values)
    return array


def _listed(values: Any) -> list[Any]:
    """Return the values of a column of any library as Python objects."""
    methods = "to_list", "to_pylist", "tolist"
    method = next((name for name in methods if hasattr(values, name)), "__iter__")
    return list(getattr(values, method)())


def _refuse_masked(array: Any) -> None:
    if isinstance(array, np.ndarray) and hasattr(array, "mask"):
        raise ValueError(f"masked arrays are not supported; pass None if missing. {_NOTHING}")


class BlockReader(RecordReader):
    """Finds the codes of raw records in every column of a manifest, whatever block they report.

    A manifest does not contain the order of its table's columns. Values that are looked up by index
    could belong to different columns, so that S would be reported as U. They are therefore read
    only if the names are the indices.
    """

    def __init__(self, manifest: Manifest) -> None:
        columns = manifest.columns
        self._names = [name for name, _ in columns]
        self._of_u = manifest.observe == "nonsensitive"
        self._parts = []
        secret = list(range(len(manifest.in_every_block)))
        self._has_secret = bool(secret) and not self._of_u
        if self._has_secret:
            alphabet = manifest.secret_alphabet
            self._parts.append(_Part(alphabet, secret, [False] * len(secret)))
        for index, column in enumerate(manifest.encoders, len(secret)):
            takes_all = manifest.others[column.name] is True
            self._parts.append(_Part(Alphabet((column,)), [index], [takes_all]))
        self._wanted = sorted(index for part in self._parts for index in part.places)

    def codes(
        self, records: Any, draws: Draws | None = None
    ) -> tuple[NDArray[Any], list[NDArray[Any]]]:
        """Find the codes of S, and of each column of U; reject unknown values in any column.

        Shapes: `records` (n, k); returns arrays (n,). `draws` are for rounding numbers.
        """
        members = self._members(records, draws)
        if self._has_secret:
            return members[0], members[1:]
        return np.zeros_like(members[0], np.uint8), members

    _or_tuple = ""

    def _in_order(self, items: Any, n: int, label: str) -> list[Any]:
        width = len(self._names)
        if {type(name) for name in self._names} != {int} or set(self._names) != set(range(width)):
            raise ValueError(
                f"{label} has values by position, but the columns of blocks are found by name. "
                f"Pass dicts or a table with the columns {self._listed_names()}. {_NOTHING}"
            )
        if n != width:
            raise ValueError(
                f"{label} has {n} values, but the table has {width} columns. {_NOTHING}"
            )
        return [items[self._names[index]] for index in self._wanted]


# --- S and U -------------------------------------------------------------------------------------


class _Part:
    """S or U: its columns' indices, its alphabet, and which columns accept any value."""

    def __init__(
        self, alphabet: Alphabet, positions: Sequence[int], takes_all: Sequence[bool]
    ) -> None:
        self.places = positions
        self.alphabet, self._takes_all = alphabet, takes_all

    def known(self) -> Iterator[tuple[Any, list[Any] | Numbers]]:
        """Yield each column's name and known values; "other" only if it is a value."""
        for column, takes_all in zip(self.alphabet.columns, self._takes_all, strict=True):
            has_others = takes_all or column.infrequent
            values = [value for value in column.categories if not (has_others and value == OTHER)]
            yield column.name, column.numbers or [*values, *column.infrequent]

    def indices(self, values: Sequence[Any], draws: Draws | None = None) -> NDArray[Any]:
        """Find the combinations of rows, given by columns.

        Raises ValueError if a value or a combination is unknown.
        """
        columns, codes = self.alphabet.columns, []
        for column, entries, takes_all in zip(columns, values, self._takes_all, strict=True):
            code = _codes(column, entries, draws)
            if code.min(initial=0) < 0 and not takes_all:
                hint = hint_of(column, (entries[row] for row in np.flatnonzero(code < 0)))
                raise ValueError(self._unknown([column], hint))
            codes.append(code)
        group = any(self._takes_all)
        members = self.alphabet.index_with_others(codes) if group else self.alphabet.index(codes)
        if members.min(initial=0) < 0:
            raise ValueError(self._unknown(columns))
        return members

    def _unknown(self, columns: Sequence[Column], hint: str = "") -> str:
        """Name the columns with unknown values or combinations, without revealing these."""
        known = "each value, but not together"
        if len(columns) == 1:
            known = known_of(columns[0])
        cut = any(column.numbers is not None for column in columns)
        wider = "for a wider range" if cut else "with them in `categories`"
        mapped = f"Map such values to known ones, or have the mechanism designed {wider}."
        return (
            f"{named(columns)}: the mechanism does not know a value (not shown). It knows {known}. "
            f"{hint or mapped} {_NOTHING}"
        )


def _codes(column: Column, values: Any, draws: Draws | None) -> NDArray[Any]:
    try:
        column.refuse_rounded(values)
    except CategoryError as error:
        raise ValueError(f"{error} {_NOTHING}") from None
    try:
        return column.codes(values, draws)
    except (TypeError, ValueError):  # whose message might quote the value
        raise ValueError(
            f"{named([column])} contains values that cannot be categories: categories are strings, "
            f"numbers, booleans, dates or missing. {_NOTHING}"
        ) from None
