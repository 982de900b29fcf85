"""A loaded mechanism that turns raw records into reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._arrays import SetOnce
from skrldp._params import at_most
from skrldp.client._fresh_reports import FreshReports
from skrldp.client._memory import Memory
from skrldp.client._records import RecordReader
from skrldp.mechanism import Guarantee, Mechanism
from skrldp.sampling.streams import RandomStream

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Client"]


class Client(SetOnce):
    """A mechanism as a device needs it; made by :func:`skrldp.client.load`.

    Attributes
    ----------
    mechanism : Mechanism
        What was loaded.
    columns : tuple of (name, bool)
        The columns of a record in their order, and whether each is sensitive; ("secret", "value")
        if the mechanism names none.
    observe : {"all", "nonsensitive"}
        Whether all columns are needed, or only those that are not sensitive.
    encode : str
        Form of the reports, "symbol": they are numbers of symbols, whatever the symbols are. So
        ``FrequencyEstimator(mechanism, encode=client.encode)`` reads them.
    """

    encode = "symbol"

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        memoize: bytes | None = None,
        limit: FreshReports | None = None,
        random_state: Any = None,
    ) -> None:
        if memoize is not None and random_state is not None:
            raise ValueError("permanent reports take no random_state: their key is all they need.")
        if memoize is not None and limit is not None:
            raise ValueError("permanent reports are not counted: give memoize or limit, not both.")
        if limit is not None and random_state is not None:
            raise ValueError(
                "counted reports take no random_state: a second client with the same seed would "
                "draw the same again, and the bound of several reports is for independent ones."
            )
        if not (limit is None or isinstance(limit, FreshReports)):
            raise TypeError(
                f"limit must be FreshReports(number, path), got {type(limit).__name__}."
            )
        self.mechanism = mechanism
        self.columns = mechanism.columns or (("secret", True), ("value", False))
        self.observe = mechanism.observe
        self._reader = RecordReader(
            self.columns, self.secrets, self.values, self.observe, mechanism.others
        )
        self._memory = None if memoize is None else Memory(memoize, self.digest)
        self._limit = limit
        self._bound = math.inf if limit is None else limit.check(mechanism.guarantee)
        self._stream = None if random_state is None else RandomStream(random_state)

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
    def guarantee(self) -> Guarantee | None:
        """What the mechanism's maker claims to have proven; None if nothing."""
        return self.mechanism.guarantee

    @property
    def eps(self) -> float | None:
        """Proven leakage that the maker claims, in nats; None if nothing is claimed."""
        return None if self.guarantee is None else self.guarantee.eps

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
            `columns`. If `observe` is "nonsensitive", the columns that are not sensitive suffice,
            and the others are ignored.
        id : str, bytes or int
            Whom the record is about; required for permanent or counted reports, and not allowed
            otherwise.

        Returns
        -------
        int
            The report y, from 0 to b − 1: what may leave the device. Its name is ``symbols[y]``.

        Raises
        ------
        ValueError
            If a column is missing or a value is not known to the mechanism and not reported as
            "other" either, or if `id` is missing or not allowed. Nothing is reported then.
        ReportLimitError
            If as many reports about this person as `limit` allows were made.
        """
        cell = np.array([self._reader.cell(record)])
        return int(self._draw(cell, None if id is None else [id])[0])

    def report_many(self, records: Any, *, ids: Any = None) -> NDArray[Any]:
        """Report many records, one each.

        Parameters
        ----------
        records : list of dict or tuple, dict of columns, data frame, or array of shape (n, k)
            Raw values. Columns with other names are ignored; arrays and tuples have the order of
            `columns`. If `observe` is "nonsensitive", the columns that are not sensitive suffice.
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
            If there are more records about a person than reports left. None is reported, nor
            counted.
        """
        cells = self._reader.cells(records)
        if isinstance(ids, str | bytes):
            raise ValueError(
                "ids must be a sequence with one id for each record, not a single "
                f"{type(ids).__name__}."
            )
        return self._draw(cells, None if ids is None else list(ids))

    def _draw(self, cells: NDArray[Any], ids: list[Any] | None) -> NDArray[Any]:
        self._check_ids(ids, len(cells))
        table = self.mechanism.form.sampler
        if self._memory is not None and ids is not None:
            return self._memory.sample(table, cells, ids)
        if self._limit is not None and ids is not None:
            self._limit.take(self.digest, ids, self._bound)  # counted before anything is drawn
        stream = RandomStream() if self._stream is None else self._stream
        return table.sample(cells, stream)

    def _check_ids(self, ids: list[Any] | None, n_records: int) -> None:
        if self._memory is None and self._limit is None:
            if ids is None:
                return
            raise ValueError(
                "this client's reports are fresh and not counted, so an id is of no use: make them "
                "permanent by load(text, memoize=key), have them counted by load(text, "
                "limit=FreshReports(number, path)), or leave the id out."
            )
        if ids is None:
            kind = (
                "permanent reports (memoize)" if self._limit is None else "counted reports (limit)"
            )
            raise ValueError(f"{kind} need an id for each record.")
        if len(ids) != n_records:
            raise ValueError(f"there are {n_records:,} records, but {len(ids):,} ids.")

    def __repr__(self) -> str:
        kind = "fresh" if self._memory is None else "permanent"
        claim = "no claim" if self.eps is None else f"eps<={at_most(self.eps)} claimed"
        if self._limit is not None and self._limit.per_person > 1:
            claim += f", eps<={at_most(self._bound)} for {self._limit.per_person} about one person"
        return f"Client({len(self.symbols)} {kind} reports, {claim}, digest {self.digest[:12]})"
