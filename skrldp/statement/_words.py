"""Figures and names in words."""

import math
from collections.abc import Sequence
from typing import Any

from skrldp._numbers import at_least, at_most

__all__ = ["amount", "columns_in_words", "factor", "listed", "odds"]

_LAST_DIGITS = 1e-15
_WRITTEN_OUT = 20.0  # e to more than this is left as a power


def columns_in_words(names: Sequence[Any]) -> str:
    """Name columns, those without names by their positions."""
    return ", ".join(repr(n) if isinstance(n, str) else f"column {n}" for n in names)


def odds(eps: float) -> str:
    """Write e to the ε as a number that is not below it."""
    if eps > _WRITTEN_OUT:
        return "e^" + at_most(eps, ".4g")
    # Less the rounding of ε and of the exponential, so that log(3) is 3 and not 3.01.
    return at_most(max(1.0, math.exp(eps) * (1.0 - _LAST_DIGITS)), ".3g")


def factor(eps: float) -> str:
    """Write e to the ε as a number that is not above it."""
    if eps > _WRITTEN_OUT:
        return "e^" + at_least(eps, ".4g")
    return at_least(math.exp(eps), ".3g")


def amount(eps: float) -> str:
    """Write a leakage that may be infinite."""
    return "any amount" if math.isinf(eps) else f"eps = {at_most(eps, '.4g')}"


def listed(parts: Sequence[str]) -> str:
    """Write a list as a sentence does.

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)
