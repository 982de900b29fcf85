"""What the sanitizers share whose mechanism is optimised."""

from collections.abc import Mapping
from typing import ClassVar

from skrldp._params import OBSERVED, check_eps
from skrldp.certificate import expected_seconds, release
from skrldp.design.criteria import Criterion
from skrldp.design.criterion_problem import SOLVERS, CriterionProblem
from skrldp.design.engine import Problem, solve
from skrldp.design.limits import shortened
from skrldp.privacy.requirements import Requirements
from skrldp.sanitizers.base import BaseSanitizer
from skrldp.sanitizers.fitted_state import Designed, FromFit
from skrldp.sanitizers.parameters import (
    MOST_CELLS_OF_DESIGNS,
    Check,
    Columns,
    check_jobs,
    check_seconds,
    one_of,
    or_none,
    with_parameters,
)
from skrldp.sanitizers.warnings import say_if_slow


@with_parameters
class OptimalSanitizer(BaseSanitizer):
    """Base class: the best mechanism by a criterion, with parameters of the solver.

    Parameters
    ----------
    time_limit : float, default=60.0
        Seconds that `fit` may take. When they are over, the best mechanism found so far is
        proved and used, and a warning states how far it may be from the optimum. None: no
        limit. A search that ends before the limit always gives the same mechanism.
    n_jobs : int, optional
        Threads or processes; -1 for one for each processor. The mechanism does not depend on it.
    encode : {"symbol", "onehot", "posterior", "cells"}, optional
        Form of the reports: a number (None), columns of 0 and 1, probabilities of each category
        given the report, or the most probable record given the report.
    verbose : int, default=0
        If positive, `fit` prints what it did. A search of more than two seconds shows its progress
        on stderr in any case, if that is a terminal.

    Attributes
    ----------
    n_iter_ : int
        Iterations that the solver took.

    Raises
    ------
    ValueError
        By `fit` and `transform`, for parameters and tables that are not as described.
    SolverError
        By `fit`, if the solver fails.

    Warns
    -----
    PrivacyLeakWarning
        By `fit`, if there are too few public records for the asymptotic radius of the set to be
        reliable, if the radius is 0, or if the table's columns have names and `sensitive` is None.
    ConvergenceWarning
        By `fit`, if a limit of time or iterations ended the search.
    """

    solver: str = "auto"
    time_limit: float | None = 60.0
    n_jobs: int | None = None

    n_iter_ = FromFit("solution.iterations")

    _default_encode = "symbol"
    _slow_from = 60  # cells, by measurement
    _most_cells = MOST_CELLS_OF_DESIGNS

    _checks: ClassVar[Mapping[str, Check]] = {
        **BaseSanitizer._checks,
        "solver": one_of(SOLVERS),
        "time_limit": or_none(check_seconds),
        "n_jobs": or_none(check_jobs),
    }

    def _best_by(
        self, promise: Requirements, requirements: Requirements, criterion: Criterion | None = None
    ) -> Designed:
        """Design the best mechanism by a criterion; None is the optimum at the public joint."""
        problem = CriterionProblem(promise.joint, criterion)
        return self._optimum(promise, requirements, problem).numbered(promise.joint)

    def _optimum(
        self, promise: Requirements, requirements: Requirements, problem: Problem
    ) -> Designed:
        """Solve a problem within the limits, round its mechanism, and prove that it is private.

        Symbols are the rows in use.
        """
        limit = shortened(self.time_limit)
        say_if_slow(self, promise.joint)
        if limit is not None:  # leave time for repair and proof, but no more than half
            limit = max(limit - expected_seconds(promise.over()), limit / 2.0)
        solution = solve(
            problem,
            requirements,
            solver=self.solver,
            time_limit=limit,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        assert solution.matrix is not None  # only closed forms have none
        mechanism, certificate = release(solution.matrix, promise, verbose=self.verbose)
        return Designed(mechanism, certificate, solution)


@with_parameters
class ObservingSanitizer(OptimalSanitizer):
    """Base class: private over a set of distributions, with statements about what is beyond it.

    The mechanism may observe U alone.

    Parameters
    ----------
    eps_worst_case : float, optional
        A limit at all distributions, at least `eps`: for observers who know anything, and for
        further reports: k leak at most ``eps + (k - 1) * eps_worst_case``. None: two reports, or
        a report and U, may reveal S.
    observer_columns : str, int, list or callable, optional
        Columns of U that observers know about a person. Privacy then holds within each of their
        values, too; values in one group are one known value.
    observe : {"all", "nonsensitive"}, default="all"
        "nonsensitive" sees U alone, for places where S is not known; `transform` then needs the
        columns of U only. The promise is the same, the utility smaller.

    Notes
    -----
    The promise: a report changes the odds of any two secrets by a factor of at most exp(eps),
    whichever distribution of the uncertainty set is the true one. Nothing is promised about U
    beyond what it reveals about S. The solver is not trusted: its result is repaired, rounded to
    what will be sampled and proven private, or else nothing is released.

    Further reports: the promise is for **one report about each person**, to somebody who knows
    nothing else about them. `eps_worst_case` bounds what further reports add and what a report
    tells somebody who knows U: ``certify(..., reports=k)`` gives the number for k reports. Without
    it two reports, or one and U, may even determine S, since the distribution of U is then outside
    the set.
    """

    eps_worst_case: float | None = None
    observer_columns: Columns = None
    observe: str = "all"

    _checks: ClassVar[Mapping[str, Check]] = {
        **OptimalSanitizer._checks,
        "eps_worst_case": or_none(check_eps),
        "observe": one_of(OBSERVED),
    }

    def _why_u(self) -> str:
        if self.observe == "all":
            return super()._why_u()
        return "observe='nonsensitive' is for mechanisms that see U alone: leave it out"
