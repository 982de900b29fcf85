"""Fewer reports: those that tell nearly the same are put together."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from skrldp._typing import Floats

__all__ = ["merged_rows"]

# Part of the rows that are put together with others at once. A quarter leaves up to a tenth more
# rows for the same loss at 2 x 30 cells; a thirtieth leaves as many, in twice the time.
_AT_ONCE = 0.1
# Part of the information of the records themselves that is added to that of the reports, so that
# the information matrix is regular.
_PART = 1e-9
_LEAST = 1e-3  # part of its information that a direction keeps, at least, where rows are compared


def merged_rows(matrix: Floats, distribution: Floats, functions: Floats, most: float) -> Floats:
    """Put rows together as long as the sum of the variances and squared means is at most `most`.

    A sum of private rows is private. Rows go together in pairs, first those whose sum tells least
    less than both do.

    Shapes: `matrix` (b, a), `distribution` (a,), `functions` (m, a); returns (c, a), c at most b.
    """
    root = np.sqrt(distribution)
    scaled = functions * root
    if len(scaled) > len(root):  # as many will do
        scaled = np.linalg.qr(scaled)[1]
    merged, share = _Merged.of(matrix, root, scaled), _AT_ONCE
    # With fewer rows than cells, reports would not determine all that they did.
    while merged is not None and len(merged.matrix) > len(root):
        number = min(max(int(share * len(merged.matrix)), 1), len(merged.matrix) - len(root))
        fewer = _Merged.of(merged.paired(number), root, scaled)
        if fewer is not None and fewer.total <= most:
            matrix, merged = fewer.matrix, fewer
        elif number > 1:
            share /= 2.0
        else:
            break
    return matrix


@dataclass(frozen=True, eq=False)
class _Merged:
    """A mechanism, and what its reports tell.

    `posteriors` (a, b) are in shares of the probability of each cell, in the coordinates in which
    the information matrix M is I; `known` (m, b) are their images by C M⁻¹.
    """

    matrix: Floats
    mass: Floats
    posteriors: Floats
    known: Floats
    total: float

    @classmethod
    def of(cls, matrix: Floats, root: Floats, functions: Floats) -> "_Merged | None":
        """Return None where rounding leaves no information matrix."""
        mass = matrix @ root**2
        posteriors = (matrix * root / mass[:, None]).T
        information = posteriors * mass @ posteriors.T
        information[np.diag_indices_from(information)] += _PART
        try:
            half = cholesky(information, lower=True, check_finite=False)
        except LinAlgError:
            return None
        posteriors = solve_triangular(half, posteriors, lower=True, check_finite=False)
        variances = solve_triangular(half, functions.T, lower=True, check_finite=False)
        total = float(np.vdot(variances, variances))
        return cls(matrix, mass, posteriors, variances.T @ posteriors, total)

    def paired(self, number: int) -> Floats:
        """Add up to so many rows to others, each once.

        With two rows' posteriors p and q and masses v and w, their sum tells less by the matrix
        D = d dᵀ = vw / (v + w) (p - q)(p - q)ᵀ. The sum of variances tr C M⁻¹ Cᵀ grows by exactly
        |C M⁻¹ d|² / (1 - dᵀ M⁻¹ d).
        """
        both = self.mass[:, None] * self.mass / (self.mass[:, None] + self.mass)
        left = np.maximum(1.0 - both * _squares(self.posteriors), _LEAST)
        losses = both * _squares(self.known) / left
        np.fill_diagonal(losses, np.inf)
        nearest, least = losses.argmin(axis=1), losses.min(axis=1)
        free, stays = np.ones((2, len(nearest)), dtype=bool)
        sums = self.matrix.copy()
        for row in np.argsort(least, kind="stable"):
            other = nearest[row]
            if number and free[row] and free[other]:
                free[row] = free[other] = stays[other] = False
                sums[row] += sums[other]
                number -= 1
        return sums[stays]


def _squares(points: Floats) -> Floats:
    """Return the squared distances of columns, (b, b)."""
    squares = (points**2).sum(axis=0)
    found: Floats = np.maximum(squares[:, None] + squares - 2.0 * points.T @ points, 0.0)
    return found
