"""The figures of a mechanism's privacy proof, which are stored with it.

Its JSON is described in `docs/client.md`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, TypeVar

from skrldp._params import at_most, is_whole
from skrldp._sentences import SetInWords
from skrldp.alphabet.values import SOURCES, brief, source_in_words
from skrldp.mechanism.json_values import check_keys, malformed
from skrldp.mechanism.stated_sets import STATED_SETS, StatedRenyiSet, StatedSet, as_float


def beta_together(sets: Iterable[SetInWords | str]) -> float | None:
    """Bound the probability that one of several sets misses the true distribution: add up beta.

    Each set is counted as often as it is given. Returns float or None: 0 where all are of all
    distributions; None if the probability is not known for one of them.
    """
    total = Decimal(0)
    for one in sets:
        if isinstance(one, str) or one.is_everything:
            continue
        if one.beta is None:
            return None
        total += Decimal(repr(float(one.beta)))
    return min(1.0, float(total))


@dataclass(frozen=True)
class ProvenBound:
    """A proven bound on the leakage of one report, and the distributions that it holds for.

    Parameters
    ----------
    eps_requested : float
        The ε that was asked for, in nats.
    eps : float
        Proven upper bound on the leakage of one report at every distribution of the set, in nats.
    eps_attained : float
        Leakage that some distribution of the set attains, in nats; at most `eps`.
    distributions : StatedRenyiSet, StatedLikelihoodRatioSet or "all"
        The set of distributions that the proof is for.
    alphabet : {"declared", "frequent", "learned"} or None
        Where the values of U come from, on which `beta` depends: declared, learned from records
        that are not counted, learned from the counted ones of which each value has many, or just
        learned from them. None if it is not stated, and for all distributions.

    Raises
    ------
    ValueError
        If a figure is out of its range, or two do not fit together.
    """

    eps_requested: float
    eps: float
    eps_attained: float
    distributions: StatedSet | Literal["all"]
    alphabet: str | None = None

    def __post_init__(self) -> None:
        """Check the figures."""
        for name in ("eps_requested", "eps", "eps_attained"):
            self._check_nats(name)
        if self.eps_attained > self.eps:
            raise ValueError(
                f"eps_attained={self.eps_attained!r} is more than eps={self.eps!r}, which is "
                "proven to be the most."
            )
        around = self.distributions
        if not (around == "all" or isinstance(around, StatedSet)):
            raise ValueError(f"distributions={around!r} is no stated set, and not 'all'.")
        if around == "all" and self.alphabet is not None:
            raise ValueError("a guarantee for all distributions has no alphabet.")
        if self.alphabet is not None and self.alphabet not in SOURCES:
            raise ValueError(
                f"alphabet={self.alphabet!r} is none of {', '.join(map(repr, SOURCES))}."
            )

    def _check_nats(self, name: str) -> None:
        if not 0.0 <= as_float(self, name) < math.inf:
            raise ValueError(f"{name}={getattr(self, name)!r} is no finite number >= 0.")

    def describe_distributions(self) -> str:
        """Say in words which distributions it holds for."""
        return "all distributions" if self.distributions == "all" else self.distributions.describe()


@dataclass(frozen=True)
class FurtherBound(ProvenBound):
    """A further proven bound: to an observer who knows some columns.

    Columns are given by their places in ``Mechanism.columns``, counted from 0.

    Parameters
    ----------
    secret : tuple of int
        The sensitive columns: all of them, as the bound is about these together.
    known : tuple of int
        The columns whose values the observer may know, at least one. The bound holds within each of
        their values.
    eps_requested, eps, eps_attained, distributions, alphabet
        As in :class:`Guarantee`; the set is one of distributions of all columns but `secret` and
        `known`, given these.

    Raises
    ------
    ValueError
        If a figure is out of its range, or two do not fit together.

    Examples
    --------
    >>> FurtherBound(1.0, 0.99, 0.98, "all", secret=(0,), known=(2,)).known
    (2,)
    """

    secret: tuple[int, ...] = field(kw_only=True)
    known: tuple[int, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        """Check the columns and the figures."""
        for name in ("secret", "known"):
            places = getattr(self, name)
            if not (
                isinstance(places, tuple | list)
                and places
                and all(is_whole(place) and place >= 0 for place in places)
                and all(a < b for a, b in pairwise(places))
            ):
                raise ValueError(f"{name}={places!r} are no places of columns in their order.")
            object.__setattr__(self, name, tuple(map(int, places)))
        if set(self.secret) & set(self.known):
            raise ValueError(f"columns are secret and known: {self.secret!r} and {self.known!r}.")
        super().__post_init__()


@dataclass(frozen=True)
class Guarantee(ProvenBound):
    """A mechanism's proven privacy, and the distributions of the data that it holds for.

    A client can show these figures but not check them. Whoever has the public counts can prove them
    again with :func:`skrldp.certify`.

    Parameters
    ----------
    eps_requested, eps_attained, distributions, alphabet
        As in :class:`ProvenBound`.
    eps : float
        Proven upper bound on the leakage of one report at every distribution of the set, in nats.
    n_records : int or None
        Number of public records; None if it is not stated.
    eps_all : float or None
        Proven upper bound on the leakage of one report at all distributions of U given S, in
        nats. None if there is none or it is not stated.
    eps_given_u : float or None
        Proven upper bound on the leakage to somebody who knows all columns but the secret
        exactly, in nats; at most `eps_all`. None if there is none or it is not stated.
    further : tuple of FurtherBound
        Bounds to observers who know some columns.

    Raises
    ------
    ValueError
        If a figure is out of its range, or two do not fit together.

    Examples
    --------
    >>> from skrldp.mechanism.stated_sets import StatedRenyiSet
    >>> ball = StatedRenyiSet(alpha=2.0, radius=0.1, rule="chi2", beta=0.05)
    >>> claim = Guarantee(1.0, 0.99, 0.98, ball, n_records=100, eps_all=4.0)
    >>> claim.for_all_distributions
    False
    >>> claim.bound_of(1), claim.bound_of(3)
    (0.99, 8.99)
    >>> Guarantee(1.0, 0.99, 1.2, ball)
    Traceback (most recent call last):
    ...
    ValueError: eps_attained=1.2 is more than eps=0.99, which is proven to be the most.
    """

    n_records: int | None = field(default=None, kw_only=True)
    eps_all: float | None = field(default=None, kw_only=True)
    eps_given_u: float | None = field(default=None, kw_only=True)
    further: tuple[FurtherBound, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Check the figures."""
        super().__post_init__()
        n = self.n_records
        if n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 1):
            raise ValueError(f"n_records={n!r} is no whole number >= 1.")
        for name in ("eps_all", "eps_given_u"):
            if getattr(self, name) is not None:
                self._check_nats(name)
        if self.eps_all is not None:
            for name in ("eps", "eps_given_u"):
                if (getattr(self, name) or 0.0) > self.eps_all:
                    raise ValueError(
                        f"{name}={getattr(self, name)!r} is more than eps_all={self.eps_all!r}, "
                        "which is proven to be the most at all distributions."
                    )
        self._check_further()

    def _check_further(self) -> None:
        """Check the further statements against each other and against the main one."""
        if not (
            isinstance(self.further, tuple | list)
            and all(isinstance(each, FurtherBound) for each in self.further)
        ):
            raise ValueError("further must be a tuple of statements.")
        object.__setattr__(self, "further", tuple(self.further))
        if len({each.known for each in self.further}) < len(self.further):
            raise ValueError("two of the further statements are about the same columns.")
        for each in self.further:
            if self.eps_all is not None and each.eps > self.eps_all:
                raise ValueError(
                    f"a further statement's eps={each.eps!r} is more than "
                    f"eps_all={self.eps_all!r}, which is proven to be the most."
                )

    @property
    def condition(self) -> str | None:
        """On what `beta` is conditional, in words; None if there is no `beta`."""
        around = self.distributions
        beta = None if isinstance(around, str) else around.beta
        return None if beta is None else source_in_words(self.alphabet)

    @property
    def sets(self) -> tuple[StatedSet | Literal["all"], ...]:
        """The sets of all its bounds, each event once: one event may hold for known values, too."""
        main = self.distributions
        others = (one.distributions for one in self.further)
        if not isinstance(main, str) and main.covers_groups:
            others = (one for one in others if one != main)
        return (main, *others)

    @property
    def for_all_distributions(self) -> bool:
        """Whether it holds at all distributions of the data: k reports then leak at most k·eps."""
        return self.distributions == "all"

    @property
    def eps_of_next(self) -> float:
        """Bound on what each report after the first one adds, in nats; infinite if there is none.

        It is the bound at all distributions: `eps` where the guarantee is for all of them, and else
        `eps_all`.
        """
        if self.for_all_distributions:
            return self.eps
        return math.inf if self.eps_all is None else self.eps_all

    def bound_of(self, reports: int) -> float:
        """Bound the leakage of several fresh reports about one person (docs/proofs.md, Theorem 27).

        The first report leaks at most `eps`. It changes what is known of U, so each further one is
        only covered by the bound at all distributions, and adds at most that. Records whose U
        differs count alike, as long as the secret is the same.

        Returns float: in nats, rounded upwards; infinite if no bound at all distributions is
        stated. Raises ValueError if `reports` is no whole number of at least 1.
        """
        return bound_of_several(self.eps, self.eps_of_next, reports)


