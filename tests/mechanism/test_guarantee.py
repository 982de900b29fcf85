"""The guarantee of a mechanism: what it can state, in JSON of every version."""

import json
import math
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp import (
    AllDistributions,
    GRRSanitizer,
    IRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    Mechanism,
    NonRobustSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
)
from skrldp._params import at_most
from skrldp.alphabet.values import SOURCES
from skrldp.mechanism.guarantee import FurtherBound, Guarantee, claims_of
from skrldp.mechanism.stated_sets import RULES, StatedLikelihoodRatioSet, StatedRenyiSet

COLUMNS = [("ill", True), ("age", False), ("faith", True), ("place", False)]
BARE = Mechanism.from_matrix([[1.0, 1.0]], (("no", "a"), ("yes", "b")), ((1, 2),))
BARE = BARE.named(None, COLUMNS)


def written(guarantee):
    return replace(BARE, guarantee=guarantee).to_json()


# --- JSON ----------------------------------------------------------------------------------------

FIGURE = st.floats(0, 1e300)
SHARE = st.floats(0, 1, exclude_min=True, exclude_max=True)


@st.composite
def stated_sets(draw):
    """Any set that a guarantee can state."""
    kind = draw(st.sampled_from([StatedRenyiSet, StatedLikelihoodRatioSet]))
    rule = draw(st.sampled_from(kind.rules))
    beta = None if rule == "given" else draw(SHARE)
    if kind is StatedRenyiSet:
        order = 1.0 if rule == "finite-sample" else draw(st.floats(1e-300, 1e300))
        return StatedRenyiSet(order, draw(FIGURE), rule, beta)
    single = draw(FIGURE)
    return StatedLikelihoodRatioSet(
        single, draw(st.floats(single, 2.0 * single)), draw(FIGURE), rule, beta
    )


@st.composite
def proofs(draw, most=1e300):
    """The figures that a guarantee and its further statements have in common."""
    eps, around = draw(st.floats(0, most)), draw(st.just("all") | stated_sets())
    return {
        "eps_requested": draw(FIGURE),
        "eps": eps,
        "eps_attained": draw(st.floats(0, eps)),
        "distributions": around,
        "alphabet": None if around == "all" else draw(st.none() | st.sampled_from(SOURCES)),
    }


@st.composite
def guarantees(draw):
    proof = draw(proofs())
    eps_all = draw(st.none() | st.floats(proof["eps"], 1e300))
    most = 1e300 if eps_all is None else eps_all
    further = [
        FurtherBound(**draw(proofs(most)), secret=(0, 2), known=known) for known in ((1,), (1, 3))
    ]
    return Guarantee(
        **proof,
        n_records=draw(st.none() | st.integers(1, 10**20)),
        eps_all=eps_all,
        eps_given_u=draw(st.none() | st.floats(0, most)),
        further=tuple(draw(st.lists(st.sampled_from(further), unique=True))),
    )


@given(guarantees())
def test_a_guarantee_comes_back_to_the_last_bit(claim):
    text = written(claim)
    again = Mechanism.from_json(text)
    assert again.guarantee == claim and repr(again.guarantee) == repr(claim)
    assert again.to_json() == text
    main = text.partition('"further"')[0]
    assert claim.for_all_distributions == ('"distributions":"all"' in main)
    for name in ("eps_all", "eps_given_u", "further"):
        assert (f'"{name}":' in text) == (getattr(claim, name) not in (None, ()))
    words = "all distributions"
    if not claim.for_all_distributions:
        words = claim.distributions.describe()
        assert ("alone" in words) == claim.distributions.is_point
    assert f"for {words}" in repr(again) and words in again._repr_html_()


def test_whole_figures_are_numbers_like_any():
    for whole, real in (
        (StatedRenyiSet(1, 2, "given"), StatedRenyiSet(1.0, 2.0, "given")),
        (
            StatedLikelihoodRatioSet(1, 2, 0, "given"),
            StatedLikelihoodRatioSet(1.0, 2.0, 0.0, "given"),
        ),
    ):
        claim = Guarantee(1, 1, 0, whole)
        assert repr(claim) == repr(Guarantee(1.0, 1.0, 0.0, real))
        text = written(claim)
        other = text.replace("1.0", "1").replace("2.0", "2").replace("0.0", "0")
        assert other != text and Mechanism.from_json(other).to_json() == text


