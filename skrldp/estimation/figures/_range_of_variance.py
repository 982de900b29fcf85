"""The range of a variance over the distributions that explain reports nearly as well as the best.

A variance is concave in the distribution, and the least mean square: Var X = min_m E(X − m)². For
each m the mean square is linear. So the greatest variance of a convex set is the least of the
greatest mean squares, a convex function of m (Sion 1958), and each of these is a bound on it. The
least variance is the least of the least mean squares, which are not convex in m. But the mean
square at m is at most h² above the variance of every distribution whose mean is within h of m, so a
grid of m bounds the least variance.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from skrldp._typing import Booleans, Floats
from skrldp.estimation.likelihood import LikelihoodRegion, Reached

__all__ = ["range_of_variance"]

_CELLS = 8  # of the first grid of means
_PARTS = 4  # of a cell that may hold the least variance
_MEAN_TOL = 1e-3  # of the range of the numbers: the variance changes by its square


def range_of_variance(
    region: LikelihoodRegion,
    numbers: Floats,
    given: Booleans,
    drop: float,
    at_boundary: float | None = None,
    for_few: float = 0.0,
) -> Floats:
    """Least and greatest variances of a number over a region.

    Shapes: numbers (a,), given (a,) to (2,).
    """

    def solve(own: float, rows: Any, tol: float, _: Reached | None) -> Reached:
        costs = np.stack([numbers, -numbers]) * given
        low, high = region.minima(costs, own, given, tol=tol).bounds * [1.0, -1.0]
        means = max(low, 0.0), min(high, 1.0)
        asked = _Squares(region, numbers, given, own, tol)
        both = [asked.least, asked.greatest]
        chosen = [both[row](*means) for row in np.arange(2)[rows]]
        return Reached(
            np.concatenate([found.bounds for found in chosen]),
            np.concatenate([found.points for found in chosen]),
            np.concatenate([found.at_boundary for found in chosen]),
        )

    low, high = region.settled(solve, drop, at_boundary, for_few)
    return np.clip([low, -high], 0.0, 0.25)


class _Squares(NamedTuple):
    """Mean squares around centres, over a region."""

    region: LikelihoodRegion
    numbers: Floats
    given: Booleans
    drop: float
    tol: float

    def minima(self, centres: Floats, sign: float = 1.0) -> Reached:
        """Minimise the mean squares, or their negatives, around centres (m,)."""
        squares = sign * self.given * (self.numbers - centres[:, None]) ** 2
        return self.region.minima(squares, self.drop, self.given, tol=self.tol)

    def greatest(self, low: float, high: float) -> Reached:
        """Bound the negative of the greatest variance from below; the mean is in a range."""

        def at(centre: float) -> Reached:
            return self.minima(np.array([centre]), -1.0)

        if high - low <= _MEAN_TOL:
            return at((low + high) / 2.0)
        best = minimize_scalar(
            lambda centre: -at(centre).bounds[0],
            bounds=(low, high),
            method="bounded",
            options={"xatol": _MEAN_TOL * (high - low)},
        )
        return at(float(best.x))

    def least(self, low: float, high: float) -> Reached:
        """Bound the least variance from below, by ever finer grids where it may be."""
        half = (high - low) / (2.0 * _CELLS)
        centres = low + half * (2.0 * np.arange(_CELLS, dtype=float) + 1.0)
        best, left = np.inf, np.inf
        while True:
            found = self.minima(centres)
            shares = self.given * found.points
            shares /= shares.sum(axis=1, keepdims=True)
            variances = shares @ self.numbers**2 - (shares @ self.numbers) ** 2
            first = int(variances.argmin())
            if variances[first] < best:
                best, point = variances[first], found.points[[first]]
                zeros = found.at_boundary[[first]]
            bounds = found.bounds - half**2
            kept = bounds < best - self.tol
            left = min(left, bounds[~kept].min(initial=np.inf))
            if not kept.any() or half**2 <= self.tol:
                return Reached(np.minimum(best, min(left, bounds.min()))[None], point, zeros)
            half /= _PARTS
            steps = half * (2.0 * np.arange(_PARTS, dtype=float) + 1.0 - _PARTS)
            centres = (centres[kept, None] + steps).ravel()
