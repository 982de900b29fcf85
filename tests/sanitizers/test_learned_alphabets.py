"""Values that are learned from the counted records, and a beta that holds all the same."""

import json
import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import rel_entr
from scipy.stats import binom, multinomial

from skrldp import (
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
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
from skrldp.sets.radii import budgets_up_to, likelihood_ratio_budgets

RARE = "has 3 values with fewer than 50 records"


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


def test_bins_that_were_made_of_the_table_void_beta_unless_the_user_says_they_were_not():
    """The warning, the JSON's claim and the report follow."""
    numbers = np.random.default_rng(0).lognormal(size=300)
    X = pd.DataFrame({"s": np.arange(300) % 2, "u": pd.cut(numbers, 4, labels=list("abcd"))})
    with pytest.warns(PrivacyLeakWarning, match="values of U were learned from the table"):
        learned = quick().fit(X)
    given = quick(categories="dtype").fit(X)
    for one, source in ((learned, "learned"), (given, "declared")):
        assert one.mechanism_.claims.values_from == source == privacy_report(one).claims.values_from
        assert source_in_words(source) in " ".join(str(privacy_report(one)).split())


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
    found = [budgets_up_to(records, most, 0.05) for most in range(2, 60)]
    own = [likelihood_ratio_budgets(records, most, 0.05, "finite-sample") for most in range(2, 60)]
    assert np.all(np.diff(np.array(found), axis=0) >= 0)
    assert np.all(np.array(found)[:39] >= np.array(own)[:39])
    assert np.any(np.diff(np.array(own), axis=0) < 0)  # by themselves they do not
    above = likelihood_ratio_budgets(records, math.ceil(1.04 * 59), 0.05, "finite-sample")
    assert found[-1][1] <= above[1]


@pytest.mark.slow
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
    for beta in (0.05, 1e-2, 1e-8):
        needed = frequent_from(len(X), spent_on_values(beta) / n_learned)
        found[beta] = "frequent" if fewest >= needed else "learned"
        around = LikelihoodRatioSet(beta)
        assert (
            certify(sanitizer.mechanism_, around, sanitizer.joint_).claims.values_from
            == found[beta]
        )
    assert found[0.05] == "frequent" and found[1e-8] == "learned"


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
    # Said everywhere, in the same words; the proof can be made anew.
    words = source_in_words("frequent")
    around = json.loads(found.mechanism_.to_json())["claims"][0]["around"]
    assert (around["values_from"], around["n_values"]) == ("frequent", 5)
    device = client.load(found.mechanism_.to_json())
    assert device.mechanism.claims == found.mechanism_.claims
    assert words in device.mechanism._repr_html_()
    assert words in " ".join(str(privacy_report(found)).split())
    again = certify(found.mechanism_, LikelihoodRatioSet(), joint)
    assert words in again._repr_html_()
    assert again.uncertainty == found.certificate_.uncertainty


def test_rare_values_are_warned_of():
    """The columns, how many records they would need, and a way out; others are ways out too."""
    X = table(rare=3)
    with pytest.warns(PrivacyLeakWarning, match=f"column 'u' {RARE}") as caught:
        found = quick().fit(X)
    assert found.joint_.alphabet == "learned"
    assert "min_frequency='auto'" in str(caught[0].message)
    auto = quick(min_frequency="auto").fit(X)
    assert (auto.joint_.alphabet, auto.joint_.values[-1]) == ("frequent", "other")
    assert auto.joint_.counts[:, -1].sum() == 3
    values = [*"abcd", *(f"rare {i}" for i in range(3))]
    assert quick(categories={"u": values}).fit(X).joint_.alphabet == "declared"
    # Where no beta is stated there is nothing to warn of.
    for fitted in (
        SRRSanitizer(sensitive="s").fit(X),
        GRRSanitizer(sensitive="s").fit(X),
        IRSanitizer(sensitive="s", uncertainty=LikelihoodRatioSet(radius=0.01)).fit(X),
    ):
        assert not fitted.mechanism_.claims.beta


def test_what_is_grouped_takes_unknown_values():
    """Else the values in the group are those that happened to occur, which favours them."""
    X = table(rare=3)
    auto = quick(min_frequency="auto", random_state=0).fit(X)
    new = pd.DataFrame({"s": [0, 1], "u": ["never seen", "rare 1"]})
    same = new.assign(u="other")
    assert auto.transform(new).equals(auto.transform(same))
    assert auto.mechanism_.others == (True,)
    device = client.load(auto.mechanism_.to_json(), random_state=0)
    assert device.report({"s": 0, "u": "never seen"}) in range(len(device.symbols))
    with pytest.warns(PrivacyLeakWarning, match="'other', which does not take unknown values"):
        quick(min_frequency=60).fit(X)
    opened = IRSanitizer(sensitive="s", min_frequency=60, handle_unknown="infrequent_if_exist")
    assert opened.fit(X).joint_.alphabet == "frequent"
    with pytest.raises(ValueError, match="min_frequency='often' must be"):
        quick(min_frequency="often").fit(X)


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


def test_columns_have_frequent_values():
    """Where all combinations are values, or rare ones are grouped; what is declared may be rare."""
    X = table(3_000, columns=("u", "v"))
    X["w"] = np.arange(3_000) < 5
    joint = SRRSanitizer(sensitive="s", categories="product").fit(X).joint_
    assert (joint.alphabet, joint.most_values, len(joint.values)) == ("frequent", 50, 32)
    pl = pytest.importorskip("polars")
    declared = pl.from_pandas(X).with_columns(pl.col("u", "v").cast(pl.Enum("abcd")))
    joint = SRRSanitizer(sensitive="s").fit(declared).joint_
    assert (joint.alphabet, joint.most_values) == ("declared", 32)
    assert len(joint.values) < 32
    X.iloc[:2, 1] = "rare"
    for found in (X, X.astype({"u": "category"})):  # which declares what it has found in the rows
        with pytest.warns(PrivacyLeakWarning, match="column 'u' has 1 value with") as caught:
            quick(categories="product").fit(found)
        assert "'v'" not in str(caught[0].message)
    # Several unknown parts at once, with and without a combination of "other" alone.
    for rare in ([], ["v"]):
        for name in rare:
            X.loc[X.index[5:8], name] = ["x", "y", "z"]
        auto = IRSanitizer(sensitive="s", min_frequency="auto", random_state=0).fit(X)
        assert auto.joint_.alphabet == "frequent"
        new = X.iloc[:2].assign(u="new")
        assert len(auto.transform(new)) == 2
        assert len(client.load(auto.mechanism_.to_json()).report_many(new)) == 2


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
