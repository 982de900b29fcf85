"""An upper bound on the support function (docs/proofs.md, Theorem 12 and Theorem 15)."""

from dataclasses import dataclass

import numpy as np

from skrldp._arrays import chunks
from skrldp._typing import Floats
from skrldp.support_function._dual import FLOOR, SupportProblem, prepare, value
from skrldp.support_function._multiplier import minimise_at_half, minimise_by_price
from skrldp.support_function._newton import minimise, start

__all__ = ["Support", "support"]


# Cells of a batch: its arrays, a megabyte each, stay in the cache. Half or twice as many took 12 %
# and 5 % longer on 60,000 pairs of 8 values.
_CHUNK = 1 << 17
# At 1/2 the dual function of pairs has a kink, along which they are solved; up to this order, by
# their price. Further up Newton's method is tried first; up to .6 it fails on one pair in a hundred
# if the ball is large.
_NEAR_HALF = 0.52
# Rounding of a power mean, in units: a few operations at alpha = 2, and elsewhere powers whose
# exponents multiply relative errors. Twice as much would raise bounds by some 1e-14.
_UNITS_SQUARE, _UNITS_OTHER = 8.0, 128.0
_UNITS_SUM = 16  # of the few sums besides the one over the cells


@dataclass(frozen=True)
class Support:
    """Upper bounds on N support functions, and the dual slacks that prove them."""

    bound: Floats  # (N,), rigorous upper bounds, rounding included
    slack: Floats  # (N, T), dual slacks, relative to ``scale``
    scale: Floats  # (N,), range of q in each problem


def _solve(problem: SupportProblem) -> Floats:
    """Minimise by Newton's method, and by roots in brackets where that is known to fail or did."""
    pairs = problem.weight.shape[1] == 2
    if pairs and problem.alpha == 0.5:
        return minimise_at_half(problem)
    if pairs and 0.5 < problem.alpha <= _NEAR_HALF:
        return minimise_by_price(problem)
    found, stuck = minimise(problem, np.maximum(start(problem), FLOOR))
    if pairs and problem.alpha < 1.0 and len(stuck):
        other = minimise_by_price(problem[stuck])
        better = value(problem[stuck], other)[0] < value(problem[stuck], found[stuck])[0]
        found[stuck] = np.where(better[:, None], other, found[stuck])
    return found


def _support(
    q: Floats, p: Floats, weight: Floats, alpha: float, radius: Floats, own: Floats | None
) -> Support:
    problem, top, scale = prepare(q, p, weight, alpha, radius, own)
    slack = np.full(weight.shape, FLOOR)
    reduction = np.zeros(len(q))
    size = np.zeros(len(q))
    bound_by_budget = (scale > 0) & np.isfinite(problem.shrink) & (radius > 0)
    if bound_by_budget.any():
        inner = problem[bound_by_budget]
        found = _solve(inner)
        reached, means = value(inner, found)
        slack[bound_by_budget] = found
        helps = reached < 0.0
        reduction[bound_by_budget] = np.where(helps, reached, 0.0)
        size[bound_by_budget] = np.where(helps, found.sum(axis=1) + means, 0.0)
    # Rounding: sums of k products, and powers whose exponent multiplies the relative error.
    amplification = _UNITS_SQUARE if alpha == 2.0 else _UNITS_OTHER
    unit = (q.shape[-1] + _UNITS_SUM) * np.finfo(float).eps
    margin = unit * (np.abs(top).sum(axis=1) + scale * (1.0 + amplification * size))
    return Support(top.sum(axis=1) + scale * reduction + margin, slack, scale)


def support(
    q: Floats,
    p: Floats,
    weight: Floats,
    alpha: float,
    radius: float | Floats,
    own: Floats | None = None,
) -> Support:
    r"""Upper bounds on the support function, N problems at once.

    Shapes: `q` (N, T, k); `p` (N, T, k); `weight` (N, T); `radius` (N,); `own` (N, T).

    Examples
    --------
    >>> import numpy as np
    >>> q = np.array([[[1.0, 0.0]]])
    >>> p = np.array([[[0.4118, 0.5882]]])
    >>> found = support(q, p, np.array([[0.17]]), 2.0, 0.0752)
    >>> round(float(found.bound[0]), 3)    # 1 - 0.2727, Entropy Example 2 put right
    0.727
    """
    count = max(1, _CHUNK // max(1, q.shape[1] * q.shape[2]))
    radii = np.broadcast_to(np.asarray(radius, dtype=float), len(q))
    parts = []
    for part in chunks(max(len(q), 1), count):
        limit = None if own is None else own[part]
        parts.append(_support(q[part], p[part], weight[part], alpha, radii[part], limit))
    if len(parts) == 1:
        return parts[0]
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return Support(*(np.concatenate(column) for column in columns))