VERSION_1 = (
    '{"format":"skrldp-mechanism","version":1,"columns":[],"secrets":["no","yes"],"values":[1],'
    '"denominator_bits":32,"symbols":[0],"weights":[[4294967296,4294967296]],"guarantee":'
    '{"eps_requested":1.0,"eps":0.75,"eps_attained":0.5,"n_records":100,"laws":LAWS}}'
)
BALL = '{"alpha":2.0,"radius":0.1,"rule":"chi2","beta":0.05}'


@pytest.mark.parametrize(
    ("laws", "distributions", "as_now"),
    [
        ('"all"', "all", '"distributions":"all"'),
        (
            BALL,
            StatedRenyiSet(2.0, 0.1, "chi2", 0.05),
            f'"distributions":{{"set":"renyi",{BALL[1:]}',
        ),
    ],
)
def test_versions_1_and_2_are_read_and_version_3_written(laws, distributions, as_now):
    old = Mechanism.from_json(VERSION_1.replace("LAWS", laws))
    assert old.guarantee == Guarantee(1.0, 0.75, 0.5, distributions, n_records=100)
    text = VERSION_1.replace('"version":1', '"version":3').replace('"laws":LAWS', as_now)
    assert old.to_json() == text
    of_2 = text.replace('"version":3', '"version":2').replace("100", '100,"alphabet":"frequent"')
    for same in (text, text.replace('"version":3', '"version":2')):
        assert Mechanism.from_json(same).digest == old.digest
    if laws != '"all"':
        assert Mechanism.from_json(of_2).guarantee == replace(old.guarantee, alphabet="frequent")
    with pytest.raises(ValueError, match="guarantee has the unknown key 'eps_all'"):
        Mechanism.from_json(of_2.replace('"n_records"', '"eps_all":2.0,"n_records"'))


def test_several_reports():
    """The first report is covered by the set, each further one by all distributions alone."""
    around = StatedRenyiSet(2.0, 0.1, "given")
    for claim, bounds in (
        (Guarantee(1, 0.75, 0.5, around, eps_all=4.0), [0.75, 4.75, 8.75]),
        (Guarantee(1, 0.75, 0.5, around, eps_all=4.0, eps_given_u=3.0), [0.75, 4.75, 8.75]),
        (Guarantee(1, 0.75, 0.5, around), [0.75, math.inf, math.inf]),
        (Guarantee(1, 0.75, 0.5, "all"), [0.75, 1.5, 2.25]),
        (Guarantee(1, 0.75, 0.5, "all", eps_all=4.0), [0.75, 1.5, 2.25]),
        (Guarantee(0, 0.0, 0.0, around), [0.0, math.inf, math.inf]),
    ):
        assert [claim.bound_of(k) for k in (1, 2, np.int64(3))] == bounds
        shown = replace(BARE, guarantee=claim)._repr_html_()
        if math.isinf(bounds[1]):
            assert "for one report about each person; no bound for more" in shown
        else:
            assert f"eps &lt;= {at_most(bounds[1])} for k = 2; " in shown
    for bad in (0, -1, 1.0, True, None, "2", math.inf):
        with pytest.raises(ValueError, match="no whole number >= 1"):
            claim.bound_of(bad)


@given(FIGURE, FIGURE, st.integers(1, 10**9) | st.just(10**400))
def test_sums_of_several_reports_are_rounded_upwards(eps, more, reports):
    claim = Guarantee(eps, eps, 0.0, StatedRenyiSet(1.0, 0.1, "given"), eps_all=eps + more)
    bound, exact = claim.bound_of(reports), Fraction(eps) + (reports - 1) * Fraction(claim.eps_all)
    assert bound >= exact
    assert bound == math.inf or math.nextafter(bound, -1.0) < exact


