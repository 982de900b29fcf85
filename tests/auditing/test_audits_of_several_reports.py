"""Audits of k reports about each person: bounds below the exact leakage, and above one report's.

Randomness from the operating system is replaced by a fixed generator, so that every test is
deterministic. Where a test is statistical, the comment gives its chance to fail for a fresh seed.
"""

import copy
import itertools
import os

import numpy as np
import pytest

from skrldp import (
    GRRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    Mechanism,
    PolyOptSanitizer,
    RenyiBall,
    SRRSanitizer,
    audit,
    certify,
)
from skrldp.auditing import _repeated_reports
from skrldp.auditing._claims import claim_at
from skrldp.auditing._repeated_reports import RepeatedReports, repeated_leakage
from skrldp.auditing._subject import SanitizerSubject

pytestmark = pytest.mark.usefixtures("fixed_entropy")

ROWS = [(ill, visits) for ill in ("no", "yes") for visits in ("0", "1-2", "3+")]
COUNTS = np.array([[2_700, 1_050, 250], [300, 450, 250]])
DISTRIBUTION = JointDistribution(COUNTS, ["no", "yes"], ["0", "1-2", "3+"])
OUTSIDE = np.array([[0.49, 0.005, 0.005], [0.005, 0.005, 0.49]])


def fitted(cls, **parameters):
    return cls(eps=1.0, **parameters).fit(ROWS, sample_weight=COUNTS.ravel())


@pytest.fixture(scope="module")
def polyopt():
    return fitted(PolyOptSanitizer, uncertainty=LikelihoodRatioSet(region="lower"))


def in_order(matrix, k):
    """Probabilities of k reports in each order, shape (b**k, a): independent given the cell."""
    rows = itertools.product(matrix, repeat=k)
    return np.array([np.prod(several, axis=0) for several in rows])


def leakage_in_order(mechanism, distribution, k):
    cells = in_order(mechanism.matrix, k).reshape(-1, *distribution.shape)
    conditionals = distribution / distribution.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.einsum("ysu,su->ys", cells, conditionals))
        return np.nanmax(logs[:, :, None] - logs[:, None, :])


# --- The exact numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize(("b", "a1", "a2", "k"), [(3, 2, 3, 1), (4, 3, 2, 3), (2, 2, 2, 5)])
@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_multisets_leak_what_reports_in_order_leak(b, a1, a2, k, zeros):
    rng = np.random.default_rng([b, k, zeros])
    matrix = rng.dirichlet(np.ones(b), a1 * a2).T
    matrix[0, :zeros] = 0.0
    mechanism = Mechanism.from_matrix(matrix / matrix.sum(axis=0), range(a1), range(a2))
    distribution = rng.dirichlet(np.ones(a1 * a2)).reshape(a1, a2)
    expected = leakage_in_order(mechanism, distribution, k)
    assert np.isinf(expected) == (zeros >= a2)
    assert repeated_leakage(mechanism, distribution, k) == pytest.approx(expected, rel=1e-12)
    alone = np.vstack([distribution, np.zeros((1, a2))])  # a secret without mass is left out
    larger = Mechanism.from_matrix(
        np.hstack([mechanism.matrix, np.eye(b)[:, :1].repeat(a2, axis=1)]), range(a1 + 1), range(a2)
    )
    assert repeated_leakage(larger, alone, k) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("encode", ["symbol", "cells"])
def test_probabilities_of_outcomes(encode, polyopt, monkeypatch):
    """Listed or only seen, an outcome has the probability of all its orders; the sum is 1."""
    sanitizer = copy.copy(polyopt).set_params(encode=encode)
    conditionals = DISTRIBUTION.conditionals
    subject = SanitizerSubject.of(sanitizer)
    listed = RepeatedReports(subject, 3)
    probabilities = listed.report_distribution(conditionals)
    np.testing.assert_allclose(probabilities.sum(axis=0), 1.0, rtol=1e-12)
    matrix = np.zeros((len(subject.index), 6))
    np.add.at(matrix, subject.symbols, sanitizer.mechanism_.matrix)
    ordered = in_order(matrix, 3).reshape(-1, 2, 3)
    ordered = np.einsum("ysu,su->ys", ordered, conditionals)
    several = [sorted(numbers) for numbers in itertools.product(range(len(matrix)), repeat=3)]
    expected = {}
    for numbers, row in zip(several, ordered, strict=True):
        names = tuple(subject.row(number) for number in numbers)
        expected[names] = expected.get(names, 0.0) + row
    found = {listed.row(place): row for place, row in enumerate(probabilities)}
    assert found.keys() == expected.keys()
    for names, row in found.items():
        np.testing.assert_allclose(row, expected[names], rtol=1e-9)
    monkeypatch.setattr(_repeated_reports, "_MOST_OUTCOMES", 1)
    seen = RepeatedReports(subject, 3)
    assert not len(seen.known_reports())
    numbers = seen.reports(np.arange(6).repeat(5))
    known = seen.known_reports()
    assert set(numbers) == set(known) and len(known) < len(found)
    for place, row in zip(known, seen.report_distribution(conditionals), strict=True):
        np.testing.assert_allclose(row, expected[seen.row(place)], rtol=1e-9)
    monkeypatch.setattr(_repeated_reports, "_MATRIX", 35)
    unknown = RepeatedReports(subject, 3)
    assert unknown.report_distribution(conditionals) is None and not len(unknown.known_reports())


# --- Sanitizers ----------------------------------------------------------------------------------


