"""What the sanitizers with an optimised mechanism share."""

from skrldp._params import check_choice
from skrldp.certificate import expected_seconds, release
from skrldp.design.criteria import Criterion
from skrldp.design.engine import solve
from skrldp.design.objectives import SOLVERS, CriterionProblem
from skrldp.privacy import Promise, Requirements
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._checks import check_limits
from skrldp.sanitizers._fitted_state import Designed, FromFit
from skrldp.sanitizers._promised import drawn_from
from skrldp.sanitizers._warm_start import check_warm_start, known_mechanism, known_rows
from skrldp.sanitizers._warnings import say_if_slow

__all__ = ["OptimalSanitizer"]


class OptimalSanitizer(BaseSanitizer):
    """Base class: the best mechanism by a criterion, with parameters of the solver."""

    n_iter_ = FromFit("solution.iterations")

    _default_encode = "symbol"
    _slow_from = 60  # cells, by measurement
    _solvers: tuple[str, ...] = SOLVERS
    _most_cells = 2_000  # a design and its proof take minutes there

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, self._solvers)
        check_limits(self)
        check_warm_start(self)

    def _optimum(
        self,
        promise: Promise,
        requirements: Requirements,
        criterion: Criterion | None = None,
    ) -> Designed:
        joint, limit = promise.joint, self.time_limit
        say_if_slow(self, joint)
        known = known_mechanism(self, joint)
        if limit is not None:  # leave time for repair and proof, but no more than half
            limit = max(limit - expected_seconds(promise.requirements()), limit / 2.0)
        solution = solve(
            CriterionProblem(joint, criterion),
            requirements,
            solver=self.solver,
            time_limit=limit,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            warm=None if known is None else known_rows(known, joint, promise.observe),
        )
        assert solution.matrix is not None  # only closed forms have none
        stand_in = drawn_from(self, promise)
        mechanism, certificate = release(
            solution.matrix, promise, stand_in=stand_in, verbose=self.verbose
        )
        mechanism = mechanism.named(range(mechanism.shape[0]), ())
        likely = mechanism.likely_cells(joint.probabilities)
        return Designed(mechanism, certificate, solution, cells=likely)
