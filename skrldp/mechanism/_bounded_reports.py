"""Whether a number of reports about each person has a bound."""

from __future__ import annotations

import math

from skrldp._params import at_most
from skrldp.mechanism._guarantee import Guarantee

__all__ = ["bound_of_reports"]


def bound_of_reports(
    guarantee: Guarantee | None, reports: int, eps: float | None, allow_one: str
) -> float:
    """Check that so many reports about one person have a bound.

    Returns float: the most that they leak together, in nats. Raises ValueError if there is no such
    bound, or it is more than `eps`.
    """
    if guarantee is None:
        raise ValueError("this mechanism states no guarantee, so no number of reports is safe.")
    bound = guarantee.bound_of(reports)
    if bound == math.inf:
        raise ValueError(
            f"this mechanism's guarantee bounds one report about each person, not {reports}, which "
            "may reveal the secret: fit with eps_all=, the bound for further reports, or allow one "
            f"by {allow_one}."
        )
    if eps is not None and bound > eps:
        raise ValueError(
            f"{reports} reports of this mechanism may leak {at_most(bound)} nats together, more "
            f"than eps={eps!r}: fit with a smaller eps_all=, or allow fewer."
        )
    return bound
