r"""Linear programs over whole mechanisms, with privacy constraints generated as needed.

The cheapest private mechanism minimises a linear cost, or the largest of many, over stochastic
matrices Q all of whose rows satisfy :math:`R_1 \cdot v_{s_1} \le e^\epsilon R_2 \cdot v_{s_2}` for
all conditionals of the region. Any finite number of these constraints, the *cuts*, defines a linear
program whose value is a lower bound. Its solution, once repaired, is a private mechanism whose cost
is an upper bound. The region's worst conditionals (:meth:`Region.worst`) are cuts that the solution
violates; they are added until the bounds meet. The first cuts come from a central path if there is
one (:mod:`skrldp.design.central_path`), which usually closes the gap by itself. RobustMSE is such a
program.
"""

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from skrldp._highs import LinearProgram
from skrldp._typing import Floats
from skrldp.design.central_path import CentralPath
from skrldp.design.limits import LIMITS, LITTLE, ROUNDING, TIGHT, Limits
from skrldp.design.newton_system import MOST_IN_HESSIANS
from skrldp.design.path_blocks import has_path, path_blocks
from skrldp.design.programs import Cuts, ExpectedCost, column_sums
from skrldp.design.solution import Solution
from skrldp.privacy.requirements import Requirements, repair


class CutProgram:
    """The linear program over stochastic matrices under the current cuts.

    A robust cost is an additional variable, which is at least the cost at each added distribution.

    Parameters
    ----------
    cost : ExpectedCost
        The cost to minimise.
    """

    def __init__(self, cost: ExpectedCost) -> None:
        self.cost = cost
        self.solves = 0
        b, a = cost.cost.shape
        self._scale = cost.scale
        self._distributions: list[Floats] = []  # of the robust cost
        self._distribution_rows: list[int] = []
        self._cut_rows = np.zeros(0, dtype=np.intp)
        self._cuts = [csr_array((0, b * a))]
        # Costs are shifted to at least 1, because variables are non-negative.
        self._positive = (cost.cost - cost.cost.min()) / self._scale + 1.0
        linear = -cost.at(cost.distribution).ravel() / self._scale
        if cost.robust:
            linear = np.append(np.zeros(b * a), -1.0)
        self._program = LinearProgram(linear, upper=np.inf)
        ones = column_sums(b, a)
        if cost.robust:
            # older SciPy returns a matrix even for arrays
            ones = csr_array(hstack([ones, csr_array((a, 1))]))
        self._program.add_rows(ones, 1.0, 1.0)

    def __len__(self) -> int:
        return len(self._cut_rows)

    def add(self, cuts: Cuts) -> None:
        """Add privacy constraints."""
        if not len(cuts):
            return
        table = cuts.coefficients(*self.cost.cost.shape)
        self._cuts.append(table)
        start = self._program.n_rows
        self._cut_rows = np.append(self._cut_rows, start + np.arange(len(cuts)))
        self._program.add_rows(table, -np.inf, 0.0)

    def add_distribution(self, distribution: Floats) -> None:
        """Add a distribution for the robust cost.

        Shapes: `distribution` (a,).
        """
        self._distributions.append(distribution)
        self._distribution_rows.append(self._program.n_rows)
        row = np.append((distribution * self._positive).ravel(), -1.0)
        self._program.add_rows(csr_array(row[None]), -np.inf, 0.0)

    def solve(self, seconds: float | None = None) -> tuple[Floats, float]:
        """Solve the program.

        Returns `matrix` (b, a): the cheapest under the current cuts, rarely private; `bound`: a
        lower bound on the cost of private mechanisms, which follows from the program's dual
        variables by weak duality, whether they are optimal or not.
        """
        x, duals, _ = self._program.solve(seconds)
        self.solves += 1
        b, a = self.cost.cost.shape
        matrix = np.maximum(x[: b * a].reshape(b, a), 0.0)
        multipliers = np.maximum(duals[self._cut_rows], 0.0) * self._scale
        distribution = self.cost.distribution
        if self.cost.robust:
            share = np.maximum(duals[self._distribution_rows], 0.0)
            if share.sum() > 0:
                distribution = share @ np.array(self._distributions) / share.sum()
        bound = weak_duality(
            self.cost.at(distribution), vstack(self._cuts, format="csr"), multipliers
        )
        return matrix, bound


