"""Ids that stand in several rows of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._arrays import chunks
from skrldp.alphabet import brief, listed
from skrldp.batches._arrow import bare, pyarrow
from skrldp.sampling.streams import IntegerIds, OctetIds

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["refuse_duplicates"]

_ROWS = 1 << 15  # hashed at a time, so that temporary arrays stay in a core's cache
_WINDOW = 16  # bytes that are read at a time, as two words
_MOST_BITS = 23  # of a table of counts, which then has 64 MB; more than a core's cache is slower
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio, as in Fibonacci hashing
_HALF = np.uint64(32)
# The bytes of two words that belong to an id of which 0, 1, ..., 16 bytes are left.
_KEPT = np.array(
    [[(1 << 8 * min(left, 8)) - 1, (1 << 8 * max(left - 8, 0)) - 1] for left in range(_WINDOW + 1)],
    dtype=np.uint64,
)


def refuse_duplicates(name: str, column: Any, ids: IntegerIds | OctetIds) -> None:
    """Raise a ValueError that names them if ids of a column stand in several rows."""
    if _rising(ids) or not _any_twice(_hashes(ids)):
        return
    counts = bare(column).value_counts()
    twice = counts.field("values").filter(pyarrow().compute.greater(counts.field("counts"), 1))
    if len(twice):
        raise ValueError(
            f"column {brief(repr(name))} has ids in more than one row of a batch: "
            f"{listed(twice.to_pylist())}. A report is about one record of each id: keep one row "
            "for each, and call check_ids on the whole table. Nothing of the batch was reported."
        )


def _rising(ids: IntegerIds | OctetIds) -> bool:
    """Whether each id is a greater number than the one before, as in many tables."""
    return isinstance(ids, IntegerIds) and bool((ids.numbers[1:] > ids.numbers[:-1]).all())


def _any_twice(hashes: NDArray[np.uint64]) -> bool:
    """Whether two of some numbers of 64 bits are equal.

    Only those that share their first bits with another one are sorted: few, up to a million rows.
    """
    bits = min(len(hashes).bit_length() + 3, _MOST_BITS)
    slots = (hashes >> np.uint64(64 - bits)).astype(np.intp)
    suspects = np.sort(hashes[np.bincount(slots, minlength=1 << bits)[slots] > 1])
    return bool(np.any(suspects[1:] == suspects[:-1]))


def _hashes(ids: IntegerIds | OctetIds) -> NDArray[np.uint64]:
    """Compute a number for each id: equal for equal ids, and hardly ever for others.

    Returns (n,). The numbers have no key: who chooses ids that have the same one gains nothing, as
    then the ids themselves are compared.
    """
    if isinstance(ids, IntegerIds):
        return ids.numbers.astype(np.uint64) * _ODD  # other numbers have other products
    found = np.empty(len(ids), dtype=np.uint64)
    for rows in chunks(len(ids), _ROWS):
        ends = ids.ends[rows.start : rows.stop + 1].astype(np.int64)
        octets = ids.octets[ends[0] : ends[-1]]
        found[rows] = _hashed(octets, ends[:-1] - ends[0], np.diff(ends))
    return found


def _hashed(
    octets: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Multiply and shift over the bytes of each id, in pairs of words filled up with zeros."""
    padded = np.concatenate([octets, np.zeros(_WINDOW, np.uint8)])
    windows = np.ndarray((len(octets) + 1,), f"V{_WINDOW}", padded, strides=(1,))
    found = lengths.astype(np.uint64) * _ODD
    done, rows = 0, slice(None)
    while lengths.max(initial=0) > done:
        if lengths.min() <= done:  # some ids are complete
            rows = np.flatnonzero(lengths > done)  # type: ignore[assignment]
        words = windows[starts[rows] + done].view("<u8").reshape(-1, 2)
        words &= _KEPT.take(np.minimum(lengths[rows] - done, _WINDOW), axis=0)
        mixed = found[rows]
        for word in words.T:
            mixed = (mixed ^ word) * _ODD
            mixed ^= mixed >> _HALF
        found[rows] = mixed * _ODD
        done += _WINDOW
    return found
