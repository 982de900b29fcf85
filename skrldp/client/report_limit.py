"""A limit on the number of fresh reports about each person, counted in a file."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skrldp._arrays import SetOnce
from skrldp._params import check_positive, is_whole
from skrldp.claims import Claims
from skrldp.claims_in_words import bound_of_reports, together
from skrldp.client.permanent_reports import octets_of
from skrldp.exceptions import ReportLimitError

if TYPE_CHECKING:
    from sqlite3 import Connection


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
