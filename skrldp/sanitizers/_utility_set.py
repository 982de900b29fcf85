"""The set for the worst expected cost: of joint distributions, apart from the privacy set."""

from dataclasses import replace
from typing import Any

from sklearn.base import clone

from skrldp._typing import Floats
from skrldp.design.distance_problem import expected_distance
from skrldp.joint import JointDistribution
from skrldp.sanitizers._fitted_state import Designed
from skrldp.sets import FittedSet, RenyiBall, RenyiSet

__all__ = [
    "PUBLIC_ALONE",
    "check_utility_uncertainty",
    "fit_utility_set",
    "over_set",
    "worst_distance",
]

PUBLIC_ALONE = RenyiSet(1.0, 0.0)  # one distribution, of whatever order

_USE = "RenyiBall(alpha=1, radius='finite-sample'), another RenyiBall or AllDistributions()"


def check_utility_uncertainty(uncertainty: Any) -> None:
    """Refuse what is no set of joint distributions.

    Raises ValueError if it is a class, or no uncertainty set.
    """
    if uncertainty is None:
        return
    if isinstance(uncertainty, type):
        raise ValueError(
            f"utility_uncertainty must be an instance, got the class {uncertainty.__name__}: "
            f"write utility_uncertainty={uncertainty.__name__}()."
        )
    if not hasattr(uncertainty, "fit_set"):
        raise ValueError(f"utility_uncertainty={uncertainty!r} must be None or {_USE}.")


def fit_utility_set(
    chosen: Any, uncertainty: Any, private: FittedSet, joint: JointDistribution
) -> tuple[Any, FittedSet]:
    """Make the set for the worst expected cost around a public distribution.

    Returns `chosen`: a copy of what was chosen, with its radius ``B_``. None is the set for privacy
    if that is one of joint distributions, or else a Kullback-Leibler ball that corresponds to it.
    Raises ValueError if its parameters are out of range, or it says nothing of the marginal of S.
    """
    fitted: FittedSet
    if chosen is not None:
        chosen = clone(chosen, safe=False)
        fitted = chosen.fit_set(joint)
    elif private.joint_radius is not None:
        chosen, fitted = clone(uncertainty, safe=False), private
    else:
        parameters, more = private.ball_beside()
        chosen = RenyiBall(**parameters)
        ball = chosen.fit_set(joint)
        fitted = replace(ball, radius=ball.radius + more)
    if fitted.joint_radius is None:
        raise ValueError(_no_marginal(type(chosen).__name__))
    chosen.B_ = fitted.joint_radius
    return chosen, fitted


def over_set(useful: FittedSet, private: FittedSet) -> str:
    """Say in words which set the worst distance is over, and with which betas."""
    known = (("utility", useful.beta), ("privacy", private.beta))
    betas = ", ".join(f"{name} beta = {beta:g}" for name, beta in known if beta is not None)
    return f"{useful.describe()}; {betas}" if betas else useful.describe()


def _no_marginal(name: str) -> str:
    return (
        f"utility_uncertainty cannot be a {name}: it limits the distributions of U given S and "
        "says nothing about the marginal of S, on which an expected distance depends. Use "
        f"{_USE}. As `uncertainty`, for privacy, a {name} is right."
    )


def worst_distance(
    joint: JointDistribution, design: Designed, uncertainty: FittedSet
) -> tuple[float, Floats]:
    """Return the expected distance at the worst distribution of a set, and that distribution.

    Shapes: returns (a1 * a2,).
    """
    assert design.distance is not None  # RobustMSE's design gives it
    return expected_distance(joint, design.distance, uncertainty).worst(design.mechanism.matrix)
