"""Models of a response whose score is that of an exponential family with its canonical link."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logsumexp, softmax

from skrldp._typing import Floats

__all__ = ["FAMILIES", "Family"]


class Family(NamedTuple):
    """Mean and variance of a response, as functions of linear predictors.

    Attributes
    ----------
    name : str
    link : str
    of_categories : bool
        Whether the linear predictors are those of categories.
    cumulant : callable
        (g, j) to (g,); its gradient is the mean.
    mean : callable
        (g, j) to (g, j).
    variance : callable
        Derivatives of the means by the predictors, (g, j) to (g, j, j).
    """

    name: str
    link: str
    of_categories: bool
    cumulant: Callable[[Floats], Floats]
    mean: Callable[[Floats], Floats]
    variance: Callable[[Floats], Floats]


def _all_categories(predictors: Floats) -> Floats:
    """Put the predictor of the reference category, 0, before those of the others."""
    return np.concatenate([np.zeros((len(predictors), 1)), predictors], axis=1)


def _softmax(predictors: Floats) -> Floats:
    found: Floats = softmax(_all_categories(predictors), axis=1)[:, 1:]
    return found


def _softmax_variance(predictors: Floats) -> Floats:
    mean = _softmax(predictors)
    return mean[:, :, None] * (np.eye(mean.shape[1]) - mean[:, None, :])


FAMILIES = {
    "ols": Family(
        "linear",
        "identity",
        False,
        lambda eta: (eta[:, 0] ** 2) / 2.0,
        lambda eta: eta,
        lambda eta: np.ones((*eta.shape, 1)),
    ),
    "logit": Family(
        "logistic",
        "logit",
        True,
        lambda eta: np.logaddexp(0.0, eta[:, 0]),
        expit,
        lambda eta: (expit(eta) * expit(-eta))[:, :, None],
    ),
    "poisson": Family(
        "Poisson",
        "log",
        False,
        lambda eta: np.exp(eta[:, 0]),
        np.exp,
        lambda eta: np.exp(eta)[:, :, None],
    ),
    "mnlogit": Family(
        "multinomial logistic",
        "logit",
        True,
        lambda eta: np.asarray(logsumexp(_all_categories(eta), axis=1)),
        _softmax,
        _softmax_variance,
    ),
}
