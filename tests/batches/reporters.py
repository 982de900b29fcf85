"""Reporters of small mechanisms, and the report that each record must get."""

import pyarrow as pa
from keyed_tapes import report_of_tape
from small_mechanisms import dense

from skrldp.batches import Reporter

KEY = bytes(range(1, 33))


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
