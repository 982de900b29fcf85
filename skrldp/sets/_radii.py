"""Radii of confidence sets, from a significance level and the size of the public table."""

import math
from typing import Any

from scipy.special import chdtri

from skrldp._params import is_finite, is_number, shown
from skrldp.joint import JointDistribution

__all__ = [
    "asymptotic_values",
    "chi2_radius",
    "finite_sample_radius",
    "given_radius",
    "more_values",
]

# Less is no set that linear programs can tell from the public distribution alone: at 1e-14 proofs
# of designs fail on some tables, at 1e-100 programs do not end.
_LEAST = 1e-15


# Relative surplus of a radius over the root that was found: the root is known to 1e-14, so this
# errs on the safe side. Twice as much would widen the set by as little.
_SURPLUS = 1e-12


def given_radius(radius: Any, rules: str) -> float:
    """Return a radius that is given as a number.

    Raises ValueError if it is neither 0 nor a number of at least 1e-15, which may be infinite.

    Examples
    --------
    >>> given_radius(1e-100, "'chi2'")
    Traceback (most recent call last):
    ValueError: radius=1e-100 must be 'chi2' or a number >= 0 (nats), and at least 1e-15 if not 0.
    """
    if is_number(radius) and (is_finite(radius) or radius == math.inf):
        number = float(radius)
        if number == 0.0 or number >= _LEAST:
            return number
    raise ValueError(
        f"radius={shown(radius)} must be {rules} or a number >= 0 (nats), and at least {_LEAST:g} "
        "if not 0."
    )


def chi2_radius(alpha: float, beta: float, n: int, n_cells: int) -> float:
    """Asymptotic radius: the chi-squared quantile, expressed as a Rényi divergence.

    Returns float: in nats; infinite where, for alpha < 1, the quantile exceeds what the divergence
    can be.
    """
    if n_cells == 1:  # a single distribution, at divergence 0
        return 0.0
    quantile = float(chdtri(n_cells - 1, beta))
    if alpha == 1.0:
        return quantile / (2.0 * n)
    argument = alpha * (alpha - 1.0) * quantile / (2.0 * n)
    if argument <= -1.0:
        return math.inf
    return math.log1p(argument) / (alpha - 1.0)


def finite_sample_radius(beta: float, n: int, n_cells: int) -> float:
    """Kullback-Leibler radius that holds for every n, not only asymptotically.

    The smallest ``B > (a-1)/n`` with ``exp(-nB) (e n B / (a-1))^(a-1) <= beta`` (R. Agrawal,
    Finite-sample concentration of the multinomial in relative entropy, IEEE Transactions on
    Information Theory, 2020).

    Returns float: in nats.
    """
    from scipy.optimize import brentq  # slow to import, and seldom needed

    if n_cells == 1:  # a single distribution, at divergence 0
        return 0.0
    degrees = n_cells - 1
    level = -math.log(beta) / degrees
    # With B = (a-1) x / n the condition reads x - 1 - log(x) >= level, x > 1.
    upper = 2.0 * level + 4.0
    root = brentq(lambda x: x - 1.0 - math.log(x) - level, 1.0, upper, xtol=1e-14, rtol=1e-14)
    return degrees * float(root) * (1.0 + _SURPLUS) / n


def asymptotic_values(joint: JointDistribution) -> int:
    """Count the values of U that an asymptotic set is made for.

    Values that were grouped by their counts count one by one, as those that stand alone were chosen
    by the very counts. With more and more records all values of the population are seen, so the one
    that `joint.most_values` has for those without records does not count.
    """
    return max(joint.counts.shape[1], joint.most_values - (joint.alphabet == "frequent"))


def more_values(joint: JointDistribution) -> int | None:
    """Count the values of U that there may be; None if there are no more than are listed.

    A set that is stated by its numbers keeps this, so that another one can be made by a rule.
    """
    return joint.most_values if joint.most_values > joint.counts.shape[1] else None
