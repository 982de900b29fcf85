"""Uncertainty sets: for which distributions of (S, U) the privacy must hold.

:class:`RenyiBall` and :class:`AllDistributions` are what people choose: parameter objects as
scikit-learn has them. Fitted to a public table they give a :class:`FittedSet`, a value that designs
and proofs take. The parameter objects are loaded when they are first asked for, so that designs and
proofs do without scikit-learn.
"""

from typing import TYPE_CHECKING, Any

from skrldp.uncertainty._fitted import FittedSet, RenyiSet
from skrldp.uncertainty._radii import chi2_radius, finite_sample_radius

__all__ = [
    "AllDistributions",
    "FittedSet",
    "RenyiBall",
    "RenyiSet",
    "chi2_radius",
    "finite_sample_radius",
]

if TYPE_CHECKING:
    from skrldp.uncertainty._renyi import AllDistributions, RenyiBall


def __getattr__(name: str) -> Any:
    if name not in ("AllDistributions", "RenyiBall"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from skrldp.uncertainty import _renyi

    value = getattr(_renyi, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
