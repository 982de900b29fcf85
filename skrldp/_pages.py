"""Results as text, Markdown, JSON, and HTML that notebooks show."""

import json
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from html import escape
from typing import Any

__all__ = ["as_json", "markdown_page", "page", "text_page"]

_LEFT = "style='text-align:left;vertical-align:top'"
_WIDTH = 88  # columns of a text
_LABEL = 14


def text_page(
    title: str,
    rows: Iterable[tuple[str, str]],
    *,
    lists: Iterable[tuple[str, Sequence[str]]] = (),
) -> str:
    """Write labelled lines below a title, and lists, wrapped at 88 columns.

    Examples
    --------
    >>> print(text_page("title", [("label", "text")], lists=[("Notes", ["one"])]))
    title
      label         text
    Notes
      - one
    """
    lines = [title]
    for label, text in rows:
        lines += _hanging(f"  {label:<{_LABEL}}", text)
    for heading, entries in lists:
        lines += [heading] if entries else []
        for entry in entries:
            lines += _hanging("  - ", entry)
    return "\n".join(lines)


def _hanging(start: str, text: str) -> list[str]:
    """Wrap a text behind its start."""
    below = " " * len(start)
    return textwrap.wrap(
        text, _WIDTH, initial_indent=start, subsequent_indent=below, break_on_hyphens=False
    )


def markdown_page(
    title: str, rows: Iterable[tuple[str, str]], *, lists: Iterable[tuple[str, Sequence[str]]] = ()
) -> str:
    r"""Write a title, a table of labelled lines, and lists, in Markdown.

    Examples
    --------
    >>> print(markdown_page("title", [("label", "a | b")], lists=[("Notes", ["one"])]))
    # title
    <BLANKLINE>
    | | |
    | --- | --- |
    | label | a \| b |
    <BLANKLINE>
    ## Notes
    <BLANKLINE>
    - one
    """
    lines = [f"# {title}", "", "| | |", "| --- | --- |"]
    for label, text in rows:
        lines.append(f"| {label} | {_escaped(text)} |")
    for heading, entries in lists:
        if entries:
            lines += ["", f"## {heading}", "", *(f"- {_escaped(entry)}" for entry in entries)]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Write a text so that Markdown shows it as it is."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text.replace("\n", " "))


def as_json(value: Any, indent: int | None = 2) -> str:
    """Write figures as JSON.

    Returns str: numbers that are infinite or not determined are null.
    """
    return json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, date | time):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def page(
    title: str,
    rows: Sequence[Sequence[str]],
    *,
    header: Sequence[str] = (),
    n_more: int = 0,
    lists: Sequence[tuple[str, Sequence[str]]] = (),
) -> str:
    """Write a title, a table whose rows start with their names, and lists.

    Returns str: HTML in which all texts are escaped.

    Examples
    --------
    >>> page("a < b", [("x", "1")])[:40]
    '<div><p><strong>a &lt; b</strong></p><ta'
    """
    head = "".join(f"<th {_LEFT}>{escape(name)}</th>" for name in header)
    body = "".join(_row(row) for row in rows)
    if n_more:
        body += _row([f"… and {n_more:,} more"])
    below = "".join(
        f"<p><strong>{escape(heading)}</strong></p><ul>"
        + "".join(f"<li>{escape(entry)}</li>" for entry in entries)
        + "</ul>"
        for heading, entries in lists
        if entries
    )
    return (
        f"<div><p><strong>{escape(title)}</strong></p><table>"
        + (f"<thead><tr>{head}</tr></thead>" if head else "")
        + f"<tbody>{body}</tbody></table>{below}</div>"
    )


def _row(entries: Sequence[str]) -> str:
    cells = "".join(f"<td {_LEFT}>{escape(entry)}</td>" for entry in entries[1:])
    return f"<tr><th {_LEFT}>{escape(entries[0])}</th>{cells}</tr>"
