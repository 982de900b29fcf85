"""The A-optimal mixture of given rows, by a primal-dual interior-point method."""

import time

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from skrldp._typing import Booleans, Floats
from skrldp.design.criteria._criterion import Mixture, Optimum
from skrldp.exceptions import SolverError

__all__ = ["VarianceMixture"]

# Usual values of interior-point codes; the gap is relative to the sum of variances.
_GAP, _FEASIBLE = 1e-8, 1e-10
_GOOD_GAP, _GOOD_FEASIBLE = 1e-4, 1e-7  # with which rounding may end it
_MOST_STEPS = 80
_CENTRING, _FRACTION_TO_BOUNDARY = 0.15, 0.98
_REGULARISATION = 1e-14
# Part of the information of the records themselves that is added to that of the reports, so that
# the information matrix is regular.
_PART = 1e-9
# More rows than the first number, or this many times the cells, are reduced to the second, the most
# probable reports, when others join.
_MOST_ROWS, _KEPT = (600, 5), (400, 3)
# Probability from which a report counts as sent; the probabilities up to which reports are left out
# of a mechanism, as far as the sum of variances grows by no more than the last number, relatively.
_LEAST_MASS = 1e-6
_SHARES, _LOSS = (1e-3, 1e-4, 1e-5, 1e-6), 1e-4
_TINY = 1e-12  # probability of a report: rarer rows are left out


class VarianceMixture(Mixture):
    r"""Weights θ on rows with the least :math:`\operatorname{tr} C M(\theta)^{-1} C^T`.

    Parameters
    ----------
    distribution : array of shape (a,)
        Distribution of the cells of a row, positive.
    functions : array of shape (m, a)
        The linear functions C.
    """

    def __init__(self, distribution: Floats, functions: Floats) -> None:
        super().__init__(len(distribution))
        self.distribution, self._root = distribution, np.sqrt(distribution)
        self._functions = functions * self._root
        self._first = 0  # rows that were added first, which stay
        self._spare: Floats = np.zeros((0, len(distribution)))  # rows that made room
        self._weights = np.zeros(0)
        self._duals = np.zeros(len(distribution))
        self._price = np.zeros((len(distribution),) * 2)
        self._total = -np.inf  # sum of variances at the best weights, with the means' squares

    def add(self, rows: Floats) -> None:
        """Add rows; those of no use make room, but for the first ones."""
        rows = rows[rows @ self.distribution > _TINY * rows.sum(axis=1)]
        n_cells = len(self.distribution)
        most, kept = (max(least, times * n_cells) for least, times in (_MOST_ROWS, _KEPT))
        if len(self._weights) == len(self.rows) > most:
            likely = self._weights * (self.rows @ self.distribution)
            likely[: self._first] = np.inf
            stay = np.zeros(len(likely), dtype=bool)
            stay[np.argsort(-likely)[: max(kept, self._first)]] = True
            self._spare = np.concatenate([self._spare, self.rows[~stay]])
            self.rows = self.rows[stay]
            self.dropped += 1
        if not len(self.rows):
            self._first = len(rows)
        self.rows = np.concatenate([self.rows, rows / rows.sum(axis=1, keepdims=True)])

    def _best(self, rows: Floats, seconds: float | None = None) -> "_Point":
        end = np.inf if seconds is None else time.perf_counter() + seconds
        point = _Point(rows, self._root, self._functions)
        for _ in range(_MOST_STEPS):
            if point.gap <= _GAP and point.residual <= _FEASIBLE:
                break
            if time.perf_counter() >= end:
                if point.good:
                    break
                raise TimeoutError(f"the time for the weights of {len(rows)} rows is used up")
            if not point.step():
                break
        return point

    def solve(self, seconds: float | None = None) -> Optimum:
        """Find the best weights.

        Raises SolverError if the rows make no mechanism; ``TimeoutError`` if time ran out.
        """
        point = self._best(self.rows, seconds)
        if not point.good and len(self._spare):  # rows are missing that made a mechanism possible
            self.rows = np.concatenate([self.rows, self._spare])
            self._spare = self._spare[:0]
            point = self._best(self.rows)
        if not point.good:
            raise SolverError(
                f"the weights of {len(self.rows)} rows were not found: gap {point.gap:.1e}, sums "
                f"of columns off by {point.residual:.1e}."
            )
        self._weights, self._duals = point.weights, -point.duals
        self._price, self._total = point.price, point.total
        means = self._functions @ self._root
        return Optimum(self._weights, self._duals, -(point.total - float(means @ means)))

    def support(self, weights: Floats) -> Booleans:
        """Tell which rows are sent with more than a very small probability."""
        return weights * (self.rows @ self.distribution) > _LEAST_MASS

    def mechanism(self, weights: Floats) -> Floats:
        """Write a mixture as a mechanism, without rows that hardly matter where that can be."""
        for share in _SHARES:
            some = self.rows[weights * (self.rows @ self.distribution) > share]
            if not len(some):
                continue
            point = self._best(some)
            if point.good and point.total <= self._total * (1.0 + _LOSS):
                return some * point.weights[:, None]
        return super().mechanism(weights)

    def profits(self, rows: Floats) -> Floats:
        """Return the reduced profits of rows, relative to the sum of variances."""
        mass = rows @ self.distribution
        priced = ((rows @ self._price) * rows).sum(axis=1) / np.maximum(mass, _TINY)
        return priced - rows @ self._duals

    def slopes(self, rows: Floats) -> Floats:
        """Return the gradients of the reduced profits."""
        mass = np.maximum(rows @ self.distribution, _TINY)[:, None]
        along = rows @ self._price / mass
        own = (along * rows).sum(axis=1)[:, None] / mass
        slope: Floats = 2.0 * along - own * self.distribution - self._duals
        return slope


