"""RobustMSESanitizer: distances, and the values that reports may have."""

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
from sklearn.base import clone

from skrldp import (
    Mechanism,
    RenyiBall,
    RobustMSESanitizer,
    certify,
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
    outputs = [0, 1.5, 3]
    table = [[distance(u, y) for y in outputs] for u in range(4)]
    spellings = [distance.__name__, distance, pd.DataFrame(table)]
    if distance is absolute:
        spellings += [table, np.array(table)]
    fits = [fit(SPARSE, distance=spelling, outputs=outputs) for spelling in spellings]
    nobodys = {1.5} if distance is hamming else set()  # no better than 0 and 3 for any value
    assert set(fits[0].mechanism_.symbols) == {0, 1.5, 3} - nobodys
    worst = worst_of(fits[0], distance)
    for found in fits:
        np.testing.assert_array_equal(found.mechanism_.weights, fits[0].mechanism_.weights)
        assert found.worst_case_distortion_ == pytest.approx(worst, rel=1e-6)
        assert found.distortion_ == fits[0].distortion_


def test_scale_and_origin_do_not_matter():
    plain = fit(SPARSE)
    X = rows_of(SPARSE) * [1, 100] + [0, -7]
    moved = clone(plain).fit(X, sample_weight=SPARSE.ravel())
    assert moved.distortion_ == pytest.approx(1e4 * plain.distortion_, rel=2 * TOL)
    assert moved.mechanism_.symbols == (-7, 93, 193, 293)


def test_renaming_secrets_and_values_does_not_matter():
    table = np.random.default_rng(0).random((4, 3)).round(2)
    plain = fit(SPARSE, distance=table, outputs=["a", "b", "c"])
    other = fit(
        SPARSE[::-1][:, [2, 0, 3, 1]], distance=table[[2, 0, 3, 1]], outputs=["a", "b", "c"]
    )
    assert other.worst_case_distortion_ == pytest.approx(plain.worst_case_distortion_, rel=TOL)


def test_hamming_counts_the_columns_that_differ():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 600), rng.integers(0, 3, 600), rng.integers(0, 2, 600)])
    found = RobustMSESanitizer(1.0, distance="hamming").fit(X)
    assert found.joint_.values == tuple(itertools.product(range(3), range(2)))

    def differing(u, y):
        return float(u[0] != y[0]) + float(u[1] != y[1])

    cells = by_cell(found, differing)
    distribution = found.joint_.probabilities.ravel()
    assert found.distortion_ == pytest.approx(distribution @ cells, rel=1e-12)
    by_hand = RobustMSESanitizer(1.0, distance=differing).fit(X)
    np.testing.assert_array_equal(found.mechanism_.weights, by_hand.mechanism_.weights)


def test_strings_dates_and_booleans():
    X = pd.DataFrame({"s": [0, 1, 1, 0] * 40, "u": list("abca" * 40)})
    found = RobustMSESanitizer(sensitive=0, distance="hamming", random_state=0).fit(X)
    assert found.mechanism_.symbols == ("a", "b", "c")
    assert found.transform(X)["u"].isin(list("abc")).all()

    days = pd.to_datetime(["2024-01-01", "2024-01-05", "2024-01-02", "2024-01-05"] * 40)
    found = RobustMSESanitizer(sensitive=0, distance=lambda u, y: abs((u - y).days)).fit(
        X.assign(u=days)
    )
    assert found.mechanism_.symbols[0] == datetime(2024, 1, 1)
    reports = found.transform(X.assign(u=days))
    assert reports["u"].dtype == X.assign(u=days)["u"].dtype

    flags = X.assign(u=[True, False, False, True] * 40)
    found = RobustMSESanitizer(0.1, sensitive=0).fit(flags)  # False is 0 and True is 1
    assert found.transform(flags)["u"].dtype == bool
    assert found.distortion_ == pytest.approx(
        found.joint_.probabilities.ravel() @ by_cell(found, hamming)
    )


