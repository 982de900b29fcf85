"""Groups filled up with copies, sets of conditionals, and rounding, checked by other means."""

import numpy as np
import pytest

from skrldp import JointDistribution, LikelihoodRatioSet, RenyiBall
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements, repair

SECRETS = [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
VALUES = [("x", 0), ("x", 1), ("x", 2), ("y", 0), ("y", 1), ("z", 0)]  # ragged in the first column
SETS = {"ball": RenyiBall(), "ratios": LikelihoodRatioSet(), "KL": RenyiBall(1.0)}


def table(seed, secrets=SECRETS, values=VALUES):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 80, (len(secrets), len(values)))
    counts[0, 0] += 1
    return JointDistribution(counts, secrets, values)


def promise(joint, chosen="ball", **options):
    around = SETS[chosen]
    eps = options.pop("eps", 0.8)
    return Requirements.asked(joint, around.fit_set(joint), eps, fit=around.fit_set, **options)


def group_rows(row, observe, secret, known):
    """The entries of a row that somebody holds possible, by enumeration of the cells."""
    a2 = len(VALUES)
    return [row[u] if observe == "nonsensitive" else row[s * a2 + u] for s in secret for u in known]


@pytest.mark.parametrize("observe", ["all", "nonsensitive"])
@pytest.mark.parametrize("chosen", SETS)
def test_known_columns_are_judged_group_by_group(chosen, observe):
    """Copies that fill up short groups change nothing: each known value alone gives the same."""
    joint = table(3)
    statement = promise(joint, chosen, eps=0.5, known=(0,), observe=observe).items[1]
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


def random_conditional(rng, joint, around):
    """A distribution inside the set: a random one, drawn to the public one until it is inside."""
    other = rng.dirichlet(np.full(joint.counts.size, 0.4)).reshape(joint.counts.shape)
    share = 1.0
    while True:
        found = share * other + (1.0 - share) * joint.probabilities
        if around.contains(joint, found):
            return found
        share *= 0.8


@pytest.mark.parametrize("observe", ["all", "nonsensitive"])
@pytest.mark.parametrize("chosen", SETS)
def test_repaired_mechanisms_keep_every_statement(chosen, observe):
    """At random distributions of each set, by the definition: probabilities of reports."""
    joint, rng = table(11), np.random.default_rng(5)
    asked = promise(joint, chosen, eps=0.6, eps_worst_case=2.0, known=(0,), observe=observe)
    requirements = asked.over()
    assert len(requirements) == 3  # plain, within what is known, and everywhere
    matrix = rng.dirichlet(np.full(6, 0.3), requirements.n_cells).T
    assert requirements.shifts(matrix).max() > 0.01
    private = repair(matrix, requirements)
    assert np.all(requirements.shifts(private) <= 1e-12)
    whole = private if observe == "all" else np.tile(private, (1, len(SECRETS)))
    whole = whole.reshape(6, 4, -1)
    flat = whole.reshape(6, -1)
    for statement in asked.items[:2]:
        for _ in range(20):
            distribution = random_conditional(rng, statement.joint, statement.region.uncertainty)
            x = statement.whole_distribution(distribution, joint).reshape(4, -1)
            groups = [range(6)] if not statement.claim.known else [[0, 1, 2], [3, 4], [5]]
            for known in groups:
                part = x[:, known] / x[:, known].sum(axis=1, keepdims=True)
                reports = np.einsum("bsu,su->bs", whole[:, :, known], part)
                most = np.exp(0.6) * (1 + 1e-9)
                assert np.all(reports.max(axis=1) <= most * reports.min(axis=1))
    for s in range(4):
        for t in range(4):
            if s != t:
                ratio = whole[:, s].max(axis=1) / whole[:, t].min(axis=1)
                assert ratio.max() <= np.exp(2.0) * (1 + 1e-9)
    assert flat.sum(axis=0) == pytest.approx(1.0)
