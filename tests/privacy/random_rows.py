"""Random public distributions with rows whose sizes differ by orders of magnitude."""

import numpy as np

from skrldp import JointDistribution


def joint_and_rows(seed, a1=3, a2=7, b=6):
    rng = np.random.default_rng(seed)
    joint = JointDistribution(rng.integers(1, 60, (a1, a2)))
    rows = rng.random((b, a1, a2)) * 10.0 ** rng.uniform(-6, 0, (b, 1, 1))
    return joint, rows
