"""Claims come back from JSON, words promise no more than they do, impossible ones are refused."""

import json
import math
import re
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp import (
    AllDistributions,
    IRSanitizer,
    LikelihoodRatioSet,
    Mechanism,
    NonRobustSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
)
from skrldp.alphabet.values import SOURCES
from skrldp.claims import EVERYTHING, KINDS, RULES, UNITS, Around, BoxBounds, Claim, Claims
from skrldp.claims_in_words import claim_lines, claims_shown, claims_table, describe, five_sentences

COLUMNS = [("ill", True), ("age", False), ("faith", True), ("place", False)]
SECRET = ("ill", "faith")
BARE = Mechanism.from_matrix([[1.0, 1.0]], (("no", "a"), ("yes", "b")), ((1, 2),))
BARE = BARE.named(None, COLUMNS)
AROUND = Around("renyi", {"alpha": 2.0, "radius": 0.1}, "given")


def claimed(*items):
    """Claims about the columns above: of each the bound, the set and what is known."""
    return Claims(tuple(replace(item, secret=SECRET) for item in items))


def written(claims):
    return replace(BARE, claims=claims).to_json()


FIGURE = st.floats(0, 1e300)
SHARE = st.floats(0, 1, exclude_min=True, exclude_max=True)


@st.composite
def boxes(draw):
    """Any bounds that a claim can state."""
    a2 = draw(st.integers(1, 4))
    bound = st.lists(st.integers(0, UNITS // a2), min_size=a2, max_size=a2).map(tuple)
    lower = draw(st.lists(bound, min_size=1, max_size=3).map(tuple))
    upper = ((UNITS,) * a2,) * len(lower)
    counts = st.lists(st.integers(1, 10**9), min_size=1, max_size=3).map(tuple)
    reports = draw(st.lists(st.tuples(st.text(), counts), min_size=1, max_size=3).map(tuple))
    bounds = BoxBounds(lower, upper, reports)
    numbers = {"drift": draw(FIGURE)}, draw(st.sampled_from(RULES["box"])), draw(SHARE)
    return Around("box", *numbers, bounds.n_reports, values_from="declared", bounds=bounds)


@st.composite
def arounds(draw):
    """Any set that a claim can state."""
    kind = draw(st.sampled_from([*KINDS]))
    if kind == "box":
        return draw(boxes())
    rule = draw(st.sampled_from(RULES[kind]))
    single = draw(FIGURE)
    numbers = {"single": single, "pair": draw(st.floats(single, 2.0 * single))}
    numbers["drift"] = draw(FIGURE)
    if kind == "renyi":
        order = 1.0 if rule == "finite-sample" else draw(st.floats(1e-300, 1e300))
        numbers = {"alpha": order, "radius": draw(FIGURE)}
    beta = None if rule == "given" else draw(SHARE)
    count = st.none() | st.integers(1, 10**20)
    source = st.none() | st.sampled_from(SOURCES)
    return Around(kind, numbers, rule, beta, draw(count), draw(count), draw(source))


@st.composite
def some_claims(draw):
    eps_worst_case = draw(FIGURE)

    def claim(around, **about):
        eps = draw(st.floats(0, eps_worst_case))
        asked = draw(st.none() | st.floats(eps, 1e300))
        return Claim(eps, draw(st.floats(0, eps)), around, SECRET, asked=asked, **about)

    sets = st.just(EVERYTHING) | arounds()
    items = [claim(draw(sets))]
    known = draw(st.lists(st.sampled_from([("age",), ("age", "place"), "all"]), unique=True))
    items += [claim(draw(sets), known=own) for own in known]
    if not items[0].around.is_everything and draw(st.booleans()):
        items.append(Claim(eps_worst_case, eps_worst_case, secret=SECRET))
    if items[0].around.is_everything:
        items = [replace(one, eps=min(one.eps, items[0].eps), attained=0.0) for one in items]
    return Claims(tuple(items))


@given(some_claims())
def test_claims_come_back_to_the_last_bit(claims):
    text = written(claims)
    again = Mechanism.from_json(text)
    assert again.claims == claims and repr(again.claims) == repr(claims)
    assert again.to_json() == text
    around = claims.main.around
    assert claims.main.around.is_everything == (json.loads(text)["claims"][0]["around"] == "all")
    assert f"for {describe(around)}" in repr(again) and describe(around) in again._repr_html_()
    assert ("alone" in describe(around)) == around.is_point


def test_several_reports():
    """The first report is covered by the set, each further one by all distributions alone."""
    for items, bounds in (
        ([Claim(0.75, 0.5, AROUND), Claim(4, 4)], [0.75, 4.75, 8.75]),
        ([Claim(0.75, 0.5, AROUND)], [0.75, math.inf, math.inf]),
        ([Claim(0.75, 0.5)], [0.75, 1.5, 2.25]),
    ):
        claims = claimed(*items)
        assert [claims.bound_of(k) for k in (1, 2, np.int64(3))] == bounds
        assert [claims.find(reports=k).eps for k in (1, 2, 3)] == bounds
        said = dict(claim_lines(claims))["k reports"]
        last = claims_shown(claims)[-1]
        assert last.reports == (2 if math.isinf(bounds[1]) else 10)
        if math.isinf(bounds[1]):
            assert said == "no bound for more than one report about each person"
        else:
            first, further = f"{bounds[0]:g}", f"{claims.eps_worst_case:g}"
            assert said == f"eps <= {first} + {further} (k - 1) for k reports about one person"
    for bad in (0, 1.0, True, None, math.inf):
        with pytest.raises(ValueError, match="must be an integer >= 1"):
            claims.bound_of(bad)


def test_what_is_proven_of_several_reports_is_for_records_that_stay_the_same():
    claims = claimed(Claim(1.0, 0.9, AROUND), Claim(4, 4), Claim(1.5, 1.4, AROUND, reports=2))
    assert claims.find(reports=2).eps == claims.find(reports=2, record="same").eps == 1.5
    assert claims.find(reports=2, record="may change").eps == claims.bound_of(2) == 5.0
    assert claims.find(reports=3, record="same") is None and claims.find(reports=3).eps == 9.0
    said = [text for _, text in claim_lines(claims)]
    assert "eps <= 1.5 for 2 reports about one unchanged record, over A" in said
    assert "eps <= 1 + 4 (k - 1) for k reports about one person" in said
    with pytest.raises(ValueError, match="several reports"):
        replace(BARE, claims=claims)


@given(FIGURE, FIGURE, st.integers(1, 10**9) | st.just(10**400))
def test_sums_of_several_reports_are_rounded_upwards(eps, more, reports):
    claims = claimed(Claim(eps, 0.0, AROUND), Claim(eps + more, 0.0))
    bound, exact = claims.bound_of(reports), Fraction(eps) + (reports - 1) * Fraction(eps + more)
    assert bound >= exact
    assert bound == math.inf or math.nextafter(bound, -1.0) < exact


def test_what_is_not_bounded_is_in_the_table():
    claims = claimed(Claim(math.inf, 3.0, AROUND))
    assert [row[1:4] for row in claims_table(claims)[2]] == [
        ("1", "A", "no bound"),
        ("2", "A", "no bound"),
    ]
    assert five_sentences(claims, (), False, 9)[1] == "A report may reveal 'ill', 'faith'."


@given(st.floats(0, 15), st.floats(0, 9), st.floats(0, 1))
def test_sentences_promise_no_more_than_is_claimed(eps, further, share):
    known = Claim(share * (eps + further), 0.0, AROUND, known=("age",))
    claims = claimed(Claim(eps, 0.0, AROUND), known, Claim(eps + further, 0.0))
    _, one, more, two, _ = five_sentences(claims, ("place",), False, 9)
    texts = [one, *more.split("; ")[1:][-1:], two]
    bounds = [eps, *[claims.eps_worst_case] * (len(texts) == 3), claims.find(reports=2).eps]
    if "knows 'age'" in more and "; " in more:
        texts.append(more.split("; ")[1])
        bounds.append(known.eps)
    for text, bound in zip(texts, bounds, strict=True):
        factor = re.search(r"at most ([0-9.]+(?:e\+?[0-9]+)?)", text)
        assert (factor is None) == (bound > math.log(1e6)), text
        assert factor is None or math.log(float(factor[1].rstrip("."))) >= bound - 1e-12
    first = re.match(r"eps <= ([0-9.e+-]+)", claim_lines(claims)[0][1])
    assert float(first[1]) >= eps


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"secret": ("faith",)}, r"secret columns \['faith'\] and known columns"),
        ({"secret": ()}, r"secret columns \[\]"),
        ({"secret": ("ill", "faith"), "known": ("shoe",)}, r"known columns \['shoe'\]"),
        ({"secret": ("ill", "faith"), "asked": 0.5}, "more than asked=0.5"),
    ],
)
def test_claims_are_about_what_there_is_and_was_asked_for(changes, message):
    claim = replace(Claim(1, 0.5, AROUND, SECRET), **changes)
    items = (Claim(1, 0.5, secret=claim.secret), claim) if claim.known else (claim,)
    with pytest.raises(ValueError, match=message):
        replace(BARE, claims=Claims(items))


