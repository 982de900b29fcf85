"""Packages without which narwhals does not read the frames of some libraries."""

from __future__ import annotations

from typing import Any

__all__ = ["refuse_without_plugin"]

_PLUGINS = {"dask": "narwhals-dask"}


def refuse_without_plugin(frame: Any) -> None:
    """Raise an error that names the package, for a frame that narwhals does not read.

    Raises TypeError if a package is missing.
    """
    library = type(frame).__module__.partition(".")[0]
    if library in _PLUGINS:
        plugin = _PLUGINS[library]
        raise TypeError(
            f"narwhals does not read this frame of {library} without the package {plugin!r}: "
            f"pip install {plugin}, or narwhals 2.29, which does without it."
        )
