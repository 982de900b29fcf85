"""Displays of standard errors and of intervals draw what was estimated, and say what is missing."""

import numpy as np
import pandas as pd
import pytest
from block_tables import fitted_blocks, wide_table
from displays_of_fits import COUNTS, LONG, ROWS, assert_legible, plt
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skrldp import (
    EstimationErrorDisplay,
    FrequencyEstimator,
    GRRSanitizer,
    IntervalDisplay,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    SRRSanitizer,
    expected_std_error,
)

N = [1_000, 100_000]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def sanitizers():
    blind = PolyOptSanitizer(
        1.0, uncertainty=LikelihoodRatioSet(region="lower"), observe="nonsensitive", sensitive=0
    )
    return {
        "SRR": SRRSanitizer(1.0, sensitive=0).fit(ROWS, sample_weight=COUNTS),
        "U alone": blind.fit(ROWS, sample_weight=COUNTS),
    }


def test_against_reports(sanitizers):
    display = EstimationErrorDisplay.from_estimator(sanitizers, n=N[::-1], part="sensitive")
    srr, blind, grr, raw = display.lines_
    expected = [expected_std_error(sanitizers["SRR"], n, part="sensitive").max() for n in N]
    np.testing.assert_allclose(srr.get_ydata(), expected)
    assert np.isnan(blind.get_ydata()).all() and np.isinf(display.worst("U alone")).all()
    assert blind.get_label() == "U alone: not determined"
    share = sum(COUNTS[:3]) / sum(COUNTS)
    of_records = np.sqrt(share * (1 - share) / np.array(N))
    np.testing.assert_allclose(raw.get_ydata(), of_records)
    options = {"n": N, "part": "sensitive", "design_effect": 2.4}
    clustered = EstimationErrorDisplay.from_estimator(sanitizers, **options)
    np.testing.assert_allclose(clustered.lines_[3].get_ydata(), np.sqrt(2.4) * of_records)
    plain = GRRSanitizer(1.0, sensitive=0).fit(ROWS, sample_weight=COUNTS)
    expected = [expected_std_error(plain, n, part="sensitive").max() for n in N]
    np.testing.assert_allclose(grr.get_ydata(), expected, rtol=1e-6)
    assert display.ax_.get_ylabel().endswith("share of a secret")


def test_each_share_and_useless_ones(sanitizers):
    pipe = make_pipeline(FunctionTransformer(), GRRSanitizer(0.05, sensitive=0)).fit(
        ROWS, grrsanitizer__sample_weight=COUNTS
    )
    display = EstimationErrorDisplay.from_estimator(pipe, n=[20, 200], each=True)
    assert list(display.curves) == ["GRR", "raw records, not private"]  # no second GRR
    assert len(display.ax_.lines) == 2 * (1 + 6)
    said = [text.get_text() for text in display.ax_.texts]
    assert display.worst("GRR")[0] > 1.0 and said == ["above 1: tells nothing"]
    display = EstimationErrorDisplay.from_estimator(
        sanitizers["SRR"], part="nonsensitive", baselines=False
    )
    assert list(display.curves) == ["SRR"] and not display.ax_.texts


def test_against_eps():
    eps = [0.5, 2.0]
    display = EstimationErrorDisplay.from_table(
        SRRSanitizer(sensitive=0), ROWS, sample_weight=COUNTS, eps=eps, n=500, part="nonsensitive"
    )
    fits = [SRRSanitizer(e, sensitive=0).fit(ROWS, sample_weight=COUNTS) for e in eps]
    expected = [expected_std_error(fit, 500, part="nonsensitive").max() for fit in fits]
    np.testing.assert_allclose(display.lines_[0].get_ydata(), expected)
    raw = display.worst("raw records, not private")
    assert raw[0] == pytest.approx(raw[1]) and np.all(raw < expected)
    assert display.ax_.get_ylabel().endswith("share of a value of U, n = 500")
    assert display.ax_.get_xlabel().endswith("ε (nats)")


def test_blocks_against_reports():
    """Baselines report a block by GRR, or the whole record; wide tables have no other ones."""
    singles, pairs = fitted_blocks("singles", 4.0), fitted_blocks()
    named = {"singles": make_pipeline(singles), "pairs": pairs}
    display = EstimationErrorDisplay.from_estimator(named, n=N, columns="age")
    of_singles, of_pairs, grr, raw = display.lines_
    for one, line in ((singles, of_singles), (pairs, of_pairs)):
        expected = [expected_std_error(one, n, "age").max() for n in N]
        np.testing.assert_allclose(line.get_ydata(), expected)
    assert (of_singles.get_ydata() < grr.get_ydata()).all()
    shares = wide_table()["age"].value_counts(normalize=True)
    truth = np.sqrt((shares * (1 - shares)).max() / np.array(N))
    np.testing.assert_allclose(raw.get_ydata(), truth, rtol=1e-3)
    assert (raw.get_ydata() < of_singles.get_ydata()).all()
    assert grr.get_label() == "GRR, ε = 2 (plain LDP)"