def weak_duality(cost: Floats, cuts: csr_array, multipliers: Floats) -> float:
    """Bound the cost of every mechanism that satisfies some cuts from below.

    For any non-negative multipliers of the cuts, the Lagrangian is minimised by the cheapest report
    of each cell.

    Shapes: `cost` (b, a); `cuts` (m, b * a); `multipliers` (m,).
    """
    lagrangian = cost + (cuts.T @ multipliers).reshape(cost.shape)
    return float(lagrangian.min(axis=0).sum())


def cheapest(cost: ExpectedCost) -> tuple[Floats, float]:
    """Find the cheapest mechanism, private or not: the cheapest report of each cell.

    Shapes: returns `matrix` (b, a). Returns `bound`: a lower bound on the cost.
    """
    report = np.arange(len(cost.cost))[:, None]
    matrix = (report == cost.cost.argmin(axis=0)).astype(float)
    worst = cost.worst(matrix)[1]
    return matrix, float(cost.at(worst).min(axis=0).sum())


# Number of steps at the target gap after which cuts take over, and number of consecutive linear
# programs without a gain of 1 % of the gap after which the search ends. Both end sooner if the
# bounds meet. Doubling it changes costs by at most 4e-6, less than the allowed gap of 1e-4.
_PATIENCE = 25


def minimise(
    cost: ExpectedCost,
    requirements: Requirements,
    *,
    gap: float,
    limits: Limits,
) -> Solution:
    """Find the cheapest private mechanism.

    Returns Solution: ``objective`` is the cost of ``matrix``, which is
    private, and ``bound`` a lower bound on that of every private mechanism.
    """
    search = _Search(cost, requirements, gap, limits)
    search.follow_path()
    status = search.add_cuts()
    search.drop_rare_reports()
    return Solution(
        status=status,
        solver="cuts" if search.programs else "path",
        objective=search.upper,
        bound=search.lower,
        bound_by="the dual of a linear program",
        message=search.left(status) + search.message(),
        matrix=search.best,
    )


