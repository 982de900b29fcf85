"""Fits, and what is painted of their displays."""

import itertools
import warnings

import numpy as np
import pytest
from regions import lower

from skrldp import (
    EstimationErrorDisplay,
    IRSanitizer,
    Mechanism,
    MechanismDisplay,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RobustMSESanitizer,
    SRRSanitizer,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

DISPLAYS = [EstimationErrorDisplay, MechanismDisplay]
COUNTS = [120, 60, 90, 50, 140, 80]
ROWS = [[s, u] for s in range(2) for u in range(3)]
LONG = "A name of {:02d} sixty characters that costs $ and goes on, ça va?"
LATIN = ["naïve\nÅ", "", "x_1^2", "$a$ $b$", "ΑΒΓ", None]


def fitted(cls, rows=ROWS, counts=COUNTS, **parameters):
    if cls in (PolyOptSanitizer, RobustMSESanitizer):
        parameters = lower(parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return cls(**parameters).fit(rows, sample_weight=counts)


def table(a1, a2, seed=0, low=20):
    return np.random.default_rng(seed).integers(low, 400, (a1, a2))


def named(secrets, values, cls=SRRSanitizer, **parameters):
    rows = np.array([[s, u] for s in secrets for u in values], dtype=object)
    counts = table(len(secrets), len(values)).ravel()
    return fitted(cls, rows, counts, **parameters)


def blocks(a1, a2):
    """Randomised response, without the time that a proof takes."""
    same = 3.0 / (2.0 + a1 * a2)
    other = (1.0 - same) / (a1 * a2 - 1)
    return Mechanism.from_blocks((same, other, other, other), range(a1), range(a2))


def painted(figure, monkeypatch):
    """Draw, and return the texts that were painted."""
    texts, paint = [], matplotlib.text.Text.draw

    def draw(text, *args, **kwargs):
        if text.get_visible() and text.get_text().strip():
            texts.append(text)
        return paint(text, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(matplotlib.text.Text, "draw", draw)
        figure.canvas.draw()
    return list(dict.fromkeys(texts))


def assert_legible(figure, monkeypatch):
    """No text leaves the figure or touches another one, and there is a picture."""
    texts = painted(figure, monkeypatch)
    renderer = figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in texts]
    width, height = figure.canvas.get_width_height()
    for text, box in zip(texts, boxes, strict=True):
        inside = box.x0 > -1 and box.y0 > -1 and box.x1 < width + 1 and box.y1 < height + 1
        assert inside, f"{text.get_text()!r} leaves the figure"
    for (one, box), (two, other) in itertools.combinations(zip(texts, boxes, strict=True), 2):
        across = min(box.x1, other.x1) - max(box.x0, other.x0)
        along = min(box.y1, other.y1) - max(box.y0, other.y0)
        touching = across > 1 and along > 1
        assert not touching, f"{one.get_text()!r} touches {two.get_text()!r}"
    for axes in figure.axes:
        box = axes.get_window_extent(renderer)
        assert box.width > 10 and box.height > 40
    picture = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    assert picture.std() > 5
    return [text.get_text() for text in texts]


NASTY = {
    "strange names": lambda: named(["no", "_yes"], LATIN),
    "long names, three values": lambda: named(
        [LONG.format(i) for i in range(4)], [LONG.format(i) for i in range(3)], IRSanitizer
    ),
    "forty secrets": lambda: named([f"secret {i}" for i in range(40)], [1.0, 2.5]),
}
