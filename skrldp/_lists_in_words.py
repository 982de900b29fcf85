"""Parts of sentences: names of columns, lists, observed columns and the effect of seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def columns_in_words(names: Iterable[Any]) -> str:
    """Name columns, or give the indices of columns without names."""
    return ", ".join(repr(n) if isinstance(n, str) else f"column {n}" for n in names)


def protected(secret: Sequence[Any], not_secret: Sequence[Any]) -> str:
    """Name the columns that are protected, S, and the others, U.

    Examples
    --------
    >>> protected(["sex"], ["job"]), protected(["sex", "job"], [])
    ("S = 'sex'; U = 'job'", "the whole record: 'sex', 'job'")
    """
    if not not_secret:
        return f"the whole record: {columns_in_words(secret)}"
    return f"S = {columns_in_words(secret)}; U = {columns_in_words(not_secret)}"


def cells_in_words(n_secrets: int, n_values: int) -> str:
    """State the number of cells; if U is empty, each is a secret.

    Examples
    --------
    >>> cells_in_words(2, 5), cells_in_words(16, 1)
    ('2 secrets x 5 values', '16 secrets')
    """
    return f"{n_secrets:,} secrets" + (f" x {n_values:,} values" if n_values > 1 else "")


def series(phrases: Sequence[str]) -> str:
    """Write a list as a sentence does.

    Examples
    --------
    >>> series(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(phrase for phrase in (", ".join(phrases[:-1]), *phrases[-1:]) if phrase)


def known_by_category(columns: Iterable[Any]) -> str:
    """State that observers are assumed to know the categories of columns, not exact values."""
    return (
        f"For {columns_in_words(columns)}, observers are assumed to know the category: values in "
        "the same bin, or in 'other', are one known value. An observer who knows the exact value "
        "may learn more, up to the bound for observers who know anything."
    )


def sees(observe: str) -> str:
    """State what a mechanism observes of a person."""
    return "the whole record" if observe == "all" else "U alone, never S"


def repeatable(seed: Any) -> str:
    """State the effect of a seed on the guarantee."""
    return f"reports are repeatable with random_state={seed!r}, and whoever knows it can undo them"
