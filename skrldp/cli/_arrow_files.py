"""Parquet and Arrow files, and Arrow streams."""

from __future__ import annotations

import io
import os
from contextlib import ExitStack
from typing import Any

from skrldp.cli._errors import CommandError
from skrldp.cli._opened import BATCH_ROWS, BLOCK, Batches, Wanted, checked
from skrldp.cli._outputs import STANDARD
from skrldp.cli._text_files import Counted, bytes_of

__all__ = ["open_arrow", "open_parquet", "open_stream"]

_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


def open_parquet(path: str, stack: ExitStack, wanted: Wanted) -> Batches:
    """Open a Parquet file."""
    import pyarrow.parquet as pq

    if path == STANDARD:
        raise CommandError("Parquet cannot be read from standard input; give a file.")
    file = stack.enter_context(pq.ParquetFile(path, pre_buffer=False, buffer_size=BLOCK))
    columns = checked(file.schema_arrow.names, wanted.columns, path)
    rows = file.iter_batches(batch_size=BATCH_ROWS, columns=columns)
    return Batches(path, file.schema_arrow, rows, file.metadata.num_rows)


def open_arrow(path: str, stack: ExitStack, wanted: Wanted) -> Batches:
    """Open an Arrow file, or a stream."""
    import pyarrow as pa

    if path == STANDARD:
        raise CommandError("an Arrow file cannot be read from standard input; 'arrows' can.")
    with open(path, "rb") as file:
        if file.read(6) != b"ARROW1":
            return open_stream(path, stack, wanted)
    source = stack.enter_context(pa.OSFile(path))
    names = pa.ipc.open_file(source).schema.names
    columns = checked(names, wanted.columns, path)
    options = pa.ipc.IpcReadOptions(included_fields=[names.index(name) for name in columns])
    reader = stack.enter_context(pa.ipc.open_file(source, options=options))
    rows = (reader.get_batch(number) for number in range(reader.num_record_batches))
    return Batches(path, reader.schema, rows)


def open_stream(path: str, stack: ExitStack, wanted: Wanted) -> Batches:
    """Open an Arrow stream."""
    import pyarrow as pa

    file = bytes_of(path, stack)
    if path != STANDARD:
        _check_end(file, path)
    counted = Counted(file)
    reader = stack.enter_context(pa.ipc.open_stream(io.BufferedReader(counted, BLOCK)))
    checked(reader.schema.names, wanted.columns, path)
    total = None if path == STANDARD else os.path.getsize(path)
    return Batches(path, reader.schema, reader, total, counted.tell_read)


def _check_end(file: Any, path: str) -> None:
    """Refuse a stream that was cut off between two batches, which Arrow would take for its end."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - len(_END_OF_STREAM)))
    if file.read() != _END_OF_STREAM:
        raise CommandError(f"{path} is no Arrow stream, or is cut off: it has no mark of its end.")
    file.seek(0)
