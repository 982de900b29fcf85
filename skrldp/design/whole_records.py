r"""The least variance where the whole record is the secret: mixtures of threshold rows.

Nothing is left of U, so a row is private if its greatest entry is at most :math:`e^\epsilon` times
its least, whatever the distribution. The extreme rows of that cone have two levels: they are
:math:`e^\epsilon` on a set of cells and 1 elsewhere. GRR mixes the sets of one cell; subset
selection mixes all sets of one size, some :math:`k / (1 + e^\epsilon)` of k cells (Ye and Barg,
IEEE Transactions on Information Theory 2018), and is the best mechanism that treats all cells
alike. Where the public distribution is not uniform, other mixtures have less variance.

There are too many sets of one size. But some hundred sets do as well where all cells are equally
likely, if every two cells are together in equally many of them: a *design* of sets, such as the
hyperplanes of a finite geometry. The search begins with these, finds the best mixture of the
known rows, and adds sets that are worth more than they cost. A local search finds them: it moves
one cell at a time into a set, or out of it.
"""

import numpy as np

from skrldp._typing import Booleans, Floats
from skrldp.design.closed_form import response_matrix
from skrldp.design.run import Limits
from skrldp.design.subset_optimum import distinct_sets, set_rows
from skrldp.design.variances import Variance, VarianceMixture

__all__ = ["least_variance"]

_MOST_CELLS = 1_000  # beyond, GRR, as there would be more reports than cells
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61)
_SETS_A_CELL = 3  # sets of a design, at most: the first mixture takes half a second for 240 cells
_STARTS = 100  # known sets with changes, and sets anywhere, that the local search starts from
_CHANGED = 0.1  # part of the cells of a known set that are changed, on average
_TURN, _GAIN = 3, 0.5  # rounds that must gain this part of the tolerance, or the search ends
_MIXED = 1e-4  # relative duality gap of the mixtures on the way
_LEAST_GAIN = 1e-6  # reduced cost of a row that is added, relative to the sum of variances
# Rows of a mixture, and the sum of their cubes over all mixtures: time is in proportion to that,
# some 10 s of a processor. With twice as much, the sum of variances at 240 cells is .4 % less.
_MOST_ROWS, _ROWS_A_CELL = 500, 6
_MOST_WORK = 1.2e10


def least_variance(
    criterion: Variance, eps: float, tol: float, limits: Limits
) -> tuple[str, Floats]:
    """Search the mixture of threshold rows with the least sum of variances.

    Cells of which all functions say the same are one: a report then need not tell them apart.

    Returns the status, and the mechanism, (b, a).
    """
    functions, cell = np.unique(criterion.functions, axis=1, return_inverse=True)
    cell = cell.reshape(-1)
    distribution = np.bincount(cell, criterion.distribution).astype(float)
    if not 2 <= len(distribution) <= _MOST_CELLS:
        return "closed form", response_matrix(eps, len(criterion.distribution))
    status, matrix = _Sets(Variance(distribution, functions), eps, tol, limits).run()
    return status, matrix[:, cell]