def test_two_reports_of_a_narrow_promise(polyopt):
    """False alarms: at most 1e-3. Misses: below 1e-9, since the leakage is 21 nats."""
    found = audit(polyopt, n=20_000, level=0.999, reports=2, random_state=0)
    proven = certify(polyopt.mechanism_, polyopt.uncertainty_, polyopt.joint_, reports=2)
    assert found.passed, str(found)
    assert 4.0 < found.eps <= found.eps_claimed == proven.eps
    broken = audit(polyopt, n=20_000, eps=1.0, level=0.999, reports=2, random_state=0)
    assert [check.name for check in broken.findings] == ["bound"]
    assert "by more than the claim of 2 reports about each person" in broken.findings[0].message


@pytest.mark.parametrize(
    ("limits", "least"),
    [({}, 1.4), ({"_MOST_OUTCOMES": 1}, 1.4), ({"_MATRIX": 1}, 1.2)],
)
@pytest.mark.parametrize("cls", [GRRSanitizer, SRRSanitizer])
def test_reports_that_are_private_over_all_distributions(cls, limits, least, monkeypatch):
    """At most 2 eps, whether or not the outcomes can be listed. False alarms: at most 1e-3."""
    for name, value in limits.items():
        monkeypatch.setattr(_repeated_reports, name, value)
    found = audit(fitted(cls), n=20_000, eps=2.0, level=0.999, reports=2, calls=10, random_state=0)
    assert found.passed, str(found)
    assert least < found.eps <= 2.0


def test_claims_outside_the_set(polyopt, monkeypatch):
    """What k reports leak there exactly; or else k times the bound over all distributions."""
    leaks = leakage_in_order(polyopt.mechanism_, OUTSIDE, 2)
    found = audit(polyopt, n=5_000, distribution=OUTSIDE, level=0.999, reports=2, random_state=0)
    assert found.passed and found.eps_claimed == pytest.approx(leaks, rel=1e-12)
    grr = fitted(GRRSanitizer)
    certificate = certify(grr.mechanism_, RenyiBall(radius=1e-4), grr.joint_, reports=3)
    assert not certificate.uncertainty.contains(grr.joint_, OUTSIDE)
    exact = leakage_in_order(grr.mechanism_, OUTSIDE, 3)
    assert claim_at(grr, certificate, OUTSIDE) == pytest.approx(exact, rel=1e-12)
    assert claim_at(grr, certificate, grr.joint_.probabilities) == certificate.eps
    monkeypatch.setattr(_repeated_reports, "_MOST_OUTCOMES", 1)
    assert exact < claim_at(grr, certificate, OUTSIDE) == pytest.approx(3.0)
    single = certify(polyopt.mechanism_, polyopt.uncertainty_, polyopt.joint_)
    twice = certify(polyopt.mechanism_, polyopt.uncertainty_, polyopt.joint_, reports=2)
    expected = 2 * single.eps_all
    assert claim_at(polyopt, twice, OUTSIDE) == pytest.approx(expected)


# --- Functions -----------------------------------------------------------------------------------


def response(records):
    """Randomised response to the secret alone: one report leaks log 3, two leak 2 log 3."""
    rng = np.random.default_rng(list(os.urandom(16)))
    return (records[:, 0] == "yes") ^ (rng.random(len(records)) < 0.25)


def permanent():
    """The same, but whoever is asked again at once gives the same answer."""
    asked, answers = None, None

    def answer(records):
        nonlocal asked, answers
        if asked is None or not np.array_equal(asked, records):
            asked, answers = records.copy(), response(records)
        return answers

    return answer


def test_permanent_reports_leak_what_one_leaks():
    """Claims are broken wrongly, or bounds are too weak, with probability below 1e-3 each."""
    options = {"n": 20_000, "distribution": DISTRIBUTION, "level": 0.999, "random_state": 0}
    fresh = audit(response, reports=2, eps=2 * np.log(3.0), **options)
    assert fresh.passed and 1.7 < fresh.eps <= 2 * np.log(3.0)
    assert set(fresh.event) == {(True, True)} or set(fresh.event) == {(False, False)}
    same = audit(permanent(), reports=2, eps=np.log(3.0), **options)
    assert [check.name for check in same.findings] == ["repeats"]
    assert 0.9 < same.eps <= np.log(3.0)
    assert all(first == second for first, second in same.event)


def test_one_report_is_the_default():
    options = {"n": 3_000, "distribution": DISTRIBUTION, "random_state": 5}
    one, two = (
        audit(lambda records: records[:, 1], **options, **more) for more in ({}, {"reports": 1})
    )
    assert str(one) == str(two) and one.event == two.event
    assert (one.reports, two.reports) == (1, 1)
    assert "about each person" not in str(one) + repr(one)


# --- The object, and bad input -------------------------------------------------------------------


def test_the_result_says_how_many_reports():
    found = audit(response, n=5_000, distribution=DISTRIBUTION, eps=0.1, reports=3, random_state=0)
    assert found.reports == 3 and {len(outcome) for outcome in found.event} == {3}
    said = "of 3 reports about each person"
    assert f"nats {said} (estimate" in " ".join(str(found).split())
    assert said in repr(found) and said in found._repr_html_()
    assert ("combinations of reports" in str(found)) == (len(found.event) > 1)


@pytest.mark.parametrize("reports", [0, -1, 1.5, 2.0, True, "two", None, np.nan])
def test_bad_numbers_of_reports(reports):
    with pytest.raises(ValueError, match=rf"reports={reports!r} must be a whole number >= 1"):
        audit(response, distribution=DISTRIBUTION, reports=reports)
