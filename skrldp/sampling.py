"""Draw reports from a mechanism, exactly and from secure randomness.

A mechanism's probabilities are integers over a power of two, ``weights[y, x] / 2**bits``. Given
uniform random bits, the tables below turn a cell ``x`` into a report ``y`` with *exactly* that
probability: no floating-point number takes part, so what was certified is what is sampled.

* :class:`RandomStream` supplies the bits, an AES-256 keystream keyed by the operating system.
* :class:`AliasTable` samples any mechanism given as a dense matrix.
* :class:`BlockTable` samples mechanisms whose weight depends only on whether the report's secret
  and value equal the record's; it needs no matrix.

Only the standard library and NumPy are imported here: this module is all that a client needs.
"""

from __future__ import annotations

import hashlib
import numbers
import operator
import os
import sys
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

__all__ = ["AliasTable", "BlockTable", "RandomStream"]

# Rows per block. A block's buffers take some 25 bytes a row, so that they stay in a core's
# second-level cache, and the interpreter's share of the time stays below a tenth.
_BLOCK = 1 << 15

_THRESHOLD_BITS = 32
_CAPACITY = 1 << _THRESHOLD_BITS
_MAX_SYMBOLS = 1 << 16

# Encrypting zeros yields the bare keystream.
_ZEROS = memoryview(bytes(1 << 16))


class _Stream(Protocol):
    """What the tables ask of a source of randomness."""

    def fill(self, out: NDArray[Any]) -> None: ...


class RandomStream:
    """A stream of random bits: the keystream of AES-256 in counter mode.

    Parameters
    ----------
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default=None
        Where the key comes from.

        - None: 32 bytes of operating-system entropy, fresh for every stream. The only choice that
          gives privacy.
        - int: a hash of the number, so that results can be repeated. **For tests only**: whoever
          knows or guesses the number can undo the randomisation, and no guarantee holds.
        - generator: 32 bytes are drawn from it. As predictable as the generator, so for tests too.

    Raises
    ------
    ValueError
        If `random_state` is none of these, or a negative int.
    ImportError
        If `random_state` is given and the package ``cryptography`` is missing. With
        ``random_state=None`` the stream then reads the operating system's generator directly,
        which is as secure and some twenty times slower.

    Notes
    -----
    A stream is not safe to share between threads: give each its own. A child process that inherits
    a stream keyed by the operating system rekeys it, so that parent and child never use the same
    bits twice.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp.sampling import RandomStream
    >>> coins = np.empty(4, dtype=np.uint32)
    >>> RandomStream(0).fill(coins)
    >>> again = np.empty(4, dtype=np.uint32)
    >>> RandomStream(0).fill(again)
    >>> bool((coins == again).all())
    True
    """

    def __init__(
        self, random_state: int | np.random.Generator | np.random.RandomState | None = None
    ) -> None:
        self._secure = random_state is None
        self._rekey(_key(random_state))

    def _rekey(self, key: bytes) -> None:
        self._pid = os.getpid()
        self._keystream = _keystream(key, required=not self._secure)

    def fill(self, out: NDArray[Any]) -> None:
        """Overwrite an array with the next bits of the stream, in place.

        The stream's bytes are read as little-endian numbers on every platform.

        Parameters
        ----------
        out : ndarray of uint8, uint16, uint32 or uint64
            C-contiguous, of any shape.

        Raises
        ------
        TypeError
            If `out` is not an array of unsigned integers in native byte order.
        ValueError
            If `out` is not C-contiguous or not writeable.
        """
        if not isinstance(out, np.ndarray) or out.dtype.kind != "u" or not out.dtype.isnative:
            raise TypeError("out must be an array of native unsigned integers")
        if not (out.flags.c_contiguous and out.flags.writeable):
            raise ValueError("out must be C-contiguous and writeable")
        if self._secure and self._pid != os.getpid():
            self._rekey(_key(None))
        octets = out.reshape(-1).view(np.uint8)
        for start in range(0, octets.size, len(_ZEROS)):
            chunk = octets[start : start + len(_ZEROS)]
            if self._keystream is None:
                chunk[:] = np.frombuffer(os.urandom(chunk.size), dtype=np.uint8)
            else:
                self._keystream.update_into(_ZEROS[: chunk.size], chunk)
        if sys.byteorder == "big":
            out.byteswap(inplace=True)

    def integers(self, upper: int, size: int | tuple[int, ...]) -> NDArray[np.int64]:
        """Draw integers exactly uniform on ``0, ..., upper - 1``.

        Parameters
        ----------
        upper : int
            Number of values, at least 1 and at most ``2**63 - 1``.
        size : int or tuple of int
            Shape of the result.

        Returns
        -------
        ndarray of int64, shape `size`

        Raises
        ------
        TypeError
            If `upper` is not an integer.
        ValueError
            If it is out of range.

        Examples
        --------
        >>> from skrldp.sampling import RandomStream
        >>> draws = RandomStream(0).integers(6, size=1000)
        >>> int(draws.min()), int(draws.max())
        (0, 5)
        """
        upper = operator.index(upper)
        if not 1 <= upper < 1 << 63:
            raise ValueError(f"upper must lie in [1, 2**63), got {upper}")
        out = np.empty(size, dtype=np.int64)
        flat = out.reshape(-1)
        mask = np.uint64((1 << (upper - 1).bit_length()) - 1)
        buffer = np.empty(min(flat.size, _BLOCK), dtype=np.uint64)
        done = 0
        while done < flat.size:
            # Rejection rather than a remainder, which would favour small values.
            draws = buffer[: flat.size - done]
            self.fill(draws)
            draws &= mask
            kept = draws[draws < upper]
            flat[done : done + kept.size] = kept
            done += kept.size
        return out


