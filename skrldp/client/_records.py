"""Raw records to cells, by what the mechanism's alphabets hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp.alphabet import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RecordReader"]

_SHOWN = 8  # values that a message lists
_NOTHING = "Nothing was reported."


class RecordReader:
    """Finds the cell of raw records.

    Values compare as in :mod:`skrldp.table`: 1, 1.0 and True are one category, "1" is another, and
    missing values of every kind are None.

    Parameters
    ----------
    columns : sequence of (name, bool)
        The table's columns and whether each is sensitive.
    secrets, values : sequence
        The alphabets.
    observe : {"all", "nonsensitive"}
        Whether the cell is of S and U, or of U alone.
    """

    def __init__(
        self,
        columns: Sequence[tuple[Any, bool]],
        secrets: Sequence[Any],
        values: Sequence[Any],
        observe: str,
    ) -> None:
        self._names = [name for name, _ in columns]
        self._blind = observe == "nonsensitive"
        self._n_values = len(values)
        wanted = [(values, False)] if self._blind else [(secrets, True), (values, False)]
        self._parts = []
        for members, flag in wanted:
            places = [place for place, (_, sensitive) in enumerate(columns) if sensitive is flag]
            self._parts.append(_Part([self._names[p] for p in places], places, members))
        self._wanted = sorted(place for part in self._parts for place in part.places)
        self._dtype = np.min_scalar_type(len(values) * (1 if self._blind else len(secrets)) - 1)

    def cell(self, record: Any) -> int:
        """Find the cell of one record.

        Parameters
        ----------
        record : mapping or sequence

        Returns
        -------
        int
        """
        raw = self._picked(record, "the record")
        return int(self._coded({place: [value] for place, value in raw.items()})[0])

    def cells(self, records: Any) -> NDArray[Any]:
        """Find the cells of many records.

        Parameters
        ----------
        records : list of records, mapping of columns, data frame, or array of shape (n, k)

        Returns
        -------
        array of shape (n,)
            In the smallest unsigned dtype.
        """
        return self._coded(self._columns(records))

    def _coded(self, columns: dict[int, Any]) -> NDArray[Any]:
        """Combine the parts' members into cells."""
        found = [part.indices([columns[place] for place in part.places]) for part in self._parts]
        cells = found[0] if self._blind else found[0] * self._n_values + found[1]
        return cells.astype(self._dtype)

    # -- shapes of records ------------------------------------------------------------------------

    def _picked(self, record: Any, what: str) -> dict[int, Any]:
        """Pick the values of the columns that are needed, by their places."""
        if hasattr(record, "keys"):
            self._check_names(record.keys(), what)  # a default would pass for the value
            return {place: record[self._names[place]] for place in self._wanted}
        if isinstance(record, np.ndarray) and record.ndim != 1:
            raise ValueError(f"{what} has shape {record.shape}, but is one row. {_NOTHING}")
        if not isinstance(record, tuple | list | np.ndarray):
            raise ValueError(
                f"{what} is of type {type(record).__name__}; it must be a dict of the columns "
                f"{self._listed_names()}, or a tuple in this order. {_NOTHING}"
            )
        return dict(zip(self._wanted, self._in_order(record, len(record), what), strict=True))

    def _columns(self, records: Any) -> dict[int, Any]:
        """Take columns apart, as arrays or lists, by their places."""
        if isinstance(records, np.ndarray):
            _refuse_masked(records)
            if records.ndim != 2 or records.dtype.kind in "cV":
                raise ValueError(
                    f"an array of records must have shape (n, {len(self._names)}) and hold plain "
                    f"values, got shape {records.shape} and dtype {records.dtype}. {_NOTHING}"
                )
            parts = self._in_order(records.T, records.shape[1], "the array")
            return dict(zip(self._wanted, parts, strict=True))
        if isinstance(records, list | tuple):
            rows = [self._picked(row, f"record {n}") for n, row in enumerate(records)]
            return {place: [row[place] for row in rows] for place in self._wanted}
        names = _column_names(records)
        if names is None:
            raise ValueError(
                "records must be a list of dicts or tuples, a dict of columns, a data frame with "
                f"its rows in memory, or an array, got {type(records).__name__}. {_NOTHING}"
            )
        self._check_names(names, "the table")
        columns = {p: _column(self._names[p], records[self._names[p]]) for p in self._wanted}
        lengths = {self._names[place]: len(column) for place, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"the columns differ in length: {lengths}. {_NOTHING}")
        return columns

    def _in_order(self, items: Any, n: int, what: str) -> list[Any]:
        if n == len(self._names):
            return [items[place] for place in self._wanted]
        if n == len(self._wanted):
            return list(items)
        alone = f", or the {len(self._wanted)} that are not sensitive" if self._blind else ""
        raise ValueError(
            f"{what} has {n} values, but the mechanism has {len(self._names)} columns"
            f"{alone}: {self._listed_names()}. {_NOTHING}"
        )

    def _check_names(self, names: Collection[Any], what: str) -> None:
        for place in self._wanted:
            if self._names[place] not in names:
                raise ValueError(
                    f"{what} lacks the column {self._names[place]!r}; the mechanism needs "
                    f"{self._listed_names()}. {_NOTHING}"
                )

    def _listed_names(self) -> str:
        return ", ".join(repr(self._names[place]) for place in self._wanted)


