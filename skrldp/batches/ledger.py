"""At most a stated number of reports about each person, which a table of the engine remembers."""

from __future__ import annotations

import hmac
from binascii import hexlify, unhexlify
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skrldp._arrays import chunks, smallest_dtype
from skrldp._params import check_positive, is_whole
from skrldp.alphabet.columns import listed
from skrldp.batches.arrow import as_arrow, as_frame, check_ids, numbers_of, octets_in, pyarrow
from skrldp.batches.keys import CheckedKey
from skrldp.batches.reporter import Reporter
from skrldp.claims import bound_of_reports, brief_bound
from skrldp.sampling.draws import BLOCK
from skrldp.sampling.random_bits import IntegerIds, KeyedStream, OctetIds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skrldp.mechanism.mechanism import Mechanism


_DOMAIN = b"skrldp ledger, version 1\0"
_CANDIDATE, _HOLDER, _EPOCH = "candidate", "holder", "epoch"
_COLUMNS = {_HOLDER: "string", "key": "string", _EPOCH: "int64", "digest": "string"}
_COLUMNS |= {"report": "int64"}
# Names of what the ledger knows of a candidate's person, until they have their own.
_REPORT, _MADE_IN, _MAY = "report of ledger", "epoch of ledger", "may report"
_MOST_ROWS = (1 << 26) - 1  # of a batch: strings of Arrow have 2 GB at most, holders 32 bytes
_ROWS = 1 << 16  # whose texts are held at a time


