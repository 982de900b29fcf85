"""Checks of the parameters, made in `fit`, and the words of caution."""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Integral
from typing import Any

import numpy as np

from skrldp._params import check_positive, is_finite, is_number
from skrldp.alphabet import plain
from skrldp.exceptions import PrivacyLeakWarning
from skrldp.joint import JointDistribution

__all__ = [
    "OBSERVED",
    "check_eps",
    "check_outputs",
    "check_smoothing",
    "check_time_limit",
    "check_tolerance",
    "check_uncertainty",
    "check_verbose",
    "has_few_records",
    "warn_of_weak_sets",
]

OBSERVED = ("all", "nonsensitive")
_RECORDS_PER_CELL = 5


def check_eps(eps: Any) -> None:
    """Refuse a privacy parameter that is not a positive finite number."""
    check_positive("eps", eps, "in nats")


def check_time_limit(time_limit: Any) -> None:
    """Refuse a time limit that is neither None nor a positive number."""
    if time_limit is not None and not (is_number(time_limit) and time_limit > 0):
        raise ValueError(
            f"time_limit={time_limit!r} must be a positive number of seconds, or None for no limit."
        )


def check_smoothing(smoothing: Any) -> None:
    """Refuse an amount of smoothing that is negative or not a finite number."""
    if not (is_finite(smoothing) and smoothing >= 0):
        raise ValueError(f"smoothing={smoothing!r} must be a finite number of at least 0.")


def check_tolerance(tol: Any) -> None:
    """Refuse a relative gap that is not between 0 and 1."""
    if not (is_number(tol) and 0 < tol < 1):
        raise ValueError(f"tol={tol!r} must be a number between 0 and 1: a relative gap.")


def check_outputs(outputs: Any, values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values that reports may have: those of U, or a list of them, checked."""
    if outputs is None:
        return tuple(values)
    table = hasattr(outputs, "columns")
    if isinstance(outputs, str | Set | Mapping) or table or not isinstance(outputs, Iterable):
        raise ValueError(f"outputs={outputs!r} must be None or a list of values.")
    several = isinstance(values[0], tuple)
    listed = list(outputs)
    if not listed:
        raise ValueError("outputs is empty: list at least one value that a report may have.")
    for output in listed:
        if several and not (
            isinstance(output, tuple | list | np.ndarray) and len(output) == len(values[0])
        ):
            raise ValueError(
                f"U has {len(values[0])} columns, so each of the outputs must be a tuple of "
                f"{len(values[0])} values, but {output!r} is not."
            )
        if not several and isinstance(output, tuple | list | Set | Mapping | np.ndarray):
            raise ValueError(f"outputs must be single values, as U has one column: not {output!r}.")
    try:
        found = [tuple(map(plain, o)) if several else plain(o) for o in listed]
        twice = [output for output, count in Counter(found).items() if count > 1]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"outputs={outputs!r} must be a list of values that a column can hold: finite numbers, "
            "strings and the like."
        ) from error
    if twice:
        raise ValueError(f"outputs lists {twice[0]!r} more than once.")
    return tuple(found)


def check_uncertainty(uncertainty: Any) -> None:
    """Refuse what is not an uncertainty set."""
    if isinstance(uncertainty, type):
        raise ValueError(
            f"uncertainty must be an instance, got the class {uncertainty.__name__}: write "
            f"uncertainty={uncertainty.__name__}()."
        )
    if not hasattr(uncertainty, "radius_for"):
        raise ValueError(
            f"uncertainty={uncertainty!r} must be None or an uncertainty set, such as RenyiBall() "
            "or AllDistributions()."
        )


def check_verbose(verbose: Any) -> None:
    """Refuse a verbosity that is not a whole number >= 0."""
    if not isinstance(verbose, Integral | np.bool_) or verbose < 0:
        raise ValueError(f"verbose={verbose!r} must be a whole number >= 0.")


def has_few_records(uncertainty: Any, joint: JointDistribution) -> bool:
    """Whether the asymptotic radius has fewer public records than it needs."""
    asymptotic = getattr(uncertainty, "radius", None) == "chi2"
    return asymptotic and joint.n < _RECORDS_PER_CELL * joint.counts.size


def warn_of_weak_sets(uncertainty: Any, joint: JointDistribution, radius: float) -> None:
    """Warn where the set of laws is narrower than a reader of `eps` would think."""
    n_cells = joint.counts.size
    if radius == 0:
        warnings.warn(
            "the uncertainty set has radius 0: privacy holds for the public law alone, not for the "
            "unknown true law of the private data.",
            PrivacyLeakWarning,
            stacklevel=3,
        )
    elif has_few_records(uncertainty, joint):
        warnings.warn(
            f"only {joint.n:,} public records for {n_cells:,} cells: the chi-squared set is "
            "unreliable below about five records a cell; use RenyiBall(alpha=1, "
            "radius='finite-sample') or a coarser alphabet.",
            PrivacyLeakWarning,
            stacklevel=3,
        )
