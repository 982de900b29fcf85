"""Unknown categories and combinations of them are refused: what the messages say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from skrldp.alphabet import Column, hint_of, known_of, named, numbered

__all__ = ["refuse_categories", "refuse_combinations"]

_OTHERWISE = "handle_unknown='infrequent_if_exist' in `fit`"


def refuse_categories(
    column: Column,
    codes: np.ndarray,
    unknown: Iterable[Any],
    *,
    secret: bool,
    or_else: str | None = None,
) -> NoReturn:
    """Refuse values that a column's alphabet lacks, without showing them.

    `unknown` are these values; `or_else` is what else may be done about values of U. Raises
    ValueError always.
    """
    raise ValueError(
        f"column {column.name!r} has {_rows(codes, 'a value unseen in fit')}; known are "
        f"{known_of(column)}. "
        + (hint_of(column, unknown) or _mend(secret, or_else, column.bins is not None))
    )


def refuse_combinations(columns: Sequence[Column], index: np.ndarray) -> NoReturn:
    """Refuse combinations of known categories that the alphabet lacks, without showing them.

    Raises ValueError always.
    """
    what = "a combination of values unseen in fit"
    raise ValueError(
        f"{named(columns)}: {_rows(index, what)}; each value is known, but not together. `fit` "
        "with categories='product' takes all combinations."
    )


def _rows(codes: np.ndarray, what: str) -> str:
    rows, n = np.flatnonzero(codes < 0), len(codes)
    return (
        f"{len(rows):,} row{'s' if len(rows) > 1 else ''} with {what} (not shown; "
        f"{numbered(rows)} of {n:,})"
    )


def _mend(secret: bool, or_else: str | None = None, cut: bool = False) -> str:
    listing = "List every value in `categories` (None for missing)"
    if cut:
        listing = "Give the column wider `edges`, of which -inf and inf may be the ends"
    if secret:
        return f"{listing} to protect it"
    return f"{listing}, or use {or_else or _OTHERWISE}"
