r"""The least variance where the whole record is the secret: mixtures of threshold rows.

Nothing is left of U, so a row is private if its largest entry is at most :math:`e^\epsilon` times
its least, whatever the distribution. The extreme rows of that cone have two levels: they are
:math:`e^\epsilon` on a set of cells and 1 elsewhere. GRR mixes the sets of one cell; subset
selection mixes all sets of equal size, some :math:`k / (1 + e^\epsilon)` of k cells (Ye and Barg,
IEEE Transactions on Information Theory 2018), and is the best mechanism that treats all cells
alike. If the public distribution is not uniform, other mixtures have less variance.

There are too many sets of equal size. But some hundred sets do as well where all cells are equally
likely, if every pair of cells is together in equally many of them: a *design* of sets. The search
begins with the translates of a few sets, which nearly are one, finds the best mixture of the known
rows, and adds sets that are worth more than they cost. A local search finds them: it moves one cell
at a time into a set, or out of it.
"""

import math

import numpy as np

from skrldp._typing import Booleans, Floats, Indices
from skrldp.design.closed_form import response_matrix
from skrldp.design.limits import EQUAL, LITTLE, Limits
from skrldp.design.subset_optimum import distinct_sets, set_rows
from skrldp.design.variances import Variance, VarianceMixture

# Cells beyond which GRR is taken, as there would be more reports than cells. Twice as many take
# four times the memory.
_MOST_CELLS = 1_000
# Sets of which all translates are listed, as far as these can be mixed. Half as many are .03 to 1 %
# worse at 240 cells; twice as many take eight times as long to mix.
_MOST_SETS = 5
# Cyclotomic classes for each set of the best size that all cells have room for. With twice as many
# sets are as good.
_CLASSES_A_SET = 8.0
# Random unions of the classes, times the square of their number. With a quarter of the unions sets
# are up to .3 % worse.
_MOST_UNIONS = 100_000
# The search ends when this many rounds have gained less than the tolerance, and the best row
# promised less than so many times as much. Without an end 30 cells gain up to .1 % more, in five
# times the time.
_TURN, _PROMISE = 3, 10.0
# Sum of the cubes of the numbers of rows over all mixtures: time is in proportion to that, some
# 10 s of a processor. With twice as much, the sum of variances at 240 cells is .04 % less.
_MOST_WORK = 1.2e10


