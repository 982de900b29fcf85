"""Parameters of estimators, declared and described once where several classes have them."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

__all__ = ["with_parameters"]

_Class = TypeVar("_Class", bound=type)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def with_parameters(cls: _Class) -> _Class:
    """Make an estimator's annotated attributes parameters of its constructor, which assigns them.

    Those of base classes come first. A line ``{eps, known}`` of the docstring stands for what the
    docstrings of base classes say of these names; the nearest base comes first.

    Raises KeyError if no base class has a text for a name.
    """
    known: dict[str, str] = {}
    for base in reversed(cls.__mro__[1:]):
        known |= _texts(vars(base).get("__doc__") or "")

    def texts(names: re.Match[str]) -> str:
        return "\n".join(known[name] for name in names[1].split(", "))

    if cls.__doc__ is not None:  # Python's -OO leaves none
        lines = inspect.cleandoc(cls.__doc__)
        cls.__doc__ = re.sub(r"^\{([\w, ]+)\}$", texts, lines, flags=re.MULTILINE)
    made: Any = dataclass(eq=False, repr=False, kw_only=True)(cls)
    return made


def _texts(doc: str) -> dict[str, str]:
    """Return the items of a docstring's sections by name, and its paragraphs by their title."""
    return {re.split(r" ?[,:\n]", text)[0]: text for text in _blocks(inspect.cleandoc(doc))}


def _blocks(doc: str) -> Iterator[str]:
    """Cut a docstring at empty lines, below titles of sections, and where indented lines end."""
    block: list[str] = []
    for line in doc.split("\n"):
        above = block[-1] if block else ""
        ends = not line or above.startswith("---") or (above[:1] == " " and line[0] != " ")
        if ends and block:
            yield "\n".join(block)
            block = []
        if line:
            block.append(line)
    if block:
        yield "\n".join(block)
