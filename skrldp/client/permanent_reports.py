"""Permanent reports: randomness computed from a key, the person and the record, as in batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._arrays import chunks
from skrldp.alphabet.numbers import Draws, Knots
from skrldp.client.records import RecordReader
from skrldp.client.rounding_to_knots import KeptRounding
from skrldp.mechanism.manifest import Manifest
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sampling.draws import AliasTable, BlockTable
from skrldp.sampling.random_bits import KeyedStream, OctetIds, RandomStream, Tapes

if TYPE_CHECKING:
    from numpy.typing import NDArray


_LEAST_KEY = 16  # bytes
_TAPE = 16  # bytes of randomness for each report; the samplers read 8 at most
_ROWS = 1 << 12  # reports made at a time
PERMANENT = "permanent reports (permanent_key)"  # what messages call them


def checked_key(key: Any, source: str, make: str = "secrets.token_hex(32)") -> bytes:
    """Return a secret key.

    Raises TypeError if it is not bytes. Raises ValueError if it is too short, or all its bytes are
    equal, as in uninitialised memory.
    """
    if not isinstance(key, bytes):
        raise TypeError(f"{source} must provide a key of type bytes, got {type(key).__name__}.")
    if len(key) < _LEAST_KEY:
        raise ValueError(
            f"{source} must have at least {_LEAST_KEY} bytes ({2 * _LEAST_KEY} hexadecimal "
            f"digits), got {len(key)}: make one with {make}, and keep it secret."
        )
    if len(set(key)) == 1:
        raise ValueError(
            f"{source} is a single byte repeated, which anybody could guess: make a key with "
            f"{make}, and keep it secret."
        )
    return key


class Memory:
    """Permanent reports of people and records, equal to those of batches with the same key and ids.

    Parameters
    ----------
    key : bytes
        The secret key.
    digest : str
        Digest of the mechanism, in hexadecimal.
    knots : dict
        The knots of each column with knots.

    Raises
    ------
    TypeError
        If the key is not bytes.
    ValueError
        If it is too short.
    """

    def __init__(self, key: bytes, digest: str, knots: Mapping[Any, Knots]) -> None:
        self._stream = KeyedStream(
            checked_key(key, "permanent_key", "secrets.token_bytes(32)"), digest
        )
        self._rounding = KeptRounding(key, knots)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            "a client with permanent reports cannot be pickled, because the file would contain its "
            "key: store the mechanism's JSON, and load it again with the key."
        )

    def __deepcopy__(self, memo: Any) -> Memory:
        return self  # it is immutable

    def draws(self, persons: Callable[[int], Sequence[bytes]]) -> Draws:
        """Return draws that round the numbers of n people, from a function of n."""
        return self._rounding.draws(
            lambda stream, zeros: self.octets(zeros, persons(len(zeros)), stream)
        )

    def sample(
        self, table: AliasTable | BlockTable, cells: NDArray[Any], persons: Sequence[bytes]
    ) -> NDArray[Any]:
        """Draw the permanent report of each record; people are encoded by `octets_of`.

        Shapes: `cells` (n,); returns (n,).
        """
        chunks_drawn = [
            table.sample(cells[rows], Tapes(self.octets(cells[rows], persons[rows])))
            for rows in chunks(max(1, len(cells)), _ROWS)
        ]
        return np.concatenate(chunks_drawn)

    def octets(
        self, cells: NDArray[Any], persons: Sequence[bytes], stream: KeyedStream | None = None
    ) -> NDArray[np.uint8]:
        """Compute the tapes of people, encoded by `octets_of`, and their cells.

        Shapes: `cells` (n,); returns (n, 16). By default, `stream` is the stream for reports.
        """
        stream = stream or self._stream
        tapes = np.empty((len(persons), _TAPE), dtype=np.uint8)
        for letter in (b"s", b"b"):
            rows = [row for row, person in enumerate(persons) if person[:1] == letter]
            if rows:
                identities = [persons[row][1:] for row in rows]
                octets = np.frombuffer(b"".join(identities), dtype=np.uint8)
                ends = np.cumsum([0, *map(len, identities)])
                ids = OctetIds(octets, ends, are_strings=letter == b"s")
                tapes[rows] = stream.tapes(cells[rows], ids)
        return tapes


def randomness_of(
    mechanism: Mechanism | Manifest,
    reader: RecordReader,
    permanent_key: bytes | None,
    random_state: Any,
) -> tuple[Memory | None, RandomStream | None]:
    """Return the source of randomness of a key or a random state, or None."""
    if permanent_key is not None and random_state is not None:
        raise ValueError(
            "permanent reports do not use random_state, because the key determines them: omit it."
        )
    return (
        None if permanent_key is None else Memory(permanent_key, mechanism.digest, reader.knots),
        None if random_state is None else RandomStream(random_state),
    )


def checked_ids(ids: Any, n_records: int, kind: str | None) -> list[Any]:
    """List the ids of records, if reports of this kind need them.

    Raises ValueError if there are none, too many or too few.
    """
    if isinstance(ids, str | bytes):
        raise ValueError(
            "ids must be a sequence with one id for each record, not a single "
            f"{type(ids).__name__}."
        )
    if (ids is None) != (kind is None):
        raise ValueError(
            f"{kind} need an id for each record."
            if kind
            else "this client draws each report independently and does not use ids. Omit the id, "
            "or make reports permanent with load(text, permanent_key=key)."
        )
    checked = [] if ids is None else list(ids)
    if kind and len(checked) != n_records:
        raise ValueError(f"Expected {n_records:,} ids, one for each record, got {len(checked):,}.")
    return checked


def octets_of(person: Any) -> bytes:
    """Encode an id as a letter and bytes; integers are encoded as strings of digits.

    Raises ValueError for other types and empty ids, because people without an id would share their
    randomness, and anyone who knows their own report would learn who has the same record.
    """
    if isinstance(person, bytes | str) and not person:
        raise ValueError(
            "an id is empty, perhaps because it is missing. Assign each person a unique id."
        )
    if isinstance(person, np.bytes_):  # otherwise a person could report under two ids
        raise ValueError(
            "ids are in a NumPy array of bytes (S), which drops trailing zero bytes. Pass a list "
            "of bytes, or an array of dtype object."
        )
    if isinstance(person, bytes):
        return b"b" + person
    if isinstance(person, str):
        try:
            return b"s" + person.encode()
        except UnicodeEncodeError:
            raise ValueError("an id has half a surrogate pair, so it is not valid text.") from None
    if isinstance(person, bool) or not isinstance(person, Integral):
        raise ValueError(f"an id must be a str, bytes or int, got {type(person).__name__}.")
    number = int(person)
    if not -(2**63) <= number < 2**64:
        raise ValueError(
            "an id is an integer of more than 64 bits. Pass ids as strings everywhere, because no "
            "integer column can store it."
        )
    return b"s%d" % number
