"""Results as text, Markdown, JSON, and HTML that notebooks show."""

import json
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from html import escape
from typing import Any

Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]  # title, header, rows

_LEFT = "style='text-align:left;vertical-align:top'"
_WIDTH = 88  # columns of a text
_LABEL = 14


def text_page(
    title: str,
    rows: Iterable[tuple[str, str]],
    *,
    tables: Iterable[Table] = (),
    lists: Iterable[tuple[str, Sequence[str]]] = (),
) -> str:
    """Write labelled lines below a title, tables, and lists, wrapped at 88 columns.

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
    for heading, header, body in tables:
        whole = [header, *body]
        widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
        lines.append(heading)
        for row in whole:
            cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
            lines.append(f"  {'  '.join(cells)}".rstrip())
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
    title: str,
    rows: Sequence[tuple[str, str]],
    *,
    tables: Iterable[Table] = (),
    lists: Iterable[tuple[str, Sequence[str]]] = (),
) -> str:
    r"""Write a title, a table of labelled lines, other tables, and lists, in Markdown.

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
    lines = [f"# {title}"]
    if rows:
        lines += ["", "| | |", "| --- | --- |"]
    for label, text in rows:
        lines.append(f"| {label} | {_escaped(text)} |")
    for heading, header, body in tables:
        lines += [
            "",
            f"## {heading}",
            "",
            f"| {' | '.join(header)} |",
            "|" + " --- |" * len(header),
        ]
        lines += [f"| {' | '.join(map(_escaped, row))} |" for row in body]
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
    tables: Iterable[Table] = (),
    lists: Sequence[tuple[str, Sequence[str]]] = (),
) -> str:
    """Write a title, a table whose rows start with their names, other tables, and lists.

    Returns str: HTML in which all texts are escaped.

    Examples
    --------
    >>> page("a < b", [("x", "1")])[:40]
    '<div><p><strong>a &lt; b</strong></p><ta'
    """
    more = [[f"… and {n_more:,} more"]] if n_more else []
    others = "".join(
        f"<p><strong>{escape(heading)}</strong></p>{_table(names, body)}"
        for heading, names, body in tables
    )
    below = "".join(
        f"<p><strong>{escape(heading)}</strong></p><ul>"
        + "".join(f"<li>{escape(entry)}</li>" for entry in entries)
        + "</ul>"
        for heading, entries in lists
        if entries
    )
    own = _table(header, [*rows, *more])
    return f"<div><p><strong>{escape(title)}</strong></p>{own}{others}{below}</div>"


def document(title: str, body: str) -> str:
    """Make a file in HTML of a body, which is HTML already."""
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<meta name='viewport' content='width=device-width'><title>{escape(title)}</title>"
        "<style>body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
        "th{padding-right:1em}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th {_LEFT}>{escape(name)}</th>" for name in header)
    return (
        "<table>"
        + (f"<thead><tr>{head}</tr></thead>" if head else "")
        + f"<tbody>{''.join(map(_row, rows))}</tbody></table>"
    )


def _row(entries: Sequence[str]) -> str:
    cells = "".join(f"<td {_LEFT}>{escape(entry)}</td>" for entry in entries[1:])
    return f"<tr><th {_LEFT}>{escape(entries[0])}</th>{cells}</tr>"
