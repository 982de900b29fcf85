"""Results as text, and as HTML that notebooks show: a title, labelled lines, and lists."""

import textwrap
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["page", "text_page"]

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
