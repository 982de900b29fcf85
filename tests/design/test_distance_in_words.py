"""The distance from the optimum in words is never less than it may be."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp.design.run import Solution

VALUES = st.floats(1e-3, 1e3)


def words(objective, bound):
    return Solution("optimal", "x", objective, bound, 1, 0.1, bound_by="b").gap_in_words


@given(VALUES, VALUES, st.floats(0.0, 1.0))
def test_the_optimum_is_as_near_as_stated(objective, bound, place):
    """Whatever value between the objective and its bound is the optimum."""
    said = words(objective, bound)
    if said.startswith("optimal"):
        assert objective == pytest.approx(bound, rel=2e-6)
        return
    if not said:  # the bound is of no use
        assert abs(objective - bound) > bound
        return
    percent = float(re.match(r"at most ([0-9.]+) % (below|above) the best possible", said)[1])
    assert percent <= 100.0
    optimum = objective + place * (bound - objective)
    assert abs(objective - optimum) <= percent / 100.0 * optimum * (1 + 1e-12)


def test_where_no_share_can_be_stated():
    assert words(2.0, 0.0) == "at most 2 above the best possible (bound: b)"
    assert words(2.0, 1.0) == "at most 100 % above the best possible (bound: b)"
    assert words(0.91776, 1.0) == "at most 8.23 % below the best possible (bound: b)"
    assert words(286.31, 1.0) == ""
