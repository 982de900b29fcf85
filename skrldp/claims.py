"""Claims: the promises about a mechanism, in numbers and in JSON.

A claim bounds what reports about a person reveal about the secret, to an observer, for the
distributions around a public table. :func:`skrldp.certificate.prove` makes the claims of a
mechanism, and :meth:`Claims.merged` combines those of blocks; all other code only reads them.
The sentences about them are in :mod:`skrldp.claims_in_words`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from skrldp._arrays import ReadOnlyDict
from skrldp._params import check_choice, is_finite, is_whole
from skrldp.alphabet.values import SOURCES, brief, weakest_source

REPORTS = (1, 2, 3, 10)  # numbers of reports about one person for which bounds are stated

#: The numbers of each kind of set, in nats except the order alpha of a ball.
KINDS = {
    "renyi": ("alpha", "radius"),
    "likelihood-ratio": ("single", "pair", "drift"),
    "box": ("drift",),
}
#: The rules by which the numbers of each kind may be computed.
RULES = {
    "renyi": ("chi2", "finite-sample", "survey", "given"),
    "likelihood-ratio": ("finite-sample", "asymptotic", "survey", "given"),
    "box": ("reports", "reports-asymptotic"),
}
#: Bounds from private reports are integers in units of 1/8192.
UNITS = 8192


# --- The distributions that a claim is for -------------------------------------------------------


@dataclass(frozen=True)
class BoxBounds:
    """Bounds on the probability of each value of U given each secret, from private reports.

    Parameters
    ----------
    lower, upper : tuple of tuples
        A row for each secret, in units of 1/8192.
    reports : tuple of (str, tuple)
        For each mechanism whose reports were used, the SHA-256 of its JSON and the number of
        reports with each value, from which :func:`~skrldp.certificate.verify_bounds` computes the
        bounds.

    Raises
    ------
    ValueError
        If a number is invalid, or no distribution lies between the bounds of a secret.
    """

    lower: tuple[tuple[int, ...], ...]
    upper: tuple[tuple[int, ...], ...]
    reports: tuple[tuple[str, tuple[int, ...]], ...]

    def __post_init__(self) -> None:
        """Check the numbers."""
        tables = [_whole_table(name, getattr(self, name)) for name in ("lower", "upper")]
        counts = tuple((digest, *_whole_table("reports", [row])) for digest, row in self.reports)
        for lower, upper in zip(*tables, strict=True):
            is_ordered = all(x <= y <= UNITS for x, y in zip(lower, upper, strict=True))
            if not (is_ordered and sum(lower) <= UNITS <= sum(upper)):
                raise ValueError("no distribution of U lies between the bounds of a secret.")
        if not counts or not all(isinstance(digest, str) for digest, _ in counts):
            raise ValueError("bounds must state the reports from which they were computed.")
        for name, table in zip(("lower", "upper", "reports"), (*tables, counts), strict=True):
            object.__setattr__(self, name, table)

    @property
    def n_reports(self) -> int:
        """Number of reports."""
        return sum(sum(counts) for _, counts in self.reports)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON fields that a box adds to the numbers of its set."""
        reports = [{"mechanism": digest, "counts": [*counts]} for digest, counts in self.reports]
        tables = {name: [*map(list, getattr(self, name))] for name in ("lower", "upper")}
        return {**tables, "reports": reports}

    @staticmethod
    def from_json(fields: dict[str, Any]) -> BoxBounds:
        """Read the output of :meth:`to_json` strictly."""
        for entry in fields["reports"]:
            check_object(entry, ("mechanism", "counts"), (), "each of reports")
        reports = tuple((entry["mechanism"], entry["counts"]) for entry in fields["reports"])
        return BoxBounds(fields["lower"], fields["upper"], reports)


