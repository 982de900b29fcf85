"""The estimator's fit takes effect all at once, or not at all."""

import sys
import warnings

import numpy as np
import pytest
from fits_of_counts import searched
from sklearn.exceptions import ConvergenceWarning

from skrldp import FrequencyEstimator, Mechanism
from skrldp.estimation import _estimator

FEW = Mechanism.from_matrix((np.eye(4) + 0.5) / 3, (0, 1), (0, 1))
MANY = Mechanism.from_matrix((np.eye(6) + 0.5) / 4, (0, 1), (0, 1, 2))


class Stopped(BaseException):
    """Stands for KeyboardInterrupt."""


def stop_at(lines):
    """Raise once that many lines of `fit` have run."""
    left = [lines]

    def trace(frame, event, argument):
        if frame.f_code.co_filename != _estimator.__file__ or frame.f_code.co_name != "fit":
            return None
        if event == "line":
            left[0] -= 1
            if left[0] < 0:
                raise Stopped
        return trace

    return trace


def test_an_interrupted_fit_leaves_one_fit_whole():
    seen, before = set(), sys.gettrace()
    for lines in range(100):
        estimator = FrequencyEstimator(FEW, encode="symbol").fit(range(4))
        estimator.set_params(mechanism=MANY)
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
        assert estimator.n_reports_ == estimator.counts_.sum() == {4: 4, 6: 18}[n]
        assert estimator.mechanism_.shape[0] == estimator.rank_ == estimator.frequencies_.size == n
        assert len(estimator.marginal().frequencies) == n
        if not stopped:
            break
    assert not stopped and seen == {4, 6}


def test_a_warning_that_is_an_error_changes_nothing():
    estimator = FrequencyEstimator(FEW, "ml", encode="symbol").fit(range(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with searched(max_steps=1), pytest.raises(ConvergenceWarning):
            estimator.fit(range(4), sample_weight=[9, 1, 1, 1])
    assert estimator.n_reports_ == 4


def test_names_of_an_earlier_fit_are_forgotten():
    pd = pytest.importorskip("pandas")
    estimator = FrequencyEstimator(FEW, encode="symbol").fit(pd.DataFrame({"report": range(4)}))
    assert estimator.feature_names_in_.tolist() == ["report"]
    assert not hasattr(estimator.fit(range(4)), "feature_names_in_")


@pytest.mark.parametrize("n_cells", [4, 6])
def test_a_time_limit_ends_the_likelihood(n_cells):
    """What has been found by then is a distribution, with a bound on what is left to gain."""
    mechanism = {4: FEW, 6: MANY}[n_cells]
    counts = np.round(300 * mechanism.matrix @ (np.arange(n_cells) == 0))
    best = FrequencyEstimator(mechanism, "ml", encode="symbol").fit(range(n_cells), None, counts)
    hasty = FrequencyEstimator(mechanism, "ml", encode="symbol", time_limit=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"time limit of 1e-09 s.*time_limit"):
        hasty.fit(range(n_cells), sample_weight=counts)
    assert hasty.n_iter_ < best.n_iter_ and hasty.frequencies_.sum() == pytest.approx(1.0)
    left = [e.score(range(n_cells), sample_weight=counts) for e in (best, hasty)]
    assert 0.0 < left[0] - left[1] <= hasty.gap_
    for bad in (0, -1, "1", np.nan, True):
        with pytest.raises(ValueError, match=r"time_limit=.* must be a positive number of seconds"):
            hasty.set_params(time_limit=bad).fit(range(n_cells))
    assert hasty.set_params(time_limit=None).fit(range(n_cells), None, counts).gap_ <= 1e-10
