"""The sentences about a promise: claims and the distributions for which they hold, in words.

Reports, certificates, commands and clients print these. Upper bounds are rounded upwards, lower
bounds downwards. :func:`five_sentences` begins the privacy report.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from skrldp._lists_in_words import columns_in_words, series
from skrldp._params import at_least, at_most
from skrldp.alphabet.values import source_in_words
from skrldp.claims import Around, Claim, Claims

_EXACT = ("finite-sample", "reports")  # rules whose beta is valid at every sample size
_LAST_DIGITS = 1e-15  # relative rounding error of exp(eps)
_MOST_BLOCKS = 20  # maximum number of blocks to list; a line holds about 20
_MOST_COLUMNS = 5  # maximum number of columns of a secret to list
# eps in nats; odds that rise by a factor of more than a million mean near certainty
_REVEALED = math.log(1e6)
_WEAK = math.log(10.0)  # eps in nats above which a promise gets a warning
_TOLERANCE = 1e-6  # relative difference above which one bound counts as greater than another
_LARGEST_EXP = 20.0  # exp of more nats is written as a power

POINT_ALONE = (
    "privacy holds for the public distribution alone, not for the unknown true distribution of "
    "the private data"
)


# --- Numbers -------------------------------------------------------------------------------------


def brief_bound(eps: float) -> str:
    """State an upper bound on a leakage in four digits, for a `repr`."""
    return f"eps<={at_most(eps, '.4g')}"


def claimed(eps: float | None) -> str:
    """State a bound that is claimed, for a `repr`; None if there is no claim."""
    return "no claim" if eps is None else f"{brief_bound(eps)} claimed"


def odds(eps: float) -> str:
    """Write e to the ε in two digits, rounded upwards: further digits differ between machines.

    >>> odds(1.0), odds(5.0)
    ('2.8', '150')
    """
    if eps > _LARGEST_EXP:
        return "e^" + at_most(eps, ".4g")
    # Without the rounding errors of ε and of exp, so that log(3) is written as 3 and not as 3.1.
    rounded = at_most(max(1.0, math.exp(eps) * (1.0 - _LAST_DIGITS)), ".2g")
    return f"{float(rounded):.0f}" if float(rounded) >= 100.0 else rounded


def _few(columns: Sequence[Any]) -> str:
    """Name the first columns, and count the others."""
    n_more = len(columns) - _MOST_COLUMNS
    return columns_in_words(columns[:_MOST_COLUMNS]) + f" and {n_more:,} more" * (n_more > 0)


def seen_in(report: Any, eps: float, pair: tuple[Any, Any]) -> str:
    """Say which report attains a leakage, and between which two secrets."""
    ratio = at_least(math.exp(eps), ".3g")
    if eps > _LARGEST_EXP:
        ratio = "e^" + at_least(eps, ".4g")
    first, second = map(repr, pair)
    return f"report {report!r} is {ratio} times as probable for secret {first} as for {second}"


def moved(eps: float, lower: float, upper: float) -> str:
    """State how much a report changes odds at an estimated distribution, with the 95 % interval."""
    if math.isinf(upper):
        interval = f"at least e^{lower:.2f} with 95 % confidence; it may be unbounded"
    else:
        interval = f"95 % interval e^{lower:.2f} to e^{upper:.2f}"
    return f"a report changes the odds by an estimated e^{eps:.2f} ({interval})"


def changed_at_most(eps: float) -> str:
    """State an upper bound on how much a report changes odds in the population that reported."""
    change = "without a bound" if math.isinf(eps) else f"by at most e^{at_most(eps, '.3g')}"
    return f"a report changes the odds {change}, with 95 % confidence"


def together(reports: int, eps: float) -> str:
    """Say what several reports about one person leak together."""
    subject = "report leaks" if reports == 1 else "reports together leak"
    return f"{reports:,} {subject} at most {at_most(eps)} nats"


def bound_of_reports(
    claims: Claims | None, reports: int, eps: float | None, allow_one: str
) -> float:
    """Return the bound of this many reports about one person, in nats.

    Raises ValueError if there is no bound, or it exceeds `eps`.
    """
    if claims is None:
        raise ValueError("this mechanism claims nothing, so no number of reports is safe.")
    bound = claims.bound_of(reports)
    if bound == math.inf:
        raise ValueError(
            f"this mechanism bounds one report about each person, but {reports} may reveal the "
            "secret. Fit with eps_worst_case=, which bounds further reports, or allow one report: "
            f"{allow_one}."
        )
    if eps is not None and bound > eps:
        raise ValueError(
            f"{together(reports, bound)}, more than eps={eps!r}. Fit with a smaller "
            "eps_worst_case=, or allow fewer reports."
        )
    return bound


def about_others(eps: float, limit: float) -> str:
    """Say what reports reveal about the nonsensitive columns, up to `eps` nats."""
    if eps <= limit:
        words = f"a report changes the odds of any two records by a factor of at most {odds(eps)}"
        return f"U is protected as well: {words}."
    if math.isinf(eps):
        return "Only S is protected: what a report reveals about U beyond S is not bounded."
    return (
        f"Only S is protected by eps = {at_most(limit, '.6g')}: a report changes the odds of two "
        f"values of U by a factor of up to {odds(eps)}."
    )


def over_a_set(eps: float, limit: float) -> str:
    """Say what leaks if privacy is proved at the public distribution alone."""
    leak = "any amount" if math.isinf(eps) else f"eps = {at_most(eps, '.4g')}"
    return (
        f"{POINT_ALONE.capitalize()}: over a confidence set {leak} can leak, although "
        f"{at_most(limit, '.6g')} was required. Use this design for comparisons only."
    )


# --- The distributions for which a claim holds ---------------------------------------------------


def origin_of(family: Around) -> tuple[str, str]:
    """Return the data from which a set was made, and the unit in which they are counted."""
    is_box = family.kind == "box"
    return ("private reports", "reports") if is_box else ("public table", "records")


def describe(family: Around) -> str:
    """Say which distributions a set contains.

    >>> describe(Around("renyi", {"alpha": 2, "radius": 0.1}, "given"))
    'distributions within Rényi divergence B = 0.1 (alpha = 2) of the public one'
    """
    if family.is_everything:
        return "all distributions"
    is_ball = family.kind == "renyi"
    if family.is_point:
        return f"the public {'distribution' if is_ball else 'conditionals'} alone"
    if is_ball:
        radius, alpha = family.numbers["radius"], family.numbers["alpha"]
        return (
            f"distributions within Rényi divergence B = {radius:.4g} (alpha = {alpha:g}) of the "
            "public one"
        )
    drift = family.numbers["drift"]
    if family.kind == "box":
        drifted = f", or differ from one of these by drift {drift:.4g}" * (drift > 0.0)
        return f"distributions that {family.n_records:,} private reports do not rule out{drifted}"
    limits = "log-likelihood ratios of at most"
    if family.n_records is None:
        limits = "divergences times P(s) of at most"
    drifted = f", where each divergence may be {drift:.4g} nats larger (drift)" * (drift > 0.0)
    return f"distributions whose conditionals of U have {limits} {_ratios(family)}{drifted}"


def _likelihood_ratios(family: Around) -> tuple[float, float]:
    """Return the budgets as log-likelihood ratios; unscaled if the number of records is unknown."""
    n = family.n_records or 1
    return n * family.numbers["single"], n * family.numbers["pair"]


def _ratios(family: Around) -> str:
    single, pair = (f"{ratio:.4g}" for ratio in _likelihood_ratios(family))
    is_shared = family.numbers["pair"] < 2.0 * family.numbers["single"]
    if family.numbers["single"] < family.numbers["pair"]:
        return f"{single} for each secret" + f" and {pair} for every pair" * is_shared
    # The limit for one conditional follows from the pairs, but its allowance for drift does not.
    secret = "each secret and " * (family.numbers["drift"] > 0.0)
    return f"{pair} for {secret}every pair of secrets together"


def set_in_short(family: Around) -> str:
    """State the numbers of a set, for a `repr`."""
    if family.is_everything:
        return "all distributions"
    if family.kind == "renyi":
        return f"alpha={family.numbers['alpha']:g}, B={family.numbers['radius']:.4g}"
    drift = family.numbers["drift"]
    drifted = f", drift={drift:.4g}" * (drift > 0.0)
    if family.kind == "box":
        return f"bounds from {family.n_records:,} reports{drifted}"
    single, pair = _likelihood_ratios(family)
    kind = "P(s) D" if family.n_records is None else "log-likelihood ratios"
    return f"{kind}<={single:.4g}, pairs<={pair:.4g}{drifted}"


def _missed(family: Around) -> str:
    """State the probability that the set does not contain the true distribution."""
    kind = "at most" if family.rule in _EXACT else "about"
    return f"with probability {kind} {at_most(family.beta or 0.0, '.4g')}"


def set_in_words(family: Around, *, has_source: bool = True) -> str:
    """Say for which distributions a claim holds, and how often the set misses the true one.

    `has_source` adds the source of the values of U, on which that probability depends.
    """
    words = describe(family)
    if family.is_everything:
        return f"{words} of the data"
    if family.is_point:
        return f"{words}, and no other"
    member = "distribution"
    if family.kind != "renyi":
        member, words = "conditionals", f"{words}, whatever the probabilities of the secrets"
    if family.beta is None:
        return f"{words}; the radius was given, so the probability of missing is unknown"
    drifted = " (apart from the drift)" * (family.numbers.get("drift", 0.0) > 0.0)
    source = f"; {source_in_words(family.values_from)}" * (has_source and family.kind != "box")
    return f"{words}; this set misses the true {member}{drifted} {_missed(family)}{source}"


def _assumptions(family: Around) -> str:
    """State the assumptions behind beta: how records were drawn, and what changed since."""
    words = []
    if family.beta is not None and not family.is_point:
        rule = "reports" if family.kind == "box" else family.rule
        words.append(_SAMPLING.get(rule or "", _SAMPLING["records"]))
    if family.rule in ("chi2", "asymptotic", "reports-asymptotic") and not family.is_point:
        words.append("that each cell has many records; LikelihoodRatioSet() does not need that")
    if family.numbers.get("drift", 0.0) > 0.0:
        words.append("that the population has changed by at most the drift since")
    return "; ".join(words)


def set_lines(
    family: Around, label: str = "holds for", *, has_source: bool = True
) -> list[tuple[str, str]]:
    """State a set and the assumptions behind its beta, as labels and texts."""
    assumptions = _assumptions(family)
    lines = [(label, set_in_words(family, has_source=has_source))]
    return [*lines, *[("assumes", assumptions)] * bool(assumptions)]


_SAMPLING = {
    "survey": (
        "that the public records were drawn as the survey's design says, in many clusters, from "
        "the population of those who report"
    ),
    "reports": (
        "that each report was drawn by its mechanism, independently, for a different member of the "
        "population of those who report, and that the number of reports was fixed in advance"
    ),
    "records": (
        "that the counted records were drawn independently, each person with the same probability, "
        "from the population of those who report, of which they are a small part; samples by "
        "place, household, stratum or weight need their survey's design"
    ),
}


# --- One claim -----------------------------------------------------------------------------------


def observer_in_words(claim: Claim) -> str:
    """Name the observer; empty if the observer knows nothing else."""
    if claim.known == "all":
        return "for an observer who knows U exactly"
    return f"for an observer who knows {columns_in_words(claim.known)}" if claim.known else ""


def claim_in_words(claim: Claim) -> str:
    """State the bound: for whom, for how many reports, and whether it was required."""
    words = bound_in_words(claim)
    if claim.asked is not None:
        words += f"; required {at_most(claim.asked)}" + ", not met" * (not claim.is_kept)
    return words + " (by composition)" * (claim.how == "composition" and claim.eps < math.inf)


def bound_in_words(claim: Claim) -> str:
    """State the bound: for whom, and for how many reports."""
    subject = "one unchanged record" if claim.record == "same" else "one person"
    words = [
        "no bound" if math.isinf(claim.eps) else f"eps <= {at_most(claim.eps)}",
        observer_in_words(claim),
        f"for {claim.reports:,} reports about {subject}" * (claim.reports > 1),
    ]
    text = " ".join(filter(None, words))
    separator = ", " if claim.known or claim.reports > 1 else " "
    return text + f"{separator}for all distributions" * claim.around.is_everything


def odds_in_words(claim: Claim) -> str:
    """Say without formulas what one report does to the odds of two values of the secret."""
    secret = _few(claim.secret) or "the secret"
    if claim.eps > _REVEALED:
        return f"A report may reveal {secret}."
    percent = at_most(100.0 / (1.0 + math.exp(-claim.eps)), ".2g")
    return (
        f"One report changes the odds of any two values of {secret} by a factor of at most "
        f"{odds(claim.eps)}, so that a value that was 50 % likely before is at most {percent} % "
        "likely afterwards."
    )


# --- All claims about a mechanism ----------------------------------------------------------------


def five_sentences(
    claims: Claims, others: Sequence[Any], protects_others: bool, n_records: int
) -> tuple[str, ...]:
    """Say in five sentences who is protected from what, how much, from whom, how often, and when.

    `others` are the nonsensitive columns, `protects_others` whether they are protected as well.
    """
    secret = columns_in_words(claims.main.secret) or "the secret"
    verb = "are" if len(claims.main.secret) > 1 else "is"
    subject = f"Each person's {secret} {verb} protected from anyone who sees the person's report"
    if not others:
        who = f"{subject}, and that is the whole record."
    else:
        status = "protected as well" if protects_others else "not protected"
        verb = "is" if len(others) == 1 else "are"
        who = f"{subject}; {columns_in_words(others)} {verb} {status}."
    main = claims.main
    return who, odds_in_words(main), _from_whom(claims), _of_two(claims), _if(claims, n_records)


def _from_whom(claims: Claims) -> str:
    """Say what observers who know more about the person learn."""
    if claims.eps_worst_case <= claims.eps:
        return "This holds whatever else an observer knows about the person."
    words = "This holds for an observer who knows nothing else about the person; "
    if claims.known is not None and claims.known.eps <= _REVEALED:
        columns, eps = _few(claims.known.known), claims.known.eps
        words += f"for one who knows {columns}, the factor is at most {odds(eps)}; "
    if claims.eps_worst_case > _REVEALED:
        secret = _few(claims.main.secret) or "the secret"
        return f"{words}one who knows more may learn {secret} from one report."
    return f"{words}for one who knows more, the factor is at most {odds(claims.eps_worst_case)}."


def _of_two(claims: Claims) -> str:
    """Say what two reports about a person reveal, and how much less if the record is unchanged."""
    eps, same = claims.bound_of(2), claims.find(reports=2, record="same")
    unchanged = math.inf if same is None else same.eps
    if eps <= _REVEALED:
        words = f"change these odds by a factor of at most {odds(eps)}"
        exception = f"{odds(unchanged)} if the record is unchanged"
    else:
        words = f"may reveal {_few(claims.main.secret) or 'the secret'}"
        exception = f"a factor of at most {odds(unchanged)} if the record is unchanged"
    has_exception = unchanged < eps and unchanged <= _REVEALED
    return f"Two reports about the same person {words}{f' ({exception})' * has_exception}."


def _if(claims: Claims, n_records: int) -> str:
    """Say for which populations this holds, with which probability, and under which assumptions."""
    sets, table = claims.all_sets, f"the public table of {n_records:,} records"
    uncertain = [family for family in sets if not family.is_point]
    if not sets:
        return "This is proved for every population, whatever the public table says."
    if not uncertain:
        return f"This holds only if the population is exactly as {table} says."
    near, sample = f"This is proved for all populations close to {table}", "this table"
    if is_box := sets[0].kind == "box":
        near = "This is proved for all populations that the "
        near += f"{sets[0].n_records:,} private reports do not rule out"
        sample = "these reports"
    if claims.beta is None:
        return f"{near}; whether the true population is one of them is unknown."
    is_learned, is_cut = claims.values_from in ("learned", None), claims.values_from == "cut"
    is_exact = all(family.rule in _EXACT for family in uncertain) and not (is_learned or is_cut)
    share = f"{'at most' if is_exact else 'about'} {at_most(100.0 * claims.beta, '.3g')} %"
    share += " (more, because rare values were learned from it)" * is_learned
    share += " (simulated, because edges of bins were read from it)" * is_cut
    drawn = f"{sample} {'are' if is_box else 'is'} a random sample of the people who report"
    if any(family.rule == "survey" for family in uncertain):
        drawn = f"{sample} was drawn as the survey's design says"
    if any(family.numbers.get("drift", 0.0) > 0.0 for family in uncertain):
        drawn += " and the population has changed by no more than the drift"
    return (
        f"{near}; if {drawn}, the guarantee may fail for {share} of such samples, because these "
        "are unrepresentative."
    )


def warnings_about(claims: Claims) -> list[str]:
    """Warn about a large bound, and about what a second report or more knowledge reveals."""
    texts, everywhere, two = [], claims.everywhere, claims.find(reports=2)
    if claims.eps > _WEAK:
        texts.append(
            f"{brief_bound(claims.eps)} is a weak promise: one report may change odds of 1 : 1 "
            f"into {odds(claims.eps)} : 1."
        )
    assert two is not None
    is_required = everywhere is not None and everywhere.asked is not None and everywhere.is_kept
    largest = max(two.eps / 2.0, claims.eps_worst_case)
    if not is_required and largest > claims.eps * (1.0 + _TOLERANCE):
        texts.append(
            "The bound is for one report to an observer who knows nothing else: a second report, "
            "or knowledge about the person, may reveal more. eps_worst_case= bounds both."
        )
    return texts


def claims_shown(claims: Claims) -> list[Claim]:
    """Return all claims, and those that follow for more reports, without weaker ones."""
    composed = claims.composed().items
    changing = {claim.reports: claim.eps for claim in composed if claim.record != "same"}

    def is_informative(claim: Claim) -> bool:
        if claim.record == "same":
            return claim.reports == 1 or claim.eps < changing.get(claim.reports, math.inf)
        return math.isfinite(claim.eps) or claim.reports == 2

    return [*filter(is_informative, composed)]


_HEADER = "known", "reports", "holds for", "eps <=", "required", "largest found", "shown by"


def claims_table(claims: Claims) -> tuple[str, Sequence[str], list[tuple[str, ...]]]:
    """State all claims in a table, a row for each: its title, header and rows."""
    rows = [_row(claim, _letter(claims, claim)) for claim in claims_shown(claims)]
    return f"Claims about {_few(claims.main.secret) or 'S'}", _HEADER, rows


def _row(claim: Claim, letter: str) -> tuple[str, ...]:
    known = "all of U" if claim.known == "all" else _few(claim.known) or "nothing"
    is_same = claim.reports > 1 and claim.record == "same"
    return (
        known,
        f"{claim.reports:,}" + ", same record" * is_same,
        letter,
        "no bound" if math.isinf(claim.eps) else at_most(claim.eps, ".6g"),
        "" if claim.asked is None else at_most(claim.asked, ".6g"),
        at_least(claim.attained, ".6g"),
        claim.how,
    )


def claim_lines(claims: Claims, label: str = "claimed") -> list[tuple[str, str]]:
    """State all claims and their sets, as labels and texts; `label` is that of a claim."""
    lines = []
    for claim in claims.items:
        letter = _letter(claims, claim)
        lines.append((label, claim_in_words(claim) + f", over {letter}" * (letter != "all")))
    if math.isinf(claims.eps_worst_case):
        several = "no bound for more than one report about each person"
    else:
        first, further = at_most(claims.eps), at_most(claims.eps_worst_case)
        several = f"eps <= {first} + {further} (k - 1) for k reports about one person"
    largest = f"{at_least(claims.main.attained)} nats, at the worst distribution"
    return [*lines, ("k reports", several), ("largest found", largest), *legend(claims)]


def legend(claims: Claims) -> list[tuple[str, str]]:
    """Say which set each letter stands for, what is assumed, and how often the sets miss."""
    lines: list[tuple[str, str]] = []
    for letter, sets in zip("ABCDEFGH", _kinds(claims), strict=False):
        blocks_of: dict[tuple[str, str], list[str]] = {}
        for number, family in enumerate(sets):
            has_source = letter == "A" or claims.main.around.beta is None
            for line in set_lines(family, letter, has_source=has_source):
                blocks_of.setdefault(line, []).append(f"{number}")
        for (label, words), blocks in blocks_of.items():
            rest = [f"{len(blocks) - _MOST_BLOCKS:,} more"] * (len(blocks) > _MOST_BLOCKS)
            names = series([*blocks[:_MOST_BLOCKS], *rest])
            which = "" if len(blocks) == len(sets) else f"block{'s' * (len(blocks) > 1)} {names}: "
            lines.append((label, which + words))
    lines = sorted(dict.fromkeys(lines), key=lambda line: line[0] == "assumes")
    if joint := _missed_together(claims):
        lines.append(("sets", joint))
    worst = [("blocks", "each bound is that of the worst block")] * bool(claims.parts)
    return [*lines, *worst]


def _kinds(claims: Claims) -> list[tuple[Around, ...]]:
    """Return the sets of the claims, each once; for a manifest, one of each block per claim."""
    kinds: list[tuple[Around, ...]] = []
    for claim in claims:
        sets = _sets_of(claims, claim)
        if not claim.around.is_everything and sets not in kinds:
            kinds.append(sets)
    return kinds


def _sets_of(claims: Claims, claim: Claim) -> tuple[Around, ...]:
    stated = [part.stated(claim.known) for part in claims.parts]
    return tuple(part.around for part in stated if part is not None) or (claim.around,)


def _letter(claims: Claims, claim: Claim) -> str:
    if claim.around.is_everything:
        return "all"
    return "ABCDEFGH"[_kinds(claims).index(_sets_of(claims, claim))]


def claims_in_short(claims: Claims) -> str:
    """State the bounds, for a `repr`."""
    text = f"{brief_bound(claims.eps)} for {describe(claims.main.around)}"
    if claims.everywhere in (None, claims.main) or math.isinf(claims.eps_worst_case):
        return text
    return f"{text}, {brief_bound(claims.eps_worst_case)} for all distributions"


def _missed_together(claims: Claims) -> str:
    """Say how often several sets miss together; empty if there is at most one."""
    uncertain = [family for family in claims.all_sets if not family.is_point]
    if len(uncertain) < 2:
        return ""
    if claims.beta is None:
        return f"{len(uncertain):,}; how often they miss is unknown"
    chances = " or ".join(sorted({_missed(family) for family in uncertain}))
    kind = "at most" if all(family.rule in _EXACT for family in uncertain) else "about"
    is_weak = claims.values_from in ("learned", None)
    condition = f"; {source_in_words(claims.values_from)}" * is_weak
    return (
        f"{len(uncertain):,}; each misses {chances}, at least one of them with probability {kind} "
        f"{at_most(claims.beta, '.4g')}{condition}"
    )