class _Point:
    """A point of the interior-point method, with the sum of variances at its start as its unit."""

    def __init__(self, rows: Floats, root: Floats, functions: Floats) -> None:
        self._sums, self._root, self._functions = rows.T, root, functions
        self._scaled = rows * root / np.sqrt(rows @ root**2)[:, None]
        self.weights = np.full(len(rows), len(root) / len(rows))
        self.duals = np.zeros(len(root))
        self._unit = self._invert()
        self._evaluate()
        self._multipliers = self._prices + self._prices.mean() + _REGULARISATION

    def _invert(self) -> float:
        """Invert the information matrix; return the sum of variances."""
        information = (self._scaled * self.weights[:, None]).T @ self._scaled
        information[np.diag_indices_from(information)] += _PART
        self._inverse = np.linalg.inv(information)
        self._half = self._inverse @ self._functions.T
        self.total = float(np.vdot(self._half, self._functions.T))
        return self.total

    def _evaluate(self) -> None:
        """Price the rows."""
        self._weighting = self._half @ self._half.T / self._unit
        self._along = self._scaled @ self._weighting
        self._prices = (self._along * self._scaled).sum(axis=1)

    @property
    def price(self) -> Floats:
        """Matrix G of the price of a row v, vᵀ G v / (v · distribution), shape (a, a)."""
        return self._weighting * self._root * self._root[:, None]

    @property
    def gap(self) -> float:
        """Duality gap, relative to the sum of variances."""
        return float(self.weights @ self._multipliers) * self._unit / self.total

    @property
    def residual(self) -> float:
        """By how much the sums of columns miss 1."""
        return float(np.abs(1.0 - self._sums @ self.weights).max())

    @property
    def good(self) -> bool:
        """Whether the weights may be used."""
        return self.gap <= _GOOD_GAP and self.residual <= _GOOD_FEASIBLE

    def step(self) -> bool:
        """Take a step; False if rounding leaves none."""
        weights, multipliers = self.weights, self._multipliers
        barrier = _CENTRING * float(weights @ multipliers) / len(weights)
        hessian = 2.0 * (self._scaled @ self._inverse @ self._scaled.T)
        hessian *= self._along @ self._scaled.T
        hessian[np.diag_indices_from(hessian)] += multipliers / weights
        try:
            factor = cho_factor(hessian, overwrite_a=True, check_finite=False)
            right = self._prices + self._sums.T @ self.duals + barrier / weights
            both = cho_solve(factor, np.column_stack([self._sums.T, right]), check_finite=False)
            across = self._sums @ both[:, :-1]
            across[np.diag_indices_from(across)] += _REGULARISATION * np.trace(across)
            missing = 1.0 - self._sums @ weights - self._sums @ both[:, -1]
            duals = np.linalg.solve(across, missing)
        except np.linalg.LinAlgError:
            return False
        change = both[:, -1] + both[:, :-1] @ duals
        multiplier_change = barrier / weights - multipliers - multipliers / weights * change
        length = _length(weights, change)
        dual_length = _length(multipliers, multiplier_change)
        if not np.isfinite(length * dual_length) or max(length, dual_length) < _REGULARISATION:
            return False
        self.weights = weights + length * change
        self.duals = self.duals + dual_length * duals
        self._multipliers = multipliers + dual_length * multiplier_change
        self._invert()
        self._evaluate()
        return True


def _length(amounts: Floats, changes: Floats) -> float:
    fastest = float((-changes / amounts).max())
    return min(1.0, _FRACTION_TO_BOUNDARY / fastest) if fastest > 0 else 1.0
