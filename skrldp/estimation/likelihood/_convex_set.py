"""An uncertainty set as convex functions of a distribution that are at most 0 inside."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skrldp._typing import Floats
from skrldp.estimation.likelihood._convex_functions import Convex, Divergence, Logarithms, Means
from skrldp.estimation.likelihood._interior_point import interior
from skrldp.joint import JointDistribution
from skrldp.sets import DivergenceLimit, FittedSet

__all__ = ["ConvexSet", "convex_set"]

_LARGEST_EXPONENT = 500.0  # nats: a larger bound on a divergence excludes no float


@dataclass(frozen=True, eq=False)
class ConvexSet:
    """A convex set of distributions."""

    constraints: Sequence[Convex]  # functions that are at most 0 in the set
    inside: Floats  # (a,), a positive distribution at which they are negative


def convex_set(fitted: FittedSet, joint: JointDistribution) -> ConvexSet:
    """Write an uncertainty set as convex functions.

    Of a likelihood-ratio set, the bounds on single conditionals are taken. Its bounds on pairs of
    conditionals are not convex in the distribution of (S, U); without them the set is larger.
    """
    if fitted.is_point:
        raise ValueError(
            f"restrict_to is {fitted.describe()}: there is nothing to estimate. Choose a set with "
            "a positive radius."
        )
    public = joint.probabilities.ravel()
    limits = [one for one in fitted.limits(joint) if one.radius < _LARGEST_EXPONENT]
    constraints = [_convex(one, len(public)) for one in limits]
    even = np.full(len(public), 1.0 / len(public))
    return ConvexSet(constraints, interior(constraints, even, public))


def _convex(limit: DivergenceLimit, n_cells: int) -> Convex:
    """D_α(centre ‖ x) <= radius, of all cells or of the distribution of some."""
    centre, alpha, radius = limit.centre, limit.alpha, limit.radius
    if alpha != 1.0:
        return Divergence(centre, alpha, radius)
    seen = centre[centre > 0]
    entropy = -float(seen @ np.log(seen))
    if len(centre) == n_cells:
        return Logarithms(centre, radius + entropy)
    # Π_u x_u^{p_u} >= e^{-H - radius} Σ_u x_u
    return Means(limit.cells, centre, float(np.exp(-entropy - radius)))
