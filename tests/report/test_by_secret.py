"""What the privacy report says about each secret: the figures, and when it warns."""

import numpy as np
import pytest
from reports_of_fits import words_of

from skrldp import (
    AllDistributions,
    IRSanitizer,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    SRRSanitizer,
    privacy_report,
)
from skrldp.information import mutual_information

pytestmark = pytest.mark.usefixtures("few_reports")

# Three values and secrets; with few records of the last, little may be told about its people.
CONDITIONALS = np.array([[5, 3, 2], [3, 4, 3], [2, 3, 5]])


def report_of(cls, counts, **parameters):
    names = [[f"s{i}" for i in range(len(counts))], list(range(len(counts[0])))]
    rows = [[s, u] for s in names[0] for u in names[1]]
    return privacy_report(
        cls(sensitive=0, categories=names, **parameters).fit(rows, sample_weight=np.ravel(counts))
    )


def warned(report):
    return [text for text in report.warnings if "some groups" in text]


def test_a_group_about_which_little_is_told_is_warned_of():
    counts = CONDITIONALS * [[400], [40], [4]]
    report = report_of(
        PolyOptSanitizer, counts, eps=0.3, uncertainty=LikelihoodRatioSet(region="lower")
    )
    share, whole = (
        report.normalized_information_by_secret,
        report.normalized_information_given_secret,
    )
    assert share[2] < whole / 2 < share[0]  # what this test is about
    poor = [f"{share[s]:.1%} for 's{s}'" for s in np.argsort(share) if share[s] < whole / 2]
    (text,) = warned(report)
    assert all(name in text for name in poor) and "'s0'" not in text
    assert f"{whole:.1%} of H(U|S=s) is told over all records" in text
    for s, n in enumerate(counts.sum(axis=1)):
        assert f"{share[s]:.1%} for 's{s}' ({n:,} records)" in words_of(report)
    assert not warned(report_of(SRRSanitizer, counts))  # as much about each, though little


def test_figures_agree_with_each_other():
    counts = np.array([[40, 20, 60], [10, 10, 0], [0, 0, 0], [9, 0, 0]])
    report = report_of(IRSanitizer, counts, uncertainty=AllDistributions())
    assert report.secrets == ("s0", "s1", "s2", "s3")
    assert list(report.records_by_secret) == [120, 20, 0, 9]
    assert report.to_dict()["information_by_secret"][3] == 0.0
    told, share = report.information_by_secret, report.normalized_information_by_secret
    assert np.isnan(told).tolist() == [False, False, True, False]
    assert np.isnan(share).tolist() == [False, False, True, True]
    entropy = told[:2] / share[:2]
    assert entropy[1] == pytest.approx(np.log(2.0), abs=1e-12)
    whole = (120 * told[0] + 20 * told[1]) / (120 * entropy[0] + 20 * entropy[1])
    assert report.normalized_information_given_secret == pytest.approx(whole, abs=1e-12)
    assert "; 2 of the secrets have at most one value of U" in words_of(report)


def test_of_many_secrets_the_extremes_are_shown():
    report = report_of(SRRSanitizer, [[k, 12 - k] for k in range(1, 11)])
    share, shown = report.normalized_information_by_secret, words_of(report)
    assert f"the least of 10 secrets is {share.min():.1%} for 's{share.argmin()}'" in shown
    assert f"the greatest {share.max():.1%} for 's{share.argmax()}'" in shown
    assert f"half of them have at least {np.median(share):.1%}" in shown


def test_without_information_nothing_is_said():
    report = report_of(SRRSanitizer, [[5, 0], [0, 7]])
    assert "by secret" not in str(report) and not warned(report)
    assert np.isnan(report.normalized_information_given_secret)


def test_what_is_told_is_of_the_mechanism_as_sampled():
    """The secret's columns alone, against the mutual information of another function."""
    counts = CONDITIONALS * 20
    names = [list("abc"), [0, 1, 2]]
    rows = [[s, u] for s in names[0] for u in names[1]]
    for cls in (SRRSanitizer, IRSanitizer):
        sanitizer = cls(sensitive=0, categories=names).fit(rows, sample_weight=counts.ravel())
        for s, told in enumerate(sanitizer.information_by_secret_):
            columns = sanitizer.mechanism_.matrix[:, 3 * s : 3 * s + 3]
            expected = mutual_information(columns, CONDITIONALS[s] / 10)
            assert told == pytest.approx(expected, abs=1e-12)
        with pytest.raises(ValueError, match="read-only"):
            sanitizer.information_by_secret_[0] = 1.0
