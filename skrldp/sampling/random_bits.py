"""Random bits: from a secure stream, or computed from a key, a row's cell and its id."""

from __future__ import annotations

import hashlib
import hmac
import operator
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skrldp._arrays import chunks
from skrldp._params import check_seed
from skrldp.sampling.draws import BLOCK, check_codes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from skrldp.sampling.draws import AliasTable, BlockTable


# --- An AES-256 keystream, keyed by the operating system ------------------------------------------


_DRAWS = 1 << 15  # integers drawn at a time

# Encrypting zeros yields the bare keystream.
_ZEROS = memoryview(bytes(1 << 16))

# Number of forks between the first process and this one. A process id does not distinguish a child
# from its parent if each is the first of its own container, and a fork outside of Python is not
# counted here, so a stream remembers both.
_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def _process() -> tuple[int, int]:
    return os.getpid(), _forks


class RandomStream:
    """A stream of random bits: the keystream of AES-256 in counter mode.

    Parameters
    ----------
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default=None
        Where the key comes from.

        - None: 32 bytes of operating-system entropy, fresh for every stream. The only choice that
          gives privacy.
        - int: a hash of the number, so that results can be repeated. **For tests only**: whoever
          knows or guesses the number can remove the noise, so no guarantee holds.
        - generator: 32 bytes are drawn from it. As predictable as the generator: for tests. Copies
          of a generator, as in forked or pickled workers, give the same key, so that reports
          repeat; give each worker one of ``generator.spawn(n)``.

    Raises
    ------
    ValueError
        If `random_state` is not one of these, a truth value, or a negative int.
    ImportError
        If `random_state` is given and the package ``cryptography`` is missing. With
        ``random_state=None`` the stream then reads the operating system's generator directly,
        which is as secure but about twenty times slower.

    Notes
    -----
    Threads cannot share a stream: use one for each. A child process that inherits a stream keyed by
    the operating system rekeys it, so that parent and child never use the same bits twice.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp.sampling.random_bits import RandomStream
    >>> coins = np.empty(4, dtype=np.uint32)
    >>> for _ in range(2):
    ...     RandomStream(0).fill(coins)
    ...     print(coins)
    [4137759853 2469199434 2638273842 3363284862]
    [4137759853 2469199434 2638273842 3363284862]
    """

    def __init__(
        self, random_state: int | np.random.Generator | np.random.RandomState | None = None
    ) -> None:
        self._secure = random_state is None
        self._rekey(_key(random_state))

    def _rekey(self, key: bytes) -> None:
        self._owner = _process()
        self._keystream = _keystream(key, required=not self._secure)

    def fill(self, out: NDArray[Any]) -> None:
        """Overwrite an array with the next bits of the stream, in place.

        The stream's bytes are read as little-endian numbers on every platform.

        Raises TypeError if `out` is not an array of unsigned integers in native byte order. Raises
        ValueError if `out` is not C-contiguous or not writeable.
        """
        if not isinstance(out, np.ndarray) or out.dtype.kind != "u" or not out.dtype.isnative:
            raise TypeError("out must be an array of native unsigned integers")
        if not (out.flags.c_contiguous and out.flags.writeable):
            raise ValueError("out must be C-contiguous and writeable")
        if self._secure and self._owner != _process():
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

        Raises TypeError if `upper` is not an integer. Raises ValueError if `upper` is out of range.

        Examples
        --------
        >>> from skrldp.sampling.random_bits import RandomStream
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
        buffer = np.empty(min(flat.size, _DRAWS), dtype=np.uint64)
        done = 0
        while done < flat.size:
            # Rejection sampling, because a remainder would favour small values.
            draws = buffer[: flat.size - done]
            self.fill(draws)
            draws &= mask
            accepted = draws[draws < upper]
            flat[done : done + accepted.size] = accepted
            done += accepted.size
        return out


def _key(random_state: Any) -> bytes:
    """Return the 32 bytes of an AES-256 key."""
    if random_state is None:
        return os.urandom(32)
    check_seed(random_state)
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return random_state.bytes(32)
    return hashlib.sha256(f"skrldp.sampling.RandomStream:{int(random_state)}".encode()).digest()


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


