"""The heat map of a mechanism."""

import numpy as np
import pytest
from displays_of_fits import (
    assert_legible,
    blocks,
    fitted,
    matplotlib,
    named,
    plt,
)

from skrldp import MechanismDisplay, PolyOptSanitizer


@pytest.fixture(autouse=True)
def _close(designs_once):
    yield
    plt.close("all")


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


def test_heat_map_names(monkeypatch):
    sanitizer = named(["no", "yes"], ["never", "often", "rare"])
    drawn = MechanismDisplay.from_estimator(sanitizer)
    assert drawn.order_.tolist() == list(range(6))  # reports are cells: a diagonal
    labels = [tick.get_text() for tick in drawn.ax_.get_yticklabels()]
    assert labels[0] == "no, never" and labels[5] == "yes, rare"
    assert [tick.get_text() for tick in drawn.ax_.get_xticklabels()] == [
        *("never", "often", "rare") * 2
    ]
    shown = assert_legible(drawn.figure_, monkeypatch)
    assert {"no", "yes", "secret", "value of U", "report", "probability of the report"} <= {*shown}
    edges = {line.get_xdata()[0] for line in drawn.ax_.lines}
    assert edges == {2.5}


def test_heat_map_of_a_blind_mechanism():
    sanitizer = fitted(PolyOptSanitizer, observe="nonsensitive")
    drawn = MechanismDisplay.from_estimator(sanitizer)
    assert drawn.image_.get_array().shape == (sanitizer.mechanism_.shape[0], 3)
    assert not drawn.ax_.lines


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
