"""A stated number of fresh reports about each person, counted in a file."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skrldp._arrays import SetOnce
from skrldp._params import at_most, check_positive, is_whole
from skrldp.client._memory import octets_of
from skrldp.exceptions import ReportLimitError
from skrldp.mechanism import bound_of_reports

if TYPE_CHECKING:
    from sqlite3 import Connection

    from skrldp.mechanism import Guarantee

__all__ = ["FreshReports"]

_DOMAIN = b"skrldp fresh reports, version 1\0"
_APPLICATION = 0x736B726C  # the file's type, as SQLite's header has it
_PATIENCE = 60.0  # seconds to wait for another process that is counting


class FreshReports(SetOnce):
    """At most a stated number of fresh reports about each person, and none after that.

    The reports are counted in a file, which all clients and processes that report about the same
    persons must share: ``client.load(text, limit=FreshReports(3, "counts.sqlite"))``. A report is
    counted before it is drawn, so a crash between the two loses one, and never gives one more.

    Parameters
    ----------
    per_person : int
        How many reports about each person a mechanism may make, at least 1.
    path : str or path
        The file of the counts, an SQLite database. It is made, for its owner alone, if it is
        not there: **whoever deletes it, or puts an old copy in its place, gives those reports
        again.** For each person and mechanism it has a hash of the id and a count.
    eps : float, optional
        The most that the reports of one mechanism about a person may leak together, in nats:
        mechanisms whose guarantee allows more are refused. None takes any finite bound, however
        large. Each of several mechanisms has this bound: a ledger bounds all of them together.

    Raises
    ------
    ValueError
        If `per_person` is no whole number of at least 1 or `eps` no number above 0, or the file is
        of another kind.
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
    >>> counts = client.FreshReports(2, Path(folder.name) / "counts.sqlite")
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
            raise ValueError(f"per_person={per_person!r} is no whole number >= 1.")
        self.per_person = int(per_person)
        self.eps = eps
        self.path = Path(path).resolve()  # the same after a change of directory
        with suppress(OSError):  # what SQLite says is clearer
            # Hashes of ids can be guessed, so that the file tells who was asked.
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
                    f"{self.path} is a database of another kind, not of counted reports: give the "
                    "path of a file that does not exist yet."
                )

    def check(self, guarantee: Guarantee | None) -> float:
        """Check that so many reports have a bound.

        Parameters
        ----------
        guarantee : Guarantee or None
            What a mechanism's maker claims.

        Returns
        -------
        float
            The most that they leak together, in nats.

        Raises
        ------
        ValueError
            If there is no such bound, or it is more than `eps`.
        """
        return bound_of_reports(guarantee, self.per_person, self.eps, "FreshReports(1, path)")

    def take(self, digest: str, persons: Sequence[Any], bound: float) -> None:
        """Count one report for each record, or none if one of them is not allowed.

        When this returns, the counts are on the disk.

        Parameters
        ----------
        digest : str
            Digest of the mechanism, in hexadecimal.
        persons : sequence of n str, bytes or int
            Whom the records are about.
        bound : float
            What :meth:`check` returned.

        Raises
        ------
        ReportLimitError
            If a person has fewer reports left than there are records about them.
        ValueError
            If an id is of another type.
        OSError
            If the file cannot be read and written.
        """
        prefix = hashlib.sha256(_DOMAIN + bytes.fromhex(digest))
        keys = []
        for person in persons:
            own = prefix.copy()
            own.update(octets_of(person))
            keys.append(own.digest())
        with self._counts("rw") as counts:
            for key, wanted in Counter(keys).items():
                row = counts.execute("SELECT made FROM reports WHERE person = ?", (key,)).fetchone()
                made = row[0] if row else 0
                if made + wanted > self.per_person:
                    raise ReportLimitError(
                        f"record {keys.index(key)}: {made} of {self.per_person} reports about this "
                        f"person were made, and {wanted} more would be too many: by the guarantee "
                        f"{self.per_person} leak at most {at_most(bound)} nats together. Nothing "
                        "was reported."
                    )
                counts.execute("REPLACE INTO reports VALUES (?, ?)", (key, made + wanted))

    @contextmanager
    def _counts(self, mode: str) -> Iterator[Connection]:
        """Open the file for one transaction, which an error undoes.

        It is opened each time: a connection must not be shared by threads, nor by a forked process.
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
                counts.execute("PRAGMA synchronous = EXTRA")  # a lost commit would be a free report
                counts.execute("BEGIN IMMEDIATE")  # nobody else counts until the end
                yield counts
                counts.execute("COMMIT")
        except sqlite3.Error as error:
            raise OSError(
                f"the counts of reports in {self.path} cannot be read and written ({error}). "
                "Nothing was reported: give the path of the file that earlier reports were counted "
                "in, or of a new one if there were none."
            ) from error

    def __repr__(self) -> str:
        return f"FreshReports({self.per_person}, {str(self.path)!r})"
