"""Promises of tables with gaps, and requests that cannot be kept: what attacks have found."""

import itertools

import pytest

from skrldp import AllDistributions, RobustMSESanitizer

FAST = {"distance": "hamming", "robust_utility": False, "uncertainty": AllDistributions()}


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
        assert found.certificate_.claims.known.eps <= 1.0
