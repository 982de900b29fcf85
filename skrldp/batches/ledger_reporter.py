"""A limit on the number of reports about each person, recorded in a table of the engine."""

from __future__ import annotations

import hmac
from binascii import hexlify
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._arrays import chunks
from skrldp._params import check_positive, is_whole
from skrldp.alphabet.categories import listed
from skrldp.batches.arrow import as_frame, check_ids, pyarrow
from skrldp.batches.keys import CheckedKey
from skrldp.batches.reporter import Reporter
from skrldp.claims_in_words import bound_of_reports, brief_bound
from skrldp.sampling.draws import BLOCK
from skrldp.sampling.random_bits import IntegerIds, KeyedStream, OctetIds

if TYPE_CHECKING:
    from skrldp.mechanism.mechanism import Mechanism


_DOMAIN = b"skrldp ledger, version 1\0"
_CANDIDATE, _HOLDER, _EPOCH, _DIGEST = "candidate", "holder", "epoch", "digest"
_COLUMNS = {_HOLDER: "string", "key": "string", _EPOCH: "int64", _DIGEST: "string"}
_COLUMNS |= {"report": "int64"}
# Columns that the rule adds to candidates
_GIVEN, IS_NEW, SETTLED, SETTLED_AT = ("reports given", "is new", "settled report", "settled epoch")
EPOCHS = 1 << 31  # upper limit of epochs, so that epoch and report fit into one integer
_REPORTS = 1 << 32  # upper limit of reports
# Rows of a batch, because Arrow strings have at most 2 GB and holders 32 bytes
_MOST_ROWS = (1 << 26) - 1


