"""A loaded manifest that turns raw records into a block and its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skrldp._arrays import SetOnce
from skrldp._params import at_most
from skrldp.client._memory import Memory, octets_of
from skrldp.client._records import BlockReader
from skrldp.mechanism import Manifest
from skrldp.sampling.streams import RandomStream

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BlockClient"]


class BlockClient(SetOnce):
    """A manifest as a device needs it; made by :func:`skrldp.client.load`.

    Attributes
    ----------
    manifest : Manifest
        What was loaded.
    columns : tuple of (name, bool)
        The columns of a record, those of S first, and whether each is sensitive.
    """

    def __init__(
        self, manifest: Manifest, *, memoize: bytes | None = None, random_state: Any = None
    ) -> None:
        if memoize is not None and random_state is not None:
            raise ValueError("permanent reports take no random_state: their key is all they need.")
        self.manifest = manifest
        self.columns = manifest.columns
        self._reader = BlockReader(manifest)
        self._memory = None if memoize is None else Memory(memoize, self.digest)
        self._stream = None if random_state is None else RandomStream(random_state)

    @property
    def eps(self) -> float | None:
        """Proven leakage that the maker claims, in nats; None if nothing is claimed."""
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
            Raw values by column name, where further keys are ignored; in the table's order only
            if its columns have no names, which are then their places. Every column is checked,
            whatever block is drawn.
        id : str, bytes or int
            Whom the record is about; required for permanent reports, and not allowed otherwise.

        Returns
        -------
        block, report : int
            What may leave the device: both, always together.

        Raises
        ------
        ValueError
            If a column is missing, values are not by name, a value is not known, or `id` is
            missing or not allowed.
        """
        blocks, reports = self.report_many([record], ids=None if id is None else [id])
        return int(blocks[0]), int(reports[0])

    def report_many(self, records: Any, *, ids: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Report many records, one each.

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
        secrets, values = self._reader.codes(records)
        if isinstance(ids, str | bytes):
            raise ValueError("ids must be a sequence with one id for each record.")
        if self._memory is None:
            if ids is not None:
                raise ValueError("this client's reports are fresh: an id is of no use.")
            stream = RandomStream() if self._stream is None else self._stream
            return self.manifest.sample(secrets, values, stream)
        if ids is None or len(ids) != len(secrets):
            raise ValueError("permanent reports (memoize) need an id for each record.")
        persons, memory = [octets_of(person) for person in ids], self._memory
        return self.manifest.sample_with(
            lambda numbers, rows: memory.octets(numbers, persons[rows]), secrets, values
        )

    def __repr__(self) -> str:
        kind = "fresh" if self._memory is None else "permanent"
        claim = "no claim" if self.eps is None else f"eps<={at_most(self.eps)} claimed"
        n = len(self.manifest.mechanisms)
        return f"BlockClient({n} blocks, {kind} reports, {claim}, digest {self.digest[:12]})"
