r"""Linear programs over whole mechanisms, whose privacy constraints are found as they are needed.

The cheapest private mechanism minimises a linear cost, or the worst of many, over stochastic
matrices Q whose every row satisfies :math:`R_1 \cdot v_{s_1} \le e^\epsilon R_2 \cdot v_{s_2}` for
all conditionals of the region. Any finite number of these *cuts* gives a linear program, whose
value is a lower bound; its solution, repaired, is a private mechanism, whose cost is an upper
bound. The oracle finds the cuts that the solution breaks, and so on until the bounds meet. The
first cuts come from a central path where there is one (:mod:`skrldp.design.interior_point`);
mostly it closes the gap alone. RobustMSE is such a program, and so is a step of PolyOpt's
alternation.
"""

import numpy as np
from threadpoolctl import threadpool_limits

from skrldp._typing import Floats
from skrldp.design._cost import ExpectedCost
from skrldp.design._run import Deadline, Solution
from skrldp.design.cutting_planes._program import CutProgram, Cuts, weak_duality
from skrldp.design.interior_point import CentralPath, pair_function
from skrldp.region import Region, repair

__all__ = ["minimise"]


_AIM = 0.3  # the gap that the central path aims at, relative to the allowed one
_CENTRING_STEPS = 15
_LARGEST_HESSIANS = 250_000_000  # numbers that the central path may hold
_NEGLIGIBLE = 1e-9  # of the size of the costs: a gap that is none
_BROKEN = 1e-11  # violation, relative to the exponential of eps, that is worth a cut
_DEPTH = 0.25  # where cuts are sought between the best mechanism and a program's solution
_FEW = 5  # cuts below which they are sought at the solution itself
_RARE = (1e-4, 1e-9)  # probabilities that may not be worth a report
_MIXTURES = (1.0, 0.3, 0.1, 0.03)  # of a program's solution with the best private mechanism
_PATIENCE = 25  # rounds without a gain after which the search ends


def minimise(
    cost: ExpectedCost,
    region: Region,
    eps: float,
    *,
    gap: float = 1e-4,
    deadline: Deadline,
    central: bool = True,
    verbose: int = 0,
) -> Solution:
    """Find the cheapest private mechanism.

    Parameters
    ----------
    cost : ExpectedCost
        What to minimise.
    region : Region
        Conditionals that privacy must hold for.
    eps : float
        Privacy parameter, in nats.
    gap : float
        Relative gap between the cost of the mechanism and the lower bound that ends the search.
    deadline : Deadline
        When to stop; the best mechanism found by then is returned.
    central : bool
        Begin with a central path where the region has one.
    verbose : int
        Print a line for each linear program if greater than 1.

    Returns
    -------
    Solution
        ``objective`` is the cost of ``matrix``, which is private for the region, and ``bound`` a
        lower bound on that of every private mechanism.
    """
    search = _Search(cost, region, eps, gap, deadline, verbose)
    if central:
        # Small matrices: a second thread gains little, and loses much where the cores are busy.
        with threadpool_limits(limits=1, user_api="blas"):
            search.follow()
    status = search.run()
    search.tidy()
    return Solution(
        status=status,
        solver="cuts",
        objective=search.upper,
        bound=search.lower,
        iterations=search.path_steps + search.rounds,
        seconds=deadline.elapsed,
        message=search.message(),
        matrix=search.best,
    )


