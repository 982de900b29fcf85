"""Coefficients and differences with their intervals: what is drawn where, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from displays_of_fits import LONG, assert_legible, plt

from skrldp import CoefficientDisplay, DifferenceDisplay, FrequencyEstimator, GRRSanitizer
from skrldp.estimation import difference
from skrldp.regression import mnlogit, ols

pytest.importorskip("formulaic")


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


def test_coefficients_are_drawn_with_their_intervals(estimator, monkeypatch):
    found = ols("wage ~ sex + town", estimator)
    display = CoefficientDisplay.from_results(found, level=0.9)
    assert row_names(display) == ["sex[T.m]", "town[T.none]", "town[T.small]"]
    expected = np.column_stack([found.params, found.conf_int(0.1)])[1:]
    np.testing.assert_allclose(drawn(display), expected)
    assert "90 %" in display.ax_.get_xlabel() and display.ax_.get_legend() is None
    assert_legible(display.figure_, monkeypatch)
    whole = CoefficientDisplay.from_results(found, intercept=True)
    assert row_names(whole)[0] == "Intercept"


def test_several_regressions_stand_side_by_side(estimator, people):
    few, many = ols("wage ~ sex", estimator), ols("wage ~ sex + town", estimator)
    smf = pytest.importorskip("statsmodels.formula.api")
    raw = smf.ols("wage ~ sex + town", people).fit()
    results = {"alone": few, "with towns": many, "_raw": raw}
    display = CoefficientDisplay.from_results(results)
    assert np.isnan(display.intervals["alone"][1:]).all()
    np.testing.assert_allclose(display.intervals["_raw"][:, 0], raw.params.iloc[1:])
    assert len({points.get_ydata()[0] for points in display.points_}) == 3  # none hides another
    shown = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert shown == ["alone", "with towns", " _raw"]


def test_categories_of_a_multinomial_regression_have_colours(estimator):
    found = mnlogit("town ~ wage", estimator)
    display = CoefficientDisplay.from_results(found)
    assert list(display.intervals) == ["none", "small"] and display.names == ("wage",)
    assert display.intervals["small"][0, 0] == found.params["small", "wage"]
    two = CoefficientDisplay.from_results({"a": found, "b": found})
    assert two.names == (("none", "wage"), ("small", "wage"))


def test_groups_are_compared_with_one_of_them(estimator, monkeypatch):
    means = estimator.mean("wage", by="town")
    display = DifferenceDisplay.from_figures(means, "none")
    assert row_names(display) == ["big", "small"]
    own = means.difference("small", "none")
    np.testing.assert_allclose(drawn(display)[1], [own.value, *own.confidence_interval()])
    assert "less that of 'none'" in display.ax_.get_xlabel()
    assert display.ax_.get_ylabel() == "town"
    assert_legible(display.figure_, monkeypatch)
    medians = estimator.quantile("wage", 0.5, by="sex")
    display, own = DifferenceDisplay.from_figures(medians, "f"), medians.difference("m", "f")
    np.testing.assert_allclose(drawn(display)[0], [own.value, *own.confidence_interval()])


def test_groups_that_are_alike_in_other_columns_are_compared(estimator):
    means = estimator.mean("wage", by=["town", "sex"])
    display = DifferenceDisplay.from_figures(means, "f", column="sex")
    assert list(display.intervals) == ["m"] and display.names == ("big", "none", "small")
    own = means.difference(("small", "m"), ("small", "f"))
    assert display.intervals["m"][2, 0] == own.value
    towns = DifferenceDisplay.from_figures(means, "none", column="town")
    assert list(towns.intervals) == ["big", "small"] and towns.names == ("f", "m")
    assert towns.ax_.get_ylabel() == "sex"


def test_shares_have_a_row_for_each_category(estimator):
    shares = estimator.marginal("town", by="sex")
    display = DifferenceDisplay.from_figures(shares, "f")
    assert display.names == ("big", "none", "small") and list(display.intervals) == ["m"]
    np.testing.assert_allclose(display.intervals["m"][:, 0], shares.difference("m", "f").values)


def test_a_difference_of_waves_is_drawn_as_it_is(estimator):
    change = difference(estimator.mean("wage", by="town"), estimator.mean("wage", by="town"))
    display = DifferenceDisplay.from_figures(change, level=0.5)
    assert display.names == ("big", "none", "small")
    np.testing.assert_allclose(display.intervals[""][:, 1:], change.confidence_interval(0.5))


def test_what_is_not_determined_is_said(monkeypatch):
    nothing = [np.nan] * 3
    names = [LONG.format(k) for k in range(3)]
    display = CoefficientDisplay({"a": [[0.1, 0.0, 0.2], nothing, nothing]}, names).plot()
    assert [text.get_text() for text in display.ax_.texts] == ["not determined"] * 2
    assert [text.xy[1] for text in display.ax_.texts] == [1, 2]
    assert_legible(display.figure_, monkeypatch)


def test_what_cannot_be_drawn_is_refused(estimator):
    for intervals, names, words in [
        ({}, ["x"], "nothing to draw"),
        ({"a": []}, [], "nothing to draw"),
        ({"a": [[1.0, 0.0]]}, ["x"], "'a' needs an estimate and the two ends"),
        ({"a": [[1.0, 2.0, 0.0]]}, ["x"], "'a' has an interval whose lower end"),
    ]:
        with pytest.raises(ValueError, match=words):
            DifferenceDisplay(intervals, names)
    with pytest.raises(ValueError, match="level=2 must be"):
        CoefficientDisplay.from_results(ols("wage ~ sex", estimator), level=2)
    with pytest.raises(TypeError, match=r"skrldp.regression is needed.*got str"):
        CoefficientDisplay.from_results("wage ~ sex")
    with pytest.raises(ValueError, match="nothing to draw"):
        CoefficientDisplay.from_results({})
    means = estimator.mean("wage", by=["town", "sex"])
    with pytest.raises(ValueError, match=r"column=None must be one of .*'town', 'sex'"):
        DifferenceDisplay.from_figures(means, "f")
    with pytest.raises(ValueError, match=r"'x' is no category of 'sex'; .* \['f', 'm'\]"):
        DifferenceDisplay.from_figures(means, "x", column="sex")
    with pytest.raises(TypeError, match=r"figures of groups are needed.*got NumericEstimate"):
        DifferenceDisplay.from_figures(estimator.mean("wage"))
