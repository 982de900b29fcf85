"""Bounds in words: numbers that are rounded upwards or downwards, never to the nearest."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

__all__ = ["at_least", "at_most", "p_in_words"]


def at_most(value: float, spec: str = ".9g") -> str:
    """Write an upper bound: the text is never below the value.

    Examples
    --------
    >>> at_most(0.12341, ".4f"), at_most(1234.1, ".3g"), at_most(float("inf"))
    ('0.1235', '1.24e+03', 'inf')
    """
    return _rounded(value, spec, ROUND_CEILING)


def at_least(value: float, spec: str = ".9g") -> str:
    """Write a lower bound: the text is never above the value; see :func:`at_most`.

    Examples
    --------
    >>> at_least(0.12349, ".4f"), at_least(1239.9, ".3g")
    ('0.1234', '1.23e+03')
    """
    return _rounded(value, spec, ROUND_FLOOR)


def p_in_words(p_value: float) -> str:
    """Write a p-value, rounded upwards.

    Examples
    --------
    >>> p_in_words(0.0412), p_in_words(1.0), p_in_words(0.0)
    ('p = 0.042', 'p = 1', 'p < 1e-300')
    """
    return "p < 1e-300" if p_value < 1e-300 else f"p = {at_most(p_value, '.2g')}"


def _rounded(value: float, spec: str, rounding: str) -> str:
    if not math.isfinite(value):
        return format(float(value), spec)
    # As Python writes it, so that 0.1 stays 0.1: what is read back is never on the other side.
    exact, digits = Decimal(repr(float(value))), int(spec[1:-1])
    if spec.endswith("f"):
        most = Context(prec=400, rounding=rounding)  # the largest floats have 309 digits
        return f"{exact.quantize(Decimal(1).scaleb(-digits), context=most):f}"
    return format(float(Context(prec=digits, rounding=rounding).plus(exact)), spec)
