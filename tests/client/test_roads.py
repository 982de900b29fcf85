"""A value is the same category for tables, clients and record batches.

Which libraries and types hold the same values is tried whole in ``tests/table``.
"""

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrldp import Mechanism
from skrldp.batches import Reporter
from skrldp.client import load

KEY = bytes(range(32))


def telling(values):
    """A mechanism, without any privacy, whose report is the index of the value of U."""
    mechanism = Mechanism.from_matrix(np.eye(len(values)), ("s",), values, observe="nonsensitive")
    return mechanism.named(None, [("s", True), ("u", False)])


def reports(mechanism, table):
    """The reports of each road."""
    client, name = load(mechanism.to_json()), "u"
    rows = nw.from_native(table, eager_only=True)
    arrow = rows.with_columns(nw.new_series("id", range(len(rows)), backend=rows.implementation))
    reporter = Reporter(mechanism, id="id", key=KEY)
    return {
        "many": client.report_many(table).tolist(),
        "each": [client.report({name: value}) for value in rows[name].to_list()],
        "batch": reporter(arrow.to_arrow())["report"].to_pylist(),
    }


HOLES = {
    "arrow dictionary": pa.array(["b", None, "a"]).dictionary_encode(),
    "pandas categories": pd.Series(["b", None, "a"], dtype="category"),
    "polars categories": pl.Series(["b", None, "a"], dtype=pl.Enum(["a", "b"])),
}


@pytest.mark.parametrize("name", HOLES)
def test_a_missing_value_is_no_other_value(name):
    """NumPy reads a null in a dictionary of Arrow as the first entry."""
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[name.split()[0]]
    table = make({"u": HOLES[name]})
    found = reports(telling(["a", "b", None]), table)
    assert set(map(tuple, found.values())) == {(1, 2, 0)}
    with pytest.raises(ValueError, match="does not know a value"):
        load(telling(["a", "b"]).to_json()).report_many(table)
