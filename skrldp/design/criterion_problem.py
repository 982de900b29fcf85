"""The optimal mechanism by a criterion of its rows, by a suitable solver."""

from skrldp.design.closed_form import closed_forms
from skrldp.design.criteria import Criterion
from skrldp.design.engine import Problem, Task
from skrldp.design.limits import LIMITS, TOL, ended_by
from skrldp.design.mutual_information import Information
from skrldp.design.row_search import RowSearch
from skrldp.design.solution import Solution
from skrldp.design.subset_optimum import group_reporting
from skrldp.design.vertices import enumerate_vertices
from skrldp.joint import JointDistribution

SOLVERS = ("auto", "vertices")


class CriterionProblem(Problem):
    """The optimal mechanism by a criterion of its rows.

    If only U is observed, the mechanisms are functions of U, and I(X; Y) is I(U; Y).

    Parameters
    ----------
    joint : JointDistribution
        The public distribution.
    criterion : Criterion, optional
        The criterion to maximise; by default, I(X; Y) at the public distribution.
    tol : float, optional
        Relative gain of the last rounds below which a search ends, and maximum relative loss from
        merging its rows.
    """

    solvers, others = SOLVERS, ("auto",)

    def __init__(
        self, joint: JointDistribution, criterion: Criterion | None = None, tol: float = TOL
    ) -> None:
        a1, a2 = joint.counts.shape
        self.joint, self.criterion, self.tol = joint, criterion, tol
        self.size = f"{a1} secrets x {a2} values"
        self.quantity = criterion or Information(joint.probabilities.ravel())

    def solve(self, task: Task) -> Solution:
        """Find the optimum by a formula, by enumeration of vertices, or by a search for rows."""
        requirements, limits, progress = task.requirements, task.limits, task.progress
        public = requirements.fold(self.joint.probabilities)
        criterion = self.criterion or Information(public)
        at_public = criterion.at(public)
        progress.stage = "formulas and a bound"
        if task.solver == "auto":
            solution = criterion.formula(self.joint, requirements, limits)
            if solution is not None:
                return solution
        bound = at_public.bound(self.joint, requirements)
        progress.bound, progress.stage = bound.value, "searching"
        if task.solver == "vertices":
            return enumerate_vertices(self.joint, requirements, criterion)
        forms = closed_forms(self.joint, requirements)
        starts = criterion.starts(requirements, limits.part(0.5))  # the rest is for the search
        search = RowSearch(
            criterion,
            requirements,
            [*forms, *starts],
            limits,
            lambda value: progress.show(criterion.sense * value),
            self.tol,
        )
        status = search.run()
        matrix, promise = search.best, search.promise
        if status in LIMITS:  # because U may have too many values for a search in this time
            groups = group_reporting(self.joint, requirements)
            if groups is not None and criterion.value(groups) > criterion.value(matrix):
                matrix, promise = groups, None
        if self.tol > TOL:
            matrix = criterion.merged(matrix, self.tol)
        objective = at_public.stated(matrix)
        message = ended_by(status, "the search for better mechanisms")
        return Solution(
            status=status,
            solver="rows",
            objective=objective,
            bound=bound.value,
            bound_by=bound.by,
            message=f"{message}{search.rounds} rounds of ascent, {search.n_rows} rows mixed.",
            matrix=matrix,
            estimate=None if promise is None else at_public.optimum_about(objective, promise),
        )