def test_claims_follow_the_names_of_columns():
    stated = replace(BARE, claims=claimed(Claim(1, 0.5), Claim(1, 1, AROUND, known=("age",))))
    flags = [True, False, True, False]
    again = stated.named(None, list(zip("abcd", flags, strict=True)))
    assert [one.secret for one in again.claims] == [("a", "c")] * 2
    assert again.claims.known.known == ("b",)
    for flags in ([False, True, False, True], []):
        with pytest.raises(ValueError, match=r"a claim has secret columns"):
            stated.named(None, list(zip("abcd", flags, strict=False)))


@st.composite
def parts_of_manifests(draw):
    """Claims of blocks, each to observers who know nothing else, or a column."""
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        pool = draw(st.lists(arounds() | st.just(EVERYTHING), min_size=1, max_size=2))
        sets = [draw(st.sampled_from(pool)) for _ in range(draw(st.integers(1, 3)))]
        known = [(), ("age",), ("place",)]
        items = [Claim(1.0, 0.5, one, known=own) for one, own in zip(sets, known, strict=False)]
        parts.append(claimed(*items, *[Claim(1.0, 0.0)] * (not sets[0].is_everything)))
    return parts


@given(parts_of_manifests())
def test_beta_is_the_sum_over_the_events_of_all_blocks(parts):
    """An event counts once for all groups of a table where it is about any groups of them."""
    total, unknown = Fraction(0), False
    for part in parts:
        events = []
        for one in part:
            around = one.around
            again = around.kind == "renyi" or around.n_values is not None
            if around.kind != "all" and not (again and around in events):
                events.append(around)
                unknown = unknown or around.beta is None
                total += Fraction(repr(around.beta or 0.0))
    beta = Claims.merged(parts).beta
    assert beta == (None if unknown else min(1.0, float(total)))
    assert parts[0].beta == Claims.merged(parts[:1]).beta
    if not unknown and len(parts) > 1:
        assert beta >= max(part.beta for part in parts)


