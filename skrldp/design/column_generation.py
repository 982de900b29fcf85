r"""PolyOpt by column generation: good rows are found one after the other.

The best mechanism is :math:`\max \sum_v \theta_v \mu(v)` over :math:`\theta \ge 0` with
:math:`\sum_v \theta_v v = 1`, where v runs over the private rows (Entropy Theorem 3). A linear
program over the rows known so far gives dual variables λ; a new row is worth having if its
*reduced cost* :math:`\mu(v) - \lambda \cdot v` is positive. That function is convex, so a row
that maximises its linearisation :math:`(\nabla\mu(v_0) - \lambda) \cdot v` is at least as good as
:math:`v_0`. Repeating this, the *linearised ascent*, ends at a local maximum, and many different
starts make it a good one.
"""

from collections.abc import Callable, Sequence

import numpy as np

from skrldp._typing import Floats
from skrldp.design.central_path import RowPaths
from skrldp.design.closed_form import closed_forms
from skrldp.design.cone import PrivacyCone, is_polyhedral
from skrldp.design.constraint_blocks import path_blocks
from skrldp.design.criteria import Criterion, Information, Mixture, Optimum
from skrldp.design.limits import LITTLE, MOST_ROUNDS, SPREAD, TIGHT, TOL, Limits, ended_by
from skrldp.design.newton_system import Block
from skrldp.design.programs import LEAST_GAIN
from skrldp.design.solution import ObjectiveBound, Solution
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirements, repair

# Gaps, in units of the range of a row's slopes: from the first on the slopes follow the row, as
# they do from program to program in other ascents; at the second an ascent ends. Twice as much
# loses .1 % at most.
_FOLLOW, _END = 3e-3, 1e-5
# A batch goes on while fewer than this part of its rows have come so far: some are slow. At half of
# the way to all it goes on for longer.
_MOST = 0.9


def ascend_along_paths(
    slopes: Floats,
    blocks: list[Block],
    limits: Limits,
    *,
    slopes_at: Callable[[Floats], Floats] | None = None,
    end: float = _END,
) -> Floats:
    """Ascend a convex function of rows, from many slopes.

    Where a way down the central path goes is decided by its first slopes; once it is near the
    boundary, the slopes are those at the row itself, if a function gives them.

    Shapes: `slopes` (m, a). Returns (m, a): rows of unit sum. They are private up to errors of the
    paths.
    """
    paths = RowPaths(slopes, blocks, workers=limits.workers)
    rows, unit, follow = paths.rows, np.ptp(slopes, axis=1), np.zeros(len(slopes), dtype=bool)
    for _ in range(MOST_ROUNDS):
        going = paths.advance(end * unit)
        limits.count()
        rows = np.maximum(paths.rows, np.finfo(float).tiny)
        rows /= rows.sum(axis=1, keepdims=True)
        if not going or limits.met:
            break
        follow |= paths.gaps <= _FOLLOW * unit
        if np.mean(paths.gaps <= 2.0 * end * unit) > _MOST:
            break
        if slopes_at is not None and follow.any():
            slopes = np.where(follow[:, None], slopes_at(rows), slopes)
            unit = np.ptp(slopes, axis=1)
            paths.set_slopes(slopes)
    return rows


# Starts of each kind and round. Twice as many gain up to .1 % at 10 to 24 cells, in half as much
# time again (benchmarks/bench_solvers.py).
_STARTS = 18
# The search ends when this many rounds have gained less than a little, relatively. Twice as many
# rounds gain .04 % at 24 cells in 1.8 times the time.
_ROUNDS = 2
# Decimals in which equal rows agree. With twice as many, rounding parts them.
SAME_DIGITS = 9
# Starts and first directions, random ones among them, are scaled by the root of a cell's
# probability, and of so much more for rare cells, in units of the uniform distribution's. Twice
# as much loses .1 % at most.
_RARE_CELLS = 1e-3
# Parameter of a start anywhere: most entries are near 0. Twice as much loses .1 % at most.
_DIRICHLET = 0.3


