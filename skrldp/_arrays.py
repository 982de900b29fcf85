"""Arrays: conversion to real numbers, read-only values, chunks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from numbers import Real
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

LARGEST_EXPONENT = 700.0  # a few thousand times exp(700) is a finite float, but exp(710) is not
ROWS = 1 << 20  # rows of a table processed at a time, which limits temporary memory


def chunks(n_rows: int, size: int | None = None) -> Iterator[slice]:
    """Divide ``range(n_rows)`` into slices of at most `size` rows; `ROWS` if None."""
    step = ROWS if size is None else size
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def smallest_dtype(n: int, *, signed: bool = False) -> np.dtype[Any]:
    """Return the smallest integer dtype for 0, ..., n - 1 (and -1 if `signed`)."""
    return np.min_scalar_type(-max(n, 1) if signed else n - 1)


def rows_of_each(numbers: NDArray[Any], n: int) -> list[tuple[int, NDArray[np.intp]]]:
    """Group rows by their codes from 0, ..., n - 1."""
    order = np.argsort(numbers, kind="stable")
    ends = np.searchsorted(numbers[order], np.arange(n + 1))
    return [(group, order[a:b]) for group, (a, b) in enumerate(pairwise(ends)) if a < b]


def refuse_masked(values: Any, name: str) -> None:
    """Raise a ValueError if entries of an array are masked, because NumPy would ignore the mask."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} must not be masked, because masked entries have no value. Fill them with "
            "numpy.ma.filled, or omit them."
        )


def real_numbers(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return an array of real numbers without masked entries.

    Returns array: of an integer or floating dtype. Raises ValueError if the values are complex or
    not numbers, or if some are masked.
    """
    refuse_masked(values, name)
    array = np.asarray(values)
    if array.dtype == object and all(isinstance(x, Real | Decimal) for x in array.ravel()):
        try:  # integers beyond 64 bits, fractions
            array = array.astype(float)
        except OverflowError as error:
            raise ValueError(f"{name} must be finite numbers.") from error
    if array.dtype == bool:
        return array.astype(np.int8)
    if not np.issubdtype(array.dtype, np.integer) and not np.issubdtype(array.dtype, np.floating):
        raise ValueError(f"{name} must be finite real numbers, got an array of {array.dtype}.")
    return array


def read_only(value: Any) -> Any:
    """Return a value with read-only arrays and dicts, copying writeable ones.

    Examples
    --------
    >>> read_only({"zeros": np.zeros(2)})["zeros"].flags.writeable
    False
    """
    if isinstance(value, dict):
        return ReadOnlyDict({key: read_only(item) for key, item in value.items()})
    if type(value) is tuple:
        return tuple(map(read_only, value))
    if isinstance(value, np.ndarray) and _may_change(value):
        value = value.copy()
        value.setflags(write=False)
    return value


def _may_change(array: Any) -> bool:
    """Whether the array, or an array that it is a view of, is writeable."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return False


class ReadOnlyDict(dict[Any, Any]):
    """An immutable dict."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("these values are read-only. Make a copy with dict(...).")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)


class ReadOnlyFit:
    """Base class for estimators whose fitted results stay read-only in pickles and copies."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore fitted attributes, read-only again."""
        attributes = {
            key: read_only(value) if key.endswith("_") else value for key, value in state.items()
        }
        super().__setstate__(attributes)  # type: ignore[misc]  # scikit-learn's


class Batch:
    """Base class for dataclasses of parallel arrays, which can be indexed together."""

    def __getitem__(self, index: NDArray[Any]) -> Self:
        values = vars(self).values()
        return type(self)(*(v[index] if isinstance(v, np.ndarray) else v for v in values))


class SetOnce:
    """Base of objects whose public attributes are set only once.

    An object whose attributes were changed would state results that do not describe it.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, unless it is public and already set."""
        if not name.startswith("_") and name in vars(self):
            raise AttributeError(
                f"{name} of a {type(self).__name__} cannot be changed: create a new one."
            )
        super().__setattr__(name, value)


class ReadOnly:
    """Base of immutable dataclasses with read-only arrays and dicts, also in copies.

    NumPy makes read-only arrays writeable when they are pickled or deep-copied.
    """

    def __post_init__(self) -> None:
        """Replace writeable arrays and dicts."""
        self.__setstate__(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({name: read_only(value) for name, value in state.items()})
        for name, value in list(vars(self).items()):
            if name.startswith("_") and isinstance(value, dict):  # a cache, which its owner extends
                vars(self)[name] = dict(value)