def _whole_table(name: str, rows: Any) -> tuple[tuple[int, ...], ...]:
    """Return a table of non-negative integers as tuples."""
    is_table = isinstance(rows, list | tuple) and all(isinstance(row, list | tuple) for row in rows)
    if not is_table or not all(is_whole(x) and x >= 0 for row in rows for x in row):
        raise ValueError(f"{name} must be a table of integers >= 0.")
    return tuple(tuple(int(x) for x in row) for row in rows)


@dataclass(frozen=True)
class Around:
    """The distributions for which a claim holds: those around a public table, or all.

    Parameters
    ----------
    kind : {"all", "renyi", "likelihood-ratio", "box"}
        "all" distributions; "renyi", the ball in Rényi divergence around the public distribution;
        or, whatever the probabilities of the secrets, the distributions whose conditionals of U
        have small log-likelihood ratios ("likelihood-ratio") or lie between bounds ("box").
    numbers : dict
        For "renyi", the order ``alpha`` and the ``radius`` in nats, 0 for the public distribution
        alone. For "likelihood-ratio", the budgets ``single`` and ``pair`` (log-likelihood ratios
        divided by the number of public records) and the ``drift``, all in nats. For "box", the
        ``drift``.
    rule : str or None
        Source of the numbers: "finite-sample", "asymptotic", "chi2", "survey" or "given"; for a
        box, "reports" or "reports-asymptotic".
    beta : float or None
        Probability that a set made by the rule does not contain the true distribution: at most
        beta for "finite-sample", approximately for the others. None for given numbers.
    n_records : int or None
        Number of public records, or of the private reports that replace them.
    n_values : int or None
        Number of possible values of U for which the rule computed the numbers; None for the values
        that the mechanism lists.
    values_from : {"declared", "frequent", "cut", "learned"} or None
        The source of the values of U, on which `beta` depends; see
        :attr:`skrldp.JointDistribution.alphabet`. None if it is not stated.
    bounds : BoxBounds or None
        The bounds of a box.

    Raises
    ------
    ValueError
        If a number is out of range, or two contradict each other.

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
            raise ValueError("bounds are for kind='box', which requires them.")
        if self.kind == "all":
            if self.numbers or any(getattr(self, name) is not None for name in _OF_SETS):
                raise ValueError("kind='all' takes no numbers, rule or values.")
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
                problem = f"pair={pair!r} must lie between single={single!r} and twice that."
                raise ValueError(problem)
        self._check_rule()
        for name in ("n_records", "n_values"):
            if getattr(self, name) is not None:
                _check_number(name, getattr(self, name))
        if self.bounds is not None and self.n_records != self.bounds.n_reports:
            raise ValueError("n_records must be the number of reports.")
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
        """Whether the set contains all distributions."""
        return self.kind == "all"

    @property
    def is_point(self) -> bool:
        """Whether the set contains only the public distribution, or only its conditionals."""
        return self.kind not in ("all", "box") and all(
            self.numbers.get(name, 0.0) == 0.0 for name in ("radius", "pair", "drift")
        )

    @property
    def covers_groups(self) -> bool:
        """Whether the same set within groups of known values is one event with one beta."""
        return self.kind == "renyi" or self.n_values is not None

    def to_json(self) -> Any:
        """Return the set as JSON: "all", or an object without optional nulls."""
        if self.is_everything:
            return "all"
        origin = {name: getattr(self, name) for name in _OF_SETS}
        origin = {k: v for k, v in origin.items() if v is not None or k in ("rule", "beta")}
        bounds = {} if self.bounds is None else self.bounds.to_json()
        return {"set": self.kind, **self.numbers, **origin, **bounds}

    @staticmethod
    def from_json(fields: Any, where: str) -> Around:
        """Read the output of :meth:`to_json` strictly."""
        if fields == "all":
            return EVERYTHING
        kind = fields.get("set") if isinstance(fields, dict) else None
        check_choice(f"{where} is not 'all', and its set", kind, KINDS)
        assert isinstance(kind, str)
        of_box = ("lower", "upper", "reports") if kind == "box" else ()
        check_object(fields, ("set", *KINDS[kind], "rule", "beta", *of_box), _OF_SETS[2:], where)
        origin = {name: fields[name] for name in _OF_SETS if name in fields}
        bounds = BoxBounds.from_json(fields) if of_box else None
        return Around(kind, {name: fields[name] for name in KINDS[kind]}, **origin, bounds=bounds)


_OF_SETS = ("rule", "beta", "n_records", "n_values", "values_from")
EVERYTHING = Around()


# --- Claims --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """A bound on what reports about a person reveal about the secret, in nats.

    Parameters
    ----------
    eps : float
        The bound, for every distribution in `around`. Infinite if there is no bound.
    attained : float
        The largest leakage that was found at a distribution in `around`, so that no smaller bound
        is true.
    around : Around
        The distributions for which the bound holds.
    secret : tuple
        The sensitive columns, all of them together. Empty if columns have no names.
    known : tuple or "all"
        The columns whose values the observer knows in addition; "all" for all of U.
    reports : int
        Number of independent reports about the person that the observer sees.
    record : {"same", "may change"}
        Whether the record is the same in all reports, or only its secret.
    asked : float or None
        The bound that was required.
    how : {"proof", "composition"}
        Whether the bound is proved directly, or is a sum of bounds for fewer reports.

    Raises
    ------
    ValueError
        If a number is out of range, or two contradict each other.

    Examples
    --------
    >>> claim = Claim(0.99, 0.98, secret=("ill",), asked=1.0)
    >>> claim.is_kept, claim.around.is_everything
    (True, True)
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
            raise ValueError(f"attained={self.attained!r} must be at most eps={self.eps!r}.")
        if not isinstance(self.around, Around):
            raise ValueError(f"around={brief(repr(self.around))} must be an Around.")
        check_reports(self.reports)
        if self.record not in ("same", "may change") or self.how not in ("proof", "composition"):
            raise ValueError("record must be 'same' or 'may change', how 'proof' or 'composition'.")
        if set(self.secret) & set(() if self.known == "all" else self.known):
            raise ValueError(
                f"columns are both secret and known: {self.secret!r} and {self.known!r}."
            )

    def proven(self, eps: float, attained: float) -> Claim:
        """Return the claim with the bound that was proved, and the largest leakage found."""
        return replace(self, eps=eps, attained=min(attained, eps))

    @property
    def is_kept(self) -> bool:
        """Whether the bound is at most the required one."""
        return self.asked is None or self.eps <= self.asked

    @property
    def about(self) -> tuple[Any, int, str, bool]:
        """The observer, the reports and whether for all distributions: one claim for each."""
        return self.known, self.reports, self.record, self.around.is_everything

    def to_json(self, index: Callable[[Any], Any] = lambda name: name) -> dict[str, Any]:
        """Return the claim as JSON: columns by their indices, omitting defaults."""
        known = self.known if isinstance(self.known, str) else sorted(map(index, self.known))
        fields = {
            "secret": sorted(map(index, self.secret)),
            "known": known,
            "reports": self.reports,
            "record": self.record,
            "asked": self.asked,
            "eps": self.eps,
            "attained": self.attained,
            "how": self.how,
            "around": self.around.to_json(),
        }
        return {k: v for k, v in fields.items() if _DEFAULTS.get(k, _DEFAULTS) != v}