class LedgerReporter(Reporter):
    """A reporter that gives at most a stated number of reports about each person, in all.

    A *ledger* is a table that you keep: Parquet files, a table of a database, or one in memory. It
    has a row for each report that was given. The work has three steps, each done by your engine:

    1. The reporter makes a *candidate* of each record. Candidates must not leave: of those who have
       reported, they would be further reports.
    2. :meth:`entries` are the rows to append to the ledger: of those who have reports left.
       Append them before anything leaves.
    3. :meth:`reports` are what leaves: the report of each person that stands in the ledger.

    A person has one report for each design and epoch. The first one counts: it is repeated for
    ever, whatever became of the record or of the key. Who has no report of this design and epoch,
    and had `max_reports` of others, repeats the latest of this design, or is left out. Which it is
    depends on ids and former runs alone, never on the record.

    Parameters
    ----------
    mechanism, id, key, keep, name, type, key_check
        As of :class:`Reporter`. The key may be another one in each run.
    max_reports : int, default=1
        How many reports about each person the ledger may have, of all designs and epochs together.
    epoch : int, default=0
        The round of reports, counted upwards. Another epoch is another report about each person.
    eps : float, optional
        The most that all reports about a person may leak together, in nats: a mechanism whose
        claims allow more is refused. None takes any finite bound.
    ledger_key : KeyFile, KeyVariable, bytes or function, optional
        The key of the ledger, under which it knows persons. It stays as long as the ledger. The
        key of the reports if not given.
    ledger_key_check : str, optional
        What :func:`key_check` says of it; as `key_check`.

    Attributes
    ----------
    mechanism : Mechanism
    max_reports : int
    epoch : int
    bound : float
        The most that `max_reports` reports about one person leak together, in nats, at every
        distribution for which the claims hold.

    Raises
    ------
    TypeError
        If an argument is of another type.
    ValueError
        As of :class:`Reporter`; if the claims do not bound so many reports, or by more than
        `eps`; or if a number is out of its range.

    Notes
    -----
    *The ledger's columns*: ``holder``, the keyed id in 32 hexadecimal digits; ``key``, the check of
    the ledger's key; ``epoch``; ``digest`` of the mechanism; and ``report``. It has no id and no
    record. The first ledger is empty: ``LedgerReporter.schema().empty_table()`` of pyarrow.

    *The bound across designs.* Let all designs protect the same secret (and the same pairs of its
    values, where some pairs are not protected), be used with the same `max_reports`, and the
    distribution be in the sets of all of them. Then all reports about a person together leak at
    most the greatest `bound` of these designs, and so at most `eps`. (Of reports i with bounds e(i)
    of the first and n(i) of each further one, any may be counted as the first. So they leak at most
    the sum of n(i), less the greatest n(i) − e(i). For k reports this is at most the mean of
    k·n(i) − (n(i) − e(i)), which are the bounds of k reports of one design.)

    *Candidates* may be computed again: those of epoch 0 are the reports of :class:`Reporter`.

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
        if not is_whole(epoch) or not 0 <= epoch < 2**63:
            raise ValueError(f"epoch={epoch!r} must be an integer from 0 to 2**63 - 1.")
        if eps is not None:
            check_positive("eps", eps)
        made = (_CANDIDATE, _HOLDER, _EPOCH, _REPORT, _MADE_IN, _MAY)
        taken = [own for own in (self._id, *self._keep) if own in made]
        if taken or self._name in (_HOLDER, _EPOCH):
            raise ValueError(
                f"the column {listed(taken or [self._name])} would be there twice: candidates have "
                f"the columns {_CANDIDATE!r} and {_HOLDER!r} besides, and reports {_EPOCH!r}."
            )
        self.max_reports, self.epoch, self.eps = int(max_reports), int(epoch), eps
        claims = self.mechanism.claims
        self.bound = bound_of_reports(claims, self.max_reports, eps, "max_reports=1")
        if ledger_key is None and ledger_key_check is not None:
            raise ValueError("ledger_key_check goes with ledger_key.")
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
        """What :func:`key_check` says of the ledger's key: 16 digits."""
        return self._ledger_key.check

    def entries(self, candidates: Any, ledger: Any) -> Any:
        """Find what to append to the ledger: the candidates of those who have reports left.

        Parameters
        ----------
        candidates : data frame or lazy frame
            What this reporter made of the records. The engine may make them again.
        ledger : data frame or lazy frame
            The ledger, of the same library. Rows that were written twice count once.

        Returns
        -------
        data frame or lazy frame
            Of the same library, with the columns of the ledger in its order. Nobody who is in it
            has an entry of this design and epoch, so after they were appended there are none left
            to append.

        Raises
        ------
        TypeError
            If the two are no frames of one library.
        ValueError
            If an id stands in two candidates, a column is missing, or the ledger has entries under
            another key.
        """
        import narwhals.stable.v2 as nw

        check_ids(candidates, self._id)
        made, past = self._frames(candidates, ledger)
        if isinstance(made, nw.DataFrame):
            made = self._with_known(made, past).filter(nw.col(_MAY))
            if not len(made):  # older narwhals fill no empty frame
                return _native(past.head(0))
        else:
            past = past.unique([_HOLDER, _EPOCH, "digest", "report"])
            own = (nw.col("digest") == self.digest) & (nw.col(_EPOCH) == self.epoch)
            counts = (
                past.with_columns(own.cast(nw.Int64()).alias("own"))
                .group_by(_HOLDER)
                .agg(nw.len().alias("given"), nw.col("own").max())
            )
            left = (nw.col("own") == 0) & (nw.col("given") < self.max_reports)
            made = made.join(counts, on=_HOLDER, how="left")
            made = made.filter(nw.col("given").is_null() | left)
        entries = made.select(
            nw.col(_HOLDER),
            nw.lit(self.ledger_key_check).cast(nw.String()).alias("key"),
            nw.lit(self.epoch).cast(nw.Int64()).alias(_EPOCH),
            nw.lit(self.digest).cast(nw.String()).alias("digest"),
            nw.col(_CANDIDATE).cast(nw.Int64()).alias("report"),
        )
        return _native(entries.select(*past.collect_schema()))

    def reports(self, candidates: Any, ledger: Any) -> Any:
        """Find what may leave: of each person the report that stands in the ledger.

        Parameters
        ----------
        candidates : data frame or lazy frame
            What this reporter made of the records.
        ledger : data frame or lazy frame
            The ledger, of the same library, to which the entries were appended. Who has no report
            of this design there is left out.

        Returns
        -------
        data frame or lazy frame
            Of the same library: the id, the report, the epoch in which it was made, and the other
            columns of the candidates. The rows are in any order.

        Raises
        ------
        TypeError, ValueError
            As :meth:`entries`.
        """
        import narwhals.stable.v2 as nw

        made, past = self._frames(candidates, ledger)
        schema = made.collect_schema()
        if isinstance(made, nw.DataFrame):
            made = self._with_known(made, past).filter(nw.col(_MADE_IN) >= 0)
        else:
            own = past.filter((nw.col("digest") == self.digest) & (nw.col(_EPOCH) <= self.epoch))
            own = own.group_by(_HOLDER, _EPOCH).agg(nw.col("report").min())
            latest = own.group_by(_HOLDER).agg(nw.col(_EPOCH).max())
            last = own.join(latest, on=[_HOLDER, _EPOCH], how="inner")
            last = last.rename({"report": _REPORT, _EPOCH: _MADE_IN})
            made = made.join(last, on=_HOLDER, how="inner")
        others = [name for name in schema if name not in (self._id, _CANDIDATE, _HOLDER)]
        return _native(
            made.select(
                nw.col(self._id),
                nw.col(_REPORT).cast(schema[_CANDIDATE]).alias(self._name),
                nw.col(_MADE_IN).cast(nw.Int64()).alias(_EPOCH),
                *(nw.col(name) for name in others),
            )
        )

    def _frames(self, candidates: Any, ledger: Any) -> tuple[Any, Any]:
        """Return both as frames of narwhals: the candidates, and the ledger's columns."""
        import narwhals.stable.v2 as nw

        made, past = (as_frame(frame) for frame in (candidates, ledger))
        if made.implementation != past.implementation or type(made) is not type(past):
            raise TypeError(
                "candidates and ledger must be frames of one library, both at hand or both lazy, "
                f"got {type(candidates).__name__} and {type(ledger).__name__}."
            )
        for what, frame, needed in (
            ("candidates", made, (self._id, _CANDIDATE, _HOLDER)),
            ("ledger", past, tuple(_COLUMNS)),
        ):
            names = list(frame.collect_schema())
            missing = [name for name in needed if name not in names]
            if missing:
                raise ValueError(
                    f"the {what} lacks the column {listed(missing)}; its columns are "
                    f"{listed(names)}."
                )
        if isinstance(past, nw.LazyFrame):
            self._check(past)
        made = made.with_columns(nw.col(_HOLDER).cast(nw.String()))
        # In the ledger's order: some engines append by place.
        kept = [name for name in names if name in _COLUMNS]
        return made, past.select(*kept).with_columns(nw.col(_HOLDER).cast(nw.String()))

    def _with_known(self, made: Any, past: Any) -> Any:
        """Add to candidates at hand what a ledger knows of their persons."""
        import narwhals.stable.v2 as nw

        ledger, own = (as_arrow(it).to_batches(_ROWS) for it in (past, made.select(_HOLDER)))
        persons = Persons.of(self, ledger, len(past))
        places = [persons.places(octets_of(batch.column(0))) for batch in own]
        place = np.concatenate([np.zeros(0, np.intp), *places])
        known = {_MAY: persons.may_report, _REPORT: persons.report, _MADE_IN: persons.epoch}
        table = pyarrow().table({name: of[place] for name, of in known.items()})
        found = nw.from_arrow(table, backend=made.implementation)
        return made.with_columns(found[name] for name in known)

    def _check(self, past: Any) -> None:
        """Refuse entries that these are not, or of another key."""
        import narwhals.stable.v2 as nw

        foreign = (nw.col("key") != self.ledger_key_check) | nw.col("key").is_null()
        holder = nw.col(_HOLDER).cast(nw.String())
        # In some libraries $ also stands before a line end.
        digits = holder.str.contains("^[0-9a-f]{32}$") & (holder.str.len_chars() == 32)
        kinds, report = past.collect_schema(), nw.col("report")
        needed = ("report", _EPOCH, "digest")
        odd = holder.is_null() | ~digits
        for name in needed:
            odd |= nw.col(name).is_null()
        for name in (_EPOCH, "report"):
            if kinds[name] in (nw.Boolean, nw.String):
                raise ValueError(
                    f"the ledger's column {name!r} must have integers, but its type is "
                    f"{kinds[name]}. Restore it."
                )
        # of this design: the numbers of others may be greater
        unknown = (nw.col("digest") == self.digest) & ((report < 0) | (report >= self._n_symbols))
        wrong = past.filter(foreign | odd | unknown).head(1).select("key", *needed)
        wrong = wrong.lazy().collect()
        if not len(wrong):
            return
        if wrong["key"][0] != self.ledger_key_check:
            words = (
                "entries under another key than that of ledger_key, whose check is "
                f"{self.ledger_key_check}: it would know nobody. Give ledger_key= the key with "
                "which the ledger began; the key of the reports may be another one."
            )
        elif any(wrong[name].null_count() for name in needed):
            words = "rows without a report, an epoch or a digest. Restore them."
        elif wrong["digest"][0] == self.digest and not 0 <= wrong["report"][0] < self._n_symbols:
            words = (
                f"a report of this mechanism that is none of 0 to {self._n_symbols - 1}, and would "
                "leave as another one. Restore it."
            )
        else:
            words = (
                "rows whose holder is not 32 hexadecimal digits, in small letters and with nothing "
                "beside them, as entries() writes them: it would not know these persons, and give "
                "them further reports. Restore them."
            )
        raise ValueError(f"the ledger has {words}")

    def _made_fields(self) -> list[Any]:
        pa = pyarrow()
        [report] = super()._made_fields()
        return [report.with_name(_CANDIDATE), pa.field(_HOLDER, pa.string())]

    def _beside(self, ids: IntegerIds | OctetIds) -> list[Any]:
        """Compute the keyed ids, in hexadecimal."""
        if self._holders is None:
            derived = hmac.digest(self._ledger_key.read(), _DOMAIN, "sha256")
            self._holders = KeyedStream(derived, digest=bytes(32).hex())
        if len(ids) > _MOST_ROWS:
            raise ValueError(f"a batch has {len(ids):,} rows; give at most {_MOST_ROWS:,} at once.")
        tapes, cells = self._holders.tapes, np.zeros(len(ids), dtype=np.uint8)
        some = chunks(max(1, len(ids)), BLOCK)  # those in which ids are written for the reports
        parts = [tapes(cells[rows], ids, rows.start) for rows in some]
        return [holders_of(np.concatenate(parts))]

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
        more = f"at most {self.max_reports} in a ledger, together {brief_bound(self.bound)})"
        return f"{super().__repr__()[:-1]}, {more}"


