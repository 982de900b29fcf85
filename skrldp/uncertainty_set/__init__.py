"""Uncertainty sets: for which distributions of (S, U) the privacy must hold.

:class:`RenyiBall` and :class:`AllDistributions` are what people choose: parameter objects as
scikit-learn has them. Fitted to a public table they give a :class:`FittedSet`, a value that designs
and proofs take. The parameter objects are loaded when they are first asked for, so that designs and
proofs do without scikit-learn.
"""

from typing import TYPE_CHECKING, Any

from skrldp.uncertainty_set._fitted_set import FittedSet, RenyiSet
from skrldp.uncertainty_set._likelihood_ratio_budgets import likelihood_ratio_budgets
from skrldp.uncertainty_set._radii import chi2_radius, finite_sample_radius

__all__ = [
    "AllDistributions",
    "FittedSet",
    "RenyiBall",
    "RenyiSet",
    "chi2_radius",
    "finite_sample_radius",
    "likelihood_ratio_budgets",
]

if TYPE_CHECKING:
    from skrldp.uncertainty_set._renyi_ball import AllDistributions, RenyiBall


def __getattr__(name: str) -> Any:
    if name not in ("AllDistributions", "RenyiBall"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from skrldp.uncertainty_set import _renyi_ball as _renyi

    value = getattr(_renyi, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
