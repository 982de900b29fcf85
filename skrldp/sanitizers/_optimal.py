"""What the sanitizers with an optimised mechanism share."""

from typing import Any

from numpy.typing import NDArray

from skrldp._params import check_choice
from skrldp.certificate import release
from skrldp.design.polyopt import SOLVERS, solve
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._checks import check_time_limit

__all__ = ["OptimalSanitizer"]


class OptimalSanitizer(BaseSanitizer):
    """Base class: maximal mutual information over a region, with parameters of the solver."""

    _default_encode = "symbol"
    _most_cells = 2_000  # a design and its proof take minutes there

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, SOLVERS)
        check_time_limit(self.time_limit)

    def _optimum(self, joint, region, alpha, radius, law=None):
        eps = self._budget()
        options = {"time_limit": self.time_limit, "verbose": self.verbose}
        solution = solve(joint, region, eps, law=law, solver=self.solver, **options)
        mechanism, certificate = release(
            solution.matrix,
            joint,
            alpha,
            radius,
            eps,
            blind=region.blind,
            stand_in=self._public_values(joint) if region.blind else None,
        )
        return mechanism.named(range(mechanism.shape[0]), ()), certificate, solution

    def _reported_cells(self) -> NDArray[Any]:
        return self.mechanism_.likely_cells(self.joint_.probabilities)
