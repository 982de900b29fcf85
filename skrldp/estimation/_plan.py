"""What a plan asks for, and the fit that estimators would make of the expected reports."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skrldp._arrays import real_numbers
from skrldp._params import is_finite, shown
from skrldp._typing import Floats
from skrldp.estimation._checks import check_names
from skrldp.estimation._fit import Fit
from skrldp.estimation._threads import one_thread
from skrldp.estimation.channels import MOST_DENSE, channel_of
from skrldp.estimation.likelihood import NearZero
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism

__all__ = ["checked_n", "distribution_of", "expected_fit"]

_SUM = 1e-6  # by which the sum of probabilities may differ from 1


def checked_n(n: Any) -> float:
    if not (is_finite(n) and n >= 1 and n == int(n)):
        raise ValueError(f"n={shown(n)} must be a whole number of reports, at least 1.")
    return float(n)


def distribution_of(own: Mechanism, sanitizer: Any, distribution: Any) -> Floats:
    """Return the distribution that records are taken to follow, (a1, a2)."""
    if distribution is None:
        if sanitizer is None:
            raise ValueError(
                "a mechanism alone does not say what the records follow: give distribution=, a "
                "JointDistribution or an array of secrets by values, or pass the fitted sanitizer."
            )
        public: Floats = sanitizer.joint_.probabilities
        return public
    if isinstance(distribution, JointDistribution):
        check_names("the distribution", distribution, own)
        return distribution.probabilities
    table = _numbers(distribution)
    shape = len(own.secrets), len(own.values)
    if table.shape != shape:
        raise ValueError(
            f"distribution has shape {table.shape}, but the mechanism has {shape[0]} secrets and "
            f"{shape[1]} values of U: it must have shape {shape}."
        )
    total = float(table.sum())
    if not (np.all(np.isfinite(table)) and table.min() >= 0.0 and abs(total - 1.0) <= _SUM):
        raise ValueError(
            "distribution must have probabilities: numbers of at least 0 whose sum is 1. Counts of "
            "records become one with JointDistribution(counts, mechanism.secrets, "
            "mechanism.values)."
        )
    return table / total


def _numbers(distribution: ArrayLike) -> Floats:
    numbers: Floats = real_numbers(distribution, "distribution").astype(np.float64)
    return numbers


def expected_fit(
    own: Mechanism, n: float, distribution: Floats, method: str, asymptotic: bool
) -> Fit:
    """Fit the expected shares of the reports: the estimate is the distribution itself."""
    channel = channel_of(own, most_dense=MOST_DENSE if method == "ml" else 0)
    cells = distribution.ravel()
    near_zero = None
    with one_thread():
        report = channel.positive(channel.forward(cells))
        weights = channel.weights(report if method == "ml" else channel.uniform)
        if method == "ml" and not asymptotic and len(cells) <= MOST_DENSE:
            near_zero = NearZero(channel, cells, report, n)
    unbiased = method != "ml"
    return Fit(cells, cells, cells, weights, report, channel, n, unbiased, near_zero)
