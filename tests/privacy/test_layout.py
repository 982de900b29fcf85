"""Layouts say which entries of a row belong to which secret or group; copies change no bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp import JointDistribution, LikelihoodRatioSet, RenyiBall
from skrldp.privacy.private_rows import Layout, privacy_region
from skrldp.privacy.requirements import Requirements
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


# --- Groups by what an observer knows ------------------------------------------------------------

SECRETS = [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
VALUES = [("x", 0), ("x", 1), ("x", 2), ("y", 0), ("y", 1), ("z", 0)]  # ragged in the first column
SETS = {"ball": RenyiBall(), "ratios": LikelihoodRatioSet(), "KL": RenyiBall(1.0)}


def group_rows(row, observe, secret, known):
    """The entries of a row that somebody holds possible, by enumeration of the cells."""
    a2 = len(VALUES)
    return [row[u] if observe == "nonsensitive" else row[s * a2 + u] for s in secret for u in known]


@pytest.mark.parametrize("observe", ["all", "nonsensitive"])
@pytest.mark.parametrize("chosen", SETS)
def test_known_columns_are_judged_group_by_group(chosen, observe):
    """Copies that fill up short groups change nothing: each known value alone gives the same."""
    counts = np.random.default_rng(3).integers(0, 80, (len(SECRETS), len(VALUES)))
    joint, around = JointDistribution(counts, SECRETS, VALUES), SETS[chosen]
    options = {"fit": around.fit_set, "known": (0,), "observe": observe}
    statement = Requirements.asked(joint, around.fit_set(joint), 0.5, **options).items[1]
    region, rng = statement.over("joint").region, np.random.default_rng(1)
    n_cells = joint.counts.size if observe == "all" else len(VALUES)
    rows = rng.random((4, n_cells)) + 0.05
    found = region.worst(rows, statement.claim.asked)
    names = [("x", [0, 1, 2]), ("y", [3, 4]), ("z", [5])]
    for v, (_, known) in enumerate(names):
        counts = joint.counts[:, known]
        alone = JointDistribution(counts) if counts.any() else None
        # The same budgets for the group by itself: shares of all records, not of the group's.
        share = counts.sum(axis=1) / joint.n
        part = privacy_region(alone, statement.region.uncertainty)
        part = type(part)(part.conditionals, share, share, statement.region.uncertainty)
        own = np.stack([group_rows(r, observe, [s], known) for r in rows for s in range(4)])
        expected = part.worst(own.reshape(4, -1), 0.5)
        for row, s, t, bound in zip(
            expected.row, expected.first, expected.second, expected.bound, strict=True
        ):
            same = (found.row == row) & (found.first == 3 * s + v) & (found.second == 3 * t + v)
            assert found.bound[same] == pytest.approx([bound], rel=1e-6, abs=1e-9)
    assert len(found.row) == 4 * 3 * 12  # rows, known values, pairs
