r"""Intervals of sums and quotients of figures, from the intervals of the figures.

They exist where there is no standard error (Zou and Donner 2008).

Quantiles of few numbers jump, so the correlation of their errors says little: the interval of a sum
has all sums of numbers in their intervals. Two of these intervals may have the level that is asked
for, whatever the correlation. Let :math:`g_1, g_2` be two quantiles less the true ones, as
functions of a share's error in standard errors: they rise, and are 0 at 0. Let Z, Z' be the errors
of the estimated shares, and z the normal quantile. The difference is missed if
:math:`g_1(z - Z) < g_2(-z - Z')` or :math:`g_1(-z - Z) > g_2(z - Z')`. Take u, w > 0. Of the points
(z + u, w - z) and (u - z, z + w) of (Z, Z') one at most is missed, the first if
:math:`g_1(-u) < g_2(-w)`. Their densities are f(u, w) and f(w, u), the first the greater if u < w.
If the first is not missed at (u, w) with u > w, then not at (w, u) either: so both are missed at
most as often as if it always were the first, P(Z > z, Z' > -z). With signs changed, this is
P(Z < -z, Z' < z). Where both intervals miss, it is P(Z > z, Z' < -z) and P(Z < -z, Z' > z). The sum
is P(\|Z\| > z). Each further quantile adds what its own interval misses.
"""

from typing import Any

import numpy as np

from skrldp._params import is_finite
from skrldp._typing import Floats

__all__ = ["ends_of_quotients", "ends_of_sums", "level_of_each", "quotients"]


def level_of_each(level: Any, n_quantiles: int) -> Any:
    """Level of the intervals of quantiles, for an interval of their sum."""
    if not (is_finite(level) and 0.0 < level < 1.0):
        return level  # those of each refuse it
    return 1.0 - (1.0 - level) / max(n_quantiles - 1, 1)


def ends_of_sums(coefficients: Floats, values: Floats, ends: Floats, correlation: Floats) -> Floats:
    """Intervals of weighted sums from those of the figures and their correlations.

    Each side has the variance that the length of the intervals shows there. Figures whose
    correlation is not known (NaN) may move so that the sum moves most.

    Shapes: `coefficients` (k,), `values` (k, m), `ends` (k, m, 2), `correlation` (k, k, m).
    """
    signs = np.sign(coefficients)
    both = signs[:, None, None] * signs[None, :, None]
    correlation = np.where(np.isnan(correlation), both, np.clip(correlation, -1.0, 1.0))
    found = np.empty((values.shape[1], 2))
    for side, sign in ((0, -1.0), (1, 1.0)):
        lower = np.abs(values - ends[..., 0])
        upper = np.abs(values - ends[..., 1])
        lengths = np.where((signs > 0)[:, None] == bool(side), upper, lower)
        moves = coefficients[:, None] * lengths
        square = np.einsum("im,jm,ijm->m", moves, moves, correlation)
        found[:, side] = coefficients @ values + sign * np.sqrt(np.maximum(square, 0.0))
    return found


def ends_of_quotients(values: Floats, ends: Floats, correlation: Floats) -> Floats:
    """Intervals of quotients, from those of two figures: of the difference of their logarithms.

    Shapes: `values` (2, m), `ends` (2, m, 2), `correlation` (m,).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs, log_ends = np.log(values), np.log(np.maximum(ends, 0.0))
        own = np.ones(len(correlation))
        between = np.array([[own, correlation], [correlation, own]])
        found = np.exp(ends_of_sums(np.array([1.0, -1.0]), logs, log_ends, between))
    none = [~np.isfinite(log_ends[0, :, 0]), ~np.isfinite(log_ends[1, :, 0])]
    found[none[0], 0], found[none[1], 1] = 0.0, np.inf
    return found


def quotients(first: Floats, second: Floats) -> Floats:
    """Divide positive figures; raise ValueError if one is not positive."""
    both = np.concatenate([np.ravel(first), np.ravel(second)])
    if not (both > 0).all():
        wrong = both[~(both > 0)][0]
        which = "not determined" if np.isnan(wrong) else f"{wrong:.4g}"
        raise ValueError(
            f"a ratio is of two positive figures, but one is {which}; take differences."
        )
    return np.asarray(first) / np.asarray(second)
