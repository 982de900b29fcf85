"""Exact sampling of a dense weight matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._arrays import ReadOnly, chunks, smallest_dtype
from skrldp.sampling import _codes
from skrldp.sampling._codes import Stream, check_codes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["AliasTable"]

_THRESHOLD_BITS = 32
_CAPACITY = 1 << _THRESHOLD_BITS
_MAX_SYMBOLS = 1 << 16


@dataclass(frozen=True, eq=False)
class AliasTable(ReadOnly):
    """Exact alias table of a dense matrix of integer weights.

    Each cell (column of weights) has ``2**m`` slots, one per symbol and empty ones up to a power of
    two. A draw picks a slot with ``m`` random bits and compares a 32-bit random number with the
    slot's threshold: if it is below, the slot's own symbol is drawn, and otherwise the slot's
    alias.

    Parameters
    ----------
    thresholds : ndarray of uint32, shape (n_cells, 2**m)
        For how many of the ``2**32`` random numbers the slot's own symbol is drawn.
    alias : ndarray of unsigned int, shape (n_cells, 2**m)
        Symbol that is drawn for the other numbers. A slot whose threshold would be ``2**32``, which
        does not fit into 32 bits, has its own symbol as alias.
    n_symbols : int
        Number of symbols, ``b``; ``2**m`` is the least power of two not below it.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp.sampling import AliasTable
    >>> from skrldp.sampling import RandomStream
    >>> weights = np.array([[3, 1], [1, 3]]) << 31          # over 2**33, that is 3/4 and 1/4
    >>> table = AliasTable.from_weights(weights, bits=33)
    >>> codes = np.zeros(1000, dtype=np.uint8)
    >>> reports = table.sample(codes, RandomStream(0))
    >>> bool(700 < (reports == 0).sum() < 800)
    True
    """

    thresholds: NDArray[np.uint32]
    alias: NDArray[Any]
    n_symbols: int

    @classmethod
    def from_weights(cls, weights: NDArray[Any], bits: int) -> AliasTable:
        """Build the table of a weight matrix.

        Shapes: `weights` (n_symbols, n_cells). Raises TypeError if `weights` are not integers.
        Raises ValueError if `bits` has another value, a weight is negative, a column does not sum
        to ``2**bits``, or there are more than 65,536 symbols.
        """
        weights = np.asarray(weights)
        if weights.dtype.kind not in "iu":
            raise TypeError(f"weights must be integers, got dtype {weights.dtype}")
        if weights.ndim != 2 or 0 in weights.shape:
            raise ValueError(f"weights must be a non-empty matrix, got shape {weights.shape}")
        n_symbols, n_cells = weights.shape
        if n_symbols > _MAX_SYMBOLS:
            raise ValueError(f"an alias table holds {_MAX_SYMBOLS} symbols, got {n_symbols}")
        slot_bits = (n_symbols - 1).bit_length()
        if bits != _THRESHOLD_BITS + slot_bits:
            raise ValueError(
                f"{n_symbols} symbols need bits={_THRESHOLD_BITS + slot_bits}"
                f" (32 + ceil(log2 of their number)), got {bits!r}"
            )
        if weights.min() < 0 or weights.max() > 1 << bits:
            raise ValueError(f"weights must lie in [0, 2**{bits}]")
        # With the range checked, 2**16 symbols cannot wrap a sum in 64 bits round to 2**bits.
        wrong = np.flatnonzero(weights.sum(axis=0, dtype=np.uint64) != 1 << bits)
        if wrong.size:
            raise ValueError(
                f"every column of weights must sum to 2**{bits};"
                f" {wrong.size} do not, the first is column {wrong[0]}"
            )

        n_slots = 1 << slot_bits
        thresholds = np.empty((n_cells, n_slots), dtype=np.uint32)
        alias = np.empty((n_cells, n_slots), dtype=smallest_dtype(n_symbols))
        for cells in chunks(n_cells, max(1, (1 << 20) // n_slots)):  # bounds the memory
            padded = np.zeros(thresholds[cells].shape, dtype=np.int64)
            padded[:, :n_symbols] = weights[:, cells].T
            thresholds[cells], alias[cells] = _pair_slots(padded)
        thresholds.flags.writeable = alias.flags.writeable = False
        return cls(thresholds, alias, n_symbols)

    @property
    def n_cells(self) -> int:
        """Number of cells, the columns of the weights."""
        return self.thresholds.shape[0]

    @property
    def _slot_bits(self) -> int:
        return (self.n_symbols - 1).bit_length()

    def sample(self, codes: ArrayLike, stream: Stream) -> NDArray[Any]:
        """Draw one symbol for each record.

        Shapes: `codes` (n,); returns (n,). Raises TypeError if the codes are not integers. Raises
        ValueError if a code is no cell of the table. Nothing has been drawn then.
        """
        codes = check_codes(codes, self.n_cells)
        out = np.empty(codes.size, dtype=self.alias.dtype)
        thresholds, alias = self.thresholds.reshape(-1), self.alias.reshape(-1)
        shift, mask = self._slot_bits, alias.dtype.type(self.thresholds.shape[1] - 1)
        # Positions in the table are made in the narrowest type and widened once for the look-ups.
        position = smallest_dtype(thresholds.size)
        buffers = [
            np.empty(min(codes.size, _codes.BLOCK), dtype=dtype)
            for dtype in (alias.dtype, alias.dtype, np.uint32, np.uint32, position, np.intp, bool)
        ]
        for block in chunks(codes.size, _codes.BLOCK):
            slots, others, coins, limits, narrow, where, moves = (
                buffer[: block.stop - block.start] for buffer in buffers
            )
            stream.fill(slots)
            slots &= mask
            stream.fill(coins)
            np.left_shift(codes[block], shift, out=narrow, dtype=position, casting="unsafe")
            narrow |= slots
            where[:] = narrow
            # mode="clip": the positions are valid, and the default mode would copy `out`.
            thresholds.take(where, out=limits, mode="clip")
            alias.take(where, out=others, mode="clip")
            np.greater_equal(coins, limits, out=moves)
            # slot ^ (slot ^ alias) * moves: a choice without branches, far faster than np.where.
            others ^= slots
            others *= moves
            np.bitwise_xor(slots, others, out=out[block])
        return out


def _pair_slots(weights: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compute thresholds and aliases of slots whose weights average the capacity in each row.

    This is Vose's algorithm for all rows at once. Slots below the capacity (takers) are filled in
    order from slots above it (donors); a donor that falls below the capacity is filled by the next
    one. The pairs follow from the cumulative sums of what donors give and takers take, which agree
    at the end of each row, so no pair spans two rows.

    Shapes: `weights` (n_rows, n_slots); returns `thresholds, alias` (n_rows, n_slots).
    """
    thresholds = np.zeros(weights.size, dtype=np.int64)
    alias = np.arange(weights.size)

    surplus = weights.reshape(-1) - _CAPACITY
    donors, takers = np.flatnonzero(surplus > 0), np.flatnonzero(surplus < 0)
    given = np.cumsum(surplus[donors])  # by the donors up to and with this one
    taken = np.concatenate([[0], np.cumsum(-surplus[takers])])  # by the takers before this one

    thresholds[takers] = _CAPACITY + surplus[takers]
    alias[takers] = donors[np.searchsorted(given, taken[:-1], side="right")]

    # A donor's last taker may take more than its surplus; the next donor makes up for it. The last
    # donor of a row ends exactly at the capacity.
    left = _CAPACITY + given - taken[np.searchsorted(taken, given, side="left")]
    short = np.flatnonzero(left < _CAPACITY)
    thresholds[donors[short]] = left[short]
    alias[donors[short]] = donors[short + 1]

    alias %= weights.shape[1]
    return thresholds.reshape(weights.shape), alias.reshape(weights.shape)
