"""What the tests of audits share."""

import os

import numpy as np

from skrldp import (
    JointDistribution,
)

DISTRIBUTION = JointDistribution(
    [[30, 10, 20], [10, 30, 20]], ["no", "yes"], ["low", "mid", "high"]
)


def fresh():
    """A generator that is seeded from what stands for the operating system."""
    return np.random.default_rng(list(os.urandom(16)))


def names(found):
    return {check.name for check in found.findings}


def message(found, name):
    return next(check.message for check in found.checks if check.name == name)
