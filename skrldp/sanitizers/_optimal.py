"""What the sanitizers with an optimised mechanism share."""

from skrldp._params import check_choice
from skrldp._typing import Floats
from skrldp.certificate import release
from skrldp.design.polyopt import SOLVERS, solve
from skrldp.joint import JointDistribution
from skrldp.region import Region
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._checks import check_time_limit
from skrldp.sanitizers._designed import Designed

__all__ = ["OptimalSanitizer"]


class OptimalSanitizer(BaseSanitizer):
    """Base class: maximal mutual information over a region, with parameters of the solver."""

    _default_encode = "symbol"
    _most_cells = 2_000  # a design and its proof take minutes there

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, SOLVERS)
        check_time_limit(self.time_limit)

    def _optimum(
        self, joint: JointDistribution, region: Region, distribution: Floats | None = None
    ) -> Designed:
        eps = self._budget()
        options = {"time_limit": self.time_limit, "verbose": self.verbose}
        solution = solve(
            joint, region, eps, distribution=distribution, solver=self.solver, **options
        )
        assert solution.matrix is not None  # only closed forms have none
        mechanism, certificate = release(
            solution.matrix,
            joint,
            region.uncertainty,
            eps,
            observe=region.observe,
            stand_in=self._public_values(joint) if region.observe == "nonsensitive" else None,
        )
        mechanism = mechanism.named(range(mechanism.shape[0]), ())
        likely = mechanism.likely_cells(joint.probabilities)
        return Designed(mechanism, certificate, solution, cells=likely)