def generate_columns(
    joint: JointDistribution,
    requirements: Requirements,
    *,
    limits: Limits,
    criterion: Criterion | None = None,
    first: Sequence[Floats] = (),
    known: list[Floats] | None = None,
    callback: Callable[[float], None] = lambda value: None,
    bound: ObjectiveBound | None = None,
) -> Solution:
    """Maximise a criterion over private mechanisms.

    Shapes: `first` (m, a); `known` (m, a). Returns Solution: its matrix is private up to the
    tolerance of a linear program.
    """
    public = requirements.fold(joint.probabilities)
    criterion = criterion or Information(public)
    known = closed_forms(joint, requirements) if known is None else known
    bound = bound or criterion.at(public).bound(joint, requirements)
    search = _Search(requirements, criterion, limits, known, first, callback)
    status, matrix = search.run()
    left = ended_by(status, "the search for better rows")
    n_rows = len(search.mixture.rows)
    return Solution(
        status=status,
        solver="columns",
        objective=criterion.at(public).stated(matrix),
        bound=bound.value,
        bound_by=bound.by,
        message=f"{left}{n_rows} rows generated.",
        matrix=matrix,
    )


class _Search:
    """The rows known so far, their mixture, and ways to find more."""

    def __init__(
        self,
        requirements: Requirements,
        criterion: Criterion,
        limits: Limits,
        known: list[Floats],
        first: Sequence[Floats],
        callback: Callable[[float], None],
    ) -> None:
        self.requirements, self.limits = requirements, limits
        self.criterion, self.callback = criterion, callback
        self.distribution = criterion.distribution
        self.begun = (*known, *first)
        self.mixed: Floats | None = None  # the best mechanism so far, and its value
        self.value = -np.inf
        self.shape = requirements.shape
        self.rng = np.random.default_rng(0)  # the design is deterministic
        # Linear programs find rows where there are no paths to ascend along.
        self.blocks = path_blocks(requirements)
        self.cone = PrivacyCone(requirements, limits=limits) if self.blocks is None else None
        # A polyhedral cone has more local maxima: 1e-3 more information at 8 cells.
        self.turn = 2 * _ROUNDS if is_polyhedral(requirements) else _ROUNDS
        self.scale = np.sqrt(self.distribution + _RARE_CELLS / len(self.distribution))
        self.mixture = criterion.mixture()
        # Their rows are there, so that the result is never worse than the closed forms.
        ones = np.ones((1, requirements.n_cells))
        self.mixture.add(requirements.shift(np.concatenate([ones, *known])))
        if first:
            self.mixture.add(requirements.shift(np.concatenate(first)))
        if not self.limits.met:
            self.mixture.add(self._highest(self._first_directions()))

    def run(self) -> tuple[str, Floats]:
        """Search; return the status and the mechanism."""
        try:
            status = self._search()
        except TimeoutError:
            status = "time_limit"
        more = self.limits.overtime
        try:
            return status, self.mixture.mechanism(self._mix(more).weights)
        except TimeoutError:
            return "time_limit", self._best()

    def _best(self) -> Floats:
        """Return the best mechanism that was mixed in time, or given."""
        if self.mixed is not None:
            return self.mixed
        begun = [repair(matrix, self.requirements) for matrix in self.begun]
        return max(begun, key=self.criterion.value)

    def _mix(self, more: float = 0.0) -> Optimum:
        """Find the best weights of the rows known so far, and keep the best mechanism."""
        left = self.limits.left
        optimum = self.mixture.solve(None if left is None else left + more)
        if optimum.value >= self.value:
            self.value, self.mixed = optimum.value, self.mixture.supported(optimum.weights)
        return optimum

    def _search(self) -> str:
        """Ascend from the rows in use and from everywhere, until little is gained."""
        values: list[float] = []
        while True:
            weights, _, value = self._mix()
            values.append(value)
            self.callback(value)
            before = values[-1 - self.turn] if len(values) > self.turn else -np.inf
            if value - before <= TOL * abs(value):
                return self._refine()
            if self.limits.met:
                return self.limits.status
            support = self.mixture.rows[self.mixture.support(weights)]
            starts = self._starts(support)
            if self.cone is not None:
                self._keep(self._ascend(starts, TIGHT), TIGHT)
            else:
                random = self.rng.normal(size=(_STARTS, support.shape[1])) * self.scale
                slopes = np.concatenate([self.mixture.slopes(starts), random])
                self._keep(self._ascend_along_paths(slopes, self.mixture), TIGHT)

    def _ascend_along_paths(
        self, slopes: Floats, mixture: Mixture | None = None, **options: float
    ) -> Floats:
        assert self.blocks is not None
        slopes_at = None if mixture is None else mixture.slopes
        rows = ascend_along_paths(slopes, self.blocks, self.limits, slopes_at=slopes_at, **options)
        return self.requirements.shift(rows)

    def _highest(self, directions: Floats) -> Floats:
        """Maximise linear functions."""
        if self.cone is None:
            return self._ascend_along_paths(directions)
        return self.cone.maximise(directions)

    def _keep(self, rows: Floats, least: float) -> None:
        """Add the rows that are worth having."""
        reduced_costs = self.mixture.reduced_costs(rows)
        good = reduced_costs > least
        if good.any():
            self.mixture.add(_different(rows[good], reduced_costs[good]))

    def _refine(self) -> str:
        """Push the rows in use to the very boundary."""
        if self.cone is not None:
            self.cone.tolerance = TIGHT
        before = -np.inf
        for _ in range(MOST_ROUNDS):
            if self.limits.met:
                return self.limits.status
            weights, _, value = self._mix()
            if value - before <= LITTLE * abs(value):
                break
            before = value
            support = self.mixture.rows[self.mixture.support(weights)]
            if self.cone is None:
                slopes = self.mixture.slopes(support)
                rows = self._ascend_along_paths(slopes, self.mixture, end=TIGHT)
            else:
                rows = self._ascend(support, LEAST_GAIN)
            self._keep(rows, LEAST_GAIN)
        return "converged"

    def _ascend(self, starts: Floats, least: float) -> Floats:
        """Maximise linearisations by turns, until the reduced costs rise by less than the least."""
        rows = starts / starts.sum(axis=1, keepdims=True)
        reduced_costs = np.full(len(rows), -np.inf)
        rising = np.arange(len(rows))
        assert self.cone is not None
        for _ in range(MOST_ROUNDS):
            higher = self.cone.maximise(self.mixture.slopes(rows[rising]))
            reached = self.mixture.reduced_costs(higher)
            better = reached > reduced_costs[rising] + least
            rising = rising[better]
            rows[rising], reduced_costs[rising] = higher[better], reached[better]
            if len(rising) == 0 or self.limits.met:
                break
        return rows[np.isfinite(reduced_costs)]

    def _first_directions(self) -> Floats:
        a = len(self.distribution)
        units = np.eye(a) * self.scale
        random = self.rng.normal(size=(2 * a, a)) * self.scale
        return np.concatenate([units, -units, random])

    def _starts(self, support: Floats) -> Floats:
        """Rows to ascend from; each kind finds maxima that the others miss."""
        rng, (a1, a2), a = self.rng, self.shape, len(self.distribution)
        some = support[rng.integers(len(support), size=_STARTS)]
        pick = rng.integers(len(support), size=(_STARTS, a1))
        other = some.copy()  # one entry made rare or frequent
        place = np.arange(_STARTS), rng.integers(a, size=_STARTS)
        other[place] *= rng.choice([_RARE_CELLS, 1.0 / _RARE_CELLS], size=_STARTS)
        kinds = [
            support,  # the rows in use, with the new duals
            some * np.exp(rng.normal(scale=SPREAD, size=some.shape)),  # perturbed
            # put together, each secret's part from another row
            support.reshape(-1, a1, a2)[pick, np.arange(a1)].reshape(_STARTS, a),
            other,
            rng.dirichlet(np.full(a, _DIRICHLET), size=_STARTS),  # anywhere
        ]
        return np.maximum(np.concatenate(kinds), np.finfo(float).tiny)


def _different(rows: Floats, reduced_costs: Floats) -> Floats:
    """Return the most profitable rows, each once."""
    order = np.argsort(-reduced_costs, kind="stable")
    _, first = np.unique(np.round(rows[order], SAME_DIGITS), axis=0, return_index=True)
    return rows[order][np.sort(first)]
