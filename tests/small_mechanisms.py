"""Mechanisms of three forms, and records of them."""

import numpy as np

from skrldp import Mechanism
from skrldp.design.closed_form import srr

KEY = bytes(range(32))
COLUMNS = [("age", False), ("ill", True), ("size", False)]
SECRETS = ("no", "yes", None)
VALUES = ((1, "S"), (1, "M"), (2, "S"), (2, None), (3.5, "M"))  # not all combinations


def stochastic(seed, b, a):
    return np.random.default_rng(seed).dirichlet(np.full(b, 0.7), size=a).T


def dense():
    return Mechanism.from_matrix(stochastic(0, 4, 15), SECRETS, VALUES).named(None, COLUMNS)


def blind():
    mechanism = Mechanism.from_matrix(stochastic(1, 4, 5), SECRETS, VALUES, observe="nonsensitive")
    return mechanism.named(None, COLUMNS)


def blocks():
    return Mechanism.from_blocks(srr(1.0, 3, 5), SECRETS, VALUES).named(None, COLUMNS)


FORMS = {"dense": dense, "blind": blind, "blocks": blocks}


def rows_of(n=300, seed=2):
    """Records (age, ill, size), and their cells."""
    rng = np.random.default_rng(seed)
    s, u = rng.integers(0, 3, n), rng.integers(0, 5, n)
    rows = [(VALUES[j][0], SECRETS[i], VALUES[j][1]) for i, j in zip(s, u, strict=True)]
    return rows, s * 5 + u


def by_name(rows):
    return [dict(zip(("age", "ill", "size"), row, strict=True)) for row in rows]


ROWS = [(1, "no", "S"), (2, "yes", "S")]
