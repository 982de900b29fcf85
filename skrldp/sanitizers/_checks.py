"""Checks of the parameters, made in `fit`."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from skrldp._params import is_finite, is_number, is_whole, shown
from skrldp.sets import LikelihoodRatioSet

__all__ = [
    "MOST_CELLS",
    "MOST_CELLS_OF_IR",
    "check_limits",
    "check_tolerance",
    "check_uncertainty",
    "check_verbose",
    "default_uncertainty",
    "larger_designs",
    "parts_of",
]

def check_limits(sanitizer: Any) -> None:
    """Refuse limits of a design that are neither None nor positive numbers, and other `n_jobs`."""
    time_limit, n_jobs = sanitizer.time_limit, sanitizer.n_jobs
    if time_limit is not None and not (is_finite(time_limit) and time_limit > 0):
        raise ValueError(
            f"time_limit={shown(time_limit)} must be a positive number of seconds, or None for no "
            "limit."
        )
    if n_jobs is not None and not (is_whole(n_jobs) and n_jobs != 0):
        raise ValueError(
            f"n_jobs={n_jobs!r} must be a number of threads or processes, -1 for one for each "
            "processor, or None."
        )


def check_tolerance(tol: Any) -> None:
    """Refuse a relative gap that is not between 0 and 1."""
    if not (is_number(tol) and 0 < tol < 1):
        raise ValueError(f"tol={tol!r} must be a number between 0 and 1: a relative gap.")


def check_uncertainty(uncertainty: Any) -> None:
    """Refuse what is not an uncertainty set."""
    if isinstance(uncertainty, type):
        raise ValueError(
            f"uncertainty must be an instance, got the class {uncertainty.__name__}: write "
            f"uncertainty={uncertainty.__name__}()."
        )
    if not hasattr(uncertainty, "fit_set"):
        raise ValueError(
            f"uncertainty={uncertainty!r} must be None or an uncertainty set, such as "
            "LikelihoodRatioSet(), RenyiBall() or AllDistributions()."
        )


def default_uncertainty() -> Any:
    """Return the set that stands for ``uncertainty=None``, new each time."""
    return LikelihoodRatioSet()


def check_verbose(verbose: Any) -> None:
    """Refuse a verbosity that is not a whole number >= 0."""
    if not isinstance(verbose, Integral | np.bool_) or verbose < 0:
        raise ValueError(f"verbose={verbose!r} must be a whole number >= 0.")


MOST_CELLS = 1_000_000  # of a mechanism by formula
MOST_CELLS_OF_IR = 4_000  # its proof looks at every pair of secrets for every value
_LARGE = {
    "IRSanitizer": MOST_CELLS_OF_IR,
    "SRRSanitizer": MOST_CELLS,
    "GRRSanitizer": MOST_CELLS,
}


_BLOCKS = (
    "A BlockSanitizer takes any number of columns: each person reports one block of them "
    "(docs/guide/wide_tables.md)."
)


def larger_designs(most_cells: int, *, blocks: bool = True) -> str:
    """Name the sanitizers that hold more than `most_cells` cells, and that of wide tables."""
    larger = [f"{name} {most:,}" for name, most in _LARGE.items() if most > most_cells]
    found = [f"Other sanitizers hold more cells: {', '.join(larger)}."] if larger else []
    return " ".join([*found, _BLOCKS] if blocks else found)


def parts_of(columns: Sequence[tuple[Any, bool]]) -> str:
    """Name the columns of S and of U, or number those without names."""
    secret, others = (
        ", ".join(
            repr(name) if isinstance(name, str) else f"column {name}"
            for name, flag in columns
            if flag is sensitive
        )
        for sensitive in (True, False)
    )
    return f"S = {secret}, U = {others}"
