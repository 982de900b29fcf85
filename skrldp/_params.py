"""Checks of parameters that every room needs: numbers, whole numbers, choices and flags."""

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

__all__ = [
    "OBSERVED",
    "check_choice",
    "check_flag",
    "check_positive",
    "check_seed",
    "is_finite",
    "is_number",
    "is_whole",
]

OBSERVED = ("all", "nonsensitive")  # what a mechanism sees of a person: S and U, or U alone


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a real number (NaN and infinity included) and no truth value.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_number(0.5), is_number(float("inf")), is_number(True), is_number("0.5")
    (True, True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_finite(value: Any) -> TypeGuard[float]:
    """Whether a value is a finite real number and no truth value.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    bool
    """
    return is_number(value) and -math.inf < value < math.inf  # of whole numbers of any size too


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether a value is of a type of whole numbers and no truth value.

    Parameters
    ----------
    value : object
        Anything. A float is no whole number, whatever its value.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_whole(3), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return is_number(value) and isinstance(value, Integral)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Refuse a value that is not one of those listed.

    Parameters
    ----------
    name : str
        The parameter.
    value : object
        What it was given.
    choices : iterable of str
        What it may be.

    Raises
    ------
    ValueError
        If it is something else.

    Examples
    --------
    >>> check_choice("region", "circle", ("joint", "box"))
    Traceback (most recent call last):
    ValueError: region='circle' must be one of 'joint', 'box'.
    """
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}.")


def check_flag(name: str, value: Any) -> None:
    """Refuse a value that is neither True nor False.

    Parameters
    ----------
    name : str
        The parameter.
    value : object
        What it was given.

    Raises
    ------
    ValueError
        If it is something else.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r} must be True or False.")


def check_positive(name: str, value: Any, unit: str = "") -> None:
    """Refuse a value that is not a positive finite number.

    Parameters
    ----------
    name : str
        The parameter.
    value : object
        What it was given.
    unit : str
        What it is measured in, for the message.

    Raises
    ------
    ValueError
        If it is something else.

    Examples
    --------
    >>> check_positive("eps", 0, "in nats")
    Traceback (most recent call last):
    ValueError: eps=0 must be a positive finite number (in nats).
    """
    if not (is_finite(value) and value > 0):
        note = f" ({unit})" if unit else ""
        raise ValueError(f"{name}={value!r} must be a positive finite number{note}.")


def check_seed(random_state: Any) -> None:
    """Refuse what is no source of randomness.

    Parameters
    ----------
    random_state : object
        What a parameter of this name was given.

    Raises
    ------
    ValueError
        If it is not None, a whole number >= 0, or a `Generator` or `RandomState` of NumPy. A truth
        value is no number: False would be the seed 0, and reads like None.

    Examples
    --------
    >>> check_seed(False)
    Traceback (most recent call last):
    ValueError: random_state=False must be None, or for tests a whole number >= 0 or a generator.
    """
    if random_state is None or (is_whole(random_state) and random_state >= 0):
        return
    if not isinstance(random_state, np.random.Generator | np.random.RandomState):
        raise ValueError(
            f"random_state={random_state!r} must be None, or for tests a whole number >= 0 or a "
            "generator."
        )
