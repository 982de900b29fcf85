"""Conversion of record batches to reports, and to blocks and their reports."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._arrays import SetOnce, smallest_dtype
from skrldp._frames import refuse_index
from skrldp.alphabet.categories import listed
from skrldp.alphabet.numbers import Draws
from skrldp.alphabet.values import brief
from skrldp.batches.arrow import (
    any_twice,
    arrow_numbers,
    as_arrow,
    check_columns,
    check_id_type,
    in_one_chunk,
    is_table,
    on_its_own,
    own_type,
    passed_on,
    pyarrow,
    read_ids,
    read_values,
    refuse_duplicates,
)
from skrldp.batches.keys import CheckedKey
from skrldp.claims_in_words import claimed
from skrldp.client.records import BlockReader, RecordReader
from skrldp.client.rounding_to_knots import KeptRounding
from skrldp.mechanism.manifest import Manifest, read_json
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sampling.random_bits import IntegerIds, KeyedStream, OctetIds, hashes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


_INSTEAD: Any = {Manifest: ", several: use BlockReporter.", Mechanism: ", one: use Reporter."}
_ROWS = 1 << 16  # number of rows of a table to report at a time
_TYPES = [f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("u", "")]


class Reporter(SetOnce):
    """A function from an iterator of Arrow record batches to one of reports, for engines.

    The report of a row is a function of the key, the row's id, its cell and the mechanism, so that
    it is the same in any batch, order, process and retry.

    Parameters
    ----------
    mechanism : Mechanism, str or bytes
        The mechanism, or the output of its ``to_json()``. Its columns need names.
    id : str
        The column that identifies the person of a record: integers, strings or bytes (UUIDs are 16
        bytes). 7 and "7" are the same person; "007" and b"7" are different ones. The empty string
        is not an id.
    key : KeyFile, KeyVariable, bytes or function
        The secret key, of at least 16 bytes: a reference from which each process reads it; or a
        function without arguments that returns it and that workers can import; or the key itself,
        in which case the reporter cannot be pickled. **Whoever has the key can undo the
        randomisation.**
    keep : sequence of str, default=()
        Further columns to keep, without categories of other rows (which a Polars ``Enum``
        contains). The mechanism's columns are rejected, because they must not leave.
    name : str, default="report"
        The column of the reports.
    type : str or pyarrow.DataType, optional
        Integer type of the reports, such as "int32" if an engine has no unsigned integers. The
        default is the smallest unsigned type for all symbols.
    key_check : str, optional
        The :func:`key_check` of the key. It is stored with the reporter, and a process with a
        different key reports nothing, because it would report everybody a second time. If not
        given, the key is read immediately. Pass it if the key cannot be read here, and in
        everything that runs repeatedly.

    Attributes
    ----------
    mechanism : Mechanism
    encode : str
        Form of the reports, "symbol": ``FrequencyEstimator(mechanism, encode=reporter.encode)``.

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If the JSON is not a mechanism of this version, or a manifest; if the mechanism's columns
        have no names, the key is too short, or cannot be read although there is no `key_check`,
        `id` or `keep` names a column of the mechanism, or `type` is too narrow.

    Notes
    -----
    The reporter can be pickled: the pickle contains the mechanism's JSON, the reference to the key
    and its check. Each process reads the key when it computes its first report.

    All rows of a batch are reported or none. Ids are checked for duplicates within each batch, but
    not across batches, because this would need memory for all ids: call :func:`check_ids` once.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from skrldp import Mechanism, batches
    >>> mechanism = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], ("no", "yes"), ("any",))
    >>> mechanism = mechanism.named(None, [("ill", True), ("place", False)])
    >>> reporter = batches.Reporter(mechanism, id="person", key=bytes(range(32)))
    >>> record = {"person": [17, 18], "ill": ["yes", "no"], "place": ["any", "any"]}
    >>> batch = pa.RecordBatch.from_pydict(record)
    >>> [reports] = reporter([batch])
    >>> reports.schema.names
    ['person', 'report']
    >>> [again] = reporter([batch.slice(1)])
    >>> again["report"][0] == reports["report"][1]
    True
    """

    encode = "symbol"

    def __init__(
        self,
        mechanism: Mechanism | Manifest | str | bytes,
        *,
        id: str,
        key: Any,
        keep: Sequence[str] = (),
        name: str = "report",
        type: Any = None,
        key_check: str | None = None,
    ) -> None:
        is_text = isinstance(mechanism, str | bytes)
        self.mechanism: Any = _loaded(mechanism) if is_text else mechanism
        if not isinstance(self.mechanism, self._kind):
            kind = builtins.type(self.mechanism)
            raise (ValueError if is_text else TypeError)(
                f"mechanism must be a {self._kind.__name__} or the text of its to_json(), got "
                f"{kind.__name__}{_INSTEAD.get(kind, '.')}"
            )
        self._columns = self.mechanism.columns or (("secret", True), ("value", False))
        self._id, self._name = id, name
        self._keep = _checked_names(self._columns, id, self._names, keep)
        self._type = _checked_type(type, self._n_symbols)
        self._key = CheckedKey.of(key, key_check)
        self._stream: KeyedStream | None = None
        self._rounding: KeptRounding | None = None
        self._reader = self._new_reader()
        blind = self.mechanism.observe == "nonsensitive"
        self._needed = [name for name, sensitive in self._columns if not (blind and sensitive)]

    # -- methods that a reporter of manifests overrides
    # ----------------------------------------------
    _kind: Any = Mechanism

    @property
    def _names(self) -> tuple[str, ...]:
        """Names of the columns computed from a record."""
        return (self._name,)

    @property
    def _n_symbols(self) -> int:
        return int(self.mechanism.shape[0])

    @property
    def _claimed(self) -> float | None:
        """Claimed leakage of a report; None if nothing is claimed."""
        claims = self.mechanism.claims
        return None if claims is None else claims.eps

    def _new_reader(self) -> Any:
        return RecordReader.of(self.mechanism)

    def _draw(self, records: dict[str, Any], ids: IntegerIds | OctetIds) -> list[NDArray[Any]]:
        """Draw the output for records: arrays (n,), one for each name."""
        cells = self._reader.cells(records, self._draws(ids))
        return [self._keyed().sample(self.mechanism.form.sampler, cells, ids)]

    # -- methods of all reporters -----------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that batches must have: the id, the observed columns, and the kept ones."""
        return tuple(dict.fromkeys((self._id, *self._needed, *self._keep)))

    @property
    def digest(self) -> str:
        """SHA-256 of the mechanism's JSON, in hexadecimal."""
        return self.mechanism.digest

    @property
    def key_check(self) -> str:
        """The :func:`key_check` of the key: 16 digits."""
        return self._key.check

    def __call__(self, records: Any) -> Any:
        """Report the records of a table, or of batches, one batch at a time.

        Parameters
        ----------
        records : iterable of pyarrow.RecordBatch, pyarrow.Table or data frame
            Batches, or a reader of batches (with ``__arrow_c_stream__``); or a whole table of any
            library that narwhals supports, such as pandas and polars.

        Returns
        -------
        iterator of pyarrow.RecordBatch, or table
            With the schema :meth:`output_schema`; for a table, a table of the same library with
            rows in the same order, and with pandas' index, which must not contain a reported
            column.

        Raises
        ------
        TypeError
            If it is of a different type.
        ValueError
            As :meth:`report_batch`. For a table, either all rows are reported or none; for batches,
            earlier ones have been reported then.
        """
        if is_table(records):
            refuse_index(records, [name for name, _ in self._columns])
            return _report_table(self, records, [self._id, *self._keep])
        return self._report_each(records)

    def _report_each(self, batches: Iterable[Any]) -> Iterator[Any]:
        if hasattr(batches, "__arrow_c_stream__"):
            batches = pyarrow().RecordBatchReader.from_stream(batches)
        for batch in batches:
            yield self.report_batch(batch)

    def report_batch(self, batch: Any) -> Any:
        """Report all records of one batch, or none.

        Parameters
        ----------
        batch : pyarrow.RecordBatch

        Returns
        -------
        pyarrow.RecordBatch
            A row for each row, in the same order.

        Raises
        ------
        TypeError
            If it is not a record batch.
        ValueError
            If a column is missing; ids are missing, duplicate, or not integers, strings or bytes; a
            value is unknown to the mechanism; or the key cannot be read.
        """
        reports, hashes = reported(self, batch)
        refuse_duplicates(self._id, batch.column(self._id), hashes)
        return reports

    def output_schema(self, schema: Any) -> Any:
        """Return the schema of the reports of batches.

        Parameters
        ----------
        schema : pyarrow.Schema
            Schema of the batches.

        Returns
        -------
        pyarrow.Schema
            The id, the report and the kept columns, without dictionaries and views.

        Raises
        ------
        ValueError
            If a column is missing or duplicate, the id's type is not a type of ids, or that of a
            kept column is nested.
        """
        check_columns(self.columns, schema.names)
        check_id_type(self._id, schema.field(self._id).type)
        id, *keep_fields = ((n, own_type(n, schema.field(n).type)) for n in (self._id, *self._keep))
        return pyarrow().schema([id, *self._made_fields(), *keep_fields])

    def _made_fields(self) -> list[Any]:
        """Return the output columns for each record."""
        pa = pyarrow()
        return [pa.field(name, getattr(pa, self._type)()) for name in self._names]

    def _beside(self, ids: IntegerIds | OctetIds) -> list[Any]:
        """Return the columns in addition to the reports."""
        return []

    def _keyed(self) -> KeyedStream:
        if self._stream is None:
            key = self._key.read()
            self._rounding = KeptRounding(key, self._reader.knots)
            self._stream = self._stream_of(key)
        return self._stream

    def _draws(self, ids: IntegerIds | OctetIds) -> Draws:
        """Return the draws that round the numbers of people."""
        self._keyed()
        assert self._rounding is not None
        return self._rounding.draws(lambda stream, zeros: stream.tapes(zeros, ids))

    def _stream_of(self, key: bytes) -> KeyedStream:
        return KeyedStream(key, self.mechanism.digest)

    def _options(self) -> dict[str, Any]:
        """Return the arguments except the mechanism, for pickles."""
        options = {"id": self._id, "key": self._key.source, "keep": self._keep, "name": self._name}
        return options | {"type": self._type, "key_check": self.key_check}

    def __reduce__(self) -> Any:
        return _restored, (builtins.type(self), self.mechanism.to_json(), self._options())

    def __deepcopy__(self, memo: Any = None) -> Reporter:
        return self  # it is immutable

    __copy__ = __deepcopy__

    def __repr__(self) -> str:
        return (
            f"{builtins.type(self).__name__}({self._n_symbols} reports, id {self._id!r}, "
            f"key {self._key.source!r}, {claimed(self._claimed)}, digest {self.digest[:12]})"
        )