# --- What a ledger at hand knows ------------------------------------------------------------------


class Persons(NamedTuple):
    """What a ledger knows of persons, sorted by their keyed ids; the first is one whom it lacks."""

    first: NDArray[np.uint64]  # half of the keyed id
    second: NDArray[np.uint64]  # the other half
    may_report: NDArray[np.bool_]  # whether a report is left for this design and epoch
    epoch: NDArray[Any]  # of the latest report of this design up to this epoch; -1: none
    report: NDArray[Any]  # that report

    @classmethod
    def of(cls, reporter: LedgerReporter, ledger: Iterable[Any], n_rows: int) -> Persons:
        """Sum up the batches of a ledger; entries that were written twice count once.

        Raises ValueError if the entries are another key's, or were changed.
        """
        import narwhals.stable.v2 as nw

        pa, schema, digests = pyarrow(), reporter.schema(), {reporter.digest: 0}
        # Of a table of many records, what is held is the memory of the run.
        first, second = np.zeros((2, n_rows + 1), np.uint64)
        code, start = np.full(n_rows + 1, -1, np.int32), 1
        none = np.full(1, -1, np.int8)
        epochs, reports = [none], [none]
        for batch in ledger:
            reporter._check(nw.from_native(pa.Table.from_batches([batch])))
            own = {field.name: batch[field.name].cast(field.type) for field in schema}
            numbers = own["digest"].dictionary_encode()
            known = [digests.setdefault(of, len(digests)) for of in numbers.dictionary.to_pylist()]
            rows = slice(start, start := start + len(batch))
            first[rows], second[rows] = _halves(octets_of(own[_HOLDER]))
            code[rows] = np.array(known, np.int32)[numbers_of(numbers.indices)]
            epochs.append(_narrow(numbers_of(own[_EPOCH])))
            reports.append(_narrow(numbers_of(own["report"])))
        epoch, report = np.concatenate(epochs), np.concatenate(reports)
        # Of each person, this design's reports up to this epoch come first, the latest of all.
        code[(code == 0) & (epoch > reporter.epoch)] = len(digests)
        order = np.argsort(first)
        if (np.diff(first[order]) == 0).any():  # else each person has one entry
            order = np.lexsort((report, -epoch, code, second, first))
        for column in (first, second, code, epoch, report):
            column[:] = column[order]
        del order
        is_first, is_once = np.ones((2, len(first)), bool)
        is_first[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
        is_once[1:] = is_first[1:]
        for column in (code, epoch, report):
            is_once[1:] |= column[1:] != column[:-1]
        begins = np.flatnonzero(is_first)
        given = np.add.reduceat(is_once, begins, dtype=np.int32)
        latest = np.where(code[begins] == 0, epoch[begins], none)
        may = (latest != reporter.epoch) & (given < reporter.max_reports)
        may[0] = True
        del given, code, column, is_once
        first = first[begins]
        second = second[begins]
        return cls(first, second, may, latest, report[begins])

    def places(self, holders: NDArray[np.bytes_]) -> NDArray[np.intp]:
        """Return where persons are, by their keyed ids."""
        (first, second), last = _halves(holders), len(self.first) - 1

        def are_others() -> NDArray[np.bool_]:
            return (self.first[place] != first) | (self.second[place] != second)

        order = np.argsort(first)  # searched in order, the cache has what is next
        place = np.empty(len(first), np.intp)
        place[order] = np.minimum(np.searchsorted(self.first, first[order]), last)
        while (step := are_others() & (place < last) & (self.first[place] == first)).any():
            place += step  # past another person with the same first half
        place[are_others()] = 0
        return place


def holders_of(octets: NDArray[Any]) -> Any:
    """Write keyed ids, of 16 bytes each, into an Arrow column: in hexadecimal."""
    pa, text = pyarrow(), hexlify(octets.tobytes())
    ends = np.arange(0, len(text) + 1, 32, dtype=np.int32)
    return pa.StringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(text))


def octets_of(holders: Any) -> NDArray[np.bytes_]:
    """Read what :func:`holders_of` writes."""
    text = octets_in(holders)
    if (np.diff(text.ends) != 32).any():
        raise ValueError("a holder is not 32 hexadecimal digits.")
    return np.frombuffer(unhexlify(text.octets[text.ends[0] : text.ends[-1]].tobytes()), "S16")


def _halves(holders: NDArray[np.bytes_]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    first, second = holders.view(">u8").reshape(-1, 2).T.astype(np.uint64)
    return first, second


def _narrow(numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Return numbers in the smallest signed type that holds them and their negatives."""
    ends = numbers.max(initial=0), numbers.min(initial=0)
    return numbers.astype(smallest_dtype(max(int(ends[0]), -int(ends[1])) + 1, signed=True))


def _native(frame: Any) -> Any:
    """Return a frame of its own library, whose rows pandas numbers anew."""
    import narwhals.stable.v2 as nw

    if isinstance(frame, nw.DataFrame):
        frame = nw.maybe_reset_index(frame)
    return frame.to_native()
