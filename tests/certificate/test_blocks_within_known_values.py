"""Four weights and known columns: the proof without a matrix agrees with that of the matrix."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skrldp import JointDistribution, LikelihoodRatioSet, Mechanism
from skrldp.certificate import prove_promise
from skrldp.privacy import Promise
from skrldp.sets import RenyiSet

SETS = [
    LikelihoodRatioSet().fit_set,
    lambda _: RenyiSet(2.0, 0.01),
    lambda _: RenyiSet(2.0, 0.0),
    lambda _: RenyiSet(1.0, np.inf),
]


def table(seed, a1, sizes, lacks):
    rng = np.random.default_rng(seed)
    values = [(v, w) for w in range(max(sizes)) for v, size in enumerate(sizes) if w < size]
    counts = rng.integers(1, 200, (a1, len(values)))
    if lacks:  # a secret without one of the known values, and one with a single value
        counts[0, [v == 0 for v, _ in values]] = 0
        counts[1, 1:] = 0
    return JointDistribution(counts, tuple(range(a1)), tuple(values))


def leak_within(mechanism, distribution, values):
    """Leakage at one distribution to somebody who knows the first column."""
    cells = mechanism.matrix.reshape(-1, *distribution.shape)
    worst = 0.0
    for v in {v for v, _ in values}:
        here = np.array([v == other for other, _ in values])
        part = distribution[:, here]
        seen = part.sum(axis=1) > 0
        conditionals = part[seen] / part[seen].sum(axis=1, keepdims=True)
        reports = np.einsum("ysu,su->ys", cells[:, seen][:, :, here], conditionals)
        worst = max(worst, float(np.log(reports.max(axis=1) / reports.min(axis=1)).max()))
    return worst


@settings(max_examples=12)
@example(7, 3, (2, 3, 1), [7.0, 1.0, 2.0, 0.1], SETS[0], False)
@example(8, 3, (2, 3, 1), [7.0, 1.0, 2.0, 1.0], SETS[1], True)
@example(9, 2, (2, 1), [1.0, 7.0, 2.0, 0.1], SETS[1], False)
@given(
    st.integers(0, 10**6),
    st.integers(2, 4),
    st.sampled_from([(1, 1, 2), (3, 1), (2, 2), (3,), (1, 1), (2, 3, 1)]),
    st.lists(st.sampled_from([0.1, 1.0, 2.0, 7.0]), min_size=4, max_size=4),
    st.sampled_from(SETS),
    st.booleans(),
)
def test_as_the_matrix(seed, a1, sizes, four, fit, lacks):
    joint = table(seed, a1, sizes, lacks)
    promised = Promise.of(joint, fit(joint), 1.0, known=(0,), fit=fit)
    a2 = len(joint.values)
    number = np.array([1, a2 - 1, a1 - 1, (a1 - 1) * (a2 - 1)])
    names = joint.secrets, joint.values
    blocks = Mechanism.from_blocks(tuple(np.array(four) / (number @ four)), *names)
    ours = prove_promise(blocks, promised).known
    theirs = prove_promise(Mechanism.from_matrix(blocks.matrix, *names), promised).known
    assert ours.eps == pytest.approx(theirs.eps, abs=1e-7)
    assert ours.distribution.sum() == pytest.approx(1.0)
    at_it = leak_within(blocks, ours.distribution, joint.values)
    assert ours.eps_attained - 1e-9 <= at_it <= ours.eps + 1e-9