def test_what_is_no_sanitizer_of_the_table_is_refused(sanitizers):
    other = SRRSanitizer(1.0, sensitive=0).fit([["x", "y"], ["z", "w"]])
    for named, error, words in (
        ({}, ValueError, "dict of sanitizers is empty"),
        ({"a": 1}, TypeError, "Expected a fitted sanitizer"),
        (sanitizers | {"other": other}, ValueError, "the secrets of the mechanism"),
        (sanitizers | {"blocks": fitted_blocks()}, ValueError, "compared only with other"),
        (fitted_blocks(), ValueError, "Name columns= of one block"),
    ):
        with pytest.raises(error, match=words):
            EstimationErrorDisplay.from_estimator(named)


# --- Intervals -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    sex, town = rng.choice(["f", "m"], 6_000), rng.choice(["big", "none", "small"], 6_000)
    wage = np.where(rng.random(6_000) < 0.3 + 0.3 * (sex == "m"), 3, rng.integers(1, 3, 6_000))
    return pd.DataFrame({"sex": sex, "town": town, "wage": wage})


@pytest.fixture(scope="module")
def estimator(people):
    sanitizer = GRRSanitizer(eps=4.0, sensitive="sex", random_state=0).fit(people)
    return FrequencyEstimator(sanitizer).fit(sanitizer.transform(people))


def drawn(display):
    """For each row of the first series: estimate, and ends of the line."""
    _, _, (bars,) = display.bars_[0]
    ends = np.array([segment[:, 0] for segment in bars.get_segments()])
    return np.column_stack([display.points_[0].get_xdata(), ends])


def row_names(display):
    display.figure_.canvas.draw()
    return [tick.get_text() for tick in display.ax_.get_yticklabels()]


def test_figures_are_drawn_with_their_intervals(estimator, monkeypatch):
    means = estimator.mean("wage", by=["town", "sex"])
    display = IntervalDisplay.from_figures(means, level=0.9)
    assert row_names(display) == [", ".join(label) for label in means.labels]
    expected = np.column_stack([means.estimate, means.confidence_interval(0.9)])
    np.testing.assert_allclose(drawn(display), expected)
    assert display.ax_.get_xlabel() == f"{means.what}, with 90 % intervals"
    assert display.ax_.get_ylabel() == "town, sex" and display.ax_.get_legend() is None
    assert len(display.ax_.lines) == 1 + 2  # points and caps: 0 is far away
    assert_legible(display.figure_, monkeypatch)


def test_several_series_stand_side_by_side(estimator):
    own = estimator.marginal("town")
    first, second = (own.estimate[k] for k in (0, 1))
    by_sex = estimator.marginal(["town", "sex"])
    display = IntervalDisplay.from_figures({"all": own, "_again": own, "by sex": by_sex})
    assert display.names[:4] == ("big", "none", "small", ("big", "f"))
    np.testing.assert_allclose(display.intervals["_again"][:2, 0], [first, second])
    assert np.isnan(display.intervals["all"][3:]).all()
    assert len({points.get_ydata()[0] for points in display.points_}) == 3  # none hides another
    shown = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert shown == ["all", " _again", "by sex"]


def test_what_is_not_determined_is_said(monkeypatch):
    nothing = [np.nan] * 3
    names = [LONG.format(k) for k in range(3)]
    display = IntervalDisplay({"a": [[0.1, 0.0, 0.2], nothing, nothing]}, names).plot()
    assert [text.get_text() for text in display.ax_.texts] == ["not determined"] * 2
    assert [text.get_position()[1] for text in display.ax_.texts] == [1, 2]
    assert_legible(display.figure_, monkeypatch)


def test_what_cannot_be_drawn_is_refused(estimator):
    with pytest.raises(ValueError, match="'a' has an interval whose lower end"):
        IntervalDisplay({"a": [[1.0, 2.0, 0.0]]}, ["x"])
    with pytest.raises(TypeError, match=r"Expected estimates.*got float"):
        IntervalDisplay.from_figures(estimator.mean("wage").estimate[0])
