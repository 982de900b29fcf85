"""Reports of any form as numbers: equal rows have equal numbers."""

from collections.abc import Hashable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import refuse_masked
from skrldp.alphabet import CategoryError, plain

__all__ = ["ReportIndex"]

_UNREADABLE = (
    "a report holds values that cannot be compared; reports must be rows of numbers, strings, "
    "booleans or dates."
)
_EXACT = 2.0**53  # whole numbers up to here are exact as float64


class ReportIndex:
    """Numbers the different reports in the order in which they first occur."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._rows: list[Any] = []
        self._seen: dict[Any, int] = {}  # frames' rows as they come, which saves reading them anew

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, number: int) -> Any:
        """Return a report as it came: a scalar if it has one column, a tuple if several."""
        row = self._rows[number]
        values = row
        if isinstance(row, bytes):
            numbers = np.frombuffer(row).tolist()
            values = tuple(int(v) if v.is_integer() else v for v in numbers)
        return values[0] if len(values) == 1 else values

    def add(self, reports: Any, n_rows: int) -> NDArray[np.int64]:
        """Add the reports about some records to the index, and return their numbers.

        Shapes: returns (n_rows,). Raises TypeError, ValueError if `reports` is not a table with one
        report for each record.
        """
        frame = nw.from_native(reports, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            raise TypeError("the reports are a lazy frame: call .collect() on it.")
        if isinstance(frame, nw.DataFrame | nw.Series):
            table = frame.to_frame() if isinstance(frame, nw.Series) else frame
            rows = table.rows()
            self._check_length(len(rows), n_rows)
            return np.fromiter((self._of_frame(row) for row in rows), np.int64, n_rows)
        keys = _array_keys(reports)
        self._check_length(len(keys), n_rows)
        for key in dict.fromkeys(keys):  # each once, in the order of the rows
            self._number(key)
        return np.fromiter(map(self._numbers.__getitem__, keys), np.int64, n_rows)

    def _check_length(self, found: int, n_rows: int) -> None:
        if found != n_rows:
            raise ValueError(
                f"{n_rows:,} records were reported as {found:,} rows; there must be one report "
                "for each record, in the same order."
            )

    def _of_frame(self, row: tuple[Any, ...]) -> int:
        try:
            known = self._seen.get(row)
            if known is None:
                values = _plain_row(row)
                known = self._number(_as_bytes(values))
                if None not in values:  # missing values need not equal themselves
                    self._seen[row] = known
            return known
        except CategoryError:
            raise
        except (TypeError, ValueError):
            raise TypeError(_UNREADABLE) from None

    def _number(self, key: Hashable) -> int:
        number = self._numbers.setdefault(key, len(self._rows))
        if number == len(self._rows):
            self._rows.append(key)
        return number


def _array_keys(reports: Any) -> Sequence[Hashable]:
    """One key for each row of reports that are not a data frame."""
    if hasattr(reports, "toarray"):
        reports = reports.toarray()
    refuse_masked(reports, "the reports")
    try:
        array = np.asarray(reports)
    except ValueError as error:
        raise ValueError(
            "the reports are rows of different lengths; each must have the same columns."
        ) from error
    if array.ndim == 0:
        raise TypeError(f"the reports must be a table, got {type(reports).__name__}.")
    array = array.reshape(len(array), int(np.prod(array.shape[1:])))
    kind = array.dtype.kind
    if kind in "biu" and array.size and float(np.abs(array.astype(float)).max()) > _EXACT:
        kind = "O"
    if kind in "biuf":
        numbers = np.ascontiguousarray(array, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
        numbers[np.isnan(numbers)] = np.nan  # one kind of missing
        if not numbers.size:
            return [b""] * len(numbers)
        return numbers.view(np.dtype((np.void, 8 * numbers.shape[1]))).ravel().tolist()
    try:
        rows = list(map(tuple, array.tolist()))
        key_of = {row: _as_bytes(_plain_row(row)) for row in dict.fromkeys(rows)}
    except CategoryError:
        raise
    except (TypeError, ValueError):
        raise TypeError(_UNREADABLE) from None
    return [key_of[row] for row in rows]


def _as_bytes(key: tuple[Any, ...]) -> Hashable:
    """Write rows of numbers as an array of numbers would be, so that both count as equal."""
    if all(isinstance(value, int | float) and abs(value) <= _EXACT for value in key):
        return np.asarray(key, dtype=np.float64).tobytes()
    return key


def _plain_row(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(value if type(value) in (str, int, bool) else plain(value) for value in row)
