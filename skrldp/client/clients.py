"""Loaded mechanisms that report raw records, with fresh, counted or permanent reports."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from skrldp._arrays import SetOnce
from skrldp.claims import Claims
from skrldp.claims_in_words import brief_bound, claimed
from skrldp.client.permanent_reports import (
    PERMANENT,
    checked_ids,
    octets_of,
    randomness_of,
)
from skrldp.client.records import BlockReader, RecordReader
from skrldp.client.report_limit import ReportLimit
from skrldp.mechanism.manifest import Manifest
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sampling.random_bits import RandomStream, fresh_draws

if TYPE_CHECKING:
    from numpy.typing import NDArray


# --- One mechanism --------------------------------------------------------------------------------


class Client(SetOnce):
    """A loaded mechanism that reports records; returned by :func:`skrldp.client.load`.

    Attributes
    ----------
    mechanism : Mechanism
        The loaded mechanism.
    columns : tuple of (name, bool)
        The columns of a record in order, and whether each is sensitive; ("secret", "value") if they
        have no names.
    observe : {"all", "nonsensitive"}
        Whether all columns are needed, or only those that are not sensitive.
    encode : str
        Form of the reports, "symbol": they are indices of symbols, whatever the symbols are, and
        ``FrequencyEstimator(mechanism, encode=client.encode)`` reads them.
    """

    encode = "symbol"

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        permanent_key: bytes | None = None,
        limit: ReportLimit | None = None,
        random_state: Any = None,
    ) -> None:
        self._reader = RecordReader.of(mechanism)
        self._memory, self._stream = randomness_of(
            mechanism, self._reader, permanent_key, random_state
        )
        if permanent_key is not None and limit is not None:
            raise ValueError(
                "permanent reports are not counted: pass permanent_key or limit, not both."
            )
        if limit is not None and random_state is not None:
            raise ValueError(
                "counted reports do not use random_state: a second client with the same seed would "
                "repeat the draws, but the bound on several reports needs independent ones."
            )
        if not (limit is None or isinstance(limit, ReportLimit)):
            raise TypeError(f"limit must be ReportLimit(number, path), got {type(limit).__name__}.")
        self.mechanism = mechanism
        self.columns = mechanism.columns or (("secret", True), ("value", False))
        self.observe = mechanism.observe
        self._limit = limit
        self._bound = math.inf if limit is None else limit.check(mechanism.claims)

    @property
    def secrets(self) -> tuple[Any, ...]:
        """The alphabet of S."""
        return self.mechanism.secrets

    @property
    def values(self) -> tuple[Any, ...]:
        """The alphabet of U."""
        return self.mechanism.values

    @property
    def symbols(self) -> tuple[Any, ...]:
        """Names of the reports: report y is ``symbols[y]``."""
        return self.mechanism.symbols

    @property
    def claims(self) -> Claims | None:
        """The claims of the mechanism's maker; None if there are none."""
        return self.mechanism.claims

    @property
    def eps(self) -> float | None:
        """Claimed leakage, in nats; None if nothing is claimed."""
        return None if self.claims is None else self.claims.eps

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal: the server's ``mechanism_.digest``."""
        return self.mechanism.digest

    def report(self, record: Any, *, id: str | bytes | int | None = None) -> int:
        """Report one record.

        Parameters
        ----------
        record : dict or tuple
            Raw values: by column name, where further keys are ignored, or in the order of
            `columns`. If `observe` is "nonsensitive", the columns that are not sensitive are
            sufficient, and the others are ignored.
        id : str, bytes or int
            Whom the record is about; required for permanent or counted reports, and not allowed
            otherwise.

        Returns
        -------
        int
            The report y, from 0 to b − 1, which may leave the device. Its name is ``symbols[y]``.

        Raises
        ------
        ValueError
            If a column is missing, a value is unknown to the mechanism and not reported as "other",
            or `id` is missing or not allowed. Nothing is reported then.
        ReportLimitError
            If this person has used all reports that `limit` allows.
        """
        return int(self.report_many([record], ids=None if id is None else [id])[0])

    def report_many(self, records: Any, *, ids: Any = None) -> NDArray[Any]:
        """Draw one report for each of many records.

        Parameters
        ----------
        records : list of dict or tuple, dict of columns, data frame, or array of shape (n, k)
            Raw values. Columns with other names are ignored; arrays and tuples have the order of
            `columns`. If `observe` is "nonsensitive", the columns that are not sensitive are
            sufficient.
        ids : sequence of n str, bytes or int
            Whom the records are about; required for permanent or counted reports, and not allowed
            otherwise.

        Returns
        -------
        array of shape (n,)
            The reports, in the smallest unsigned integer dtype.

        Raises
        ------
        ValueError
            As :meth:`report`. All records are reported or none.
        ReportLimitError
            If there are more records about a person than reports left. No record is reported or
            counted.
        """
        memory, table = self._memory, self.mechanism.form.sampler
        kind = None if self._limit is None else "counted reports (limit)"
        kind = kind if memory is None else PERMANENT
        if memory is not None:
            persons = cache(lambda n: [octets_of(person) for person in checked_ids(ids, n, kind)])
            cells = self._reader.cells(records, memory.draws(persons))
            return memory.sample(table, cells, persons(len(cells)))
        cells = self._reader.cells(
            records, lambda *column: fresh_draws(self._stream or RandomStream())(*column)
        )
        counted = checked_ids(ids, len(cells), kind)
        if self._limit is not None:
            self._limit.take(self.digest, counted, self._bound)  # before a report is drawn
        return table.sample(cells, self._stream or RandomStream())

    def __repr__(self) -> str:
        kind = "fresh" if self._memory is None else "permanent"
        claim = claimed(self.eps)
        if self._limit is not None and self._limit.per_person > 1:
            claim += f", {brief_bound(self._bound)} for {self._limit.per_person} about one person"
        return f"Client({len(self.symbols)} {kind} reports, {claim}, digest {self.digest[:12]})"


