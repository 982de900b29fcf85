"""What a command is doing, in lines on standard error, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["for_people", "progress", "tell"]


def for_people() -> bool:
    """Whether somebody is told what is being done."""
    return sys.stderr.isatty()


def tell(what: str) -> None:
    """Say what is being done now."""
    if for_people():
        print(f"skrldp: {what}", file=sys.stderr)


def progress(batches: Iterable[Any], path: str) -> Iterator[Any]:
    """Pass the batches of a table on, and show how many rows there were."""
    tell(f"reading {path}")
    if not for_people():
        yield from batches
        return
    from tqdm import tqdm

    with tqdm(unit=" rows", unit_scale=True, leave=False) as bar:
        for batch in batches:
            yield batch
            bar.update(batch.num_rows)
