"""Estimates with their intervals: what is drawn where, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from displays_of_fits import LONG, assert_legible, plt

from skrldp import FrequencyEstimator, GRRSanitizer, IntervalDisplay


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


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


def test_differences_stand_beside_0(estimator):
    shares = estimator.marginal("town", by="sex").difference("m", "f")
    display = IntervalDisplay.from_figures(shares)
    assert IntervalDisplay.from_figures(estimator.mean("wage")).names == ("all",)
    np.testing.assert_allclose(display.intervals[""][:, 1:], shares.confidence_interval())
    zero = display.ax_.lines[0]
    assert list(zero.get_xdata()) == [0.0, 0.0]


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
    for intervals, names, words in [
        ({"a": []}, [], "nothing to draw"),
        ({"a": [[1.0, 0.0]]}, ["x"], "'a' needs an estimate and the two ends"),
        ({"a": [[1.0, 2.0, 0.0]]}, ["x"], "'a' has an interval whose lower end"),
    ]:
        with pytest.raises(ValueError, match=words):
            IntervalDisplay(intervals, names)
    with pytest.raises(ValueError, match="nothing to draw"):
        IntervalDisplay.from_figures({})
    with pytest.raises(ValueError, match="level"):
        IntervalDisplay.from_figures(estimator.marginal("sex"), level=2)
    with pytest.raises(TypeError, match=r"estimates are needed.*got float"):
        IntervalDisplay.from_figures(estimator.mean("wage").estimate[0])
