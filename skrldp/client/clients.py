"""Loaded mechanisms that report raw records, with fresh, counted or permanent reports."""

from __future__ import annotations

import hashlib
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._arrays import SetOnce, chunks
from skrldp._params import check_positive, is_whole
from skrldp.alphabet.numbers import Draws, Knots
from skrldp.claims import Claims
from skrldp.claims_in_words import bound_of_reports, brief_bound, claimed, together
from skrldp.client.records import BlockReader, RecordReader
from skrldp.client.rounding_to_knots import KeptRounding
from skrldp.exceptions import ReportLimitError
from skrldp.mechanism.manifest import Manifest
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sampling.draws import AliasTable, BlockTable
from skrldp.sampling.random_bits import KeyedStream, OctetIds, RandomStream, Tapes, fresh_draws

if TYPE_CHECKING:
    from sqlite3 import Connection

    from numpy.typing import NDArray


# --- Permanent reports: randomness computed from a key, the person and the record, as in batches --


_LEAST_KEY = 16  # bytes
_TAPE = 16  # bytes of randomness for each report; the samplers read 8 at most
_ROWS = 1 << 12  # reports made at a time


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


def _randomness(
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


_PERMANENT = "permanent reports (permanent_key)"


def _checked_ids(ids: Any, n_records: int, kind: str | None) -> list[Any]:
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
            "of "
            "bytes, or an array of dtype object."
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


# --- A stated number of fresh reports about each person, counted in a file ------------------------


_DOMAIN = b"skrldp fresh reports, version 1\0"
_APPLICATION = 0x736B726C  # the file's type in SQLite's header
_PATIENCE = 60.0  # seconds to wait for another process that is counting


class ReportLimit(SetOnce):
    """A limit on the number of fresh reports about each person.

    The reports are counted in a file, which must be shared by all clients and processes that report
    about the same people: ``client.load(text, limit=ReportLimit(3, "counts.sqlite"))``. A report is
    counted before it is drawn, so that a crash in between loses a report, but never permits an
    additional one.

    Parameters
    ----------
    per_person : int
        Maximum number of reports of a mechanism about each person, at least 1.
    path : str or path
        The file of the counts, an SQLite database. If absent, it is created with access only for
        its owner. **Whoever deletes it, or replaces it by an old copy, permits those reports
        again.** For each person and mechanism it contains a hash of the id and a count.
    eps : float, optional
        Maximum joint leakage of a mechanism's reports about a person, in nats: mechanisms whose
        claims allow more are rejected. None accepts every finite bound, however large. The limit
        applies to each mechanism separately; a ledger limits all of them together.

    Raises
    ------
    ValueError
        If `per_person` is not an integer of at least 1, or `eps` not a number above 0, or the file
        is of a different kind.
    OSError
        If the file cannot be read and written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skrldp import SRRSanitizer, client
    >>> rows = [["no", "rare"], ["yes", "often"]]
    >>> text = SRRSanitizer(eps=1.0, sensitive=0).fit(rows).mechanism_.to_json()
    >>> folder = tempfile.TemporaryDirectory()
    >>> counts = client.ReportLimit(2, Path(folder.name) / "counts.sqlite")
    >>> device = client.load(text, limit=counts)
    >>> len([device.report(("yes", "rare"), id="person 17") for _ in range(2)])
    2
    >>> device.report(("yes", "rare"), id="person 17")
    Traceback (most recent call last):
    ...
    skrldp.exceptions.ReportLimitError: record 0: ... Nothing was reported.
    >>> folder.cleanup()
    """

    def __init__(
        self, per_person: int, path: str | os.PathLike[str], *, eps: float | None = None
    ) -> None:
        if eps is not None:
            check_positive("eps", eps)
        if not is_whole(per_person) or per_person < 1:
            raise ValueError(f"per_person={per_person!r} must be an integer >= 1.")
        self.per_person = int(per_person)
        self.eps = eps
        self.path = Path(path).resolve()  # independent of later changes of directory
        with suppress(OSError):  # SQLite's error is clearer
            # Hashes of ids can be guessed, so the file reveals who was asked.
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        with self._counts("rwc") as counts:
            (kind,) = counts.execute("PRAGMA application_id").fetchone()
            (n_tables,) = counts.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not n_tables and not kind:
                counts.execute(
                    "CREATE TABLE reports (person BLOB PRIMARY KEY, made INTEGER NOT NULL)"
                )
                counts.execute(f"PRAGMA application_id = {_APPLICATION}")
            elif kind != _APPLICATION:
                raise ValueError(
                    f"{self.path} is a database of a different kind, without counted reports: pass "
                    "the path of a file that does not exist yet."
                )

    def check(self, claims: Claims | None) -> float:
        """Check that this many reports have a bound.

        Parameters
        ----------
        claims : Claims or None
            The claims of a mechanism.

        Returns
        -------
        float
            Upper bound on their joint leakage, in nats.

        Raises
        ------
        ValueError
            If there is no such bound, or it exceeds `eps`.
        """
        return bound_of_reports(claims, self.per_person, self.eps, "ReportLimit(1, path)")

    def take(self, digest: str, persons: Sequence[Any], bound: float) -> None:
        """Count one report for each record, or none if one of them is not allowed.

        On return, the counts are on disk.

        Parameters
        ----------
        digest : str
            Digest of the mechanism, in hexadecimal.
        persons : sequence of n str, bytes or int
            Whom the records are about.
        bound : float
            The bound that :meth:`check` returned.

        Raises
        ------
        ReportLimitError
            If a person has fewer reports left than there are records about them.
        ValueError
            If an id is of the wrong type.
        OSError
            If the file cannot be read and written.
        """
        prefix = hashlib.sha256(_DOMAIN + bytes.fromhex(digest))
        keys = []
        for person in persons:
            hasher = prefix.copy()
            hasher.update(octets_of(person))
            keys.append(hasher.digest())
        with self._counts("rw") as counts:
            for key, wanted in Counter(keys).items():
                row = counts.execute("SELECT made FROM reports WHERE person = ?", (key,)).fetchone()
                count = row[0] if row else 0
                if count + wanted > self.per_person:
                    raise ReportLimitError(
                        f"record {keys.index(key)}: {count} of {self.per_person} reports about "
                        f"this person were made, and {wanted} more are too many: "
                        f"{together(self.per_person, bound)}. Nothing was reported."
                    )
                counts.execute("REPLACE INTO reports VALUES (?, ?)", (key, count + wanted))

    @contextmanager
    def _counts(self, mode: str) -> Iterator[Connection]:
        """Open the file for one transaction, which an error undoes.

        It is opened each time, because threads and forked processes must not share a connection.
        """
        import sqlite3

        try:
            with closing(
                sqlite3.connect(
                    f"{self.path.as_uri()}?mode={mode}",
                    uri=True,
                    timeout=_PATIENCE,
                    isolation_level=None,
                )
            ) as counts:
                # A lost commit would permit an additional report
                counts.execute("PRAGMA synchronous = EXTRA")
                counts.execute("BEGIN IMMEDIATE")  # other processes wait until the end
                yield counts
                counts.execute("COMMIT")
        except sqlite3.Error as error:
            raise OSError(
                f"the counts of reports in {self.path} cannot be read and written ({error}). Pass "
                "the file in which earlier reports were counted. Nothing was reported."
            ) from error

    def __repr__(self) -> str:
        return f"ReportLimit({self.per_person}, {str(self.path)!r})"


# --- One mechanism --------------------------------------------------------------------------------


class Client(SetOnce):
    """A loaded mechanism that reports records; returned by :func:`skrldp.client.load`.

    Attributes
    ----------
    mechanism : Mechanism
        The loaded mechanism.
    columns : tuple of (name, bool)
        The columns of a record in order, and whether each is sensitive; ("secret", "value") if they
        have no names.
    observe : {"all", "nonsensitive"}
        Whether all columns are needed, or only those that are not sensitive.
    encode : str
        Form of the reports, "symbol": they are indices of symbols, whatever the symbols are, and
        ``FrequencyEstimator(mechanism, encode=client.encode)`` reads them.
    """

    encode = "symbol"

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        permanent_key: bytes | None = None,
        limit: ReportLimit | None = None,
        random_state: Any = None,
    ) -> None:
        self._reader = RecordReader.of(mechanism)
        self._memory, self._stream = _randomness(
            mechanism, self._reader, permanent_key, random_state
        )
        if permanent_key is not None and limit is not None:
            raise ValueError(
                "permanent reports are not counted: pass permanent_key or limit, not both."
            )
        if limit is not None and random_state is not None:
            raise ValueError(
                "counted reports do not use random_state: a second client with the same seed would "
                "repeat the draws, but the bound on several reports needs independent ones."
            )
        if not (limit is None or isinstance(limit, ReportLimit)):
            raise TypeError(f"limit must be ReportLimit(number, path), got {type(limit).__name__}.")
        self.mechanism = mechanism
        self.columns = mechanism.columns or (("secret", True), ("value", False))
        self.observe = mechanism.observe
        self._limit = limit
        self._bound = math.inf if limit is None else limit.check(mechanism.claims)

    @property
    def secrets(self) -> tuple[Any, ...]:
        """The alphabet of S."""
        return self.mechanism.secrets

    @property
    def values(self) -> tuple[Any, ...]:
        """The alphabet of U."""
        return self.mechanism.values

    @property
    def symbols(self) -> tuple[Any, ...]:
        """Names of the reports: report y is ``symbols[y]``."""
        return self.mechanism.symbols

    @property
    def claims(self) -> Claims | None:
        """The claims of the mechanism's maker; None if there are none."""
        return self.mechanism.claims

    @property
    def eps(self) -> float | None:
        """Claimed leakage, in nats; None if nothing is claimed."""
        return None if self.claims is None else self.claims.eps

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal: the server's ``mechanism_.digest``."""
        return self.mechanism.digest

    def report(self, record: Any, *, id: str | bytes | int | None = None) -> int:
        """Report one record.

        Parameters
        ----------
        record : dict or tuple
            Raw values: by column name, where further keys are ignored, or in the order of
            `columns`. If `observe` is "nonsensitive", the columns that are not sensitive are
            sufficient, and the others are ignored.
        id : str, bytes or int
            Whom the record is about; required for permanent or counted reports, and not allowed
            otherwise.

        Returns
        -------
        int
            The report y, from 0 to b − 1, which may leave the device. Its name is ``symbols[y]``.

        Raises
        ------
        ValueError
            If a column is missing, a value is unknown to the mechanism and not reported as "other",
            or `id` is missing or not allowed. Nothing is reported then.
        ReportLimitError
            If this person has used all reports that `limit` allows.
        """
        return int(self.report_many([record], ids=None if id is None else [id])[0])

    def report_many(self, records: Any, *, ids: Any = None) -> NDArray[Any]:
        """Draw one report for each of many records.

        Parameters
        ----------
        records : list of dict or tuple, dict of columns, data frame, or array of shape (n, k)
            Raw values. Columns with other names are ignored; arrays and tuples have the order of
            `columns`. If `observe` is "nonsensitive", the columns that are not sensitive are
            sufficient.
        ids : sequence of n str, bytes or int
            Whom the records are about; required for permanent or counted reports, and not allowed
            otherwise.

        Returns
        -------
        array of shape (n,)
            The reports, in the smallest unsigned integer dtype.

        Raises
        ------
        ValueError
            As :meth:`report`. All records are reported or none.
        ReportLimitError
            If there are more records about a person than reports left. No record is reported or
            counted.
        """
        memory, table = self._memory, self.mechanism.form.sampler
        kind = None if self._limit is None else "counted reports (limit)"
        kind = kind if memory is None else _PERMANENT
        if memory is not None:
            persons = cache(lambda n: [octets_of(person) for person in _checked_ids(ids, n, kind)])
            cells = self._reader.cells(records, memory.draws(persons))
            return memory.sample(table, cells, persons(len(cells)))
        cells = self._reader.cells(
            records, lambda *column: fresh_draws(self._stream or RandomStream())(*column)
        )
        counted = _checked_ids(ids, len(cells), kind)
        if self._limit is not None:
            self._limit.take(self.digest, counted, self._bound)  # before a report is drawn
        return table.sample(cells, self._stream or RandomStream())

    def __repr__(self) -> str:
        kind = "fresh" if self._memory is None else "permanent"
        claim = claimed(self.eps)
        if self._limit is not None and self._limit.per_person > 1:
            claim += f", {brief_bound(self._bound)} for {self._limit.per_person} about one person"
        return f"Client({len(self.symbols)} {kind} reports, {claim}, digest {self.digest[:12]})"


