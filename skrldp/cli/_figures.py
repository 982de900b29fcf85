"""Figures as JSON, and pages that stand by themselves."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, time
from html import escape
from typing import Any

__all__ = ["as_html", "as_json"]


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


def as_html(title: str, body: str) -> str:
    """Make a page that stands by itself."""
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<meta name='viewport' content='width=device-width'><title>{escape(title)}</title>"
        "<style>body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
        "th{padding-right:1em}</style></head>"
        f"<body>{body}</body></html>\n"
    )
