"""The set for the worst expected cost: of joint distributions, apart from the privacy set."""

from typing import Any

from sklearn.base import clone

from skrldp.joint import JointDistribution
from skrldp.uncertainty_set import (
    ConditionalsSet,
    FittedSet,
    LikelihoodRatioSet,
    RenyiBall,
    RenyiSet,
)

__all__ = ["check_utility_uncertainty", "default_for_utility", "fit_utility_set", "over_set"]

_USE = "RenyiBall(alpha=1, radius='finite-sample'), another RenyiBall or AllDistributions()"


def check_utility_uncertainty(uncertainty: Any) -> None:
    """Refuse what is no set of joint distributions.

    Parameters
    ----------
    uncertainty : object
        The parameter ``utility_uncertainty``.

    Raises
    ------
    ValueError
        If it is a class, no uncertainty set, or one of conditionals.
    """
    if uncertainty is None:
        return
    if isinstance(uncertainty, type):
        raise ValueError(
            f"utility_uncertainty must be an instance, got the class {uncertainty.__name__}: "
            f"write utility_uncertainty={uncertainty.__name__}()."
        )
    if isinstance(uncertainty, LikelihoodRatioSet):
        raise ValueError(_no_marginal("LikelihoodRatioSet"))
    if not hasattr(uncertainty, "fit_set"):
        raise ValueError(f"utility_uncertainty={uncertainty!r} must be None or {_USE}.")


def fit_utility_set(uncertainty: Any, joint: JointDistribution) -> RenyiSet:
    """Make the set around a public distribution.

    Parameters
    ----------
    uncertainty : RenyiBall or AllDistributions
        The parameter ``utility_uncertainty``.
    joint : JointDistribution
        The public distribution.

    Returns
    -------
    RenyiSet

    Raises
    ------
    ValueError
        If its parameters are out of range, or it says nothing of the marginal of S.
    """
    fitted = uncertainty.fit_set(joint)
    if not isinstance(fitted, RenyiSet):
        raise ValueError(_no_marginal(type(uncertainty).__name__))
    return fitted


def default_for_utility(
    uncertainty: Any, private: FittedSet, joint: JointDistribution
) -> tuple[Any, RenyiSet]:
    """Choose the set for the utility from that for privacy.

    Parameters
    ----------
    uncertainty : RenyiBall, AllDistributions or LikelihoodRatioSet
        The set that privacy is required for.
    private : FittedSet
        The same, fitted.
    joint : JointDistribution
        The public distribution.

    Returns
    -------
    uncertainty : RenyiBall or AllDistributions
        The same set if it is one of joint distributions. Otherwise the Kullback-Leibler ball that
        has the same beta and a radius by the same rule; a given radius is its radius.
    fitted : RenyiSet
        The ball around the public distribution. Its radius includes the drift: if the conditionals
        are off by δ more each, the divergence of the joint distribution is by at most δ more.
    """
    if isinstance(private, RenyiSet):
        return clone(uncertainty, safe=False), private
    assert isinstance(private, ConditionalsSet)
    if private.beta is None:
        ball = RenyiBall(alpha=1.0, radius=private.pair)
    else:
        rule = "chi2" if private.rule == "asymptotic" else "finite-sample"
        ball = RenyiBall(alpha=1.0, beta=private.beta, radius=rule)
    found = ball.fit_set(joint)
    radius = found.radius + private.drift
    return ball, RenyiSet(found.alpha, radius, found.rule, found.beta, found.n_records)


def over_set(useful: RenyiSet, private: FittedSet) -> str:
    """Say in words which set the worst distance is over, and with which betas.

    Parameters
    ----------
    useful : RenyiSet
        The set for the utility.
    private : FittedSet
        That for privacy.

    Returns
    -------
    str
    """
    known = (("utility", useful.beta), ("privacy", private.beta))
    betas = ", ".join(f"{name} beta = {beta:g}" for name, beta in known if beta is not None)
    return f"{useful.describe()}; {betas}" if betas else useful.describe()


def _no_marginal(name: str) -> str:
    return (
        f"utility_uncertainty cannot be a {name}: it limits the distributions of U given S and "
        "says nothing about the marginal of S, on which an expected distance depends. Use "
        f"{_USE}. As `uncertainty`, for privacy, a {name} is right."
    )
