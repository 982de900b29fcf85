"""The comparison with other approaches: matrices, measures, and pages drawn from the CSV."""

import sys

import numpy as np
import pytest
from conftest import ROOT

from skrldp import GRRSanitizer, SRRSanitizer, certify, expected_std_error
from skrldp.estimation import expected_std_error_of_mean
from skrldp.information import mutual_information
from skrldp.sets.parameter_objects import AllDistributions

sys.path.append(str(ROOT / "benchmarks"))

from leaderboard import known, measures, page, plain, runs
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


def test_fake_values_hide_less_than_they_say():
    """RS+FD raises ε as if records differed in one column; those that differ in all tell more."""
    task, amplified = pairs(), np.log(3 * (np.exp(EPS) - 1) + 1)
    proof = certify(plain.RSFD().design(task, EPS), AllDistributions(), task.joint)
    assert proof.eps_worst_case == pytest.approx(amplified, rel=1e-6)
    assert amplified > 1.8 * EPS
    # With fake values of the public margins each column is reported as by GRR with these priors.
    uniform, realistic = (one.matrix(task, EPS) for one in (plain.RSFD(), plain.RSRFD()))
    assert realistic.sum(axis=0) == pytest.approx(1.0)
    weights = task.counts.ravel() / task.counts.sum()
    for place, size in enumerate(plain.sizes_of(task)):
        of = np.eye(size)[task.codes[:, place]].T
        own = plain.grr(size, amplified) @ of / 3 + 2 / 3 * (of @ weights)[:, None]
        assert of @ realistic == pytest.approx(own)
        own = plain.grr(size, amplified) @ of / 3 + 2 / 3 / size
        assert of @ uniform == pytest.approx(own)


def test_posteriors_within_bounds():
    prior, eps = np.array([0.5, 0.3, 0.2]), 0.1
    found = known.most_informative(prior, np.zeros(3), np.exp(eps) * prior)
    closed = np.tile(np.exp(eps) * prior[:, None], 3)  # Grosse and others, high privacy
    np.fill_diagonal(closed, 1 - np.exp(eps) * (1 - prior))
    assert mutual_information(found, prior) == pytest.approx(mutual_information(closed, prior))
    task = pairs(3)
    of_s = task.counts.sum(axis=1) / task.counts.sum()
    public = task.counts / task.counts.sum()
    for approach, low in (
        (known.PointwiseMaximalLeakage(), 0.0),
        (known.LocalInformationPrivacy(), np.exp(-0.2)),
    ):
        told = measures.given_secret(approach.design(task, 0.2).matrix, public)
        lift = told / (told @ of_s)[:, None]
        assert lift.max() == pytest.approx(np.exp(0.2), abs=1e-4)
        assert lift.min() >= low - 1e-4


def test_results_are_kept_and_failures_have_reasons(tmp_path):
    approach = {one.name: one for one in APPROACHES}
    todo = [runs.Run(approach[name], jeffreys(), EPS) for name in ("SMP", "Corr-RR")]
    kept = runs.Kept(tmp_path / "kept.jsonl")
    for run, found in runs.results(todo, processes=2, seconds=60):
        kept.keep(run, found)
    again = runs.Kept(tmp_path / "kept.jsonl")
    rows = [runs.row_of(run, again.of(run)) for run in todo]
    assert rows[0]["eps_worst_case"] == "1"
    assert "different numbers of categories" in rows[1]["failed"]
    assert again.of(todo[0]._replace(eps=2.0)) is None


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
