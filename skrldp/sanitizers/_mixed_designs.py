"""Mechanisms that are informative, and from whose reports shares can be estimated."""

from dataclasses import replace

import numpy as np

from skrldp._typing import Floats
from skrldp.design import Solution
from skrldp.design.criteria import Criterion, Variance

__all__ = ["mixed"]

_CLOSE = 1e-3  # share of the reports to which the least one is found


def mixed(
    informative: Solution, precise: Solution, criterion: Criterion, shares: Variance, most: float
) -> Solution:
    """Take as few reports as possible from a precise mechanism, and the rest from another one.

    A report of the mixture is one of either mechanism, and says of which. So information adds up,
    and so does the Fisher information about the distribution: with a share t of the reports the
    precise mechanism alone gives errors of at most ``t ** -0.5`` times its own, so that a share of
    ``most ** -2`` is always enough. The variances are convex in t, so that those shares that are
    enough have no gap.

    `most` is the greatest error of each function of `shares`, as a multiple of that of the precise
    mechanism. Returns Solution: that of the mixture, with the bound of the informative one.
    """
    one, two = informative.matrix, precise.matrix
    assert one is not None
    assert two is not None
    allowed = most**2 * shares.variances(two)
    both = replace(
        informative,
        iterations=informative.iterations + precise.iterations,
        seconds=informative.seconds + precise.seconds,
    )

    def mixture(t: float) -> Floats:
        return np.concatenate([(1.0 - t) * one, t * two])

    low, high = 0.0, min(1.0, most**-2)
    if (shares.variances(one) <= allowed).all():
        return both
    while high - low > _CLOSE:
        middle = (low + high) / 2.0
        enough = (shares.variances(mixture(middle)) <= allowed).all()
        low, high = (low, middle) if enough else (middle, high)
    found = mixture(high)
    words = f"{high:.1%} of the reports are those of an A-optimal design. {informative.message}"
    value = criterion.value(found)
    return replace(both, matrix=found, objective=value, message=words)
