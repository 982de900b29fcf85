"""Checks of the parameters, the reports and the prior, and a warning about convergence."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skrldp._params import check_choice, is_finite, is_number
from skrldp._typing import Floats
from skrldp.estimation.channels import MOST_DENSE, Channel
from skrldp.estimation.likelihood import MOST_STEPS, ConvexSet, convex_set
from skrldp.estimation.reports import ENCODINGS, Source
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism
from skrldp.sets import effective_size, fitted_set

__all__ = [
    "check_names",
    "check_parameters",
    "check_possible",
    "read_prior",
    "read_restriction",
    "warn_of_gap",
]


METHODS = ("least-squares", "ml")


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that are not as described."""
    check_choice("method", estimator.method, METHODS)
    check_choice("encode", estimator.encode, ENCODINGS)
    limit = estimator.time_limit
    if limit is not None and not (is_finite(limit) and limit > 0):
        raise ValueError(
            f"time_limit={limit!r} must be a positive number of seconds, or None for no limit."
        )
    weight = estimator.prior_weight
    if not (is_number(weight) and 0.0 <= weight <= 1.0):
        raise ValueError(f"prior_weight={weight!r} must be a number between 0 and 1.")
    if estimator.restrict_to is not None and estimator.method != "ml":
        raise ValueError(
            "restrict_to needs method='ml': least squares would no longer be unbiased."
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


def read_prior(estimator: Any, mechanism: Mechanism, channel: Channel) -> Floats | None:
    """Return how many reports of each cell a prior stands for, (a,); None if there is none."""
    if estimator.prior is None or estimator.prior_weight == 0:
        return None
    check_names("the prior", estimator.prior, mechanism)
    _check_dense("a prior", channel)
    prior = estimator.prior
    if prior.survey is None:
        own = prior.counts.ravel().astype(float)
    else:
        own = effective_size(prior) * prior.probabilities.ravel()
    return float(estimator.prior_weight) * own


def read_restriction(estimator: Any, source: Source, channel: Channel) -> ConvexSet | None:
    """Return the convex set that `restrict_to` asks for; None without one."""
    wanted = estimator.restrict_to
    if wanted is None:
        return None
    public = source.joint if estimator.public is None else estimator.public
    if public is None:
        raise ValueError(
            "restrict_to needs the public distribution that the set is around: pass public= a "
            "JointDistribution, or the fitted sanitizer in place of its mechanism."
        )
    if not isinstance(public, JointDistribution):
        raise ValueError(
            "public must be a JointDistribution (a sanitizer's `joint_`), got "
            f"{type(public).__name__}."
        )
    fitted = fitted_set(public, wanted, "restrict_to")
    check_names("the public distribution", public, source.mechanism)
    _check_dense("restrict_to", channel)
    return convex_set(fitted, public)


def check_names(what: str, joint: JointDistribution, mechanism: Mechanism) -> None:
    """Refuse a distribution of other secrets or values than a mechanism's."""
    for name, own, its in (
        ("secrets", mechanism.secrets, joint.secrets),
        ("values", mechanism.values, joint.values),
    ):
        if tuple(own) != tuple(its):
            raise ValueError(
                f"{what} has other {name} than the mechanism, or in another order; make it with "
                "JointDistribution(counts, mechanism.secrets, mechanism.values)."
            )


def _check_dense(what: str, channel: Channel) -> None:
    if not channel.has_matrix:
        raise ValueError(
            f"{what} works up to {MOST_DENSE:,} cells, but the mechanism has {channel.n_cells:,}."
        )


def warn_of_gap(gap: float, n_iter: int, n: float, time_limit: float | None = None) -> None:
    """Warn that the likelihood may not be at its maximum."""
    steps, remedy = f"{n_iter:,} steps", "Use"
    if time_limit is not None:
        remedy = "Give a larger time_limit, or use"
    if n_iter < MOST_STEPS - 1:
        late = "" if time_limit is None else f", or the time limit of {time_limit:g} s,"
        steps += f" (the numerical precision{late} did not allow more)"
    warnings.warn(
        f"maximum likelihood stopped after {steps}: the log-likelihood may still rise by "
        f"{gap:.2g} nats per report ({gap * n:.2g} in all). {remedy} "
        "method='least-squares', which needs no steps.",
        ConvergenceWarning,
        stacklevel=3,
    )