# --- A stream in which every row has its own part -------------------------------------------------


def fresh_draws(stream: RandomStream) -> Callable[[Any, Any, int], NDArray[np.uint32]]:
    """Return a function that draws bits for rounding to knots: the next bits of a stream."""

    def draws(name: Any, knots: Any, n: int) -> NDArray[np.uint32]:
        drawn = np.empty(n, dtype=np.uint32)
        stream.fill(drawn)
        return drawn

    return draws


class Tapes:
    """A stream in which every row has a separate part, its *tape*.

    A sampler fills one number of each row at a time, as long as it has at most `BLOCK` rows.
    Numbers are little endian, as those of :class:`~skrldp.sampling.random_bits.RandomStream`.

    Parameters
    ----------
    octets : array of uint8, shape (n, width)
        The random bytes of each row; C-contiguous. A sampler reads 8 at most.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp.sampling.random_bits import Tapes
    >>> tapes = Tapes(np.array([[1, 2, 3, 4], [5, 6, 7, 8]], dtype=np.uint8))
    >>> out = np.empty(2, dtype=np.uint16)
    >>> tapes.fill(out)
    >>> [hex(number) for number in out]
    ['0x201', '0x605']
    """

    def __init__(self, octets: NDArray[np.uint8]) -> None:
        self._octets = octets
        self._place = 0

    def fill(self, out: NDArray[Any]) -> None:
        """Overwrite an array with the next number of each tape, in place.

        Shapes: `out` (n,). Raises AssertionError if the number of entries is not that of tapes, or
        the tapes have no bytes left.
        """
        n, width = self._octets.shape
        end = self._place + out.itemsize
        if out.shape != (n,) or end > width:
            raise AssertionError("a sampler must read one number for each record, within its tape")
        out[...] = np.ndarray(
            (n,), f"<u{out.itemsize}", self._octets, offset=self._place, strides=(width,)
        )
        self._place = end


# --- Which texts are integers: those that their decimal digits are written as, and no others -


_LONGEST = 20  # characters of 2**64 - 1, and of -2**63
_LEAST_LONGEST = np.uint64(10**19)  # the smallest number of 20 digits
_MOST_NEGATIVE = np.uint64(2**63)
_ZERO, _NINE, _MINUS = b"09-"


def whole_numbers(
    octets: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.uint64]]:
    """Find the strings that are integers from -2**63 to 2**64 - 1, as Python would write them.

    Shapes: `octets` (m,), with a byte after the last string; `starts` and `lengths` (n,); returns
    `negative` (k,). Returns `rows` (k,): the strings that are numbers ("7" is one, but "007", "+7",
    "-0" and "7.0" are not); `values` (k,): the numbers modulo 2**64.
    """
    # Most strings that are not numbers begin with a letter.
    rows = np.flatnonzero(octets.take(starts) - np.uint8(_MINUS) <= _NINE - _MINUS)  # wraps
    rows = rows[(lengths[rows] > 0) & (lengths[rows] <= _LONGEST)]
    last = octets[starts[rows] + lengths[rows] - 1]
    rows = rows[(last >= _ZERO) & (last <= _NINE)]
    first, n = starts[rows], lengths[rows]
    negative = octets[first] == _MINUS
    first, n = first + negative, n - negative
    lead = octets[first]  # the last character is a digit, so one follows the sign
    fits = (n < _LONGEST) | (lead == _ZERO + 1)
    fits &= (lead != _ZERO) | ((n == 1) & ~negative)
    values, end = np.zeros(len(rows), dtype=np.uint64), first + n
    for power in range(int(n.max(initial=0))):  # from the last digit on
        digit = octets.take(end - (power + 1), mode="clip") - np.uint8(_ZERO)  # wraps
        digit *= power < n
        fits &= digit <= _NINE - _ZERO
        values += digit.astype(np.uint64) * np.uint64(10**power)  # NumPy 1 would keep uint8
    fits &= (n < _LONGEST) | (values >= _LEAST_LONGEST)  # otherwise it overflowed 2**64
    fits &= ~negative | ((n < _LONGEST) & (values <= _MOST_NEGATIVE))
    values = np.where(negative, np.uint64(0) - values, values)
    return rows[fits], negative[fits], values[fits]