def test_statements_in_words():
    around = StatedRenyiSet(2.0, 0.1, "given")
    further = [
        FurtherBound(1.0, 0.5, 0.5, around, secret=(0, 2), known=(1, 3)),
        FurtherBound(2, 2, 1, "all", secret=(0, 2), known=(1,)),
    ]
    claim = Guarantee(1, 0.75, 0.5, around, eps_all=4.0, eps_given_u=3, further=further)
    shown = replace(BARE, guarantee=claim)
    assert f"eps<=0.75 for {around.describe()}, eps<=4 for all distributions" in repr(shown)
    for text in (
        ">about one person together: eps &lt;= 0.75 for k = 1; eps &lt;= 4.75 for k = 2; ",
        ">to somebody who knows U exactly: eps &lt;= 3 for each report<",
        ">eps &lt;= 0.5 about 'ill', 'faith' to somebody who knows 'age', 'place'<",
        ">eps &lt;= 2 about 'ill', 'faith' to somebody who knows 'age', over all distributions of ",
    ):
        assert text in shown._repr_html_().replace("&#x27;", "'")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"further": [FurtherBound(1, 1, 1, "all", secret=(2,), known=(1,))]},
            r"about columns \[2\] within values of \[1\].*\[0, 2\] are sensitive",
        ),
        ({"further": [FurtherBound(1, 1, 1, "all", secret=(0, 1, 2), known=(3,))]}, "0, 1, 2"),
        ({"further": [FurtherBound(1, 1, 1, "all", secret=(0, 2, 4), known=(1,))]}, "0, 2, 4"),
        ({"further": [FurtherBound(1, 1, 1, "all", secret=(0, 2), known=(1, 10**99))]}, "1, 1000"),
    ],
)
def test_statements_are_about_what_there_is(changes, message):
    claim = Guarantee(1, 1, 0.5, "all", **changes)
    with pytest.raises(ValueError, match=message):
        replace(BARE, guarantee=claim)
    document = json.loads(written(None))
    with pytest.raises(ValueError, match=message):
        Mechanism.from_json(json.dumps({**document, "guarantee": claims_of(claim)}))


def test_renamed_columns_must_fit_the_statements():
    claim = Guarantee(
        1, 1, 0.5, "all", further=[FurtherBound(1, 1, 1, "all", secret=(0, 2), known=(1,))]
    )
    stated = replace(BARE, guarantee=claim)
    names = ["a", "b", "c", "d"]
    again = stated.named(None, list(zip(names, [True, False, True, False], strict=True)))
    assert again.guarantee == claim
    for flags in ([False, True, False, True], []):
        with pytest.raises(ValueError, match=r"states a bound about columns \[0, 2\]"):
            stated.named(None, list(zip(names, flags, strict=False)))


OF_VERSION_1 = [
    ('"laws"', '"distributions"', "guarantee lacks 'laws'"),
    ('"n_records":100', '"n_records":100,"alphabet":"frequent"', "unknown key 'alphabet'"),
    ('"alpha"', '"set":"renyi","alpha"', "guarantee.laws has the unknown key 'set'"),
    ('"chi2"', '"asymptotic"', "rule='asymptotic' is none of"),
]


@pytest.mark.parametrize(("old", "new", "message"), OF_VERSION_1)
def test_version_1_has_its_own_keys(old, new, message):
    text = VERSION_1.replace("LAWS", BALL)
    assert old in text
    with pytest.raises(ValueError, match=message):
        Mechanism.from_json(text.replace(old, new, 1))


# --- Figures that are refused --------------------------------------------------------------------

BALL_FIGURES = {"alpha": 2.0, "radius": 0.1, "rule": "chi2", "beta": 0.05}
RATIO_FIGURES = {
    "single": 0.07, "pair": 0.1, "drift": 0.0, "rule": "finite-sample", "beta": 0.05,
}  # fmt: skip
FIGURES = {
    "eps_requested": 1.0,
    "eps": 1.0,
    "eps_attained": 0.5,
    "distributions": StatedRenyiSet(**BALL_FIGURES),
    "n_records": 5,
    "alphabet": "declared",
}
STATED = FurtherBound(1.0, 1.0, 0.5, StatedRenyiSet(**BALL_FIGURES), secret=(0, 2), known=(3,))