def _report_table(reporter: Reporter, records: Any, keep_names: list[str]) -> Any:
    """Report all records of a table, or none, in a table of the same library.

    Rows keep their order. `kept` names the columns that are copied unchanged.
    """
    pa = pyarrow()
    if isinstance(records, pa.RecordBatch):
        return reporter.report_batch(records)
    if isinstance(records, pa.Table):
        check_columns(reporter.columns, records.column_names)
        return _report_arrow(reporter, records.select(reporter.columns))
    import narwhals.stable.v2 as nw

    frame = nw.from_native(records, eager_only=True)
    check_columns(reporter.columns, frame.columns)
    reports = _report_arrow(reporter, as_arrow(frame.select(reporter.columns)))
    table_reports = nw.from_arrow(reports.drop_columns(keep_names), backend=frame.implementation)
    passed = passed_on(frame, reports, keep_names).with_columns(
        table_reports[name] for name in table_reports.columns
    )
    return passed.select(reports.column_names).to_native()


def _report_arrow(reporter: Reporter, table: Any) -> Any:
    """Report a table in parts that fit into a core's cache; compare ids across all parts."""
    batches, hashes = [], [np.zeros(0, np.uint64)]
    with suppress(ValueError):
        for batch in table.to_batches(max_chunksize=_ROWS):
            reports, own_hashes = reported(reporter, batch)
            batches.append(reports)
            hashes.append(own_hashes)
    if sum(map(len, batches)) < len(table) or any_twice(np.concatenate(hashes)):
        # As one batch, which fails with the row numbers of the table.
        batches = [reporter.report_batch(batch) for batch in in_one_chunk(table).to_batches()]
    return pyarrow().Table.from_batches(batches, reporter.output_schema(table.schema))


