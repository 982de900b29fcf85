"""Which files a table is in."""

from __future__ import annotations

import fnmatch
import glob
import os
from pathlib import Path

from skrldp.cli._errors import CommandError

__all__ = ["STANDARD", "files_of", "is_part"]

STANDARD = "-"  # standard input or output
_HIDDEN = (".", "_")  # how names begin that are no part of a table, such as _SUCCESS


def files_of(path: str) -> list[str]:
    """List the files of a table, in the order of their names."""
    if path == STANDARD or not (os.path.isdir(path) or _is_pattern(path)):
        return [path]
    if os.path.isdir(path):
        found = [os.path.join(path, name) for name in os.listdir(path)]
    else:
        found = glob.glob(path, recursive=True)
    found = sorted(file for file in found if not os.path.basename(file).startswith(_HIDDEN))
    # A pattern may name a file twice, and a link another one: its records would report twice.
    found = list({os.path.realpath(file): file for file in reversed(found)}.values())[::-1]
    folders = [file for file in found if os.path.isdir(file)]
    if folders:
        raise CommandError(
            f"{path} holds folders, such as {folders[0]}: give one of them, or a pattern such as "
            f"{os.path.join(path, '*', '*.parquet')!r}. What folders' names say is not read."
        )
    if not found:
        raise CommandError(
            f"{path} is a folder without files of a table; give the name of a file."
            if os.path.isdir(path)
            else f"{path}: there is no such file."
        )
    return found


def _is_pattern(path: str) -> bool:
    """Whether a name stands for several files."""
    return not os.path.exists(path) and any(letter in path for letter in "*?[")


def is_part(target: Path, path: str) -> bool:
    """Whether a file would be one of those of a table, when it is read again."""
    if path == STANDARD:
        return False
    if _is_pattern(path):
        return fnmatch.fnmatch(str(target), os.path.abspath(path))
    return Path(path).resolve() in (target, target.parent)
