"""The command and its subcommands, which are functions whose annotations are the options."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Annotated, Any

import typer

from skrldp.cli._common import exit_code_of
from skrldp.cli._design import design
from skrldp.cli._estimate import estimate
from skrldp.cli._inspect import inspect
from skrldp.cli._report import key, report
from skrldp.cli._verify import verify

_WIDTH = 80
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH}

_app = typer.Typer(
    name="skrldp",
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)


def run(args: Sequence[str]) -> int:
    """Run the command.

    Returns int: the exit code.
    """
    try:
        _app(list(args), prog_name="skrldp")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2 if stop.code else 0
    return 0


def _show_version(wanted: bool) -> None:
    if wanted:
        package = sys.modules[__name__.partition(".")[0]]
        typer.echo(f"skrldp {package.__version__}")
        raise typer.Exit


@_app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Robust local differential privacy for tables.

    Design a mechanism from a public table, report private records with it, and estimate from the
    reports. Tables are CSV, Parquet or Arrow files.

    Exit codes: 0 success; 1 a check failed, because something is not proved or a digest differs; 2
    wrong usage or bad input; 130 interrupted. After an error, nothing has been written. Existing
    files are never replaced.
    """


def _command(work: Callable[..., int | None]) -> Callable[..., None]:
    """Return a command that exits with its function's code, and prints errors in one line."""

    @wraps(work)
    def command(**options: Any) -> None:
        raise typer.Exit(exit_code_of(partial(work, **options)))

    return command


for _work in (design, inspect, verify, key, report, estimate):
    _app.command()(_command(_work))
