"""What is promised: claims about a mechanism, in numbers, in words and in JSON.

A claim bounds what reports about a person reveal about the secret, to an observer, for the
distributions around a public table. :func:`skrldp.certificate.prove` makes the claims of a
mechanism, and :meth:`Claims.merged` puts those of blocks together; everything else reads them.
Every sentence about a bound is here. Upper bounds are rounded upwards, lower bounds downwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from skrldp._arrays import ReadOnlyDict
from skrldp._lists_in_words import columns_in_words, series
from skrldp._params import at_least, at_most, check_choice, is_finite, is_whole
from skrldp.alphabet.values import (
    SOURCES,
    brief,
    source_in_words,
    weakest_source,
)

REPORTS = (1, 2, 3, 10)  # numbers of reports about one person that bounds are stated for

#: The numbers of each kind of set, in nats but for the order of a ball.
KINDS = {
    "renyi": ("alpha", "radius"),
    "likelihood-ratio": ("single", "pair", "drift"),
    "box": ("drift",),
}
#: Where the numbers of each kind come from.
RULES = {
    "renyi": ("chi2", "finite-sample", "survey", "given"),
    "likelihood-ratio": ("finite-sample", "asymptotic", "survey", "given"),
    "box": ("reports", "reports-asymptotic"),
}
#: Bounds from private reports are multiples of 1/8192.
UNITS = 8192

_EXACT = ("finite-sample", "reports")  # rules that hold for every number of records

_LAST_DIGITS = 1e-15
_SHOWN = 20  # blocks
_NAMED = 5  # columns of a secret
_REVEALED = math.log(1e6)  # odds that rise by more than a million are as good as certainty
_WEAK = math.log(10.0)  # a promise beyond it gets a warning
_MORE = 1e-6  # relative difference from which a bound is called greater than another
_WRITTEN_OUT = 20.0  # e to more than this is left as a power


# --- The distributions that a claim is for -------------------------------------------------------


@dataclass(frozen=True)
class BoxBounds:
    """Bounds of the probability of each value of U given each secret, from private reports.

    Parameters
    ----------
    lower, upper : tuple of tuples
        A row for each secret, in units of 1/8192.
    reports : tuple of (str, tuple)
        For each mechanism whose reports they come from the SHA-256 of its JSON, and the number of
        reports of each kind, from which :func:`~skrldp.certificate.verify_bounds` computes them.

    Raises
    ------
    ValueError
        If these are no such numbers, or no distribution lies between the bounds of a secret.
    """

    lower: tuple[tuple[int, ...], ...]
    upper: tuple[tuple[int, ...], ...]
    reports: tuple[tuple[str, tuple[int, ...]], ...]

    def __post_init__(self) -> None:
        """Check the numbers."""
        tables = [_whole_table(name, getattr(self, name)) for name in ("lower", "upper")]
        counted = tuple((digest, *_whole_table("reports", [own])) for digest, own in self.reports)
        for low, high in zip(*tables, strict=True):
            fits = all(x <= y <= UNITS for x, y in zip(low, high, strict=True))
            if not (fits and sum(low) <= UNITS <= sum(high)):
                raise ValueError("no distribution of U lies between the bounds of a secret.")
        if not counted or not all(isinstance(digest, str) for digest, _ in counted):
            raise ValueError("bounds must state the reports that they come from.")
        for name, it in zip(("lower", "upper", "reports"), (*tables, counted), strict=True):
            object.__setattr__(self, name, it)

    @property
    def n_reports(self) -> int:
        """Number of reports."""
        return sum(sum(counts) for _, counts in self.reports)

    def to_json(self) -> dict[str, Any]:
        """Return what JSON holds, beside the other numbers of a set."""
        reports = [{"mechanism": digest, "counts": [*counts]} for digest, counts in self.reports]
        tables = {name: [*map(list, getattr(self, name))] for name in ("lower", "upper")}
        return {**tables, "reports": reports}

    @staticmethod
    def from_json(found: dict[str, Any]) -> BoxBounds:
        """Read what :meth:`to_json` returned, strictly."""
        for one in found["reports"]:
            check_object(one, ("mechanism", "counts"), (), "each of reports")
        reports = tuple((one["mechanism"], one["counts"]) for one in found["reports"])
        return BoxBounds(found["lower"], found["upper"], reports)


def _whole_table(name: str, rows: Any) -> tuple[tuple[int, ...], ...]:
    """Return a table of integers as tuples."""
    good = isinstance(rows, list | tuple) and all(isinstance(row, list | tuple) for row in rows)
    if not good or not all(is_whole(x) and x >= 0 for row in rows for x in row):
        raise ValueError(f"{name} must be a table of whole numbers.")
    return tuple(tuple(int(x) for x in row) for row in rows)


@dataclass(frozen=True)
class Around:
    """The distributions for which a claim holds: those around a public table, or all.

    Parameters
    ----------
    kind : {"all", "renyi", "likelihood-ratio", "box"}
        All distributions; the ball in Rényi divergence around the public one; or, whatever the
        probabilities of the secrets are, those whose conditionals of U have small log likelihood
        ratios, or lie between bounds.
    numbers : dict
        Of a ball its order ``alpha`` and its ``radius`` in nats, 0 for the public distribution
        alone. Of likelihood ratios the budgets ``single`` and ``pair`` (log likelihood ratios
        divided by the number of public records) and the ``drift``, in nats. Of bounds the drift.
    rule : str or None
        Where these come from: "finite-sample", "asymptotic", "chi2", "survey" or "given"; bounds
        from "reports" or "reports-asymptotic".
    beta : float or None
        Probability that a set made by the rule does not contain the true distribution: at most
        beta for "finite-sample", approximately for the others. None for given numbers.
    n_records : int or None
        Number of public records, or of the private reports in their place.
    n_values : int or None
        The number of values of U that there may be, for which a rule makes the numbers; None for
        those listed.
    values_from : {"declared", "frequent", "cut", "learned"} or None
        Where the values of U come from, on which `beta` depends: declared, learned from the counted
        records of which each value has many, or just learned from them. None if it is not stated.
    bounds : BoxBounds or None
        The bounds of a box.

    Raises
    ------
    ValueError
        If a number is out of its range, or two do not fit together.

    Examples
    --------
    >>> Around("renyi", {"alpha": 2, "radius": 0.1}, "chi2", 0.05).is_point
    False
    >>> Around("likelihood-ratio", {"single": 0.07, "pair": 0.15, "drift": 0}, "given")
    Traceback (most recent call last):
    ...
    ValueError: pair=0.15 must lie between single=0.07 and twice that.
    """

    kind: str = "all"
    numbers: Mapping[str, float] = field(default_factory=ReadOnlyDict)
    rule: str | None = None
    beta: float | None = None
    n_records: int | None = None
    n_values: int | None = None
    values_from: str | None = None
    bounds: BoxBounds | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check the numbers."""
        if (self.kind == "box") != isinstance(self.bounds, BoxBounds):
            raise ValueError("bounds are those of a box, and a box has bounds.")
        if self.kind == "all":
            if self.numbers or any(getattr(self, name) is not None for name in _OF_SETS):
                raise ValueError("the set of all distributions has no numbers and no values.")
            return
        check_choice("kind", self.kind, KINDS)
        names = KINDS[self.kind]
        if not isinstance(self.numbers, Mapping) or set(self.numbers) != set(names):
            raise ValueError(f"numbers={brief(repr(self.numbers))} must be {', '.join(names)}.")
        numbers = ReadOnlyDict({name: _nats(name, self.numbers[name]) for name in names})
        object.__setattr__(self, "numbers", numbers)
        if self.kind == "renyi" and numbers["alpha"] == 0.0:
            raise ValueError("alpha=0.0 must be a finite number > 0.")
        if self.kind == "likelihood-ratio":
            single, pair = numbers["single"], numbers["pair"]
            if not single <= pair <= 2.0 * single:
                words = f"pair={pair!r} must lie between single={single!r} and twice that."
                raise ValueError(words)
        self._check_rule()
        for name in ("n_records", "n_values"):
            if getattr(self, name) is not None:
                _check_number(name, getattr(self, name))
        if self.bounds is not None and self.n_records != self.bounds.n_reports:
            raise ValueError("n_records is not the number of reports.")
        if self.values_from is not None:
            check_choice("values_from", self.values_from, SOURCES)

    def _check_rule(self) -> None:
        check_choice("rule", self.rule, RULES[self.kind])
        if self.rule == "given":
            if self.beta is not None:
                raise ValueError(f"a given set has no beta, got {brief(repr(self.beta))}.")
            return
        if not (is_finite(self.beta) and 0.0 < self.beta < 1.0):
            raise ValueError(f"beta={brief(repr(self.beta))} must be between 0 and 1.")
        object.__setattr__(self, "beta", float(self.beta))
        alpha = self.numbers.get("alpha", 1.0)
        if self.rule == "finite-sample" and alpha != 1.0:
            raise ValueError(f"rule='finite-sample' is for alpha=1, got alpha={alpha!r}.")

    @property
    def is_everything(self) -> bool:
        """Whether no distribution is outside."""
        return self.kind == "all"

    @property
    def is_point(self) -> bool:
        """Whether the public distribution, or its conditionals, are the only ones inside."""
        return self.kind not in ("all", "box") and all(
            self.numbers.get(name, 0.0) == 0.0 for name in ("radius", "pair", "drift")
        )

    @property
    def data(self) -> tuple[str, str]:
        """What the set was made from, and what it is counted in."""
        is_box = self.kind == "box"
        return ("private reports", "reports") if is_box else ("public table", "records")

    @property
    def covers_groups(self) -> bool:
        """Whether the same numbers for known values are of the same event."""
        return self.kind == "renyi" or self.n_values is not None

    def describe(self) -> str:
        """Say in words which distributions are inside."""
        if self.is_everything:
            return "all distributions"
        ball = self.kind == "renyi"
        if self.is_point:
            return f"the public {'distribution' if ball else 'conditionals'} alone"
        if ball:
            radius, alpha = self.numbers["radius"], self.numbers["alpha"]
            return (
                f"the distributions within Rényi divergence B = {radius:.4g} (alpha = {alpha:g}) "
                "of the public one"
            )
        drift = self.numbers["drift"]
        if self.kind == "box":
            moved = f", or have moved from one of these by drift {drift:.4g}" * (drift > 0.0)
            return (
                f"the distributions that {self.n_records:,} private reports do not rule out{moved}"
            )
        what, said = "have log likelihood ratios of at most", self._ratios_in_words()
        if self.n_records is None:
            what = "have divergences times P(s) of at most"
        words = f"the distributions whose conditionals of U {what} {said}"
        more = f", where each divergence may be {drift:.4g} nats more (drift)"
        return words + more * (drift > 0.0)

    @property
    def _likelihood_ratios(self) -> tuple[float, float]:
        """The budgets as log likelihood ratios; unscaled if the number of records is unknown."""
        n = self.n_records or 1
        return n * self.numbers["single"], n * self.numbers["pair"]

    def _ratios_in_words(self) -> str:
        single, pair = (f"{ratio:.4g}" for ratio in self._likelihood_ratios)
        shares = self.numbers["pair"] < 2.0 * self.numbers["single"]
        if self.numbers["single"] < self.numbers["pair"]:
            return f"{single} for each secret" + f" and {pair} for each two" * shares
        # What one conditional may take follows from the pairs, but not what drift adds to it.
        each = "secret and each " * (self.numbers["drift"] > 0.0)
        return f"{pair} for each {each}two secrets together"

    def brief(self) -> str:
        """State the numbers in short."""
        if self.is_everything:
            return "all distributions"
        if self.kind == "renyi":
            return f"alpha={self.numbers['alpha']:g}, B={self.numbers['radius']:.4g}"
        drift = self.numbers["drift"]
        if self.kind == "box":
            return f"bounds from {self.n_records:,} reports" + f", drift={drift:.4g}" * (
                drift > 0.0
            )
        single, pair = self._likelihood_ratios
        what = "P(s) D" if self.n_records is None else "log likelihood ratios"
        return f"{what}<={single:.4g}, of two<={pair:.4g}" + f", drift={drift:.4g}" * (drift > 0.0)

    def missed(self) -> str:
        """Say how often the set does not contain the true distribution: about beta, or at most."""
        kind = "at most" if self.rule in _EXACT else "about"
        return f"with probability {kind} {at_most(self.beta or 0.0, '.4g')}"

    def in_words(self, *, source: bool = True) -> str:
        """Say for which distributions a claim holds, how often these are not the true ones, and if.

        `source` says where the values of U come from, on which that depends.
        """
        words = self.describe()
        if self.is_everything:
            return f"{words} of the data"
        if self.is_point:
            return f"{words}, and no other"
        true = "distribution"
        if self.kind != "renyi":
            true, words = "conditionals", f"{words}, whatever the probabilities of the secrets are"
        if self.beta is None:
            return f"{words}; the radius was given, so the probability of missing is unknown"
        moved = " (apart from the drift)" * (self.numbers.get("drift", 0.0) > 0.0)
        condition = f"; {source_in_words(self.values_from)}" * (source and self.kind != "box")
        return f"{words}; this set misses the true {true}{moved} {self.missed()}{condition}"

    @property
    def assumes(self) -> str:
        """What beta rests on: how the public records were drawn, and what changed since."""
        found = []
        if self.beta is not None and not self.is_point:
            rule = "reports" if self.kind == "box" else self.rule
            found.append(_DRAWN.get(rule or "", _DRAWN["records"]))
        if self.rule in ("chi2", "asymptotic", "reports-asymptotic") and not self.is_point:
            found.append("that each cell has many records; LikelihoodRatioSet() does not need that")
        if self.numbers.get("drift", 0.0) > 0.0:
            found.append("that the population has changed by no more than the drift since")
        return "; ".join(found)

    def lines(self, label: str = "holds for", *, source: bool = True) -> list[tuple[str, str]]:
        """State the distributions and what beta rests on, as labelled lines."""
        assumed = [("assumes", self.assumes)] if self.assumes else []
        return [(label, self.in_words(source=source)), *assumed]

    def to_json(self) -> Any:
        """Return what JSON holds."""
        if self.is_everything:
            return "all"
        stated = {name: getattr(self, name) for name in _OF_SETS}
        left_out = {n for n, it in stated.items() if it is None and n not in ("rule", "beta")}
        rest = {name: it for name, it in stated.items() if name not in left_out}
        bounds = {} if self.bounds is None else self.bounds.to_json()
        return {"set": self.kind, **self.numbers, **rest, **bounds}

    @staticmethod
    def from_json(found: Any, where: str) -> Around:
        """Read what :meth:`to_json` returned, strictly."""
        if found == "all":
            return EVERYTHING
        kind = found.get("set") if isinstance(found, dict) else None
        check_choice(f"{where} is not 'all', and its set", kind, KINDS)
        assert isinstance(kind, str)
        of_box = ("lower", "upper", "reports") if kind == "box" else ()
        check_object(found, ("set", *KINDS[kind], "rule", "beta", *of_box), _OF_SETS[2:], where)
        rest = {name: found[name] for name in _OF_SETS if name in found}
        bounds = BoxBounds.from_json(found) if of_box else None
        return Around(kind, {name: found[name] for name in KINDS[kind]}, **rest, bounds=bounds)