def reported(reporter: Reporter, batch: Any) -> tuple[Any, NDArray[np.uint64]]:
    """Return the result of :meth:`Reporter.report_batch`, and hashes of the ids for comparison."""
    pa = pyarrow()
    if not isinstance(batch, pa.RecordBatch):
        raise TypeError(
            f"Expected an iterator of Arrow record batches, got one of {type(batch).__name__}."
        )
    schema = reporter.output_schema(batch.schema)
    reporter._keyed()  # an unreadable key is reported before any other error
    ids = read_ids(reporter._id, batch.column(reporter._id))
    records = {name: read_values(name, batch.column(name)) for name in reporter._needed}
    drawn = reporter._draw(records, ids)
    columns = [
        on_its_own(batch.column(reporter._id)),
        *(arrow_numbers(numbers.astype(reporter._type, copy=False)) for numbers in drawn),
        *reporter._beside(ids),
        *(on_its_own(batch.column(name)) for name in reporter._keep),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema), hashes_of(ids)


def _restored(kind: type[Reporter], text: str, options: dict[str, Any]) -> Reporter:
    return kind(text, **options)


@lru_cache(maxsize=4)
def _loaded(text: str | bytes) -> Mechanism | Manifest:
    return read_json(text)  # shared by all tasks of a process


