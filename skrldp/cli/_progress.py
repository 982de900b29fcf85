"""Progress bars, for people alone."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["for_people", "progress"]


def for_people(quiet: bool) -> bool:
    """Whether somebody is looking: standard error is a terminal, and it may be written to."""
    return not quiet and sys.stderr.isatty()


def progress(
    batches: Iterable[Any],
    *,
    quiet: bool,
    what: str,
    total: int | None,
    place: Callable[[], int] | None,
) -> Iterator[Any]:
    """Pass batches on, and show on standard error how far they have come."""
    if not for_people(quiet):
        yield from batches
        return
    from tqdm import tqdm

    unit = " rows" if place is None else "B"
    size = shutil.get_terminal_size()  # tqdm shows nothing in terminals that do not tell theirs
    shape = {"ncols": size.columns, "nrows": size.lines}
    with tqdm(desc=what, total=total, unit=unit, unit_scale=True, leave=False, **shape) as bar:
        for batch in batches:
            yield batch
            bar.update(batch.num_rows if place is None else place() - bar.n)
