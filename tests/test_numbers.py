"""Bounds in words never say more than what is proven."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp._params import at_least, at_most


@given(
    st.floats(-1e300, 1e300),
    st.sampled_from([".2g", ".3g", ".4g", ".6g", ".9g", ".4f", ".6f"]),
)
def test_the_text_is_on_the_right_side_and_near(value, spec):
    below, above = at_least(value, spec), at_most(value, spec)
    assert float(below) <= value <= float(above)
    nearest = (value, float(f"{value:{spec}}"))
    assert nearest[1] in (float(below), float(above)) or math.isclose(*nearest, rel_tol=1e-12)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_stays(value):
    assert at_most(value) == at_least(value) == f"{value:g}"


def test_by_hand():
    assert at_most(0.1) == at_least(0.1) == at_most(0.1, ".2g") == "0.1"
    assert at_most(1.0, ".6f") == at_least(1.0, ".6f") == "1.000000"
    assert at_most(0.99999, ".4g") == at_most(1.0, ".4g") == "1"
    assert (at_least(math.log(2)), at_most(math.log(2))) == ("0.69314718", "0.693147181")
    assert (at_least(math.log(2), ".3f"), at_most(math.log(2), ".3f")) == ("0.693", "0.694")
    assert (at_least(-1e-30, ".2f"), at_most(-1e-30, ".2f")) == ("-0.01", "-0.00")