class LedgerReporter(Reporter):
    """A reporter that limits the total number of reports about each person.

    A *ledger* is a table that you keep: Parquet files, a database table, or a table in memory. It
    has a row for each report that was made. There are three steps, each of them executed by your
    engine:

    1. The reporter computes a *candidate* for each record. Candidates must not leave, because for
       those who have already reported they would be further reports.
    2. :meth:`entries` are the rows to append to the ledger, for those who have reports left. Append
       them before anything leaves.
    3. :meth:`reports` are the table that may leave: each person's report in the ledger.

    A person has one report for each design and epoch. The first one counts and is always repeated,
    whatever happens to the record or the key. A person without a report of this design and epoch
    who has used `max_reports` others repeats the latest report of this design, or is omitted if
    there is none. This depends only on ids and earlier runs, never on the record.

    Parameters
    ----------
    mechanism, id, key, keep, name, type, key_check
        As for :class:`Reporter`. The key may differ between runs.
    max_reports : int, default=1
        Maximum number of reports about each person in the ledger, over all designs and epochs.
    epoch : int, default=0
        The round of reports, in increasing order. In a new epoch, each person who has reports left
        makes a further one.
    eps : float, optional
        Maximum joint leakage of all reports about a person, in nats: a mechanism whose claims allow
        more is rejected. None accepts every finite bound.
    ledger_key : KeyFile, KeyVariable, bytes or function, optional
        The key with which the ledger identifies people, which must be kept as long as the ledger.
        By default, the key of the reports.
    ledger_key_check : str, optional
        The :func:`key_check` of the ledger's key; as `key_check`.

    Attributes
    ----------
    mechanism : Mechanism
    max_reports : int
    epoch : int
    bound : float
        Bound on the joint leakage of `max_reports` reports about a person, in nats, for every
        distribution for which the claims hold.

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        As for :class:`Reporter`; if the claims do not bound this many reports by `eps`; or if a
        number is out of range.

    Notes
    -----
    *The ledger's columns*: ``holder``, the keyed id in 32 hexadecimal digits; ``key``, the check of
    the ledger's key; ``epoch``; ``digest`` of the mechanism; and ``report``. It contains neither
    ids nor records. The first ledger is empty: ``LedgerReporter.schema().empty_table()`` of
    pyarrow.

    *The bound across designs.* Let all designs protect the same secret (and the same pairs of its
    values, if some pairs are not protected), be used with the same `max_reports`, and the
    distribution be in the sets of all of them. Then all reports about a person together leak at
    most the largest `bound` of these designs, and therefore at most `eps`. (Let report i have the
    bound e(i) as a first and n(i) as a further report. Any of them may be counted as the first, so
    that together they leak at most the sum of n(i) minus the largest n(i) − e(i). For k reports
    this is at most the mean of k·n(i) − (n(i) − e(i)), which are the bounds of k reports of one
    design.)

    *Candidates* may be recomputed; those of epoch 0 are the reports of :class:`Reporter`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from skrldp import SRRSanitizer, batches
    >>> X = pa.table({"ill": ["no", "yes"], "visits": ["rare", "often"]})
    >>> text = SRRSanitizer(eps=1.0, sensitive="ill").fit(X).mechanism_.to_json()
    >>> reporter = batches.LedgerReporter(text, id="person", key=bytes(range(32)))
    >>> records = X.append_column("person", pa.array([17, 18]))
    >>> ledger = reporter.schema().empty_table()
    >>> candidates = reporter(records)
    >>> new = reporter.entries(candidates, ledger)
    >>> ledger = pa.concat_tables([ledger, new])  # keep it, before anything leaves
    >>> reports = reporter.reports(candidates, ledger)
    >>> reports.column_names, len(reports)
    (['person', 'report', 'epoch'], 2)
    >>> len(reporter.entries(candidates, ledger))
    0
    """

    def __init__(
        self,
        mechanism: Mechanism | str | bytes,
        *,
        max_reports: int = 1,
        epoch: int = 0,
        eps: float | None = None,
        ledger_key: Any = None,
        ledger_key_check: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(mechanism, **options)
        if not is_whole(max_reports) or max_reports < 1:
            raise ValueError(f"max_reports={max_reports!r} must be an integer >= 1.")
        if not is_whole(epoch) or not 0 <= epoch < EPOCHS:
            raise ValueError(f"epoch={epoch!r} must be an integer from 0 to 2**31 - 1.")
        if eps is not None:
            check_positive("eps", eps)
        reserved = (_CANDIDATE, _HOLDER, _EPOCH, _GIVEN, IS_NEW, SETTLED, SETTLED_AT)
        clashes = [column for column in (self._id, *self._keep) if column in reserved]
        if clashes or self._name in (_HOLDER, _EPOCH):
            raise ValueError(
                f"the column {listed(clashes or [self._name])} would occur twice: candidates also "
                f"have the columns {_CANDIDATE!r} and {_HOLDER!r}, and reports have {_EPOCH!r}. "
                "Rename it."
            )
        self.max_reports, self.epoch, self.eps = int(max_reports), int(epoch), eps
        claims = self.mechanism.claims
        self.bound = bound_of_reports(claims, self.max_reports, eps, "max_reports=1")
        if ledger_key is None and ledger_key_check is not None:
            raise ValueError("ledger_key_check requires ledger_key.")
        self._ledger_key = self._key
        if ledger_key is not None:
            self._ledger_key = CheckedKey.of(ledger_key, ledger_key_check, "ledger_key_check")
        self._holders: KeyedStream | None = None

    @staticmethod
    def schema() -> Any:
        """Return the schema of a ledger.

        Returns
        -------
        pyarrow.Schema
        """
        pa = pyarrow()
        return pa.schema([(name, getattr(pa, kind)()) for name, kind in _COLUMNS.items()])

    @property
    def ledger_key_check(self) -> str:
        """The :func:`key_check` of the ledger's key: 16 digits."""
        return self._ledger_key.check

    def entries(self, candidates: Any, ledger: Any) -> Any:
        """Return the rows to append to the ledger: the candidates of those who have reports left.

        Parameters
        ----------
        candidates : data frame or lazy frame
            This reporter's output for the records, which the engine may recompute.
        ledger : data frame or lazy frame
            The ledger, of the same library. Duplicate rows count once.

        Returns
        -------
        data frame or lazy frame
            In the same library, with the columns of the ledger in its order. It contains only
            people without an entry of this design and epoch, so that no entries remain after they
            were appended.

        Raises
        ------
        TypeError
            If the two are not frames of the same library.
        ValueError
            If an id occurs in two candidates, a column is missing, or the ledger has entries under
            a different key.
        """
        import narwhals.stable.v2 as nw

        check_ids(candidates, self._id)
        frame, past = self._frames(candidates, ledger)
        entries = self._settled(frame, past).filter(nw.col(IS_NEW))
        # Not in `select`, in which the oldest narwhals adds a row for literals to an empty frame.
        entries = entries.with_columns(
            nw.lit(self.ledger_key_check).cast(nw.String()).alias("key"),
            nw.lit(self.digest).cast(nw.String()).alias(_DIGEST),
            nw.col(SETTLED_AT).cast(nw.Int64()).alias(_EPOCH),
            nw.col(SETTLED).cast(nw.Int64()).alias("report"),
        )
        return _native(entries.select(*past.collect_schema()))

    def reports(self, candidates: Any, ledger: Any) -> Any:
        """Return the table that may leave: each person's report in the ledger.

        Parameters
        ----------
        candidates : data frame or lazy frame
            This reporter's output for the records.
        ledger : data frame or lazy frame
            The ledger, of the same library, to which the entries were appended. People without a
            report of this design in it are omitted.

        Returns
        -------
        data frame or lazy frame
            In the same library: the id, the report, its epoch, and the other columns of the
            candidates. The order of rows is arbitrary.

        Raises
        ------
        TypeError, ValueError
            As :meth:`entries`.
        """
        import narwhals.stable.v2 as nw

        frame, past = self._frames(candidates, ledger)
        schema = frame.collect_schema()
        rest = [name for name in schema if name not in (self._id, _CANDIDATE, _HOLDER)]
        frame = self._settled(frame, past).filter(~nw.col(IS_NEW) & (nw.col(SETTLED_AT) >= 0))
        return _native(
            frame.select(
                nw.col(self._id),
                nw.col(SETTLED).cast(schema[_CANDIDATE]).alias(self._name),
                nw.col(SETTLED_AT).cast(nw.Int64()).alias(_EPOCH),
                *(nw.col(name) for name in rest),
            )
        )

    def _settled(self, frame: Any, past: Any) -> Any:
        past = past.unique([_HOLDER, _EPOCH, _DIGEST, "report"])  # entries may be written twice
        return settled(frame, past, (_DIGEST, self.digest), self.epoch, self.max_reports)

    def _frames(self, candidates: Any, ledger: Any) -> tuple[Any, Any]:
        """Return both as frames of narwhals: the candidates, and the ledger's columns."""
        import narwhals.stable.v2 as nw

        drawn, past = (as_frame(frame) for frame in (candidates, ledger))
        if drawn.implementation != past.implementation or type(drawn) is not type(past):
            raise TypeError(
                "candidates and ledger must be frames of the same library, both in memory or both "
                f"lazy, got {type(candidates).__name__} and {type(ledger).__name__}."
            )
        for label, frame, needed in (
            ("candidates", drawn, (self._id, _CANDIDATE, _HOLDER)),
            ("ledger", past, tuple(_COLUMNS)),
        ):
            names = list(frame.collect_schema())
            missing = [name for name in needed if name not in names]
            if missing:
                raise ValueError(
                    f"the {label} lacks the column {listed(missing)}; its columns are "
                    f"{listed(names)}."
                )
        self._check(past)
        drawn = drawn.with_columns(nw.col(_HOLDER).cast(nw.String()))
        # In the ledger's order, because some engines append by position.
        return drawn, past.select(*(name for name in names if name in _COLUMNS))

    def _check(self, past: Any) -> None:
        """Reject tables that are not entries, or are of a different key."""
        import narwhals.stable.v2 as nw

        kinds, holder, report = past.collect_schema(), nw.col(_HOLDER), nw.col("report")
        for name in (_EPOCH, "report"):
            if kinds[name] in (nw.Boolean, nw.String):
                raise ValueError(
                    f"the ledger's column {name!r} must contain integers, but its type is "
                    f"{kinds[name]}. Restore it."
                )
        # In some libraries $ also matches before a line end.
        is_holder = holder.str.contains("^[0-9a-f]{32}$") & (holder.str.len_chars() == 32)
        # Those of other designs may be larger
        is_symbol = (report >= 0) & (report < self._n_symbols)
        faults = {
            "entries made with a key other than ledger_key, whose check is "
            f"{self.ledger_key_check}, so that nobody would be recognised. Pass the ledger's first "
            "key as ledger_key=; the key of the reports may differ.": (
                (nw.col("key") != self.ledger_key_check) | nw.col("key").is_null()
            ),
            "rows without a report, an epoch from 0 to 2**31 - 1 or a digest. Restore them.": (
                report.is_null()
                | nw.col(_EPOCH).is_null()
                | (nw.col(_EPOCH) < 0)
                | (nw.col(_EPOCH) >= EPOCHS)
                | nw.col(_DIGEST).is_null()
            ),
            f"a report of this mechanism outside 0 to {self._n_symbols - 1}, which would leave as "
            "a different report. Restore it.": (nw.col(_DIGEST) == self.digest) & ~is_symbol,
            "rows whose holder is not 32 lower-case hexadecimal "
            "digits, as entries() writes them, so it would not "
            "recognise these people, who would report again. "
            "Restore them.": holder.is_null() | ~is_holder,
        }
        wrong = nw.any_horizontal(*faults.values(), ignore_nulls=True)
        wrong = past.filter(wrong).head(1).lazy().collect()
        for words, is_wrong in faults.items():
            if len(wrong.filter(is_wrong)):
                raise ValueError(f"the ledger has {words}")

    def _made_fields(self) -> list[Any]:
        pa = pyarrow()
        [report] = super()._made_fields()
        return [report.with_name(_CANDIDATE), pa.field(_HOLDER, pa.string())]

    def _beside(self, ids: IntegerIds | OctetIds) -> list[Any]:
        """Compute the keyed ids, in hexadecimal."""
        if self._holders is None:
            self._holders = _stream_of_ledger(self, _DOMAIN)
        if len(ids) > _MOST_ROWS:
            raise ValueError(f"a batch has {len(ids):,} rows; pass at most {_MOST_ROWS:,} at once.")
        tapes, cells = self._holders.tapes, np.zeros(len(ids), dtype=np.uint8)
        # The blocks in which ids are encoded for the reports
        slices = chunks(max(1, len(ids)), BLOCK)
        tape_blocks = [tapes(cells[rows], ids, rows.start) for rows in slices]
        pa, text = pyarrow(), hexlify(np.concatenate(tape_blocks).tobytes())
        ends = np.arange(0, len(text) + 1, 32, dtype=np.int32)
        return [pa.StringArray.from_buffers(len(ids), pa.py_buffer(ends), pa.py_buffer(text))]

    def _stream_of(self, key: bytes) -> KeyedStream:
        return KeyedStream(key, self.digest, self.epoch)

    def _options(self) -> dict[str, Any]:
        options = super()._options()
        options |= {"max_reports": self.max_reports, "epoch": self.epoch, "eps": self.eps}
        if self._ledger_key is not self._key:
            source, check = self._ledger_key.source, self._ledger_key.check
            options |= {"ledger_key": source, "ledger_key_check": check}
        return options

    def __repr__(self) -> str:
        quota = f"at most {self.max_reports} in a ledger, together {brief_bound(self.bound)})"
        return f"{super().__repr__()[:-1]}, {quota}"


def settled(
    candidates: Any, ledger: Any, design: tuple[str, Any], epoch: int, max_reports: int
) -> Any:
    """Apply the rule: add to candidates whether they are new, and which report may leave.

    Frames may be of any library, and the result is a frame of narwhals; `design` is a column of the
    ledger and its value for this design. People without reports left repeat their latest report of
    this design, or are omitted if its epoch is -1.
    """
    import narwhals.stable.v2 as nw

    packed = nw.col(_EPOCH).cast(nw.Int64()) * _REPORTS + nw.col("report").cast(nw.Int64())
    counts = (nw.col(design[0]) == design[1]) & (nw.col(_EPOCH) <= epoch)
    candidates, past = nw.from_native(candidates), nw.from_native(ledger)
    past = past.join(candidates.select(_HOLDER), on=_HOLDER, how="semi")
    past = past.with_columns(
        nw.when(counts).then(packed).otherwise(0 * packed - _REPORTS).alias(SETTLED)
    )
    past = past.group_by(_HOLDER).agg(nw.len().alias(_GIVEN), nw.col(SETTLED).max())
    past = past.with_columns(
        nw.col(SETTLED) % _REPORTS, (nw.col(SETTLED) // _REPORTS).alias(SETTLED_AT)
    )
    joined = candidates.join(past, on=_HOLDER, how="left").with_columns(
        nw.col(_GIVEN, SETTLED).fill_null(0), nw.col(SETTLED_AT).fill_null(-1)
    )
    # The oldest supported narwhals rejects literals beside columns of empty frames.
    past_epoch = nw.col(SETTLED_AT)
    is_new = (past_epoch < epoch) & (nw.col(_GIVEN) < max_reports)
    joined = joined.with_columns(is_new.alias(IS_NEW))
    candidate = nw.when(nw.col(IS_NEW)).then(nw.col(_CANDIDATE).cast(nw.Int64()))
    return joined.with_columns(
        candidate.otherwise(nw.col(SETTLED)).alias(SETTLED),
        nw.when(nw.col(IS_NEW))
        .then(0 * past_epoch + epoch)
        .otherwise(past_epoch)
        .alias(SETTLED_AT),
    )


def digests_of_ledger(reporter: LedgerReporter, domain: bytes) -> Callable[[Any, Any], Any]:
    """Return a function from n octet strings and n cells (n,) to keyed digests (n, 2)."""
    stream = _stream_of_ledger(reporter, domain)

    def digests(octets: Any, cells: Any) -> Any:
        ends = np.arange(0, octets.nbytes + 1, octets.nbytes // len(octets))
        ids = OctetIds(octets.reshape(-1).view(np.uint8), ends, are_strings=False)
        return stream.tapes(cells, ids).view("<u8")

    return digests


def _stream_of_ledger(reporter: LedgerReporter, domain: bytes) -> KeyedStream:
    derived = hmac.digest(reporter._ledger_key.read(), domain, "sha256")
    return KeyedStream(derived, digest=bytes(32).hex())


def _native(frame: Any) -> Any:
    """Return a frame in its library, with a new index for pandas."""
    import narwhals.stable.v2 as nw

    if isinstance(frame, nw.DataFrame):
        frame = nw.maybe_reset_index(frame)
    return frame.to_native()
