"""Random tables, and mechanisms of which few reports come from each cell."""

import numpy as np

from skrldp import JointDistribution


def table(seed, a1=3, a2=4, unseen=False):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 80, size=(a1, a2)) * (rng.random((a1, a2)) > 0.2)
    counts[:, 0] += 1
    if unseen:
        counts[-1] = 0
    return JointDistribution(counts)


def sharp(seed, joint, b=5, concentration=0.3):
    rng = np.random.default_rng([seed, 3])
    matrix = rng.dirichlet(np.full(b, concentration), size=joint.counts.size).T
    return matrix / matrix.sum(axis=0)
