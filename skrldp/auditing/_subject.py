"""What is audited: records go in, numbered reports come out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats, Integers
from skrldp.auditing._report_index import ReportIndex
from skrldp.client import RecordReader
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism
from skrldp.sanitizers import blank_record, codec_of, imputed_counts, write_reports

__all__ = ["CallableSubject", "SanitizerSubject", "Subject", "strange_values"]


_ENTRIES = 4_000_000  # of one call's reports: where reports are wide, records are passed in parts


@dataclass
class Subject:
    """A black box and the alphabets of its records."""

    report: Callable[[Any], Any]  # maps a table of records to their reports
    # secrets, values: (a1,) and (a2,); a record's cell has code ``s * a2 + u``
    secrets: tuple[Any, ...]
    values: tuple[Any, ...]
    mechanism: Mechanism | None = None  # what the reports should follow, if that is known
    index: ReportIndex = field(default_factory=ReportIndex)  # the different reports seen so far

    @property
    def n_cells(self) -> int:
        """Number of cells, a1·a2."""
        return len(self.secrets) * len(self.values)

    @property
    def imagined(self) -> int:
        """How many records of each secret a known mechanism's probabilities count as."""
        return 1000

    @property
    def rows_per_call(self) -> int:
        """How many records are passed in one call."""
        return _ENTRIES

    def records(self, cells: Integers, strange: tuple[int, Any] | None = None) -> Any:
        """Write records that have these cells, with one column's values replaced if asked."""
        raise NotImplementedError

    def columns(self) -> Sequence[tuple[Any, bool, tuple[Any, ...]]]:
        """Name of each column, whether it is sensitive, and its known values."""
        raise NotImplementedError

    def told_as(self, records: Any, cells: Integers) -> tuple[Integers, Floats | None] | None:
        """Find as what records with unknown values are to be reported, if that is known.

        Shapes: `cells` (n,), what they were before. Returns a cell for each, and the distribution
        that the values of U of each are drawn from, (n, a2), or None; None where they are to be
        refused, or nothing is known.
        """
        return None

    def known_reports(self) -> Integers:
        """Return the numbers of the reports that are known to exist: those of the symbols."""
        return np.empty(0, dtype=np.int64)

    def report_distribution(self, conditionals: Floats) -> Floats | None:
        """Return the distribution of each symbol given each secret, if known and not too large."""
        mechanism = self.mechanism
        if mechanism is None or mechanism.shape[0] * len(self.secrets) > _ENTRIES:
            return None
        distribution: Floats = mechanism.report_distribution(conditionals)
        return distribution

    def unchanged(self, cells: Integers) -> Integers:
        """Numbers of the reports that are the records of these cells themselves, -1 for none."""
        return np.full(len(cells), -1)

    def row(self, number: int) -> Any:
        """Return a report as it came: a scalar if it has one column, a tuple if several."""
        return self.index.row(number)

    def reports(self, cells: Integers, report: Callable[[Any], Any] | None = None) -> Integers:
        """Numbers of the reports about records that have these cells."""
        report = self.report if report is None else report
        step = self.rows_per_call
        parts = [cells[start : start + step] for start in range(0, len(cells), step)]
        found = [self.index.add(report(self.records(part)), len(part)) for part in parts]
        return np.concatenate(found)


