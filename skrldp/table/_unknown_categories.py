"""Unknown categories and combinations of them are refused: what the messages say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from skrldp.alphabet import Column, listed, named, numbered

__all__ = ["refuse_categories", "refuse_combinations"]


def refuse_categories(column: Column, codes: np.ndarray, *, secret: bool) -> NoReturn:
    """Refuse values that a column's alphabet lacks, without showing them.

    Raises ValueError always.
    """
    raise ValueError(
        f"column {column.name!r} has {_rows(codes, 'a value unseen in fit')}; known are "
        f"{listed(column.categories)}. {_mend(secret)}"
    )


def refuse_combinations(columns: Sequence[Column], index: np.ndarray, *, secret: bool) -> NoReturn:
    """Refuse combinations of known categories that the alphabet lacks, without showing them.

    Raises ValueError always.
    """
    what = "a combination of values unseen in fit"
    raise ValueError(
        f"{named(columns)}: {_rows(index, what)}; each value is known, but not together. "
        f"Use categories='product' for all combinations. {_mend(secret)}"
    )


def _rows(codes: np.ndarray, what: str) -> str:
    rows, n = np.flatnonzero(codes < 0), len(codes)
    return (
        f"{len(rows):,} row{'s' if len(rows) > 1 else ''} with {what} (not shown; "
        f"{numbered(rows)} of {n:,})"
    )


def _mend(secret: bool) -> str:
    if secret:
        return "List every value in `categories` (None for missing) to protect it"
    return (
        "List every value in `categories` (None for missing), or use handle_unknown='impute', or "
        "in `fit` 'infrequent_if_exist'"
    )
