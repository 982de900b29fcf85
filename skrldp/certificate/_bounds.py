"""The bound over several views, and the worst distribution found."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from skrldp._typing import Floats
from skrldp.certificate._views import (
    Pair,
    View,
    leakage_at,
    leakage_at_centre,
    least_provable,
)
from skrldp.joint import JointDistribution
from skrldp.sets.fitted_sets import FittedSet


@dataclass(frozen=True, eq=False)
class LeakageBound:
    """A proven bound, and the leakage at a distribution of the set."""

    eps: float
    attained: float
    distribution: Floats  # (a1, a2), where `attained` is the leakage
    enumerated: bool = True  # from all rows, rather than a sum of bounds of fewer reports


def bound_over(
    views: Callable[[], Iterable[View]],
    joint: JointDistribution,
    uncertainty: FittedSet,
    most: float = math.inf,
    callback: Callable[[int], None] | None = None,
) -> LeakageBound:
    """Prove a bound for all rows of some views."""
    attained = proven = 0.0
    witness: tuple[View, Pair] | None = None
    for view in views():
        attained = max(attained, leakage_at_centre(view))
        proven, found = least_provable(view, max(proven, attained), callback)
        if found is not None:
            witness = view, found
        if proven >= most:
            proven = most
            break
    distribution = joint.probabilities
    if witness is not None:
        worst = _distribution_of(*witness, joint, uncertainty)
        leakage = max(leakage_at(view, worst) for view in views())
        if leakage >= attained:
            attained, distribution = leakage, worst
    tight = proven < most or attained >= most
    return LeakageBound(proven, min(attained, proven), distribution, enumerated=tight)


def _distribution_of(
    view: View, worst: Pair, joint: JointDistribution, uncertainty: FittedSet
) -> Floats:
    """Complete the worst pair of conditionals to a distribution of the set."""
    first, second, pair = worst
    secrets = np.array([first, second])
    conditionals = joint.conditionals.copy()
    for s, conditional in zip(secrets, pair, strict=True):
        if view.value is None:
            conditionals[s] = conditional
        elif conditionals.shape[1] > 1:  # the other values keep their proportions
            rest = np.delete(conditionals[s], view.value)
            if rest.sum() <= 0:
                rest = np.ones(len(rest))
            share = rest / rest.sum() * conditional[1]
            conditionals[s] = np.insert(share, view.value, conditional[0])
    return uncertainty.distribution_with(joint, conditionals, secrets)