def test_missing_values_are_a_value():
    X = pd.DataFrame({"s": ["n", "y"] * 60, "u": [None, "a", "a", None, "b", "b"] * 20})
    found = RobustMSESanitizer(2.0, sensitive=0, distance="hamming", random_state=0).fit(X)
    assert found.mechanism_.symbols == ("a", "b", None)
    reports = found.transform(X)
    assert reports["u"].dtype == X["u"].dtype and 0 < reports["u"].isna().sum() < 120
    assert set(reports["u"].dropna()) == {"a", "b"}
    # written as the public table writes them
    objects = X.assign(u=pd.Series([np.nan, "a"] * 60, dtype=object))
    reports = clone(found).fit(objects).transform(objects)["u"]
    assert {type(report) for report in reports} == {str, float}
    # of numbers, too, where only some outputs are missing
    numbers = X.assign(u=[np.nan, 1.0, 1.0, np.nan, 2.0, 2.0] * 20)
    found = RobustMSESanitizer(2.0, sensitive=0, distance="hamming", outputs=[2, np.nan]).fit(
        numbers
    )
    assert found.mechanism_.symbols == (2, None)
    assert found.transform(numbers)["u"].dtype == float
    with pytest.raises(ValueError, match="'squared' needs numbers, but U has missing values; use"):
        RobustMSESanitizer(sensitive=0, distance="squared").fit(numbers)


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
        ({"distance": np.eye(2)}, r"shape \(2, 2\), but .* 3 values of U and 3 outputs.*\(3, 3\)"),
        (
            {"distance": np.eye(3), "outputs": [0, 1]},
            r"it needs shape \(3, 2\), values of U in rows, in the order of `joint_.values`",
        ),
        ({"distance": wrong_table(-0.5)}, "not negative, .* value 1 to output 2 is -0.5"),
        ({"distance": wrong_table(np.nan)}, "finite .* value 1 to output 2 is nan"),
        ({"distance": wrong_table(np.inf)}, "finite .* value 1 to output 2 is inf"),
        ({"distance": lambda u, y: "far"}, r"distance\(0, 0\) must be a number, got 'far'"),
        ({"distance": lambda u, y: u - y}, "not negative, .* value 0 to output 1 is -1.0"),
        ({"outputs": []}, "outputs is empty: list at least one"),
        ({"outputs": "012"}, "outputs='012' must be None or a list of values"),
        ({"outputs": {0, 1}}, "must be None or a list of values"),
        ({"outputs": {0: "a"}}, "must be None or a list of values"),
        ({"outputs": 3}, "outputs=3 must be None or a list of values"),
        ({"outputs": [0, 1, 1.0]}, "outputs lists 1 more than once"),
        ({"outputs": [0, np.nan, None]}, "outputs lists None more than once"),
        ({"outputs": [0, [1]]}, r"outputs must be single values, as U has one column: not \[1\]"),
        ({"outputs": [0, np.inf]}, "outputs=.* finite numbers, strings"),
        ({"outputs": ["low", "high"]}, "numbers, but outputs has the value 'low'; use dist"),
        ({"outputs": [0, None]}, "numbers, but outputs has missing values; use distance='hamm"),
        ({"outputs": [10**400]}, "'squared' needs numbers of moderate size, but outputs has one"),
        ({"outputs": [1e200]}, r"moderate size, but outputs has one beyond 1e\+100"),
        ({"outputs": [(0,), (1,)], "distance": "hamming"}, r"U has one column: not \(0,\)"),
        ({"tol": 0}, "tol=0 must be a number between 0 and 1"),
        ({"tol": 1.0}, "tol=1.0 must be a number between 0 and 1"),
        ({"tol": "small"}, "tol='small' must be a number between 0 and 1"),
        ({"tol": np.nan}, "tol=nan must be a number between 0 and 1"),
        ({"robust_utility": "yes"}, "robust_utility='yes' must be True or False"),
        ({"robust_privacy": None}, "robust_privacy=None must be True or False"),
        ({"robust_privacy": 1}, "robust_privacy=1 must be True or False"),
        ({"time_limit": 0}, "time_limit=0 must be a positive number of seconds, or None"),
        ({"time_limit": "60 s"}, "time_limit='60 s' must be a positive number of seconds"),
        ({"solver": "simplex"}, "solver='simplex' must be one of 'auto'"),
        (
            {"uncertainty": RenyiBall(region="ball")},
            "region='ball' must be one of 'joint', 'product', 'box', 'lower'",
        ),
        ({"uncertainty": RenyiBall}, r"the class RenyiBall: write uncertainty=RenyiBall\(\)"),
        ({"encode": "values"}, "encode='values' must be one of 'symbol', 'onehot', 'posterior'"),
    ],
    ids=words,
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        fit(**parameters)


STRINGS = pd.DataFrame({"s": ["n", "y"] * 40, "u": list("abba" * 20), "v": [1, 2, 3, 1] * 20})


@pytest.mark.parametrize(
    ("columns", "parameters", "message"),
    [
        (
            ["s", "u"],
            {"distance": "squared"},
            "distance='squared' needs numbers, but U has the value 'a'; use distance",
        ),
        (["s", "u"], {"distance": "absolute"}, "'absolute' needs numbers.*distance='hamming'"),
        (
            ["s", "v", "u"],
            {"distance": "squared"},
            "distance='squared' needs numbers, but U has several columns; use",
        ),
        (
            ["s", "u", "v"],
            {"outputs": ["a", "b"]},
            "U has 2 columns, .* tuple of 2 values, but 'a'",
        ),
        (["s", "u", "v"], {"outputs": [("a", 1), ("b",)]}, r"2 values, but \('b',\) is not"),
        (["s", "u", "v"], {"outputs": [("a", 1), ("a", 1.0)]}, r"lists \('a', 1\) more than once"),
        (["s", "u", "v"], {"outputs": ["ab", "cd"], "distance": "hamming"}, "'ab' is not"),
        (["s", "u", "v"], {"outputs": [{"a", 1}], "distance": "hamming"}, "is not"),
    ],
)
def test_values_and_outputs_are_checked(columns, parameters, message):
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


