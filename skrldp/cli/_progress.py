"""What a command is doing, on standard error: for people alone, from its first moment to its last.

One line says what is being done and for how long; a bar below, how far a table has been read, or
how far a design has come. tqdm writes all of them, as sanitizers do.
"""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any

from skrldp.cli._files import STANDARD

if TYPE_CHECKING:
    from skrldp.cli._opened import Batches

__all__ = ["aside", "done", "for_people", "prints_aside", "progress", "said", "tell"]

_TICK = 0.5  # seconds after which the line is written again


class _Line:
    """The line, as long as there is one; written again and again by a thread."""

    def __init__(self) -> None:
        self.bar: Any = None
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        from tqdm import tqdm

        shape = _shape()
        self.bar = tqdm(desc="skrldp", bar_format="{desc} {elapsed}", leave=False, **shape)
        self._ended.clear()
        self._thread = threading.Thread(target=self._tick, name="skrldp", daemon=True)
        self._thread.start()

    def _tick(self) -> None:
        while not self._ended.wait(_TICK):
            self.bar.refresh()

    def end(self) -> None:
        if self._thread is not None:
            self._ended.set()
            self._thread.join()
            self.bar.close()
            self.bar = self._thread = None


_line = _Line()  # there is one standard error


def for_people() -> bool:
    """Whether somebody is told what is being done."""
    return _line.bar is not None


@contextmanager
def said(quiet: bool) -> Iterator[None]:
    """Say what is being done, if standard error is a terminal, and may be written to."""
    if not quiet and sys.stderr.isatty():
        _line.begin()
        tell("loading")
    try:
        yield
    finally:
        done()


def tell(what: str) -> None:
    """Say what is being done now."""
    if _line.bar is not None:
        _line.bar.set_description_str(f"skrldp: {what}")


def done() -> None:
    """Take the line away: what follows is the result."""
    _line.end()


def aside(text: str) -> None:
    """Print a message on standard error, above the line."""
    if _line.bar is None:
        print(text, file=sys.stderr)
    else:
        _line.bar.write(text, file=sys.stderr)


def prints_aside() -> Any:
    """Return a context in which what is printed goes to standard error, above the line."""
    if _line.bar is None:
        return redirect_stdout(sys.stderr)
    from tqdm.contrib import DummyTqdmFile

    return redirect_stdout(DummyTqdmFile(sys.stderr))


def progress(source: Batches, what: str) -> Iterator[Any]:
    """Pass the batches of a table on, and show how far they have come."""
    tell(f"reading {'standard input' if source.path == STANDARD else source.path}")
    if _line.bar is None:
        yield from source.rows
        return
    from tqdm import tqdm

    place = source.place
    unit = " rows" if place is None else "B"
    with tqdm(
        desc=what, total=source.total, unit=unit, unit_scale=True, leave=False, **_shape()
    ) as bar:
        for batch in source.rows:
            yield batch
            bar.update(batch.num_rows if place is None else place() - bar.n)


def _shape() -> dict[str, int]:
    """Return the terminal's size: tqdm shows nothing in terminals that do not tell theirs."""
    size = shutil.get_terminal_size()
    return {"ncols": size.columns, "nrows": size.lines}
