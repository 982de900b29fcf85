"""Tables that are written batch by batch."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any

from skrldp._pages import as_json
from skrldp.cli._errors import CommandError
from skrldp.cli._formats import Kind

__all__ = ["table_writer"]


@contextmanager
def table_writer(
    file: IO[bytes], kind: Kind, schema: Any, *, packed: bool = False
) -> Iterator[Any]:
    """Write a table into a file.

    Yields with a method ``write_batch``.
    """
    import pyarrow as pa

    with ExitStack() as stack:
        target: Any = file
        if packed and kind.name in ("csv", "jsonl"):
            target = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0))
        if kind.name == "csv":
            import pyarrow.csv as pacsv

            for field in schema:
                if pa.types.is_fixed_size_binary(getattr(field.type, "storage_type", field.type)):
                    raise _no_text(field, "CSV")
            quoted = pacsv.WriteOptions(quoting_style="needed", delimiter=kind.delimiter)
            yield stack.enter_context(pacsv.CSVWriter(target, schema, write_options=quoted))
        elif kind.name == "jsonl":
            yield _JsonLines(target, schema)
        elif kind.name == "parquet":
            import pyarrow.parquet as pq

            yield stack.enter_context(pq.ParquetWriter(file, schema))
        else:
            new = pa.ipc.new_file if kind.name == "arrow" else pa.ipc.new_stream
            yield stack.enter_context(new(file, schema))


class _JsonLines:
    """Writes rows as JSON objects, those of one line each."""

    def __init__(self, file: Any, schema: Any) -> None:
        import pyarrow as pa

        self._file = file
        for field in schema:
            if "binary" in str(field.type) or isinstance(field.type, pa.BaseExtensionType):
                raise _no_text(field, "JSON")

    def write_batch(self, batch: Any) -> None:
        for row in batch.to_pylist():
            self._file.write(as_json(row, indent=None).encode() + b"\n")


def _no_text(field: Any, format: str) -> CommandError:
    """Return the refusal of a column that a format of text has no words for."""
    return CommandError(
        f"column {field.name!r} has the type {field.type}, which cannot be written in {format}; "
        "write Parquet or Arrow."
    )