IMPOSSIBLE = [
    *(
        (Guarantee, FIGURES, changes, message)
        for changes, message in [
            ({"eps": -1.0}, "eps=-1.0 is no finite number >= 0"),
            ({"eps": math.inf}, "eps=inf"),
            ({"eps": "1"}, "eps='1'"),
            ({"eps": True}, "eps=True"),
            ({"eps": 10**400}, "eps=1000"),
            ({"eps_requested": math.nan}, "eps_requested=nan"),
            ({"eps_attained": 1.5}, "eps_attained=1.5 is more than eps=1.0"),
            ({"distributions": None}, "distributions=None is no stated set"),
            ({"distributions": "some"}, "distributions='some' is no stated set"),
            ({"n_records": 0}, "n_records=0"),
            ({"n_records": 5.0}, r"n_records=5\.0"),
            ({"n_records": True}, "n_records=True"),
            ({"alphabet": "guessed"}, "alphabet='guessed' is none of 'declared'"),
            ({"alphabet": ["frequent"]}, "alphabet="),
            ({"eps_all": 0.5}, r"eps=1\.0 is more than eps_all=0\.5"),
            ({"eps_all": math.inf}, "eps_all=inf is no finite number"),
            ({"eps_all": math.nan}, "eps_all=nan"),
            ({"eps_all": True}, "eps_all=True"),
            ({"eps_given_u": -1}, "eps_given_u=-1"),
            ({"eps_given_u": 3.0, "eps_all": 2.0}, r"eps_given_u=3\.0 is more than eps_all"),
            ({"further": None}, "must be a tuple of statements"),
            ({"further": [{"eps": 1.0}]}, "must be a tuple of statements"),
            ({"further": [STATED, STATED]}, "about the same columns"),
            (
                {"further": [replace(STATED, eps=1.5)], "eps_all": 1.25},
                r"more than eps_all=1\.25",
            ),
        ]
    ),
    *(
        (FurtherBound, vars(STATED), changes, message)
        for changes, message in [
            ({"secret": ()}, "no places"),
            ({"known": ()}, "no places"),
            ({"secret": (2, 0)}, r"secret=\(2, 0\) are no places of columns in their order"),
            ({"secret": (0, 0)}, "no places"),
            ({"secret": (-1,)}, "no places"),
            ({"secret": (True,)}, "no places"),
            ({"secret": (0.0,)}, "no places"),
            ({"secret": 0}, "no places"),
            ({"secret": "0"}, "no places"),
            ({"known": None}, "known=None are no places"),
            ({"known": (0, 1)}, "columns are secret and known"),
            ({"eps": math.inf}, "eps=inf"),
            ({"eps_requested": -1}, "eps_requested=-1"),
            ({"eps_attained": 1.5}, r"eps_attained=1\.5 is more than eps"),
            ({"distributions": None}, "no stated set"),
            ({"distributions": "all", "alphabet": "frequent"}, "has no alphabet"),
        ]
    ),
    *(
        (StatedRenyiSet, BALL_FIGURES, changes, message)
        for changes, message in [
            ({"radius": -0.1}, "radius=-0.1 is no finite number"),
            ({"radius": math.nan}, "radius=nan"),
            ({"radius": math.inf}, "radius=inf"),
            ({"alpha": 0.0}, "alpha=0.0"),
            ({"alpha": None}, "alpha=None"),
            ({"rule": "asymptotic"}, "rule='asymptotic' is none of"),
            ({"rule": None}, "rule=None"),
            ({"rule": "given"}, "a given set has no beta"),
            ({"rule": "finite-sample"}, r"is for alpha=1, got alpha=2\.0"),
            ({"beta": 1.0}, "beta=1.0"),
            ({"beta": None}, "beta=None"),
        ]
    ),
    *(
        (StatedLikelihoodRatioSet, RATIO_FIGURES, changes, message)
        for changes, message in [
            ({"single": -0.1}, "single=-0.1 is no finite number"),
            ({"single": math.nan}, "single=nan"),
            ({"single": True}, "single=True"),
            ({"pair": math.nan}, "pair=nan"),
            ({"pair": math.inf}, "pair=inf"),
            ({"drift": math.nan}, "drift=nan"),
            ({"drift": -1.0}, "drift=-1.0"),
            ({"drift": math.inf}, "drift=inf"),
            ({"pair": 0.06}, "pair=0.06 must lie between single=0.07 and twice"),
            ({"pair": 0.15}, "pair=0.15 must lie between"),
            ({"rule": "chi2"}, "rule='chi2' is none of"),
            ({"rule": "given"}, "a given set has no beta"),
            ({"beta": None}, "beta=None"),
            ({"beta": 0.0}, "beta=0.0"),
            ({"beta": math.nan}, "beta=nan"),
            ({"n_values": 0}, "n_values=0 is no whole number"),
            ({"n_values": True}, "n_values=True"),
            ({"n_values": 5.0}, r"n_values=5\.0"),
        ]
    ),
]


@pytest.mark.parametrize(("kind", "good", "changes", "message"), IMPOSSIBLE)
def test_impossible_figures_are_refused(kind, good, changes, message):
    kind(**good)
    with pytest.raises(ValueError, match=message):
        kind(**{**good, **changes})


