"""Uncertainty sets: for which distributions of (S, U) the privacy must hold.

:class:`LikelihoodRatioSet`, :class:`RenyiBall` and :class:`AllDistributions` are what people
choose: parameter objects as scikit-learn has them. Fitted to a public table they give a
:class:`FittedSet`, a value that designs and proofs take. The parameter objects are loaded when they
are first asked for, so that designs and proofs do without scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skrldp.sets._conditionals_set import ConditionalsSet
from skrldp.sets._fitted_set import REGIONS, DivergenceLimit, FittedSet, fitted_set
from skrldp.sets._likelihood_ratio_budgets import (
    budgets_up_to,
    likelihood_ratio_budgets,
)
from skrldp.sets._multinomial_tails import tail_bound
from skrldp.sets._radii import chi2_radius, finite_sample_radius
from skrldp.sets._rare_cells import estimated_miss
from skrldp.sets._renyi_set import RenyiSet
from skrldp.sets._survey_budgets import effective_records, effective_size

__all__ = [
    "REGIONS",
    "AllDistributions",
    "ConditionalsSet",
    "DivergenceLimit",
    "FittedSet",
    "LikelihoodRatioSet",
    "RenyiBall",
    "RenyiSet",
    "budgets_up_to",
    "chi2_radius",
    "effective_records",
    "effective_size",
    "estimated_miss",
    "finite_sample_radius",
    "fitted_set",
    "likelihood_ratio_budgets",
    "tail_bound",
]

if TYPE_CHECKING:
    from skrldp.sets._likelihood_ratio_set import LikelihoodRatioSet
    from skrldp.sets._renyi_ball import AllDistributions, RenyiBall


# The module of each parameter object.
_PARAMETER_OBJECTS = {
    "AllDistributions": "_renyi_ball",
    "LikelihoodRatioSet": "_likelihood_ratio_set",
    "RenyiBall": "_renyi_ball",
}


def __getattr__(name: str) -> Any:
    if name not in _PARAMETER_OBJECTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_PARAMETER_OBJECTS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