# --- A manifest: a block and its report -----------------------------------------------------------


class BlockClient(SetOnce):
    """A loaded manifest that reports records; returned by :func:`skrldp.client.load`.

    Attributes
    ----------
    manifest : Manifest
        The loaded manifest.
    columns : tuple of (name, bool)
        The columns of a record, those of S first, and whether each is sensitive.
    """

    def __init__(
        self, manifest: Manifest, *, permanent_key: bytes | None = None, random_state: Any = None
    ) -> None:
        self.manifest = manifest
        self.columns = manifest.columns
        self._reader = BlockReader(manifest)
        self._memory, self._stream = randomness_of(
            manifest, self._reader, permanent_key, random_state
        )

    @property
    def eps(self) -> float | None:
        """Claimed leakage, in nats; None if nothing is claimed."""
        return self.manifest.eps

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal: the server's ``manifest_.digest``."""
        return self.manifest.digest

    def report(self, record: Any, *, id: str | bytes | int | None = None) -> tuple[int, int]:
        """Report one record.

        Parameters
        ----------
        record : dict or tuple
            Raw values by column name, where further keys are ignored; in the table's order only if
            its columns have no names. Every column is checked, whatever block is drawn.
        id : str, bytes or int
            Whom the record is about; required for permanent reports, and not allowed otherwise.

        Returns
        -------
        block, report : int
            Block and report, which may leave the device, always together.

        Raises
        ------
        ValueError
            If a column is missing, values are not by name, a value is unknown, or `id` is missing
            or not allowed.
        """
        blocks, reports = self.report_many([record], ids=None if id is None else [id])
        return int(blocks[0]), int(reports[0])

    def report_many(self, records: Any, *, ids: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw one report for each of many records.

        Parameters
        ----------
        records : list of dict or tuple, dict of columns, data frame, or array of shape (n, k)
            Raw values, as for :meth:`report`.
        ids : sequence of n str, bytes or int
            Whom the records are about; required for permanent reports, and not allowed otherwise.

        Returns
        -------
        blocks, reports : arrays of shape (n,)

        Raises
        ------
        ValueError
            As :meth:`report`. All records are reported or none.
        """
        memory = self._memory
        if memory is None:
            stream = self._stream or RandomStream()
            secrets, values = self._reader.codes(records, fresh_draws(stream))
            checked_ids(ids, len(secrets), None)
            return self.manifest.sample(secrets, values, stream)
        persons = cache(lambda n: [octets_of(person) for person in checked_ids(ids, n, PERMANENT)])
        secrets, values = self._reader.codes(records, memory.draws(persons))
        of_all = persons(len(secrets))
        return self.manifest.sample_with(
            lambda numbers, rows: memory.octets(numbers, of_all[rows]), secrets, values
        )

    def __repr__(self) -> str:
        kind = "fresh" if self._memory is None else "permanent"
        claim = claimed(self.eps)
        n = len(self.manifest.mechanisms)
        return f"BlockClient({n} blocks, {kind} reports, {claim}, digest {self.digest[:12]})"
