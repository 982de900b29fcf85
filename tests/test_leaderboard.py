"""The comparison with other approaches: matrices, measures, and pages drawn from the CSV."""

import sys

import numpy as np
import pytest
from conftest import ROOT

from skrldp import GRRSanitizer, SRRSanitizer, expected_std_error
from skrldp.estimation import expected_std_error_of_mean

sys.path.append(str(ROOT / "benchmarks"))

from leaderboard import measures, page, plain
from leaderboard.approaches import IMPLIED
from leaderboard.registry import APPROACHES
from leaderboard.tables import Task, jeffreys

EPS = 1.0


def pairs(size=2):
    """Two secrets, and two columns of equally many values."""
    truth = np.random.default_rng(0).dirichlet(np.ones(size**3)).reshape(size, -1)
    own = tuple(range(size))
    return Task("pairs", ("s", "u", "v"), (own,) * 3, truth, 10**6, "u", "v", truth[:, ::-1])


def sanitized(kind, task):
    sanitizer = kind(EPS, sensitive="s", categories=[list(own) for own in task.categories])
    return sanitizer.fit(task.rows, sample_weight=task.counts.ravel())


def ratio(matrix):
    """The greatest factor between two cells."""
    table = matrix[matrix.any(axis=1)]
    return table.max(axis=1) / np.where(table.min(axis=1) > 0, table.min(axis=1), np.nan)


def test_errors_are_those_of_the_estimator():
    task = jeffreys()
    mechanism = sanitized(SRRSanitizer, task).mechanism_
    spread = measures.Spread(mechanism.matrix, task.truth)
    shown = {"n": measures.REPORTS, "distribution": task.truth}
    for columns, names in (([1], "u"), ([1, 2], ["u", "v"]), ([0], "s")):
        expected = expected_std_error(mechanism, columns=names, **shown)
        found = spread.errors(measures.indicators(task, columns))
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    found = measures.errors(task, mechanism.matrix)["error_mean_by_s"]
    expected = expected_std_error_of_mean(mechanism, column="u", by="s", **shown)
    assert found == pytest.approx(measures.mean_square(expected), rel=1e-6)
    half = np.full((2, 18), 0.5)
    assert np.isinf(measures.Spread(half, task.truth).errors(np.eye(18))).all()


def test_measures_of_a_report_of_the_secret():
    task = pairs()
    matrix = np.repeat(plain.grr(2, EPS), 4, axis=1)  # of S alone
    found = measures.measured(task, sanitized(GRRSanitizer, task).mechanism_)
    assert found["eps_proven"] <= found["eps_worst_case"] <= EPS
    told = measures.leakage(task, matrix)
    assert told == {**told, "eps_true": pytest.approx(EPS), "eps_shifted": pytest.approx(EPS)}
    assert told["eps_knows_column"] == pytest.approx(EPS)
    assert told["eps_two_reports"] == pytest.approx(2 * EPS)
    p = np.exp(EPS) / (1 + np.exp(EPS))
    assert measures.attack(matrix, task.truth)["attack_auc"] == pytest.approx(p)
    assert measures.attack(matrix, np.full((2, 4), 1 / 8))["attack_success"] == pytest.approx(p)
    assert measures.information(task, np.eye(8))["readable"] == pytest.approx(1.0)
    np.testing.assert_allclose(measures.estimate(np.eye(8), np.arange(8)), np.arange(8) / 28)


def test_plain_mechanisms():
    task = pairs()
    np.testing.assert_allclose(
        plain.grr(8, EPS), sanitized(GRRSanitizer, task).mechanism_.matrix, atol=1e-8
    )
    q = 1 / (np.exp(EPS) + 1)
    for k in (4, 16):  # listed, and a sample
        matrix = plain.oue(k, EPS)
        matrix = matrix / matrix.sum(axis=0)
        assert np.nanmax(ratio(matrix)) == pytest.approx(np.exp(EPS))
        bits = matrix > matrix.min(axis=1, keepdims=True) * 1.5
        assert (bits * matrix).sum(axis=0) == pytest.approx(0.5, abs=0.01)  # one's own bit is on
        shown = (bits[:, [0]] * matrix[:, 1:]).sum(axis=0)
        assert shown.mean() == pytest.approx(q, abs=0.01)  # another's
        matrix, d = plain.subset_selection(k, EPS), max(1, round(q * k))
        subsets = matrix > 1.5 * matrix.min(axis=1, keepdims=True)
        assert (subsets.sum(axis=1) == d).all()
        own = d * np.exp(EPS) / (d * np.exp(EPS) + k - d)
        assert (subsets * matrix).sum(axis=0) == pytest.approx(own)
    for approach in (plain.OLH(), plain.SPL(), plain.SMP(), plain.CorrRR()):
        mechanism = approach.design(task, EPS)
        assert np.log(np.nanmax(ratio(mechanism.matrix))) == pytest.approx(EPS, rel=1e-6)


def test_pages_are_drawn_from_the_csv():
    results = page.Results(page.read())
    for path in page.PAGES:
        text = path.read_text(encoding="utf-8")
        assert page.MARKED.search(text)
        assert page.drawn(text, results) == text, "python -m leaderboard.page, in benchmarks"
    names = [one.name for one in APPROACHES]
    assert list(results.approaches) == names
    for row in results.rows:  # what is proven is what was asked
        if row["source"] == "skrldp" and row["promise"] in IMPLIED[:3]:
            assert not row["eps_proven"] > row["eps"]
