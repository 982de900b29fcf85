"""Numbers that classes, modules and functions keep, such as counts of calls; copies share them."""

import functools
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from numbers import Number
from types import FunctionType
from typing import Any

__all__ = ["KeptNumbers"]


_MOST_ENTRIES = 1000  # of a list or dictionary to look at
_COUNT = re.compile(r"count\((-?\d+)(?:, (-?\d+))?\)")


class KeptNumbers:
    """The numbers beside a black box's own object, as they are now.

    They are those of its classes and, in the modules that define it, of the variables, classes,
    functions and objects; also in their lists and dictionaries.

    Parameters
    ----------
    report : callable
        The black box: a function, or a method.
    """

    def __init__(self, report: Callable[[Any], Any]) -> None:
        self._held = [(name, owner, _numbers(owner)) for name, owner in _owners(report)]

    def set_back(self) -> list[str]:
        """Set the numbers that have changed to what they were, and return their names."""
        names = []
        for name, owner, held in self._held:
            now = _numbers(owner)
            for key in (key for key in held if key in now and str(now[key]) != str(held[key])):
                if isinstance(owner, list | dict):
                    owner[key] = held[key]
                    names.append(f"{name}[{key!r}]")
                else:
                    number = held[key]
                    setattr(owner, key, _count(number) if isinstance(number, str) else number)
                    names.append(f"{name}.{key}")
        return names


def _owners(report: Any) -> Iterator[tuple[str, Any]]:
    """Name and object of everything that may keep numbers, each once."""
    while isinstance(report, functools.partial):
        report = report.func
    classes = type(getattr(report, "__self__", report)).__mro__
    found: dict[int, tuple[str, Any]] = {id(one): (one.__name__, one) for one in classes}
    modules = {getattr(one, "__module__", None) for one in (report, *classes)} - {"builtins"}
    for module in [sys.modules[name] for name in modules if name in sys.modules]:
        found[id(module)] = module.__name__, module
        for name, value in list(vars(module).items()):
            definition = value if isinstance(value, type | FunctionType) else type(value)
            if definition.__module__ == module.__name__:
                found[id(value)] = name, value
    for name, owner in found.values():
        if not hasattr(owner, "__dict__"):
            continue
        yield name, owner
        for key, value in list(vars(owner).items()):
            few = isinstance(value, list | dict) and len(value) <= _MOST_ENTRIES
            if few and not key.startswith("__"):
                yield f"{name}.{key}", value


def _numbers(owner: Any) -> dict[Any, Any]:
    """Read the numbers of an object; iterators that count are read as text."""
    if isinstance(owner, list | dict):
        entries = list(enumerate(owner) if isinstance(owner, list) else owner.items())
        return {key: value for key, value in entries if _is_number(value)}
    entries = list(vars(owner).items())
    counts = {key: repr(one) for key, one in entries if isinstance(one, itertools.count)}
    counts = {key: text for key, text in counts.items() if _COUNT.fullmatch(text)}
    return counts | {key: value for key, value in entries if _is_number(value)}


def _is_number(value: Any) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool)


def _count(text: str) -> "itertools.count[int]":
    """Make the iterator that is shown as this text."""
    found = _COUNT.fullmatch(text)
    assert found is not None
    return itertools.count(*(int(one) for one in found.groups() if one))