def _column_names(table: Any) -> list[Any] | None:
    """Return the column names of a data frame of any library, or of a dict; None for neither."""
    if hasattr(table, "__getitem__") and not hasattr(table, "collect"):  # as lazy frames have
        for attribute in ("column_names", "columns", "keys"):
            if hasattr(table, attribute):
                names = getattr(table, attribute)
                return list(names() if callable(names) else names)
    return None


def _column(name: Any, values: Any) -> Any:
    """See a column as an array where that loses nothing, and else as a list."""
    if isinstance(values, list | tuple):
        return values
    _refuse_masked(values)
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"column {name!r} is no column: its shape is {array.shape}. {_NOTHING}")
    if isinstance(values, np.ndarray):
        return array
    # Data frames write null and moments with a zone into arrays in ways that lose something.
    holes = array.dtype.kind == "f" and bool(np.isnan(array).any())
    if holes or array.dtype.kind in "mM":
        for method in ("to_list", "to_pylist", "tolist"):
            if hasattr(values, method):
                return getattr(values, method)()
    return array


def _refuse_masked(array: Any) -> None:
    if isinstance(array, np.ndarray) and hasattr(array, "mask"):
        raise ValueError(f"masked arrays are not supported; pass None for a hole. {_NOTHING}")


# --- Alphabets -----------------------------------------------------------------------------------


class _Places(dict[Any, int]):
    """Places of a column's categories; −1 for what is none."""

    def __missing__(self, value: Any) -> int:
        return self.of_plain(value)

    def of_plain(self, value: Any) -> int:
        try:
            return self.get(plain(value), -1)
        except (ValueError, OverflowError, ImportError):  # infinite, or a moment out of range
            return -1


class _Column:
    """One column's categories."""

    def __init__(self, name: Any, categories: Iterable[Any]) -> None:
        self.name = name
        self.places = _Places()
        for category in categories:
            self.places.setdefault(plain(category), len(self.places))
        self.size = len(self.places)

    def codes(self, values: Any) -> NDArray[np.int64]:
        """Find the place of each value; −1 for those that are no category."""
        if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
            return self._codes_of_numbers(values)
        if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
            distinct, inverse = np.unique(values, return_inverse=True)
            return self._codes_of_objects(list(distinct))[inverse]
        return self._codes_of_objects(values.tolist() if isinstance(values, np.ndarray) else values)

    def _codes_of_objects(self, values: Sequence[Any]) -> NDArray[np.int64]:
        find = self.places.__getitem__
        if np.timedelta64 in set(map(type, values)):  # for some NumPys it equals a number
            find = self.places.of_plain
        try:
            return np.fromiter(map(find, values), dtype=np.int64, count=len(values))
        except TypeError as error:
            raise ValueError(
                f"column {self.name!r} holds values that cannot be categories ({error}). {_NOTHING}"
            ) from error

    def _codes_of_numbers(self, values: NDArray[Any]) -> NDArray[np.int64]:
        kind = values.dtype.kind
        wide = np.dtype({"b": "u8", "u": "u8", "i": "i8", "f": "f8"}[kind])
        values = values.astype(wide, copy=False)
        known = _exactly(wide, self.places)
        codes = np.full(len(values), -1, dtype=np.int64)
        if known:
            numbers = np.array(sorted(known), dtype=wide)
            places = np.array([known[number] for number in sorted(known)], dtype=np.int64)
            near = np.searchsorted(numbers, values)
            np.minimum(near, len(numbers) - 1, out=near)
            codes = np.where(numbers[near] == values, places[near], -1)
        if kind == "f" and None in self.places:
            codes[np.isnan(values)] = self.places[None]
        return codes


