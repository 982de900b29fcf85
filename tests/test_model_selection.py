"""The choice of the smallest ε that is useful enough."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from skrldp import (
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
    expected_std_error,
)
from skrldp.estimation.channels import channel_of
from skrldp.estimation.errors_and_intervals import Sample, combined_ends
from skrldp.estimation.report_weights import WeightedStatistic
from skrldp.model_selection import (
    detectable_difference,
    neg_std_error_scorer,
    smallest_eps,
    smallest_n,
)

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = pytest.mark.filterwarnings("ignore:the values of U were learned")

ROWS = [[s, u] for s in range(2) for u in range(3) for _ in range(30 + 25 * s * u)]
X = np.random.default_rng(0).permutation(ROWS)  # so that each fold has both secrets


def results(eps, mean, std=None, name="score", param="eps", **more):
    std = np.zeros(len(eps)) if std is None else std
    return {
        "params": [{param: e} for e in eps],
        f"mean_test_{name}": np.array(mean, dtype=float),
        f"std_test_{name}": np.array(std, dtype=float),
        **more,
    }


@pytest.mark.parametrize(("tolerance", "chosen"), [(0.04, 3), (0.06, 2), ("std", 2)])
def test_by_hand(tolerance, chosen):
    found = results([0.5, 1.0, 2.0, 4.0], [0.1, 0.5, 0.95, 1.0], [0.0, 0.9, 0.9, 0.06])
    assert smallest_eps(tolerance)(found) == chosen


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.1, 0.5, 1.0, 3.0]), st.floats(-2, 2) | st.just(np.nan)),
        min_size=1,
        max_size=8,
    ).filter(lambda pairs: not all(np.isnan(score) for _, score in pairs)),
    st.floats(0, 1),
)
def test_no_smaller_eps_is_good_enough(pairs, tolerance):
    eps, scores = np.array(pairs).T
    chosen = smallest_eps(tolerance)(results(eps, scores))
    best = np.nanmax(scores)
    enough = scores >= best - tolerance * abs(best)  # false for NaN
    assert enough[chosen]
    assert not np.any(enough & (eps < eps[chosen]))
    assert scores[chosen] == scores[enough & (eps == eps[chosen])].max()


def test_several_scores_need_a_name():
    found = results([1, 2], [0.5, 1.0], name="a") | results([1, 2], [1.0, 0.9], name="b")
    assert smallest_eps(0.0, scoring="a")(found) == 1
    assert smallest_eps(0.0, scoring="b")(found) == 0
    with pytest.raises(ValueError, match=r"several scores: a, b\. Name one.*scoring='a'"):
        smallest_eps()(found)
    with pytest.raises(ValueError, match=r"no score 'c', only: a, b"):
        smallest_eps(scoring="c")(found)
    assert smallest_eps(0.0)(results([1, 2], [0.5, 1.0], name="a")) == 1


def test_which_parameter_is_eps():
    found = results([1, 2], [1.0, 1.0])
    found["params"] = [{"a__eps": 1, "b__eps": 9, "steps": 1}, {"a__eps": 2, "b__eps": 3}]
    assert smallest_eps(param="a__eps")(found) == 0
    assert smallest_eps(param="b__eps")(found) == 1
    with pytest.raises(ValueError, match="may be eps: a__eps, b__eps"):
        smallest_eps()(found)
    with pytest.raises(ValueError, match=r"no parameter named eps.*only: steps"):
        smallest_eps()(results([1], [1.0], param="steps"))
    with pytest.raises(ValueError, match=r"candidate 1 \(\{'C': 3\}\) does not set eps"):
        smallest_eps()(found | {"params": [{"eps": 1}, {"C": 3}]})
    with pytest.raises(ValueError, match="candidate 0 has eps='1', which"):
        smallest_eps()(found | {"params": [{"eps": "1"}, {"eps": 3}]})


@pytest.mark.parametrize("cls", [IRSanitizer, RobustMSESanitizer])
def test_a_default_set_has_no_parameters(cls):
    grid = {"uncertainty__beta": [0.01, 0.05]}
    message = rf"uncertainty__beta .*{cls.__name__}\(uncertainty=LikelihoodRatioSet\(\)\)"
    with pytest.raises(ValueError, match=message):
        GridSearchCV(cls(sensitive=0), grid, cv=2).fit(X)
    pipe = Pipeline([("priv", cls(sensitive=0))])
    with pytest.raises(ValueError, match=message):
        pipe.set_params(priv__uncertainty__beta=0.1)
    stated = cls().set_params(uncertainty__beta=0.1, uncertainty=LikelihoodRatioSet())
    assert stated.uncertainty.beta == 0.1
    assert clone(stated).set_params(uncertainty=None, eps=2.0).eps == 2.0
    with pytest.raises(ValueError, match="Invalid parameter 'other'"):
        cls().set_params(other__beta=0.1)
    with pytest.raises(ValueError, match=r"RobustMSESanitizer\(utility_uncertainty=RenyiBall"):
        RobustMSESanitizer(sensitive=0).set_params(utility_uncertainty__beta=0.1)


@pytest.mark.parametrize("tolerance", [-0.1, np.nan, "0.1", None, True])
def test_bad_tolerances(tolerance):
    with pytest.raises(ValueError, match="share of the best score"):
        smallest_eps(tolerance)


def test_smallest_n_is_the_least():
    sanitizer = SRRSanitizer(1.0, sensitive=0).fit(X)
    for wanted in (0.3, 0.02, 0.00137):
        n = smallest_n(sanitizer, wanted, part="nonsensitive")
        found = expected_std_error(sanitizer, n, part="nonsensitive").max()
        assert found <= wanted * (1 + 1e-12)
        fewer = expected_std_error(sanitizer, n - 1, part="nonsensitive").max()
        assert fewer > wanted * (1 - 1e-12)
    assert smallest_n(sanitizer, 1e3) == 1
    for wrong in (0, -0.1, np.nan, "0.1"):
        with pytest.raises(ValueError, match=r"std_error=.* must be a positive finite number"):
            smallest_n(sanitizer, wrong)
    for tiny in (1e-12, 1e-200):
        with pytest.raises(ValueError, match=r"more than 2\*\*53 reports"):
            smallest_n(sanitizer, tiny)
    with pytest.raises(ValueError, match="Pass distribution="):
        smallest_n(sanitizer.mechanism_.to_json(public=False), 0.1)
    blind = PolyOptSanitizer(
        1.0, uncertainty=LikelihoodRatioSet(region="lower"), observe="nonsensitive", sensitive=0
    ).fit(X)
    with pytest.raises(ValueError, match="2 of the 2 shares"):
        smallest_n(blind, 0.1, part="sensitive")


@pytest.mark.parametrize("waves", [1, 2])
def test_a_detectable_difference_is_detected_as_often_as_planned(waves):
    """2,000 samples: the interval excludes the other value in 80 %; false alarm 1e-5."""
    shares = np.array([70.0, 100.0, 230.0, 600.0])  # 30 % of "rare"
    cells = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    sanitizer = SRRSanitizer(1.0, sensitive=0).fit(cells, sample_weight=shares)
    n = smallest_n(sanitizer, columns=1, difference=0.03, waves=waves)
    gap = detectable_difference(sanitizer, n, 1, waves=waves)
    assert gap == pytest.approx(0.03, rel=1e-3)
    assert detectable_difference(sanitizer, n - 1, 1, waves=waves).max() > 0.03
    more = shares + np.array([10.0, -10.0, 20.0, -20.0])  # 33 %
    channel, rng = channel_of(sanitizer.mechanism_, shares / 1_000.0), np.random.default_rng(4)
    statistic = WeightedStatistic.of(channel, np.array([[1.0, 0.0, 1.0, 0.0]]))
    values, ends, spreads = [], [], []
    for own in (more, shares):
        reports = rng.multinomial(n, channel.forward(own / 1_000.0), size=2_000) / n
        estimates = statistic.inference(Sample(reports, n))
        values.append(estimates.weighted[:, 0])
        ends.append(estimates.ends(0.95)[:, 0])
        spreads.append(1.96 * estimates.errors[:, 0])
    low, high = ends[0].T - 0.3
    if waves == 2:
        both = np.eye(2)[..., None] * np.ones(2_000)
        signs = np.array([1.0, -1.0])
        pair = map(np.array, (values, ends))
        low, high = combined_ends(signs, *pair, both, np.array(spreads)).T
    found = ((low > 0.0) | (high < 0.0)).sum()
    assert abs(found - 1_600) <= 4.4 * np.sqrt(2_000 * 0.16)


def test_what_is_no_plan_of_a_difference():
    sanitizer = SRRSanitizer(1.0, sensitive=0).fit(X)
    for asked in ({}, {"std_error": 0.1, "difference": 0.1}):
        with pytest.raises(ValueError, match="Expected either std_error= or difference="):
            smallest_n(sanitizer, **asked)
    for name, wrong in (("power", 1.0), ("power", 0.2), ("level", 2), ("waves", 3)):
        with pytest.raises(ValueError, match=f"{name}={wrong}"):
            detectable_difference(sanitizer, 100, **{name: wrong})
    with pytest.raises(ValueError, match="difference=-1 must be a positive"):
        smallest_n(sanitizer, difference=-1)


def test_smallest_eps_for_a_wanted_error():
    found = results([0.5, 1.0, 2.0, 4.0], [np.nan, -0.03, -0.01, -0.002])
    for wanted, chosen in ((0.05, 1), (0.01, 2), (0.005, 3)):
        assert smallest_eps(std_error=wanted)(found) == chosen
    with pytest.raises(ValueError, match=r"no candidate has an error of at most 0\.001"):
        smallest_eps(std_error=0.001)(found)
    with pytest.raises(ValueError, match=r"scoring=neg_std_error_scorer"):
        smallest_eps(std_error=0.1)(results([1], [0.5]))
    with pytest.raises(ValueError, match="std_error=0 must be a positive"):
        smallest_eps(std_error=0)
    assert repr(smallest_eps(std_error=0.1)) == "smallest_eps(std_error=0.1)"


def test_a_search_by_expected_error():
    """The scores are the errors at the left-out records, as the pipeline's steps make them."""
    scorer = neg_std_error_scorer(part="nonsensitive", n=5_000, summary="rms")
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    pipe = Pipeline([("turned", FunctionTransformer(lambda X: X[:, ::-1])), ("priv", None)])
    grid = {"priv": [SRRSanitizer(sensitive=0), GRRSanitizer(sensitive=0)], "priv__eps": [0.5, 3.0]}
    cv = KFold(2)
    search = GridSearchCV(pipe, grid, scoring=scorer, cv=cv, refit=smallest_eps(std_error=0.02))
    search.fit(X[:, ::-1])
    train, test = next(iter(cv.split(X)))
    longer = Pipeline([*pipe.steps, ("after", FunctionTransformer())])
    with pytest.raises(ValueError, match="'priv' is a sanitizer, but not the"):
        GridSearchCV(longer, grid, scoring=scorer, cv=cv).fit(X)
    own = SRRSanitizer(eps=0.5, sensitive=0).fit(X[train])
    left_out = np.array([[np.sum((X[test] == [s, u]).all(1)) for u in range(3)] for s in range(2)])
    errors = expected_std_error(
        own, 5_000, part="nonsensitive", distribution=left_out / left_out.sum()
    )
    assert search.cv_results_["split0_test_score"][0] == pytest.approx(-np.sqrt(np.mean(errors**2)))
    assert search.best_params_["priv__eps"] == 3.0
    with pytest.raises(ValueError, match="be one of 'worst', 'rms'"):
        neg_std_error_scorer(summary="mean")
    with pytest.raises(ValueError, match="integer of at least 1"):
        neg_std_error_scorer(n=0)


@pytest.mark.parametrize(
    ("asked", "message", "several"),
    [
        ({"columns": "typo"}, r"column 'typo' does not exist", True),
        ({"columns": "u", "by": "u"}, "column 'u' is itself estimated", False),
    ],
)
def test_a_search_for_columns_that_are_not_there_chooses_none(asked, message, several):
    """By scikit-learn's default, what a scorer raises is a warning, and some candidate is taken."""
    scorer = neg_std_error_scorer(**asked)
    search = GridSearchCV(
        SRRSanitizer(sensitive="s"),
        {"eps": [1.0, 2.0]},
        scoring={"error": scorer} if several else scorer,
        refit="error" if several else True,
        cv=2,
    )
    with pytest.raises(ValueError, match=message):
        search.fit(pd.DataFrame(X, columns=["s", "u"]))
