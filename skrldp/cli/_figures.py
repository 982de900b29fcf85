"""Pages that stand by themselves."""

from __future__ import annotations

from html import escape

__all__ = ["as_html"]


def as_html(title: str, body: str) -> str:
    """Make a page that stands by itself."""
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<meta name='viewport' content='width=device-width'><title>{escape(title)}</title>"
        "<style>body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
        "th{padding-right:1em}</style></head>"
        f"<body>{body}</body></html>\n"
    )