class _Search:
    """The current best mechanism and bound."""

    def __init__(
        self,
        cost: ExpectedCost,
        requirements: Requirements,
        gap: float,
        limits: Limits,
    ) -> None:
        self.cost, self.requirements = cost, requirements
        self.gap, self.limits = gap, limits
        self.negligible = TIGHT * cost.scale
        self.programs = self.path_steps = 0
        self.program = CutProgram(cost)
        # This mechanism is rarely private, but optimal if it is, and the bound is valid in any
        # case.
        matrix, self.lower = cheapest(cost)
        # A constant report is always private, because it does not depend on the record.
        self.best = np.zeros(cost.cost.shape)
        self.best[int(cost.worst_constant().argmin())] = 1.0
        self.upper = cost.worst(self.best)[0]
        if _private_at_centre(matrix, requirements):
            self.offer(matrix)

    def offer(self, matrix: Floats) -> None:
        """Repair a mechanism, and keep it if it is the best so far."""
        private = repair(matrix, self.requirements)
        value = self.cost.worst(private)[0]
        if value < self.upper:
            self.upper, self.best = value, private

    def drop_rare_reports(self) -> None:
        """Drop reports that are very rarely sent, if the cost barely rises.

        Without this, the mechanism of 4x8 cells with 200 records has 8 reports instead of 3.
        """
        used = self.best.max(axis=1) > LITTLE
        private = repair(np.where(used[:, None], self.best, 0.0), self.requirements)
        value = self.cost.worst(private)[0]
        if value <= self.upper + 0.01 * self.allowed(self.upper):
            self.upper, self.best = value, private

    def closed(self) -> bool:
        """Return whether the gap is closed."""
        return self.upper - self.lower <= self.allowed(self.upper)

    def allowed(self, value: float) -> float:
        """Return the gap at which the search ends, given the cost."""
        return max(self.gap * abs(value), self.negligible)

    def follow_path(self) -> None:
        """Follow the central path until the gap is closed, or rounding stops it."""
        b, a = self.cost.cost.shape
        if not all(map(has_path, self.requirements)) or b * a**2 > MOST_IN_HESSIANS:
            return
        path = CentralPath(self.cost, path_blocks(self.requirements), workers=self.limits.workers)
        # The path's target is this part of the allowed gap; proofs begin at the allowed gap divided
        # by it.
        arrived, part = 0, 0.3
        while not (self.closed() or self.limits.met) and arrived < _PATIENCE:
            allowed = self.allowed(min(path.value, self.upper))
            self.limits.count()
            if not path.advance(part * allowed):
                break
            arrived += path.arrived(part * allowed)
            if part * path.gap <= allowed:
                self.prove(path)
                if path.value - self.lower <= allowed:
                    self.offer(path.rows)
        self.path_steps = path.steps
        if self.closed():
            return
        self.prove(path)
        self.offer(path.rows)
        if not self.limits.met:
            self.separate(path.rows, above=-np.inf)

    def prove(self, path: CentralPath) -> None:
        """Compute a lower bound from the path's multipliers, pulled into the regions."""
        found = path.cuts()
        if not found:
            return
        tables = [cuts.coefficients(*self.cost.cost.shape) for cuts, _ in found]
        bound = weak_duality(
            self.cost.at(self.cost.pull_in(path.distribution())),
            csr_array(vstack(tables)),  # older SciPy returns a matrix even for arrays
            np.concatenate([multipliers for _, multipliers in found]),
        )
        self.lower = max(self.lower, bound)

    def separate(self, matrix: Floats, above: float = ROUNDING) -> None:
        """Add the cuts that a mechanism violates: the worst for each row and pair of secrets."""
        for one in self.requirements:
            least = above * float(np.exp(one.eps))
            worst = one.region.worst(matrix, one.eps, above=least, conditionals=True)
            worst = worst[worst.bound > above * np.exp(worst.eps)]
            self.program.add(Cuts.worst(one.region, worst))
        if self.cost.robust:
            self.program.add_distribution(self.cost.worst(matrix)[1])

    def add_cuts(self) -> str:
        """Add cuts until the gap is closed; return the status."""
        if not self.closed() and len(self.program) == 0:
            self.separate(self.best, above=-np.inf)
        least_gap, stalled = np.inf, 0
        while not self.closed():
            try:
                if self.limits.met:
                    return self.limits.status
                matrix, bound = self.program.solve(self.limits.left)
            except TimeoutError:
                return "time_limit"
            self.programs += 1
            self.limits.count()
            self.lower = max(self.lower, bound)
            for weight in (1.0, 0.1):
                self.offer(weight * matrix + (1.0 - weight) * self.best)
            stalled = 0 if self.upper - self.lower < 0.99 * least_gap else stalled + 1
            least_gap = min(least_gap, self.upper - self.lower)
            if stalled == _PATIENCE:
                return "converged"
            self.separate(matrix)
        return "optimal"

    def left(self, status: str) -> str:
        """State why the search ended before its gap was closed; empty if it was closed."""
        if status == "optimal":
            return ""
        reason = {
            **{limit: f"{name} ended the search" for limit, name in LIMITS.items()},
            "converged": f"The last {_PATIENCE} linear programs brought almost no improvement",
        }[status]
        return f"{reason} before the gap of {self.gap:.2g} was reached. "

    def message(self) -> str:
        """Describe what was done."""
        return (
            f"{self.path_steps} steps along the central path, {self.programs} linear programs with "
            f"{len(self.program)} cuts."
        )


def _private_at_centre(matrix: Floats, requirements: Requirements) -> bool:
    """Check quickly whether a mechanism is private at the public distribution."""
    for one in requirements:
        region = one.region
        parts, (first, second) = region.rows.spread(matrix), region.pairs
        reports = np.einsum("bsu,su->bs", parts, region.conditionals)
        seen = region.seen[first] & region.seen[second]
        first, second, factor = first[seen], second[seen], np.exp(one.eps)
        if np.any(reports[:, first] > factor * reports[:, second] + ROUNDING):
            return False
    return True
