"""Random bytes computed from a key, a row's cell and its id: AES-256, for whole arrays at once."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._arrays import chunks
from skrldp.sampling import _codes
from skrldp.sampling._decimal_ids import whole_numbers
from skrldp.sampling._tapes import Tapes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from skrldp.sampling._alias_table import AliasTable
    from skrldp.sampling._block_table import BlockTable

__all__ = ["IntegerIds", "KeyedStream", "OctetIds"]

_DOMAIN = b"skrldp keyed report, version 1\0"
_BLOCK = 16  # bytes of AES
_CELLS = 1 << 56  # a cell has seven bytes
_INTEGER, _NEGATIVE, _STRING, _BYTES = b"insb"
# The bytes of a block that belong to an id of which 0, 1, ..., 16 bytes are left.
_KEPT = np.array([b"\xff" * left for left in range(_BLOCK + 1)], f"V{_BLOCK}")


@dataclass(frozen=True, eq=False, repr=False)
class IntegerIds:
    """Ids that are whole numbers.

    Attributes
    ----------
    numbers : array of int, shape (n,)
        Of any integer dtype; equal numbers are one id whatever the dtype.
    """

    numbers: NDArray[Any]

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, eq=False, repr=False)
class OctetIds:
    """Ids that are strings, in UTF-8, or bytes.

    Attributes
    ----------
    octets : array of uint8, shape (m,)
        The ids' bytes, one id after the other.
    ends : array of int, shape (n + 1,)
        Id i is ``octets[ends[i]:ends[i + 1]]``.
    are_strings : bool
        A string and its bytes are two ids. The string of an integer's decimal digits, such as "7",
        is the integer; "007", "+7" and "7.0" are strings.
    """

    octets: NDArray[np.uint8]
    ends: NDArray[Any]
    are_strings: bool

    def __len__(self) -> int:
        return len(self.ends) - 1


class KeyedStream:
    r"""Random bits that are a function of a key, a mechanism, a cell and an id.

    Each pair of a cell and an id has 16 bytes of its own, the *tape*, from which a sampler draws
    the report. The same pair gives the same report, in any order, split or process.

    Parameters
    ----------
    key : bytes
        The secret key. It is not kept: only what is derived from it for this mechanism.
    digest : str
        Digest of the mechanism, in hexadecimal.
    epoch : int, default=0
        Number of a round of reports, below 2**64. Each has bits of its own.

    Raises
    ------
    ImportError
        If the package ``cryptography`` is missing.

    Notes
    -----
    *Construction.* The AES-256 key is HMAC-SHA256(key, domain ‖ digest), and in later epochs than 0
    HMAC-SHA256(key, domain ‖ digest ‖ epoch), the epoch in 8 bytes, big endian. A pair is written
    in blocks of 16 bytes. The first holds the id's type (a letter), the cell (7 bytes) and 8 bytes
    more: an integer's value, or the length of a string or of bytes. For these two, the bytes
    themselves follow, the last block filled up with zeros. A string that is an integer is written
    as that integer, so that those are one id. The tape is the CBC-MAC of the blocks:
    with :math:`C_0 = E(B_0)` and :math:`C_j = E(C_{j-1} \oplus B_j)`, it is the last C.

    *Why this is as good as independent uniform tapes.* The first block determines the number of
    blocks, so no pair is written as the beginning of another (the encoding is prefix-free), and
    different pairs are written differently. For such inputs CBC-MAC is a pseudorandom function if
    AES is a pseudorandom permutation (Petrank and Rackoff, CBC MAC for real-time data sources, J.
    Cryptology 2000, extending Bellare, Kilian and Rogaway, J. Computer and System Sciences 2000).
    The proof is short. Let a uniformly random function take the place of E. The beginnings of what
    is written form a forest, with m nodes of one block each; the input of E at a node is its block,
    exclusive-or the output at its parent. With independent uniform outputs at all nodes, two inputs
    below one parent differ as the blocks do; of two others, one depends on an output that the other
    does not depend on, so they agree with probability :math:`2^{-128}`. Unless two inputs agree,
    this is the same as E. The tapes are the outputs at the leaves, which no input depends on. So
    tapes differ from uniform ones by at most :math:`m^2 / 2^{129}` in total variation. A random
    permutation in place of the function adds at most as much again: together
    :math:`m^2 / 2^{128}`, plus what tells AES-256 from a random permutation, and HMAC-SHA256 from a
    random function. For :math:`10^{12}` ids of two blocks the first is about :math:`10^{-14}`.

    The object is immutable, and threads may share it.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp.sampling import AliasTable, IntegerIds, KeyedStream
    >>> table = AliasTable.from_weights(np.array([[3, 1], [1, 3]]) << 31, bits=33)
    >>> stream = KeyedStream(bytes(32), digest="00" * 32)
    >>> cells, ids = np.zeros(1000, dtype=np.uint8), np.arange(1000)
    >>> reports = stream.sample(table, cells, IntegerIds(ids))
    >>> bool(700 < (reports == 0).sum() < 800)
    True
    >>> again = stream.sample(table, cells[::-1], IntegerIds(ids[::-1]))
    >>> bool((again[::-1] == reports).all())
    True
    """

    def __init__(self, key: bytes, digest: str, epoch: int = 0) -> None:
        try:
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        except ImportError as error:
            raise ImportError(
                "Reports computed from a key need the package 'cryptography': "
                "pip install cryptography."
            ) from error
        later = epoch.to_bytes(8, "big") if epoch else b""
        derived = hmac.digest(key, _DOMAIN + bytes.fromhex(digest) + later, "sha256")
        # ECB is the bare permutation, of many blocks at once; CBC is made of it below.
        self._cipher = Cipher(algorithms.AES(derived), modes.ECB())

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a KeyedStream cannot be pickled, since the file would hold its key.")

    def __deepcopy__(self, memo: Any) -> KeyedStream:
        return self  # nothing in it changes

    def sample(
        self, table: AliasTable | BlockTable, cells: ArrayLike, ids: IntegerIds | OctetIds
    ) -> NDArray[Any]:
        """Draw the report of each row.

        Shapes: `cells` (n,); returns (n,). Raises TypeError if the cells are not integers. Raises
        ValueError if there are not n ids, or a code is no cell of the table.
        """
        cells = _codes.check_codes(cells, min(table.n_cells, _CELLS))
        if len(ids) != len(cells):
            raise ValueError(f"there are {len(cells):,} cells, but {len(ids):,} ids.")
        parts = [table.sample(cells[:0], Tapes(np.empty((0, _BLOCK), np.uint8)))]
        for rows in chunks(len(cells), _codes.BLOCK):
            parts.append(table.sample(cells[rows], Tapes(self.tapes(cells[rows], ids, rows.start))))
        return np.concatenate(parts)

    def tapes(
        self, cells: NDArray[Any], ids: IntegerIds | OctetIds, start: int = 0
    ) -> NDArray[np.uint8]:
        """Compute the tapes of some rows.

        Shapes: `cells` (n,); returns (n, 16).
        """
        encryptor = self._cipher.encryptor()  # threads must not share one
        rows = slice(start, start + len(cells))
        if isinstance(ids, IntegerIds):
            return _encrypted(encryptor, _first_blocks(cells, *_typed(ids.numbers[rows])))
        ends = ids.ends[start : start + len(cells) + 1].astype(np.int64, copy=False)
        octets = ids.octets[ends[0] : ends[-1]]
        starts, lengths = ends[:-1] - ends[0], np.diff(ends)
        kind = _STRING if ids.are_strings else _BYTES
        letters = np.full(len(cells), kind, dtype=np.uint64)
        values = lengths.astype(np.uint64)
        if ids.are_strings:
            numbers, negative, own = whole_numbers(octets, starts, lengths)
            letters[numbers], values[numbers] = _letters(negative), own
            lengths[numbers] = 0  # nothing follows the first block
        state = _encrypted(encryptor, _first_blocks(cells, letters, values))
        return _chained(encryptor, state, octets, starts, lengths)


def _typed(numbers: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """Return the letter of each integer, and its value modulo 2**64."""
    if numbers.dtype.kind == "u":
        return _INTEGER, numbers
    return _letters(numbers < 0), numbers.astype(np.int64, copy=False).view(np.uint64)


def _letters(negative: NDArray[Any]) -> NDArray[Any]:
    return np.where(negative, np.uint64(_NEGATIVE), np.uint64(_INTEGER))


def _first_blocks(cells: NDArray[Any], letters: Any, values: NDArray[Any]) -> NDArray[np.uint8]:
    """Write type, cell, and value or length: big endian."""
    blocks = np.empty((len(cells), 2), dtype=">u8")
    blocks[:, 0] = cells.astype(np.uint64) | (np.asarray(letters, np.uint64) << np.uint64(56))
    blocks[:, 1] = values
    return blocks.view(np.uint8)


def _encrypted(encryptor: Any, blocks: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Encrypt each row, a block of 16 bytes."""
    room = np.empty(blocks.size + _BLOCK - 1, dtype=np.uint8)  # the package wants some to spare
    encryptor.update_into(np.ascontiguousarray(blocks).reshape(-1), room)
    return room[: blocks.size].reshape(blocks.shape)


def _chained(
    encryptor: Any,
    state: NDArray[np.uint8],
    octets: NDArray[np.uint8],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> NDArray[np.uint8]:
    """Go on with the CBC-MAC over the bytes of each row, in blocks filled up with zeros."""
    padded = np.concatenate([octets, np.zeros(_BLOCK, np.uint8)])
    windows = np.ndarray((len(octets) + 1,), f"V{_BLOCK}", padded, strides=(1,))
    done = 0  # bytes of each id that are in the state
    rows: Any = slice(None)
    while lengths.max(initial=0) > done:
        if lengths.min() <= done:  # some ids are complete
            rows = np.flatnonzero(lengths > done)
        left = np.minimum(lengths[rows] - done, _BLOCK)
        blocks = windows[starts[rows] + done].view(np.uint8).reshape(-1, _BLOCK)
        blocks &= _KEPT.take(left).view(np.uint8).reshape(-1, _BLOCK)
        blocks ^= state[rows]
        state[rows] = _encrypted(encryptor, blocks)
        done += _BLOCK
    return state
