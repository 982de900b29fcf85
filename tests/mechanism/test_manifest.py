"""Manifests: several mechanisms as one leak and sample as the pair of block and report.

Texts that are refused are vectors of all readers (``tests/client/test_same_in_javascript.py``).
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from block_tables import fitted_blocks
from hypothesis import given
from hypothesis import strategies as st

from skrldp import Manifest, Mechanism

MANIFEST = fitted_blocks().manifest_
TEXT = MANIFEST.to_json()


def mechanism(name):
    made = Mechanism.from_matrix(np.full((2, 4), 0.5), ("no", "yes"), ("x", "y"))
    return made.named(None, [("ill", True), (name, False)])


@pytest.mark.parametrize("shares", [[0.5, 0.6], [1.5, -0.5], [np.nan, 1.0], [1.0], []])
def test_shares_are_a_distribution(shares):
    parts = [mechanism("a"), mechanism("b")]
    with pytest.raises(ValueError, match=r"shares|weight|block"):
        Manifest.of(parts, shares)


def whole(manifest):
    """The matrix of the pair of block and report, on the cells of all columns: plainly."""
    sizes = [len(manifest.secrets), *map(len, manifest.categories.values())]
    codes = np.indices(sizes).reshape(len(sizes), -1)
    rows = []
    for number, one in enumerate(manifest.mechanisms):
        names = [name for name, sensitive in one.columns if not sensitive]
        places = [list(manifest.categories).index(name) for name in names]
        cells = []
        for record in codes.T:
            value = tuple(list(manifest.categories.values())[p][record[p + 1]] for p in places)
            value = value if len(places) > 1 else value[0]
            cells.append(record[0] * len(one.values) + one.values.index(value))
        rows.append(manifest.shares[number] * one.matrix[:, cells])
    return np.concatenate(rows)


@given(st.integers(0, 2**32 - 1))
def test_the_whole_leaks_what_the_worst_block_leaks(seed):
    """At any distribution of all columns together, by the matrix of the whole mechanism."""
    rng = np.random.default_rng(seed)
    matrix = whole(MANIFEST)
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0)
    sizes = [2, *map(len, MANIFEST.categories.values())]
    joint = rng.dirichlet(np.full(np.prod(sizes), 0.3)).reshape(sizes)
    report = matrix.reshape(len(matrix), 2, -1) * joint.reshape(1, 2, -1)
    given_s = report.sum(axis=2) / joint.reshape(2, -1).sum(axis=1)
    leakage = np.abs(np.log(given_s[:, 0] / given_s[:, 1])).max()
    cells = list(itertools.product(MANIFEST.secrets, *MANIFEST.categories.values()))
    frame = pd.DataFrame(cells, columns=[name for name, _ in MANIFEST.columns])
    assert MANIFEST.leakage(frame, joint.ravel()) == pytest.approx(leakage, rel=1e-9)


def test_bounds_of_several_reports():
    assert MANIFEST.claims.bound_of(1) == MANIFEST.eps
    bound = max(one.claims.eps_worst_case for one in MANIFEST.mechanisms)
    assert MANIFEST.claims.bound_of(3) == pytest.approx(MANIFEST.eps + 2 * bound, rel=1e-15)
    assert MANIFEST.claims.bound_of(3) >= MANIFEST.eps + 2 * bound
    assert Manifest.of([mechanism("a")], [1.0]).claims is None
    with pytest.raises(ValueError, match="integer >= 1"):
        MANIFEST.claims.bound_of(0)


def test_blocks_and_reports_have_their_probabilities():
    """False alarms: less than one in a million, by a union bound over normal tails."""
    n, secrets = 200_000, np.zeros(200_000, dtype=np.uint8)
    values = [np.full(n, code, dtype=np.uint8) for code in (2, 1, 0)]
    drawn, reports = MANIFEST.sample(secrets, values, np.random.default_rng(1))
    for number, one in enumerate(MANIFEST.mechanisms):
        cell = int(MANIFEST.cells(number, secrets, values, slice(1))[0])
        expected = n * MANIFEST.shares[number] * one.matrix[:, cell]
        seen = np.bincount(reports[drawn == number], minlength=len(expected))
        assert (np.abs(seen - expected) <= 6.0 * np.sqrt(expected) + 1).all()
