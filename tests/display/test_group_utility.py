"""What is told about each secret, as bars: their lengths, their order, and what is refused."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skrldp import GroupUtilityDisplay, IRSanitizer, SRRSanitizer
from skrldp.display import _group_utility
from skrldp.information import entropy_by_secret

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

COUNTS = np.array([[5, 5, 10], [300, 100, 200], [0, 0, 0], [30, 0, 0]])
NAMES = [["rare", "common", "never", "alike"], ["a", "b", "c"]]
ROWS = [[s, u] for s in NAMES[0] for u in NAMES[1]]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def fitted(cls, counts=COUNTS):
    return cls(eps=1.0, categories=NAMES).fit(ROWS, sample_weight=counts.ravel())


def lengths(bars):
    return [bar.get_width() for bar in bars]


def names(axis):
    return [tick.get_text() for tick in axis.get_ticklabels()]


def test_bars_are_what_is_told():
    sanitizers = {"SRR": fitted(SRRSanitizer), "IR": fitted(IRSanitizer)}
    drawn = GroupUtilityDisplay.from_estimator(sanitizers)
    order = [
        sanitizers["SRR"].joint_.secrets.index(s) for s in ("common", "alike", "rare", "never")
    ]
    assert list(drawn.order_) == order
    records, possible = COUNTS.sum(axis=1), entropy_by_secret(COUNTS)
    drawn.figure_.canvas.draw()
    for bars, sanitizer in zip(drawn.bars_, sanitizers.values(), strict=True):
        told = np.nan_to_num(sanitizer.information_by_secret_)
        of_all = (records @ told) / (records @ np.nan_to_num(possible))
        expected = [of_all, told[1] / possible[1], 0.0, told[0] / possible[0], 0.0]
        assert lengths(bars) == pytest.approx(expected, rel=1e-12)
    assert names(drawn.ax_.yaxis) == ["all records", "common", "alike", "rare", "never"]
    (right,) = drawn.ax_.child_axes
    assert names(right.yaxis) == ["100 %", "92.3 %", "4.6 %", "3.1 %", "0.0 %"]
    assert [text.get_text() for text in drawn.ax_.texts] == ["nothing to tell"] * 2
    assert [text.xy[1] for text in drawn.ax_.texts] == [2, 4]


def test_some_secrets_in_an_order():
    display = GroupUtilityDisplay({"a": [0.1, 0.3, 0.2]}, [1, 2, 3], secrets=["x", "y", "z"])
    drawn = display.plot(secrets=["x", "z"])
    assert list(drawn.order_) == [2, 0] and lengths(drawn.bars_[0]) == [0.2, 0.1]
    assert drawn.ax_.get_ylabel() == "secret (2 of 3)"
    assert list(display.plot(order="secrets").order_) == [0, 1, 2]
    with pytest.raises(ValueError, match="no secret 'w'"):
        display.plot(secrets=["w"])
    with pytest.raises(ValueError, match="order='size'"):
        display.plot(order="size")


def test_of_many_secrets_those_told_least_about_are_drawn(monkeypatch):
    monkeypatch.setattr(_group_utility, "_MOST", 2)
    drawn = GroupUtilityDisplay({"a": [0.4, np.nan, 0.1, 0.2]}, [9, 1, 1, 2]).plot()
    assert list(drawn.order_) == [3, 2]


def test_what_cannot_be_drawn_is_refused():
    for utilities, records, words in [
        ({}, [1], "utilities is empty"),
        ({"a": [0.1, 0.2]}, [1, 2, 3], "'a' needs one figure"),
        ({"a": [0.1, -0.2]}, [1, 2], "'a' needs one figure"),
        ({"a": [0.1, np.inf]}, [1, 2], "'a' needs one figure"),
        ({"a": [0.1, 0.2]}, [0, 0], "at least one record"),
        ({"a": [0.1, 0.2]}, [-1, 2], "at least one record"),
    ]:
        with pytest.raises(ValueError, match=words):
            GroupUtilityDisplay(utilities, records)
    with pytest.raises(ValueError, match="3 secrets do not name 2"):
        GroupUtilityDisplay({"a": [0.1, 0.2]}, [1, 2], secrets="xyz")
    with pytest.raises(ValueError, match="whole names 'b'"):
        GroupUtilityDisplay({"a": [0.1, 0.2]}, [1, 2], whole={"b": 0.1})
    first, other = fitted(SRRSanitizer), fitted(SRRSanitizer, COUNTS + 1)
    with pytest.raises(ValueError, match="'other' was fitted to another table than 'first'"):
        GroupUtilityDisplay.from_estimator({"first": first, "other": other})
    with pytest.raises(ValueError, match="dict of sanitizers is empty"):
        GroupUtilityDisplay.from_estimator({})
    with pytest.raises(NotFittedError):
        GroupUtilityDisplay.from_estimator({"first": first, "other": SRRSanitizer()})
