"""A public table that is a large part of a finite population: what its set holds, and what not.

False alarms below 1e-6, with fixed seeds.
"""

import numpy as np

from skrldp import JointDistribution, LikelihoodRatioSet

TRUTH = np.array([[1, 2, 3, 4, 5], [5, 3, 3, 2, 2]]) / 30
PEOPLE, TABLES = 2_000, 300


def test_the_others_need_a_wider_set():
    """Bounds times N / (N - n) for them; for all N people the set holds as it is."""
    n = 1_800
    rng, held = np.random.default_rng(n), np.zeros(3)
    for _ in range(TABLES):
        people = rng.multinomial(PEOPLE, TRUTH.ravel())
        sample = rng.multivariate_hypergeometric(people, n).reshape(2, 5)
        people = people.reshape(2, 5)
        joint = JointDistribution(sample)
        around = LikelihoodRatioSet().fit_set(joint)
        wider = LikelihoodRatioSet(radius=around.pair * PEOPLE / (PEOPLE - n)).fit_set(joint)
        rest = people - sample
        found = (around, people), (around, rest), (wider, rest)
        held += [own.contains(joint, table / table.sum()) for own, table in found]
    everybody, others, widened = held / TABLES
    assert everybody > 0.97
    assert others < 0.85
    assert widened > 0.93
