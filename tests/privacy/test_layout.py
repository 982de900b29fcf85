"""Layouts: which entries of a row belong to which secret, and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp import JointDistribution
from skrldp.privacy.private_rows import Layout, SimplexRegion, privacy_region
from skrldp.sets.fitted_sets import REGIONS, RenyiSet


@st.composite
def layouts(draw):
    """Parts of all kinds: shared, overlapping, out of order, filled up with copies."""
    n_cells = draw(st.integers(2, 7))
    sets = draw(st.lists(st.sets(st.integers(0, n_cells - 1), min_size=1), min_size=1, max_size=4))
    missing = set(range(n_cells)) - set.union(*sets)
    members = [sorted(one) for one in (*sets, *([missing] if missing else []))]
    size = max(map(len, members))
    parts = np.array([one + one[:1] * (size - len(one)) for one in members])
    extra = draw(st.lists(st.integers(0, len(parts) - 1), max_size=2))
    return Layout(parts, np.array([*range(len(parts)), *extra]), n_cells)


@given(layouts(), st.integers(0, 10**6))
def test_gather_is_the_adjoint_of_split(layout, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(3, layout.n_cells))
    parts = layout.split(rows)
    for part, entries in zip(np.swapaxes(parts, 0, 1), layout.parts, strict=True):
        np.testing.assert_array_equal(part, rows[:, entries])
    np.testing.assert_array_equal(layout.spread(rows), parts[:, layout.place])
    linear = rng.normal(size=parts.shape)
    np.testing.assert_allclose(
        (layout.gather(linear) * rows).sum(axis=1), (linear * parts).sum(axis=(1, 2)), atol=1e-10
    )
    size = layout.parts.size
    forms, flat = rng.normal(size=(3, size, size)), parts.reshape(3, size)
    np.testing.assert_allclose(
        np.einsum("bij,bi,bj->b", layout.gather_forms(forms), rows, rows),
        np.einsum("bij,bi,bj->b", forms, flat, flat),
        atol=1e-9,
    )


@given(layouts())
def test_what_is_no_copy_is_there_once(layout):
    for entries, real in zip(layout.parts, layout.real, strict=True):
        assert sorted(entries[real]) == sorted(set(entries))


@pytest.mark.parametrize("name", REGIONS)
@pytest.mark.parametrize("radius", [0.0, 0.1, np.inf])
def test_rows_in_another_order_have_the_same_bounds(name, radius):
    """Cells of a row may stand anywhere, and secrets that are not observed share their part."""
    rng = np.random.default_rng(0)
    joint = JointDistribution(rng.integers(1, 60, size=(3, 4)))
    plain = privacy_region(joint, RenyiSet(2.0, radius), region=name)
    rows = rng.random((5, 3, 4))
    order = rng.permutation(12)
    moved = np.empty((5, 12))
    moved[:, order] = rows.reshape(5, 12)
    layout = Layout(order.reshape(3, 4), np.arange(3), 12)
    region = privacy_region(joint, RenyiSet(2.0, radius), region=name, layout=layout)
    for option in (0.0, -np.inf):
        one, other = plain.worst(rows, 0.3, above=option), region.worst(moved, 0.3, above=option)
        for part in ("row", "first", "second", "bound"):
            np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
    blind = Layout.plain(*joint.counts.shape, "nonsensitive")
    shared = privacy_region(joint, RenyiSet(2.0, radius), region=name, layout=blind)
    assert shared.rows.shared and not plain.rows.shared
    alike = np.repeat(rows[:, :1], 3, axis=1)
    np.testing.assert_array_equal(
        shared.worst(rows[:, 0], 0.3).bound, plain.worst(alike, 0.3).bound
    )


def test_a_copy_changes_no_maximum():
    """A part that is filled up with copies of an entry, whose public probability is 0."""
    rng = np.random.default_rng(1)
    conditionals = np.array([[0.5, 0.3, 0.2], [0.6, 0.4, 0.0]])
    marginal, layout = (
        np.array([0.7, 0.3]),
        Layout(np.array([[0, 1, 2], [3, 4, 3]]), np.arange(2), 5),
    )
    region = SimplexRegion(conditionals, marginal, marginal, layout=layout)
    rows = rng.random((20, 5))
    found = region.worst(rows, 0.4)
    first = found.first == 0
    greatest, least = rows[:, :3], rows[:, 3:]
    expected = greatest.max(axis=1) - np.exp(0.4) * least.min(axis=1)
    np.testing.assert_allclose(found.bound[first], expected, atol=1e-13)
    expected = least.max(axis=1) - np.exp(0.4) * greatest.min(axis=1)
    np.testing.assert_allclose(found.bound[~first], expected, atol=1e-13)
