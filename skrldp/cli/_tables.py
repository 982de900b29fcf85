"""Tables in files, or in folders and patterns of files, read batch by batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from skrldp.alphabet import brief
from skrldp.cli._arrow_files import open_arrow, open_parquet, open_stream
from skrldp.cli._errors import CommandError
from skrldp.cli._files import files_of
from skrldp.cli._formats import Kind
from skrldp.cli._json_lines import open_json_lines
from skrldp.cli._opened import BATCH_ROWS, Batches, NoRows, Wanted
from skrldp.cli._problems import in_words
from skrldp.cli._text_files import open_csv

__all__ = ["Batches", "Wanted", "open_batches"]


@contextmanager
def open_batches(
    path: str, kind: Kind, wanted: Wanted, converted: Callable[[Any], Any] | None = None
) -> Iterator[Batches]:
    """Open a table.

    Raises CommandError if it is no such table, or lacks a column; while it is read, if it is cut
    off or damaged, or files have different columns.
    """
    files = files_of(path)
    with ExitStack() as stack:
        for place, file in enumerate(files):
            try:
                found = _opened(file, kind, wanted, stack)
                break
            except NoRows:
                if place == len(files) - 1:
                    raise
        columns = _columns(found, wanted)
        schema = _selected(found.schema, columns)
        read = replace(found, path=path, schema=schema)
        if len(files) == 1:
            pieces = _pieces(found, columns, kind)
        else:
            done = [0]

            def one_after_the_other() -> Iterator[Any]:
                yield from _pieces(found, columns, kind)
                for file in files[place + 1 :]:
                    done[0] = sum(map(os.path.getsize, files[: files.index(file)]))
                    yield from _pieces_of(file, kind, wanted, schema, found.path)

            pieces, total = one_after_the_other(), sum(map(os.path.getsize, files))
            read = replace(read, total=total, place=lambda: done[0])
        if kind.name == "csv" and converted is not None:
            pieces = map(converted, pieces)
        yield replace(read, rows=_some(pieces, path))


def _opened(file: str, kind: Kind, wanted: Wanted, stack: ExitStack) -> Batches:
    with in_words(file, kind.name):
        if kind.name == "csv":
            return open_csv(file, kind.delimiter or ",", stack, wanted)
        return _OPEN[kind.name](file, stack, wanted)


_OPEN = {
    "jsonl": open_json_lines,
    "parquet": open_parquet,
    "arrow": open_arrow,
    "arrows": open_stream,
}


def _columns(found: Batches, wanted: Wanted) -> list[str]:
    """Return the wanted columns; an index that pandas wrote is none."""
    if wanted.columns is not None:
        return list(wanted.columns)
    index = [name for name in found.schema.names if name.startswith("__index_level_")]
    return [name for name in found.schema.names if name not in index]


def _pieces_of(file: str, kind: Kind, wanted: Wanted, schema: Any, first: str) -> Iterator[Any]:
    """Yield the batches of another file of a table."""
    import pyarrow as pa

    with ExitStack() as stack:
        try:
            found = _opened(file, kind, wanted, stack)
        except NoRows:
            return
        columns = _columns(found, wanted)
        if set(columns) != set(schema.names):
            odd = brief(", ".join(map(repr, sorted(set(columns) ^ set(schema.names)))))
            raise CommandError(
                f"{file} and {first} have different columns: {odd} in one of them. Name those to "
                "be read, with --column, or give the files one by one."
            )
        own = _selected(found.schema, schema.names)
        for name, kind_here, kind_there in zip(schema.names, own.types, schema.types, strict=True):
            if kind_here != kind_there:
                raise CommandError(
                    f"{file}: column {name!r} has the type {brief(str(kind_here))}, but "
                    f"{brief(str(kind_there))} in {first}. Write all files of a table with the "
                    "same types."
                )
        for batch in _pieces(found, schema.names, kind):
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)


def _pieces(found: Batches, columns: Sequence[str], kind: Kind) -> Iterator[Any]:
    """Yield batches of the wanted columns and of limited size."""
    rows = iter(found.rows)
    while True:
        with in_words(found.path, kind.name, found.header):
            batch = next(rows, None)
        if batch is None:
            return
        batch = batch.select(list(columns))
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield batch.slice(start, BATCH_ROWS)


def _some(pieces: Iterator[Any], path: str) -> Iterator[Any]:
    """Refuse a table without rows, when it has been read."""
    n_rows = 0
    for piece in pieces:
        n_rows += piece.num_rows
        yield piece
    if not n_rows:
        raise CommandError(f"{path} has no rows.")


def _selected(schema: Any, columns: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.schema([schema.field(name) for name in columns])