# --- A manifest: a block and its report -----------------------------------------------------------


class BlockClient(SetOnce):
    """A loaded manifest that reports records; returned by :func:`skrldp.client.load`.

    Attributes
    ----------
    manifest : Manifest
        The loaded manifest.
    columns : tuple of (name, bool)
        The columns of a record, those of S first, and whether each is sensitive.
    """

    def __init__(
        self, manifest: Manifest, *, permanent_key: bytes | None = None, random_state: Any = None
    ) -> None:
        self.manifest = manifest
        self.columns = manifest.columns
        self._reader = BlockReader(manifest)
        self._memory, self._stream = _randomness(
            manifest, self._reader, permanent_key, random_state
        )

    @property
    def eps(self) -> float | None:
        """Claimed leakage, in nats; None if nothing is claimed."""
        return self.manifest.eps

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal: the server's ``manifest_.digest``."""
        return self.manifest.digest

    def report(self, record: Any, *, id: str | bytes | int | None = None) -> tuple[int, int]:
        """Report one record.

        Parameters
        ----------
        record : dict or tuple
            Raw values by column name, where further keys are ignored; in the table's order only if
            its columns have no names. Every column is checked, whatever block is drawn.
        id : str, bytes or int
            Whom the record is about; required for permanent reports, and not allowed otherwise.

        Returns
        -------
        block, report : int
            Block and report, which may leave the device, always together.

        Raises
        ------
        ValueError
            If a column is missing, values are not by name, a value is unknown, or `id` is missing
            or not allowed.
        """
        blocks, reports = self.report_many([record], ids=None if id is None else [id])
        return int(blocks[0]), int(reports[0])

    def report_many(self, records: Any, *, ids: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw one report for each of many records.

        Parameters
        ----------
        records : list of dict or tuple, dict of columns, data frame, or array of shape (n, k)
            Raw values, as for :meth:`report`.
        ids : sequence of n str, bytes or int
            Whom the records are about; required for permanent reports, and not allowed otherwise.

        Returns
        -------
        blocks, reports : arrays of shape (n,)

        Raises
        ------
        ValueError
            As :meth:`report`. All records are reported or none.
        """
        memory = self._memory
        if memory is None:
            stream = self._stream or RandomStream()
            secrets, values = self._reader.codes(records, fresh_draws(stream))
            _checked_ids(ids, len(secrets), None)
            return self.manifest.sample(secrets, values, stream)
        persons = cache(
            lambda n: [octets_of(person) for person in _checked_ids(ids, n, _PERMANENT)]
        )
        secrets, values = self._reader.codes(records, memory.draws(persons))
        of_all = persons(len(secrets))
        return self.manifest.sample_with(
            lambda numbers, rows: memory.octets(numbers, of_all[rows]), secrets, values
        )

    def __repr__(self) -> str:
        kind = "fresh" if self._memory is None else "permanent"
        claim = claimed(self.eps)
        n = len(self.manifest.mechanisms)
        return f"BlockClient({n} blocks, {kind} reports, {claim}, digest {self.digest[:12]})"