def test_rules_are_those_of_the_sets():
    joint = JointDistribution([[7, 10], [26, 57]])
    for stated, made in (
        (StatedRenyiSet, RenyiBall(1.0)),
        (StatedLikelihoodRatioSet, LikelihoodRatioSet()),
    ):
        for rule in set(stated.rules) - {"given"}:
            assert made.set_params(radius=rule).fit_set(joint).rule == rule
    assert set(RULES) == {*StatedRenyiSet.rules, *StatedLikelihoodRatioSet.rules}


# --- What a sanitizer claims ---------------------------------------------------------------------

X = [[s, u] for s in ("no", "yes", "never") for u in ("a", "b", "c")]
COUNTS = [200, 100, 50, 100, 150, 250, 70, 90, 80]


def is_a(u, y):
    return (u == "a") != y


@pytest.mark.parametrize(
    ("sanitizer", "kind", "source"),
    [
        (
            PolyOptSanitizer(uncertainty=RenyiBall(region="lower"), sensitive=0),
            "renyi",
            ("chi2", 0.05),
        ),
        (
            PolyOptSanitizer(
                uncertainty=LikelihoodRatioSet(region="lower"), observe="nonsensitive", sensitive=0
            ),
            "likelihood-ratio",
            ("finite-sample", 0.05),
        ),
        (
            IRSanitizer(uncertainty=RenyiBall(1.0, beta=0.01, radius="finite-sample"), sensitive=0),
            "renyi",
            ("finite-sample", 0.01),
        ),
        (
            IRSanitizer(uncertainty=RenyiBall(3.0, radius=0.02), sensitive=0),
            "renyi",
            ("given", None),
        ),
        (PolyOptSanitizer(uncertainty=AllDistributions(), sensitive=0), "all", None),
        (SRRSanitizer(sensitive=0), "all", None),
        (GRRSanitizer(eps=40.0, sensitive=0), "all", None),
        (NonRobustSanitizer(sensitive=0), "renyi", ("given", None)),
        (
            RobustMSESanitizer(distance=is_a, robust_privacy=False, sensitive=0),
            "likelihood-ratio",
            ("given", None),  # the proof is for the public distribution alone
        ),
        (
            PolyOptSanitizer(
                uncertainty=LikelihoodRatioSet(0.01, drift=0.001, region="lower"), sensitive=0
            ),
            "likelihood-ratio",
            ("finite-sample", 0.01),
        ),
        (
            IRSanitizer(uncertainty=LikelihoodRatioSet(radius="asymptotic"), sensitive=0),
            "likelihood-ratio",
            ("asymptotic", 0.05),
        ),
        (
            IRSanitizer(uncertainty=LikelihoodRatioSet(radius=0.01), sensitive=0),
            "likelihood-ratio",
            ("given", None),
        ),
        (IRSanitizer(uncertainty=LikelihoodRatioSet(radius=math.inf), sensitive=0), "all", None),
    ],
)
def test_the_guarantee_is_the_certificate(sanitizer, kind, source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        sanitizer.fit(X, sample_weight=COUNTS)
    claim, certificate = sanitizer.mechanism_.guarantee, sanitizer.certificate_
    assert claim.eps_requested == sanitizer.eps and claim.n_records == sum(COUNTS)
    assert (claim.eps, claim.eps_attained) == (certificate.eps, certificate.eps_attained)
    assert certificate.eps <= sanitizer.eps
    document = json.loads(sanitizer.mechanism_.to_json())["guarantee"]
    stated, around = document.pop("distributions"), certificate.uncertainty
    assert document.get("alphabet") == (None if kind == "all" else "frequent")
    assert document["eps"] == certificate.eps
    assert (
        (stated == "all") is claim.for_all_distributions is around.is_everything is (kind == "all")
    )
    if kind != "all":
        assert stated.pop("set") == kind
        assert (stated["rule"], stated["beta"]) == source
        assert stated == {name: getattr(around, name) for name in stated}
    assert Mechanism.from_json(sanitizer.mechanism_.to_json()).guarantee == claim


def test_no_counts_are_written_but_their_total():
    counts = [199, 101, 47, 103, 151, 257]
    found = PolyOptSanitizer(uncertainty=LikelihoodRatioSet(region="lower"), sensitive=0).fit(
        X[:6], sample_weight=counts
    )
    document = json.loads(found.mechanism_.to_json())
    assert document["guarantee"]["n_records"] == 858
    whole = set(document["guarantee"])
    assert whole == {
        "eps_requested", "eps", "eps_attained", "n_records", "alphabet", "distributions"
    }  # fmt: skip
    assert not set(counts) & {w for row in document["weights"] for w in row}