def _checked_names(
    columns: Sequence[tuple[Any, bool]], id: Any, names: Sequence[Any], keep: Any
) -> tuple[str, ...]:
    """Return the names of the columns to keep, after checking all names."""
    for label, value in (("id", id), *(("name", name) for name in names)):
        if not isinstance(value, str):
            raise TypeError(f"{label} must be the name of a column, got {type(value).__name__}.")
    if isinstance(keep, str) or not all(isinstance(column_kept, str) for column_kept in keep):
        raise TypeError("keep must be a list of column names.")
    nameless = [column for column, _ in columns if not isinstance(column, str)]
    if nameless:
        raise ValueError(
            f"the columns of batches have names, but the mechanism has the columns {nameless}: "
            "fit on a table with named columns, or name them with mechanism.named."
        )
    known = [column for column, _ in columns]
    raw = [column_kept for column_kept in (id, *keep) if column_kept in known]
    if raw:
        raise ValueError(
            f"the column {listed(raw)} is reported by the mechanism, so it must not be output "
            "unchanged as well. Use different columns for id and keep."
        )
    out = [id, *names, *keep]
    if len(set(out)) < len(out):
        raise ValueError(
            f"the columns of the reports must have different names, got {listed(out)}."
        )
    return tuple(keep)


def _checked_type(type: Any, n_symbols: int) -> str:
    """Return the name of the reports' integer type."""
    smallest = smallest_dtype(n_symbols)
    if type is None:
        return smallest.name
    name = str(type)
    if name not in _TYPES:
        raise ValueError(f"type must be one of {', '.join(_TYPES)}, got {brief(repr(name))}.")
    if np.iinfo(name).max < n_symbols - 1:
        raise ValueError(f"{name} cannot hold {n_symbols:,} different reports: use a wider type.")
    return name


# --- Blocks ---------------------------------------------------------------------------------------


class BlockReporter(Reporter):
    """A reporter for a manifest: a block of columns for each record, and the report of the block.

    Block and report are functions of the key, the row's id, its record and the manifest; the block
    does not depend on the record. Therefore a person always has the same block under one key and
    manifest, even if the record changes. Every column is checked, whichever block the person has.

    Parameters
    ----------
    mechanism : Manifest, str or bytes
        The manifest, or the output of its ``to_json()``. Its columns need names.
    id, key, keep, name, type, key_check
        As for :class:`Reporter`. No column may be named "block", the name of the column of blocks.

    Attributes
    ----------
    mechanism : Manifest

    Raises
    ------
    TypeError, ValueError
        As for :class:`Reporter`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skrldp import Manifest, Mechanism, batches
    >>> one = Mechanism.from_matrix(np.full((2, 4), 0.5), ("no", "yes"), ("a", "b"))
    >>> parts = [one.named(None, [("ill", True), (name, False)]) for name in ("home", "work")]
    >>> manifest = Manifest.of(parts, [0.25, 0.75])
    >>> reporter = batches.BlockReporter(manifest, id="person", key=bytes(range(32)))
    >>> record = {"person": [17, 18], "ill": ["yes", "no"], "home": ["a", "a"], "work": ["b", "a"]}
    >>> reporter(pd.DataFrame(record)).columns.tolist()
    ['person', 'block', 'report']
    """

    _kind = Manifest

    @property
    def _names(self) -> tuple[str, ...]:
        return ("block", self._name)

    @property
    def _n_symbols(self) -> int:
        return max(len(self.mechanism.mechanisms), *(m.shape[0] for m in self.mechanism.mechanisms))

    @property
    def _claimed(self) -> float | None:
        return self.mechanism.eps

    def _new_reader(self) -> Any:
        return BlockReader(self.mechanism)

    def _draw(self, records: dict[str, Any], ids: IntegerIds | OctetIds) -> list[NDArray[Any]]:
        stream = self._keyed()
        secrets, values = self._reader.codes(records, self._draws(ids))

        def tapes(numbers: NDArray[Any], rows: slice) -> NDArray[Any]:
            return stream.tapes(numbers, ids, rows.start)

        return list(self.mechanism.sample_with(tapes, secrets, values))
