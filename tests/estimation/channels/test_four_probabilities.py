"""Systems and likelihoods of mechanisms that four probabilities give."""

from dataclasses import replace

import numpy as np
import pytest

from skrldp import FrequencyEstimator, GRRSanitizer, IRSanitizer, Mechanism, SRRSanitizer
from skrldp.estimation import _estimator
from skrldp.estimation.channels._channels import BlockChannel, DenseChannel, channel_of
from skrldp.estimation.channels._four_numbers import FourNumbers, _Columns
from skrldp.estimation.likelihood._convex_functions import log_likelihood

FOURS = ((0.5, 0.1, 0.1, 0.1), (0.5, 0.2, 0.1, 0.1), (0.5, 0.1, 0.2, 0.1), (0.5, 0.2, 0.15, 0.1))


@pytest.mark.parametrize("four", FOURS)
@pytest.mark.parametrize("shape", [(2, 5), (5, 2), (3, 3), (1, 4), (4, 1)])
def test_systems_are_those_of_the_matrix(shape, four):
    blocks, a = FourNumbers.from_entries(shape, four), shape[0] * shape[1]
    matrix, rng = blocks.apply(np.eye(a)) - four[3], np.random.default_rng(a)
    heights, sides = rng.uniform(0.1, 5.0, (3, a)), rng.normal(size=(3, 4, a))
    heights[:, 0] = 0.0
    ratio = 10.0 ** rng.uniform(-6.0, 6.0, (3, a))
    for place, found in enumerate(blocks.solved(heights, ratio, sides)):
        whole = (matrix.T * heights[place]) @ matrix + np.diag(ratio[place])
        expected = np.linalg.solve(whole, sides[place].T).T
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())


def test_derivatives():
    channel = BlockChannel((1, 3), (0.6, 0.2, 0.6, 0.2))
    relative = log_likelihood(channel, np.array([2.0, 0.0, 0.5]), np.full(3, 0.3))
    function = replace(relative, offset=0.1)
    points = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    curvature = np.zeros((2, 3, 3))
    function.add_curvature(points, np.array([1.0, 2.0]), curvature)
    for axis, step in enumerate(1e-5 * np.eye(3)):
        rise = (function.value(points + step) - function.value(points - step)) / 2e-5
        np.testing.assert_allclose(function.slope(points)[:, axis], rise, atol=1e-7)
        bend = (function.slope(points + step) - function.slope(points - step)) / 2e-5
        np.testing.assert_allclose(curvature[:, :, axis], bend * [[1.0], [2.0]], atol=1e-5)


@pytest.mark.parametrize("sanitizer", [GRRSanitizer, SRRSanitizer, IRSanitizer])
@pytest.mark.parametrize("shape", [(2, 4), (7, 2)])
def test_fits_and_intervals_are_those_of_the_matrix(sanitizer, shape, monkeypatch):
    cells = [[s, u] for s in range(shape[0]) for u in range(shape[1])]
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.full(len(cells), 0.7))
    made = sanitizer(1.0, sensitive=0).fit(cells, sample_weight=np.ceil(1e3 * shares).astype(int))
    mechanism = made.mechanism_
    assert isinstance(channel_of(mechanism), BlockChannel)
    counts = rng.multinomial(3000, mechanism.matrix @ shares)

    def figures():
        fitted = FrequencyEstimator(mechanism).fit(range(len(counts)), sample_weight=counts)
        of_u = fitted.marginal(part="nonsensitive")
        ends = fitted._fit.region.ends(np.eye(len(cells)), 2.0)
        return fitted.frequencies_, fitted.std_error_, of_u.std_error, ends

    found = figures()
    monkeypatch.setattr(_estimator, "channel_of", lambda own, **_: DenseChannel(own.matrix))
    for quick, slow in zip(found, figures(), strict=True):
        np.testing.assert_allclose(quick, slow, atol=2e-6)


def test_other_matrices_are_not_taken_for_four_probabilities():
    matrix = np.full((4, 4), 0.2) + 0.2 * np.eye(4)
    assert isinstance(channel_of(Mechanism.from_matrix(matrix, range(2), range(2))), BlockChannel)
    matrix[:2, 0] += [1e-6, -1e-6]
    assert isinstance(channel_of(Mechanism.from_matrix(matrix, range(2), range(2))), DenseChannel)
    added = FourNumbers((2, 2), (1.0, 0.3, 0.3, 0.0)).apply(np.eye(4))  # best weights are not fixed
    assert isinstance(channel_of(Mechanism.from_matrix(added, range(2), range(2))), DenseChannel)


@pytest.mark.parametrize("large", [1.0, 1e8, 1e16])
def test_systems_of_a_singular_matrix(large):
    """The constants are an eigenvector of 0: what the determinant is made of cancels to nothing."""
    heights, ratio = large * np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 0.5, 2.0, 1.0])
    columns = _Columns(heights.reshape(1, 1, 4, 1), ratio.reshape(1, 1, 4, 1), 1.0, -0.25, 0.0)
    found = columns.solved(np.ones((1, 1, 4, 1))).ravel()
    # B 1 = 0, so what is solved for is the sides' mean over that of the ratio, as D grows
    matrix = np.eye(4) - 0.25
    if large == 1.0:
        expected = np.linalg.solve((matrix * heights) @ matrix + np.diag(ratio), np.ones(4))
    else:
        expected = np.full(4, 4.0 / ratio.sum())
    np.testing.assert_allclose(found, expected, rtol=1e-7)
