"""Results as text, Markdown, JSON, and HTML for notebooks."""

import html
import json
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from itertools import zip_longest
from typing import Any

# A heading, followed by a table with a header, labelled lines (an empty header) or a list (None).
Section = tuple[str, Sequence[str] | None, Sequence[Any]]

# Invisible characters, and characters that control a terminal or reorder a line.
_HIDDEN = re.compile(
    "[\0-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_LEFT = "style='text-align:left;vertical-align:top'"
_WIDTH = 90  # width of text in columns
_LABEL = 14


def in_one_line(text: str) -> str:
    r"""Escape hidden characters and line ends as Python does.

    Examples
    --------
    >>> print(in_one_line("a\x1b[2J\nb\u202e"))
    a\x1b[2J\nb\u202e
    """
    return printable(text).replace("\n", r"\n")


def printable(text: str) -> str:
    """Escape hidden characters as Python does, but keep line ends.

    Names and values are untrusted: printed verbatim, they could clear a terminal or show a line in
    a different order.
    """
    return _HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def text_page(title: str, rows: Iterable[tuple[str, str]], sections: Iterable[Section] = ()) -> str:
    """Write labelled lines below a title, and sections, wrapped at 90 columns.

    Examples
    --------
    >>> print(text_page("title", [("label", "text")], [("Notes", None, ["one"])]))
    title
      label         text
    Notes
      - one
    """
    lines = []
    for heading, header, body in [(title, (), [*rows]), *_filled(sections)]:
        lines.append(heading)
        if header is None:
            lines += [line for entry in body for line in _hanging("  - ", entry)]
        elif header:
            lines += _columns([header, *body])
        else:
            lines += [
                line for label, text in body for line in _hanging(f"  {label:<{_LABEL}}", text)
            ]
    return "\n".join(map(in_one_line, lines))


def _filled(sections: Iterable[Section]) -> list[Section]:
    return [section for section in sections if section[2]]


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write a table, whose widest columns are wrapped until it fits."""
    widths = [max(1, *map(len, column)) for column in zip(*rows, strict=True)]
    while sum(widths) + 2 * len(widths) > _WIDTH:
        widths[widths.index(max(widths))] -= 1
    lines = []
    for row in rows:
        cells = [
            textwrap.wrap(c, w, break_on_hyphens=False) for c, w in zip(row, widths, strict=True)
        ]
        for entries in zip_longest(*cells, fillvalue=""):
            line = "  ".join(f"{entry:<{w}}" for entry, w in zip(entries, widths, strict=True))
            lines.append(f"  {line}".rstrip())
    return lines


def _hanging(start: str, text: str) -> list[str]:
    """Wrap a text after its prefix."""
    below = " " * len(start)
    return textwrap.wrap(
        text, _WIDTH, initial_indent=start, subsequent_indent=below, break_on_hyphens=False
    )


def markdown_page(
    title: str, rows: Sequence[tuple[str, str]], sections: Iterable[Section] = ()
) -> str:
    r"""Write a title, a table of labelled lines, and sections, in Markdown.

    Examples
    --------
    >>> print(markdown_page("title", [("label", "a | b")], [("Notes", None, ["one"])]))
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
    for heading, header, body in _filled([("", (), rows), *sections]):
        lines += ["", f"## {heading}"] if heading else []
        if header is None:
            lines += ["", *(f"- {_escaped(entry)}" for entry in body)]
            continue
        names = header or ("", "")
        lines += ["", f"|{'|'.join(f' {n} ' if n else ' ' for n in names)}|"]
        lines += [f"|{' --- |' * len(names)}"]
        lines += [f"| {' | '.join(map(_escaped, row))} |" for row in body]
    return "\n".join(map(in_one_line, lines))


def _escaped(text: str) -> str:
    """Escape a text for Markdown."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text.replace("\n", " "))


def as_json(value: Any, indent: int | None = 2) -> str:
    """Write numbers as JSON.

    Returns str: infinite and undetermined numbers are null.
    """
    text = json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)
    return _HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], text)


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
    sections: Iterable[Section] = (),
) -> str:
    """Write a title, a table whose rows start with their names, and sections.

    Returns str: HTML in which all texts are escaped.

    Examples
    --------
    >>> page("a < b", [("x", "1")])[:40]
    '<div><p><strong>a &lt; b</strong></p><ta'
    """
    ellipsis = [[f"… and {n_more:,} more"]] if n_more else []
    paragraphs = [f"<p><strong>{escape(title)}</strong></p>{_table(header, [*rows, *ellipsis])}"]
    for heading, names, body in _filled(sections):
        entries = "".join(f"<li>{escape(entry)}</li>" for entry in body) if names is None else ""
        below = f"<ul>{entries}</ul>" if names is None else _table(names, body)
        paragraphs.append(f"<p><strong>{escape(heading)}</strong></p>{below}")
    return f"<div>{''.join(paragraphs)}</div>"


def document(title: str, body: str) -> str:
    """Make an HTML page from a body in HTML."""
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<meta name='viewport' content='width=device-width'><title>{escape(title)}</title>"
        "<style>body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
        "th,td{padding:.15em 1em .15em 0}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def escape(text: str) -> str:
    """Escape a text for HTML."""
    return html.escape(printable(text))


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
