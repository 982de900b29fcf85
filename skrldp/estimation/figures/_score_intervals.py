r"""Score intervals for estimates by least squares.

The estimate of c·π is the average of weights :math:`w_y` of the reports, whose expectation is
θ = c·π. Its variance is :math:`(E w^2 - \theta^2) / N`. Wald's interval takes it at the estimate;
the score's takes it at each θ, and has all θ for which the estimate is within z standard errors,

.. math:: (\hat\theta - \theta)^2 \le z^2 (E_\theta w^2 - \theta^2) / N .

:math:`E w^2` is linear in π, and replaced by a line in θ, by regression on c over the cells: for a
share the line is exact if the records inside and outside the category are distributed as estimated.
For true records :math:`E_\theta w^2 = \theta`, and the interval is Wilson's.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly
from skrldp._typing import Floats
from skrldp.estimation._fit import Fit
from skrldp.estimation.figures._intervals import Ranges

__all__ = ["LeastSquaresRanges"]


class Line(NamedTuple):
    """What the expected square of the weight is at θ: level + slope · θ."""

    level: Floats  # (m,)
    slope: Floats  # (m,)


def _around(fit: Fit) -> Floats:
    """Distribution of the cells that the line is taken at; no cell is left without a record."""
    around: Floats = (fit.n * fit.likely + 1.0 / fit.channel.n_cells) / (fit.n + 1.0)
    return around


def line(fit: Fit, functions: Floats) -> Line:
    """Find the expected squares of the weights of linear functions.

    Shapes: functions (m, a).
    """
    around, squares = _around(fit), fit.weights.of(functions) ** 2
    given = np.stack([fit.channel.backward(row) for row in squares])  # in each cell, (m, a)
    square, centre = given @ around, functions @ around
    spread = functions**2 @ around - centre**2
    both = (given * functions) @ around - square * centre
    slope = np.divide(both, spread, out=np.zeros_like(both), where=spread > 0)
    return Line(square - slope * centre, slope)


def of_cells(fit: Fit) -> Line:
    """As :func:`line`, of the probabilities of all cells."""
    around, weights = _around(fit), fit.weights
    report = fit.channel.forward(around)
    square = weights.moments(report)[0] + weights.estimate(report) ** 2
    own = fit.weights.own_squares(fit.channel)
    rest = 1.0 - around
    others = np.divide(square - around * own, rest, out=square.copy(), where=rest > 0)
    return Line(others, own - others)


def score_intervals(values: Floats, found: Line, n: float, z: float) -> Floats:
    """Score intervals within 0 and 1; an estimate beyond counts as 0 or 1.

    Shapes: values (m,) to (m, 2).
    """
    at, ratio = np.clip(values, 0.0, 1.0), z**2 / n
    half = at + ratio * found.slope / 2.0
    rest = at**2 - ratio * found.level
    root = np.sqrt(np.maximum(half**2 - (1.0 + ratio) * rest, 0.0))
    low, high = (half - root) / (1.0 + ratio), (half + root) / (1.0 + ratio)
    return np.clip(np.stack([np.minimum(low, at), np.maximum(high, at)], axis=1), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class LeastSquaresRanges(ReadOnly, Ranges):
    """What least squares says about some figures between 0 and 1."""

    fit: Fit  # by least squares
    values: Floats  # (k,), the estimates
    labels: NDArray[np.intp] | None = None  # (a,), category of each cell, for categories
    function: Floats | None = None  # (a,), the linear function, for one figure

    def score(self, z: float, first: int) -> Floats:
        """See :class:`Ranges`."""
        return score_intervals(self.values[:first], self._line(first), self.fit.n, z)

    def _line(self, first: int) -> Line:
        if self.function is not None:
            return line(self.fit, self.function[None])
        assert self.labels is not None
        channel, k = self.fit.channel, len(self.values)
        if k == channel.n_cells:
            order = np.argsort(self.labels)[:first]
            return Line(*(part[order] for part in of_cells(self.fit)))
        found = Line(np.empty(k), np.empty(k))
        for rows, functions in channel.indicators(self.labels, k):
            if rows.start < first:
                found.level[rows], found.slope[rows] = line(self.fit, functions)
        return Line(found.level[:first], found.slope[:first])
