"""Which standard errors of maximum likelihood are stated: those that zeros do not make too large.

Fisher's information assumes positive probabilities. Near a zero the estimate cannot move freely
and its spread is smaller. So the error is computed twice: from the reports alone, and as if one
true record of each cell had been seen as well. This record adds 1/π_x² to the information about
the probability π_x of a cell: little where the reports determine π_x well, and most of the
information where they only tell that π_x is small. The spread of the estimate is between the two
errors. An error is stated where both agree within a tenth: for a share of true records, where more
than four records are expected.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from skrldp._typing import Booleans, Floats
from skrldp.estimation.channels import BlockChannel, Channel, FourNumbers
from skrldp.estimation.likelihood._convex_functions import Convex

__all__ = ["NearZero", "agree"]

Solved = Callable[[Floats], Floats]  # functions (m, a), times the inverse of the information

_KEPT = 0.9  # of a standard error, that must be left when a record of each cell is added
_MOST_KNOWN = (
    10.0  # times the information of n reports: a constraint that tells more fixes its direction
)
_TINY = 1e-300
_LEAST = 1e-150  # probability whose square can be divided by


def agree(free: Floats, anchored: Floats) -> Booleans:
    """Whether variances stay nearly the same if one record more of each cell is added."""
    agreed: Booleans = anchored >= _KEPT**2 * free
    return agreed


class NearZero:
    """Variances of estimates if one record more of each cell had been seen.

    Shapes: distribution (a,), report (b,).
    """

    def __init__(
        self,
        channel: Channel,
        distribution: Floats,
        report: Floats,
        n: float,
        constraints: Sequence[Convex] = (),
    ) -> None:
        inverse = np.divide(n, report, out=np.zeros_like(report), where=report > 0)
        if isinstance(channel, BlockChannel) and not constraints:
            ratio = 1.0 / np.maximum(distribution, _LEAST) ** 2
            self._solved: Solved = partial(_by_blocks, channel.blocks, inverse[None], ratio[None])
        else:
            rows = channel.dense().matrix * np.sqrt(inverse)[:, None]
            factor = _factor(rows * distribution, distribution, n, constraints)
            self._solved = partial(_by_factor, factor, distribution)
        self._sum = self._solved(np.ones((1, len(distribution))))[0]

    def variances(self, functions: Floats) -> Floats:
        """Variances of linear functions of the distribution, (m, a) to (m,)."""
        shared = functions @ self._sum  # all probabilities together do not vary
        found: Floats = np.sum(functions * self._solved(functions), axis=1)
        return np.maximum(found - shared**2 / self._sum.sum(), 0.0)


def _by_blocks(blocks: FourNumbers, heights: Floats, ratio: Floats, functions: Floats) -> Floats:
    """Multiply functions (m, a) by the inverse of the information."""
    return blocks.solved(heights, ratio, functions[None])[0]


def _by_factor(factor: Any, distribution: Floats, functions: Floats) -> Floats:
    """Multiply functions (m, a) by the inverse of the information, of which a factor is given."""
    found: Floats = cho_solve(factor, (functions * distribution).T).T * distribution
    return found


def _factor(rows: Floats, distribution: Floats, n: float, constraints: Sequence[Convex]) -> Any:
    """Factorise the information in units of the probabilities, so that zeros divide nothing.

    Shapes: rows (b, a), distribution (a,).
    """
    information = rows.T @ rows
    information.flat[:: len(information) + 1] += 1.0
    for constraint in constraints:
        slope = constraint.slope(distribution[None])[0]
        room = -float(constraint.value(distribution[None])[0])
        slope = (slope - slope @ distribution) * distribution  # moves keep the sum
        least = float(np.linalg.norm(slope)) / (_MOST_KNOWN * np.sqrt(n))
        slope /= max(room, least, _TINY)
        information += np.outer(slope, slope)
    return cho_factor(information, lower=True)
