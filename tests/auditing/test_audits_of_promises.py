"""Audits of columns by themselves, within known values, and of the pairs that have a bound.

Randomness from the operating system is replaced by a fixed generator, so that every test is
deterministic. With fresh seeds an audit of a correct sanitizer fails with probability 1e-4.
"""

import functools
import itertools

import numpy as np
import pytest

from skrldp import RenyiBall, RobustMSESanitizer, audit, certify

pytestmark = pytest.mark.usefixtures("fixed_entropy")

CELLS = list(itertools.product(("no", "yes"), ("p", "q", "r"), (0, 1)))
COUNTS = [90, 40, 30, 70, 20, 60, 35, 80, 85, 25, 55, 45]
NAMES = "0", "1"  # of the columns, as certificates write them


@functools.cache
def fitted(**options):
    options = {name: list(v) if isinstance(v, tuple) else v for name, v in options.items()}
    options = {"distance": "hamming", "robust_utility": False, **options}
    found = RobustMSESanitizer(uncertainty=RenyiBall(1.0, radius=0.01), **options)
    return found.fit(CELLS, sample_weight=COUNTS)


def audited(sanitizer, **options):
    return audit(sanitizer, n=20_000, level=0.9999, calls=10, random_state=0, **options)


def test_columns_that_are_protected_by_themselves():
    sanitizer = fitted(eps=0.4, sensitive=(0, 1), protect="each")
    found = audited(sanitizer)
    assert found.passed and found.about in ("values of '0'", "values of '1'")
    column = int(found.about[-2])
    assert set(found.secrets) <= set(list(zip(*CELLS, strict=True))[column])
    assert found.eps_claimed == sanitizer.certificate_.each[NAMES[column]].eps
    assert found.eps > 0.1
    # Both columns together are told apart by more, which nobody promised.
    assert sanitizer.mechanism_.leakage(sanitizer.joint_.probabilities) > 0.45
    # A smaller claim is about the columns too.
    lower = audited(sanitizer, eps=0.05)
    assert lower.about and {check.name for check in lower.findings} == {"bound"}


class Noiseless(RobustMSESanitizer):
    """Sends a third of the records as they are."""

    def transform(self, X):
        reports = super().transform(X)
        bare = np.random.default_rng(0).random(len(reports)) < 1 / 3
        reports[bare] = np.asarray(X, dtype=object)[bare][:, 1:]
        return reports


def test_within_what_is_known():
    sanitizer = fitted(eps=2.0, sensitive=0, known=(1,), eps_known=0.05)
    found = audited(sanitizer)
    assert found.passed and found.secrets in (("no", "yes"), ("yes", "no"))
    faulty = Noiseless.__new__(Noiseless)
    faulty.__dict__.update(sanitizer.__dict__)
    wrong = audited(faulty)
    bound = next(check for check in wrong.findings if check.name == "bound")
    assert wrong.about in {f"among those with 1 = {value!r}" for value in "pqr"}
    assert wrong.about in bound.message
    assert wrong.eps_claimed == sanitizer.certificate_.known.eps <= 0.05 < wrong.eps


def test_several_reports_within_what_is_known():
    sanitizer = fitted(eps=2.0, sensitive=0, known=(1,), eps_known=0.05, eps_all=2.0)
    within = sanitizer.certificate_.known
    found = audited(sanitizer, reports=2)
    assert found.passed
    plain = certify(sanitizer.mechanism_, sanitizer.uncertainty_, sanitizer.joint_, reports=2).eps
    assert found.eps_claimed == (within.eps + within.eps_all if found.about else plain)
    each = fitted(eps=0.4, sensitive=(0, 1), protect="each")
    found = audited(each, reports=2)
    own = each.certificate_.each[found.about[-2]]
    assert found.passed and found.eps_claimed == own.eps + own.eps_all


def test_pairs_that_are_not_compared_raise_no_alarm():
    pairs = {("p", "q"): 0.3, ("q", "r"): 0.6, ("p", "r"): np.inf}

    def fit(eps):
        found = RobustMSESanitizer(eps, sensitive=1, distance="hamming", robust_utility=False)
        return found.fit(CELLS, sample_weight=COUNTS)

    sanitizer = fit(pairs)
    found = audited(sanitizer)
    assert found.passed and set(found.secrets) != {"p", "r"}
    places = [sanitizer.joint_.secrets.index(secret) for secret in found.secrets]
    assert found.eps_claimed == sanitizer.certificate_.eps_pairs[tuple(places)]
    only = np.array(sanitizer.joint_.counts, dtype=float)
    only[sanitizer.joint_.secrets.index("q")] = 0.0
    with pytest.raises(ValueError, match="to no two that the sanitizer protects"):
        audited(sanitizer, distribution=only)
