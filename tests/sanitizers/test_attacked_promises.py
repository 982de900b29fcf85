"""Promises of tables with gaps, and requests that cannot be kept: what attacks have found."""

import itertools

import numpy as np
import pandas as pd
import pytest

from skrldp import AllDistributions, PolyOptSanitizer, RenyiBall, RobustMSESanitizer

# Two sensitive columns, of which one combination never occurs.
GAPS = [row for row in itertools.product("ab", "xyz", (0, 1)) if row[:2] != ("b", "z")]
FAST = {"distance": "hamming", "robust_utility": False, "uncertainty": AllDistributions()}
COUNTS = np.arange(10, 10 + 7 * len(GAPS), 7)


@pytest.mark.filterwarnings("ignore:the design stopped at max_iter")
@pytest.mark.parametrize("solver", ["alternation", "columns"])
def test_each_of_two_columns_whose_combinations_do_not_all_occur(solver):
    options = {"sensitive": [0, 1], "protect": "each", "max_iter": 2}
    ball = RenyiBall(radius=0.01)
    found = PolyOptSanitizer(1.0, uncertainty=ball, solver=solver, **options)
    found.fit(GAPS, sample_weight=COUNTS)
    assert all(proof.eps <= 1.0 for proof in found.certificate_.each.values())


# U has two columns, of which one combination, ("a", 3), never occurs.
CELLS = [row for row in itertools.product("st", "ab", (1, 2, 3)) if row[1:] != ("a", 3)]
RECORDS = [90, 40, 70, 20, 80, 30, 60, 50, 35, 75]


def test_what_is_known_of_a_record_is_not_grouped_with_what_is_not():
    """Else ("a", 3) would be reported as ("other", "other"): another cell to whoever knows "a"."""
    options = {"sensitive": 0, "handle_unknown": "infrequent_if_exist", **FAST}
    with pytest.raises(ValueError, match=r"needs all combinations.*categories='product'"):
        RobustMSESanitizer(known=[1], **options).fit(CELLS, sample_weight=RECORDS)
    # Nothing but known values, or all combinations: each record keeps what is known of it.
    for other in ({"known": [1, 2]}, {"known": [1], "categories": "product"}):
        found = RobustMSESanitizer(**other, **options).fit(CELLS, sample_weight=RECORDS)
        assert found.certificate_.known.eps <= 1.0


@pytest.mark.parametrize("options", [{"known": [2]}, {"sensitive": [0, 1], "protect": "each"}])
def test_unknown_values_are_not_drawn_where_that_is_not_proven(options):
    options = {"sensitive": 0, **FAST, **options}
    found = RobustMSESanitizer(**options).fit(GAPS, sample_weight=COUNTS)
    strange = [(*GAPS[0][:2], 7)]
    with pytest.raises(ValueError, match="unseen in fit"):
        found.transform(strange)
    with pytest.raises(ValueError, match="not proven private for such draws"):
        found.set_params(handle_unknown="impute").transform(strange)
    with pytest.raises(ValueError, match="cannot go with"):
        found.fit(GAPS, sample_weight=COUNTS)
    plain = RobustMSESanitizer(**FAST).fit(GAPS, sample_weight=COUNTS)
    plain.set_params(handle_unknown="impute").transform(strange)


def test_labels_of_a_frame_are_not_taken_for_positions():
    eps = pd.DataFrame([[1.0, 0.5], [0.5, 1.0]], index=["t", "s"], columns=["t", "s"])
    with pytest.raises(ValueError, match=r"eps is a data frame.*eps\.to_numpy\(\)"):
        RobustMSESanitizer(eps, sensitive=0, **FAST).fit(CELLS, sample_weight=RECORDS)


def test_other_sensitive_columns_are_values_of_u():
    """So the level of confidence depends on where their values come from, too."""
    options, found = {"sensitive": [0, 1], **FAST, "uncertainty": None}, []
    declared = {0: ["a", "b"], 1: ["x", "y", "z"], 2: [0, 1]}
    for protect, categories in (
        ("each", {2: [0, 1]}),
        ("each", declared),
        ("jointly", {2: [0, 1]}),
    ):
        fitted = RobustMSESanitizer(protect=protect, categories=categories, **options)
        found.append(fitted.fit(GAPS, sample_weight=COUNTS).mechanism_.guarantee.alphabet)
    assert found == ["frequent", "declared", "declared"]


def test_a_constant_column_among_those_protected_by_themselves():
    table = [("k", s, u) for s in "st" for u in "abc"]
    fitted = RobustMSESanitizer(1e-9, sensitive=[0, 1], protect="each", **FAST)
    guarantee = fitted.fit(table, sample_weight=RECORDS[:6]).mechanism_.guarantee
    assert guarantee.eps_pairs is None and [one.eps for one in guarantee.further] == [0.0, 0.0]
