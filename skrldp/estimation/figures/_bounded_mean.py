r"""The mean of a column from reports that do not determine it: a linear estimate of bounded bias.

Every report y gets a score :math:`w_y`, and the average score of the reports estimates the mean of
a column v. At the distribution π its bias is :math:`d\cdot\pi` with
:math:`d_x = \sum_y w_y Q_{yx} - v_x`. An unbiased estimate needs d = 0, which is impossible if v is
not in the row space of Q. But over a set of distributions the bias is between the two values of the
set's support function at d and −d: bounds that hold at every distribution of the set. Their middle
is subtracted, and half their distance bounds the remaining bias.

The scores minimise :math:`\sum_x \hat P_x d_x^2 + \lambda\,\mathrm{Var}_{\hat P}(w_Y)`, and λ is
chosen for the shortest interval at the public distribution. Scores do not depend on the reports, so
their average is one of independent numbers. The interval is that of a normal estimate
whose bias is bounded (Donoho 1994; Armstrong and Kolesár 2018): its half-length is the 1 − α
quantile of :math:`|N(t, 1)|` times the standard error, t being the bias in standard errors.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import ncx2, norm

from skrldp._typing import Floats
from skrldp.estimation.channels import Channel, DenseChannel
from skrldp.estimation.likelihood import greatest_over_set
from skrldp.joint import JointDistribution
from skrldp.sets import FittedSet
from skrldp.support_function import support

__all__ = ["Scores", "average", "half_width", "scores_for"]

_RIDGES = (0.0, *10.0 ** np.arange(-8.0, 1.0))  # in units of the variance of the column
_LEVEL = 0.95  # that the length of the interval is judged at
_LARGE = 20.0  # biases in standard errors beyond which only one tail counts
_RANK = 1e-12


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of the reports, and a bound on the bias of their average."""

    scores: Floats  # (b,), score of each symbol, with the middle of the bounds subtracted
    bias: float  # bound on the bias of the expected score at every distribution of the set


def half_width(bias: float, error: float, level: float) -> float:
    """Half-length of the interval around a normal estimate whose bias is bounded.

    Examples
    --------
    >>> round(half_width(0.0, 1.0, 0.95), 2), round(half_width(3.0, 1.0, 0.95), 2)
    (1.96, 4.64)
    """
    if error <= 0.0:
        return bias
    ratio = bias / error
    if ratio > _LARGE:
        return bias + error * float(norm.ppf(level))
    if ratio == 0.0:
        return error * float(norm.ppf(0.5 + level / 2.0))
    return error * float(np.sqrt(ncx2.ppf(level, 1, ratio**2)))


def _greatest(function: Floats, around: FittedSet, joint: JointDistribution) -> float:
    """Upper bound of a linear function of the distribution over a set."""
    if around.joint_radius is not None and not around.is_everything:
        public = joint.probabilities.ravel()
        if around.is_point:
            return float(function @ public)
        problem = function[None, None], public[None, None], np.ones((1, 1))
        return float(support(*problem, around.alpha, around.joint_radius).bound[0])
    return float(greatest_over_set(function[None], around, joint)[0].max())


def scores_for(
    channel: Channel, numbers: Floats, around: FittedSet, joint: JointDistribution, n: float
) -> Scores:
    """Choose scores for the mean of a column over a set.

    Shapes: numbers (a,).
    """
    assert isinstance(channel, DenseChannel)
    matrix, public = channel.matrix, joint.probabilities.ravel()
    # A cell without public records gets a little weight: its scores would be arbitrary otherwise.
    weight = (joint.n * public + 1.0 / len(public)) / (joint.n + 1.0)
    report = channel.forward(weight)
    centre = float(weight @ numbers)
    gram = (matrix * weight) @ matrix.T
    target = (matrix * weight) @ (numbers - centre)
    best: tuple[float, Scores] | None = None
    for ridge in _RIDGES:
        inverse = np.linalg.pinv(gram + ridge * np.diag(report), rcond=_RANK, hermitian=True)
        scores = centre + inverse @ target
        excess = channel.backward(scores) - numbers
        high = _greatest(excess, around, joint)
        low = -_greatest(-excess, around, joint)
        bias = max(0.0, (high - low) / 2.0)
        error = float(np.sqrt(report @ (scores - report @ scores) ** 2 / n))
        length = half_width(bias, error, _LEVEL)
        if best is None or length < best[0]:
            best = length, Scores(scores - (high + low) / 2.0, bias)
    assert best is not None
    return best[1]


def average(scores: Scores, distribution: Floats, report: Floats, n: float) -> tuple[float, float]:
    """Average score of the reports, and its standard error.

    Shapes: distribution (b,), report (b,).
    """
    w: Any = scores.scores
    return float(distribution @ w), float(np.sqrt(report @ (w - report @ w) ** 2 / n))
