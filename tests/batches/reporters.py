"""Reporters of small mechanisms, and the report that each record must get."""

import numpy as np
import pyarrow as pa
from keyed_tapes import report_of_tape

from skrldp.batches import Reporter
from skrldp.mechanism.mechanism import Mechanism

KEY = bytes(range(1, 33))


COLUMNS = [("age", False), ("ill", True), ("size", False)]


SECRETS = ("no", "yes", None)


VALUES = ((1, "S"), (1, "M"), (2, "S"), (2, None), (3.5, "M"))  # not all combinations


def dense():
    matrix = np.random.default_rng(0).dirichlet(np.full(4, 0.7), size=15).T
    return Mechanism.from_matrix(matrix, SECRETS, VALUES).named(None, COLUMNS)


def batch_of(**columns):
    n = len(next(iter(columns.values())))
    given = {"person": range(n), "age": [1] * n, "ill": ["no"] * n, "size": ["S"] * n, **columns}
    return pa.RecordBatch.from_pydict({name: pa.array(own) for name, own in given.items()})


def reporter(mechanism=None, **given):
    mechanism = dense() if mechanism is None else mechanism
    return Reporter(mechanism, **{"id": "person", "key": KEY, **given})


def expected_report(mechanism, cell, person):
    """One report from its tape, by the description alone."""
    return report_of_tape(mechanism, cell, person, KEY)
