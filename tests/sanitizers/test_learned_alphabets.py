"""Values of U that are learned from the counted records, and a beta that holds nevertheless.

Beta of a set whose values were learned holds if every value is frequent: rare ones are warned of,
with their records, or reported as "other", as unknown ones are, from `fit` to clients and
estimates. What beta rests on is stated wherever beta is. Combinations that `transform` would refuse
and identifiers are named before a design begins.
"""

import json
import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from block_tables import wide_table
from scipy.special import rel_entr
from scipy.stats import binom, multinomial

from skrldp import (
    AOptimalSanitizer,
    BlockSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    Mechanism,
    PolyOptSanitizer,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
    certify,
    client,
    privacy_report,
)
from skrldp.alphabet.values import (
    SEEN_OFTEN,
    frequent_from,
    source_in_words,
    spent_on_values,
)
from skrldp.exceptions import PrivacyLeakWarning
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirements
from skrldp.sets.radii import asymptotic_values, budgets_up_to, likelihood_ratio_budgets


def table(n=1_500, rare=0, seed=0, columns=("u",)):
    """Records of a secret and columns of four values each, the first with some rare ones."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"s": np.arange(n) % 2})
    for name in columns:
        X[name] = rng.choice(list("abcd"), n)
    X.loc[: rare - 1, columns[0]] = [f"rare {i}" for i in range(rare)]
    return X


def quick(**options):
    """A sanitizer whose set has a beta."""
    return IRSanitizer(sensitive="s", **options)


# --- How many records are many -------------------------------------------------------------------


@pytest.mark.parametrize("n", [60, 1_000, 20_000, 1_000_000])
@pytest.mark.parametrize("beta", [1e-6, 1e-3])
def test_frequent_values_are_there_in_almost_every_table(n, beta):
    """By exact binomial tails: n / mean values on either side of some mean are told apart."""
    least = frequent_from(n, beta)
    assert SEEN_OFTEN + 1 < least < 140

    def missed(least):
        means = np.linspace(SEEN_OFTEN, least - 1, 400)[1:]
        means = means[means < n]
        tails = binom.cdf(SEEN_OFTEN - 1, n, means / n) + binom.sf(least - 1, n, means / n)
        return (n / means * tails).min()

    assert missed(least) <= beta
    assert missed(int(0.65 * least)) > beta  # it is not far more than needed


def test_budgets_rise_with_the_number_of_values():
    """Whatever the ratio of the two does; steps are rounded up, to 4 % more values at most."""
    records = [400, 600]
    found = [budgets_up_to(records, most, 0.05) for most in range(2, 50)]
    own = [likelihood_ratio_budgets(records, most, 0.05, "finite-sample") for most in range(2, 50)]
    assert np.all(np.diff(np.array(found), axis=0) >= 0)
    assert np.all(np.array(found)[:39] >= np.array(own)[:39])
    assert np.any(np.diff(np.array(own), axis=0) < 0)  # by themselves they do not
    above = likelihood_ratio_budgets(records, math.ceil(1.04 * 49), 0.05, "finite-sample")
    assert found[-1][1] <= above[1]


@pytest.mark.parametrize(
    ("columns", "n_rows", "options"),
    [("u", 70, {}), ("uv", 280, {}), ("uv", 70, {"min_frequency": "auto"})],
)
def test_a_smaller_beta_wants_more_records_of_each_value(columns, n_rows, options):
    """Learned with a chance of .001 that a frequent value is none, a set of 1e-6 is of others."""
    X = table(columns=columns)
    X.loc[: n_rows - 1, "u"] = "seventy"
    sanitizer = quick(**options).fit(X)
    assert sanitizer.certificate_.claims.values_from == "frequent"
    counts, n_learned = [X[name].value_counts() for name in columns], len(columns)
    if not options:  # the combinations are learned, together
        counts, n_learned = [X.groupby(list(columns)).size()], 1
    fewest, found = min(own.min() for own in counts), {}
    for beta in (0.05, 0.01, 1e-8):
        needed = frequent_from(len(X), spent_on_values(beta) / n_learned)
        found[beta] = "frequent" if fewest >= needed else "learned"
        around = LikelihoodRatioSet(beta)
        assert (
            certify(sanitizer.mechanism_, around, sanitizer.joint_).claims.values_from
            == found[beta]
        )
    assert list(found.values()) == ["frequent", "frequent", "learned"]


# --- Which of the four cases it is ---------------------------------------------------------------


def test_frequent_values_need_nothing():
    """The default of a table without declared values; its budgets are for one value more."""
    X = table()
    found = quick().fit(X)
    joint = found.joint_
    assert (joint.alphabet, joint.most_values, len(joint.values)) == ("frequent", 5, 4)
    beta = 0.05 - spent_on_values(0.05)
    budgets = budgets_up_to([750, 750], 5, beta)
    assert (found.uncertainty_.single_, found.uncertainty_.pair_) == pytest.approx(budgets)
    declared = quick(categories={"u": list("abcd")}).fit(X)
    assert declared.joint_.alphabet == "declared"
    assert declared.uncertainty_.single_ < found.uncertainty_.single_
    assert declared.mutual_information_ > found.mutual_information_
    around = json.loads(found.mechanism_.to_json())["claims"][0]["around"]
    assert (around["values_from"], around["n_values"]) == ("frequent", 5)
    again = certify(found.mechanism_, LikelihoodRatioSet(), joint)
    assert again.uncertainty == found.certificate_.uncertainty


RARE = {"priest": 24, "pilot": 16, "nurse": 40, "judge": 32}


def jobs(n=1_000):
    frame = pd.DataFrame({"ill": np.arange(n) % 2, "job": "clerk", "age": np.arange(n) % 3})
    frame["job"] = frame["job"].mask(np.arange(n) % 5 < 2, "farmer")
    frame.loc[: sum(RARE.values()) - 1, "job"] = np.repeat([*RARE], [*RARE.values()])
    return frame


def test_rare_values_are_named_with_their_records_and_a_way_out():
    X = jobs()[["ill", "job"]]
    with pytest.warns(PrivacyLeakWarning) as caught:
        found = IRSanitizer(sensitive="ill").fit(X)
    (message,) = (str(one.message) for one in caught)
    assert found.joint_.alphabet == "learned"
    assert "column 'job' has 4 values" in message
    assert "('pilot': 16, 'priest': 24, 'judge': 32, ...)" in message
    assert len(message) <= 250 and message.endswith("min_frequency='auto' reports them as 'other'.")
    auto = IRSanitizer(sensitive="ill", min_frequency="auto").fit(X)
    assert (auto.joint_.alphabet, auto.joint_.values[-1]) == ("frequent", "other")
    assert auto.joint_.counts[:, -1].sum() == sum(RARE.values())
    # Each of the rare values is counted, and one more for those without records.
    assert (auto.joint_.most_values, asymptotic_values(auto.joint_)) == (7, 6)
    declared = IRSanitizer(sensitive="ill", categories={"job": ["clerk", "farmer", *RARE]})
    assert declared.fit(X).joint_.alphabet == "declared"
    # Where no beta is stated there is nothing to warn of.
    given = IRSanitizer(sensitive="ill", uncertainty=LikelihoodRatioSet(radius=0.01))
    for one in (SRRSanitizer(sensitive="ill"), GRRSanitizer(sensitive="ill"), given):
        assert not one.fit(X).mechanism_.claims.beta


def test_combinations_are_values():
    """Those that occur, if nothing is asked for; one more is allowed for, and rare ones are not."""
    X = table(3_000, columns=("u", "v"))
    X = X[~((X["u"] == "a") & (X["v"] == "a"))]  # a combination that no record has
    joint = SRRSanitizer(sensitive="s").fit(X).joint_
    assert (joint.alphabet, joint.most_values, len(joint.values)) == ("frequent", 16, 15)
    X = pd.concat([X, X.iloc[:3].assign(u="a", v="a")])
    with pytest.warns(PrivacyLeakWarning, match="columns 'u', 'v' have 1 combination with fewer"):
        quick().fit(X)
    for options in ({"categories": "product"}, {"min_frequency": "auto"}):
        joint = quick(**options).fit(X).joint_
        assert (joint.alphabet, joint.most_values, len(joint.values)) == ("frequent", 25, 16)


def test_levels_without_records_are_other_among_learned_combinations():
    """Kept, they would be rare values, and the probability of the set would be unknown."""
    X = table(3_000, columns=("u", "v"))
    X["v"] = pd.Categorical(X["v"], list("abcde"), ordered=True)
    joint = quick(handle_unknown="infrequent_if_exist").fit(X).joint_
    assert joint.alphabet == "frequent"
    assert sorted({v for _, v in joint.values}) == [*"abcd", "other"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # no time is given
def test_groups_by_learned_values_have_the_budgets_of_the_whole_u():
    X = table(4_000, columns=("u", "v"))
    options = {"time_limit": 1e-6, "distance": "hamming", "categories": "product"}
    sanitizer = RobustMSESanitizer(sensitive="s", observer_columns="v", **options)
    found = sanitizer.fit(X)
    assert found.joint_.alphabet == "frequent"
    assert found.certificate_.claims.known.around == found.certificate_.claims.main.around


def test_more_values_than_records_could_show():
    """Budgets for millions of combinations are not computed: the set is that of everything."""
    joint = JointDistribution(np.full((2, 3), 100), alphabet="declared", most_values=10**7)
    around = LikelihoodRatioSet().fit_set(joint)
    assert around.is_everything
    assert around.beta is None
    # Nor are budgets for what is left within known values, which are among those combinations.
    values = tuple(product("ab", range(3)))
    joint = JointDistribution(np.full((2, 6), 500), "st", values, most_values=10**7)
    fit = LikelihoodRatioSet().fit_set
    promise = Requirements.asked(joint, fit(joint), 1.0, known=[0], fit=fit)
    assert [one.everywhere for one in promise] == [True, True]
    with pytest.raises(ValueError, match="most_values=2 must be"):
        JointDistribution(np.full((2, 3), 100), most_values=2)


def test_a_table_of_the_married_alone_does_not_pass_in_silence():
    values = {"ill": [0, 1], "marital": ["married", "single", "divorced"]}
    married = pd.DataFrame({"ill": np.arange(300) % 2, "marital": "married"})
    with pytest.warns(PrivacyLeakWarning, match="2 of 3 declared values of U have no public"):
        IRSanitizer(sensitive="ill", categories=values).fit(married)
    IRSanitizer(sensitive="ill", categories=values, uncertainty=LikelihoodRatioSet(drift=0.05)).fit(
        married
    )
    GRRSanitizer(sensitive="ill", categories=values).fit(married)  # holds for every population
    married.loc[:4, "marital"] = "single"
    IRSanitizer(sensitive="ill", categories=values).fit(married)


# --- "other", and where beta is stated -----------------------------------------------------------

OPEN = {"handle_unknown": "infrequent_if_exist"}


@pytest.mark.filterwarnings("ignore:respondents differ")  # everybody has another job here
@pytest.mark.parametrize("cls", [GRRSanitizer, RobustMSESanitizer])
def test_unknown_values_are_other_everywhere(cls):
    """In transform, on devices, and so in the estimates; errors and secrets are as before."""
    X = jobs()[["ill", "job"]]
    found = cls(3.0, sensitive="ill", encode="symbol", random_state=0, min_frequency=100, **OPEN)
    assert found.fit(X).joint_.values == ("clerk", "farmer", "other")
    assert found.joint_.n == len(X) and found.mechanism_.others == (True,)
    new = pd.DataFrame({"ill": [0, 1] * 3000, "job": ["never seen", "other", "17"] * 2000})
    same = new.assign(job="other")
    assert np.array_equal(found.transform(new), found.transform(same))
    text = found.mechanism_.to_json()
    sent, expected = (client.load(text, random_state=0).report_many(X) for X in (new, same))
    assert np.array_equal(sent, expected)
    if cls is not RobustMSESanitizer:  # whose reports tell little but U
        estimate = FrequencyEstimator(found.mechanism_, encode="symbol").fit(sent)
        assert estimate.marginal("job").estimate[2] > 0.8
    with pytest.raises(ValueError, match="column 'ill' has a value unseen"):
        found.transform(new.assign(ill=2))
    with pytest.raises(ValueError, match="Nothing was reported"):
        client.load(text).report({"ill": 2, "job": "clerk"})
    with pytest.raises(ValueError, match="column 'job' has a value unseen in fit"):
        found.set_params(handle_unknown="error").transform(new)


def test_values_that_are_grouped_without_unknown_ones_void_beta():
    """Those in the group are the ones that happened to occur, which favours them."""
    X = table(rare=3)
    with pytest.warns(PrivacyLeakWarning, match="'other', which does not take unknown values"):
        quick(min_frequency=60).fit(X)
    assert quick(min_frequency=60, **OPEN).fit(X).joint_.alphabet == "frequent"
    with pytest.raises(ValueError, match="min_frequency='often' must be"):
        quick(min_frequency="often").fit(X)


SOURCES = {
    "learned": {},
    "frequent": {"min_frequency": "auto"},
    "declared": {"categories": {"job": ["clerk", "farmer"]}, **OPEN},
}


@pytest.mark.filterwarnings("ignore:the values of U were learned")
@pytest.mark.parametrize("source", SOURCES)
def test_beta_is_said_with_its_condition(source):
    """In certificate, report, claims and JSON, and where the proof is made anew."""
    X, around = jobs()[["ill", "job"]], RenyiBall(alpha=1, radius="finite-sample")
    found = IRSanitizer(sensitive="ill", uncertainty=around, **SOURCES[source]).fit(X)
    report, words = privacy_report(found), source_in_words(source)
    assert (found.joint_.alphabet, report.claims.values_from) == (source, source)
    said = " ".join(str(report).split())
    assert f"with probability at most 0.05; {words}" in said
    assert ("rare values were learned" in said) == (source == "learned")
    for certificate in (found.certificate_, certify(found.mechanism_, around, found.joint_)):
        assert f"with probability at most 0.05; {words}" in certificate._repr_html_()
    claims = Mechanism.from_json(found.mechanism_.to_json()).claims
    assert claims == found.mechanism_.claims and claims.values_from == source
    # Without beta there is nothing to condition.
    everywhere = SRRSanitizer(sensitive="ill", **SOURCES[source]).fit(X)
    assert words not in str(privacy_report(everywhere)) + everywhere.certificate_._repr_html_()


# --- Before a design begins ----------------------------------------------------------------------


class Slow(PolyOptSanitizer):
    """A design of more than five cells would take long, and is not made."""

    _slow_from = 5
    _design = None


def test_combinations_that_transform_will_refuse_are_told_before_the_design():
    seen = pd.DataFrame({"ill": [0, 1] * 100, "a": [1, 1, 2, 2] * 50, "b": [3, 3, 3, 4] * 50})
    words = "the 3 of 4 combinations of columns 'a', 'b' in the table; `transform` rejects"
    with pytest.raises(UserWarning, match=f"{words}.* categories='product' takes all"):
        Slow(sensitive="ill").fit(seen)
    with pytest.raises(UserWarning, match=r"values of S .* 3 of 4 .* categories='product'"):
        Slow(sensitive=["a", "b"]).fit(seen)
    found = GRRSanitizer(sensitive="ill").fit(seen)  # which takes no time: `transform` says it
    new = pd.DataFrame({"ill": [0], "a": [1], "b": [4]})
    with pytest.raises(ValueError, match=r"categories=.product. to"):
        found.transform(new)
    assert GRRSanitizer(sensitive="ill", categories="product").fit(seen).transform(new).shape


def test_identifiers_are_named_before_the_design():
    frame = jobs()[["ill", "age"]].assign(id=range(1_000))
    undesigned = GRRSanitizer(sensitive="ill", categories="product")
    with pytest.warns(UserWarning, match="'id' looks like an identifier: it has 1,000 values"):
        undesigned.fit(frame)
    undesigned.fit(frame[:40].assign(id=range(40)))  # so few may be ages
    undesigned.fit(frame.assign(id=frame["id"] // 4))
    for panel in (frame, frame.assign(id=frame["id"] // 3)):  # a design would take minutes
        with pytest.raises(ValueError, match=r"'id' has [\d,]+ distinct .* looks like an ide"):
            AOptimalSanitizer(sensitive="ill").fit(panel)
    with pytest.raises(ValueError, match="rare: each has fewer than 300"):
        GRRSanitizer(sensitive="ill", min_frequency=0.3).fit(frame[["ill", "id"]])


def test_learned_alphabets_of_blocks_are_said_to_be_learned():
    """Blocks of several columns have all combinations; whose values are learned is not lost."""
    X, quick = wide_table(), IRSanitizer()
    blocks = BlockSanitizer(eps=1.0, sensitive="ill", base=quick, blocks=["age", ["home", "job"]])
    manifest = blocks.fit(X).manifest_
    assert {one.claims.values_from for one in manifest.mechanisms} == {"frequent"}
    blocks.set_params(blocks="singles")
    rare = pd.concat([X, X.iloc[:3].assign(job="z")])
    with pytest.warns(PrivacyLeakWarning, match=r"blocks \('job'\)"):
        blocks.fit(rare)
    quick.set_params(min_frequency="auto")
    grouped = blocks.fit(rare)
    assert grouped.manifest_.others["job"] is True
    assert len(grouped.transform(X.iloc[:1].assign(job="never seen"))) == 1


# --- How often the set misses --------------------------------------------------------------------


def test_coverage_of_all_tables_of_few_records():
    """Exact: 120 records of one secret and three values, the third rare or near the threshold."""
    n, beta = 120, 0.05
    least = frequent_from(n, spent_on_values(beta))
    counts = np.array([(a, n - a - c, c) for a in range(n + 1) for c in range(n - a + 1)])
    kept = counts >= least
    counts, kept = counts[kept.any(axis=1)], kept[kept.any(axis=1)]
    single = np.array([_budget(n, most, beta)[0] for most in range(1, 5)])
    single = single[(counts >= SEEN_OFTEN).sum(axis=1)]
    for third in (0.01, least / n, 0.3):
        truth = np.array([0.5, 0.5 - third, third])
        seen, true = (np.c_[a * kept, (a * ~kept).sum(axis=1)] for a in (counts, n * truth))
        missed = rel_entr(seen, true).sum(axis=1) > single
        chance = multinomial.pmf(counts[missed], n, truth).sum()
        assert chance <= beta
        assert chance > 0


def _budget(n, most, beta):
    return budgets_up_to([n], most, beta - spent_on_values(beta))