class _Search:
    """The best mechanism and the best bound so far."""

    def __init__(
        self,
        cost: ExpectedCost,
        region: Region,
        eps: float,
        gap: float,
        deadline: Deadline,
        verbose: int,
    ) -> None:
        self.cost, self.region, self.eps = cost, region, eps
        self.gap, self.deadline, self.verbose = gap, deadline, verbose
        self.shape = (len(cost.cost), *region.row_shape)
        self.negligible = _NEGLIGIBLE * cost.scale
        self.rounds = self.path_steps = 0
        self.program = CutProgram(cost, region, eps)
        # Cheapest in each cell: seldom private, but then unbeatable, and anyway a bound.
        cheapest = (np.arange(len(cost.cost))[:, None] == cost.cost.argmin(axis=0)).astype(float)
        worst = cost.worst(cheapest)[1]
        self.lower = float(cost.at(worst).min(axis=0).sum())
        # The best constant report: always private.
        constant = cost.worst_constant()
        self.upper, report = float(constant.min()), int(constant.argmin())
        self.best = np.zeros(cost.cost.shape)
        self.best[report] = 1.0
        if _private_at_centre(cheapest, region, eps):
            self.offer(cheapest)

    def offer(self, matrix: Floats) -> None:
        """Repair a mechanism, and keep it if it is the best."""
        private = repair(matrix, self.region, self.eps)
        value = self.cost.worst(private)[0]
        if value < self.upper:
            self.upper, self.best = value, private

    def tidy(self) -> None:
        """Drop reports that are hardly ever sent, if that costs next to nothing."""
        for least in _RARE:
            used = self.best.max(axis=1) > least
            if used.all():
                continue
            matrix = np.where(used[:, None], self.best, 0.0)
            private = repair(matrix, self.region, self.eps)
            value = self.cost.worst(private)[0]
            if value <= self.upper + 0.05 * self.allowed(self.upper):
                self.upper, self.best = value, private
                return

    def closed(self) -> bool:
        """Say whether the gap is."""
        return self.upper - self.lower <= self.allowed(self.upper)

    def allowed(self, value: float) -> float:
        """Gap that ends the search at a cost."""
        return max(self.gap * abs(value), self.negligible)

    def follow(self) -> None:
        """Go along the central path until the gap is closed, or rounding ends it."""
        b, parts, a2 = self.shape
        pairs = pair_function(self.region, self.eps)
        if pairs is None or b * (parts * a2) ** 2 > _LARGEST_HESSIANS:
            return
        path = CentralPath(self.cost, pairs, (parts, a2))
        arrived = 0
        while not (self.closed() or self.deadline.passed) and arrived < _CENTRING_STEPS:
            allowed = self.allowed(min(path.value, self.upper))
            if not path.advance(_AIM * allowed):
                break
            arrived += path.gap <= 1.5 * _AIM * allowed
            if path.gap <= 5.0 * allowed:
                self.prove(path)
                if path.value - self.lower <= allowed:
                    self.offer(path.rows.reshape(b, -1))
        self.path_steps = path.steps
        if self.closed():
            return
        cuts = self.prove(path)
        self.offer(path.rows.reshape(b, -1))
        if not self.deadline.passed:
            self.program.add(cuts)
            if self.cost.robust:
                self.program.add_law(self.cost.pull_in(path.law()))
            self.separate(path.rows.reshape(b, -1), above=-np.inf)

    def prove(self, path: CentralPath) -> Cuts:
        """Take the path's multipliers, made laws of the region, for a lower bound."""
        b = self.shape[0]
        laws, prices = path.laws()
        row = np.repeat(np.arange(b), prices.shape[1])
        first, second = (np.tile(secret, b) for secret in self.region.pairs)
        laws = self.region.pull_in(first, second, laws.reshape(len(row), 2, -1))
        cuts = Cuts(row, self.region.place(first), self.region.place(second), laws)
        bound = weak_duality(
            self.cost.at(self.cost.pull_in(path.law())),
            cuts.coefficients(self.shape, self.eps),
            prices.ravel(),
        )
        self.lower = max(self.lower, bound)
        return cuts

    def cut_off(self, matrix: Floats) -> None:
        """Add cuts that a program's solution breaks.

        Those of a point on its way to the best private mechanism cut it off too, and deeper.
        """
        if self.separate(_DEPTH * matrix + (1.0 - _DEPTH) * self.best) < _FEW:
            self.separate(matrix)

    def separate(self, matrix: Floats, above: float = _BROKEN) -> int:
        """Add the cuts that a mechanism breaks, each by the worst laws for its row and pair."""
        table = matrix.reshape(self.shape)
        least = above * float(np.exp(self.eps))
        worst = self.region.worst(table, self.eps, above=least, laws=True)
        assert worst.laws is not None
        first, second = self.region.place(worst.first), self.region.place(worst.second)
        self.program.add(Cuts(worst.row, first, second, worst.laws))
        if self.cost.robust:
            self.program.add_law(self.cost.worst(matrix)[1])
        return len(worst.row)

    def run(self) -> str:
        """Add cuts until the gap is closed."""
        if not self.closed() and len(self.program) == 0:
            self.separate(self.best, above=-np.inf)
        best, idle = np.inf, 0
        while not self.closed():
            try:
                if self.deadline.passed:
                    return "time_limit"
                matrix, bound = self.program.solve(self.deadline.left)
            except TimeoutError:
                return "time_limit"
            self.rounds += 1
            self.lower = max(self.lower, bound)
            for share in _MIXTURES:
                self.offer(share * matrix + (1.0 - share) * self.best)
            if self.verbose > 1:
                self.report()
            idle = 0 if self.upper - self.lower < 0.99 * best else idle + 1
            best = min(best, self.upper - self.lower)
            if idle == _PATIENCE:
                return "converged"
            self.cut_off(matrix)
        return "optimal"

    def report(self) -> None:
        """Print where the search stands."""
        print(
            f"[skrldp] {self.message()} Cost {self.upper:.8g}, bound {self.lower:.8g} after "
            f"{self.deadline.elapsed:.2f} s."
        )

    def message(self) -> str:
        """Say what was done."""
        return (
            f"{self.path_steps} steps along the central path, {self.rounds} linear programs with "
            f"{len(self.program)} cuts."
        )


def _private_at_centre(matrix: Floats, region: Region, eps: float) -> bool:
    """Whether a mechanism is private at the public law, which asks for no oracle."""
    seen = region.marginal > 0
    rows = region.spread(matrix.reshape(len(matrix), *region.row_shape))
    reports = np.einsum("bsu,su->bs", rows, region.conditionals)[:, seen]
    return bool(np.all(reports.max(axis=1) <= np.exp(eps) * reports.min(axis=1) + 1e-12))