def _exactly(dtype: np.dtype[Any], places: dict[Any, int]) -> dict[Any, int]:
    """Return the categories that are numbers of a dtype, without rounding."""
    known: dict[Any, int] = {}
    for category, place in places.items():
        if not isinstance(category, bool | int | float):
            continue
        if dtype.kind == "f":
            try:
                number: Any = float(category)
            except OverflowError:
                continue
        else:
            limits = np.iinfo(dtype)
            number = int(category) if limits.min <= category <= limits.max else None
        if number == category:
            known[number] = place
    return known


class _Part:
    """S or U: some columns, and the combinations of their categories that it can take.

    Column by column, a step holds the sorted keys ``prefix * size + place`` of the combinations; a
    key's place among them numbers the prefix that is one column longer.
    """

    def __init__(self, names: Sequence[Any], places: Sequence[int], members: Sequence[Any]) -> None:
        self.places = places
        rows = [(member,) for member in members] if len(names) == 1 else members
        self._columns = [_Column(name, [row[j] for row in rows]) for j, name in enumerate(names)]
        codes = [column.codes([row[j] for row in rows]) for j, column in enumerate(self._columns)]
        prefix = codes[0]
        self._steps = []
        for column, code in zip(self._columns[1:], codes[1:], strict=True):
            known, prefix = np.unique(prefix * column.size + code, return_inverse=True)
            self._steps.append(known)
        self._members = np.argsort(prefix)

    def indices(self, columns: Sequence[Any]) -> NDArray[np.int64]:
        """Find the members of rows, given column by column.

        Raises
        ------
        ValueError
            If a value or a combination is unknown.
        """
        codes = []
        for column, values in zip(self._columns, columns, strict=True):
            code = column.codes(values)
            if code.min(initial=0) < 0:
                raise ValueError(_unknown([column], [values], np.flatnonzero(code < 0)))
            codes.append(code)
        prefix = codes[0]
        for column, code, known in zip(self._columns[1:], codes[1:], self._steps, strict=True):
            keys = prefix * column.size + code
            prefix = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            strange = known[prefix] != keys
            if strange.any():
                raise ValueError(_unknown(self._columns, columns, np.flatnonzero(strange)))
        return self._members[prefix]


# --- Words ---------------------------------------------------------------------------------------


def _unknown(columns: Sequence[_Column], values: Sequence[Any], rows: NDArray[Any]) -> str:
    """Say which values of a column, or combinations of several columns', are unknown."""
    n_rows = len(values[0])
    found: dict[str, int] = {}  # as they are shown, with the first row of each
    for row in rows.tolist():
        several = [repr(_shown(part[row])) for part in values]
        found.setdefault(several[0] if len(several) == 1 else f"({', '.join(several)})", row)
        if len(found) > _SHOWN:
            break
    where = {text: f"{text} in record {row}" if n_rows > 1 else text for text, row in found.items()}
    names = ", ".join(repr(column.name) for column in columns)
    known = "each value, but not together"
    if len(columns) == 1:
        known = _listed([repr(category) for category in columns[0].places])
    return (
        f"column{'s' if len(columns) > 1 else ''} {names}: the mechanism does not know "
        f"{_listed(list(where.values()))} ({len(rows):,} of {n_rows:,} record"
        f"{'s' if n_rows > 1 else ''}). It knows {known}. "
        "Map such values to known ones before reporting, or have the mechanism designed with them "
        f"in `categories`. {_NOTHING}"
    )


def _shown(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts[:_SHOWN]) + (", ..." if len(texts) > _SHOWN else "")