_DRAWN = {
    "survey": (
        "that the public records were drawn as the survey's design says, in many clusters, from "
        "the population whose members report"
    ),
    "reports": (
        "that each report was drawn as its mechanism says, by a different member of the population "
        "whose members report, independently of the others, and that their number was fixed before"
    ),
    "records": (
        "that each counted record was drawn from the population whose members report, everybody "
        "with the same chance, independently of the other records, and that these are few of the "
        "population; other samples, by place, household, stratum or weight, need the design of "
        "their survey"
    ),
}
_OF_SETS = ("rule", "beta", "n_records", "n_values", "values_from")
EVERYTHING = Around()


# --- Numbers in words ----------------------------------------------------------------------------

POINT_ALONE = (
    "privacy holds for the public distribution alone, not for the unknown true distribution of "
    "the private data"
)


def brief_bound(eps: float) -> str:
    """State an upper bound on a leakage in four digits, for a `repr`."""
    return f"eps<={at_most(eps, '.4g')}"


def claimed(eps: float | None) -> str:
    """State a bound that is claimed, for a `repr`; None if nothing is."""
    return "no claim" if eps is None else f"{brief_bound(eps)} claimed"


def odds(eps: float) -> str:
    """Write e to the ε in two digits, rounded upwards: people copy it, and machines differ in more.

    >>> odds(1.0), odds(5.0)
    ('2.8', '150')
    """
    if eps > _WRITTEN_OUT:
        return "e^" + at_most(eps, ".4g")
    # Less the rounding of ε and of the exponential, so that log(3) is 3 and not 3.1.
    rounded = at_most(max(1.0, math.exp(eps) * (1.0 - _LAST_DIGITS)), ".2g")
    return f"{float(rounded):.0f}" if float(rounded) >= 100.0 else rounded


