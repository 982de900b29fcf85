"""Fits that begin at a known mechanism."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from skrldp import (
    AOptimalSanitizer,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RenyiBall,
    RobustMSESanitizer,
)
from skrldp.display import PrivacyUtilityDisplay

# Random tables of few records may warn of their sets.
pytestmark = pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")

COUNTS = np.array([[300, 200, 100], [150, 250, 500]])
X = [[s, u] for s in ("no", "yes") for u in (0, 1, 2)]
BALL = RenyiBall(alpha=2)
SANITIZERS = [
    PolyOptSanitizer(uncertainty=BALL, max_iter=40),
    PolyOptSanitizer(uncertainty=BALL, solver="alternation", max_iter=40),
    AOptimalSanitizer(uncertainty=BALL, solver="decomposition", max_iter=25),
    NonRobustSanitizer(eps_all=2.0),
    RobustMSESanitizer(uncertainty=BALL),
]


def fitted(sanitizer, **parameters):
    copy = clone(sanitizer).set_params(**parameters)
    return copy.fit(X, sample_weight=COUNTS.ravel())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # max_iter above
@pytest.mark.parametrize("sanitizer", SANITIZERS, ids=lambda s: f"{type(s).__name__}-{s.solver}")
def test_a_warm_fit_is_proven_and_no_worse_than_where_it_began(sanitizer):
    first = fitted(sanitizer, eps=0.5)
    warm = pickle.loads(pickle.dumps(clone(sanitizer).set_params(warm_start=first.mechanism_)))
    assert warm.get_params()["warm_start"].digest == first.mechanism_.digest
    warm = fitted(warm, eps=1.0)
    assert warm.certificate_.holds(1.0)
    table = np.repeat(X, COUNTS.ravel(), axis=0).astype(object)
    table[:, 1] = table[:, 1].astype(int)
    assert warm.score(table) >= first.score(table) - 1e-6  # what was private at .5 is at 1
    assert fitted(sanitizer, eps=0.5, warm_start=warm.mechanism_).certificate_.holds(0.5)


def test_true_goes_on_from_the_last_fit():
    sanitizer = PolyOptSanitizer(
        0.5, uncertainty=BALL, solver="columns", observe="nonsensitive", warm_start=True
    )
    first = sanitizer.fit(X, sample_weight=COUNTS.ravel()).mechanism_
    assert first.digest == fitted(sanitizer, warm_start=False).mechanism_.digest  # nothing before
    given = fitted(sanitizer, eps=1.0, warm_start=first)
    sanitizer.set_params(eps=1.0).fit(X, sample_weight=COUNTS.ravel())
    assert sanitizer.mechanism_.digest == given.mechanism_.digest  # a function of its input
    assert "_fitted" not in vars(clone(sanitizer))


def test_alphabets_in_another_order():
    """The same mechanism, whatever the order of secrets and values."""
    sanitizer = RobustMSESanitizer(uncertainty=BALL, categories=[["yes", "no"], [2, 1, 0]])
    turned = fitted(sanitizer)
    plain = fitted(RobustMSESanitizer(uncertainty=BALL), warm_start=turned.mechanism_)
    assert plain.distortion_ == pytest.approx(turned.distortion_, rel=1e-3)


def test_what_does_not_fit_is_refused():
    first = fitted(RobustMSESanitizer(uncertainty=BALL))
    less = [[s, u] for s, u in X if u != 2]
    for sanitizer, whose in (
        (RobustMSESanitizer(uncertainty=BALL, warm_start=first.mechanism_), "`warm_start`"),
        (clone(first).set_params(warm_start=True).fit(X, sample_weight=COUNTS.ravel()), "last fit"),
    ):
        with pytest.raises(ValueError, match=rf"{whose}.*values of U \(3 and 2\).*categories"):
            sanitizer.fit(less, sample_weight=[10, 20, 30, 40])
    with pytest.raises(ValueError, match="warm_start must be False, True"):
        RobustMSESanitizer(warm_start="yes").fit(X, sample_weight=COUNTS.ravel())


def test_a_grid_search_begins_at_one_mechanism():
    table = np.repeat(np.array(X, dtype=object), COUNTS.ravel() // 5, axis=0)
    first = RobustMSESanitizer(uncertainty=BALL).fit(table)
    search = GridSearchCV(
        clone(first).set_params(warm_start=first.mechanism_),
        {"eps": [0.5, 1.0]},
        cv=KFold(2, shuffle=True, random_state=0),
        error_score="raise",
    ).fit(table)
    assert search.best_params_ == {"eps": 1.0}


def test_a_display_goes_along_eps(monkeypatch):
    pytest.importorskip("matplotlib")
    began = []
    fit = RobustMSESanitizer.fit
    monkeypatch.setattr(
        RobustMSESanitizer,
        "fit",
        lambda self, *args, **kwargs: (
            began.append((self.eps, hasattr(self, "mechanism_"))),
            fit(self, *args, **kwargs),
        )[1],
    )
    sanitizer = RobustMSESanitizer(uncertainty=BALL, warm_start=True)
    PrivacyUtilityDisplay.from_table(
        sanitizer, X, eps=(1.0, 0.5), sample_weight=COUNTS.ravel(), baselines=False
    )
    assert began == [(0.5, False), (1.0, True)]
    assert not hasattr(sanitizer, "mechanism_")
