"""What is said about a guarantee: each sentence once, for reports, certificates, JSON and commands.

The functions take the figures of a guarantee, or the set that it holds for, and return text in
which upper bounds are rounded upwards and lower bounds downwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from skrldp._params import at_least, at_most
from skrldp.alphabet.values import source_in_words

__all__ = [
    "BY_COMPOSITION",
    "NO_BOUND",
    "amount",
    "attained_at_worst",
    "bound",
    "cells_in_words",
    "chance_of_missing",
    "columns_in_words",
    "factor",
    "holds_for",
    "inside",
    "known_by_category",
    "odds",
    "of_reports",
    "protected",
    "repeatable",
    "sees",
    "series",
    "told_u",
    "who_knows",
]

_LAST_DIGITS = 1e-15
_WRITTEN_OUT = 20.0  # e to more than this is left as a power

# How several reports were bounded, where not all their combinations were looked at.
BY_COMPOSITION = "by composition; the true value may be lower"
NO_BOUND = "there is no bound; eps_all= gives one"  # on further reports or to who knows more


class SetInWords(Protocol):
    """What sentences need of a set of distributions: one that is fitted, or one that is stated."""

    @property
    def rule(self) -> str | None: ...
    @property
    def beta(self) -> float | None: ...
    @property
    def is_everything(self) -> bool: ...
    @property
    def is_point(self) -> bool: ...
    @property
    def of_conditionals(self) -> bool: ...
    def describe(self) -> str: ...


# --- Numbers and names


def bound(eps: float, digits: str = ".9g") -> str:
    """State an upper bound on a leakage.

    Examples
    --------
    >>> bound(0.5), bound(0.12345, ".4g"), bound(math.inf)
    ('eps <= 0.5', 'eps <= 0.1235', 'no bound')
    """
    return "no bound" if math.isinf(eps) else f"eps <= {at_most(eps, digits)}"


def amount(eps: float) -> str:
    """Write a leakage that may be infinite."""
    return "any amount" if math.isinf(eps) else f"eps = {at_most(eps, '.4g')}"


def odds(eps: float) -> str:
    """Write e to the ε as a number that is not below it."""
    if eps > _WRITTEN_OUT:
        return "e^" + at_most(eps, ".4g")
    # Less the rounding of ε and of the exponential, so that log(3) is 3 and not 3.01.
    return at_most(max(1.0, math.exp(eps) * (1.0 - _LAST_DIGITS)), ".3g")


def factor(eps: float) -> str:
    """Write e to the ε as a number that is not above it."""
    if eps > _WRITTEN_OUT:
        return "e^" + at_least(eps, ".4g")
    return at_least(math.exp(eps), ".3g")


def columns_in_words(names: Iterable[Any]) -> str:
    """Name columns, those without names by their positions."""
    return ", ".join(repr(n) if isinstance(n, str) else f"column {n}" for n in names)


def protected(secret: Sequence[Any], others: Sequence[Any]) -> str:
    """Name the columns that are protected, S, and the others, U.

    Examples
    --------
    >>> protected(["sex"], ["job"]), protected(["sex", "job"], [])
    ("S = 'sex'; U = 'job'", "the whole record: 'sex', 'job'")
    """
    if not others:
        return f"the whole record: {columns_in_words(secret)}"
    return f"S = {columns_in_words(secret)}; U = {columns_in_words(others)}"


def cells_in_words(n_secrets: int, n_values: int) -> str:
    """Say how many cells there are; where U is empty, each is a secret.

    Examples
    --------
    >>> cells_in_words(2, 5), cells_in_words(16, 1)
    ('2 secrets x 5 values', '16 secrets')
    """
    return f"{n_secrets:,} secrets" + (f" x {n_values:,} values" if n_values > 1 else "")


def series(parts: Sequence[str]) -> str:
    """Write a list as a sentence does.

    Examples
    --------
    >>> series(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


# --- The set that a guarantee holds for


def inside(around: SetInWords, words: str) -> str:
    """Say which distributions are inside a set; `words` is for more than one, and not all."""
    if around.is_everything:
        return "all distributions"
    if around.is_point:
        return f"the public {'conditionals' if around.of_conditionals else 'distribution'} alone"
    return words


def chance_of_missing(rule: str | None, beta: float) -> str:
    """Say how often a set misses the true distribution: about beta, or at most.

    Examples
    --------
    >>> chance_of_missing("finite-sample", 0.05), chance_of_missing("chi2", 0.05)
    ('with probability at most 0.05', 'with probability about 0.05')
    """
    kind = "at most" if rule == "finite-sample" else "about"
    return f"with probability {kind} {at_most(beta, '.4g')}"


def holds_for(around: SetInWords | str, alphabet: str | None = "") -> str:
    """Say for which distributions something holds, how often these are not the true ones, and if.

    A guarantee writes all distributions as a text. `alphabet` is where the values of U come from;
    an empty text leaves out what depends on that.
    """
    if isinstance(around, str) or around.is_everything:
        return "all distributions of the data"
    words = around.describe()
    if around.is_point:
        return f"{words}, and no other"
    true = "distribution"
    if around.of_conditionals:
        true, words = "conditionals", f"{words}, whatever the probabilities of the secrets are"
    if around.beta is None:
        return f"{words}; the radius was given, so the probability of missing is unknown"
    moved = " (apart from the drift)" if getattr(around, "drift", 0.0) else ""
    missing = chance_of_missing(around.rule, around.beta)
    condition = "" if alphabet == "" else f"; {source_in_words(alphabet)}"
    return f"{words}; this set misses the true {true}{moved} {missing}{condition}"


def sampling(around: SetInWords) -> str:
    """Say what beta rests on: how the public records were drawn. Empty where there is no beta."""
    if around.is_everything or around.is_point or around.beta is None:
        return ""
    if around.rule == "survey":
        return (
            "that the public records were drawn as the survey's design says, in many clusters, "
            "from the population whose members report"
        )
    return (
        "that each counted record was drawn from the population whose members report, everybody "
        "with the same chance, independently of the other records, and that these are few of the "
        "population; other samples, by place, household, stratum or weight, need the design of "
        "their survey"
    )


def lines_of_set(around: SetInWords | str, alphabet: str | None) -> list[tuple[str, str]]:
    """State for which distributions something holds, and what beta rests on, as labelled lines."""
    words = "" if isinstance(around, str) else sampling(around)
    needed = [("assumes", words)] if words else []
    return [("holds for", holds_for(around, alphabet)), *needed]


# --- What somebody learns


def attained_at_worst(eps: float, digits: str = ".9g") -> str:
    """State a leakage that some distribution attains."""
    return f"at the worst distribution found the leakage is {at_least(eps, digits)}"


def of_reports(reports: int) -> str:
    """Say that a proof is about several reports; nothing if it is about one.

    Returns str: with a space in front, to be put behind the figure.
    """
    return "" if reports == 1 else f" of {reports:,} independent reports about the same record"


def who_knows(columns: Iterable[Any]) -> str:
    """Name the observer who knows some columns."""
    return f"to somebody who knows {columns_in_words(columns)}"


def known_by_category(columns: Iterable[Any]) -> str:
    """Say what observers are taken to know of known columns of which values are one category."""
    return (
        f"Of {columns_in_words(columns)}, observers are taken to know the category: values that "
        "are one bin, or 'other', are one known value. Somebody who knows which of them a person "
        "has may learn more, up to the bound for anything else that is known."
    )


def told_u(eps: float, digits: str = ".9g", *, several: str = "") -> str:
    """State what reports tell somebody who knows U.

    `several` says of how many reports, if of more than one.
    """
    if math.isinf(eps):
        return "somebody who knows U exactly may learn S for certain"
    several = several or " for each report"
    if eps == 0.0:
        return "somebody who knows U exactly learns nothing about S from reports"
    return f"to somebody who knows U exactly: {bound(eps, digits)}{several}"


def sees(observe: str) -> str:
    """Say what a mechanism sees of a person."""
    return "the whole record" if observe == "all" else "U alone, never S"


def repeatable(seed: Any) -> str:
    """Say what a seed does to the promise."""
    return f"reports are repeatable with random_state={seed!r}, and whoever knows it can undo them"