def _few(columns: Sequence[Any]) -> str:
    """Name some columns, and say how many more there are."""
    more = len(columns) - _NAMED
    return columns_in_words(columns[:_NAMED]) + f" and {more:,} more" * (more > 0)


def seen_in(report: Any, eps: float, pair: tuple[Any, Any]) -> str:
    """Say in which report a leakage that is attained shows, and between which two secrets."""
    times = at_least(math.exp(eps), ".3g")
    if eps > _WRITTEN_OUT:
        times = "e^" + at_least(eps, ".4g")
    first, second = map(repr, pair)
    return f"report {report!r} is {times} times as probable for secret {first} as for {second}"


def moved(eps: float, lower: float, upper: float) -> str:
    """Say what a report does to odds at an estimated distribution, with the 95 % interval."""
    if math.isinf(upper):
        interval = f"at least e^{lower:.2f} with 95 % confidence; it may be unbounded"
    else:
        interval = f"95 % interval e^{lower:.2f} to e^{upper:.2f}"
    return f"a report changes the odds by an estimated e^{eps:.2f} ({interval})"


def together(reports: int, eps: float) -> str:
    """Say what several reports about one person leak together."""
    leak = "report leaks" if reports == 1 else "reports together leak"
    return f"{reports:,} {leak} at most {at_most(eps)} nats"


