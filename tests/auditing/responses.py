"""Functions to audit, in a module that new processes import at once: it needs NumPy alone."""

import os

import numpy as np


def fresh():
    """A generator that is seeded from what stands for the operating system."""
    return np.random.default_rng(list(os.urandom(16)))


def response(records, generator=None):
    """Randomised response to S."""
    records = np.asarray(records)
    if not (np.isin(records[:, 0], (0, 1)) & np.isin(records[:, 1], (0, 1, 2))).all():
        raise KeyError("unknown")
    return (records[:, 0] == 1) ^ ((generator or fresh()).random(len(records)) < 0.25)


_known = np.random.default_rng(0)


def seeded_in_the_module(records):
    return response(records, _known)
