"""Files that are written whole or not at all, and tables in them."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from skrldp._pages import as_json
from skrldp.cli._errors import CommandError
from skrldp.cli._tables import STANDARD, kind_of

if sys.platform != "win32":
    import fcntl

__all__ = ["new_file", "table_writer"]

_MOST = 80  # characters of a file's name in that of its temporary file


@contextmanager
def new_file(
    target: str,
    *,
    inputs: Sequence[str | None] = (),
    replace: bool = False,
    mode: int | None = None,
) -> Iterator[IO[bytes]]:
    """Open a file that gets its name when it is complete.

    Until then it is a temporary file in the same folder, which goes away after an error. If the
    process is killed it stays, until the same output is written again. What goes to standard output
    is kept until it is complete, too. Who may read it: as of the file that it replaces; `mode` is
    for a file that was not there.

    Raises CommandError if there is such a file, or no such folder.
    """
    if target == STANDARD:
        with tempfile.TemporaryFile() as spool:
            yield spool
            spool.seek(0)
            sys.stdout.flush()
            try:
                shutil.copyfileobj(spool, sys.stdout.buffer)
                sys.stdout.buffer.flush()
            except BaseException as error:
                error.add_note("Standard output may have a part of it.")
                raise
        return
    path = _checked(target, replace, inputs)
    _remove_left(path)
    while True:
        # Its name is known before the file is there: so whenever a signal comes, it goes away.
        name = path.with_name(f"{_prefix(path)}{secrets.token_hex(8)}.part")
        try:
            with _created(name, target) as file:
                with suppress(OSError):  # without locks, no file is taken for left behind
                    _lock(file)
                if not os.fstat(file.fileno()).st_nlink:
                    continue  # another process took it for left behind before it was locked
                yield file
                file.flush()
                os.fsync(file.fileno())
                os.chmod(name, _mode_of(path, mode))
                _checked(target, replace, inputs)  # somebody may have written it in between
                if sys.platform == "win32":  # where no open file is removed or renamed
                    file.close()
                os.replace(name, path)  # before the lock goes
                return
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise


@contextmanager
def table_writer(file: IO[bytes], target: str, schema: Any) -> Iterator[Any]:
    """Write a table in the format of the target's name; yields what has ``write_batch``."""
    import pyarrow as pa

    kind = kind_of(target, packed=False)
    for field in schema if kind in ("csv", "jsonl") else ():
        if "binary" in str(field.type) or isinstance(field.type, pa.BaseExtensionType):
            raise CommandError(
                f"column {field.name!r} has the type {field.type}, for which CSV and JSON have no "
                "words; write Parquet or Arrow."
            )
    with ExitStack() as stack:
        if kind == "csv":
            import pyarrow.csv as pacsv

            yield stack.enter_context(pacsv.CSVWriter(file, schema))
        elif kind == "jsonl":
            yield _JsonLines(file)
        elif kind == "parquet":
            import pyarrow.parquet as pq

            yield stack.enter_context(pq.ParquetWriter(file, schema))
        else:
            yield stack.enter_context(pa.ipc.new_file(file, schema))


class _JsonLines:
    """Writes rows as JSON objects, each in a line."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write_batch(self, batch: Any) -> None:
        for row in batch.to_pylist():
            self._file.write(as_json(row, indent=None).encode() + b"\n")


def _created(name: Path, target: str) -> IO[bytes]:
    try:
        return open(name, "xb", opener=partial(os.open, mode=0o600))
    except OSError as error:
        raise CommandError(
            f"{target}: the folder {name.parent} cannot be written to ({error.strerror})."
        ) from None


def _remove_left(path: Path) -> None:
    """Remove the temporary files of processes that were killed: those that nobody has locked."""
    ours = re.compile(re.escape(_prefix(path)) + r"[0-9a-f]{16}\.part")
    with suppress(OSError):  # a folder that cannot be read
        for name in filter(ours.fullmatch, os.listdir(path.parent)):
            with suppress(OSError), open(path.parent / name, "r+b") as left:
                _lock(left, wait=False)
                os.unlink(left.name)


def _lock(file: IO[bytes], *, wait: bool = True) -> None:
    if sys.platform != "win32":
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def _prefix(path: Path) -> str:
    return f".{path.name[:_MOST]}."


def _checked(target: str, replace: bool, inputs: Sequence[str | None]) -> Path:
    """Return where to write, through links."""
    path = Path(target).resolve()
    if not path.parent.is_dir():
        raise CommandError(f"{target}: there is no folder {path.parent}; make it first.")
    for name in inputs:
        if name not in (None, STANDARD) and Path(str(name)).resolve() in (path, path.parent):
            raise CommandError(f"{target} is to be read and written; give the output another name.")
    if path.is_dir():
        raise CommandError(f"{target} is a folder; give the name of a file.")
    if path.exists() and not path.is_file():
        raise CommandError(f"{target} is no regular file; '-' is standard output.")
    if path.exists() and not replace:
        raise CommandError(f"{target} exists; give another name, or remove it first.")
    return path


def _mode_of(path: Path, new: int | None) -> int:
    """Return the permissions of a file, or what a new one gets: by default the usual ones."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode) & 0o777
    if new is not None:
        return new
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
