"""Atomic writing of files, and of tables in them."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from skrldp.cli._common import CommandError, heed_signals
from skrldp.cli._tables import STANDARD, kind_of

_EXISTS = "{} exists; choose a different name, or remove it first."
_NAME = 80  # characters of a file's name in that of its temporary file


@contextmanager
def new_file(
    target: str, *, inputs: Sequence[str | None] = (), mode: int | None = None
) -> Iterator[IO[bytes]]:
    """Open a file that gets its name only when it is complete.

    Until then, it is a hidden file in the same folder that only its owner can access. This file is
    deleted after an error, but remains if the process is killed. Standard output is also written
    only when it is complete.

    Raises CommandError if the file exists, or the folder does not.
    """
    if target == STANDARD:
        with tempfile.TemporaryFile() as spool:
            yield spool
            heed_signals()
            spool.seek(0)
            sys.stdout.flush()
            try:
                shutil.copyfileobj(spool, sys.stdout.buffer)
                sys.stdout.buffer.flush()
            except BaseException as error:
                error.add_note("Standard output may contain part of it.")
                raise
        return
    path = checked_target(target, inputs=inputs)
    # Its name is known before the file exists, so that it is deleted whenever a signal arrives.
    name = path.with_name(f".{path.name[:_NAME]}.{secrets.token_hex(8)}.part")
    try:
        with _created(name, target) as file:
            yield file
            heed_signals()  # checked as late as possible: an existing file is kept
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _usual_mode() if mode is None else mode)
        _give_name(name, path, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename is None:
            error.filename = target  # for example of a full disk
        with suppress(OSError):
            os.unlink(name)
        raise


def _created(name: Path, target: str) -> IO[bytes]:
    try:
        return open(name, "xb", opener=partial(os.open, mode=0o600))
    except OSError as error:
        raise CommandError(
            f"{target}: the folder {name.parent} cannot be written to ({error.strerror})."
        ) from None


def _give_name(name: Path, path: Path, target: str) -> None:
    """Rename a complete file in an atomic step that fails if the name exists."""
    try:
        try:
            os.link(name, path)
        except FileExistsError:
            raise
        except OSError:  # on file systems without links, an empty file reserves the name
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
            os.replace(name, path)
        else:
            os.unlink(name)
    except FileExistsError:
        raise CommandError(_EXISTS.format(target)) from None


def checked_target(
    target: str, *, may_exist: bool = False, inputs: Sequence[str | None] = ()
) -> Path:
    """Return the path to write, following links."""
    if os.path.islink(target) and not os.path.exists(target):
        raise CommandError(
            f"{target} is a symbolic link to a file that is not there; remove the link, "
            "or choose a different name."
        )
    path = Path(target).resolve()
    if not path.parent.is_dir():
        raise CommandError(f"{target}: there is no folder {path.parent}; create it first.")
    for name in inputs:
        if name not in (None, STANDARD) and Path(str(name)).resolve() in (path, path.parent):
            raise CommandError(
                f"{target} is both input and output; give the output a different name."
            )
    if path.is_dir():
        raise CommandError(f"{target} is a folder; pass the name of a file.")
    if path.exists() and not path.is_file():
        raise CommandError(f"{target} is not a regular file; '-' is standard output.")
    if path.exists() and not may_exist:
        raise CommandError(_EXISTS.format(target))
    return path


def _usual_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def table_writer(file: IO[bytes], target: str, schema: Any) -> Any:
    """Return a writer with ``write_batch`` in the format of the target's name."""
    import pyarrow as pa

    kind = kind_of(target, packed=False)
    if kind == "Parquet":
        import pyarrow.parquet as pq

        return pq.ParquetWriter(file, schema)
    if kind == "Arrow":
        return pa.ipc.new_file(file, schema)
    for field in schema:
        if "binary" in str(field.type) or isinstance(field.type, pa.BaseExtensionType):
            raise CommandError(
                f"column {field.name!r} has the type {field.type}, which CSV cannot represent; "
                "write Parquet or Arrow."
            )
    import pyarrow.csv as pacsv

    return pacsv.CSVWriter(file, schema)
