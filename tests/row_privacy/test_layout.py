"""Layouts: rows taken apart by secret, and put together again."""

import numpy as np
import pytest

from skrldp.row_privacy import Layout

LAYOUTS = {
    "plain": Layout.plain(3, 4),
    "values": Layout.plain(3, 4, "nonsensitive"),
    "permuted": Layout(np.array([[5, 1], [0, 3], [4, 2]]), np.arange(3), 6),
    "ragged": Layout(np.array([[5, 1, 2], [0, 3, 0], [4, 4, 4]]), np.arange(3), 6),
    "shared": Layout(np.array([[2, 1], [0, 0]]), np.array([0, 1, 0, 1]), 3),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_gathering_is_the_adjoint_of_splitting(name):
    layout, rng = LAYOUTS[name], np.random.default_rng(0)
    rows = rng.random((2, layout.n_cells))
    parts = layout.split(rows)
    assert parts.shape == (2, *layout.parts.shape)
    assert np.array_equal(layout.spread(rows), rows[:, layout.parts][:, layout.place])
    weights = rng.random(parts.shape)
    gathered = layout.gather(weights)
    assert np.einsum("bpk,bpk", parts, weights) == pytest.approx(np.vdot(rows, gathered))
    forms = rng.random((2, parts[0].size, parts[0].size))
    flat = parts.reshape(2, -1)
    form = np.einsum("bi,bij,bj->b", flat, forms, flat)
    again = np.einsum("bi,bij,bj->b", rows, layout.gather_forms(forms), rows)
    assert again == pytest.approx(form)


def test_copies_are_no_entries():
    assert LAYOUTS["ragged"].real.tolist() == [
        [True, True, True],
        [True, True, False],
        [True, False, False],
    ]
    assert LAYOUTS["values"].real.all()
