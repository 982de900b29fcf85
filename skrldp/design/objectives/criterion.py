"""The mechanism that is best by a criterion of its rows, by whichever solver fits."""

from dataclasses import replace
from functools import cached_property

import numpy as np
from threadpoolctl import threadpool_limits

from skrldp._params import check_choice
from skrldp._typing import Floats
from skrldp.design._run import Deadline, Progress, Solution
from skrldp.design.alternation import Annealing, alternate
from skrldp.design.closed_form import closed_forms
from skrldp.design.criteria import Criterion, Information
from skrldp.design.rows import Cones, enumerate_vertices, generate_columns, is_polyhedral
from skrldp.exceptions import InfeasibleError, SolverError
from skrldp.joint import JointDistribution
from skrldp.requirements import Requirements

__all__ = ["SOLVERS", "solve"]


SOLVERS = ("auto", "vertices", "columns", "alternation")
# A larger eps is designed for as this one: its exponentials stay in range, and reports whose odds
# are below exp(-40) are never sent.
_LARGEST_EPS = 40.0
# Part of the time limit for alternation where columns go on from what it found. Chosen by hand.
_TIME_BEFORE_COLUMNS = 0.5


def solve(
    joint: JointDistribution,
    requirements: Requirements,
    *,
    criterion: Criterion | None = None,
    solver: str = "auto",
    time_limit: float | None = 60.0,
    verbose: int = 0,
) -> Solution:
    """Maximise a criterion over private mechanisms.

    If U alone is observed, the mechanisms are functions of U, and I(X; Y) is I(U; Y).

    Parameters
    ----------
    joint : JointDistribution
        The public distribution.
    requirements : Requirements
        What a row must satisfy.
    criterion : Criterion, optional
        What is maximised, at a distribution that is positive where the public one is; None is
        I(X; Y) at the public one. The solution's objective and bound are about the public one.
    solver : {"auto", "vertices", "columns", "alternation"}
        ``"auto"`` enumerates vertices where that is the global optimum and fast; otherwise it
        alternates, and where the exact cone can be searched it goes on by columns. It needs no
        optional dependency.
    time_limit : float or None
        Seconds after which the best mechanism found is returned; None for no limit.
    verbose : int
        Show a progress bar, and print a line on what was done, if positive.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        If the solver is unknown.
    SolverError
        If it fails; the message names ε, the region and the alphabets, and what to try.
    """
    check_choice("solver", solver, SOLVERS)
    search = _Design(joint, requirements, criterion, Deadline(time_limit), verbose)
    try:
        with search.progress, threadpool_limits(limits=1, user_api="blas"):
            solution = search.solve(solver)
    except (SolverError, InfeasibleError) as error:
        a1, a2 = joint.counts.shape
        raise type(error)(
            f"no mechanism was designed for {requirements.describe()} with {a1} secrets x {a2} "
            f"values (solver={solver!r}): {error} Try solver='columns', another region, or fewer "
            "categories."
        ) from error
    if verbose:
        print(
            f"[skrldp] {solution.solver}: {search.progress.words(solution.objective)} "
            f"({solution.status}) after {solution.seconds:.1f} s. {solution.message}"
        )
    return solution


