"""Secure random bits: an AES-256 keystream keyed by the operating system."""

from __future__ import annotations

import hashlib
import operator
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._params import check_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RandomStream"]

_DRAWS = 1 << 15  # integers drawn at a time

# Encrypting zeros yields the bare keystream.
_ZEROS = memoryview(bytes(1 << 16))

# How many forks lie between the first process and this one. The number of a process does not tell
# it from its parent if each is the first of its own container; a fork outside of Python does not
# count here. So a stream remembers both.
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
          knows or guesses the number can undo the randomisation, and no guarantee holds.
        - generator: 32 bytes are drawn from it. As predictable as the generator: for tests. Copies
          of a generator, as in forked or pickled workers, give the same key, so that reports
          repeat; give each worker one of ``generator.spawn(n)``.

    Raises
    ------
    ValueError
        If `random_state` is none of these, a truth value, or a negative int.
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
        buffer = np.empty(min(flat.size, _DRAWS), dtype=np.uint64)
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
