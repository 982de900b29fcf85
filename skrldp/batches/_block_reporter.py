"""Record batches to blocks and their reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skrldp.batches._reporter import Reporter
from skrldp.client import BlockReader
from skrldp.mechanism import Manifest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skrldp.sampling.streams import IntegerIds, OctetIds

__all__ = ["BlockReporter"]


class BlockReporter(Reporter):
    """A reporter of a manifest: one block of columns of each record, and the report of the block.

    Block and report are functions of the key, the row's id, its record and the manifest; the block
    does not depend on the record. So a person has one block for ever, whatever becomes of the
    record, and one key and manifest. Every column is checked, whatever block a person has.

    Parameters
    ----------
    mechanism : Manifest, str or bytes
        The manifest, or what its ``to_json()`` wrote. Its columns need names.
    id, key, keep, name, type, key_check
        As of :class:`Reporter`. No column may have the name "block", which is that of the blocks.

    Attributes
    ----------
    mechanism : Manifest

    Raises
    ------
    TypeError, ValueError
        As of :class:`Reporter`.

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
        secrets, values = self._reader.codes(records)

        def tapes(numbers: NDArray[Any], rows: slice) -> NDArray[Any]:
            return stream.tapes(numbers, ids, rows.start)

        return list(self.mechanism.sample_with(tapes, secrets, values))