def bound_of_several(first: float, further: float, reports: int) -> float:
    """Add the bound of a first report and those of further ones, in nats, rounded upwards.

    Raises ValueError if `reports` is no whole number of at least 1.
    """
    if not is_whole(reports) or reports < 1:
        raise ValueError(f"reports={reports!r} is no whole number >= 1.")
    if reports == 1 or math.isinf(further):
        return first if reports == 1 else math.inf
    exact = Fraction(first) + (int(reports) - 1) * Fraction(further)
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def check_fit(guarantee: Guarantee, columns: Sequence[tuple[Any, bool]]) -> None:
    """Check that a guarantee is about the columns of its mechanism.

    Raises ValueError if it states bounds of some of the sensitive columns, or of known columns that
    are not there or sensitive.
    """
    own = [place for place, (_, flag) in enumerate(columns) if flag]
    others = [place for place, (_, flag) in enumerate(columns) if not flag]
    for each in guarantee.further:
        if list(each.secret) != own or not set(each.known) <= set(others):
            raise malformed(
                f"its guarantee states a bound about columns {list(each.secret)} within values of "
                f"{list(each.known)}, but of its {len(columns)} columns {own} are sensitive"
            )


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


# --- The guarantee in a mechanism's JSON ----------------------------------------------------------


T = TypeVar("T")

