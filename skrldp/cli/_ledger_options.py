"""The options of a ledger, with what their help says."""

from __future__ import annotations

from typing import Annotated

import typer

__all__: list[str] = []  # the command's functions read them all

Ledger = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="FILE",
        show_default=False,
        help="Parquet file that remembers who reported: at most --max-reports about each person, "
        "in all runs together. It is made if it is not there.",
    ),
]
MaxReports = Annotated[
    int | None,
    typer.Option(
        "--max-reports",
        metavar="K",
        min=1,
        show_default=False,
        help="How many reports about each person the ledger may have, of all mechanisms and "
        "epochs together. 1 if not given.",
    ),
]
Epoch = Annotated[
    int | None,
    typer.Option(
        "--epoch",
        metavar="N",
        min=0,
        show_default=False,
        help="The round of reports, counted upwards; another one is another report about each "
        "person. 0 if not given.",
    ),
]
LedgerKeyFile = Annotated[
    str | None,
    typer.Option(
        "--ledger-key-file",
        metavar="FILE",
        show_default=False,
        help="The key with which the ledger began, if that of the reports is another one.",
    ),
]
