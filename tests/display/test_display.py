"""Displays keep to scikit-learn's ways and draw what their sanitizers have: pictures are legible.

A heat map has the mechanism's probabilities, and curves are those of the sanitizers at each ε.
"""

import sys

import numpy as np
import pytest
from displays_of_fits import (
    COUNTS,
    DISPLAYS,
    NASTY,
    ROWS,
    assert_legible,
    blocks,
    fitted,
    matplotlib,
    named,
    plt,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

from skrldp import (
    GRRSanitizer,
    LikelihoodRatioSet,
    MechanismDisplay,
    NonRobustSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    PrivacyUtilityDisplay,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
)

# --- All of them ---------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("name", NASTY)
def test_pictures_are_legible(name, monkeypatch):
    """Also in another size of letters."""
    sanitizer, size = NASTY[name](), 16.0 if name == "strange names" else 10.0
    for display in DISPLAYS:
        with matplotlib.rc_context({"font.size": size}):
            drawn = display.from_estimator(FrozenEstimator(sanitizer))
            assert_legible(drawn.figure_, monkeypatch)
        plt.close(drawn.figure_)


@pytest.mark.parametrize("display", DISPLAYS)
def test_displays_keep_to_scikit_learns_ways(display):
    sanitizer = named(["no", "yes"], ["rare", "often", "never"])
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    drawn = display.from_estimator(sanitizer, ax=ax)
    assert isinstance(drawn, display)
    assert drawn.ax_ is ax and drawn.figure_ is figure
    assert plt.get_fignums() == [figure.number]  # no other was made
    assert drawn.plot() is drawn and drawn.figure_ is not figure
    assert dict(matplotlib.rcParams) == before
    sub = plt.figure(layout="constrained").subfigures(1, 2)[0]
    assert drawn.plot(sub.subplots()).figure_ is sub


@pytest.mark.parametrize("display", DISPLAYS)
def test_displays_need_a_fitted_sanitizer_and_matplotlib(display, monkeypatch):
    with pytest.raises(NotFittedError):
        display.from_estimator(make_pipeline(SRRSanitizer(sensitive=0)))
    with pytest.raises(TypeError, match="fitted sanitizer, got RenyiBall"):
        display.from_estimator(RenyiBall())
    assert not plt.get_fignums()
    sanitizer = fitted(SRRSanitizer)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install skrldp\[plot\]"):
        display.from_estimator(sanitizer)


# --- PrivacyUtilityDisplay -----------------------------------------------------------------------


@pytest.mark.slow
def test_curves_are_those_of_the_sanitizers(monkeypatch, capsys):
    sanitizers = {
        "polyopt": PolyOptSanitizer(
            uncertainty=LikelihoodRatioSet(region="lower"), eps=9, sensitive=0
        ),
        "_srr": SRRSanitizer(sensitive=0),
    }
    drawn = PrivacyUtilityDisplay.from_table(
        sanitizers, ROWS, sample_weight=COUNTS, eps=(2.0, 0.5), verbose=1
    )
    baselines = {
        "GRR (plain LDP)": GRRSanitizer(sensitive=0),
        "non-robust (not private)": NonRobustSanitizer(sensitive=0),
    }
    assert drawn.baselines == tuple(baselines)
    assert list(drawn.curves) == [*sanitizers, *baselines]
    for line, (name, template) in zip(drawn.lines_, (sanitizers | baselines).items(), strict=True):
        eps, utility = drawn.curves[name]
        assert eps.tolist() == [0.5, 2.0]
        for level, value in zip(eps, utility, strict=True):
            parameters = template.get_params(deep=False) | {"eps": level}
            again = fitted(type(template), **parameters)
            assert value == pytest.approx(again.normalized_mutual_information_, rel=1e-9)
        assert np.array_equal(line.get_xydata(), np.stack([eps, utility], axis=1))
    assert sanitizers["polyopt"].eps == 9 and not hasattr(sanitizers["polyopt"], "joint_")
    assert "polyopt, eps=2:" in capsys.readouterr().out
    shown = assert_legible(drawn.figure_, monkeypatch)
    assert {"polyopt", " _srr", *baselines, "0.5", "2"} <= {*shown}
    assert len({line.get_marker() for line in drawn.lines_}) == 4
    again = PrivacyUtilityDisplay(drawn.curves, baselines=drawn.baselines).plot()
    assert [line.get_color() for line in again.lines_] == [
        line.get_color() for line in drawn.lines_
    ]


def test_what_cannot_be_drawn_together_is_refused():
    mse, srr = RobustMSESanitizer(sensitive=0), SRRSanitizer(sensitive=0)
    other = RobustMSESanitizer(distance="hamming", sensitive=0)
    for wrong, error, words in (
        ({"a": mse, "b": srr}, ValueError, "distance from U and 'b'"),
        ({"a": mse, "b": other}, ValueError, "'a' and 'b' have different distances"),
        ({"a": FrozenEstimator(srr)}, TypeError, "must not be frozen"),
        ({}, ValueError, "dict of sanitizers is empty"),
    ):
        with pytest.raises(error, match=words):
            PrivacyUtilityDisplay.from_table(wrong, ROWS, sample_weight=COUNTS)
    assert not plt.get_fignums()


def test_baselines_are_not_drawn_twice_and_do_not_hide_warnings():
    def names(sanitizer, **options):
        return list(
            PrivacyUtilityDisplay.from_table(
                sanitizer, ROWS, sample_weight=COUNTS, eps=[1.0], **options
            ).curves
        )

    assert names(GRRSanitizer(sensitive=0)) == ["GRR", "non-robust (not private)"]
    assert names(SRRSanitizer(sensitive=0), baselines=False) == ["SRR"]
    with pytest.warns(PrivacyLeakWarning, match="public distribution alone"):
        assert names({"mine": NonRobustSanitizer(sensitive=0)}) == ["mine", "GRR (plain LDP)"]


# --- MechanismDisplay ----------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["cells", "symbols"])
def test_heat_map_has_the_mechanisms_colours(order):
    """Each entry's pixel in the picture has the colour of its probability."""
    sanitizer = fitted(PolyOptSanitizer)
    drawn = MechanismDisplay.from_estimator(sanitizer, order=order, colorbar=False)
    matrix = sanitizer.mechanism_.matrix[drawn.order_]
    assert sorted(drawn.order_) == list(range(len(matrix)))
    if order == "cells":
        assert np.all(np.diff(matrix.argmax(axis=1)) >= 0)
    drawn.figure_.canvas.draw()
    picture = np.asarray(drawn.figure_.canvas.buffer_rgba())
    for y, x in np.ndindex(matrix.shape):
        column, row = drawn.ax_.transData.transform((x + 0.1, y + 0.1))
        expected = matplotlib.colormaps["cividis"](matrix[y, x] / matrix.max(), bytes=True)
        assert picture[len(picture) - 1 - int(row), int(column)] == pytest.approx(expected, abs=1)


def test_large_heat_maps_keep_their_greatest_entries(monkeypatch):
    mechanism = blocks(3, 401)
    drawn = MechanismDisplay(mechanism).plot()
    blocks_drawn = np.asarray(drawn.image_.get_array())
    assert blocks_drawn.shape == (401, 401)
    expected = mechanism.matrix.reshape(401, 3, 401, 3).max(axis=(1, 3))
    assert np.array_equal(blocks_drawn, expected)
    shown = assert_legible(drawn.figure_, monkeypatch)
    assert any("of each 3 reports x 3 cells" in text for text in shown)


def test_heat_maps_that_are_too_large():
    with pytest.raises(ValueError, match=r"2,200 reports x 2,200 cells.*mechanism\.form\.blocks"):
        MechanismDisplay(blocks(2, 1100)).plot()
    with pytest.raises(ValueError, match=r"order='u' must be 'cells' or 'symbols'"):
        MechanismDisplay(blocks(2, 2)).plot(order="u")
    assert not plt.get_fignums()
