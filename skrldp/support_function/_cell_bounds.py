r"""What a Rényi ball allows for one conditional: its radius, cell bounds and ℓ1 radius.

Entropy Theorem 1 and Propositions 1 and 2, with their slips mended; the proofs are those of
Theorem 4, Theorem 8 and Theorem 10 (docs/proofs.md). Bounds are moved outwards by some units of
rounding.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from skrldp._typing import Floats
from skrldp.support_function._dual import radius_of
from skrldp.support_function._value import support

__all__ = ["cell_bounds", "conditional_radius", "l1_radius"]


# Bounds of probabilities are moved outwards by this, for the rounding of the closed form: its y is
# right to 5 units, relatively, and moves a bound by at most as many. Twice as much would widen the
# intervals by 2e-15.
_NUDGE = 8.0 * np.finfo(float).eps

# The peak of a concave function: each grid is 32 times as fine as the one before, so the last one
# is at the last digits. Twice as many points or grids would change nothing.
_GRID, _GRIDS = 65, 12


def conditional_radius(marginal: ArrayLike, alpha: float, radius: float | Floats) -> Floats:
    r"""Radius of the ball of P(U|s) around the public conditional (Entropy Theorem 1).

    Shapes: `marginal` (a1,); `radius` (a1,). Returns (a1,): :math:`B_s`, in nats; infinite for a
    secret whose conditional may be anything.

    Examples
    --------
    >>> conditional_radius([0.17, 0.83], 2.0, 0.0752).round(3)
    array([0.407, 0.09 ])
    """
    weight = np.asarray(marginal, dtype=float)
    return np.where(weight <= 0, np.inf, radius_of(weight, alpha, radius))


def cell_bounds(
    p: ArrayLike, marginal: ArrayLike, alpha: float, radius: float | Floats
) -> tuple[Floats, Floats]:
    """Least and greatest probability of each value in what the ball allows (Entropy (29)).

    Shapes: `p` (a1, k); `marginal` (a1,); `radius` (a1,); returns `lower, upper` (a1, k).

    Examples
    --------
    >>> lower, upper = cell_bounds([[0.07 / 0.17, 0.10 / 0.17]], [0.17], 2.0, 0.07524)
    >>> lower.round(4)
    array([[0.1552, 0.2727]])
    """
    rho = np.asarray(p, dtype=float)
    weight = np.broadcast_to(np.asarray(marginal, dtype=float)[:, None], rho.shape)
    radii = np.broadcast_to(np.asarray(radius, dtype=float).reshape(-1, 1), rho.shape)
    if not radii.any():
        lower, upper = rho.copy(), rho.copy()
    elif alpha == 2.0:
        lower, upper = _chi2_bounds(rho, conditional_radius(weight, alpha, radii))
    else:
        lower, upper = _general_bounds(rho, weight, alpha, radii)
    unseen = weight <= 0
    lower = np.where(unseen, 0.0, np.clip(lower, 0.0, 1.0))
    upper = np.where(unseen, 1.0, np.clip(upper, 0.0, 1.0))
    return lower, upper


def _chi2_bounds(rho: Floats, radii: Floats) -> tuple[Floats, Floats]:
    """Evaluate the closed form at alpha=2 in y = 1 - exp(-B_s), which keeps its digits."""
    y = -np.expm1(-radii)
    root = np.sqrt(y * (y + 4.0 * rho * (1.0 - rho) * (1.0 - y)))
    tilt = (2.0 * rho - 1.0) * y
    return rho - (tilt + root) / 2.0 - _NUDGE, rho - (tilt - root) / 2.0 + _NUDGE


def _general_bounds(
    rho: Floats, weight: Floats, alpha: float, radii: Floats
) -> tuple[Floats, Floats]:
    """Bounds for any alpha: one probability against the rest, so an alphabet of two."""
    p = np.stack([rho.ravel(), 1.0 - rho.ravel()], axis=1)[:, None, :]
    w = np.where(weight > 0, weight, 1.0).ravel()[:, None]
    pick = np.broadcast_to(np.array([1.0, 0.0]), p.shape)
    upper = support(pick, p, w, alpha, radii.ravel()).bound
    lower = -support(-pick, p, w, alpha, radii.ravel()).bound
    return lower.reshape(rho.shape), upper.reshape(rho.shape)


def l1_radius(p: ArrayLike, marginal: ArrayLike, alpha: float, radius: float | Floats) -> Floats:
    r"""Upper bound on the ℓ1 distance of the ball's conditionals from the public ones.

    With H(ρ) the greatest probability that the ball gives to a set of public probability ρ, the
    radius is the maximum of :math:`g(\rho_A) = 2(H(\rho_A) - \rho_A)` over subsets A
    (Entropy (30)); g is concave. This is the peak of g above the smallest probability, as in
    Entropy Proposition 2. At alpha = 2 it is :math:`\sqrt{e^{B_s} - 1}`, or g at the smallest
    probability if that lies above the peak.

    Shapes: `p` (a1, a2); `marginal` (a1,); `radius` (a1,); returns (a1,).

    Examples
    --------
    >>> l1_radius([[0.07 / 0.17, 0.10 / 0.17]], [0.17], 2.0, 0.07524).round(3)
    array([0.631])
    """
    rho = np.asarray(p, dtype=float)
    weight = np.asarray(marginal, dtype=float)
    radii = np.broadcast_to(np.asarray(radius, dtype=float), len(rho))

    def excess(secret: int, probabilities: Floats) -> Floats:
        _, upper = cell_bounds(probabilities[None, :], weight[[secret]], alpha, radii[[secret]])
        return np.maximum(2.0 * (upper[0] - probabilities), 0.0)

    radii = np.array([_concave_peak(partial(excess, s), rho[s].min()) for s in range(len(rho))])
    return np.where(weight > 0, np.minimum(radii, 2.0), 2.0)


def _concave_peak(function: Callable[[Floats], Floats], start: float) -> float:
    """Greatest value on [start, 1] of a concave function, by ever finer grids, from above."""
    grid = np.linspace(start, 1.0, _GRID)
    values = function(grid)
    for _ in range(_GRIDS):
        best = int(values.argmax())
        grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)], _GRID)
        values = function(grid)
    # By concavity the peak lies at most one last step's rise above the best value seen.
    return float(values.max() + np.abs(np.diff(values)).max() + _NUDGE)