# --- Random bytes computed from a key, a row's cell and its id: AES-256, for whole arrays at once -


_DOMAIN = b"skrldp keyed report, version 1\0"
# Domain-separation prefix of the streams for rounding numbers
ROUNDING = b"skrldp keyed rounding, version 1\0"
_BLOCK = 16  # bytes of AES
_CELLS = 1 << 56  # a cell has seven bytes
_INTEGER, _NEGATIVE, _STRING, _BYTES = b"insb"
# Masks of a block's bytes that belong to an id with 0, 1, ..., 16 bytes left.
_KEPT = np.array([b"\xff" * left for left in range(_BLOCK + 1)], f"V{_BLOCK}")
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio, as in Fibonacci hashing
_HALF = np.uint64(32)


class Written(NamedTuple):
    """Ids encoded in blocks of 16 bytes."""

    # In the first block, next to the cell: the type, one for all or (n,), and its number, (n,)
    letters: Any
    values: NDArray[np.uint64]
    # Further blocks, zero-padded: the rows that have one, and the blocks, (k, 2)
    more: Sequence[tuple[Any, NDArray[np.uint64]]] = ()


@dataclass(frozen=True, eq=False, repr=False)
class IntegerIds:
    """Ids that are integers.

    Attributes
    ----------
    numbers : array of int, shape (n,)
        Any integer dtype; equal numbers are the same id whatever the dtype.
    """

    numbers: NDArray[Any]

    def __len__(self) -> int:
        return len(self.numbers)

    def written(self, rows: slice) -> Written:
        """Encode ids in blocks; the value is modulo 2**64."""
        numbers = self.numbers[rows]
        if numbers.dtype.kind == "u":
            return Written(np.uint64(_INTEGER), numbers.astype(np.uint64, copy=False))
        return Written(_letters(numbers < 0), numbers.astype(np.int64, copy=False).view(np.uint64))


@dataclass(frozen=True, eq=False, repr=False)
class OctetIds:
    """Ids that are strings, in UTF-8, or bytes.

    Attributes
    ----------
    octets : array of uint8, shape (m,)
        The concatenated bytes of the ids.
    ends : array of int, shape (n + 1,)
        Id i is ``octets[ends[i]:ends[i + 1]]``.
    are_strings : bool
        A string and its bytes are different ids. The decimal digits of an integer, such as "7", are
        the same id as the integer; "007", "+7" and "7.0" are strings.
    """

    octets: NDArray[np.uint8]
    ends: NDArray[Any]
    are_strings: bool
    _known: dict[tuple[int, int], Written] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def written(self, rows: slice) -> Written:
        """Encode ids in blocks once; the value is the length, or that of an integer."""
        key = rows.start, rows.stop
        if key not in self._known:
            self._known[key] = self._write(rows)
        return self._known[key]

    def _write(self, rows: slice) -> Written:
        ends = self.ends[rows.start : rows.stop + 1].astype(np.int64, copy=False)
        octets = np.append(self.octets[ends[0] : ends[-1]], np.zeros(_BLOCK, np.uint8))
        starts, lengths = ends[:-1] - ends[0], np.diff(ends)
        letters: Any = np.uint64(_STRING if self.are_strings else _BYTES)
        values = lengths.astype(np.uint64)
        if self.are_strings:
            integers, negative, magnitudes = whole_numbers(octets, starts, lengths)
            if len(integers):
                letters = np.full(len(lengths), letters)
                letters[integers], values[integers] = _letters(negative), magnitudes
                lengths[integers] = 0  # nothing follows the first block
        return Written(letters, values, list(_blocks_of(octets, starts, lengths)))


def _letters(negative: NDArray[Any]) -> NDArray[Any]:
    return np.where(negative, np.uint64(_NEGATIVE), np.uint64(_INTEGER))


