"""The command ``skrldp``: designs, reports, estimates and proofs on files, without Python.

``skrldp --help`` lists the commands, and ``docs/guide/command_line.md`` explains them. The command
needs the extra ``cli``. Large dependencies are imported only if a command needs them.
"""

from __future__ import annotations

import importlib.util
import io
import signal
import sys
from collections.abc import Sequence
from traceback import walk_stack
from types import FrameType

__all__ = ["main"]

_NEEDED = ("pyarrow", "duckdb", "typer")
_SOON = 0.01  # seconds


def main(args: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns int: the exit code: 0 for success, 1 if a check failed, 2 for wrong usage or bad input.

    Examples
    --------
    >>> main(["--version"])
    skrldp 0.1.0
    0
    """
    try:
        for name in _NEEDED:  # importing them takes a tenth of a second
            if importlib.util.find_spec(name) is None:
                raise ModuleNotFoundError(name=name)
        from skrldp.cli._app import run
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        print(
            f"skrldp: the command line needs {error.name}, which is not installed: "
            'pip install "skrldp[cli]"',
            file=sys.stderr,
        )
        return 2
    # In a separate process, so that termination by a signal leaves no files behind
    if args is None:
        handler = _interrupt if hasattr(signal, "setitimer") else signal.default_int_handler
        for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM"):
            number = getattr(signal, name, None)  # not all systems have all of them
            # A signal that is already ignored, for example under nohup, remains ignored.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, handler)
        if isinstance(sys.stdout, io.TextIOWrapper):  # as in tables, whatever the locale
            sys.stdout.reconfigure(encoding="utf-8")
    return run(sys.argv[1:] if args is None else args)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Interrupt the command; retry soon after imports, during which Python may ignore it."""
    files = (outer.f_code.co_filename for outer, _ in walk_stack(frame))
    later = _SOON if any("importlib" in file for file in files) else 0.0
    signal.setitimer(signal.ITIMER_REAL, later, later)  # of SIGALRM
    if not later:
        raise KeyboardInterrupt
