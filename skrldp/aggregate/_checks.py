"""Checks of the parameters, the reports and the prior, and a warning about convergence."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skrldp._params import check_choice, is_finite, is_number
from skrldp._typing import Floats
from skrldp.aggregate._channels import Channel, DenseChannel
from skrldp.aggregate._reports import ENCODINGS
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism

__all__ = ["MOST_DENSE", "check_parameters", "check_possible", "check_prior", "warn_of_gap"]


METHODS = ("least-squares", "ml")
MOST_DENSE = 2_500  # cells up to which maximum likelihood uses the matrix of four probabilities


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that are not as described."""
    check_choice("method", estimator.method, METHODS)
    check_choice("encode", estimator.encode, ENCODINGS)
    if not (is_finite(estimator.tol) and estimator.tol > 0):
        raise ValueError(f"tol={estimator.tol!r} must be a positive number (nats per report).")
    if not (is_finite(estimator.max_iter) and estimator.max_iter == int(estimator.max_iter) >= 1):
        raise ValueError(f"max_iter={estimator.max_iter!r} must be a whole number >= 1.")
    limit = estimator.time_limit
    if limit is not None and not (is_number(limit) and limit > 0):
        raise ValueError(
            f"time_limit={limit!r} must be a positive number of seconds, or None for no limit."
        )
    if estimator.prior is None:
        return
    if not isinstance(estimator.prior, JointDistribution):
        raise ValueError(
            "prior must be None or a JointDistribution (a sanitizer's `joint_`), got "
            f"{type(estimator.prior).__name__}."
        )
    if estimator.method != "ml":
        raise ValueError("a prior needs method='ml': least squares would no longer be unbiased.")


def check_possible(counts: Floats, channel: Channel) -> None:
    """Refuse reports that a mechanism never sends."""
    wrong = np.flatnonzero((counts > 0) & ~channel.possible)
    if wrong.size:
        raise ValueError(
            f"there are {int(counts[wrong[0]]):,} reports of symbol {wrong[0]}, which this "
            "mechanism never sends: these are reports of another mechanism."
        )


def check_prior(prior: JointDistribution, mechanism: Mechanism, channel: Channel) -> Floats:
    """Return a prior's number of records of each cell, (a,)."""
    for name, own, its in (
        ("secrets", mechanism.secrets, prior.secrets),
        ("values", mechanism.values, prior.values),
    ):
        if tuple(own) != tuple(its):
            raise ValueError(
                f"the prior has other {name} than the mechanism: {list(its)[:4]}, not "
                f"{list(own)[:4]}; make it with JointDistribution(counts, mechanism.secrets, "
                "mechanism.values)."
            )
    if not isinstance(channel, DenseChannel):
        raise ValueError(
            f"a prior works up to {MOST_DENSE:,} cells, but the mechanism has {channel.n_cells:,}."
        )
    return prior.counts.ravel().astype(float)


def warn_of_gap(gap: float, n_iter: int, n: float, estimator: Any) -> None:
    """Warn that the likelihood may not be at its maximum."""
    tol, limit = estimator.tol, estimator.time_limit
    steps = f"{n_iter:,} steps"
    if limit is not None and n_iter < estimator.max_iter - 1:
        steps += f" (the numerical precision, or the time limit of {limit:g} s, did not allow more)"
    warnings.warn(
        f"maximum likelihood stopped after {steps}: the log-likelihood may still rise by "
        f"{gap:.2g} nats per report ({gap * n:.2g} in all), and tol={tol:g}. Allow more with "
        "max_iter, time_limit or tol, or use method='least-squares', which needs no steps.",
        ConvergenceWarning,
        stacklevel=3,
    )
