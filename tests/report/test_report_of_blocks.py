"""One page about all blocks of a wide table: what holds for the whole, and which block is worst."""

import numpy as np
import pandas as pd
import pytest
from block_tables import KNOWN, fitted_blocks, wide_table
from reports_of_fits import words_of
from sklearn.frozen import FrozenEstimator

from skrldp import (
    BlockSanitizer,
    GRRSanitizer,
    IRSanitizer,
    NonRobustSanitizer,
    RenyiBall,
    expected_std_error,
    privacy_report,
)

# Designs end early, to save time.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::skrldp.PrivacyLeakWarning"
)
TABLE = wide_table()
TOWNS = ["far", "near"]


def fitted(**options):
    own = {"sensitive": "ill", "base": GRRSanitizer(), "categories": KNOWN}
    return BlockSanitizer(**(own | options)).fit(TABLE)


def test_figures_are_those_of_all_blocks_together():
    sanitizer = fitted_blocks("singles", 4.0)
    report = privacy_report(FrozenEstimator(sanitizer))
    each = [privacy_report(one) for one in sanitizer.sanitizers_]
    assert report.claims.eps == max(one.claims.eps for one in each) == sanitizer.certificate_.eps
    for name in ("eps_worst_case", "eps_given_u"):
        assert getattr(report.claims, name) == max(getattr(one.claims, name) for one in each)
    for name in ("eps_record", "eps_at_public"):
        assert getattr(report, name) == max(getattr(one, name) for one in each)
    blocks = zip(sanitizer.blocks_, sanitizer.manifest_.shares, each, strict=True)
    for found, (block, share, one) in zip(report.blocks, blocks, strict=True):
        assert (found["columns"], found["share"]) == (block, share)
        assert found["claims"][0]["eps"] == one.claims.eps
    assert report.claims == sanitizer.manifest_.claims
    assert report.nonsensitive == ("age", "home", "job")
    assert report.claims.beta == pytest.approx(0.05)
    assert report.n_cells == sum(one.n_cells for one in each)
    found = report.expected_errors["column 'age'"]
    errors = expected_std_error(sanitizer, 10_000, "age")
    assert found["worst"] == pytest.approx(errors.max())
    assert "at least one of them with probability at most 0.05" in words_of(report)
    assert "each bound is that of the worst block" in report._repr_html_()


def test_warnings_stand_once_and_name_their_blocks():
    stopped = privacy_report(fitted(base=NonRobustSanitizer()))
    found = [text for text in stopped.warnings if "public distribution alone" in text]
    assert len(found) == 3  # each with another figure
    assert found[0].startswith("Block ('age'): Privacy holds for the public distribution alone")
    assert stopped.eps_over_set >= 1.0
    given = fitted()
    given.set_params(random_state=3, eps=2.0)
    said = privacy_report(given).warnings
    assert sum("repeatable with random_state=3" in text for text in said) == 1
    assert sum("eps=2.0 was set after fit, which used 1.0" in text for text in said) == 1


def test_the_condition_of_beta_stands_beside_the_probability_of_all_sets():
    """The worst block's values may be declared where those of another one are not."""
    table = TABLE.assign(town=np.where(np.arange(len(TABLE)) < 3, "far", "near"))
    declared = {"base": IRSanitizer(), "categories": KNOWN | {"town": TOWNS}}
    known = BlockSanitizer(sensitive="ill", **declared).fit(table)
    learned = BlockSanitizer(sensitive="ill", **(declared | {"categories": KNOWN})).fit(table)
    words = "rare values were learned"
    assert words not in words_of(privacy_report(known))
    assert words in words_of(privacy_report(learned))


def test_a_worst_block_that_holds_everywhere_says_nothing_of_the_others():
    """Of few records and many values a set of low order has all distributions."""
    rows = np.arange(12)
    table = pd.DataFrame({"ill": rows % 2, "home": rows // 2 % 2, "job": rows % 3})
    categories = {"ill": [0, 1], "home": [0, 1], "job": list(range(40))}
    base = IRSanitizer(uncertainty=RenyiBall(alpha=0.5))
    sanitizer = BlockSanitizer(sensitive="ill", categories=categories, base=base).fit(table)
    report = privacy_report(sanitizer)
    assert report.claims.eps_worst_case > 1.01 * report.claims.eps
    assert "for every population" not in report.summary()
    assert "counted records were drawn independently" in words_of(report)
