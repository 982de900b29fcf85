"""Promises of tables with gaps, and requests that cannot be kept: what attacks have found."""

import itertools

import numpy as np
import pytest

from skrldp import PolyOptSanitizer, RenyiBall

# Two sensitive columns, of which one combination never occurs.
GAPS = [row for row in itertools.product("ab", "xyz", (0, 1)) if row[:2] != ("b", "z")]
COUNTS = np.arange(10, 10 + 7 * len(GAPS), 7)


@pytest.mark.parametrize("solver", ["alternation", "columns"])
def test_each_of_two_columns_whose_combinations_do_not_all_occur(solver):
    options = {"sensitive": [0, 1], "protect": "each", "time_limit": 0.5}
    ball = RenyiBall(radius=0.01)
    found = PolyOptSanitizer(1.0, uncertainty=ball, solver=solver, **options)
    found.fit(GAPS, sample_weight=COUNTS)
    assert all(proof.eps <= 1.0 for proof in found.certificate_.each.values())