def _key(random_state: object) -> bytes:
    """Return the 32 bytes of an AES-256 key."""
    if random_state is None:
        return os.urandom(32)
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return random_state.bytes(32)
    if isinstance(random_state, numbers.Integral) and int(random_state) >= 0:
        return hashlib.sha256(f"skrldp.sampling.RandomStream:{int(random_state)}".encode()).digest()
    raise ValueError(f"{random_state!r} cannot be used to seed a RandomStream")


def _keystream(key: bytes, *, required: bool) -> Any:
    """Return an AES-256-CTR encryptor; None if the package for it is missing and not required."""
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError as error:
        if required:
            raise ImportError(
                "A repeatable stream needs the package 'cryptography': pip install cryptography. "
                "Without it, only random_state=None (operating-system entropy) is available."
            ) from error
        return None
    # A key serves one stream, so that the counter may start anywhere.
    return Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()


@dataclass(frozen=True, eq=False)
class AliasTable:
    """Exact alias table of a dense matrix of integer weights.

    Each cell (column of weights) has ``2**m`` slots, one per symbol and empty ones up to a power of
    two. A draw picks a slot with ``m`` random bits and a coin with 32 others; it keeps the slot's
    own symbol if the coin is below the slot's threshold, and takes the slot's alias otherwise.

    Parameters
    ----------
    thresholds : ndarray of uint32, shape (n_cells, 2**m)
        How many of the ``2**32`` coins keep the slot's own symbol.
    alias : ndarray of unsigned int, shape (n_cells, 2**m)
        Symbol taken by the other coins. A slot that is full has itself as alias: its threshold,
        ``2**32``, need not be representable.
    n_symbols : int
        Number of symbols, ``b``; ``2**m`` is the least power of two not below it.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp.sampling import AliasTable, RandomStream
    >>> weights = np.array([[3, 1], [1, 3]]) << 31          # over 2**33, that is 3/4 and 1/4
    >>> table = AliasTable.from_weights(weights, bits=33)
    >>> bool((table.probabilities() == weights).all())
    True
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

        Parameters
        ----------
        weights : ndarray of int, shape (n_symbols, n_cells)
            ``weights[y, x] / 2**bits`` is the probability of symbol y in cell x.
        bits : int
            ``32 + ceil(log2(n_symbols))``: 32 bits of coin and the bits of the slot.

        Returns
        -------
        AliasTable

        Raises
        ------
        TypeError
            If `weights` are not integers.
        ValueError
            If `bits` is another number, a weight is negative, a column does not sum to
            ``2**bits``, or there are more than 65,536 symbols.
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
        alias = np.empty((n_cells, n_slots), dtype=_smallest_unsigned(n_symbols))
        for cells in _blocks(n_cells, max(1, (1 << 20) // n_slots)):  # bounds the memory
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
    def bits(self) -> int:
        """Binary logarithm of the weights' common denominator."""
        return _THRESHOLD_BITS + self._slot_bits

    @property
    def _slot_bits(self) -> int:
        return (self.n_symbols - 1).bit_length()

    def probabilities(self) -> NDArray[np.int64]:
        """Return the weights that the table samples, recovered from its slots.

        Returns
        -------
        ndarray of int64, shape (n_symbols, n_cells)
            Over ``2**bits``. Equal to the weights from which the table was built.
        """
        kept = self.thresholds.astype(np.int64)
        weights = kept.copy()
        cells = np.broadcast_to(np.arange(self.n_cells)[:, np.newaxis], kept.shape)
        np.add.at(weights, (cells, self.alias), _CAPACITY - kept)
        if weights[:, self.n_symbols :].any():
            raise ValueError("the table gives weight to a symbol that does not exist")
        return np.ascontiguousarray(weights[:, : self.n_symbols].T)

    def sample(
        self, codes: ArrayLike, stream: _Stream, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Draw one symbol for each record.

        Parameters
        ----------
        codes : array of int, shape (n,)
            Each record's cell. ``uint8`` and ``uint16`` are fastest.
        stream : RandomStream
            Source of the random bits.
        out : ndarray of the result's dtype, shape (n,), optional
            Where to write the result.

        Returns
        -------
        ndarray of the smallest unsigned dtype that holds ``n_symbols - 1``, shape (n,)

        Raises
        ------
        TypeError
            If the codes are not integers.
        ValueError
            If a code is no cell of the table or `out` does not fit. Nothing has been drawn then.
        """
        codes = _check_codes(codes, self.n_cells)
        out = _check_out(out, codes, self.alias.dtype)
        thresholds, alias = self.thresholds.reshape(-1), self.alias.reshape(-1)
        shift, mask = self._slot_bits, alias.dtype.type(self.thresholds.shape[1] - 1)
        # Positions in the table are made in the narrowest type and widened once for the look-ups.
        position = _smallest_unsigned(thresholds.size)
        buffers = [
            np.empty(min(codes.size, _BLOCK), dtype=dtype)
            for dtype in (alias.dtype, alias.dtype, np.uint32, np.uint32, position, np.intp, bool)
        ]
        for block in _blocks(codes.size, _BLOCK):
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

    Vose's algorithm, all rows at once. Slots short of the capacity (takers) are topped up in order
    by slots above it (donors); a donor that falls below the capacity is topped up by the next one.
    Who meets whom is read off the running sums of what donors give and takers take, which agree at
    the end of each row: so pairs never cross rows.

    Parameters
    ----------
    weights : ndarray of int64, shape (n_rows, n_slots)

    Returns
    -------
    thresholds, alias : ndarray of int64, shape (n_rows, n_slots)
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
        Weight of each cell with the record's secret and another value.
    same_value : int
        Weight of each cell with another secret and the record's value.
    other : int
        Weight of each cell with another secret and another value.
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
    >>> from skrldp.sampling import BlockTable, RandomStream
    >>> table = BlockTable(2, 3, same=7, same_secret=2, same_value=3, other=1, bits=4)
    >>> reports = table.sample(np.full(1600, 4), RandomStream(0))
    >>> bool(600 < (reports == 4).sum() < 800)
    True
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

    def sample(
        self, codes: ArrayLike, stream: _Stream, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Draw one symbol for each record.

        Parameters
        ----------
        codes : array of int, shape (n,)
            Each record's cell.
        stream : RandomStream
            Source of the random bits.
        out : ndarray of the result's dtype, shape (n,), optional
            Where to write the result.

        Returns
        -------
        ndarray of the smallest unsigned dtype that holds ``n_cells - 1``, shape (n,)

        Raises
        ------
        TypeError
            If the codes are not integers.
        ValueError
            If a code is no cell of the table or `out` does not fit. Nothing has been drawn then.
        """
        codes = _check_codes(codes, self.n_cells)
        out = _check_out(out, codes, _smallest_unsigned(self.n_cells))
        dtype = _smallest_unsigned(2 * self.n_cells)  # holds sums of two secrets or two values
        n_secrets, n_values = dtype.type(self.n_secrets), dtype.type(self.n_values)
        runs, secret_shifts, value_shifts = self._layout(dtype)
        excess_bits = np.uint64(64 - self.bits)

        buffers = [
            np.empty(min(codes.size, _BLOCK), dtype=kind)
            for kind in (np.uint64, np.uint64, np.uint64, dtype, dtype, dtype)
        ]
        for block in _blocks(codes.size, _BLOCK):
            draws, parts, ranks, secrets, values, shifts = (
                buffer[: block.stop - block.start] for buffer in buffers
            )
            # The rank of the symbol by inversion: every run counts how many of its symbols the
            # draw has passed. Divisors are scalars, which NumPy turns into multiplications.
            stream.fill(draws)
            draws >>= excess_bits
            ranks[:] = 0
            for start, weight, count in runs:
                np.maximum(draws, start, out=parts)
                parts -= start
                parts //= weight
                np.minimum(parts, count, out=parts)
                ranks += parts
            where = ranks.view(np.int64)

            np.floor_divide(codes[block], n_values, out=secrets, dtype=dtype, casting="unsafe")
            np.multiply(secrets, n_values, out=values)
            np.subtract(codes[block], values, out=values, dtype=dtype, casting="unsafe")
            # Add modulo the alphabet's size: below it, the subtraction wraps to a larger number.
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

        Returns
        -------
        runs : list of (start, weight, count)
            Runs of symbols of equal weight, and the sum of the weights before each.
        secret_shifts, value_shifts : ndarray of `dtype`, shape (n_ranked,)
            How far (cyclically) the symbol of each rank is from the record's secret and value.
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


def _smallest_unsigned(n: int) -> np.dtype[Any]:
    """Return the smallest unsigned dtype that holds 0, ..., n - 1."""
    return np.min_scalar_type(n - 1)


def _blocks(n: int, size: int) -> Iterator[slice]:
    """Cut ``range(n)`` into slices of at most `size`."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def _check_codes(codes: ArrayLike, n_cells: int) -> NDArray[Any]:
    """Return the codes as an array, all of which are known to be cells."""
    codes = np.asarray(codes)
    if codes.dtype.kind not in "iu":
        raise TypeError(f"codes must be integers, got dtype {codes.dtype}")
    if codes.ndim != 1:
        raise ValueError(f"codes must be one-dimensional, got shape {codes.shape}")
    if codes.size and (codes.max() >= n_cells or (codes.dtype.kind == "i" and codes.min() < 0)):
        bad = codes[(codes < 0) | (codes >= n_cells)]
        raise ValueError(
            f"codes must lie in [0, {n_cells}); {bad.size} do not, the first is {bad[0]}"
        )
    return codes


def _check_out(out: NDArray[Any] | None, codes: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array for the reports: a new one, or `out` if it fits."""
    if out is None:
        return np.empty(codes.size, dtype=dtype)
    if not isinstance(out, np.ndarray) or out.dtype != dtype or out.shape != codes.shape:
        raise ValueError(f"out must be an array of dtype {dtype} and shape {codes.shape}")
    # Overlap would have reports randomised again in place of records.
    if not out.flags.writeable or np.may_share_memory(out, codes):
        raise ValueError("out must be writeable and must not overlap codes")
    return out
