"""Checks of the parameters, made in `fit`, and the words of caution."""

import math
import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from skrldp.exceptions import PrivacyLeakWarning
from skrldp.joint import JointDistribution

__all__ = [
    "check_choice",
    "check_eps",
    "check_time_limit",
    "check_uncertainty",
    "check_verbose",
    "warn_of_weak_sets",
]

_RECORDS_PER_CELL = 5


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def check_eps(eps: Any) -> None:
    """Refuse a privacy parameter that is not a positive finite number."""
    if not _is_number(eps) or not 0.0 < eps < math.inf:
        raise ValueError(f"eps={eps!r} must be a positive finite number (in nats).")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse a value that is not one of those listed."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}.")


def check_time_limit(time_limit: Any) -> None:
    """Refuse a time limit that is neither None nor a positive number."""
    if time_limit is not None and not (_is_number(time_limit) and time_limit > 0):
        raise ValueError(
            f"time_limit={time_limit!r} must be a positive number of seconds, or None for no limit."
        )


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
    elif getattr(uncertainty, "radius", None) == "chi2" and joint.n < _RECORDS_PER_CELL * n_cells:
        warnings.warn(
            f"only {joint.n:,} public records for {n_cells:,} cells: the chi-squared set is "
            "unreliable below about five records a cell; use RenyiBall(alpha=1, "
            "radius='finite-sample') or a coarser alphabet.",
            PrivacyLeakWarning,
            stacklevel=3,
        )