def least_variance(
    criterion: Variance, eps: float, tol: float, limits: Limits
) -> tuple[str, Floats]:
    """Search the mixture of threshold rows with the least sum of variances.

    Cells on which all functions agree are merged, because reports need not distinguish them.

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
        self.mixture = VarianceMixture(criterion.distribution, criterion.functions)
        self.mixture.add(self.begun[0])
        self.mixture.add(set_rows(distinct_sets(sets[1]), self.drop))

    def run(self) -> tuple[str, Floats]:
        """Search; return the status and the mechanism."""
        weights: Floats | None = None
        values, work, promise = [-np.inf] * _TURN, 0, np.inf
        while not self.limits.met and (work := work + len(self.mixture.rows) ** 3) <= _MOST_WORK:
            before = None if weights is None else self.mixture.supported(weights)
            if weights is not None:
                promise = self._add(weights)
            self.limits.count()
            try:
                weights, _, value = self.mixture.solve(self.limits.left, LITTLE)
            except TimeoutError:
                return self.limits.status, self._even() if before is None else before
            values.append(value)
            little = value - values[-1 - _TURN] <= self.tol * abs(value)
            if little and promise <= _PROMISE * self.tol:
                break
        matrix = self._even() if weights is None else self.mixture.mechanism(weights)
        return self.limits.status, matrix

    def _even(self) -> Floats:
        """Return the better one of the first mechanisms, whose reports are equally likely."""
        return max((rows / rows.sum(axis=0) for rows in self.begun), key=self.criterion.value)

    def _add(self, weights: Floats) -> float:
        """Add the sets with the largest reduced costs; return the largest one."""
        used = self.mixture.rows[self.mixture.support(weights)]
        known = used > used.mean(axis=1, keepdims=True)
        number = 2 * self.n_cells
        anywhere = self.rng.random((number, self.n_cells)) < self.rng.random((number, 1))
        sets, gains = best_sets(self.mixture, np.concatenate([known, anywhere]), self.drop)
        order = np.argsort(-gains, kind="stable")
        best = distinct_sets(sets[order[gains[order] > EQUAL]])[:number]
        self.mixture.add(set_rows(best, self.drop))
        return float(gains.max())


def balanced_sets(n_cells: int, eps: float) -> Booleans:
    """List sets that contain every cell, and nearly every pair of cells, equally often.

    The cells are residues modulo a prime, or some of them. Each set of a few is a union of
    *cyclotomic classes*, and all its translates are listed. Together they contain every pair of
    cells equally often if the squared sums of the roots of unity over the sets add up to the same
    at every frequency. There are as many frequencies as half of the classes, so that a local search
    among unions nearly succeeds.

    Shapes: returns (m, n_cells); m is at least n_cells.
    """
    number = max(1, min(_MOST_SETS, int(np.cbrt(_MOST_WORK)) // n_cells - 1))
    most_classes = int(min(_CLASSES_A_SET * (1.0 + np.exp(eps)), math.isqrt(_MOST_UNIONS)))
    best, circle = np.inf, np.zeros((0, n_cells), dtype=bool)
    for prime in range(max(n_cells, 3), n_cells + n_cells // 8 + 10):
        if not all(prime % divisor for divisor in range(2, math.isqrt(prime) + 1)):
            continue
        powers = _powers(prime)
        for n_classes in range(2, min(most_classes, prime - 1) + 1, 2):
            size, rest = divmod(prime - 1, n_classes)
            if rest or size % 2 == 0:  # minus a residue would be in the same class
                continue
            loss, unions = _flat_unions(powers.reshape(size, n_classes), eps, number)
            if loss < best:
                best, circle = loss, np.zeros((number, prime), dtype=bool)
                circle[:, powers] = np.tile(unions, size)
    turned = (np.arange(n_cells) + np.arange(circle.shape[1])[:, None]) % circle.shape[1]
    return circle[:, turned].reshape(-1, n_cells)


def _powers(prime: int) -> Indices:
    """List all residues but 0 as the powers of one of them, (prime - 1,)."""
    for root in range(2, prime):
        powers = [1]
        while (power := powers[-1] * root % prime) != 1:
            powers.append(power)
        if len(powers) == prime - 1:
            break
    return np.array(powers)


def _flat_unions(classes: Indices, eps: float, number: int) -> tuple[float, Booleans]:
    """Search unions of classes whose translates distinguish all cells equally well.

    Shapes: `classes` (size, n), in columns. Returns the mean variance, up to a factor, and the
    unions, (number, n).
    """
    size, n = classes.shape
    prime, more, rng = size * n + 1, np.expm1(eps), np.random.default_rng(0)
    sums = np.exp(2j * np.pi / prime * classes).sum(axis=0)
    sums = sums[(np.arange(n)[:, None] + np.arange(n // 2)) % n]  # of each class and frequency
    unions = rng.random((_MOST_UNIONS // n**2, number, n)) < 1.0 / (2.0 + more)
    losses, rising = np.full(len(unions), np.inf), np.arange(len(unions))
    while len(rising):
        here = unions[rising]
        step = np.where(here, -1.0, 1.0)[..., None]
        along = (here @ sums)[:, :, None]
        mass = 1.0 + more * size / prime * here.sum(axis=2)[:, :, None]
        new_mass = mass + more * size / prime * step[..., 0]
        own = np.abs(along) ** 2 / mass[..., None]
        told = np.abs(along + step * sums) ** 2 / new_mass[..., None] - own
        told += own.sum(axis=1, keepdims=True)
        whole = new_mass - mass + mass.sum(axis=1, keepdims=True)
        reached = whole * (prime / np.maximum(told, EQUAL)).mean(axis=3)
        place = reached.reshape(len(rising), -1).argmin(axis=1)
        reached = reached.reshape(len(rising), -1)[np.arange(len(rising)), place]
        better = reached < losses[rising] * (1.0 - EQUAL)
        rising, place = rising[better], place[better]
        losses[rising] = reached[better]
        unions.reshape(len(unions), -1)[rising, place] ^= True
    return float(losses.min()), unions[losses.argmin()]


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
        better = reached[place, cell] > gains[rising] + EQUAL
        rising, cell, place = rising[better], cell[better], place[better]
        gains[rising] = reached[place, cell]
        worth[rising], mass[rising] = new_worth[place, cell], new_mass[place, cell]
        cost[rising] = new_cost[place, cell]
        along[rising] += step[place, cell, None] * price[cell]
        sets[rising, cell] ^= True
    return sets, gains
