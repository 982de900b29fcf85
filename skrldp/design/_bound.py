"""A bound on what designs can reach, and where it comes from."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Bound", "distance_in_words", "least"]


_EQUAL = 1e-6  # relative distance of an objective that is called equal to its bound


@dataclass(frozen=True)
class Bound:
    """A value that no mechanism is better than.

    Attributes
    ----------
    value : float
        In the unit of the objective.
    by : str
        What has that value, in a few words that follow "no better than".
    """

    value: float
    by: str


def least(bounds: Iterable[Bound]) -> Bound:
    """Take the least of several bounds on a quantity that is maximised."""
    return min(bounds, key=lambda bound: bound.value)


def distance_in_words(objective: float, bound: float, by: str, gap: float) -> str:
    """Say how far an objective is from a bound, and from which.

    Examples
    --------
    >>> distance_in_words(0.75, 1.0, "telling all of U", 0.25)
    '25% below telling all of U; no private mechanism can be better than that'
    """
    by = by or "its bound"
    if gap <= _EQUAL:
        return f"equal to {by} to six digits; no private mechanism can be better"
    side = "below" if objective < bound else "above"
    return f"{100.0 * gap:.3g}% {side} {by}; no private mechanism can be better than that"
