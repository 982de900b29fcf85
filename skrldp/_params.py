"""Parameter checks and number formatting for all modules."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from numbers import Integral, Number, Real
from typing import Any, TypeGuard

import numpy as np

OBSERVED = ("all", "nonsensitive")  # what a mechanism observes of a record: S and U, or U alone
# In nats. Probabilities are rounded to multiples of about 2**-31 or less, and proofs have an error
# of 1e-11, so reports reveal nothing at a smaller ε.
LEAST_EPS = 1e-9
_LEAST_BETA = 1e-300  # quantiles at smaller probabilities exceed the range of floats
_LONGEST = 40  # maximum characters of a value in a message


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a real number (including NaN and infinity) and not a boolean.

    Examples
    --------
    >>> is_number(0.5), is_number(float("inf")), is_number(True), is_number("0.5")
    (True, True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_finite(value: Any) -> TypeGuard[float]:
    """Whether a value is a real number in the range of floats, and not a boolean.

    Examples
    --------
    >>> is_finite(2), is_finite(10**400), is_finite(float("nan"))
    (True, False, False)
    """
    if not is_number(value):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:  # an integer or a fraction outside the range of floats
        return False


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether a value has an integer type and is not a boolean.

    Examples
    --------
    >>> is_whole(3), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return is_number(value) and isinstance(value, Integral)


def shown(value: Any) -> str:
    """Write a value for a message, in a few characters; only the type of possible records.

    Examples
    --------
    >>> shown(0.5), shown(10**5000), shown(["ill", "well"])
    ('0.5', 'a number of 16,610 bits', '<list>')
    """
    if value is not None and not isinstance(value, str | bytes | type | Number | np.generic):
        return f"<{type(value).__name__}>"
    if is_whole(value) and not is_finite(value):  # Python refuses to write the longest ones
        return f"a number of {int(value).bit_length():,} bits"
    words = repr(value)
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3]}..."


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Reject a value that is not one of those listed.

    Raises ValueError for any other value.

    Examples
    --------
    >>> check_choice("region", "circle", ("joint", "box"))
    Traceback (most recent call last):
    ValueError: region='circle' must be one of 'joint', 'box'.
    """
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={shown(value)} must be one of {', '.join(map(repr, choices))}.")