class _Design:
    """What is asked, and the solvers in the order in which they are tried.

    They run with one thread of linear algebra: their matrices are so small that a second one gains
    little, loses a factor of hundreds where the cores are busy, and would change the last digits.
    """

    def __init__(
        self,
        joint: JointDistribution,
        requirements: Requirements,
        criterion: Criterion | None,
        deadline: Deadline,
        verbose: int,
    ) -> None:
        self.joint, self.requirements = joint, requirements.at_most(_LARGEST_EPS)
        self.cones = Cones(self.requirements, deadline)
        public = requirements.fold(joint.probabilities)
        self.criterion = criterion or Information(public)
        self.public = self.criterion.at(public)
        self.deadline = deadline
        self.bound = self.public.bound(joint, self.requirements)
        self.progress = Progress(verbose, deadline, self.bound, self.public)

    def solve(self, solver: str) -> Solution:
        notes: list[str] = []
        if solver == "vertices" or (solver == "auto" and is_polyhedral(self.requirements)):
            try:
                return enumerate_vertices(
                    self.joint,
                    self.requirements,
                    deadline=self.deadline,
                    criterion=self.criterion,
                    quick=solver == "auto",
                    cones=self.cones,
                )
            except SolverError as error:
                if solver == "vertices":
                    raise
                notes.append(f"Vertices were not used: {error}")
        if solver == "columns":
            solution = self.columns(None)
        else:
            more = solver == "auto" and self.cones.exact is not None
            if not more:
                self.show(self.known[1])
            runs, status = self.alternate(before_columns=more)
            if more and not self.deadline.passed:
                solution = self.columns(self.first(runs))
                notes.append(_account(runs))
            else:
                solution = self.best(runs, "time_limit" if more else status)
        return replace(solution, message=" ".join([solution.message, *notes]))

    def show(self, matrix: Floats) -> None:
        """Show how good a mechanism is at the public distribution."""
        self.progress.show(self.public.stated(matrix))

    @cached_property
    def forms(self) -> list[Floats]:
        """Closed forms; where many reports are of use, with several splits of ε."""
        return closed_forms(self.joint, self.requirements, splits=self.criterion.many_reports)

    @cached_property
    def known(self) -> tuple[float, Floats]:
        """Value of the best closed form, and its matrix."""
        values = [self.criterion.value(form) for form in self.forms]
        return max(values), self.forms[int(np.argmax(values))]

    def columns(self, first: Floats | None) -> Solution:
        """Generate columns, from some rows if there are any."""
        return generate_columns(
            self.joint,
            self.requirements,
            deadline=self.deadline,
            criterion=self.criterion,
            first=first,
            known=self.forms[:2],  # SRR and IR; the best of all splits is among the first rows
            cones=self.cones,
            callback=self.show,
        )

    def alternate(self, before_columns: bool) -> tuple[list[Annealing], str]:
        """Alternate between decoder and mechanism; before columns, for half of the time."""
        left = self.deadline.left
        if left is not None and before_columns:
            left *= _TIME_BEFORE_COLUMNS
        return alternate(
            self.criterion,
            self.requirements,
            deadline=Deadline(left),
            callback=self.show,
            gathers=not before_columns and not self.criterion.many_reports,
        )

    def first(self, runs: list[Annealing]) -> Floats:
        """Rows that columns begin with."""
        rows = [run.matrix for run in runs]
        if self.criterion.many_reports:
            rows += [self.known[1], *(matrix for run in runs for matrix in run.offered[-1:])]
        return np.concatenate(rows)

    def mixed(self, runs: list[Annealing]) -> Floats:
        """Mix the rows of all runs and of the best closed form."""
        mixture = self.criterion.mixture()
        mixture.add(self.first(runs))
        return mixture.mechanism(mixture.solve().weights)

    def best(self, runs: list[Annealing], status: str) -> Solution:
        """Take the best run, or a closed form where there was no time to be better."""
        run = max(runs, key=lambda run: run.value)
        matrix, best, message = run.matrix, run.value, _account(runs)
        if status == "time_limit":
            message = f"The time limit ended the search for better mechanisms. {message}"
        if self.known[0] > best:
            best, matrix = self.known
            message += " A closed form was better."
        if self.criterion.many_reports:
            mixed = self.mixed(runs)
            if self.criterion.value(mixed) > best:
                matrix = mixed
        return Solution(
            status=status,
            solver="alternation",
            objective=self.public.stated(matrix),
            bound=self.bound,
            iterations=sum(run.steps for run in runs),
            seconds=self.deadline.elapsed,
            message=message,
            matrix=matrix,
        )


def _account(runs: list[Annealing]) -> str:
    steps = sum(run.steps for run in runs)
    reports = ", ".join(str(len(run.matrix)) for run in runs)
    return f"{len(runs)} runs of annealing with {reports} reports, {steps} Newton steps."
