r"""PolyOpt by column generation: good rows are found one after the other.

The best mechanism is :math:`\max \sum_v \theta_v \mu(v)` over :math:`\theta \ge 0` with
:math:`\sum_v \theta_v v = 1`, where v runs over the private rows (Entropy Theorem 3). A linear
program over the rows known so far gives dual variables λ; a new row is worth having if its reduced
profit :math:`\mu(v) - \lambda \cdot v` is positive. That function is convex, so a row that
maximises its linearisation :math:`(\nabla\mu(v_0) - \lambda) \cdot v` is at least as good as
:math:`v_0`. Repeating this, a *climb*, ends at a local maximum, and many different starts make it a
good one. Where all extreme rays of the cone are quickly listed, the best of the list is better.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from skrldp._typing import Floats
from skrldp.design.closed_form import closed_forms
from skrldp.design.criteria import Criterion, Information, Mixture, Optimum
from skrldp.design.programs import LEAST_GAIN
from skrldp.design.rows._choose_cone import SEARCH_TOLERANCES, Cones
from skrldp.design.rows._climbs import CLIMBED, climb_paths
from skrldp.design.rows._facets import is_polyhedral
from skrldp.design.rows._product_cone import ProductCone
from skrldp.design.run import Limits, ObjectiveBound, Solution, ended_by
from skrldp.joint import JointDistribution
from skrldp.privacy import Requirements, repair

__all__ = ["generate_columns"]


# Chosen by hand. Doubled one at a time (benchmarks/bench_constants.py: tables of 4, 6 and 18 cells)
# they change the information by at most 2e-5 either way. Only the batch costs time: 1.7 times as
# much.

# When a search ends: rounds over which the gain is judged, and what it must exceed, relatively. The
# rounds are twice and once the kinds of start. A polyhedral cone is cheap to search and has many
# local maxima, a curved one is dear and smooth.
_KINDS = 6
_KINDS_OF_STARTS = (0, 1, 2, 4, 5)  # without random directions, which are no rows
_POLYHEDRAL, _BALL = (12, 5e-6), (6, 5e-5)
# The last rounds: the rows in use are pushed to within this tolerance of the boundary, until that
# gains less than this, relatively.
_LAST_TOLERANCE, _LAST_ROUNDS, _LAST_GAIN = 1e-8, 5, 2e-6
_LAST_MIXTURE = 0.2  # part of the time gone that the last mixture may take beyond the limit
_LAST_GAIN_OF_ALL = 1e-5  # or than this, of all that could be told
_LAST_END = 1e-8  # gap of a path there, in units of the range of its slopes
# More rows than cells, which no mixture by a linear program has, are pushed by paths, all at once:
# on 2 x 10 cells hundreds of rows of an A-optimal mixture took 10,000 linear programs, eight times
# as long, for .08 % of the variance. Linear programs come nearer to the boundary: for the 30 rows
# of an informative mixture, by up to .07 % of the information.

# Climbs along central paths: of each kind so many at once. They end when so many rounds have gained
# less than the second number, relatively, or than the third of all that could be told.
_PATHS = 12
_PATH_ROUNDS, _PATH_GAIN, _PATH_GAIN_OF_ALL = 2, 1e-4, 3e-5
# Where a cone is curved, linear programs come no nearer to its boundary than paths, which end 1e-3
# to 1e-2 short of it. Where it is large, half as many rounds without gain end the climbs: at 6x15
# cells with .6128 of H(X) after 38 s, in place of .6145 after 78 s.
# Of larger curved cones the first directions are those of single cells alone, and there are no
# climbs where less than this part of all is told: on 4x8, 4x10, 8x8 and 4x18 cells with 20 to 30
# records random directions were worth 1e-3 of the information; long climbs up to 6e-2, 8e-3 nats.
_MOST_SMALL, _LITTLE = 30, 0.1

# Climbs.
_MOST_CLIMB = 6  # linear programs for one
_LEAST_PROFIT = 1e-8  # nats, of a row of unit sum, that is kept while searching
_LEAST_RISE = 0.1  # of the least profit: a climb that rises by less ends
# Climbs at once: on small tables twenty, on large ones few, so that time is well kept. Without
# linear programs they are so cheap that hundreds begin at once.
_BATCH_CELLS, _BATCH = 600, (4, 20)
_PRODUCT_BATCH = 150
_MOST_KEPT = 40  # rows of one batch, or of one pass over the list, that are kept
_SAME_DIGITS = 9  # decimals in which equal rows agree

# Starts and first directions, random ones among them, are scaled by the root of a cell's
# probability, and of so much more for rare cells, in units of the uniform distribution's.
_RARE_CELLS = 1e-3
_PERTURBATIONS = (0.3, 1.0, 2.0)  # standard deviations of the logarithms of a perturbation
_FACTORS = (1e-3, 1e3)  # for one entry
_DIRICHLET = 0.3  # parameter of a start anywhere: most entries are near 0
_LEAST_ENTRY = 1e-300  # so that logarithms exist


def generate_columns(
    joint: JointDistribution,
    requirements: Requirements,
    *,
    limits: Limits,
    criterion: Criterion | None = None,
    first: Sequence[Floats] = (),
    known: list[Floats] | None = None,
    cones: Cones | None = None,
    callback: Callable[[Floats], None] | None = None,
    bound: ObjectiveBound | None = None,
) -> Solution:
    """Maximise a criterion over private mechanisms.

    Shapes: `first` (m, a); `known` (m, a). Returns Solution: its matrix is private up to the
    tolerance of a linear program.
    """
    public = requirements.fold(joint.probabilities)
    cones = cones or Cones(requirements, limits)
    criterion = criterion or Information(public)
    known = closed_forms(joint, requirements) if known is None else known
    bound = bound or criterion.at(public).bound(joint, requirements)
    search = _Search(cones, criterion, known, first, callback)
    status, matrix = search.run()
    left = ended_by(status, "the search for better rows")
    n_rows = len(search.mixture.rows)
    return Solution(
        status=status,
        solver="columns",
        objective=criterion.at(public).stated(matrix),
        bound=bound.value,
        bound_by=bound.by,
        iterations=search.rounds,
        seconds=limits.elapsed,
        message=f"{left}{n_rows} rows generated, {search.cone.solves} linear programs.",
        matrix=matrix,
    )


class _Search:
    """The rows known so far, their mixture, and ways to find more."""

    def __init__(
        self,
        cones: Cones,
        criterion: Criterion,
        known: list[Floats],
        first: Sequence[Floats] = (),
        callback: Callable[[Floats], None] | None = None,
    ) -> None:
        requirements, self.limits = cones.requirements, cones.limits
        self.criterion, self.callback = criterion, callback
        self.distribution = criterion.distribution
        self.begun = (*known, *first)
        self.mixed: Floats | None = None  # the best mechanism so far, and its value
        self.value = -np.inf
        self.shape = requirements.shape
        self.cone = cones.best
        self.rng = np.random.default_rng(0)  # the design is deterministic
        self.rounds = 0
        self.polyhedral = is_polyhedral(requirements)
        self.batch = int(np.clip(_BATCH_CELLS // len(self.distribution), *_BATCH))
        if isinstance(self.cone, ProductCone):
            self.batch = _PRODUCT_BATCH
        self.blocks, self.by_paths = cones.blocks, cones.by_paths
        self.turn = _PATH_ROUNDS // 2 if cones.large else _PATH_ROUNDS
        self.scale = np.sqrt(self.distribution + _RARE_CELLS / len(self.distribution))
        self.large = len(self.distribution) > _MOST_SMALL
        self.everything = criterion.scale
        self.mixture = criterion.mixture()
        # Their rows are there, so that the result is never worse than the closed forms.
        ones = np.ones((1, requirements.n_cells))
        self.mixture.add(requirements.lift(np.concatenate([ones, *known])))
        if first:
            self.mixture.add(self.cone.inside(np.concatenate(first)))
        for directions in self._first_directions():
            if self.limits.met:
                break
            self.mixture.add(self._highest(directions))

    def run(self) -> tuple[str, Floats]:
        """Search; return the status and the mechanism."""
        try:
            status = self._search()
        except TimeoutError:
            status = "time_limit"
        more = _LAST_MIXTURE * self.limits.elapsed  # for the rows that were found last
        try:
            return status, self.mixture.mechanism(self._mix(more).weights)
        except TimeoutError:
            return "time_limit", self._best()

    def _best(self) -> Floats:
        """Return the best mechanism that was mixed in time, or given."""
        if self.mixed is not None:
            return self.mixed
        begun = [repair(matrix, self.cone.requirements) for matrix in self.begun]
        return max(begun, key=self.criterion.value)

    def _mix(self, more: float = 0.0) -> Optimum:
        """Find the best weights of the rows known so far, and keep the best mechanism."""
        left = self.limits.left
        optimum = self.mixture.solve(None if left is None else left + more)
        if optimum.value >= self.value:
            self.value, self.mixed = optimum.value, self.mixture.supported(optimum.weights)
        return optimum

    def _search(self) -> str:
        """Search ever closer to the boundary, each time until little is gained."""
        cone = self.cone
        if isinstance(cone, ProductCone) and cone.listable:
            return self._exhaust(cone.rows())
        if self.blocks is not None:
            return self._climb_along_paths()
        turn, least = _POLYHEDRAL if self.polyhedral else _BALL
        for tolerance in (0.0,) if isinstance(cone, ProductCone) else SEARCH_TOLERANCES:
            cone.tolerance = tolerance
            values: list[float] = []
            while len(values) <= turn or values[-1] - values[-1 - turn] > least * abs(values[-1]):
                if self.limits.met:
                    return self.limits.status
                weights, _, value = self._mix()
                values.append(value)
                if self.callback is not None:
                    self.callback(self.mixture.rows * weights[:, None])
                support = self.mixture.rows[self.mixture.support(weights)]
                starts = self._starts(self.rounds % _KINDS, support, self.batch)
                self._climb_and_keep(starts, _LEAST_PROFIT)
                self.rounds += 1
        return self._refine()

    def _climb_along_paths(self) -> str:
        """Climb along paths, from the rows in use and from everywhere."""
        values: list[float] = []
        while True:
            weights, _, value = self._mix()
            values.append(value)
            if self.callback is not None:
                self.callback(self.mixture.rows * weights[:, None])
            least = max(_PATH_GAIN * abs(value), _PATH_GAIN_OF_ALL * self.everything)
            little = 0.0 < value < _LITTLE * self.everything
            if (little and self.large and self.by_paths) or (
                len(values) > self.turn and value - values[-1 - self.turn] <= least
            ):
                return self._refine()
            if self.limits.met:
                return self.limits.status
            support = self.mixture.rows[self.mixture.support(weights)]
            starts = [self._starts(kind, support, _PATHS) for kind in _KINDS_OF_STARTS]
            random = self.rng.normal(size=(_PATHS, support.shape[1])) * self.scale
            slopes = np.concatenate([self.mixture.slopes(np.concatenate(starts)), random])
            self._keep(self._climb_paths(slopes, self.mixture), _LEAST_PROFIT)
            self.rounds += 1

    def _climb_paths(
        self, slopes: Floats, mixture: Mixture | None = None, end: float = CLIMBED
    ) -> Floats:
        assert self.blocks is not None
        rows = climb_paths(slopes, self.blocks, self.limits, mixture=mixture, end=end)
        return self.cone.inside(rows)

    def _highest(self, directions: Floats) -> Floats:
        """Maximise linear functions, by linear programs unless paths are better."""
        return self._climb_paths(directions) if self.by_paths else self.cone.maximise(directions)

    def _keep(self, rows: Floats, least: float) -> None:
        """Add the rows that are worth having."""
        profits = self.mixture.profits(rows)
        good = profits > least
        if good.any():
            self.mixture.add(_different(rows[good], profits[good]))

    def _exhaust(self, every: Floats) -> str:
        """Take the most profitable of all extreme rays until none has a profit."""
        new, dropped = np.ones(len(every), dtype=bool), self.mixture.dropped
        while not self.limits.met:
            self.rounds += 1
            self.limits.count()
            self._mix()
            profits = np.where(new, self.mixture.profits(every), -np.inf)
            best = np.argsort(-profits)[:_MOST_KEPT]
            best = best[profits[best] > LEAST_GAIN]
            if len(best) == 0:
                return "converged"
            self.mixture.add(self.cone.inside(every[best]))
            if self.mixture.dropped > dropped:
                dropped, new[:] = self.mixture.dropped, True
            new[best] = False
        return self.limits.status

    def _refine(self) -> str:
        """Push the rows in use to the very boundary."""
        self.cone.tolerance = _LAST_TOLERANCE
        before = -np.inf
        for _ in range(_LAST_ROUNDS):
            if self.limits.met:
                return self.limits.status
            weights, _, value = self._mix()
            if value - before <= max(_LAST_GAIN * abs(value), _LAST_GAIN_OF_ALL * self.everything):
                break
            before = value
            support = self.mixture.rows[self.mixture.support(weights)]
            many = self.blocks is not None and len(support) > len(self.distribution)
            if self.by_paths or many:
                slopes = self.mixture.slopes(support)
                self._keep(self._climb_paths(slopes, self.mixture, _LAST_END), LEAST_GAIN)
            else:
                self._climb_and_keep(support, LEAST_GAIN)
        return "converged"

    def _climb_and_keep(self, starts: Floats, least: float) -> float:
        """Climb from each start; return the best reduced profit among the rows kept, or 0."""
        best = 0.0
        for i in range(0, len(starts), self.batch):
            if self.limits.met:
                break
            rows, profits = self._climb(starts[i : i + self.batch], _LEAST_RISE * least)
            good = profits > least
            if good.any():
                self.mixture.add(_different(rows[good], profits[good]))
                best = max(best, float(profits.max()))
        return best

    def _climb(self, starts: Floats, least: float) -> tuple[Floats, Floats]:
        rows = starts / starts.sum(axis=1, keepdims=True)
        profits = np.full(len(rows), -np.inf)
        climbing = np.arange(len(rows))
        for _ in range(_MOST_CLIMB):
            higher = self.cone.maximise(self.mixture.slopes(rows[climbing]))
            reached = self.mixture.profits(higher)
            better = reached > profits[climbing] + least
            climbing = climbing[better]
            rows[climbing], profits[climbing] = higher[better], reached[better]
            if len(climbing) == 0 or self.limits.met:
                break
        return rows, profits

    def _first_directions(self) -> Iterator[Floats]:
        a = len(self.distribution)
        units = np.eye(a) * self.scale
        random = self.rng.normal(size=(2 * a, a)) * self.scale
        directions = np.concatenate([units, -units, random])
        if self.by_paths:  # paths are the quicker the more there are
            yield directions[: 2 * a] if self.large else directions
            return
        for i in range(0, len(directions), self.batch):
            yield directions[i : i + self.batch]

    def _starts(self, kind: int, support: Floats, count: int) -> Floats:
        """Rows to climb from; each kind finds maxima that the others miss, so they take turns."""
        rng, (a1, a2), a = self.rng, self.shape, len(self.distribution)
        some = support[rng.integers(len(support), size=count)]
        if kind == 0:  # the rows in use, with the new duals
            starts = support
        elif kind == 1:  # perturbed
            size = rng.choice(_PERTURBATIONS, size=(count, 1))
            starts = some * np.exp(rng.normal(size=(count, a)) * size)
        elif kind == 2:  # put together, each secret's part from another row
            pick = rng.integers(len(support), size=(count, a1))
            starts = support.reshape(-1, a1, a2)[pick, np.arange(a1)].reshape(count, a)
        elif kind == 3:  # vertices in random directions
            starts = self.cone.maximise(rng.normal(size=(count, a)) * self.scale)
        elif kind == 4:  # one entry made rare or frequent
            starts = some
            cell = rng.integers(a, size=count)
            starts[np.arange(count), cell] *= rng.choice(_FACTORS, size=count)
        else:  # anywhere
            starts = rng.dirichlet(np.full(a, _DIRICHLET), size=count)
        return np.maximum(starts, _LEAST_ENTRY)


def _different(rows: Floats, profits: Floats) -> Floats:
    """Return the most profitable rows, each once."""
    order = np.argsort(-profits, kind="stable")
    _, first = np.unique(np.round(rows[order], _SAME_DIGITS), axis=0, return_index=True)
    return rows[order][np.sort(first)[:_MOST_KEPT]]