def check_flag(name: str, value: Any) -> None:
    """Reject a value that is neither True nor False.

    Raises ValueError for any other value.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={shown(value)} must be True or False.")


def check_positive(name: str, value: Any, unit: str = "") -> None:
    """Reject a value that is not a positive finite number.

    Raises ValueError for any other value.

    Examples
    --------
    >>> check_positive("eps", 0, "in nats")
    Traceback (most recent call last):
    ValueError: eps=0 must be a positive finite number (in nats).
    """
    if not (is_finite(value) and value > 0):
        note = f" ({unit})" if unit else ""
        raise ValueError(f"{name}={shown(value)} must be a positive finite number{note}.")


def check_eps(name: str, value: Any) -> None:
    """Reject a privacy parameter for which no mechanism can be proved.

    Raises ValueError if it is not a positive finite number, or so small that reports could reveal
    nothing.

    Examples
    --------
    >>> check_eps("eps", 1e-12)
    Traceback (most recent call last):
    ValueError: eps=1e-12 must be at least 1e-09 nats: below that, reports reveal nothing.
    """
    check_positive(name, value, "in nats")
    if float(value) < LEAST_EPS:
        raise ValueError(
            f"{name}={shown(value)} must be at least {LEAST_EPS:g} nats: below that, reports "
            "reveal nothing."
        )


def check_beta(name: str, value: Any) -> float:
    """Return beta as a float; reject invalid probabilities.

    Raises ValueError if it is not between 0 and 1, or smaller than 1e-300.

    Examples
    --------
    >>> check_beta("beta", 5e-324)
    Traceback (most recent call last):
    ValueError: beta=5e-324 must be a probability of at least 1e-300.
    """
    check_positive(name, value)
    beta = float(value)
    if beta >= 1.0:
        raise ValueError(f"{name}={shown(value)} must be a probability between 0 and 1.")
    if beta < _LEAST_BETA:
        raise ValueError(
            f"{name}={shown(value)} must be a probability of at least {_LEAST_BETA:g}."
        )
    return beta


def check_seed(random_state: Any) -> None:
    """Reject anything that is not a source of randomness.

    Raises ValueError if it is not None, an integer >= 0, or a `Generator` or `RandomState` of
    NumPy. Booleans are rejected, because False would be the seed 0 but reads like None.

    Examples
    --------
    >>> check_seed(False)
    Traceback (most recent call last):
    ValueError: random_state=False must be None, or for tests an integer >= 0 or a generator.
    """
    if random_state is None or (is_whole(random_state) and random_state >= 0):
        return
    if not isinstance(random_state, np.random.Generator | np.random.RandomState):
        raise ValueError(
            f"random_state={shown(random_state)} must be None, or for tests an integer >= 0 or "
            "a generator."
        )


def generator_of(random_state: Any) -> np.random.Generator:
    """Make a generator from a seed, for simulations.

    Examples
    --------
    >>> generator_of(-1)
    Traceback (most recent call last):
    ValueError: random_state=-1 must be None, or for tests an integer >= 0 or a generator.
    """
    check_seed(random_state)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state={shown(random_state)} must be None, an integer >= 0 or a numpy "
            "Generator."
        ) from error


# --- Bounds in words: numbers that are rounded upwards or downwards, never to the nearest ---------


def at_most(value: float, spec: str = ".9g") -> str:
    """Format an upper bound, rounded upwards.

    Examples
    --------
    >>> at_most(0.12341, ".4f"), at_most(1234.1, ".3g"), at_most(float("inf"))
    ('0.1235', '1.24e+03', 'inf')
    """
    return _rounded(value, spec, ROUND_CEILING)


def at_least(value: float, spec: str = ".9g") -> str:
    """Format a lower bound, rounded downwards; see :func:`at_most`.

    Examples
    --------
    >>> at_least(0.12349, ".4f"), at_least(1239.9, ".3g")
    ('0.1234', '1.23e+03')
    """
    return _rounded(value, spec, ROUND_FLOOR)


def p_in_words(p_value: float) -> str:
    """Format a p-value, rounded upwards.

    Examples
    --------
    >>> p_in_words(0.0412), p_in_words(1.0), p_in_words(0.0)
    ('p = 0.042', 'p = 1', 'p < 1e-300')
    """
    return "p < 1e-300" if p_value < 1e-300 else f"p = {at_most(p_value, '.2g')}"


def in_digits(value: float, digits: int = 4) -> str:
    """Format a number with this many digits, in full before the decimal point up to ten million.

    Examples
    --------
    >>> in_digits(0.123456), in_digits(1234.5), in_digits(41023.4), in_digits(2e7)
    ('0.1235', '1,234', '41,023', '2e+07')
    >>> in_digits(0.123456, 2), in_digits(128.4, 2)
    ('0.12', '128')
    """
    return f"{value:,.0f}" if 10.0 ** (digits - 1) <= abs(value) < 1e7 else f"{value:.{digits}g}"


def decimals(sizes: Iterable[float], largest: float, digits: int) -> int:
    """Return the number of decimals for this many digits of the smallest size.

    Numbers in one column have the same number of decimals. `largest` has at most seven digits.

    Examples
    --------
    >>> decimals([0.0123, 0.2], 0.5, 3), decimals([12.0], 41023.0, 3), decimals([1e-9], 0.5, 3)
    (4, 1, 6)
    """
    positive = [size for size in sizes if math.isfinite(size) and size > 0.0]
    exponents = [math.floor(math.log10(size)) for size in (min(positive, default=1.0), largest)]
    return max(0, min(digits - 1 - exponents[0], 6 - max(exponents[1], 0)))


def _rounded(value: float, spec: str, rounding: str) -> str:
    if not math.isfinite(value):
        return format(float(value), spec)
    # As Python writes it, so that 0.1 remains 0.1: the text is never on the other side of the
    # value.
    exact, digits = Decimal(repr(float(value))), int(spec[1:-1])
    if spec.endswith("f"):
        context = Context(prec=400, rounding=rounding)  # the largest floats have 309 digits
        return f"{exact.quantize(Decimal(1).scaleb(-digits), context=context):f}"
    return format(float(Context(prec=digits, rounding=rounding).plus(exact)), spec)


def check_level(level: Any) -> float:
    """Reject an invalid confidence level."""
    if not (is_finite(level) and 0.0 < level < 1.0):
        raise ValueError(f"level={level!r} must be a number between 0 and 1.")
    return float(level)


def sidak(level: float, k: int) -> float:
    """Level of each of k intervals for a simultaneous level (Šidák's bound)."""
    return float(level ** (1.0 / max(k, 1)))


def as_list(columns: Any) -> list[Any]:
    """Return a list of columns from one or several."""
    if columns is None:
        return []
    return list(columns) if isinstance(columns, list | tuple) else [columns]
