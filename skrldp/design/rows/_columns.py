r"""PolyOpt by column generation: good rows are found one after the other.

The best mechanism is :math:`\max \sum_v \theta_v \mu(v)` over :math:`\theta \ge 0` with
:math:`\sum_v \theta_v v = 1`, where v runs over the private rows (Entropy Theorem 3). A linear
program over the rows known so far gives prices λ; a new row is worth having if
:math:`\mu(v) - \lambda \cdot v > 0`. That function is convex, so a row that maximises its
linearisation :math:`(\nabla\mu(v_0) - \lambda) \cdot v` is at least as good as :math:`v_0`:
repeating this climbs to a local maximum, and many different starts make it a good one. Where all
extreme rays of the cone are quickly listed, the best of the list is a better answer still.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from skrldp._highs import LinearProgram
from skrldp._typing import Floats
from skrldp.design._run import Deadline, Solution
from skrldp.design.closed_form import closed_forms
from skrldp.design.rows._cone import CompactCone, PrivacyCone
from skrldp.design.rows._facets import is_polyhedral
from skrldp.design.rows._product_cone import ProductCone, product_cone
from skrldp.information import (
    entropy,
    mutual_information,
    mutual_information_bound,
    row_information,
    row_information_gradient,
)
from skrldp.joint import JointDistribution
from skrldp.region import Region

__all__ = ["generate_columns", "searches_exact_cone"]


# How far a row of unit sum may have to be lifted into the cone: while searching, and at the end.
_SEARCH = (1e-3, 1e-5)
_POLISH = 1e-8
# Turns of starts over which the gain is judged, and the relative gain that ends a search. A
# polyhedral cone is cheap to search and rugged, a curved one dear and smooth.
_POLYHEDRAL, _BALL = (2, 5e-6), (1, 5e-5)
# Cells times pairs of secrets up to which the exact cone is searched; beyond, the complete program
# of a smaller cone.
_CURVED = 12_000
_PATIENCE = 6  # rounds over which the gain is judged: one of each kind of start
_CLIMB = 6  # linear programs for one climb
# Without linear programs, climbs are so cheap that hundreds begin at once; the best are kept.
_PRODUCT_BATCH, _MOST_KEPT = 150, 40
# Points beyond which linear programs are as quick; a list of all extreme rays may be worth more.
_MOST_POINTS, _MOST_POINTS_LISTED, _MOST_LISTED_CELLS = 12_000, 100_000, 16
_LEAST_PROFIT = 1e-10  # nats, of a row of unit sum
_MOST_ENTRIES = 8_000_000  # of a list of all extreme rays


def searches_exact_cone(region: Region, eps: float) -> bool:
    """Say whether columns come from the exact cone; if not, they do from a smaller one.

    Parameters
    ----------
    region : Region
        Conditionals that privacy must hold for.
    eps : float
        Privacy parameter, in nats.

    Returns
    -------
    bool
    """
    return _is_small(region) or _product(region, eps, Deadline(None)) is not None


def _is_small(region: Region) -> bool:
    return math.prod(region.row_shape) * len(region.pairs[0]) <= _CURVED


def _product(region: Region, eps: float, deadline: Deadline) -> ProductCone | None:
    listed = math.prod(region.row_shape) <= _MOST_LISTED_CELLS
    return product_cone(region, eps, deadline, _MOST_POINTS_LISTED if listed else _MOST_POINTS)


def _cone(
    region: Region, eps: float, deadline: Deadline
) -> PrivacyCone | CompactCone | ProductCone:
    product = _product(region, eps, deadline)
    if product is not None:
        return product
    if _is_small(region):
        return PrivacyCone(region, eps, _SEARCH[0], deadline)
    return CompactCone(region, eps, deadline)


def generate_columns(
    joint: JointDistribution,
    region: Region,
    eps: float,
    *,
    deadline: Deadline,
    law: Floats | None = None,
    first: Floats | None = None,
    patience: int = _PATIENCE,
    look: Callable[[Floats], None] = lambda matrix: None,
) -> Solution:
    """Maximise the mutual information over mechanisms private for the region.

    Parameters
    ----------
    joint : JointDistribution
        The public law.
    region : Region
        Conditionals that privacy must hold for.
    eps : float
        Privacy parameter, in nats.
    deadline : Deadline
        When to stop; the best mechanism found by then is returned.
    law : array, optional
        Law of a row's cells by which information counts; None is the public one.
    first : array of shape (m, a), optional
        Private rows to begin with.
    patience : int
        Rounds over which the gain is judged before the search ends.
    look : callable
        Is shown the mechanism of each round.

    Returns
    -------
    Solution
        Its matrix is private up to the tolerance of a linear program.
    """
    public = region.fold(joint.probabilities)
    search = _Search(joint, region, eps, deadline, public if law is None else law, first)
    status = search.run(patience, look)
    matrix = search.mechanism()
    return Solution(
        status=status,
        solver="columns",
        objective=mutual_information(matrix, public),
        bound=min(mutual_information_bound(joint.probabilities, eps), entropy(public)),
        iterations=search.rounds,
        seconds=deadline.elapsed,
        message=f"{len(search.rows)} rows generated, {search.cone.solves} linear programs.",
        matrix=matrix,
    )


class _Search:
    """The rows known so far, their master program, and ways to find more."""

    def __init__(
        self,
        joint: JointDistribution,
        region: Region,
        eps: float,
        deadline: Deadline,
        law: Floats,
        first: Floats | None,
    ) -> None:
        self.law = law
        self.shape = region.row_shape
        self.deadline = deadline
        self.cone = _cone(region, eps, deadline)
        self.rng = np.random.default_rng(0)  # the design is deterministic
        self.rounds = 0
        self.polyhedral = is_polyhedral(region)
        # Small tables: twenty climbs at once; large ones: few, so that time is well kept.
        self.batch = int(np.clip(600 // len(self.law), 4, 20))
        if isinstance(self.cone, ProductCone):
            self.batch = _PRODUCT_BATCH
        self.scale = np.sqrt(self.law + 1e-3 / len(self.law))
        self.rows = np.zeros((0, len(self.law)))
        self.master = LinearProgram(np.zeros(0))
        self.master.add_rows(np.zeros((len(self.law), 0)), 1.0, 1.0)
        self._keep(_known_rows(joint, region, eps))
        if first is not None:
            self._keep(self.cone.inside(first))
        for directions in self._first_directions():
            if deadline.passed:
                break
            self._keep(self.cone.maximise(directions))

    def run(self, patience: int, look: Callable[[Floats], None]) -> str:
        """Search ever closer to the boundary, each time until little is gained."""
        cone = self.cone
        if isinstance(cone, ProductCone) and cone.size * len(self.law) <= _MOST_ENTRIES:
            return self._exhaust(cone.rows())
        turns, least = _POLYHEDRAL if self.polyhedral else _BALL
        turn = patience * turns
        for tolerance in (0.0,) if isinstance(self.cone, ProductCone) else _SEARCH:
            self.cone.tolerance = tolerance
            values: list[float] = []
            while len(values) <= turn or values[-1] - values[-1 - turn] > least * values[-1]:
                if self.deadline.passed:
                    return "time_limit"
                weights, prices, value = self.master.solve()
                values.append(value)
                used = weights > 1e-12
                look(self.rows[used] * weights[used, None])
                self._climb_and_keep(self._starts(self.rows[used]), prices, 1e-8)
                self.rounds += 1
        return self._polish()

    def mechanism(self) -> Floats:
        weights, _, _ = self.master.solve()
        used = weights > 1e-12
        return self.rows[used] * weights[used, None]

    def _exhaust(self, every: Floats) -> str:
        """Take the most profitable of all extreme rays until none has a profit."""
        worth = row_information(every, self.law)
        while not self.deadline.passed:
            self.rounds += 1
            _, prices, _ = self.master.solve()
            profits = worth - every @ prices
            best = np.argsort(-profits)[:_MOST_KEPT]
            best = best[profits[best] > _LEAST_PROFIT]
            if len(best) == 0:
                return "converged"
            self._keep(self.cone.inside(every[best]))
            worth[best] = -np.inf
        return "time_limit"

    def _polish(self) -> str:
        """Push the rows in use to the very boundary."""
        self.cone.tolerance = _POLISH
        for _ in range(10):
            if self.deadline.passed:
                return "time_limit"
            weights, prices, _ = self.master.solve()
            gain = self._climb_and_keep(self.rows[weights > 1e-12], prices, _LEAST_PROFIT)
            if gain == 0.0:
                break
        return "converged"

    def _keep(self, rows: Floats) -> None:
        self.master.add_columns(row_information(rows, self.law), rows)
        self.rows = np.concatenate([self.rows, rows])

    def _climb_and_keep(self, starts: Floats, prices: Floats, least: float) -> float:
        """Climb from each start; return the best reduced profit among the rows kept, or 0."""
        best = 0.0
        for i in range(0, len(starts), self.batch):
            if self.deadline.passed:
                break
            rows, profits = self._climb(starts[i : i + self.batch], prices, least / 10.0)
            good = profits > least
            if good.any():
                self._keep(_different(rows[good], profits[good]))
                best = max(best, float(profits.max()))
        return best

    def _climb(self, starts: Floats, prices: Floats, least: float) -> tuple[Floats, Floats]:
        rows = starts / starts.sum(axis=1, keepdims=True)
        profits = np.full(len(rows), -np.inf)
        climbing = np.arange(len(rows))
        for _ in range(_CLIMB):
            slopes = row_information_gradient(rows[climbing], self.law) - prices
            higher = self.cone.maximise(slopes)
            reached = row_information(higher, self.law) - higher @ prices
            better = reached > profits[climbing] + least
            climbing = climbing[better]
            rows[climbing], profits[climbing] = higher[better], reached[better]
            if len(climbing) == 0 or self.deadline.passed:
                break
        return rows, profits

    def _first_directions(self) -> Iterator[Floats]:
        a = len(self.law)
        units = np.eye(a) * self.scale
        random = self.rng.normal(size=(2 * a, a)) * self.scale
        directions = np.concatenate([units, -units, random])
        for i in range(0, len(directions), self.batch):
            yield directions[i : i + self.batch]

    def _starts(self, support: Floats) -> Floats:
        """Rows to climb from; each kind finds maxima that the others miss, so they take turns."""
        rng, (a1, a2), a = self.rng, self.shape, len(self.law)
        count = self.batch
        some = support[rng.integers(len(support), size=count)]
        kind = self.rounds % 6
        if kind == 0:  # the rows in use, under the new prices
            starts = support
        elif kind == 1:  # shaken
            size = rng.choice([0.3, 1.0, 2.0], size=(count, 1))
            starts = some * np.exp(rng.normal(size=(count, a)) * size)
        elif kind == 2:  # patched together, a row for each secret
            pick = rng.integers(len(support), size=(count, a1))
            starts = support.reshape(-1, a1, a2)[pick, np.arange(a1)].reshape(count, a)
        elif kind == 3:  # corners in random directions
            starts = self.cone.maximise(rng.normal(size=(count, a)) * self.scale)
        elif kind == 4:  # one entry made rare or frequent
            starts = some
            cell = rng.integers(a, size=count)
            starts[np.arange(count), cell] *= rng.choice([1e-3, 1e3], size=count)
        else:  # anywhere
            starts = rng.dirichlet(np.full(a, 0.3), size=count)
        return np.maximum(starts, 1e-300)


def _different(rows: Floats, profits: Floats) -> Floats:
    """Return the most profitable rows, each once."""
    order = np.argsort(-profits, kind="stable")
    _, first = np.unique(np.round(rows[order], 9), axis=0, return_index=True)
    return rows[order][np.sort(first)[:_MOST_KEPT]]


def _known_rows(joint: JointDistribution, region: Region, eps: float) -> Floats:
    """Rows of the closed forms, so that the result is never worse than they are."""
    ones = np.ones((1, math.prod(region.row_shape)))
    rows = np.concatenate([ones, *closed_forms(joint, region, eps)])
    return PrivacyCone(region, eps, 0.0).inside(rows)
