"""A bound on what designs can reach, and where it comes from."""

from collections.abc import Iterable
from dataclasses import dataclass

from skrldp._numbers import at_most

__all__ = ["ObjectiveBound", "distance_in_words", "least"]


_EQUAL = 1e-6  # relative distance of an objective that is called equal to its bound


@dataclass(frozen=True)
class ObjectiveBound:
    """A value that no mechanism is better than."""

    value: float  # in the unit of the objective
    by: str  # where the value comes from, as a noun: it stands behind "bound:"


def least(bounds: Iterable[ObjectiveBound]) -> ObjectiveBound:
    """Take the least of several bounds on a quantity that is maximised."""
    return min(bounds, key=lambda bound: bound.value)


def distance_in_words(objective: float, bound: float, by: str) -> str:
    """Say how far an objective is from the optimum at most, and by which bound.

    The optimum is between the two. So the distance, as a share of the optimum, is at most the
    distance as a share of the bound, if both have one sign. A bound that is further away than its
    own size says nothing of use, and has no words.

    Examples
    --------
    >>> distance_in_words(0.75, 1.0, "entropy of U"), distance_in_words(3.0, 1.0, "records")
    ('at most 25 % below the best possible (bound: entropy of U)', '')
    """
    origin = f" (bound: {by})" if by else ""
    distance = abs(objective - bound)
    if distance <= _EQUAL * abs(bound):
        return f"optimal to six digits{origin}"
    side = "below" if objective < bound else "above"
    if objective * bound <= 0.0:
        most = at_most(distance, ".3g")
    elif distance <= abs(bound):
        most = f"{float(at_most(100.0 * distance / abs(bound), '.3g')):g} %"
    else:
        return ""
    return f"at most {most} {side} the best possible{origin}"
