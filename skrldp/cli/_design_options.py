"""Options of a design: what its reports are for, and how its public table was drawn."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

__all__: list[str] = []  # the command reads them all


class Purpose(StrEnum):
    """What reports are for."""

    figures = "figures"
    records = "records"
    information = "information"


Purposes = Annotated[
    Purpose | None,
    typer.Option(
        "--for",
        show_default=False,
        help="What the reports are for: figures such as shares and means (the default), records "
        "to read one by one, or as much information as possible.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="COLUMN",
        show_default=False,
        help="Column of sampling weights, if the public table is a survey: how many people a "
        "record stands for.",
    ),
]
Strata = Annotated[
    str | None,
    typer.Option(
        "--strata", metavar="COLUMN", show_default=False, help="Column of the survey's strata."
    ),
]
Clusters = Annotated[
    str | None,
    typer.Option(
        "--clusters",
        metavar="COLUMN",
        show_default=False,
        help="Column of the survey's clusters, such as households or places.",
    ),
]
MaxWeight = Annotated[
    float | None,
    typer.Option(
        "--max-weight",
        metavar="WEIGHT",
        show_default=False,
        help="The greatest weight that the survey could give a record, or the greatest sum of a "
        "cluster. With it the confidence set is exact, from an independent part of the records; "
        "without, it is for many clusters.",
    ),
]
