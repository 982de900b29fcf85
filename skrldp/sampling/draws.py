"""Exact sampling of mechanisms given by a matrix of weights or by four weights."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from skrldp._arrays import ReadOnly, chunks, smallest_dtype

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


# Rows per block. A block's buffers take about 25 bytes a row, so that they fit into a core's
# second-level cache, while the interpreter takes less than a tenth of the time.
BLOCK = 1 << 15


class Stream(Protocol):
    """A source of random bits for the tables."""

    def fill(self, out: NDArray[Any]) -> None:
        """Fill an array with random bits."""


def check_codes(codes: ArrayLike, n_cells: int) -> NDArray[Any]:
    """Return the codes as an array, after checking that all are cells."""
    codes = np.asarray(codes)
    if codes.dtype.kind not in "iu":
        raise TypeError(f"codes must be integers, got dtype {codes.dtype}")
    if codes.ndim != 1:
        raise ValueError(f"codes must be one-dimensional, got shape {codes.shape}")
    if codes.size and (codes.max() >= n_cells or (codes.dtype.kind == "i" and codes.min() < 0)):
        bad = np.flatnonzero((codes < 0) | (codes >= n_cells))
        raise ValueError(
            f"codes must lie in [0, {n_cells}); {bad.size} do not, the first at index {bad[0]}"
        )
    return codes


# --- A dense matrix of weights --------------------------------------------------------------------


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
        Number of the ``2**32`` random numbers for which the slot's own symbol is drawn.
    alias : ndarray of unsigned int, shape (n_cells, 2**m)
        Symbol that is drawn for the other numbers. A slot whose threshold would be ``2**32``, which
        does not fit into 32 bits, uses its own symbol as alias.
    n_symbols : int
        Number of symbols, ``b``; ``2**m`` is the least power of two not below it.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp.sampling.draws import AliasTable
    >>> from skrldp.sampling.random_bits import RandomStream
    >>> weights = np.array([[3, 1], [1, 3]]) << 31          # over 2**33, that is 3/4 and 1/4
    >>> table = AliasTable.from_weights(weights, bits=33)
    >>> codes = np.zeros(1000, dtype=np.uint8)
    >>> reports = table.sample(codes, RandomStream(0))
    >>> print((reports == 0).mean())  # 3/4 in the long run
    0.747
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
            raise ValueError(f"an alias table has at most {_MAX_SYMBOLS} symbols, got {n_symbols}")
        slot_bits = (n_symbols - 1).bit_length()
        if bits != _THRESHOLD_BITS + slot_bits:
            raise ValueError(
                f"{n_symbols} symbols need bits={_THRESHOLD_BITS + slot_bits}"
                f" (32 + ceil(log2 of their number)), got {bits!r}"
            )
        if weights.min() < 0 or weights.max() > 1 << bits:
            raise ValueError(f"weights must lie in [0, 2**{bits}]")
        # After this check of the range, sums of 2**16 symbols cannot wrap around to 2**bits in 64
        # bits.
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
        ValueError if a code is not a cell of the table. Nothing has been drawn then.
        """
        codes = check_codes(codes, self.n_cells)
        out = np.empty(codes.size, dtype=self.alias.dtype)
        thresholds, alias = self.thresholds.reshape(-1), self.alias.reshape(-1)
        shift, mask = self._slot_bits, alias.dtype.type(self.thresholds.shape[1] - 1)
        # Indices into the table are computed in the narrowest type and widened once for the
        # lookups.
        position = smallest_dtype(thresholds.size)
        buffers = [
            np.empty(min(codes.size, BLOCK), dtype=dtype)
            for dtype in (alias.dtype, alias.dtype, np.uint32, np.uint32, position, np.intp, bool)
        ]
        for block in chunks(codes.size, BLOCK):
            slots, alternatives, coins, limits, narrow, where, moves = (
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
            alias.take(where, out=alternatives, mode="clip")
            np.greater_equal(coins, limits, out=moves)
            # slot ^ (slot ^ alias) * moves: a branch-free selection, much faster than np.where.
            alternatives ^= slots
            alternatives *= moves
            np.bitwise_xor(slots, alternatives, out=out[block])
        return out


def _pair_slots(weights: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compute thresholds and aliases of slots whose weights average the capacity in each row.

    This is Vose's algorithm for all rows at once. Slots below the capacity (takers) are filled in
    order from slots above it (donors); a donor that falls below the capacity is filled by the next
    one. The pairs follow from the cumulative sums of the donors' surpluses and the takers'
    deficits, which agree at the end of each row, so no pair spans two rows.

    Shapes: `weights` (n_rows, n_slots); returns `thresholds, alias` (n_rows, n_slots).
    """
    thresholds = np.zeros(weights.size, dtype=np.int64)
    alias = np.arange(weights.size)

    surplus = weights.reshape(-1) - _CAPACITY
    donors, takers = np.flatnonzero(surplus > 0), np.flatnonzero(surplus < 0)
    surplus_sum = np.cumsum(surplus[donors])  # of the donors up to and including this one
    deficit_sum = np.concatenate(
        [[0], np.cumsum(-surplus[takers])]
    )  # of the takers before this one

    thresholds[takers] = _CAPACITY + surplus[takers]
    alias[takers] = donors[np.searchsorted(surplus_sum, deficit_sum[:-1], side="right")]

    # A donor's last taker may take more than its surplus, which the next donor compensates. The
    # last donor of a row ends exactly at the capacity.
    left = (
        _CAPACITY
        + surplus_sum
        - deficit_sum[np.searchsorted(deficit_sum, surplus_sum, side="left")]
    )
    short = np.flatnonzero(left < _CAPACITY)
    thresholds[donors[short]] = left[short]
    alias[donors[short]] = donors[short + 1]

    alias %= weights.shape[1]
    return thresholds.reshape(weights.shape), alias.reshape(weights.shape)


# --- A mechanism given by four weights ------------------------------------------------------------


@dataclass(frozen=True)
class BlockTable:
    """Exact sampler of a mechanism with four distinct weights, without its matrix.

    Cells ``x = s * n_values + u`` and symbols ``y = s' * n_values + u'`` are pairs of a secret and
    a value; the weight of y in x depends only on whether ``s' == s`` and whether ``u' == u``.
    Generalised and secret randomised response and their product are of this kind.

    Parameters
    ----------
    n_secrets, n_values : int
        Sizes of the two alphabets.
    same : int
        Weight of the record's own cell.
    same_secret : int
        Weight of each cell with the record's secret and a different value.
    same_value : int
        Weight of each cell with a different secret and the record's value.
    other : int
        Weight of each cell with a different secret and a different value.
    bits : int
        The weights of all symbols sum to ``2**bits``; from 1 to 63.

    Raises
    ------
    TypeError
        If a parameter is not an integer.
    ValueError
        If one is out of range or the weights do not sum to ``2**bits``.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp.sampling.draws import BlockTable
    >>> from skrldp.sampling.random_bits import RandomStream
    >>> table = BlockTable(2, 3, same=7, same_secret=2, same_value=3, other=1, bits=4)
    >>> reports = table.sample(np.full(1600, 4), RandomStream(0))
    >>> print((reports == 4).mean())  # 7/16 in the long run
    0.4475
    """

    n_secrets: int
    n_values: int
    same: int
    same_secret: int
    same_value: int
    other: int
    bits: int

    def __post_init__(self) -> None:
        """Check that the weights are a distribution."""
        for name, value in vars(self).items():
            if not isinstance(value, numbers.Integral):
                raise TypeError(f"{name} must be an integer, got {value!r}")
            if value < 0:
                raise ValueError(f"{name} must not be negative, got {value}")
            object.__setattr__(self, name, int(value))  # NumPy's integers would overflow below
        if self.n_secrets < 1 or self.n_values < 1:
            raise ValueError("n_secrets and n_values must be at least 1")
        if not 1 <= self.bits <= 63:
            raise ValueError(f"bits must lie in [1, 63], got {self.bits}")
        total = (
            self.same
            + (self.n_values - 1) * self.same_secret
            + (self.n_secrets - 1) * self.same_value
            + (self.n_secrets - 1) * (self.n_values - 1) * self.other
        )
        if total != 1 << self.bits:
            raise ValueError(f"the weights must sum to 2**{self.bits}, got {total}")

    @property
    def n_cells(self) -> int:
        """Number of cells, and of symbols."""
        return self.n_secrets * self.n_values

    def sample(self, codes: ArrayLike, stream: Stream) -> NDArray[Any]:
        """Draw one symbol for each record.

        Shapes: `codes` (n,); returns (n,). Raises TypeError if the codes are not integers. Raises
        ValueError if a code is not a cell of the table. Nothing has been drawn then.
        """
        codes = check_codes(codes, self.n_cells)
        out = np.empty(codes.size, dtype=smallest_dtype(self.n_cells))
        dtype = smallest_dtype(2 * self.n_cells)  # holds sums of two codes
        n_secrets, n_values = dtype.type(self.n_secrets), dtype.type(self.n_values)
        runs, secret_shifts, value_shifts = self._layout(dtype)
        excess_bits = np.uint64(64 - self.bits)

        buffers = [
            np.empty(min(codes.size, BLOCK), dtype=kind)
            for kind in (np.uint64, np.uint64, np.uint64, dtype, dtype, dtype)
        ]
        for block in chunks(codes.size, BLOCK):
            draws, passed, ranks, secrets, values, shifts = (
                buffer[: block.stop - block.start] for buffer in buffers
            )
            # The rank of the symbol by inversion: every run counts its symbols below the draw.
            # Divisors are scalars, because NumPy replaces these by multiplications.
            stream.fill(draws)
            draws >>= excess_bits
            ranks[:] = 0
            for start, weight, count in runs:
                np.maximum(draws, start, out=passed)
                passed -= start
                passed //= weight
                np.minimum(passed, count, out=passed)
                ranks += passed
            where = ranks.view(np.int64)

            np.floor_divide(codes[block], n_values, out=secrets, dtype=dtype, casting="unsafe")
            np.multiply(secrets, n_values, out=values)
            np.subtract(codes[block], values, out=values, dtype=dtype, casting="unsafe")
            # Add modulo the alphabet's size: for smaller sums, the subtraction wraps around to a
            # larger number.
            secret_shifts.take(where, out=shifts, mode="clip")
            secrets += shifts
            np.minimum(secrets, np.subtract(secrets, n_secrets, out=shifts), out=secrets)
            value_shifts.take(where, out=shifts, mode="clip")
            values += shifts
            np.minimum(values, np.subtract(values, n_values, out=shifts), out=values)
            secrets *= n_values
            np.add(secrets, values, out=out[block], casting="unsafe")
        return out

    def _layout(
        self, dtype: np.dtype[Any]
    ) -> tuple[list[tuple[np.uint64, np.uint64, np.uint64]], NDArray[Any], NDArray[Any]]:
        """Rank the symbols of positive weight, relative to the record's cell.

        Returns `runs`: runs of symbols of equal weight, and the sum of the weights before each;
        `secret_shifts, value_shifts` (n_ranked,): cyclic distance of each rank's symbol from the
        record's secret and value.
        """
        secrets, values = np.arange(1, self.n_secrets), np.arange(1, self.n_values)
        zero = np.zeros(1, dtype=np.intp)
        classes = [
            (weight, np.repeat(ds, du.size), np.tile(du, ds.size))
            for weight, ds, du in (
                (self.same, zero, zero),
                (self.same_secret, zero, values),
                (self.same_value, secrets, zero),
                (self.other, secrets, values),
            )
            if weight and ds.size and du.size
        ]
        runs, start = [], 0
        for weight, group in groupby(classes, key=lambda c: c[0]):
            count = sum(ds.size for _, ds, _ in group)
            runs.append((np.uint64(start), np.uint64(weight), np.uint64(count)))
            start += weight * count
        secret_shifts = np.concatenate([ds for _, ds, _ in classes]).astype(dtype)
        value_shifts = np.concatenate([du for _, _, du in classes]).astype(dtype)
        return runs, secret_shifts, value_shifts