_DEFAULTS = {"reports": 1, "record": "same", "asked": None, "how": "proof"}


@dataclass(frozen=True)
class Claims:
    """All claims about one mechanism, or about a manifest of several, which hold together.

    Parameters
    ----------
    items : tuple of Claim
        The first one is about one report, to an observer who knows nothing else.
    parts : tuple of Claims
        For a manifest, the claims of each block. Each person reports one block, so `items` are
        the worst of these.

    Raises
    ------
    ValueError
        If there is no first claim, a claim is duplicate, or one exceeds the claim for all
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
        """Check that the claims are consistent."""
        items = tuple(self.items)
        object.__setattr__(self, "items", items)
        first = items[0] if items else None
        if not isinstance(first, Claim) or first.about[:3] != ((), 1, "same"):
            raise ValueError("the first claim must be about one report, with no known columns.")
        if len({claim.about for claim in items}) < len(items):
            raise ValueError("duplicate claim: two have the same observer and number of reports.")
        if {claim.secret for claim in items} != {first.secret}:
            raise ValueError("two claims are about different secrets.")
        limit = self.eps_worst_case
        if beyond := [claim.eps for claim in items if claim.reports == 1 and claim.eps > limit]:
            raise ValueError(
                f"eps={max(beyond)!r} must be at most {limit!r}, the bound for all distributions."
            )

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.items)

    # -- Bounds --------------------------------------------------------------------------------

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
        return next((claim for claim in self.items if claim.about == ((), 1, "same", True)), None)

    @property
    def eps_worst_case(self) -> float:
        """The bound on one report for all distributions, in nats; infinite if there is none."""
        return math.inf if self.everywhere is None else self.everywhere.eps

    @property
    def eps_given_u(self) -> float:
        """The bound for an observer who knows U exactly, in nats; infinite if there is none."""
        claim = self.stated("all")
        return self.eps_worst_case if claim is None else claim.eps

    @property
    def known(self) -> Claim | None:
        """The claim about an observer who knows some columns, if there is one."""
        return next((c for c in self.items if c.known and c.known != "all"), None)

    @property
    def is_kept(self) -> bool:
        """Whether every bound is at most the required one."""
        return all(claim.is_kept for claim in self.items)

    @property
    def beta(self) -> float | None:
        """Bound on the probability that one of the sets does not contain the true distribution.

        The sum over all sets, where one event counts once. 0 if every set contains all
        distributions, None if the probability is unknown for one of them.
        """
        betas = [around.beta for around in self.all_sets]
        if None in betas:
            return None
        return min(1.0, float(sum(Decimal(repr(beta)) for beta in betas)))

    @property
    def sets(self) -> list[Around]:
        """The sets that may not contain the true distribution, once for each event."""
        sets: list[Around] = []
        for around in (claim.around for claim in self.items if claim.reports == 1):
            if not around.is_everything and not (around.covers_groups and around in sets):
                sets.append(around)
        return sets

    @property
    def all_sets(self) -> list[Around]:
        """The sets of all blocks; those of the mechanism if there are no blocks."""
        return [around for part in self.parts or (self,) for around in part.sets]

    @property
    def values_from(self) -> str | None:
        """Where the values of U come from, on which beta depends: the weakest of all sources."""
        sources = [around.values_from for around in self.all_sets]
        return weakest_source(sources) if sources else None

    def stated(self, known: Any, reports: int = 1, record: str = "same") -> Claim | None:
        """Return the claim that is stated, without composition; None if there is none."""
        about = known if isinstance(known, str) else tuple(known), reports, record
        return next((claim for claim in self.items if claim.about[:3] == about), None)

    def find(self, known: Any = (), reports: int = 1, record: str | None = None) -> Claim | None:
        """Return the claim about an observer and a number of reports, or None.

        For several reports about a record that may change, the bound is that of the first report
        plus, for each further report, the bound for all distributions (docs/proofs.md, Theorem
        27), because the first report changes what is known about U. Without `record`, it is the
        smaller of this and the bound that is proved for an unchanged record.
        """
        check_reports(reports)
        same = self.stated(known, int(reports))
        if reports == 1 or record == "same" or known not in ((), []):
            return same
        composed = self._composed(int(reports))
        is_smaller = record is None and same is not None and same.eps <= composed.eps
        return same if is_smaller else composed

    def _composed(self, reports: int) -> Claim:
        """Add the bound of a first report and those of further ones, rounded upwards."""
        bound = self.eps_worst_case
        return self._summed(reports, (reports - 1) * Fraction(bound) if bound < math.inf else None)

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
        distributions (docs/proofs.md, Theorem 27). For a person who reports in two phases, it is
        the ε of the pilot, which protects whole records, plus that of the later mechanism.

        Parameters
        ----------
        *others : Claims
            Claims of the other mechanisms, whose secrets contain this secret.

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

        Infinite if there is no bound for all distributions. Raises ValueError unless `reports` is
        an integer of at least 1.
        """
        check_reports(reports)
        return self.eps if reports == 1 else self._composed(int(reports)).eps

    def below(self, proved: Iterable[Claim]) -> list[tuple[Claim, Claim]]:
        """Pair each claim that is lower than the proved one about the same observer with it.

        This is the only comparison of claims with proofs. The required bound is no evidence,
        because whoever writes the claims writes it as well.
        """
        by_observer = {claim.about: claim for claim in proved}
        pairs = [(claim, by_observer[claim.about]) for claim in self if claim.about in by_observer]
        return [(claim, bound) for claim, bound in pairs if claim.eps < bound.eps]

    # -- Claims made of claims ------------------------------------------------------------------

    def composed(self) -> Claims:
        """Return these claims, and those about several reports that follow from them."""
        stated = {claim.about for claim in self}
        composed = (self._composed(k) for k in REPORTS if k > 1)
        return self.with_more([claim for claim in composed if claim.about not in stated])

    def with_more(self, claims: Iterable[Claim]) -> Claims:
        """Return these claims and others."""
        return replace(self, items=(*self.items, *claims))

    def renamed(self, old: Sequence[Any], columns: Sequence[tuple[Any, bool]]) -> Claims:
        """Return the claims for columns with new names, or with names for the first time."""
        names = dict(zip(old, (name for name, _ in columns), strict=False))
        sensitive = tuple(name for name, flag in columns if flag)

        def rename(claim: Claim) -> Claim:
            known = claim.known
            if not isinstance(known, str):
                known = tuple(names.get(name, name) for name in known)
            secret = tuple(names.get(name, name) for name in claim.secret) if old else sensitive
            return replace(claim, secret=secret, known=known)

        return replace(self, items=tuple(map(rename, self.items)))

    @staticmethod
    def merged(parts: Sequence[Claims]) -> Claims:
        """Return the claims about a report of one of several blocks: the weakest of theirs.

        They state the set of the worst block; their beta is that of all sets of all blocks.
        """
        mains = [part.main for part in parts]
        # For blocks without a set, the bound for all distributions holds for any set of the others.
        with_sets = [claim for claim in mains if not claim.around.is_everything] or mains
        around = max(with_sets, key=lambda claim: claim.eps).around
        items = _worst(mains, around)
        if not around.is_everything:
            items += _worst([part.everywhere for part in parts], EVERYTHING)
        for known in dict.fromkeys(claim.known for part in parts for claim in part if claim.known):
            claims = [part.stated(known) for part in parts]
            sets = [claim.around for claim in claims if claim is not None]
            items += _worst(claims, next((s for s in sets if not s.is_everything), EVERYTHING))
        # Blocks may have different secrets: a report is about the secrets of one block.
        secret = tuple(dict.fromkeys(name for claim in mains for name in claim.secret))
        return Claims(tuple(replace(claim, secret=secret) for claim in items), tuple(parts))

    # -- JSON -----------------------------------------------------------------------------------

    def figures(self) -> dict[str, Any]:
        """Return all claims and their beta as JSON, with the names of columns."""
        claims = self.composed().to_json()
        return {"claims": claims, "beta": self.beta, "values_from": self.values_from}

    def to_json(self, columns: Sequence[Any] | None = None) -> list[dict[str, Any]]:
        """Return the claims with a finite bound as JSON.

        Columns are given by their indices in `columns`, counted from 0, if these are passed.
        """
        index = (lambda name: name) if columns is None else list(columns).index
        return [claim.to_json(index) for claim in self.items if math.isfinite(claim.eps)]

    @staticmethod
    def from_json(fields: Any, columns: Sequence[tuple[Any, bool]]) -> Claims:
        """Read the output of :meth:`to_json` for these columns strictly.

        Raises ValueError if it does not follow the format exactly, or a number is impossible.
        """
        if not isinstance(fields, list):
            raise ValueError("claims must be a list.")
        return Claims(tuple(_claim_from(entry, columns) for entry in fields))


