"""The guarantee of a mechanism: which sets it can state, in JSON of both versions."""

import json
import math
import warnings
from dataclasses import replace

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
from skrldp.alphabet import SOURCES
from skrldp.mechanism import (
    RULES,
    Guarantee,
    StatedLikelihoodRatioSet,
    StatedRenyiSet,
)

BARE = Mechanism.from_matrix([[1.0, 1.0]], ("no", "yes"), (1,))


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
def guarantees(draw):
    eps, around = draw(FIGURE), draw(st.just("all") | stated_sets())
    return Guarantee(
        draw(FIGURE),
        eps,
        draw(st.floats(0, eps)),
        around,
        draw(st.none() | st.integers(1, 10**20)),
        None if around == "all" else draw(st.none() | st.sampled_from(SOURCES)),
    )


@given(guarantees())
def test_a_guarantee_comes_back_to_the_last_bit(claim):
    text = written(claim)
    again = Mechanism.from_json(text)
    assert again.guarantee == claim and repr(again.guarantee) == repr(claim)
    assert again.to_json() == text
    assert claim.for_all_distributions == ('"distributions":"all"' in text)
    words = "all distributions"
    if not claim.for_all_distributions:
        words = claim.distributions.describe()
        assert ("alone" in words) == claim.distributions.is_point
    for shown in (repr(again), again._repr_html_()):
        assert f"for {words}" in shown


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
def test_version_1_is_read_and_version_2_written(laws, distributions, as_now):
    old = Mechanism.from_json(VERSION_1.replace("LAWS", laws))
    assert old.guarantee == Guarantee(1.0, 0.75, 0.5, distributions, n_records=100)
    text = VERSION_1.replace('"version":1', '"version":2').replace('"laws":LAWS', as_now)
    assert old.to_json() == text
    assert Mechanism.from_json(text).digest == old.digest


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"laws"', '"distributions"', "guarantee lacks 'laws'"),
        ('"n_records":100', '"n_records":100,"alphabet":"split"', "unknown key 'alphabet'"),
        ('"alpha"', '"set":"renyi","alpha"', "guarantee.laws has the unknown key 'set'"),
        ('"chi2"', '"asymptotic"', "rule='asymptotic' is none of"),
    ],
)
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


@pytest.mark.parametrize(
    ("kind", "good", "changes", "message"),
    [
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
                ({"alphabet": ["split"]}, "alphabet="),
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
            ]
        ),
    ],
)
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
        (PolyOptSanitizer(region="lower", uncertainty=RenyiBall()), "renyi", ("chi2", 0.05)),
        (
            PolyOptSanitizer(region="lower", observe="nonsensitive"),
            "likelihood-ratio",
            ("finite-sample", 0.05),
        ),
        (
            IRSanitizer(uncertainty=RenyiBall(1.0, beta=0.01, radius="finite-sample")),
            "renyi",
            ("finite-sample", 0.01),
        ),
        (IRSanitizer(uncertainty=RenyiBall(3.0, radius=0.02)), "renyi", ("given", None)),
        (PolyOptSanitizer(uncertainty=AllDistributions()), "all", None),
        (SRRSanitizer(), "all", None),
        (GRRSanitizer(eps=40.0), "all", None),
        (NonRobustSanitizer(), "renyi", ("given", None)),
        (
            RobustMSESanitizer(outputs=[0, 1], distance=is_a, robust_privacy=False),
            "likelihood-ratio",
            ("given", None),  # the proof is for the public distribution alone
        ),
        (
            PolyOptSanitizer(region="lower", uncertainty=LikelihoodRatioSet(0.01, drift=0.001)),
            "likelihood-ratio",
            ("finite-sample", 0.01),
        ),
        (
            IRSanitizer(uncertainty=LikelihoodRatioSet(radius="asymptotic")),
            "likelihood-ratio",
            ("asymptotic", 0.05),
        ),
        (
            IRSanitizer(uncertainty=LikelihoodRatioSet(radius=0.01)),
            "likelihood-ratio",
            ("given", None),
        ),
        (IRSanitizer(uncertainty=LikelihoodRatioSet(radius=math.inf)), "all", None),
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
    assert document.get("alphabet") == (None if kind == "all" else "learned")
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
    found = PolyOptSanitizer(region="lower").fit(X[:6], sample_weight=counts)
    document = json.loads(found.mechanism_.to_json())
    assert document["guarantee"]["n_records"] == 858
    whole = set(document["guarantee"])
    assert whole == {
        "eps_requested", "eps", "eps_attained", "n_records", "alphabet", "distributions"
    }  # fmt: skip
    assert not set(counts) & {w for row in document["weights"] for w in row}
