"""The mechanism that is best by a criterion of its rows, by whichever solver fits."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from skrldp._typing import Floats
from skrldp.design.alternation import Run, alternate
from skrldp.design.bounds import everywhere_bound
from skrldp.design.closed_form import closed_forms
from skrldp.design.column_generation import generate_columns
from skrldp.design.constraint_blocks import path_blocks
from skrldp.design.criteria import Criterion, Information
from skrldp.design.decomposition import decompose
from skrldp.design.engine import Problem, Search, Task
from skrldp.design.limits import TOL, ended_by
from skrldp.design.non_robust import optimum_at_public
from skrldp.design.solution import ObjectiveBound, Solution, least
from skrldp.design.subset_optimum import group_reporting
from skrldp.design.variances import Variance
from skrldp.design.vertices import enumerate_vertices
from skrldp.design.whole_records import least_variance
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import repair

SOLVERS = ("auto", "vertices", "columns", "alternation")
# "decomposition" replaces "alternation" for criteria that no central path follows.
SOLVERS_OF_MIXTURES = ("auto", "vertices", "columns", "decomposition")
# Cells times pairs of secrets up to which rows are searched one by one quickly. Twice as many
# take four times as long.
_LARGEST = 4_000
# Cells up to which columns follow after alternation, along paths. At 2x20 cells with 3,183 records
# they raise 2.195 nats to 2.242, and 3 s to 6 s; at 6x15 cells with
# 32,561 records .6107 of H(X) to .6128, and 16 s to 38 s. At 160 cells they gained nothing in 16 s.
_MOST_BY_PATHS = 100
# Part of the time limit for alternation, or for decomposition, where columns go on from what it
# found. With all of it they would not begin.
_TIME_BEFORE = 0.5
# Solvers whose mechanisms may have many more reports than cells.
_MIXING = ("decomposition", "thresholds")


class CriterionProblem(Problem):
    """The mechanism that is best by a criterion of its rows.

    If U alone is observed, the mechanisms are functions of U, and I(X; Y) is I(U; Y).

    Parameters
    ----------
    joint : JointDistribution
        The public distribution.
    criterion : Criterion, optional
        What is maximised; None: I(X; Y) at the public distribution.
    tol : float, optional
        Relative gain of the last rounds at which a search for rows to be mixed ends, and loss
        at which no more of its rows are merged.
    """

    def __init__(
        self, joint: JointDistribution, criterion: Criterion | None = None, tol: float = TOL
    ) -> None:
        a1, a2 = joint.counts.shape
        self.joint, self.criterion, self.tol = joint, criterion, tol
        self.size = f"{a1} secrets x {a2} values"
        expandable = criterion is None or isinstance(criterion, Information)
        self.solvers = SOLVERS if expandable else SOLVERS_OF_MIXTURES
        self.others = ("columns", self.solvers[-1])
        self.quantity = criterion or Information(joint.probabilities.ravel())

    def begin(self, task: Task) -> Search:
        """Begin a search."""
        return _CriterionSearch(self, task)


class _CriterionSearch(Search):
    """What is asked, and the solvers in the order in which they are tried."""

    def __init__(self, problem: CriterionProblem, task: Task) -> None:
        self.joint, self.requirements = problem.joint, task.requirements
        self.solver, self.limits, self.progress = task.solver, task.limits, task.progress
        public = self.requirements.fold(self.joint.probabilities)
        self.criterion = problem.criterion or Information(public)
        self.public = self.criterion.at(public)
        self.tol = problem.tol

    def run(self) -> Solution:
        """Try the solvers one after the other; merge rows of the mechanism where little is lost."""
        solution = self._tried()
        if self.tol <= TOL or solution.solver not in _MIXING:
            return solution
        assert solution.matrix is not None
        matrix = self.criterion.merged(solution.matrix, self.tol)
        if len(matrix) == len(solution.matrix):
            return solution
        return replace(solution, matrix=matrix, objective=self.public.stated(matrix))

    def _tried(self) -> Solution:
        """Try the solvers in turn."""
        solver = self.solver
        self.progress.stage = "formulas and a bound"
        if solver == "auto":
            found = optimum_at_public(self.joint, self.requirements, self.criterion, self.limits)
            if found is not None:
                return found
            if self.requirements.of_whole_records and isinstance(self.criterion, Variance):
                return self.thresholds(self.criterion)
        self.progress.bound = self.bound.value
        self.progress.stage = "searching"
        if solver == "vertices":
            return enumerate_vertices(self.joint, self.requirements, self.criterion)
        more = solver == "auto" and not self.limits.met
        size = self.requirements.n_cells * self.requirements.n_pairs
        more = more and size <= _LARGEST
        expandable = isinstance(self.criterion, Information)
        if solver == "columns" or (expandable and more and path_blocks(self.requirements) is None):
            return self.columns([])
        if isinstance(self.criterion, Information):
            # With fewer public records than cells, nearly all distributions are in the set, and
            # little is known that a longer search could use.
            few = self.requirements.n_cells <= min(_MOST_BY_PATHS, self.joint.n)
            return self.annealed(self.criterion, more and few)
        return self.decomposed(more)

    def bounded(self, solution: Solution) -> Solution:
        """Bound what was not proved optimal by pricing all extreme rows, where that is quick.

        The rows that are found on the way make the mechanism a little better.
        """
        self.progress.stage = "a bound"
        matrix, public = solution.matrix, self.public
        if matrix is None or solution.status == "optimal" or not isinstance(public, Information):
            return solution
        found = everywhere_bound(
            public.distribution, public.about, self.requirements, matrix, limits=self.limits
        )
        if found is None:
            return solution
        if self.criterion.value(found.matrix) > self.criterion.value(matrix):
            matrix = found.matrix
        by = "reduced costs of all extreme rows"
        known = least(
            [ObjectiveBound(solution.bound, solution.bound_by), ObjectiveBound(found.value, by)]
        )
        return replace(
            solution,
            bound=known.value,
            bound_by=known.by,
            objective=public.stated(matrix),
            matrix=matrix,
        )

    def at_least_simple(self, solution: Solution) -> Solution:
        """Return what a search was too short for: the best mechanism that takes none."""
        assert solution.matrix is not None
        value, best = self.simple
        if value <= self.criterion.value(solution.matrix):
            return solution
        message = f"{solution.message} A mechanism that takes no search was better."
        return replace(
            solution,
            objective=self.public.stated(best),
            message=message,
            matrix=best,
            estimate=None,
        )

    def show(self, value: float) -> None:
        """Show the value of a mechanism by the criterion."""
        self.progress.show(self.criterion.sense * value)

    @cached_property
    def bound(self) -> ObjectiveBound:
        """What no mechanism is better than, before any search."""
        return self.public.bound(self.joint, self.requirements)

    @cached_property
    def forms(self) -> list[Floats]:
        """Closed forms."""
        return closed_forms(self.joint, self.requirements)

    @cached_property
    def known(self) -> tuple[float, Floats]:
        """Value of the best closed form, and its matrix."""
        values = [self.criterion.value(form) for form in self.forms]
        return max(values), self.forms[int(np.argmax(values))]

    @cached_property
    def simple(self) -> tuple[float, Floats]:
        """Value of the best mechanism that takes no search, and its matrix."""
        quick = group_reporting(self.joint, self.requirements)
        value = -np.inf if quick is None else self.criterion.value(quick)
        return self.known if quick is None or value <= self.known[0] else (value, quick)

    def columns(self, first: list[Floats]) -> Solution:
        """Generate columns, from the rows of some mechanisms if there are any."""
        return generate_columns(
            self.joint,
            self.requirements,
            limits=self.limits,
            criterion=self.criterion,
            first=first,
            known=self.forms[:2],  # SRR and IR
            callback=self.show,
            bound=self.bound,
        )

    def annealed(self, criterion: Information, more: bool) -> Solution:
        """Alternate between decoder and mechanism; go on by columns if there is more to gain."""
        if not more:
            self.show(self.known[0])
        part = self.limits.part(_TIME_BEFORE) if more else self.limits
        runs, status = alternate(criterion, self.requirements, limits=part, callback=self.show)
        if more and not self.limits.met:
            solution = self.columns([run.matrix for run in runs])
            return replace(solution, message=f"{solution.message} {_account(runs)}")
        run = max(runs, key=lambda run: run.value)
        matrix, message = run.matrix, _account(runs)
        if self.known[0] > run.value:
            matrix = self.known[1]
            message += " A closed form was better."
        status = self.limits.status if more else status
        return self.found("alternation", status, matrix, message)

    def decomposed(self, more: bool) -> Solution:
        """Mix rows that ascend; go on by columns where paths do not reach the exact cone."""
        known: list[Floats] = []
        for matrix in self.forms:  # closed forms fit sets, not regions
            if self.limits.left == 0.0:
                return self.found(
                    "decomposition", "time_limit", self.forms[0], "No rows were mixed."
                )
            known.append(repair(matrix, self.requirements))
        more = more and path_blocks(self.requirements) is None
        matrix, n_rows, rounds, status, promise = decompose(
            self.criterion,
            self.requirements,
            known,
            limits=self.limits.part(_TIME_BEFORE) if more else self.limits,
            callback=self.show,
            gain=self.tol,
        )
        message = f"{rounds} rounds of ascent, {n_rows} rows mixed."
        if more and not self.limits.met:
            solution = self.columns([matrix, *known])
            return replace(solution, message=f"{solution.message} {message}")
        status = self.limits.status if more else status
        solution = self.found("decomposition", status, matrix, message)
        if promise is None:
            return solution
        estimate = self.public.optimum_about(solution.objective, promise)
        return replace(solution, estimate=estimate)

    def thresholds(self, criterion: Variance) -> Solution:
        """Mix rows of two levels, where the whole record is the secret."""
        eps = self.requirements.least_eps
        status, matrix = least_variance(criterion, eps, self.tol, self.limits)
        if status == "closed form":
            return self.found("grr", status, matrix, "Randomised response of all cells.")
        return self.found("thresholds", status, matrix, f"{len(matrix)} sets of cells.")

    def found(self, solver: str, status: str, matrix: Floats, message: str) -> Solution:
        """State what was found."""
        message = ended_by(status, "the search for better mechanisms") + message
        return Solution(
            status=status,
            solver=solver,
            objective=self.public.stated(matrix),
            bound=self.bound.value,
            bound_by=self.bound.by,
            message=message,
            matrix=matrix,
        )


def _account(runs: list[Run]) -> str:
    steps = sum(run.steps for run in runs)
    reports = ", ".join(str(len(run.matrix)) for run in runs)
    return f"{len(runs)} runs of annealing with {reports} reports, {steps} Newton steps."