def _worst(claims: Sequence[Claim | None], around: Around) -> list[Claim]:
    """Return the largest of the blocks' bounds as a claim, or none if a block has no bound."""
    if None in claims:
        return []
    stated = [claim for claim in claims if claim is not None]
    worst = max(stated, key=lambda claim: claim.eps)
    attained = max(claim.attained for claim in stated)
    return [replace(worst, around=around).proven(worst.eps, attained)]


def _claim_from(fields: Any, columns: Sequence[tuple[Any, bool]]) -> Claim:
    """Read a claim about one report; those about several follow from it."""
    required = ("secret", "known", "eps", "attained", "around")
    check_object(fields, required, ("asked",), "each of claims")
    secret, known = _names(fields["secret"], columns, True), fields["known"]
    if known != "all":
        known = _names(known, columns, False)
    if len(secret) < sum(flag for _, flag in columns):
        raise ValueError("a claim is not about all sensitive columns.")
    around = Around.from_json(fields["around"], "around")
    eps, asked = fields["eps"], fields.get("asked")
    claim = Claim(eps, fields["attained"], around, secret, known, asked=asked)
    if not math.isfinite(claim.eps):
        raise ValueError("eps=inf must be a finite number >= 0.")
    return claim


def _names(
    indices: Any, columns: Sequence[tuple[Any, bool]], is_sensitive: bool
) -> tuple[Any, ...]:
    """Return the names of columns by their ascending indices."""
    are_integers = isinstance(indices, list) and all(type(index) is int for index in indices)
    allowed = [index for index, (_, flag) in enumerate(columns) if flag is is_sensitive]
    if not are_integers or indices != sorted(set(indices) & set(allowed)):
        kind = "sensitive" if is_sensitive else "nonsensitive"
        raise ValueError(f"{brief(repr(indices))} are not ascending indices of {kind} columns.")
    return tuple(columns[index][0] for index in indices)


