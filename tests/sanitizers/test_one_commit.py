"""A fit takes effect all at once, or not at all; a transform uses one fit only."""

import sys

import numpy as np
import pytest

from skrldp import GRRSanitizer, LikelihoodRatioSet, RenyiBall, RobustMSESanitizer, SRRSanitizer
from skrldp.sanitizers import base

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = pytest.mark.filterwarnings("ignore:the values of U were learned")


FIRST = [[s, u] for s in ("no", "yes") for u in ("a", "b")]
SECOND = [[w, s, u] for w in (5, 6, 7) for s in ("left", "right") for u in (0, 1)]


def state(sanitizer):
    """What is told of a fit: of which table each attribute is."""
    shapes = {
        "joint_": sanitizer.joint_.counts.shape,
        "mechanism_": (len(sanitizer.mechanism_.secrets), len(sanitizer.mechanism_.values)),
        "certificate_": sanitizer.certificate_.distribution.shape,
        "n_features_in_": {2: (2, 2), 3: (3, 4)}[sanitizer.n_features_in_],
        "get_feature_names_out": {2: (2, 2), 3: (3, 4)}[len(sanitizer.get_feature_names_out())],
    }
    assert len(set(shapes.values())) == 1, shapes
    return shapes["joint_"]


class Stopped(BaseException):
    """Stands for KeyboardInterrupt."""


def stop_at(lines):
    """Raise once that many lines of the module of `fit` have run."""
    left = [lines]

    def trace(frame, event, argument):
        if frame.f_code.co_filename != base.__file__ or frame.f_code.co_name != "fit":
            return None
        if event == "line":
            left[0] -= 1
            if left[0] < 0:
                raise Stopped
        return trace

    return trace


@pytest.mark.slow
def test_an_interrupted_fit_leaves_one_fit_whole():
    seen, before = set(), sys.gettrace()
    for lines in range(100):
        sanitizer = SRRSanitizer(sensitive=0).fit(FIRST)
        sys.settrace(stop_at(lines))
        try:
            sanitizer.fit(SECOND)
            stopped = False
        except Stopped:
            stopped = True
        finally:
            sys.settrace(before)
        seen.add(state(sanitizer))
        rows = FIRST if state(sanitizer) == (2, 2) else SECOND
        assert sanitizer.transform(rows).shape == np.shape(rows)
        if not stopped:
            break
    assert not stopped and seen == {(2, 2), (3, 4)}


class FitsMeanwhile(RobustMSESanitizer):
    """Another thread fits a different table while records are read."""

    def _encode(self, *arguments, **options):
        codes = super()._encode(*arguments, **options)
        self.fit([[s, u] for s in (0, 1) for u in (10, 20, 30)] * 9)
        return codes


def test_a_fit_in_the_middle_of_a_transform_changes_nothing():
    rows = [[s, u] for s in (0, 1) for u in (1, 2)] * 9
    options = {"random_state": 3, "sensitive": 0}
    expected = RobustMSESanitizer(**options).fit(rows).transform(rows)
    sanitizer = FitsMeanwhile(**options).fit(rows)
    np.testing.assert_array_equal(sanitizer.transform(rows), expected)
    assert sanitizer.joint_.counts.shape == (2, 3)


class Counting:
    """Rows that are counted whenever they are read."""

    def __init__(self, rows):
        self.rows, self.n_reads = np.array(rows, dtype=object), 0
        self.shape = self.rows.shape

    def __array__(self, dtype=None, copy=None):
        self.n_reads += 1
        return self.rows


def test_a_table_is_read_once():
    """In `fit`, and in `transform` with the reports that it writes."""
    rows = Counting([["no", "rare"], ["yes", "often"], ["yes", "rare"]])
    sanitizer = GRRSanitizer(sensitive=0).fit(rows, sample_weight=[7, 10, 26])
    assert rows.n_reads == 1
    sanitizer.transform(rows)
    assert rows.n_reads == 2


def test_each_set_is_fitted_once():
    """That of privacy, and the one beside it for the worst distance."""
    calls = []

    class Private(LikelihoodRatioSet):
        def fit_set(self, joint):
            calls.append(type(self))
            return super().fit_set(joint)

    class Useful(RenyiBall):
        def fit_set(self, joint):
            calls.append(type(self))
            return super().fit_set(joint)

    sets = {"uncertainty": Private(), "utility_uncertainty": Useful(1)}
    rows = [[s, u] for s in range(2) for u in range(3)] * 9
    RobustMSESanitizer(sensitive=0, **sets).fit(rows)
    assert calls == [Private, Useful]
