"""What docs/proofs.md says of several reports and of known columns, by enumeration alone.

The other statements are tested on the package's own bounds, against brute force and convex solvers.
"""

from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose

UP = 1.0 + 1e-9


def ratio(top, bottom):
    """Greatest quotient, where 0/0 counts as 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nanmax(np.where((top == 0) & (bottom == 0), 1.0, top / bottom))


def everywhere(mechanism):
    """The least E of a mechanism (b, a1, a2), cell by cell."""
    secrets = range(mechanism.shape[1])
    return np.log(
        max(
            ratio(row[s][:, None], row[t][None, :])
            for row in mechanism
            for s, t in permutations(secrets, 2)
        )
    )


def leakage(reports):
    """Log of the greatest ratio of report probabilities (b, a1) of two secrets."""
    return np.log(
        max(
            ratio(reports[:, s], reports[:, t]) for s, t in permutations(range(reports.shape[1]), 2)
        )
    )


def random_mechanism(rng, *shape):
    """Probabilities of b reports, some near 0."""
    return np.moveaxis(rng.dirichlet(np.full(shape[0], 0.6), size=shape[1:]), -1, 0) * 0.98 + (
        0.02 / shape[0]
    )


def test_theorem_27(rng):
    """Persons who share a secret, with any dependence and mechanisms chosen on the way."""
    for _ in range(25):
        together = rng.dirichlet(np.full(27, 0.15), size=2).reshape(2, 3, 3, 3)
        if rng.uniform() < 0.3:  # one record, three reports
            alone = rng.dirichlet(np.ones(3), size=2)
            together = np.zeros((2, 3, 3, 3))
            together[:, range(3), range(3), range(3)] = alone
        # Mechanisms by what was reported before.
        chosen = {
            past: random_mechanism(rng, 2, 2, 3)
            for k in range(3)
            for past in product((0, 1), repeat=k)
        }
        for reports in product((0, 1), repeat=3):
            rows = [chosen[reports[:i]][reports[i]] for i in range(3)]
            likelihood = np.einsum("sabc,sa,sb,sc->s", together, *rows)
            single = [together[0].sum((1, 2)), together[0].sum((0, 2)), together[0].sum((0, 1))]
            other = [together[1].sum((1, 2)), together[1].sum((0, 2)), together[1].sum((0, 1))]
            plain = [np.log((single[i] @ rows[i][0]) / (other[i] @ rows[i][1])) for i in range(3)]
            extreme = [np.log(rows[i][0].max() / rows[i][1].min()) for i in range(3)]
            attained = np.log(likelihood[0] / likelihood[1])
            assert attained <= min(plain[j] - extreme[j] for j in range(3)) + sum(extreme) + 1e-9


def test_two_reports_without_a_bound_over_all_distributions():
    """The counterexamples: a record's second report may tell all, or more than k eps."""
    half = np.array([0.5, 0.5])
    telling = np.stack([np.eye(2), np.full((2, 2), 0.5)], axis=1)  # report, secret, value
    assert_allclose(telling.sum(axis=0), 1.0)
    assert leakage(telling @ half) == 0.0
    twice = np.stack([telling[a] * telling[b] for a, b in product((0, 1), repeat=2)])
    assert leakage(twice @ half) == np.inf
    conditionals = np.array([[0.1, 0.9], [0.01, 0.99]])
    rows = np.repeat(np.array([[0.5, 0.05], [0.5, 0.95]])[:, None], 2, axis=1)
    both = np.stack([rows[a] * rows[b] for a, b in product((0, 1), repeat=2)])
    one, two = (leakage(np.einsum("ysu,su->ys", m, conditionals)) for m in (rows, both))
    assert_allclose([one, two, everywhere(rows)], [0.5557, 1.7007, np.log(10.0)], atol=1e-4)
    assert 2 * one < two < one + everywhere(rows)
    # The bound is attained if the other report is randomised response on the secret.
    secret = (1.0 + np.expm1(1.2) * np.eye(2)) / (1.0 + np.exp(1.2))
    mixed = np.einsum("asu,bs->absu", rows, secret).reshape(4, 2, 2)
    assert_allclose(leakage(np.einsum("ysu,su->ys", mixed, conditionals)), one + 1.2)
    # Reports of persons whose U are independent given S leak no more than k eps.
    independent = np.einsum("asu,su,bsw,sw->abs", rows, conditionals, rows, conditionals)
    assert leakage(independent.reshape(4, 2)) <= 2 * one * UP


def test_theorem_30(rng):
    """Known columns: what they bound, the two counterexamples, and the price of not knowing."""
    for _ in range(30):
        joint = rng.dirichlet(np.ones(12)).reshape(2, 3, 2)  # S, V, W
        if rng.uniform() < 0.5:  # V independent of S
            joint *= (rng.dirichlet(np.ones(3)) / joint.sum(2))[..., None] / 2.0
        mechanism = 0.2 * random_mechanism(rng, 3, 2, 3, 2) + 0.2  # V itself, one time in five
        mechanism += 0.2 * np.eye(3)[:, None, :, None]
        given_v = (mechanism * joint).sum(3) / joint.sum(2)
        known = max(leakage(given_v[:, :, v]) for v in range(3))
        of_v = joint.sum(2) / joint.sum((1, 2))[:, None]
        report = (mechanism * joint).sum((2, 3)) / joint.sum((1, 2))
        tells = np.log(max(ratio(of_v[0], of_v[1]), ratio(of_v[1], of_v[0])))
        assert leakage(report) <= known + tells + 1e-9
        posterior = (mechanism * joint).sum(3)
        odds = posterior[:, 0] / posterior[:, 1] * (joint[1].sum(1) / joint[0].sum(1))
        assert_allclose(np.abs(np.log(odds)).max(), known)
        assert known <= everywhere(mechanism.reshape(3, 2, 6)) + 1e-9
        equal_u = max(leakage(mechanism.reshape(3, 2, 6)[:, :, u]) for u in range(6))
        assert equal_u <= everywhere(mechanism.reshape(3, 2, 6))
    sent = np.stack([np.tile([1.0 - v, v], (2, 1)).T for v in (0.0, 1.0)], axis=2)  # y, s, v
    assert leakage(sent[:, :, 0]) == leakage(sent[:, :, 1]) == 0.0
    assert_allclose(
        leakage(np.einsum("ysv,sv->ys", sent, np.array([[0.1, 0.9], [0.9, 0.1]]))), np.log(9.0)
    )
    xor = np.array([[[float((s ^ v) == y) for v in (0, 1)] for s in (0, 1)] for y in (0, 1)])
    assert leakage(xor.mean(axis=2)) == 0.0
    assert leakage(xor[:, :, 0]) == np.inf


@pytest.fixture
def rng():
    return np.random.default_rng(0)
