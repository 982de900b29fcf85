"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from skrldp.cli._errors import CommandError

__all__ = ["STANDARD", "new_file"]

STANDARD = "-"  # standard input or output


@contextmanager
def new_file(
    target: str, *, force: bool = False, inputs: Sequence[str | None] = (), mode: int | None = None
) -> Iterator[IO[bytes]]:
    """Open a file that gets its name when it is complete.

    Until then it is a temporary file in the same folder, which goes away after an error. What goes
    to standard output is kept until it is complete, too.

    Parameters
    ----------
    target : str
        The file's name; "-" is standard output.
    force : bool
        Whether an existing file may be replaced.
    inputs : sequence of str or None
        Files that are read, none of which may be the target.
    mode : int, optional
        Permissions of the file; those of any new file if not given.

    Yields
    ------
    binary file

    Raises
    ------
    CommandError
        If there is such a file, or no such folder.
    """
    if target == STANDARD:
        with tempfile.TemporaryFile() as spool:
            yield spool
            spool.seek(0)
            sys.stdout.flush()
            shutil.copyfileobj(spool, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return
    path = _checked(target, force, inputs)
    try:
        number, name = tempfile.mkstemp(".part", f".{path.name[:80]}.", path.parent)
    except OSError as error:
        raise CommandError(
            f"{target}: the folder {path.parent} cannot be written to ({error.strerror})."
        ) from None
    try:
        with os.fdopen(number, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _usual_mode() if mode is None else mode)
        _checked(target, force, inputs)  # somebody may have written it in between
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _checked(target: str, force: bool, inputs: Sequence[str | None]) -> Path:
    """Return where to write, through links."""
    path = Path(target).resolve()
    if not path.parent.is_dir():
        raise CommandError(f"{target}: there is no folder {path.parent}; make it first.")
    for name in inputs:
        if name not in (None, STANDARD) and Path(str(name)).resolve() == path:
            raise CommandError(f"{target} is to be read and written; give the output another name.")
    if path.is_dir():
        raise CommandError(f"{target} is a folder; give the name of a file.")
    if path.exists() and not path.is_file():
        raise CommandError(f"{target} is no regular file; '-' is standard output.")
    if path.exists() and not force:
        raise CommandError(f"{target} exists; give another name, or --force to replace it.")
    return path


def _usual_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
