"""HTML of results, as notebooks show them: a title, a table and lists, all of it escaped."""

from collections.abc import Sequence
from html import escape

__all__ = ["page"]

_LEFT = "style='text-align:left;vertical-align:top'"


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
