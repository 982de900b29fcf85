"""A bound on what designs can reach, and where it comes from."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["ObjectiveBound", "distance_in_words", "least"]


_EQUAL = 1e-6  # relative distance of an objective that is called equal to its bound


@dataclass(frozen=True)
class ObjectiveBound:
    """A value that no mechanism is better than.

    Attributes
    ----------
    value : float
        In the unit of the objective.
    by : str
        Where the value comes from, as a noun: it stands behind "bound:".
    """

    value: float
    by: str


def least(bounds: Iterable[ObjectiveBound]) -> ObjectiveBound:
    """Take the least of several bounds on a quantity that is maximised."""
    return min(bounds, key=lambda bound: bound.value)


def distance_in_words(objective: float, bound: float, by: str, gap: float) -> str:
    """Say how far an objective is from a bound, and from which.

    Examples
    --------
    >>> distance_in_words(0.75, 1.0, "entropy of U", 0.25)
    'at most 25% below the optimum (bound: entropy of U)'
    """
    origin = f" (bound: {by})" if by else ""
    if gap <= _EQUAL:
        return f"optimal to six digits{origin}"
    side = "below" if objective < bound else "above"
    return f"at most {100.0 * gap:.3g}% {side} the optimum{origin}"
