"""Bins hold their lower edge; rounding to knots keeps expectations; dates are instants."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp import Bins, Knots
from skrldp.alphabet.categories import Column, Factorized

NUMBERS = st.floats(allow_nan=True) | st.integers(-(2**60), 2**60) | st.booleans()
CUTS = st.lists(st.floats(-1e6, 1e6) | st.integers(-(2**53), 2**53), min_size=3, unique=True)


@given(CUTS.map(sorted), st.lists(NUMBERS), st.booleans(), st.booleans(), st.booleans())
def test_bins_against_comparisons(edges, values, is_open_below, is_open_above, is_clipped):
    edges = [-np.inf] * is_open_below + edges + [np.inf] * is_open_above
    bins = Bins(edges, outside="clip" if is_clipped else "error")
    values = [*values, *edges]

    def expected(value):
        if not np.isfinite(float(value)):
            return -1
        for place, (low, high) in enumerate(pairwise(edges)):
            if low <= float(value) < high:
                return place
        return (0 if value < edges[0] else len(edges) - 2) if is_clipped else -1

    for kind in (float, int, object):
        own = [value for value in values if kind is object or type(value) is kind]
        array = np.array(own, dtype=kind if kind is not int else np.int64)
        np.testing.assert_array_equal(bins.codes(array), list(map(expected, own)))
    np.testing.assert_array_equal(bins.codes(bins.inside), np.arange(len(edges) - 1))


def test_bins_are_named_as_pandas_names_them():
    numbers = [17, 30, 64.5, 91]
    found = pd.IntervalIndex.from_breaks(numbers, closed="left")
    assert [eval(label.replace("[", "(")) for label in Bins(numbers).labels] == [
        (one.left, one.right) for one in found
    ]
    whole = pd.IntervalIndex.from_breaks([17, 30, 91], closed="left")
    assert Bins([17, 30, 91]).labels == tuple(map(str, whole))
    days = pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"])
    assert Bins(days).labels == ("[2020-01-01, 2021-01-01)", "[2021-01-01, 2022-01-01)")
    assert Bins([-np.inf, 0, np.inf]).labels == ("[-inf, 0)", "[0, inf)")


DAY = dt.date(2020, 5, 17)
NOON = dt.datetime(2020, 5, 17, 12)
IN_BERLIN = pd.Timestamp("2020-05-17 14:00", tz="Europe/Berlin")


@pytest.mark.parametrize("value", [DAY, np.datetime64(DAY), pd.Timestamp(NOON)])
@pytest.mark.parametrize(
    "edges",
    [
        [dt.date(2020, 1, 1), DAY, dt.date(2021, 1, 1)],
        [np.datetime64("2020-01"), np.datetime64("2020-05-17"), np.inf],
        pd.to_datetime(["2020-01-01", "2020-05-17", "2021-01-01"]),
    ],
)
def test_dates_of_every_type(edges, value):
    bins = Bins(edges)
    assert bins.codes([value, None, NOON.replace(tzinfo=dt.UTC), 5]).tolist() == [1, -1, -1, -1]
    array = np.array([value], dtype="M8[us]")
    assert bins.codes(array).tolist() == [1]


def test_moments_of_all_zones_are_compared_in_utc():
    noon = NOON.replace(tzinfo=dt.UTC)
    bins = Bins([noon - dt.timedelta(hours=1), noon, noon + dt.timedelta(microseconds=1)])
    assert bins.labels[0] == "[2020-05-17 11:00:00+00:00, 2020-05-17 12:00:00+00:00)"
    assert bins.codes([IN_BERLIN, noon, NOON]).tolist() == [1, 1, -1]
    nanosecond = IN_BERLIN + pd.Timedelta(1, "ns")
    assert bins.codes([nanosecond, nanosecond - pd.Timedelta(2, "ns")]).tolist() == [1, 0]


@pytest.mark.parametrize(
    "edges",
    [
        3.5, "017", [], [0, 1], [0, 1, 1], [1, 0, 2], [0, np.inf, 120], [0, True, 2], [0, None, 2],
        [0, 1, 2**53 + 1], [0, 1, DAY], [DAY, NOON, NOON.replace(tzinfo=dt.UTC)], [-np.inf, np.inf],
    ],
)  # fmt: skip
def test_edges_that_are_refused(edges):
    with pytest.raises(ValueError, match="edges must be"):
        Bins(edges)


@pytest.mark.parametrize(
    "points", [3, "01", [], [1], [1, 1], [2, 1], [0, np.inf], [0, np.nan], [0, "1"], [DAY, NOON]]
)
def test_points_that_are_refused(points):
    with pytest.raises(ValueError, match="points must be"):
        Knots(points)


@given(
    st.lists(st.floats(-1e6, 1e6) | st.integers(-1000, 1000), min_size=2, unique=True).map(sorted),
    st.lists(st.floats(0.0, 1.0), min_size=1),
)
def test_the_expectation_of_a_rounded_number_is_the_number(points, shares):
    knots = Knots(points)
    low, high = float(points[0]), float(points[-1])
    values = [min(max(low + share * (high - low), low), high) for share in shares] + list(points)
    lower, thresholds = knots.thresholds(values)
    for value, below, up in zip(values, lower.tolist(), thresholds.tolist(), strict=True):
        first, second = (Fraction(float(point)) for point in points[below : below + 2])
        mean = first + (second - first) * Fraction(up, 2**32)
        assert 0 <= up <= 2**32 and first <= Fraction(float(value)) <= second
        assert abs(mean - Fraction(float(value))) <= (second - first) * Fraction(1.001) / 2**32


def test_a_threshold_is_compared_in_64_bits():
    column = Column("x", (0, 15, 30), numbers=Knots([0, 15, 30]))
    largest = lambda name, knots, n: np.full(n, 2**32 - 1, dtype=np.uint32)  # noqa: E731
    least = lambda name, knots, n: np.zeros(n, dtype=np.uint32)  # noqa: E731
    values = [0, 15, 30, 7.5, None, -1, 31, np.nan, "7", Decimal("7.5"), True]
    assert column.codes(values, largest).tolist() == [0, 1, 2, 0, -1, -1, -1, -1, -1, 0, 0]
    assert column.codes(values, least).tolist() == [0, 1, 2, 1, -1, -1, -1, -1, -1, 1, 1]
    clipped = Column("x", (0, 15, 30), numbers=Knots([0, 15, 30], outside="clip"))
    assert clipped.codes([-1, 31, 10**400, None], largest).tolist() == [0, 2, 2, -1]
    rows = Factorized(np.array([3, 2, -1, 3]), values)
    assert column.codes(rows, least).tolist() == [1, 2, -1, 1]


@given(st.lists(st.floats(0.0, 99.0), min_size=1))
def test_rounding_adds_at_most_a_quarter_of_the_squared_gap(values):
    knots = Knots([0, 15, 30, 99])
    found = knots.rounding_variance(np.array(values))
    gap = np.select([np.array(values) < 30], [15.0], 69.0)
    assert (found >= 0).all() and (found <= gap**2 / 4).all()
