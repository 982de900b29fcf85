"""The mechanism that is best by a criterion of its rows, by whichever solver fits."""

from dataclasses import replace
from functools import cached_property

from skrldp._typing import Floats
from skrldp.design.closed_form import closed_forms
from skrldp.design.criteria import Criterion
from skrldp.design.engine import Problem, Search, Task
from skrldp.design.limits import TOL, ended_by
from skrldp.design.mutual_information import Information
from skrldp.design.row_search import RowSearch
from skrldp.design.solution import ObjectiveBound, Solution, least
from skrldp.design.subset_optimum import group_reporting
from skrldp.design.vertices import enumerate_vertices
from skrldp.joint import JointDistribution

SOLVERS = ("auto", "vertices")
# Fraction of the time limit for the mechanism that a search begins with. With all of it the search
# would not begin.
_FOR_STARTS = 0.5


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
        Relative gain of the last rounds at which a search ends, and relative loss at which no more
        of its rows are merged.
    """

    solvers, others = SOLVERS, ("auto",)

    def __init__(
        self, joint: JointDistribution, criterion: Criterion | None = None, tol: float = TOL
    ) -> None:
        a1, a2 = joint.counts.shape
        self.joint, self.criterion, self.tol = joint, criterion, tol
        self.size = f"{a1} secrets x {a2} values"
        self.quantity = criterion or Information(joint.probabilities.ravel())

    def begin(self, task: Task) -> Search:
        """Begin a search."""
        return _CriterionSearch(self, task)


class _CriterionSearch(Search):
    """A formula, all vertices, or the search for rows."""

    def __init__(self, problem: CriterionProblem, task: Task) -> None:
        self.joint, self.requirements = problem.joint, task.requirements
        self.solver, self.limits, self.progress = task.solver, task.limits, task.progress
        public = self.requirements.fold(self.joint.probabilities)
        self.criterion = problem.criterion or Information(public)
        self.public = self.criterion.at(public)
        self.tol = problem.tol

    def run(self) -> Solution:
        """Return the optimum if a formula gives it, or search."""
        self.progress.stage = "formulas and a bound"
        if self.solver == "auto":
            solution = self.criterion.formula(self.joint, self.requirements, self.limits)
            if solution is not None:
                return solution
        self.progress.bound = self.bound.value
        self.progress.stage = "searching"
        if self.solver == "vertices":
            return enumerate_vertices(self.joint, self.requirements, self.criterion)
        return self._search()

    def bounded(self, solution: Solution) -> Solution:
        """Bound what was not proved optimal by pricing all extreme rows, where that is quick.

        The rows that are found on the way make the mechanism a little better.
        """
        self.progress.stage = "a bound"
        matrix = solution.matrix
        if matrix is None or solution.status == "optimal":
            return solution
        priced = self.public.priced_bound(self.requirements, matrix, self.limits)
        if priced is None:
            return solution
        if self.criterion.value(priced.matrix) > self.criterion.value(matrix):
            matrix = priced.matrix
        bound = least(
            [
                ObjectiveBound(solution.bound, solution.bound_by),
                ObjectiveBound(priced.value, "reduced costs of all extreme rows"),
            ]
        )
        return replace(
            solution,
            bound=bound.value,
            bound_by=bound.by,
            objective=self.public.stated(matrix),
            matrix=matrix,
        )

    def at_least_simple(self, solution: Solution) -> Solution:
        """Return the best mechanism that takes no search, if the search was too short for it."""
        assert solution.matrix is not None
        quick = group_reporting(self.joint, self.requirements)
        simple = [*self.forms, *([] if quick is None else [quick])]
        best = max(simple, key=self.criterion.value)
        if self.criterion.value(best) <= self.criterion.value(solution.matrix):
            return solution
        message = f"{solution.message} A mechanism that takes no search was better."
        return replace(
            solution,
            objective=self.public.stated(best),
            message=message,
            matrix=best,
            estimate=None,
        )

    @cached_property
    def bound(self) -> ObjectiveBound:
        """An upper bound on every mechanism, before any search."""
        return self.public.bound(self.joint, self.requirements)

    @cached_property
    def forms(self) -> list[Floats]:
        """Closed forms."""
        return closed_forms(self.joint, self.requirements)

    def _search(self) -> Solution:
        """Search rows, and merge those of the mechanism if little is lost."""
        limits = self.limits.part(_FOR_STARTS)
        first = [*self.forms, *self.criterion.starts(self.requirements, limits)]
        search = RowSearch(
            self.criterion, self.requirements, first, self.limits, self._show, self.tol
        )
        status = search.run()
        matrix = search.best
        if self.tol > TOL:
            matrix = self.criterion.merged(matrix, self.tol)
        objective, promise = self.public.stated(matrix), search.promise
        message = ended_by(status, "the search for better mechanisms")
        return Solution(
            status=status,
            solver="rows",
            objective=objective,
            bound=self.bound.value,
            bound_by=self.bound.by,
            message=f"{message}{search.rounds} rounds of ascent, {search.n_rows} rows mixed.",
            matrix=matrix,
            estimate=None if promise is None else self.public.optimum_about(objective, promise),
        )

    def _show(self, value: float) -> None:
        self.progress.show(self.criterion.sense * value)
