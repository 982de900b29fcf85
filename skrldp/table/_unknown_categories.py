"""Unknown categories and combinations of them are refused: what the messages say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from skrldp.alphabet import listed, named, rows_in_words
from skrldp.table._columns import Column

__all__ = ["refuse_categories", "refuse_combinations"]


def refuse_categories(
    column: Column, unknown: Counter[Any], n_rows: int, *, secret: bool
) -> NoReturn:
    """Refuse values that a column's alphabet lacks; those of a sensitive column are not shown.

    Raises
    ------
    ValueError
        Always.
    """
    none = " (None for missing)" if None in unknown and not secret else ""
    raise ValueError(
        f"column {column.name!r} has {rows_in_words(unknown, secret=secret)} unseen in fit "
        f"(of {n_rows:,} row{'s' if n_rows > 1 else ''}); known are {listed(column.categories)}. "
        f"{_mend(secret, none)}"
    )


def refuse_combinations(
    columns: Sequence[Column], codes: Sequence[np.ndarray], index: np.ndarray, *, secret: bool
) -> NoReturn:
    """Refuse combinations of known categories that the alphabet lacks.

    Raises
    ------
    ValueError
        Always.
    """
    rows = index < 0
    n_rows, which = int(rows.sum()), ""
    if not secret:
        places = np.unique(np.stack([code[rows] for code in codes], axis=1), axis=0)
        new = [tuple(c.categories[p] for c, p in zip(columns, row, strict=True)) for row in places]
        which = f", {listed(new)}"
    raise ValueError(
        f"{named(columns)}: {n_rows:,} row{'s' if n_rows > 1 else ''} (of {len(index):,}) with a "
        f"combination of values unseen in fit{which}; each value is known, but not together. "
        f"Use categories='product' for all combinations. {_mend(secret)}"
    )


def _mend(secret: bool, note: str = "") -> str:
    if secret:
        return f"List every value in `categories`{note} to protect it; values are not shown"
    return (
        f"List every value in `categories`{note}, or use handle_unknown='impute', or in `fit` "
        "'infrequent_if_exist'"
    )
