"""Tables that are written batch by batch."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any

__all__ = ["table_writer"]


@contextmanager
def table_writer(file: IO[bytes], kind: str, schema: Any, *, packed: bool = False) -> Iterator[Any]:
    """Write a table into a file.

    Parameters
    ----------
    file : binary file
    kind : {"csv", "parquet", "arrow", "arrows"}
        The format.
    schema : Schema
        Of the batches.
    packed : bool
        Whether CSV is compressed with gzip.

    Yields
    ------
    object
        With a method ``write_batch``.
    """
    import pyarrow as pa

    with ExitStack() as stack:
        if kind == "csv":
            import pyarrow.csv as pacsv

            target: Any = file
            if packed:
                target = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0))
            quoted = pacsv.WriteOptions(quoting_style="needed")
            yield stack.enter_context(pacsv.CSVWriter(target, schema, write_options=quoted))
        elif kind == "parquet":
            import pyarrow.parquet as pq

            yield stack.enter_context(pq.ParquetWriter(file, schema))
        else:
            new = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
            yield stack.enter_context(new(file, schema))
