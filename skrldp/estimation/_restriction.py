"""An uncertainty set as convex functions of a distribution that are at most 0 inside."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skrldp._typing import Floats
from skrldp.estimation._convex import Convex, Divergence, Logarithms, Means
from skrldp.estimation._interior_point import interior
from skrldp.joint import JointDistribution
from skrldp.sets import ConditionalsSet, FittedSet, RenyiSet

__all__ = ["Restriction", "restriction"]

_LARGEST_EXPONENT = 500.0  # beyond it, a bound on a divergence says nothing


@dataclass(frozen=True, eq=False)
class Restriction:
    """A convex set of distributions."""

    constraints: Sequence[Convex]  # functions that are at most 0 in the set
    inside: Floats  # (a,), a positive distribution at which they are negative


def restriction(fitted: FittedSet, joint: JointDistribution) -> Restriction:
    """Write an uncertainty set as convex functions.

    Of a likelihood-ratio set, the bounds on single conditionals are taken. What it says about pairs
    of them is not convex in the distribution of (S, U); without it the set is somewhat larger.
    """
    if fitted.is_point:
        raise ValueError(
            f"restrict_to is {fitted.describe()}: there is nothing to estimate. Choose a set with "
            "a positive radius."
        )
    constraints: list[Convex]
    if fitted.is_everything:
        constraints = []
    elif isinstance(fitted, RenyiSet):
        constraints = _ball(fitted, joint.probabilities.ravel())
    elif isinstance(fitted, ConditionalsSet):
        constraints = _conditionals(fitted, joint)
    else:
        raise ValueError(f"restrict_to cannot be a {type(fitted).__name__}.")
    public = joint.probabilities.ravel()
    even = np.full(len(public), 1.0 / len(public))
    return Restriction(constraints, interior(constraints, even, public))


def _ball(fitted: RenyiSet, centre: Floats) -> list[Convex]:
    """D_α(centre ‖ x) <= radius."""
    if fitted.alpha == 1.0:
        seen = centre[centre > 0]
        return [Logarithms(centre, fitted.radius - float(seen @ np.log(seen)))]
    return [Divergence(centre, fitted.alpha, fitted.radius)]


def _conditionals(fitted: ConditionalsSet, joint: JointDistribution) -> list[Convex]:
    """w_s D(P̂_s ‖ R_s) <= b_s, which is Π_u x_u^{p_u} >= e^{-H - b_s / w_s} Σ_u x_u."""
    found: list[Convex] = []
    a2 = joint.conditionals.shape[1]
    weights = fitted.secret_weights(joint)
    budgets = fitted.single_budgets(weights)
    for s in np.flatnonzero(weights > 0):
        own, budget = joint.conditionals[s], float(budgets[s] / weights[s])
        if budget < _LARGEST_EXPONENT:
            seen = own[own > 0]
            share = float(np.exp(seen @ np.log(seen) - budget))
            found.append(Means(s * a2 + np.arange(a2), own, share))
    return found