@dataclass
class SanitizerSubject(Subject):
    """A fitted sanitizer, whose records have the form of the table it was fitted on."""

    sanitizer: Any = None
    symbols: Integers = field(init=False)  # the number of the report that each symbol is written as

    def __post_init__(self) -> None:
        self._like, self._codec = blank_record(self.sanitizer), codec_of(self.sanitizer)
        n_symbols, step = self.sanitizer.mechanism_.shape[0], self.rows_per_call
        parts = []
        for start in range(0, n_symbols, step):
            symbols = np.arange(start, min(start + step, n_symbols))
            like = self.records(np.zeros(len(symbols), dtype=np.int64))
            written = write_reports(self.sanitizer, symbols, like)
            parts.append(self.index.add(written, len(symbols)))
        self.symbols = np.concatenate(parts)

    @classmethod
    def of(cls, sanitizer: Any) -> "SanitizerSubject":
        """Make the subject for a fitted sanitizer."""
        joint = sanitizer.joint_
        return cls(
            sanitizer.transform,
            joint.secrets,
            joint.values,
            sanitizer.mechanism_,
            sanitizer=sanitizer,
        )

    @property
    def rows_per_call(self) -> int:
        """How many records are passed in one call."""
        width = len(self.sanitizer.get_feature_names_out())
        return max(1000, _ENTRIES // width)

    def records(self, cells: Integers, strange: tuple[int, Any] | None = None) -> Any:
        """Write records that have these cells, with one column's values replaced if asked."""
        return self._codec.decode(cells, like=self._like, strange=strange)

    def told_as(self, records: Any, cells: Integers) -> tuple[Integers, Floats | None] | None:
        """Find as what the fit reports records with unknown values: as "other", or by a draw."""
        sanitizer, codec, observe = self.sanitizer, self._codec, self.sanitizer.mechanism_.observe
        blind = observe == "nonsensitive"
        secrets = np.zeros(len(cells), dtype=np.int64) if blind else cells // len(self.values)
        try:
            draws = sanitizer.handle_unknown == "impute"
            values = codec.encode_values(records, unknown="mark" if draws else "other").values
        except ValueError:
            return None
        found = secrets * len(self.values) + np.maximum(values, 0)
        if values.min(initial=0) >= 0:
            return found, None
        counts = imputed_counts(sanitizer.joint_, observe)
        shares = counts / counts.sum(axis=1, keepdims=True)
        return found, shares[secrets]  # all have the same unknown value, or combination

    def known_reports(self) -> Integers:
        """Return the numbers of the symbols' reports; symbols written alike have the same."""
        return self.symbols

    def unchanged(self, cells: Integers) -> Integers:
        """Numbers of the reports that are the records of these cells themselves."""
        return self.index.add(self.records(cells), len(cells))

    def columns(self) -> Sequence[tuple[Any, bool, tuple[Any, ...]]]:
        """Name of each column, whether it is sensitive, and its known values."""
        return [
            (column.name, place in self._codec.sensitive, column.categories)
            for place, column in enumerate(self._codec.columns)
        ]


@dataclass
class CallableSubject(Subject):
    """Any function of a table of records: arrays with the columns of S first, then those of U.

    If a mechanism is given, the reports are the numbers of its symbols.
    """

    table: NDArray[Any] = field(init=False)  # one row for each cell
    n_sensitive: int = field(init=False)

    def __post_init__(self) -> None:
        rows = [(*_several(s), *_several(u)) for s in self.secrets for u in self.values]
        self.n_sensitive = len(_several(self.secrets[0]))
        if len({len(row) for row in rows}) > 1:
            raise ValueError(
                "the distribution's secrets (or values) are tuples of different lengths: each must "
                "name a value for every column."
            )
        numeric = all(isinstance(value, Number) for row in rows for value in row)
        self.table = np.array(rows) if numeric else _objects(rows)
        if self.mechanism is not None:
            n_symbols = self.mechanism.shape[0]
            self.index.add(np.arange(n_symbols), n_symbols)

    @classmethod
    def of(
        cls,
        report: Callable[[Any], Any],
        joint: JointDistribution,
        mechanism: Mechanism | None = None,
    ) -> "CallableSubject":
        """Make the subject for a function, with the alphabets of a distribution."""
        return cls(report, joint.secrets, joint.values, mechanism)

    def told_as(self, records: Any, cells: Integers) -> tuple[Integers, Floats | None] | None:
        """Find as what the mechanism's clients report records with unknown values: as "other"."""
        mechanism = self.mechanism
        if mechanism is None:
            return None
        own = [(place, sensitive) for place, sensitive, _ in self.columns()]
        alphabets = self.secrets, self.values
        try:
            reader = RecordReader(own, *alphabets, mechanism.observe, mechanism.others)
            return reader.cells(records).astype(np.int64), None
        except ValueError:
            return None

    def known_reports(self) -> Integers:
        """Return the numbers of the symbols, if they are known."""
        return np.arange(0 if self.mechanism is None else self.mechanism.shape[0])

    def records(self, cells: Integers, strange: tuple[int, Any] | None = None) -> Any:
        """Write records that have these cells, with one column's values replaced if asked."""
        rows = self.table[cells]
        if strange is not None:
            place, value = strange
            if not isinstance(value, Number) or rows.dtype == object:
                rows = rows.astype(object)
            else:
                rows = rows.astype(np.result_type(rows, np.asarray(value)))
            rows[:, place] = value
        return rows

    def columns(self) -> Sequence[tuple[Any, bool, tuple[Any, ...]]]:
        """Name of each column, whether it is sensitive, and its known values."""
        return [
            (place, place < self.n_sensitive, tuple(dict.fromkeys(column.tolist())))
            for place, column in enumerate(self.table.T)
        ]


def strange_values(known: Sequence[Any]) -> list[Any]:
    """Values that are none of a column's categories: one of the same type, and a missing one."""
    present = [value for value in known if value is not None]
    strange: list[Any] = [] if len(present) < len(known) else [None]
    kinds = {type(value) for value in present}
    if kinds == {bool}:
        return [2, *strange]
    if kinds <= {bool, int, float}:
        return [max(present, default=0) + 1013, *strange]
    for moment, step in ((date, timedelta(days=1013)), (timedelta, timedelta(days=1013))):
        if all(isinstance(value, moment) for value in present):  # a datetime is a date
            if kinds <= {date, datetime} and len(kinds) > 1:
                break
            return [max(present) + step, *strange]
    word = "no such value"
    while word in known:
        word += "!"
    return [word, *strange]


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _objects(rows: Sequence[tuple[Any, ...]]) -> NDArray[Any]:
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    table[:] = rows
    return table
