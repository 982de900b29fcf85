"""One page about all blocks of a wide table: what holds for the whole, and which block is worst."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from block_tables import KNOWN, fitted_blocks, wide_table
from conftest import few_iterations
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from skrldp import (
    BlockSanitizer,
    GRRSanitizer,
    IRSanitizer,
    NonRobustSanitizer,
    RenyiBall,
    SRRSanitizer,
    expected_std_error,
    privacy_report,
)
from skrldp.report import in_all_blocks

# Designs end early, to save time.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::skrldp.PrivacyLeakWarning"
)
TABLE = wide_table()
TOWNS = ["far", "near"]


def fitted(**options):
    own = {"sensitive": "ill", "base": GRRSanitizer(), "categories": KNOWN}
    return BlockSanitizer(**(own | options)).fit(TABLE)


def lines(report):
    """Each line's text by its label, without the breaks."""
    found, label = {}, None
    for line in str(report).splitlines()[1:]:
        if line.startswith("  ") and line[2] not in " -":
            label = line[2:16].strip()
            found[label] = ""
        if label is not None:
            found[label] += " " + line[16:].strip()
    return found


def test_figures_are_those_of_all_blocks_together():
    sanitizer = fitted_blocks("singles", 4.0)
    report = privacy_report(FrozenEstimator(sanitizer))
    each = [privacy_report(one) for one in sanitizer.sanitizers_]
    assert report.eps_proven == max(one.eps_proven for one in each) == sanitizer.certificate_.eps
    assert report.worst_block == sanitizer.blocks_[int(np.argmax(report.eps_of_blocks))]
    for name in ("eps_all", "eps_given_u", "eps_record", "eps_at_public"):
        assert getattr(report, name) == max(getattr(one, name) for one in each)
    assert report.eps_of_reports == {
        k: sanitizer.manifest_.claims.bound_of(k) for k in (1, 2, 3, 10)
    }
    assert report.eps_of_reports[2] == pytest.approx(report.eps_proven + report.eps_all)
    assert report.nonsensitive == ("age", "home", "job")
    assert report.beta == pytest.approx(0.05)
    assert report.n_cells == sum(one.n_cells for one in each)
    found = report.expected_errors["column 'age'"]
    errors = expected_std_error(sanitizer, 10_000, "age")
    assert found["worst"] == pytest.approx(errors.max())
    json.dumps(report.to_dict(), default=str)


def test_the_page_says_what_holds_for_the_whole():
    report = privacy_report(fitted_blocks("pairs", 4.0))
    said = lines(report)
    assert "3 blocks, of 2 columns of U and 12 to 18 cells each" in said["blocks"]
    assert "some one of them with probability at most 0.05" in said["sets"]
    assert said["drift"].endswith("eps <= 4 holds even then")
    assert "an observer who knows U exactly" in said["knows U"]
    assert "utility" not in said
    assert max(map(len, str(report).splitlines())) <= 88
    assert "worst block" in report._repr_html_()


def test_without_eps_all_there_is_no_bound_on_a_second_block():
    report = privacy_report(fitted_blocks())
    said = lines(report)
    assert math.isinf(report.eps_of_reports[2]) == math.isinf(report.eps_all)
    assert said["drift"].endswith("there is no bound; eps_all= gives one") == math.isinf(
        report.eps_all
    )
    everything = lines(privacy_report(fitted(base=SRRSanitizer())))
    assert everything["drift"].strip() == "the bounds hold for every population"


def test_known_columns_have_their_own_line():
    with few_iterations():
        sanitizer = fitted(base=None, known="age")
    report = privacy_report(sanitizer)
    assert report.known == ("age",)
    assert report.eps_known == max(one.claims.known.eps for one in sanitizer.certificates_)
    assert "to an observer who knows 'age'" in lines(report)["known columns"]
    assert report.beta == pytest.approx(0.1)  # of both statements


def test_warnings_stand_once_and_name_their_blocks():
    stopped = privacy_report(fitted(base=NonRobustSanitizer()))
    found = [text for text in stopped.warnings if "public distribution alone" in text]
    assert len(found) == 3  # each with another figure
    assert found[0].startswith("Block ('age'): Privacy holds at the public distribution alone")
    assert stopped.eps_over_set >= 1.0
    given = fitted()
    given.set_params(random_state=3, eps=2.0)
    said = privacy_report(given).warnings
    assert sum("repeatable with random_state=3" in text for text in said) == 1
    assert sum("eps=2.0 was set after fit, which used 1.0" in text for text in said) == 1
    own = BlockSanitizer(sensitive="ill", base=GRRSanitizer(), categories=KNOWN)
    own.fit_transform(TABLE)
    assert sum("the same table" in text for text in privacy_report(own).warnings) == 1
    assert not any("the same table" in text for text in privacy_report(fitted()).warnings)


def test_the_weakest_source_of_values_is_that_of_all_blocks():
    sanitizer = fitted()
    one, *others = (privacy_report(own) for own in sanitizer.sanitizers_)
    for sources, weakest in [
        (["declared", "declared"], "declared"),
        (["declared", "frequent"], "frequent"),
        (["declared", "frequent"], "frequent"),
        (["frequent", "learned"], "learned"),
    ]:
        for first, other in (sources, sources[::-1]):
            each = [_learned(one, first), *(_learned(own, other) for own in others)]
            assert in_all_blocks(sanitizer, each).covered.alphabet == weakest


def _learned(report, source):
    return replace(report, covered=replace(report.covered, alphabet=source))


def test_what_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        privacy_report(BlockSanitizer())


def test_the_condition_of_beta_stands_beside_the_probability_of_all_sets():
    """The worst block's values may be declared where those of another one are not."""
    table = TABLE.assign(town=np.where(np.arange(len(TABLE)) < 3, "far", "near"))
    declared = {"base": IRSanitizer(), "categories": KNOWN | {"town": TOWNS}}
    known = BlockSanitizer(sensitive="ill", **declared).fit(table)
    learned = BlockSanitizer(sensitive="ill", **(declared | {"categories": KNOWN})).fit(table)
    assert "only if" not in lines(privacy_report(known))["sets"]
    assert "only if the values of U come from elsewhere" in lines(privacy_report(learned))["sets"]


def test_a_worst_block_that_holds_everywhere_says_nothing_of_the_others():
    """Of few records and many values a set of low order has all distributions."""
    rows = np.arange(12)
    table = pd.DataFrame({"ill": rows % 2, "home": rows // 2 % 2, "job": rows % 3})
    categories = {"ill": [0, 1], "home": [0, 1], "job": list(range(40))}
    base = IRSanitizer(uncertainty=RenyiBall(alpha=0.5))
    sanitizer = BlockSanitizer(sensitive="ill", categories=categories, base=base).fit(table)
    report = privacy_report(sanitizer)
    said = lines(report)
    assert report.coverage == "all distributions" and report.eps_all > 1.01 * report.eps_proven
    assert "for every population" not in said["drift"]
    assert "each counted record" in said["assumes"]