_PROOF = ("eps_requested", "eps", "eps_attained")
# What is left out where it is not stated, in the order in which it is written.
_OPTIONAL = {1: (), 2: ("alphabet",), 3: ("eps_all", "eps_given_u", "alphabet")}


def claims_of(guarantee: Guarantee) -> dict[str, Any]:
    """Return a guarantee as JSON holds it.

    Returns dict: with the keys in canonical order.
    """
    bounds = ("eps_all", "eps_given_u")
    claims = _stated_fields(guarantee, (*_PROOF, *bounds, "n_records", "alphabet"))
    claims["distributions"] = _set_of(guarantee.distributions)
    if guarantee.further:
        claims["further"] = [
            {
                **_stated_fields(each, ("secret", "known", *_PROOF, "alphabet")),
                "distributions": _set_of(each.distributions),
            }
            for each in guarantee.further
        ]
    return claims


def guarantee_from(claims: Any, version: int) -> Guarantee:
    """Read a guarantee.

    Raises ValueError if it does not follow the format exactly, or its figures are impossible.
    """
    key = "laws" if version == 1 else "distributions"
    needed, optional = (*_PROOF, "n_records", key), _OPTIONAL[version]
    _check_object(claims, needed, (*optional, *(("further",) if version > 2 else ())), "guarantee")
    figures = {name: claims[name] for name in (*needed[:-1], *optional) if name in claims}
    if "further" in claims:
        figures["further"] = _statements(claims["further"])
    around = _set_from(claims[key], f"guarantee.{key}", version)
    return _made(Guarantee, {**figures, "distributions": around})


def _statements(found: Any) -> tuple[FurtherBound, ...]:
    if not isinstance(found, list) or not found:
        raise malformed("guarantee.further must be a list that is not empty")
    statements = []
    for claims in found:
        where, needed = "each of guarantee.further", ("secret", "known", *_PROOF)
        _check_object(claims, (*needed, "distributions"), ("alphabet",), where)
        figures = {name: claims[name] for name in (*needed, "alphabet") if name in claims}
        around = _set_from(claims["distributions"], "guarantee.further.distributions", 3)
        statements.append(_made(FurtherBound, {**figures, "distributions": around}))
    return tuple(statements)


def _check_object(claims: Any, needed: Sequence[str], optional: Sequence[str], where: str) -> None:
    """Check that it is an object with these keys, and that nothing optional is null."""
    if not isinstance(claims, dict):
        raise malformed(f"{where} must be an object")
    check_keys(claims, needed, optional, where)
    for name in optional:
        if name in claims and claims[name] is None:
            raise malformed(f"in its guarantee, {name} is null: leave it out")


def _stated_fields(stated: ProvenBound, order: Sequence[str]) -> dict[str, Any]:
    """Return fields by name, without those that are not stated; `n_records` is null then."""
    found = {name: getattr(stated, name) for name in order}
    return {name: it for name, it in found.items() if it is not None or name == "n_records"}


def _set_of(around: StatedSet | Literal["all"]) -> str | dict[str, Any]:
    if isinstance(around, str):
        return around
    figures = {name: it for name, it in asdict(around).items() if it is not None or name == "beta"}
    return {"set": around.kind, **figures}


def _set_from(around: Any, where: str, version: int) -> StatedSet | Literal["all"]:
    """Read the set of distributions that a proof is for."""
    if around == "all":
        return "all"
    if not isinstance(around, dict):
        raise malformed(f"{where} must be 'all' or an object")
    of_old = version == 1  # which knew balls alone, and did not say so
    kind = StatedRenyiSet.kind if of_old else around.get("set")
    if not isinstance(kind, str) or kind not in STATED_SETS:
        raise malformed(
            f"{where} has the set {brief(repr(kind))}, none of {', '.join(map(repr, STATED_SETS))}"
        )
    needed = tuple(field.name for field in fields(STATED_SETS[kind]) if field.name != "n_values")
    optional = ("n_values",) if version > 2 else ()
    _check_object(around, needed if of_old else ("set", *needed), optional, where)
    return _made(STATED_SETS[kind], {name: it for name, it in around.items() if name != "set"})


def _made(kind: type[T], figures: dict[str, Any]) -> T:
    """Make a part of the guarantee of its figures."""
    try:
        return kind(**figures)
    except ValueError as error:
        raise malformed(f"in its guarantee, {str(error).rstrip('.')}") from None
