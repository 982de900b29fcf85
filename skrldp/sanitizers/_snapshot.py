"""The parameters of a sanitizer when it was fitted, to detect changes after `fit`."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

__all__ = ["changes", "snapshot"]

# These parameters are read by `transform`, so a change takes effect without another fit.
_AT_ONCE = {"encode", "handle_unknown", "random_state", "verbose"}


def snapshot(sanitizer: Any) -> dict[str, Any]:
    """Copy the parameters that `fit` depends on.

    Returns dict: values by name, those of the uncertainty set as ``uncertainty__beta`` and so on;
    for the set itself, its class.
    """
    return {
        name: type(value) if hasattr(value, "get_params") else _copied(value)
        for name, value in sanitizer.get_params(deep=True).items()
        if name not in _AT_ONCE
    }


def changes(sanitizer: Any, before: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Compare the present parameters with those of a snapshot.

    Returns dict: for each parameter that differs, by name, its values before and now; None where
    there was or is no such parameter.
    """
    now = snapshot(sanitizer)
    return {
        name: (before.get(name), now.get(name))
        for name in [*now, *(before.keys() - now.keys())]
        if name not in before or name not in now or not _same(before[name], now[name])
    }


def _copied(value: Any) -> Any:
    try:
        return deepcopy(value)
    except Exception:  # a user's callable may not be copyable; then changes inside it are not seen
        return value


def _same(first: Any, second: Any) -> bool:
    if first is second:
        return True
    if isinstance(first, Mapping) and isinstance(second, Mapping):  # snapshots are read-only ones
        return first.keys() == second.keys() and all(_same(first[k], second[k]) for k in first)
    if type(first) is not type(second):
        return _equal(first, second) and np.isscalar(first) and np.isscalar(second)
    if is_dataclass(first):  # such as targets with arrays, which are equal to themselves alone
        return all(_same(getattr(first, f.name), getattr(second, f.name)) for f in fields(first))
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    return _equal(first, second)


def _equal(first: Any, second: Any) -> bool:
    """Whether two values are equal, entry by entry if they are arrays or tables."""
    try:
        found = np.asarray(first == second)
        return np.shape(first) == np.shape(second) and bool(found.all())
    except Exception:  # values that cannot be compared are taken for different ones
        return False
