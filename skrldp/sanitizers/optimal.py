"""The base classes of the sanitizers with an optimised mechanism."""

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
    """Base class: the optimal mechanism by a criterion, with the solver's parameters.

    Parameters
    ----------
    time_limit : float, default=60.0
        Limit of `fit` in seconds. At the limit, the best mechanism found so far is proved and used,
        and a warning states how far it may be from the optimum. None: no limit. A search that ends
        before the limit always returns the same mechanism.
    n_jobs : int, optional
        Threads or processes; -1 for one for each processor. The mechanism does not depend on it.
    encode : {"symbol", "onehot", "posterior", "cells"}, optional
        Form of the reports: an integer (None), columns of 0 and 1, probabilities of each category
        given the report, or the most probable record given the report.
    verbose : int, default=0
        If positive, `fit` prints what it did. Whatever `verbose` is, a search of more than two
        seconds shows its progress on stderr if that is a terminal.

    Attributes
    ----------
    n_iter_ : int
        Number of the solver's iterations.

    Raises
    ------
    ValueError
        By `fit` and `transform`, for invalid parameters and tables.
    SolverError
        By `fit`, if the solver fails.

    Warns
    -----
    PrivacyLeakWarning
        By `fit`, if there are too few public records for the asymptotic radius of the set to be
        reliable, if the radius is 0, or if the table's columns have names and `sensitive` is None.
    ConvergenceWarning
        By `fit`, if a limit on time or iterations ended the search.
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
        """Design the optimal mechanism by a criterion; None is the optimum at the public joint."""
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
        if limit is not None:  # leave time for repair and proof, but at most half
            limit = max(limit - expected_seconds(promise.over()), limit / 2.0)
        solution = solve(
            problem,
            requirements,
            solver=self.solver,
            time_limit=limit,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        assert solution.matrix is not None  # only closed forms have no limit
        mechanism, certificate = release(solution.matrix, promise, verbose=self.verbose)
        return Designed(mechanism, certificate, solution)


@with_parameters
class ObservingSanitizer(OptimalSanitizer):
    """Base class: private over a set of distributions, with optional guarantees beyond it.

    The mechanism may observe only U.

    Parameters
    ----------
    eps_worst_case : float, optional
        A limit for all distributions, at least `eps`. It covers observers with any knowledge, and
        further reports: k reports leak at most ``eps + (k - 1) * eps_worst_case``. None: two
        reports, or a report and U, may reveal S.
    observer_columns : str, int, list or callable, optional
        Columns of U that observers know about a person. Privacy then also holds within each of
        their values; grouped values are a single known value.
    observe : {"all", "nonsensitive"}, default="all"
        "nonsensitive" observes only U, for applications in which S is unknown; `transform` then
        needs only the columns of U. The guarantee is the same, but the utility is smaller.

    Notes
    -----
    The promise: a report changes the odds of any two secrets by a factor of at most exp(eps),
    for every true distribution in the uncertainty set. There is no guarantee for U beyond what it
    reveals about S. The solver is not trusted: its result is repaired, rounded to the integers that
    are sampled, and released only if it is proved private.

    Further reports: the guarantee is for **one report about each person**, seen by an observer who
    knows nothing else about them. `eps_worst_case` bounds what further reports add, and what a
    report reveals to an observer who knows U; ``certify(..., reports=k)`` computes the bound for k
    reports. Without it, two reports, or one and U, may even determine S, because the distribution
    of U is then outside the set.
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
        return "observe='nonsensitive' is for mechanisms that observe only U: omit it"
