"""The estimator's fit takes effect all at once, or not at all."""

import sys
from copy import copy

import numpy as np

from skrldp import FrequencyEstimator, Mechanism
from skrldp.estimation import estimator as module

FEW = Mechanism.from_matrix((np.eye(4) + 0.5) / 3, (0, 1), (0, 1))
MANY = Mechanism.from_matrix((np.eye(6) + 0.5) / 4, (0, 1), (0, 1, 2))


class Stopped(BaseException):
    """Stands for KeyboardInterrupt."""


def stop_at(lines):
    """Raise once that many lines of `fit` have run."""
    left = [lines]

    def trace(frame, event, argument):
        if frame.f_code.co_filename != module.__file__ or frame.f_code.co_name != "fit":
            return None
        if event == "line":
            left[0] -= 1
            if left[0] < 0:
                raise Stopped
        return trace

    return trace


def test_an_interrupted_fit_leaves_one_fit_whole():
    seen, before = set(), sys.gettrace()
    fitted = FrequencyEstimator(FEW, encode="symbol").fit(range(4), sample_weight=[2] * 4)
    for lines in range(100):
        estimator = copy(fitted).set_params(mechanism=MANY)
        sys.settrace(stop_at(lines))
        try:
            estimator.fit(range(6), sample_weight=[3] * 6)
            stopped = False
        except Stopped:
            stopped = True
        finally:
            sys.settrace(before)
        n = len(estimator.counts_)
        seen.add(n)
        assert estimator.n_reports_ == estimator.counts_.sum() == {4: 8, 6: 18}[n]
        assert estimator.mechanism_.shape[0] == estimator.frequencies_.size == n
        assert len(estimator.marginal().estimate) == n
        if not stopped:
            break
    assert not stopped and seen == {4, 6}
