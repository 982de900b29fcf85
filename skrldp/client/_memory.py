"""Permanent reports: randomness computed from a key, the person and the record, as in batches."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._arrays import chunks
from skrldp.sampling.streams import KeyedStream, OctetIds, Tapes
from skrldp.sampling.tables import AliasTable, BlockTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Memory", "octets_of"]

_LEAST_KEY = 16  # bytes
_TAPE = 16  # bytes of randomness for each report; the samplers read 8 at most
_ROWS = 1 << 12  # reports made at a time


class Memory:
    """Permanent reports of persons and their records: those of batches with the same key and ids.

    Parameters
    ----------
    key : bytes
        The secret key.
    digest : str
        Digest of the mechanism, in hexadecimal.

    Raises
    ------
    TypeError
        If the key is not bytes.
    ValueError
        If it is too short.
    """

    def __init__(self, key: bytes, digest: str) -> None:
        mend = "make one with secrets.token_bytes(32), and keep it secret."
        if not isinstance(key, bytes):
            raise TypeError(f"memoize must be a key of bytes, got {type(key).__name__}: {mend}")
        if len(key) < _LEAST_KEY:
            raise ValueError(
                f"memoize must be a key of at least {_LEAST_KEY} bytes, got {len(key)}: {mend}"
            )
        self._stream = KeyedStream(key, digest)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            "a client with permanent reports cannot be pickled, since the file would hold its key: "
            "store the mechanism's JSON, and load it again, with its key."
        )

    def __deepcopy__(self, memo: Any) -> Memory:
        return self  # nothing in it changes

    def sample(
        self, table: AliasTable | BlockTable, cells: NDArray[Any], ids: Sequence[Any]
    ) -> NDArray[Any]:
        """Draw the permanent report of each record.

        Shapes: `cells` (n,); returns (n,). Raises ValueError if an id is none of these. Nothing has
        been drawn then.
        """
        persons = [octets_of(person) for person in ids]
        parts = [
            table.sample(cells[rows], Tapes(self.octets(cells[rows], persons[rows])))
            for rows in chunks(max(1, len(cells)), _ROWS)
        ]
        return np.concatenate(parts)

    def octets(self, cells: NDArray[Any], persons: Sequence[bytes]) -> NDArray[np.uint8]:
        """Compute the tapes of persons, given by what `octets_of` writes, and their cells.

        Shapes: `cells` (n,); returns (n, 16).
        """
        found = np.empty((len(persons), _TAPE), dtype=np.uint8)
        for letter in (b"s", b"b"):
            rows = [row for row, person in enumerate(persons) if person[:1] == letter]
            if rows:
                own = [persons[row][1:] for row in rows]
                octets = np.frombuffer(b"".join(own), dtype=np.uint8)
                ends = np.cumsum([0, *map(len, own)])
                ids = OctetIds(octets, ends, are_strings=letter == b"s")
                found[rows] = self._stream.tapes(cells[rows], ids)
        return found


def octets_of(person: Any) -> bytes:
    """Write an id as a letter and bytes: texts and numbers, which are texts of digits; or bytes.

    Raises ValueError if it is none of these, or empty: people without an id would share their
    randomness, and one who knows their own report would learn who has the same record.
    """
    if isinstance(person, bytes | str) and not person:
        raise ValueError("an id is empty, as where it is missing: give each person their own.")
    if isinstance(person, np.bytes_):  # and so a person would report under two ids
        raise ValueError(
            "ids are in an array of NumPy's type S, which drops zero bytes at their end: give a "
            "list of bytes, or an array of dtype object that was made of one."
        )
    if isinstance(person, bytes):
        return b"b" + person
    if isinstance(person, str):
        try:
            return b"s" + person.encode()
        except UnicodeEncodeError:
            raise ValueError("an id has half a surrogate pair, which is no text.") from None
    if isinstance(person, bool) or not isinstance(person, Integral):
        raise ValueError(f"an id must be a str, bytes or int, got {type(person).__name__}.")
    return b"s%d" % int(person)
