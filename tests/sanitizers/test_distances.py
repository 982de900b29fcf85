"""RobustMSESanitizer: distances, and the values that are reported."""

import itertools
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from robust_mse_fits import (
    COUNTS,
    SPARSE,
    TOL,
    absolute,
    by_cell,
    fit,
    hamming,
    rows_of,
    squared,
    worst_of,
)

from skrldp import (
    RenyiBall,
    RobustMSESanitizer,
)

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
# The papers' set is meant here, and tables with rare cells too, for which that set is weak.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:the chi-squared set may miss:skrldp.PrivacyLeakWarning",
)


# --- Distances -----------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", [squared, absolute, hamming], ids=lambda f: f.__name__)
def test_a_name_a_function_and_a_table_are_one(distance):
    table = [[distance(u, y) for y in range(4)] for u in range(4)]
    spellings = [distance.__name__, distance, pd.DataFrame(table)]
    if distance is absolute:
        spellings += [table, np.array(table)]
    fits = [fit(SPARSE, distance=spelling) for spelling in spellings]
    worst = worst_of(fits[0], distance)
    for found in fits:
        np.testing.assert_array_equal(found.mechanism_.weights, fits[0].mechanism_.weights)
        assert found.worst_case_distortion_ == pytest.approx(worst, rel=1e-6)
        assert found.distortion_ == fits[0].distortion_


def test_hamming_counts_the_columns_that_differ():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 600), rng.integers(0, 3, 600), rng.integers(0, 2, 600)])
    found = RobustMSESanitizer(1.0, distance="hamming", sensitive=0).fit(X)
    assert found.joint_.values == tuple(itertools.product(range(3), range(2)))

    def differing(u, y):
        return float(u[0] != y[0]) + float(u[1] != y[1])

    cells = by_cell(found, differing)
    distribution = found.joint_.probabilities.ravel()
    assert found.distortion_ == pytest.approx(distribution @ cells, rel=1e-12)
    by_hand = RobustMSESanitizer(1.0, distance=differing, sensitive=0).fit(X)
    np.testing.assert_array_equal(found.mechanism_.weights, by_hand.mechanism_.weights)


def words(value):
    return value if isinstance(value, str) else None


def wrong_table(value):
    table = np.ones((3, 3))
    table[1, 2] = value
    return table


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"distance": "euclidean"}, "distance='euclidean' must be one of 'auto', 'squared'"),
        ({"distance": None}, "distance must be 'auto', .* a table of numbers .*, got None"),
        ({"distance": [0, 1, 2]}, r"or a table of numbers .*, got a list"),
        ({"distance": [[0, 1], [1]]}, r"or a table of numbers .*, got a list"),
        ({"distance": [["x"] * 3] * 3}, "or a table of numbers"),
        ({"distance": wrong_table(0) * 1j}, "or a table of numbers"),
        ({"distance": np.eye(2)}, r"shape \(2, 2\), but U has 3 values.*\(3, 3\)"),
        ({"distance": np.ones((3, 2))}, r"needs shape \(3, 3\), in the order of `joint_.values`"),
        ({"distance": wrong_table(-0.5)}, "not negative, .* value 1 to value 2 is -0.5"),
        ({"distance": wrong_table(np.nan)}, "finite .* value 1 to value 2 is nan"),
        ({"distance": wrong_table(np.inf)}, "finite .* value 1 to value 2 is inf"),
        ({"distance": lambda u, y: "far"}, r"distance\(0, 0\) must be a number, got 'far'"),
        ({"distance": lambda u, y: u - y}, "not negative, .* value 0 to value 1 is -1.0"),
        ({"robust_utility": "yes"}, "robust_utility='yes' must be True or False"),
        ({"robust_privacy": None}, "robust_privacy=None must be True or False"),
        ({"robust_privacy": 1}, "robust_privacy=1 must be True or False"),
    ],
    ids=words,
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        fit(**parameters)


STRINGS = pd.DataFrame({"s": ["n", "y"] * 40, "u": list("abba" * 20), "v": [1, 2, 3, 1] * 20})
STRINGS["w"] = [1.0, None, 2.0, 2.0] * 20


@pytest.mark.parametrize(
    ("columns", "parameters", "message"),
    [
        (
            ["s", "u"],
            {"distance": "squared"},
            "distance='squared' needs numbers, but U has the value 'a'; use distance",
        ),
        (["s", "u"], {"distance": "absolute"}, "'absolute' needs numbers.*distance='hamming'"),
        (["s", "w"], {"distance": "squared"}, "needs numbers, but U has missing values; use"),
        (
            ["s", "v", "u"],
            {"distance": "squared"},
            "distance='squared' needs numbers, but U has several columns; use",
        ),
    ],
)
def test_values_are_checked(columns, parameters, message):
    with pytest.raises(ValueError, match=message):
        RobustMSESanitizer(sensitive=0, **parameters).fit(STRINGS[columns])


@pytest.mark.parametrize(
    ("values", "taken"),
    [
        ([1, 2], "squared"),
        ([0.5, -1e100], "squared"),
        ([1.0, None], "hamming"),
        ([1.0, 1e101], "hamming"),
        ([False, True], "hamming"),
        (["1", "2"], "hamming"),
        ([datetime(2026, 1, day) for day in (1, 2)], "hamming"),
    ],
    ids=str,
)
def test_the_default_distance_suits_the_values(values, taken):
    table = pd.DataFrame({"s": [0, 0, 1, 1], "u": values * 2})
    found, named = (
        RobustMSESanitizer(0.1, sensitive=0, time_limit=1e-6, **options).fit(
            table, sample_weight=[90, 10, 20, 80]
        )
        for options in ({}, {"distance": taken})
    )
    assert found.distance_ == named.distance_ == taken
    assert found.mechanism_.to_json() == named.mechanism_.to_json()
    assert found.distortion_ == named.distortion_ > 0


def test_the_default_distance_of_columns_and_groups():
    two = RobustMSESanitizer(sensitive=0, time_limit=1e-6).fit(STRINGS[["s", "v", "u"]])
    table = pd.DataFrame({"s": [0, 1] * 30, "u": [1, 2, 1, 2, 1, 3] * 10})
    grouped = RobustMSESanitizer(sensitive=0, time_limit=1e-6, min_frequency=15).fit(table)
    assert "other" in grouped.joint_.values
    assert two.distance_ == grouped.distance_ == "hamming"
    far = np.eye(3)
    np.testing.assert_array_equal(fit(COUNTS, distance=far, time_limit=1e-6).distance_, far)


# --- Reports -------------------------------------------------------------------------------------


def test_values_that_help_nobody_are_not_reported():
    """Nobody is nearer to 1 than to 0 or 2; it costs nothing to leave it out."""
    distance = np.array([[0, 1, 1], [1, 1, 1], [1, 1, 0]])
    assert fit(SPARSE[:, [0, 2, 3]], distance=distance).mechanism_.symbols == (0, 2)


@pytest.mark.parametrize("far", [1e4, -1e6])
@pytest.mark.parametrize("eps", [1e-3, 0.5])
def test_a_value_far_away_is_not_sent_by_mistake(far, eps):
    X = rows_of(COUNTS).astype(float)
    X[X[:, 1] == 2, 1] = far
    found = RobustMSESanitizer(eps, distance="squared", uncertainty=RenyiBall(), sensitive=0)
    found.fit(X, sample_weight=COUNTS.ravel())
    assert found.solution_.gap <= TOL
    assert found.worst_case_distortion_ <= found.solution_.objective * (1 + 2 * TOL)