# --- Outputs -------------------------------------------------------------------------------------


def test_more_outputs_can_only_help():
    values = [
        fit(SPARSE, outputs=outputs).worst_case_distortion_
        for outputs in ([1], [1, 2], [0, 1, 2, 3], [0, 0.5, 1, 1.5, 2, 2.5, 3])
    ]
    assert all(b <= a * (1 + TOL) for a, b in itertools.pairwise(values))
    assert values[-1] < 0.98 * values[2]  # the values of U are not the best outputs
    one = fit(SPARSE, outputs=[1])
    assert one.mechanism_.shape == (1, 12) and np.all(one.mechanism_.matrix == 1)
    assert one.certificate_.eps < 1e-9
    np.testing.assert_array_equal(one.transform(rows_of(SPARSE)), np.ones((12, 1)))


@pytest.mark.parametrize("far", [1e4, -1e6])
def test_an_output_far_away_does_no_harm_to_the_design(far):
    without, more = fit(COUNTS), fit(COUNTS, outputs=[0, 1, 2, far])
    assert more.solution_.objective <= without.solution_.objective * (1 + TOL)
    assert more.solution_.gap <= TOL


@pytest.mark.parametrize("far", [1e4, -1e6])
@pytest.mark.parametrize("eps", [1e-3, 0.5])
def test_an_output_far_away_is_not_sent_by_mistake(far, eps):
    found = fit(COUNTS, eps, outputs=[0, 1, 2, far])
    assert found.worst_case_distortion_ <= found.solution_.objective * (1 + 2 * TOL)


@pytest.mark.parametrize(
    "outputs",
    [[0.5, 2.5], (0.5, 2.5), np.array([0.5, 2.5]), pd.Series([0.5, 2.5])],
    ids=lambda v: type(v).__name__,
)
def test_midpoints_of_bins(outputs):
    found = fit(SPARSE, 2.0, outputs=outputs, random_state=0)
    X = np.repeat(rows_of(SPARSE), 20, axis=0)
    assert found.mechanism_.symbols == (0.5, 2.5)
    reports = found.transform(X)
    assert reports.dtype == float and set(reports[:, 0]) == {0.5, 2.5}
    frame = pd.DataFrame(X, columns=["s", "u"])
    for dtype in ("int64", "Int64", "int8", "category") if type(outputs) is list else ("Int64",):
        table = frame.astype({"u": dtype})
        refitted = clone(found).fit(table).transform(table)
        assert list(refitted.columns) == ["u"]
        assert set(refitted["u"]) == {0.5, 2.5}
    assert worst_of(found, squared) == pytest.approx(found.worst_case_distortion_, rel=1e-6)


def test_outputs_of_a_columns_own_kind_keep_its_dtype():
    X = pd.DataFrame(rows_of(SPARSE), columns=["s", "u"]).astype({"u": "uint8"})
    found = RobustMSESanitizer(sensitive=0, outputs=[3.0, 1]).fit(X, sample_weight=SPARSE.ravel())
    assert found.mechanism_.symbols == (3.0, 1)  # in the order given
    for table in (X, X.astype("int64")):  # that of the public table
        assert found.transform(table)["u"].dtype == "uint8"


def test_tuples_for_several_columns():
    outputs = [("a", 1.5), ("b", None), ("new", 3)]
    found = RobustMSESanitizer(
        3.0, sensitive=0, distance="hamming", outputs=outputs, random_state=0
    )
    reports = found.fit(STRINGS).transform(STRINGS)
    assert set(found.mechanism_.symbols) <= set(outputs)
    assert list(reports.columns) == ["u", "v"] and reports["v"].dtype == float
    seen = {(u, None if np.isnan(v) else v) for u, v in reports.itertuples(index=False)}
    assert seen == {("a", 1.5), ("b", None)}  # nobody is nearer to the new one
    lists = clone(found).set_params(outputs=[list(output) for output in outputs]).fit(STRINGS)
    assert lists.mechanism_.symbols == found.mechanism_.symbols


def test_symbols_survive_json():
    for found in (
        fit(SPARSE, outputs=[0, 1.5, 3]),
        RobustMSESanitizer(sensitive=0, distance="hamming", outputs=[("a", 1.5), ("b", None)]).fit(
            STRINGS
        ),
        RobustMSESanitizer(sensitive=0, distance="hamming").fit(
            STRINGS[["s", "u"]].replace("a", None)
        ),
    ):
        mechanism = found.mechanism_
        again = Mechanism.from_json(mechanism.to_json())
        assert again.symbols == mechanism.symbols
        assert [type(y) for y in again.symbols] == [type(y) for y in mechanism.symbols]
        np.testing.assert_array_equal(again.weights, mechanism.weights)
        assert again.columns == mechanism.columns
        assert certify(again, found.uncertainty_, found.joint_).eps == found.certificate_.eps