def wrong_keys(
    fields: Mapping[str, Any], required: Sequence[str], optional: Sequence[str], where: str
) -> str | None:
    """Name a required key that is missing, or an unknown one; None if the keys are correct."""
    if missing := [key for key in required if key not in fields]:
        return f"{where} lacks {', '.join(map(repr, missing))}"
    unknown = [key for key in fields if key not in required and key not in optional]
    return f"{where} has the unknown key {brief(repr(unknown[0]))}" if unknown else None


def check_object(fields: Any, required: Sequence[str], optional: Sequence[str], where: str) -> None:
    """Check that this is an object with these keys, and that no optional value is null."""
    if not isinstance(fields, dict):
        raise ValueError(f"{where} must be an object.")
    if problem := wrong_keys(fields, required, optional, where):
        raise ValueError(f"{problem}.")
    for name in optional:
        if name in fields and fields[name] is None:
            raise ValueError(f"in {where}, {name} is null. Omit it.")


def check_reports(reports: Any) -> None:
    """Reject a number of reports that is not an integer of at least 1."""
    _check_number("reports", reports)


def _check_number(name: str, value: Any) -> None:
    if not is_whole(value) or value < 1:
        raise ValueError(f"{name}={brief(repr(value))} must be an integer >= 1.")


def _nats(name: str, value: Any) -> float:
    if not is_finite(value) or value < 0:
        raise ValueError(f"{name}={brief(repr(value))} must be a finite number >= 0.")
    return float(value)