def about_others(eps: float, asked: float) -> str:
    """Say what reports reveal about the columns that are not secret, up to `eps` nats."""
    if eps <= asked:
        words = f"a report multiplies the odds of any two records by at most {odds(eps)}"
        return f"U is protected as well: {words}."
    if math.isinf(eps):
        return "Only S is protected: what a report reveals about U beyond S is not bounded."
    return (
        f"Only S is protected by eps = {at_most(asked, '.6g')}: a report multiplies the odds of "
        f"two values of U by at most {odds(eps)}."
    )


def over_a_set(eps: float, asked: float) -> str:
    """Say what leaks where privacy is proved at the public distribution alone."""
    leak = "any amount" if math.isinf(eps) else f"eps = {at_most(eps, '.4g')}"
    return (
        f"{POINT_ALONE.capitalize()}: over a confidence set {leak} can leak, where "
        f"{at_most(asked, '.6g')} was asked. For comparisons, not to protect people."
    )


# --- Claims --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """A bound on what reports about a person reveal about the secret, in nats.

    Parameters
    ----------
    eps : float
        The bound, for every distribution in `around`. Infinite if there is none.
    attained : float
        What some distribution in `around` attains: no smaller bound is true.
    around : Around
        The distributions that it holds for.
    secret : tuple
        The sensitive columns: all of them together. Empty if columns have no names.
    known : tuple or "all"
        The columns whose values the observer also knows; "all" for all of U.
    reports : int
        How many independent reports about the person the observer gets.
    record : {"same", "may change"}
        Of several reports, whether the record stays the same, or only its secret.
    asked : float or None
        The bound that was asked for.
    how : {"proof", "composition"}
        Whether it is proved as it stands, or a sum of bounds of fewer reports.

    Raises
    ------
    ValueError
        If a number is out of its range, or two do not fit together.

    Examples
    --------
    >>> claim = Claim(0.99, 0.98, secret=("ill",), asked=1.0)
    >>> claim.kept, claim.around.describe()
    (True, 'all distributions')
    """

    eps: float
    attained: float
    around: Around = EVERYTHING
    secret: tuple[Any, ...] = ()
    known: tuple[Any, ...] | str = ()
    reports: int = 1
    record: str = "same"
    asked: float | None = None
    how: str = "proof"

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not (isinstance(self.eps, float) and self.eps == math.inf):
            object.__setattr__(self, "eps", _nats("eps", self.eps))
        if self.asked is not None:
            object.__setattr__(self, "asked", _nats("asked", self.asked))
        if not (isinstance(self.attained, float) and self.attained == math.inf == self.eps):
            object.__setattr__(self, "attained", _nats("attained", self.attained))
        if self.attained > self.eps:
            raise ValueError(
                f"attained={self.attained!r} is more than eps={self.eps!r}, which is the most."
            )
        if not isinstance(self.around, Around):
            raise ValueError(f"around={brief(repr(self.around))} is no set of distributions.")
        check_reports(self.reports)
        if self.record not in ("same", "may change") or self.how not in ("proof", "composition"):
            raise ValueError("record must be 'same' or 'may change', how 'proof' or 'composition'.")
        if set(self.secret) & set(() if self.known == "all" else self.known):
            raise ValueError(f"columns are secret and known: {self.secret!r} and {self.known!r}.")

    def proven(self, eps: float, attained: float) -> Claim:
        """Return it with the bound that was proved, and what is attained of it."""
        return replace(self, eps=eps, attained=min(attained, eps))

    @property
    def kept(self) -> bool:
        """Whether it is as small as what was asked for."""
        return self.asked is None or self.eps <= self.asked

    @property
    def about(self) -> tuple[Any, int, str, bool]:
        """What it is about: there is one claim about each observer and number of reports."""
        return self.known, self.reports, self.record, self.around.is_everything

    @property
    def observer(self) -> str:
        """Who learns no more than this, in words; empty for one who knows nothing else."""
        if self.known == "all":
            return "to an observer who knows U exactly"
        return f"to an observer who knows {columns_in_words(self.known)}" if self.known else ""

    def in_words(self) -> str:
        """State the bound: to whom, on how many reports, and whether it was asked."""
        said = self.bound_in_words()
        if self.asked is not None:
            said += f", asked {at_most(self.asked)}" + ": not kept" * (not self.kept)
        return said + " (by composition)" * (self.how == "composition" and self.eps < math.inf)

    def bound_in_words(self) -> str:
        """State the bound: to whom, and on how many reports."""
        of = "one unchanged record" if self.record == "same" else "one person"
        words = [
            "no bound" if math.isinf(self.eps) else f"eps <= {at_most(self.eps)}",
            self.observer,
            f"for {self.reports:,} reports about {of}" * (self.reports > 1),
        ]
        return " ".join(filter(None, words)) + ", at all distributions" * self.around.is_everything

    def row(self, around: str) -> tuple[str, ...]:
        """State all of it in a row of a table; `around` names its set."""
        known = "all of U" if self.known == "all" else _few(self.known) or "nothing"
        return (
            _few(self.secret) or "S",
            known,
            f"{self.reports:,}" + ", same record" * (self.reports > 1 and self.record == "same"),
            around,
            "no bound" if math.isinf(self.eps) else at_most(self.eps, ".6g"),
            "" if self.asked is None else at_most(self.asked, ".6g"),
            at_least(self.attained, ".6g"),
            self.how,
        )

    def plain(self) -> str:
        """Say without formulas what one report does to the odds of two values of the secret."""
        secret = _few(self.secret) or "the secret"
        if self.eps > _REVEALED:
            return f"A report may reveal {secret}."
        percent = at_most(100.0 / (1.0 + math.exp(-self.eps)), ".2g")
        return (
            f"One report multiplies the odds of any two values of {secret} by at most "
            f"{odds(self.eps)}: what was as likely as not is at most {percent} % likely afterwards."
        )

    def to_json(self, place: Callable[[Any], Any] = lambda name: name) -> dict[str, Any]:
        """Return what JSON holds: columns by their positions, omitting defaults."""
        known = self.known if isinstance(self.known, str) else sorted(map(place, self.known))
        found = {
            "secret": sorted(map(place, self.secret)),
            "known": known,
            "reports": self.reports,
            "record": self.record,
            "asked": self.asked,
            "eps": self.eps,
            "attained": self.attained,
            "how": self.how,
            "around": self.around.to_json(),
        }
        return {name: it for name, it in found.items() if _USUAL.get(name, _USUAL) != it}


_USUAL = {"reports": 1, "record": "same", "asked": None, "how": "proof"}


@dataclass(frozen=True)
class Claims:
    """All claims about one mechanism, or about one manifest of several: they hold together.

    Parameters
    ----------
    items : tuple of Claim
        The first one is about one report, to an observer who knows nothing else.
    parts : tuple of Claims
        Of a manifest the claims of each block; what is claimed of a person's report, which is of
        one of them, is the worst.

    Raises
    ------
    ValueError
        If there is no first claim, two are about the same, or one is beyond what is claimed for all
        distributions.

    Examples
    --------
    >>> ball = Around("renyi", {"alpha": 2, "radius": 0.1}, "chi2", 0.05)
    >>> claims = Claims((Claim(0.99, 0.98, ball), Claim(4.0, 4.0)))
    >>> claims.eps, claims.eps_worst_case, claims.beta
    (0.99, 4.0, 0.05)
    >>> claims.find(reports=3).eps
    8.99
    """

    items: tuple[Claim, ...]
    parts: tuple[Claims, ...] = ()

    def __post_init__(self) -> None:
        """Check that the claims fit together."""
        items = tuple(self.items)
        object.__setattr__(self, "items", items)
        first = items[0] if items else None
        if not isinstance(first, Claim) or first.about[:3] != ((), 1, "same"):
            raise ValueError("the first claim must be about one report, with no known columns.")
        if len({one.about for one in items}) < len(items):
            raise ValueError("two claims are about the same.")
        if {one.secret for one in items} != {first.secret}:
            raise ValueError("two claims are about other secrets.")
        most = self.eps_worst_case
        beyond = [one.eps for one in items if one.reports == 1 and one.eps > most]
        if beyond:
            raise ValueError(
                f"eps={max(beyond)!r} is more than {most!r}, the most for all distributions."
            )

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.items)

    # -- what is claimed ------------------------------------------------------------------------

    @property
    def main(self) -> Claim:
        """The claim about one report, to an observer who knows nothing else."""
        return self.items[0]

    @property
    def eps(self) -> float:
        """The bound on one report, in nats."""
        return self.main.eps

    @property
    def everywhere(self) -> Claim | None:
        """The claim about one report for all distributions, if there is one."""
        return next((one for one in self.items if one.about == ((), 1, "same", True)), None)

    @property
    def eps_worst_case(self) -> float:
        """The bound on one report for all distributions, in nats; infinite if there is none."""
        return math.inf if self.everywhere is None else self.everywhere.eps

    @property
    def eps_given_u(self) -> float:
        """The bound to an observer who knows U exactly, in nats; infinite if there is none."""
        found = self._stated("all", 1, "same")
        return self.eps_worst_case if found is None else found.eps

    @property
    def known(self) -> Claim | None:
        """The claim to an observer who knows some columns, if there is one."""
        return next((one for one in self.items if one.known and one.known != "all"), None)

    @property
    def kept(self) -> bool:
        """Whether all that was asked for is claimed."""
        return all(one.kept for one in self.items)

    @property
    def beta(self) -> float | None:
        """Bound on the probability that one of the sets does not contain the true distribution.

        The sum over all sets, of which one event counts once: 0 where all are of all distributions,
        None if the probability is not known for one of them.
        """
        found = [around.beta for around in self._all_sets]
        if None in found:
            return None
        return min(1.0, float(sum(Decimal(repr(beta)) for beta in found)))

    @property
    def sets(self) -> list[Around]:
        """The sets that may miss, each event once: one event may hold for known values, too."""
        found: list[Around] = []
        for around in (one.around for one in self.items if one.reports == 1):
            if not around.is_everything and not (around.covers_groups and around in found):
                found.append(around)
        return found

    @property
    def values_from(self) -> str | None:
        """Where the values of U come from, on which beta depends: the weakest of all sources."""
        sources = [around.values_from for around in self._all_sets]
        return weakest_source(sources) if sources else None

    def _stated(self, known: Any, reports: int, record: str) -> Claim | None:
        known = known if isinstance(known, str) else tuple(known)
        about = known, reports, record
        return next((one for one in self.items if one.about[:3] == about), None)

    def find(self, known: Any = (), reports: int = 1, record: str | None = None) -> Claim | None:
        """Return the claim about an observer and a number of reports; None if there is none.

        Of several reports about a record that may change, it is the sum of the bounds of the first
        one and, for each further one, of the bound for all distributions (docs/proofs.md, Theorem
        27): the first report changes what is known of U. The smallest of these and of what is
        proved about the same record, if `record` is not given.
        """
        check_reports(reports)
        same = self._stated(known, int(reports), "same")
        if reports == 1 or record == "same" or known not in ((), []):
            return same
        summed = self._composed(int(reports))
        is_less = record is None and same is not None and same.eps <= summed.eps
        return same if is_less else summed

    def _composed(self, reports: int) -> Claim:
        """Add the bound of a first report and those of further ones, rounded upwards."""
        more = self.eps_worst_case
        return self._summed(reports, (reports - 1) * Fraction(more) if more < math.inf else None)

    def _summed(self, reports: int, further: Fraction | None) -> Claim:
        """Add to the bound of one report that of further ones; None if they have none."""
        eps = math.inf
        if further is not None and math.isfinite(self.eps):
            exact = Fraction(self.eps) + further
            try:
                eps = float(exact)
                eps = eps if Fraction(eps) >= exact else math.nextafter(eps, math.inf)
            except OverflowError:
                eps = math.inf
        summed = replace(self.main, eps=eps, attained=min(self.main.attained, eps), asked=None)
        return replace(summed, reports=reports, record="may change", how="composition")

    def together_with(self, *others: Claims) -> Claim:
        """Bound what a report and one of each other mechanism reveal together about a person.

        It is the sum of the bound of this report, and of the bounds of the others for all
        distributions (docs/proofs.md, Theorem 27). For somebody who reports in two phases, it adds
        the ε of the pilot, which protects whole records, to that of the later mechanism.

        Parameters
        ----------
        *others : Claims
            Claims of the other mechanisms; their secrets contain this secret.

        Returns
        -------
        Claim

        Raises
        ------
        ValueError
            If another mechanism does not protect all columns of this secret.

        Examples
        --------
        >>> first = Claims((Claim(0.5, 0.5, secret=("ill", "age")),))
        >>> Claims((Claim(1.0, 0.9, secret=("ill",)),)).together_with(first).eps
        1.5
        """
        for other in others:
            if missing := set(self.main.secret) - set(other.main.secret):
                raise ValueError(
                    f"the other mechanism does not protect column {min(missing, key=str)!r}, so "
                    "its claims do not bound what both reports reveal about it."
                )
        bounds = [other.eps_worst_case for other in others]
        further = sum(map(Fraction, bounds), Fraction(0)) if math.inf not in bounds else None
        return self._summed(1 + len(others), further)

    def bound_of(self, reports: int) -> float:
        """Bound what several reports about one person reveal together, in nats.

        Infinite if there is no bound for all distributions. Raises ValueError if `reports` is no
        integer of at least 1.
        """
        check_reports(reports)
        return self.eps if reports == 1 else self._composed(int(reports)).eps

    def below(self, shown: Iterable[Claim]) -> list[tuple[Claim, Claim]]:
        """Pair the claims that are lower than what is shown about the same with what is shown.

        This is the one comparison of what is claimed with what is true. What was asked for is no
        evidence: whoever writes the claims writes it, too.
        """
        of = {one.about: one for one in shown}
        return [
            (one, of[one.about]) for one in self if one.about in of and one.eps < of[one.about].eps
        ]

    # -- made of others -------------------------------------------------------------------------

    def composed(self) -> Claims:
        """Return these claims, and those of several reports that follow from them."""
        more = [self._composed(k) for k in REPORTS if k > 1]
        return self.with_more([one for one in more if one.about not in {c.about for c in self}])

    def with_more(self, more: Iterable[Claim]) -> Claims:
        """Return these claims and others."""
        return replace(self, items=(*self.items, *more))

    def renamed(self, old: Sequence[Any], columns: Sequence[tuple[Any, bool]]) -> Claims:
        """Return the claims about the same columns with other names, or with names at last."""
        names = dict(zip(old, (name for name, _ in columns), strict=False))
        own = tuple(name for name, flag in columns if flag)

        def new(one: Claim) -> Claim:
            known = one.known
            if not isinstance(known, str):
                known = tuple(names.get(name, name) for name in known)
            secret = tuple(names.get(name, name) for name in one.secret) if old else own
            return replace(one, secret=secret, known=known)

        return replace(self, items=tuple(map(new, self.items)))

    @staticmethod
    def merged(parts: Sequence[Claims]) -> Claims:
        """Return what is claimed of a report of one of several blocks: the worst of them.

        It states the set of the worst block; its beta is that of all sets of all blocks.
        """
        mains = [part.main for part in parts]
        # Of blocks without a set, what holds for all distributions holds for the sets of others.
        with_sets = [one for one in mains if not one.around.is_everything] or mains
        worst = max(with_sets, key=lambda one: one.eps)
        items = _worst(mains, worst.around)
        if not worst.around.is_everything:
            items += _worst([part.everywhere for part in parts], EVERYTHING)
        for known in dict.fromkeys(one.known for part in parts for one in part if one.known):
            own = [part._stated(known, 1, "same") for part in parts]
            sets = [one.around for one in own if one is not None]
            around = next((one for one in sets if not one.is_everything), EVERYTHING)
            items += _worst(own, around)
        # Blocks may have their own secrets: a report is about those of one of them.
        secret = tuple(dict.fromkeys(name for one in mains for name in one.secret))
        return Claims(tuple(replace(one, secret=secret) for one in items), tuple(parts))

    # -- in words -------------------------------------------------------------------------------

    def told(self) -> list[Claim]:
        """Return all claims, and those that follow for more reports, without what says less."""
        found = self.composed().items
        changing = {one.reports: one.eps for one in found if one.record != "same"}

        def says_more(one: Claim) -> bool:
            if one.record == "same":
                return one.reports == 1 or one.eps < changing.get(one.reports, math.inf)
            return math.isfinite(one.eps) or one.reports == 2

        return [*filter(says_more, found)]

    def plain(self, others: Sequence[Any], too: bool, n_records: int) -> tuple[str, ...]:
        """Say in five sentences who is protected from what, how much, from whom, how often, and if.

        `others` are the columns that are not secret, `too` whether they are protected as well.
        """
        secret = columns_in_words(self.main.secret) or "the secret"
        rest = f" {columns_in_words(others)} {'is' if len(others) == 1 else 'are'} "
        rest += "protected as well" if too else "not protected"
        verb = "are" if len(self.main.secret) > 1 else "is"
        who = f"Each person's {secret} {verb} protected from whoever sees the person's report"
        who += f";{rest}." if others else ", and that is the whole record."
        return who, self.main.plain(), self._from_whom(), self._of_two(), self._if(n_records)

    def _from_whom(self) -> str:
        """State what observers learn if they know more about the person."""
        if self.eps_worst_case <= self.eps:
            return "This holds whatever else an observer knows about the person."
        said = "This holds for an observer who knows nothing else about the person; "
        if self.known is not None and self.known.eps <= _REVEALED:
            columns, eps = _few(self.known.known), self.known.eps
            said += f"for one who knows {columns} the factor is at most {odds(eps)}; "
        if self.eps_worst_case > _REVEALED:
            secret = _few(self.main.secret) or "the secret"
            return f"{said}one who knows more may learn {secret} from one report."
        return f"{said}for one who knows more the factor is at most {odds(self.eps_worst_case)}."

    def _of_two(self) -> str:
        """Say what two reports about a person do, and how much less if the record is unchanged."""
        eps, same = self.bound_of(2), self.find(reports=2, record="same")
        less = math.inf if same is None else same.eps
        if eps <= _REVEALED:
            said = f"multiply these odds by at most {odds(eps)}"
            unchanged = f"{odds(less)} if the record is unchanged"
        else:
            said = f"may reveal {_few(self.main.secret) or 'the secret'}"
            unchanged = f"multiply these odds by at most {odds(less)} if the record is unchanged"
        more = f" ({unchanged})" if less < eps and less <= _REVEALED else ""
        return f"Two reports about the same person {said}{more}."

    def _if(self, n_records: int) -> str:
        """Say for which populations this holds, how often not, and what that rests on."""
        sets, table = self._all_sets, f"the public table of {n_records:,} records"
        uncertain = [around for around in sets if not around.is_point]
        if not sets:
            return "This is proven for every population, whatever the public table says."
        if not uncertain:
            return f"This holds only if the population is exactly as {table} says."
        near = f"This is proven for all populations near {table}"
        if sets[0].kind == "box":
            table = f"the {sets[0].n_records:,} private reports"
            near = f"This is proven for all populations that {table} do not rule out"
        beta, learned = self.beta, self.values_from in ("learned", None)
        if beta is None:
            return f"{near}; whether the true one is among them is unknown."
        is_cut = self.values_from == "cut"
        exact = all(one.rule in _EXACT for one in uncertain) and not (learned or is_cut)
        often = f"{'at most' if exact else 'about'} {at_most(100.0 * beta, '.3g')} %"
        often += " (more, as rare values were learned from it)" * learned
        often += " (simulated, since edges of bins were read from it)" * is_cut
        drawn = "their records are a random sample of the people who report"
        if any(one.rule == "survey" for one in uncertain):
            drawn = "their records were drawn as the survey's design says"
        if sets[0].kind == "box":
            drawn = "those who gave them are a random sample of the people who report"
        if any(one.numbers.get("drift", 0.0) > 0.0 for one in uncertain):
            drawn += " and the population has changed by no more than was allowed for"
        such = "tables" if sets[0].kind != "box" else "samples of reports"
        return f"{near}; the true one is not among them for {often} of such {such}, if {drawn}."

    def warnings(self) -> list[str]:
        """Warn of a bound that is large, and of what a second report or more knowledge reveal."""
        said, everywhere, two = [], self.everywhere, self.find(reports=2)
        if self.eps > _WEAK:
            said.append(
                f"{brief_bound(self.eps)} is a weak promise: one report may change odds of 1 : 1 "
                f"into {odds(self.eps)} : 1."
            )
        assert two is not None
        asked = everywhere is not None and everywhere.asked is not None and everywhere.kept
        if not asked and max(two.eps / 2.0, self.eps_worst_case) > self.eps * (1.0 + _MORE):
            said.append(
                "The claim is about one report to an observer who knows nothing else: a second "
                "report, or knowing more about the person, may reveal more. eps_worst_case= bounds "
                "both."
            )
        return said

    def table(self) -> tuple[str, Sequence[str], list[tuple[str, ...]]]:
        """State all claims in a table, a row for each: its title, header and rows."""
        header = "secret", "known", "reports", "around", "eps <=", "asked", "attained", "how"
        return "Claims", header, [one.row(self._letter(one)) for one in self.told()]

    def lines(self, label: str = "claimed") -> list[tuple[str, str]]:
        """State all claims and their sets, as labels and texts; `label` is that of a claim."""
        shown = []
        for one in self.items:
            letter = self._letter(one)
            shown.append((label, one.in_words() + f", over {letter}" * (letter != "all")))
        if math.isinf(self.eps_worst_case):
            more = "no bound on more than one report about each person"
        else:
            first, further = at_most(self.eps), at_most(self.eps_worst_case)
            more = f"eps <= {first} + {further} (k - 1) for k reports about one person"
        attained = f"{at_least(self.main.attained)} at the worst distribution found"
        return [*shown, ("k reports", more), ("attained", attained), *self.legend()]

    def legend(self) -> list[tuple[str, str]]:
        """Say which set each letter stands for, what is assumed, and how often the sets miss."""
        found: list[tuple[str, str]] = []
        for letter, sets in zip("ABCDEFGH", self._kinds, strict=False):
            about: dict[tuple[str, str], list[str]] = {}
            for number, around in enumerate(sets):
                source = letter == "A" or self.main.around.beta is None
                for line in around.lines(letter, source=source):
                    about.setdefault(line, []).append(f"{number}")
            for (label, words), blocks in about.items():
                more = [f"{len(blocks) - _SHOWN:,} more"] * (len(blocks) > _SHOWN)
                which = f"of block{'s' * (len(blocks) > 1)} {series([*blocks[:_SHOWN], *more])}: "
                found.append((label, words if len(blocks) == len(sets) else which + words))
        worst = [("blocks", "each bound is that of the worst block")] * bool(self.parts)
        together = [("sets", self.together)] * bool(self.together)
        found = sorted(dict.fromkeys(found), key=lambda line: line[0] == "assumes")
        return [*found, *together, *worst]

    @property
    def _kinds(self) -> list[tuple[Around, ...]]:
        """The sets of the claims, each once; of a manifest those of all blocks for each claim."""
        found: list[tuple[Around, ...]] = []
        for one in self.items:
            if not one.around.is_everything and self._sets_of(one) not in found:
                found.append(self._sets_of(one))
        return found

    def _sets_of(self, one: Claim) -> tuple[Around, ...]:
        own = [part._stated(one.known, 1, "same") for part in self.parts]
        return tuple(it.around for it in own if it is not None) or (one.around,)

    def _letter(self, one: Claim) -> str:
        own = self._sets_of(one)
        return "all" if one.around.is_everything else "ABCDEFGH"[self._kinds.index(own)]

    @property
    def _all_sets(self) -> list[Around]:
        return [around for part in self.parts or (self,) for around in part.sets]

    def brief(self) -> str:
        """State the bounds in short."""
        text = f"{brief_bound(self.eps)} for {self.main.around.describe()}"
        if self.everywhere in (None, self.main) or math.isinf(self.eps_worst_case):
            return text
        return f"{text}, {brief_bound(self.eps_worst_case)} for all distributions"

    @property
    def together(self) -> str:
        """How often the sets miss together, where there are several; else an empty text."""
        uncertain = [around for around in self._all_sets if not around.is_point]
        if len(uncertain) < 2:
            return ""
        total = self.beta
        if total is None:
            return f"{len(uncertain):,}; how often they miss is not known"
        each = " or ".join(sorted({around.missed() for around in uncertain}))
        kind = "at most" if all(one.rule in _EXACT for one in uncertain) else "about"
        weak = self.values_from in ("learned", None)
        condition = f"; {source_in_words(self.values_from)}" * weak
        return (
            f"{len(uncertain):,}; each misses {each}, some one of them with probability {kind} "
            f"{at_most(total, '.4g')}{condition}"
        )

    # -- JSON -----------------------------------------------------------------------------------

    def figures(self) -> dict[str, Any]:
        """Return all claims and their beta, with the names of columns, as JSON shows them."""
        claims = self.composed().to_json()
        return {"claims": claims, "beta": self.beta, "values_from": self.values_from}

    def to_json(self, columns: Sequence[Any] | None = None) -> list[dict[str, Any]]:
        """Return what JSON holds of the claims that bound something, as a list.

        Columns are named by their positions in `columns`, counted from 0, if these are given.
        """
        place = (lambda name: name) if columns is None else list(columns).index
        return [one.to_json(place) for one in self.items if math.isfinite(one.eps)]

    @staticmethod
    def from_json(found: Any, columns: Sequence[tuple[Any, bool]]) -> Claims:
        """Read what :meth:`to_json` returned for these columns, strictly.

        Raises ValueError if it does not follow the format exactly, or its numbers are impossible.
        """
        if not isinstance(found, list):
            raise ValueError("claims must be a list.")
        return Claims(tuple(_claim_from(one, columns) for one in found))


def _worst(claims: Sequence[Claim | None], around: Around) -> list[Claim]:
    """Return the claim of a block that bounds least, or none if a block has none."""
    found = [one for one in claims if one is not None]
    if len(found) < len(claims):
        return []
    worst = max(found, key=lambda one: one.eps)
    attained = max(one.attained for one in found)
    return [replace(worst, around=around).proven(worst.eps, attained)]


def bound_of_reports(
    claims: Claims | None, reports: int, eps: float | None, allow_one: str
) -> float:
    """Return the bound of this many reports about one person, if there is one up to `eps`, in nats.

    Raises ValueError if there is no such bound.
    """
    if claims is None:
        raise ValueError("this mechanism claims nothing, so no number of reports is safe.")
    most = claims.bound_of(reports)
    if most == math.inf:
        raise ValueError(
            f"this mechanism bounds one report about each person, not {reports}, which may reveal "
            f"the secret: fit with eps_worst_case=, the bound for further reports, or allow one by "
            f"{allow_one}."
        )
    if eps is not None and most > eps:
        raise ValueError(
            f"{together(reports, most)}, more than eps={eps!r}: fit with a smaller "
            "eps_worst_case=, or allow fewer."
        )
    return most


def _claim_from(found: Any, columns: Sequence[tuple[Any, bool]]) -> Claim:
    """Read a claim about one report; those about more follow from it."""
    needed = ("secret", "known", "eps", "attained", "around")
    check_object(found, needed, ("asked",), "each of claims")
    secret = _names(found["secret"], columns, True)
    known = found["known"]
    if known != "all":
        known = _names(known, columns, False)
    if len(secret) < sum(flag for _, flag in columns):
        raise ValueError("a claim is not about all sensitive columns.")
    around = Around.from_json(found["around"], "around")
    eps, asked = found["eps"], found.get("asked")
    claim = Claim(eps, found["attained"], around, secret, known, asked=asked)
    if not math.isfinite(claim.eps):
        raise ValueError("eps=inf must be a finite number >= 0.")
    return claim


def _names(places: Any, columns: Sequence[tuple[Any, bool]], sensitive: bool) -> tuple[Any, ...]:
    """Return the names of columns by their ascending positions."""
    good = isinstance(places, list) and all(type(place) is int for place in places)
    own = [place for place, (_, flag) in enumerate(columns) if flag is sensitive]
    if not good or places != sorted(set(places) & set(own)):
        kind = "sensitive" if sensitive else "other"
        raise ValueError(f"{brief(repr(places))} are no places of {kind} columns in their order.")
    return tuple(columns[place][0] for place in places)


def wrong_keys(
    fields: Mapping[str, Any], needed: Sequence[str], optional: Sequence[str], where: str
) -> str | None:
    """Name a key that an object lacks, or that is unknown; None if its keys are correct."""
    if missing := [key for key in needed if key not in fields]:
        return f"{where} lacks {', '.join(map(repr, missing))}"
    strange = [key for key in fields if key not in needed and key not in optional]
    return f"{where} has the unknown key {brief(repr(strange[0]))}" if strange else None


def check_object(found: Any, needed: Sequence[str], optional: Sequence[str], where: str) -> None:
    """Check that it is an object with these keys, and that nothing optional is null."""
    if not isinstance(found, dict):
        raise ValueError(f"{where} must be an object.")
    if wrong := wrong_keys(found, needed, optional, where):
        raise ValueError(f"{wrong}.")
    for name in optional:
        if name in found and found[name] is None:
            raise ValueError(f"in {where}, {name} is null: leave it out.")


def check_reports(reports: Any) -> None:
    """Refuse a number of reports that is not an integer of at least 1."""
    _check_number("reports", reports)


def _check_number(name: str, value: Any) -> None:
    if not is_whole(value) or value < 1:
        raise ValueError(f"{name}={brief(repr(value))} must be an integer >= 1.")


def _nats(name: str, value: Any) -> float:
    if not is_finite(value) or value < 0:
        raise ValueError(f"{name}={brief(repr(value))} must be a finite number >= 0.")
    return float(value)
