"""The distinct rows of a table and how often they occur, in memory that grows with them alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skrldp.alphabet import brief
from skrldp.cli._errors import CommandError
from skrldp.cli._formats import Kind
from skrldp.cli._json_lines import typed_column
from skrldp.cli._opened import checked, counts_of
from skrldp.cli._progress import progress
from skrldp.cli._tables import Batches, Wanted, open_batches
from skrldp.cli._text_files import csv_options

__all__ = ["count_rows"]

_RECORDS = "records of this row"
_AT_ONCE = 1 << 18  # rows that are merged at a time, or as many as there are distinct ones
_MOST = 1 << 22  # distinct rows: no design has as many cells


def count_rows(
    path: str,
    kind: Kind,
    columns: Sequence[str] | None,
    *,
    text: Sequence[str],
    counts: str | None,
) -> tuple[Any, Any]:
    """Count the records of a table, a batch at a time.

    Returns `rows`: each distinct row once; `records`: how many records there are of each.
    """
    import pyarrow as pa

    counted = [] if counts is None else [counts]
    own = Wanted(
        None if columns is None else list(dict.fromkeys([*columns, *counted])),
        dict.fromkeys(counted, pa.int64()),
        () if kind.name == "jsonl" else text,
        raw=True,
    )
    with open_batches(path, kind, own) as source:
        names = [name for name in source.schema.names if name != counts]
        if kind.is_text:
            checked(source.header, text, path)
        if not names:
            raise CommandError(f"{path} has no columns besides {counts!r} (--counts).")
        found = _Counted(source, names, counts)
        for batch in progress(source, "counted"):
            found.add(batch)
        table = found.merged()
    records = table.column(_RECORDS).to_numpy()
    table = table.select(names)
    if kind.name == "csv":
        table = _inferred(table, names, text)
    elif kind.name == "jsonl":
        table = pa.table(
            {n: typed_column(n, path, table[n].to_pylist(), text=n in text) for n in names}
        )
    return found.with_dictionaries(table), records


def _inferred(table: Any, names: Sequence[str], text: Sequence[str]) -> Any:
    """Read texts as CSV is read, where all of a column's values say its type."""
    import pyarrow as pa
    import pyarrow.csv as pacsv

    sink = pa.BufferOutputStream()
    pacsv.write_csv(table, sink)
    own = [name for name in text if name in names]
    options = csv_options(names, Wanted(names, texts=own))
    return pacsv.read_csv(pa.BufferReader(sink.getvalue()), **options)


class _Counted:
    """Counts of the distinct rows that were added.

    Parameters
    ----------
    source : Batches
        The table.
    names : sequence of str
        The columns of a record.
    counts : str or None
        The column of counts.
    """

    def __init__(self, source: Batches, names: Sequence[str], counts: str | None) -> None:
        self._path, self._names, self._counts = source.path, list(names), counts
        self._parts: list[Any] = []
        self._waiting, self._distinct = 0, 0
        self._dictionaries: dict[str, Any] = {}  # None where they differ
        self._ordered = {f.name for f in source.schema if getattr(f.type, "ordered", False)}

    def add(self, batch: Any) -> None:
        """Count the rows of a batch."""
        import pyarrow as pa

        columns = [self._key(name, batch.column(name)) for name in self._names]
        number = (
            pa.repeat(1, batch.num_rows)
            if self._counts is None
            else counts_of(batch, self._counts, self._path)
        )
        table = pa.table([*columns, number], names=[*self._names, _RECORDS])
        part = self._grouped(table)
        self._parts.append(part)
        self._waiting += part.num_rows
        if self._waiting > max(_AT_ONCE, 2 * self._distinct):
            self.merged()

    def merged(self) -> Any:
        """Return the distinct rows, with their counts in a column."""
        import pyarrow as pa

        table = self._grouped(pa.concat_tables(self._parts))
        self._parts, self._waiting, self._distinct = [table], table.num_rows, table.num_rows
        if table.num_rows > _MOST:
            sizes = {name: len(table[name].unique()) for name in self._names}
            most = sorted(sizes, key=lambda name: -sizes[name])[:3]
            words = ", ".join(f"{name!r}: {sizes[name]:,}" for name in most)
            raise CommandError(
                f"{self._path} has more than {_MOST:,} distinct rows, too many to design for. The "
                f"columns with most values are {brief(words)}. Name those of the record, with "
                "--column, and leave ids out."
            )
        return table

    def with_dictionaries(self, table: Any) -> Any:
        """Give columns back the dictionaries that they had."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for place, name in enumerate(self._names):
            if (own := self._dictionaries.get(name)) is not None:
                codes = pc.index_in(table[name].combine_chunks(), value_set=own)
                column = pa.DictionaryArray.from_arrays(codes, own, ordered=name in self._ordered)
                table = table.set_column(place, name, column)
        return table

    def _key(self, name: str, column: Any) -> Any:
        """Return a column of a type by which rows can be grouped."""
        import pyarrow as pa

        if isinstance(column, pa.DictionaryArray):
            known = self._dictionaries.setdefault(name, column.dictionary)
            if known is not None and not known.equals(column.dictionary):
                self._dictionaries[name] = None
            column = column.dictionary_decode()
        if isinstance(column, pa.ExtensionArray):
            column = column.storage
        if pa.types.is_nested(column.type):
            raise CommandError(
                f"{self._path}: column {name!r} has the type {brief(str(column.type))}, which "
                "holds no categories. Name the columns of the record, with --column."
            )
        return column

    def _grouped(self, table: Any) -> Any:
        import pyarrow as pa

        groups = table.group_by(self._names, use_threads=False)
        try:
            found = groups.aggregate([(_RECORDS, "sum")])
        except pa.ArrowNotImplementedError:
            types = ", ".join(f"{f.name!r}: {f.type}" for f in table.schema if f.name != _RECORDS)
            raise CommandError(
                f"{self._path} has a column that holds no categories; their types are "
                f"{brief(types)}. Name the columns of the record, with --column."
            ) from None
        return found.select([*self._names, f"{_RECORDS}_sum"]).rename_columns(table.column_names)
