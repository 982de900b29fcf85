"""From a sanitizer's parameters to what is promised about its table."""

import math
from collections.abc import Callable
from typing import Any

from skrldp._params import check_eps, is_number
from skrldp.alphabet import spent_on_values
from skrldp.joint import JointDistribution
from skrldp.privacy import Promise, Requirements
from skrldp.sets import FittedSet
from skrldp.table import CellCodec, Grouping, resolve_columns

__all__ = [
    "MOST_EPS",
    "check_promise",
    "design_requirements",
    "grouping_of",
    "known_places",
    "promise_of",
]

MOST_EPS = 36.0  # weights have at most 53 bits, so no ratio of two can pass exp(36.7)


def check_promise(sanitizer: Any) -> None:
    """Check the parameters of the promise, as far as that can be done without a table.

    Raises ValueError if one of them is not as described.
    """
    check_eps("eps", sanitizer.eps)
    if (eps_all := getattr(sanitizer, "eps_all", None)) is not None:
        check_eps("eps_all", eps_all)


def _given(known: Any) -> bool:
    return known is not None and not (isinstance(known, list | tuple) and len(known) == 0)


def known_places(sanitizer: Any, X: Any) -> tuple[int, ...]:
    """Find the columns of a table that observers know.

    Returns tuple of int: positions in the table.
    """
    known = getattr(sanitizer, "known", None)
    return resolve_columns(X, known, "known") if _given(known) else ()


def _groups_what_is_known(codec: CellCodec, known: tuple[int, ...]) -> bool:
    """Whether a record's known values may become "other" because of values that are not known."""
    if not codec.groups_unknown or set(known) >= set(codec.nonsensitive):
        return False
    return codec.n_values < math.prod(len(codec.columns[place]) for place in codec.nonsensitive)


def grouping_of(sanitizer: Any, uncertainty: Any) -> Grouping:
    """Say which values are reported as "other", and what part of beta is for learning them."""
    sets = (uncertainty, getattr(sanitizer, "utility_uncertainty", None))
    betas = [getattr(one, "beta", None) for one in sets]  # not checked yet
    own = [float(beta) for beta in betas if is_number(beta) and 0.0 < beta < 1.0]
    return Grouping(
        sanitizer.min_frequency,
        unknown=sanitizer.handle_unknown == "infrequent_if_exist",
        beta=spent_on_values(min(own, default=0.05)),
    )


def design_requirements(promise: Promise, around: Any) -> Requirements:
    """List what rows of a design must satisfy, as closely as an uncertainty set states."""
    same_secret = getattr(around, "same_secret", False)
    return promise.requirements(getattr(around, "region", "joint"), same_secret)


def promise_of(
    sanitizer: Any,
    joint: JointDistribution,
    uncertainty: FittedSet,
    fit: Callable[[JointDistribution], FittedSet],
    codec: CellCodec,
    known: tuple[int, ...],
) -> Promise:
    """Make the promise that a sanitizer is asked for.

    Raises ValueError if `eps_all` is too small, or a known column is sensitive.
    """
    names = [str(column.name) for column in codec.columns]
    secret = [names[place] for place in known if place in codec.sensitive]
    if secret:
        raise ValueError(
            f"column {secret[0]} is sensitive, so it cannot be known: known columns are those of U "
            "that others know of a person. Leave it out of `known`, or out of `sensitive`."
        )
    if known and _groups_what_is_known(codec, known):
        raise ValueError(
            "handle_unknown='infrequent_if_exist' or min_frequency='auto' with known columns needs "
            "all combinations of the values of U: one that the alphabet lacks would be reported as "
            "'other' in every column, the known ones too, and so tell apart people of whom the "
            "same is known. Use "
            "categories='product', or list the values in `categories`."
        )
    eps = float(sanitizer.eps)
    eps_all = getattr(sanitizer, "eps_all", None)
    if eps_all is not None and eps_all < eps:
        raise ValueError(
            f"eps_all={eps_all:g} must be at least eps={eps:g}: the set is among all "
            "distributions. To promise eps_all alone, set eps to it as well."
        )
    return Promise.of(
        joint,
        uncertainty,
        min(eps, MOST_EPS),
        eps_all=None if eps_all is None else min(float(eps_all), MOST_EPS),
        known=[codec.nonsensitive.index(place) for place in known],
        observe=getattr(sanitizer, "observe", "all"),
        fit=fit,
    )