def _blocks_of(
    octets: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> Iterator[tuple[Any, NDArray[np.uint64]]]:
    """Yield the rows of ids that have a further block, with these blocks, zero-padded."""
    windows = np.ndarray((len(octets) - _BLOCK + 1,), _KEPT.dtype, octets, strides=(1,))
    shortest, longest = (int(lengths.min()), int(lengths.max())) if len(lengths) else (0, 0)
    rows: Any = slice(None)
    for offset in range(0, longest, _BLOCK):
        if shortest <= offset:  # some ids are complete
            rows = np.flatnonzero(lengths > offset)
        if shortest == longest:
            step_windows = windows[offset::longest][: len(lengths)].copy()
        else:
            step_windows = windows[starts[rows] + offset]
        blocks = step_windows.view(np.uint64).reshape(-1, 2)
        if shortest < offset + _BLOCK:
            left = np.minimum(lengths[rows] - offset, _BLOCK)
            blocks &= _KEPT.take(left).view(np.uint64).reshape(-1, 2)
        yield rows, blocks


def hashes_of(ids: IntegerIds | OctetIds) -> NDArray[np.uint64]:
    """Hash each id: equal ids have equal numbers, and others rarely do.

    Returns (n,). The hash has no key, because colliding ids give no advantage: the ids themselves
    are compared then.
    """
    if isinstance(ids, IntegerIds):
        return ids.written(slice(0, len(ids))).values
    hashes = np.empty(len(ids), dtype=np.uint64)
    for rows in chunks(len(ids), BLOCK):
        written, mixed = ids.written(rows), hashes[rows]
        np.multiply(written.values, _ODD, out=mixed)
        for those, blocks in written.more:
            mixed_rows = mixed[those]
            for word in blocks.T:
                mixed_rows ^= word
                mixed_rows *= _ODD
                mixed_rows ^= mixed_rows >> _HALF
            mixed[those] = mixed_rows * _ODD
    return hashes


class KeyedStream:
    r"""Random bits that are a function of a key, a mechanism, a cell and an id.

    Each pair of a cell and an id has its own 16 bytes, the *tape*, from which a sampler draws the
    report. The same pair always has the same report, in any order, partition or process.

    Parameters
    ----------
    key : bytes
        The secret key. It is not stored, only the key derived from it for this mechanism.
    digest : str
        Digest of the mechanism, in hexadecimal.
    epoch : int, default=0
        Number of the round of reports, below 2**64. Each round has different bits.
    domain : bytes
        Purpose of the bits: reports, or the rounding of a column's numbers, in which case `digest`
        is that of the column and its knots.

    Raises
    ------
    ImportError
        If the package ``cryptography`` is missing.

    Notes
    -----
    *Construction.* The AES-256 key is HMAC-SHA256(key, domain ‖ digest), and in epochs after 0
    HMAC-SHA256(key, domain ‖ digest ‖ epoch), the epoch in 8 bytes, big endian. A pair is written
    in blocks of 16 bytes. The first holds the id's type (a letter), the cell (7 bytes) and 8 bytes
    more: an integer's value, or the length of a string or of bytes. For these two, the bytes
    themselves follow, with the last block zero-padded. A string that is an integer is written as
    that integer, so that both are the same id. The tape is the CBC-MAC of the blocks: with
    :math:`C_0 = E(B_0)` and :math:`C_j = E(C_{j-1} \oplus B_j)`, it is the last C.

    *Why this is as good as independent uniform tapes.* The first block determines the number of
    blocks, so no pair is written as the beginning of another (the encoding is prefix-free), and
    different pairs are written differently. For such inputs CBC-MAC is a pseudorandom function if
    AES is a pseudorandom permutation (Petrank and Rackoff, CBC MAC for real-time data sources, J.
    Cryptology 2000, extending Bellare, Kilian and Rogaway, J. Computer and System Sciences 2000).
    The proof is short. Let a uniformly random function replace E. The beginnings of what
    is written form a forest, with m nodes of one block each; the input of E at a node is its block,
    exclusive-or the output at its parent. With independent uniform outputs at all nodes, two inputs
    below one parent differ as the blocks do; of two others, one depends on an output that the other
    does not depend on, so they agree with probability :math:`2^{-128}`. Unless two inputs agree,
    this is the same as E. The tapes are the outputs at the leaves, which no input depends on. So
    tapes differ from uniform ones by at most :math:`m^2 / 2^{129}` in total variation. A random
    permutation instead of the function adds at most as much again: together
    :math:`m^2 / 2^{128}`, plus the advantage in distinguishing AES-256 from a random permutation,
    and HMAC-SHA256 from a random function. For :math:`10^{12}` ids of two blocks the first is about
    :math:`10^{-14}`.

    The object is immutable, and threads may share it.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp.sampling.random_bits import IntegerIds, KeyedStream
    >>> from skrldp.sampling.draws import AliasTable
    >>> table = AliasTable.from_weights(np.array([[3, 1], [1, 3]]) << 31, bits=33)
    >>> stream = KeyedStream(bytes(32), digest="00" * 32)
    >>> cells, ids = np.zeros(1000, dtype=np.uint8), np.arange(1000)
    >>> reports = stream.sample(table, cells, IntegerIds(ids))
    >>> print(reports[:12], (reports == 0).mean())  # 3/4 in the long run
    [0 0 0 0 0 0 0 1 1 0 0 1] 0.725
    >>> again = stream.sample(table, cells[::-1], IntegerIds(ids[::-1]))
    >>> print(again[::-1][:12])
    [0 0 0 0 0 0 0 1 1 0 0 1]
    """

    def __init__(self, key: bytes, digest: str, epoch: int = 0, domain: bytes = _DOMAIN) -> None:
        try:
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        except ImportError as error:
            raise ImportError(
                "Reports computed from a key need the package 'cryptography': "
                "pip install cryptography."
            ) from error
        later = epoch.to_bytes(8, "big") if epoch else b""
        derived = hmac.digest(key, domain + bytes.fromhex(digest) + later, "sha256")
        # ECB is the bare permutation of many blocks at once, from which CBC is built below.
        self._cipher = Cipher(algorithms.AES(derived), modes.ECB())

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a KeyedStream cannot be pickled, because the file would contain its key.")

    def __deepcopy__(self, memo: Any) -> KeyedStream:
        return self  # it is immutable

    def sample(
        self, table: AliasTable | BlockTable, cells: ArrayLike, ids: IntegerIds | OctetIds
    ) -> NDArray[Any]:
        """Draw the report of each row.

        Shapes: `cells` (n,); returns (n,). Raises TypeError if the cells are not integers. Raises
        ValueError if there are not n ids, or a code is not a cell of the table.
        """
        cells = check_codes(cells, min(table.n_cells, _CELLS))
        if len(ids) != len(cells):
            raise ValueError(f"there are {len(cells):,} cells, but {len(ids):,} ids.")
        samples = [table.sample(cells[:0], Tapes(np.empty((0, _BLOCK), np.uint8)))]
        for rows in chunks(len(cells), BLOCK):
            samples.append(
                table.sample(cells[rows], Tapes(self.tapes(cells[rows], ids, rows.start)))
            )
        return np.concatenate(samples)

    def tapes(
        self, cells: NDArray[Any], ids: IntegerIds | OctetIds, start: int = 0
    ) -> NDArray[np.uint8]:
        """Compute the tapes of given rows.

        Shapes: `cells` (n,); returns (n, 16).
        """
        encryptor = self._cipher.encryptor()  # threads must not share one
        written = ids.written(slice(start, start + len(cells)))
        first = np.empty((len(cells), 2), dtype=">u8")
        first[:, 0] = cells.astype(np.uint64) | (written.letters << np.uint64(56))
        first[:, 1] = written.values
        state = _encrypted(encryptor, first)
        for rows, blocks in written.more:  # the CBC-MAC continues
            state[rows] = _encrypted(encryptor, blocks ^ state[rows])
        return state.view(np.uint8)


def _encrypted(encryptor: Any, blocks: NDArray[Any]) -> NDArray[np.uint64]:
    """Encrypt each row, a block of 16 bytes."""
    room = np.empty((len(blocks) + 1, 2), dtype=np.uint64)  # the package needs spare bytes
    encryptor.update_into(blocks.reshape(-1).view(np.uint8), room.reshape(-1).view(np.uint8))
    return room[:-1]
