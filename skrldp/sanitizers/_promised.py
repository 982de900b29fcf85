"""From a sanitizer's parameters to what is promised about its table."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from skrldp._arrays import refuse_masked
from skrldp._params import LEAST_EPS, check_eps, is_finite, is_number, shown
from skrldp._typing import Floats
from skrldp.alphabet import plain_name, spent_on_values
from skrldp.joint import JointDistribution
from skrldp.privacy import Promise, Requirements, greatest_eps
from skrldp.sets import FittedSet
from skrldp.table import CellCodec, Grouping, resolve_columns

__all__ = [
    "MOST_EPS",
    "check_promise",
    "design_requirements",
    "drawn_from",
    "eps_of_pairs",
    "grouping_of",
    "known_places",
    "may_draw",
    "promise_of",
]

MOST_EPS = 36.0  # weights have at most 53 bits, so no ratio of two can pass exp(36.7)

_DRAWN_ANEW = (
    "a draw from the public distribution does not keep what is known of the record. Use "
    "handle_unknown='infrequent_if_exist', or 'error'."
)


def check_promise(sanitizer: Any) -> None:
    """Check the parameters of the promise, as far as that can be done without a table.

    Raises ValueError if one of them is not as described.
    """
    eps = sanitizer.eps
    if not _by_pair(eps):
        check_eps("eps", eps)
    elif not hasattr(sanitizer, "solver"):
        raise ValueError(
            f"eps must be a number for {type(sanitizer).__name__}: one for each pair of secrets is "
            "for PolyOptSanitizer, RobustMSESanitizer and NonRobustSanitizer."
        )
    elif getattr(sanitizer.uncertainty, "same_secret", False):
        raise ValueError(
            "RenyiBall(same_secret=True) needs a number for eps: a secret that is compared with "
            "itself is no pair with an ε of its own."
        )
    for name in ("eps_all", "eps_known"):
        value = getattr(sanitizer, name, None)
        if value is not None:
            check_eps(name, value)
    if sanitizer.handle_unknown == "impute" and sanitizer.min_frequency == "auto":
        raise ValueError(
            "handle_unknown='impute' cannot go with min_frequency='auto', which reports unknown "
            "values as 'other'."
        )
    if getattr(sanitizer, "eps_known", None) is not None and not _given(sanitizer.known):
        raise ValueError(
            "eps_known is for what observers know of U, but known is None: name the columns that "
            "they know."
        )
    if _given(getattr(sanitizer, "known", None)) and sanitizer.handle_unknown == "impute":
        raise ValueError(f"handle_unknown='impute' cannot go with known columns: {_DRAWN_ANEW}")


def _given(known: Any) -> bool:
    return known is not None and not (isinstance(known, list | tuple) and len(known) == 0)


def _by_pair(eps: Any) -> bool:
    """Whether ε is given by pair of secrets."""
    return isinstance(eps, Mapping | list | tuple) or np.ndim(eps) > 0


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
    beta: Any = getattr(uncertainty, "beta", None)  # not checked yet
    is_probability = is_number(beta) and 0.0 < beta < 1.0
    return Grouping(
        sanitizer.min_frequency,
        sanitizer.max_categories,
        sanitizer.alphabet_fraction,
        unknown=sanitizer.handle_unknown == "infrequent_if_exist",
        beta=spent_on_values(float(beta) if is_probability else 0.05),
    )


def design_requirements(promise: Promise, around: Any) -> Requirements:
    """List what rows of a design must satisfy, as closely as an uncertainty set states."""
    same_secret = getattr(around, "same_secret", False)
    return promise.requirements(getattr(around, "region", "joint"), same_secret)


def drawn_from(sanitizer: Any, promise: Promise) -> Floats | None:
    """Distribution that unknown values of U are drawn from, where U alone is observed.

    Returns (a2,): the public distribution of U; None where nothing is drawn, or the secret is
    known.
    """
    if promise.observe != "nonsensitive" or sanitizer.handle_unknown != "impute":
        return None
    values: Floats = promise.joint.probabilities.sum(axis=0)
    return values


def may_draw(promise: Promise) -> bool:
    """Whether unknown values of U may be drawn for their secret, without more being proven.

    The conditionals of U given S stay in a convex set when draws from the public ones are mixed in.
    Nothing is known of those given known values, since a draw keeps nothing.
    """
    return promise.observe == "all" and not any(s.known for s in promise.statements)


def eps_of_pairs(eps: Any, secrets: Sequence[Any]) -> float | Floats:
    """Return ε as a number, or as a checked array over pairs of secrets.

    Shapes: `eps` (a1, a1); returns (a1, a1). Raises ValueError if it is no symmetric array of
    positive numbers, or a mapping with other pairs.
    """
    if not _by_pair(eps):
        return float(eps)
    a1 = len(secrets)
    matrix = _from_mapping(eps, secrets) if isinstance(eps, Mapping) else _from_array(eps, a1)
    apart = ~np.eye(a1, dtype=bool)
    wrong = apart & ~(matrix >= LEAST_EPS)
    if wrong.any():
        s, t = np.argwhere(wrong)[0]
        raise ValueError(
            f"eps must be positive for each two secrets, at least {LEAST_EPS:g} nats (np.inf: not "
            f"compared), but it is {matrix[s, t]} for those at positions {s} and {t} of "
            "joint_.secrets."
        )
    if np.any(apart & (matrix != matrix.T)):
        s, t = np.argwhere(apart & (matrix != matrix.T))[0]
        raise ValueError(
            f"eps must be symmetric, but it is {matrix[s, t]:g} for secrets {s} and {t} and "
            f"{matrix[t, s]:g} for {t} and {s} (positions in joint_.secrets): take the smaller "
            "number for both, np.minimum(eps, eps.T)."
        )
    if a1 > 1 and not np.isfinite(matrix[apart]).any():
        raise ValueError("eps is infinite for all pairs of secrets: nothing would be protected.")
    matrix[~apart] = 0.0
    return matrix


def _from_array(eps: Any, a1: int) -> Floats:
    refuse_masked(eps, "eps")
    if hasattr(eps, "columns"):  # its labels may be in another order than the secrets
        raise ValueError(
            "eps is a data frame, whose labels would not be looked at: give an array, "
            "eps.to_numpy(), in the order of joint_.secrets, or a mapping of pairs of secrets."
        )
    try:
        matrix = np.array(eps, dtype=float)
    except (TypeError, ValueError, OverflowError):
        matrix = np.zeros(0)
    if matrix.shape != (a1, a1):
        shape = f", got shape {matrix.shape}" if matrix.size else ""
        raise ValueError(
            f"eps must be a number, a mapping of pairs of secrets, or an array of numbers of shape "
            f"({a1}, {a1}), one for each two of the {a1} secrets{shape}."
        )
    return matrix


def _from_mapping(eps: Mapping[Any, Any], secrets: Sequence[Any]) -> Floats:
    place = {plain_name(secret): i for i, secret in enumerate(secrets)}
    matrix = np.full((len(secrets), len(secrets)), np.nan)
    for number, (pair, value) in enumerate(eps.items()):
        where = f"entry {number} of the mapping eps"
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(
                f"{where} must have a pair of secrets as its key, (s, t); with several sensitive "
                "columns each secret is a tuple."
            )
        if not (is_finite(value) or (is_number(value) and value == np.inf)):
            raise ValueError(
                f"{where} must be a number (np.inf: not compared), got {shown(value)}."
            )
        missing = [i for i, secret in enumerate(pair) if plain_name(secret) not in place]
        if missing:
            raise ValueError(
                f"the {'second' if missing[0] else 'first'} secret of {where} is none of "
                "joint_.secrets. Declare it in `categories`, or mend its name."
            )
        s, t = (place[plain_name(secret)] for secret in pair)
        if s == t:
            raise ValueError(f"{where} names the same secret twice.")
        if not np.isnan(matrix[s, t]) and matrix[s, t] != value:
            raise ValueError(f"{where} gives its pair another number than an earlier one did.")
        matrix[s, t] = matrix[t, s] = value
    for s, t in combinations(range(len(secrets)), 2):
        if np.isnan(matrix[s, t]):
            raise ValueError(
                f"the mapping eps lacks the pair of the secrets at positions {s} and {t} of "
                "joint_.secrets: give each pair a number, np.inf if it is not to be compared."
            )
    return matrix


def promise_of(
    sanitizer: Any,
    joint: JointDistribution,
    uncertainty: FittedSet,
    fit: Callable[[JointDistribution], FittedSet],
    codec: CellCodec,
    known: tuple[int, ...],
) -> Promise:
    """Make the promise that a sanitizer is asked for.

    Raises ValueError if `eps_all` or `eps_known` is too small, or a known column is sensitive.
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
    eps = eps_of_pairs(sanitizer.eps, joint.secrets)
    eps_all = getattr(sanitizer, "eps_all", None)
    if eps_all is not None and eps_all < greatest_eps(eps):
        raise ValueError(
            f"eps_all={eps_all:g} must be at least eps={greatest_eps(eps):g}: the set is among all "
            "distributions. To promise eps_all alone, set eps to it as well."
        )
    eps_known = getattr(sanitizer, "eps_known", None)
    return Promise.of(
        joint,
        uncertainty,
        np.where(np.isfinite(eps), np.minimum(eps, MOST_EPS), np.inf)
        if np.ndim(eps)
        else min(eps, MOST_EPS),
        eps_all=None if eps_all is None else min(float(eps_all), MOST_EPS),
        known=[codec.nonsensitive.index(place) for place in known],
        eps_known=None if eps_known is None else min(float(eps_known), MOST_EPS),
        observe=getattr(sanitizer, "observe", "all"),
        fit=fit,
    )