REPORTED = (("0" * 64, (3, 5)),)
ANYTHING = BoxBounds(((0, 0),), ((UNITS, UNITS),), REPORTED)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Around(radius=0.1), "radius"),
        (lambda: Around("renyi", {"alpha": 1.0, "radius": math.nan}, "given"), "radius=nan"),
        (lambda: Around("renyi", {"alpha": 1.0}, "given"), "must be alpha, radius"),
        (lambda: BoxBounds(((0, 0),), ((UNITS - 1, 0),), REPORTED), "no distribution"),
        (lambda: BoxBounds(((UNITS, 1),), ((UNITS, UNITS),), REPORTED), "no distribution"),
        (
            lambda: Around("box", {"drift": 0.0}, "reports", 0.05, 7, bounds=ANYTHING),
            "must be the number of reports",
        ),
        (lambda: Claim(math.nan, 0.0), "eps=nan"),
        (lambda: Claim(1.0, math.inf), "attained=inf"),
        (lambda: Claim(1.0, 1.0, "all"), "must be an Around"),
        (lambda: Claim(1.0, 1.0, reports=0), "reports=0"),
        (lambda: Claim(1.0, 1.0, record="other"), "record must be"),
        (lambda: Claim(1.0, 1.0, secret=("a",), known=("a",)), "secret and known"),
        (lambda: Claims(()), "the first claim"),
        (
            lambda: Claims((Claim(1, 1), Claim(1, 1, secret=("a",), known=("b",)))),
            "different secrets",
        ),
    ],
)
def test_impossible_figures_are_refused(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


X = [[s, u] for s in ("no", "yes", "never") for u in ("a", "b", "c")]
COUNTS = [200, 100, 50, 100, 150, 250, 70, 90, 80]


def is_a(u, y):
    return (u == "a") != y


KINDS_OF_SETS = [
    (RenyiBall(region="lower"), "renyi", ("chi2", 0.05)),
    (RenyiBall(1.0, beta=0.01, radius="finite-sample"), "renyi", ("finite-sample", 0.01)),
    (LikelihoodRatioSet(0.01, drift=0.001), "likelihood-ratio", ("finite-sample", 0.01)),
    (LikelihoodRatioSet(radius="asymptotic"), "likelihood-ratio", ("asymptotic", 0.05)),
    (LikelihoodRatioSet(radius=0.01), "likelihood-ratio", ("given", None)),
    (AllDistributions(), "all", None),
]
OTHERS = [  # of which two have a proof for the public distribution alone
    (SRRSanitizer(), "all", None),
    (NonRobustSanitizer(), "renyi", ("given", None)),
    (RobustMSESanitizer(distance=is_a, robust_privacy=False), "likelihood-ratio", ("given", None)),
]


@pytest.mark.parametrize(
    ("sanitizer", "kind", "source"),
    [*((IRSanitizer(uncertainty=one), *more) for one, *more in KINDS_OF_SETS), *OTHERS],
)
def test_the_claims_are_those_of_the_certificate(sanitizer, kind, source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        sanitizer.set_params(sensitive=0).fit(X, sample_weight=COUNTS)
    claims, certificate = sanitizer.mechanism_.claims, sanitizer.certificate_
    assert claims == certificate.claims and claims.main.asked == sanitizer.eps
    assert claims.eps == certificate.eps <= sanitizer.eps and claims.is_kept
    stated = json.loads(sanitizer.mechanism_.to_json())["claims"][0]["around"]
    around = certificate.uncertainty
    assert (stated == "all") is around.is_everything is (kind == "all")
    if kind != "all":
        assert stated.pop("set") == kind and stated.pop("values_from") == "frequent"
        assert (stated["rule"], stated["beta"]) == source
        assert stated["n_records"] == sum(COUNTS)
        assert stated == {name: getattr(around, name) for name in stated}
    assert Mechanism.from_json(sanitizer.mechanism_.to_json()).claims == claims


def test_no_counts_are_written_but_their_total():
    counts = [19937, 10111, 4723, 10303, 15101, 25703]  # no weight of a rare report is so large
    found = IRSanitizer(sensitive=0).fit(X[:6], sample_weight=counts)
    document = json.loads(found.mechanism_.to_json())
    assert document["claims"][0]["around"]["n_records"] == sum(counts)
    assert not set(counts) & {w for row in document["weights"] for w in row}