class _Sets:
    """The search for the sets whose rows make the best mixture."""

    def __init__(self, criterion: Variance, eps: float, tol: float, limits: Limits) -> None:
        self.criterion, self.tol, self.limits = criterion, tol, limits
        self.n_cells, self.drop = len(criterion.distribution), float(np.exp(-eps))
        self.rng = np.random.default_rng(0)
        singles, balanced = np.eye(self.n_cells, dtype=bool), balanced_sets(self.n_cells, eps)
        sets = [singles, balanced[:, self.rng.permutation(self.n_cells)]]
        self.begun = [set_rows(some, self.drop) for some in sets]
        most = max(_MOST_ROWS, _ROWS_A_CELL * self.n_cells)
        self.mixture = VarianceMixture(criterion.distribution, criterion.functions, most)
        self.mixture.add(set_rows(distinct_sets(np.concatenate(sets)), self.drop))

    def run(self) -> tuple[str, Floats]:
        """Search; return the status and the mechanism."""
        weights: Floats | None = None
        values, work = [-np.inf] * _TURN, 0
        while not self.limits.met and (work := work + len(self.mixture.rows) ** 3) <= _MOST_WORK:
            before = None if weights is None else self.mixture.supported(weights)
            added = weights is None or self._add(weights)
            self.limits.count()
            try:
                weights, _, value = self.mixture.solve(self.limits.left, _MIXED)
            except TimeoutError:
                return self.limits.status, self._even() if before is None else before
            values.append(value)
            if not added or value - values[-1 - _TURN] <= _GAIN * self.tol * abs(value):
                break
        matrix = self._even() if weights is None else self.mixture.mechanism(weights)
        return self.limits.status, matrix

    def _even(self) -> Floats:
        """Return the better one of the first mechanisms, whose reports are equally likely."""
        return max((rows / rows.sum(axis=0) for rows in self.begun), key=self.criterion.value)

    def _add(self, weights: Floats) -> bool:
        """Add the sets that are worth most at the best weights; False if there are none."""
        used = self.mixture.rows[self.mixture.support(weights)]
        known = used > used.mean(axis=1, keepdims=True)
        rng, number = self.rng, max(_STARTS, self.n_cells)
        shape = number, self.n_cells
        changed = known[rng.integers(len(known), size=number)] ^ (rng.random(shape) < _CHANGED)
        anywhere = rng.random(shape) < rng.random((number, 1))
        starts = np.concatenate([known, changed, anywhere])
        sets, gains = best_sets(self.mixture, starts, self.drop)
        order = np.argsort(-gains, kind="stable")
        best = distinct_sets(sets[order[gains[order] > _LEAST_GAIN]])[:number]
        self.mixture.add(set_rows(best, self.drop))
        return len(best) > 0


def balanced_sets(n_cells: int, eps: float) -> Booleans:
    """List sets that have every cell, and every two cells, equally often.

    The cells are points of a projective geometry over the integers modulo a prime q, or some of
    them, and the sets its hyperplanes, each with about one in q of the cells. So the best q is near
    the subset selection's 1 + exp(eps).

    Shapes: returns (m, n_cells); m is at least n_cells.
    """

    def variance(q: int) -> float:  # of rare cells, up to a factor, from the design alone
        return (q - 1.0 + np.exp(eps)) ** 2 / (q - 1.0)

    few = [q for q in _PRIMES if q ** _axes(q, n_cells) <= _SETS_A_CELL * n_cells * (q - 1)]
    prime = min(few, key=variance)
    axes = _axes(prime, n_cells)
    points = np.indices((prime,) * axes).reshape(axes, -1).T
    leading = np.take_along_axis(points, (points > 0).argmax(axis=1)[:, None], axis=1)
    points = points[leading[:, 0] == 1]
    return (points @ points.T % prime == 0)[:, :n_cells]


def _axes(prime: int, n_cells: int) -> int:
    """Find the least dimension in which there are enough lines through the origin."""
    axes = 2
    while (prime**axes - 1) // (prime - 1) < n_cells:
        axes += 1
    return axes


def best_sets(mixture: VarianceMixture, sets: Booleans, drop: float) -> tuple[Booleans, Floats]:
    """Move one cell at a time into each set, or out of it, while its row becomes worth more.

    Shapes: `sets` (m, k). Returns sets, (m, k), and the reduced costs of their rows for each unit
    of probability, (m,).
    """
    sets, rows = sets.copy(), set_rows(sets, drop)
    price, duals, distribution = mixture.price, mixture.duals, mixture.distribution
    squares, along = np.diag(price), rows @ price
    worth, mass, cost = (rows * along).sum(axis=1), rows @ distribution, rows @ duals
    gains, rising = (worth / mass - cost) / mass, np.arange(len(sets))
    while len(rising):
        step = np.where(sets[rising], drop - 1.0, 1.0 - drop)
        new_worth = worth[rising, None] + step * (2.0 * along[rising] + step * squares)
        new_mass = mass[rising, None] + step * distribution
        new_cost = cost[rising, None] + step * duals
        reached = (new_worth / new_mass - new_cost) / new_mass
        cell, place = reached.argmax(axis=1), np.arange(len(rising))
        better = reached[place, cell] > gains[rising] + _LEAST_GAIN
        rising, cell, place = rising[better], cell[better], place[better]
        gains[rising] = reached[place, cell]
        worth[rising], mass[rising] = new_worth[place, cell], new_mass[place, cell]
        cost[rising] = new_cost[place, cell]
        along[rising] += step[place, cell, None] * price[cell]
        sets[rising, cell] ^= True
    return sets, gains
