"""What `certify` is given: names in any order but no other names, sets of this table alone."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from leakage_by_definition import leak

from skrldp import (
    AllDistributions,
    BlockSanitizer,
    GRRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    Mechanism,
    RenyiBall,
    certify,
)
from skrldp.surveys.records import SurveyRecords, SurveyTotals

COUNTS = np.array([[40, 30, 20, 10], [10, 60, 25, 5], [5, 5, 10, 80]])
SECRETS, VALUES = ("ann", "bob", None), (1, 2.5, "x", ("y", 2))
JOINT = JointDistribution(COUNTS, SECRETS, VALUES)
MATRIX = np.random.default_rng(0).dirichlet(np.ones(4), size=12).T


def in_another_order(secrets, values):
    """Return the mechanism of MATRIX with its alphabets in another order."""
    cells = np.arange(12).reshape(3, 4)[np.ix_(secrets, values)].ravel()
    names = [SECRETS[s] for s in secrets], [VALUES[u] for u in values]
    return Mechanism.from_matrix(MATRIX[:, cells], *names)


@pytest.mark.parametrize("reports", [1, 2])
@settings(max_examples=6)
@given(st.permutations(range(3)), st.permutations(range(4)))
def test_the_order_of_the_names_does_not_matter(reports, secrets, values):
    plain = Mechanism.from_matrix(MATRIX, SECRETS, VALUES)
    expected = certify(plain, RenyiBall(), JOINT, reports)
    mechanism = in_another_order(secrets, values)
    found = certify(mechanism, RenyiBall(), JOINT, reports)
    assert found.eps == pytest.approx(expected.eps, rel=1e-9)
    np.testing.assert_allclose(found.distribution, expected.distribution, atol=1e-6)
    # The worst distribution is in the table's order, and attains what it says there.
    attained = leak(plain.matrix, found.distribution[None], reports)[0]
    assert attained == pytest.approx(found.eps_attained, rel=1e-9)


@pytest.mark.parametrize(
    ("secrets", "values", "named"),
    [
        (("ann", "bob", "eve"), VALUES, "'eve'"),
        (SECRETS, (1, 2.5, "X", ("y", 2)), "'X'"),
        (SECRETS, (1, 2.5, "x", ("y", "2")), "'2'"),
        (("ann", "ann", None), VALUES, "same name"),
    ],
)
def test_other_names_are_refused(secrets, values, named):
    mechanism = Mechanism.from_matrix(MATRIX, secrets, values)
    with pytest.raises(ValueError, match=named):
        certify(mechanism, RenyiBall(), JOINT)
    with pytest.raises(ValueError, match="cells"):
        certify(mechanism, RenyiBall(), JointDistribution(COUNTS[:2]))


@pytest.mark.parametrize("chosen", [LikelihoodRatioSet(), RenyiBall()])
def test_a_set_of_another_number_of_records_or_values_is_refused(chosen):
    """It is far too small for this table, and its beta would be stated."""
    large = chosen.fit_set(JointDistribution(300 * COUNTS))
    for around in (large, replace(large, table=None)):  # as read from JSON
        with pytest.raises(ValueError, match="different table than this one of 300 records"):
            certify(MATRIX, around, JOINT)
    assert certify(MATRIX, large, JointDistribution(300 * COUNTS)).uncertainty is large
    narrow = chosen.fit_set(JointDistribution(np.full((2, 2), 200)))
    rows = np.tile([[0.3], [0.7]], 80)
    for counts in (np.full((2, 40), 10), [[10, 20], [300, 470]]):
        with pytest.raises(ValueError, match="to a different table"):
            certify(rows[:, : np.size(counts)], narrow, JointDistribution(counts))


def test_a_set_of_another_survey_or_of_independent_records_is_refused():
    """Weights and clusters are as many, but in one survey those of a cluster are alike."""
    cells = np.repeat(range(4), 30)
    alike, mixed = cells * 5 + np.tile(range(5), 24), np.tile(range(20), 6)
    joints = []
    for clusters in (alike, mixed):
        records = SurveyRecords(np.ones(120), np.zeros(120, int), clusters)
        survey = SurveyTotals.of(records, cells, 4)
        joints.append(JointDistribution([[30, 30], [30, 30]], survey=survey))
    joints.append(JointDistribution(joints[0].counts))  # no survey
    sets = [LikelihoodRatioSet(radius="asymptotic").fit_set(joint) for joint in joints]
    assert joints[0].survey.degrees == joints[1].survey.degrees
    assert sets[0].single != pytest.approx(sets[1].single)
    for other in sets[1:]:
        with pytest.raises(ValueError, match="to a different table"):
            certify(MATRIX[:, :4], other, joints[0])
    turned = JointDistribution(  # the same table with its secrets in another order
        joints[0].counts, survey=joints[0].survey.arranged(np.array([2, 3, 0, 1]), 4)
    )
    assert certify(MATRIX[:, :4], sets[0], turned).uncertainty is sets[0]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ma.masked_array(MATRIX, MATRIX > 0.5), "masked"),
        (MATRIX + 1e-3j, "real"),
        (MATRIX.astype(str), "real"),
        (MATRIX * (1.0 + 4e-10), "column 0 .* deviates from a sum of 1 by"),
    ],
)
def test_what_would_be_read_otherwise_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        certify(matrix, RenyiBall(), JOINT)


def test_blocks_are_certified_one_by_one():
    wide = BlockSanitizer(base=GRRSanitizer(), sensitive=0).fit(
        [["no", 1, 2], ["yes", 2, 1], ["no", 2, 2]]
    )
    joint = wide.sanitizers_[0].joint_
    for candidate in (wide, wide.manifest_):
        with pytest.raises(
            TypeError, match=r"manifest.mechanisms\[k\], around .* sanitizers_\[k\]"
        ):
            certify(candidate, AllDistributions(), joint)
    assert certify(wide.manifest_.mechanisms[0], AllDistributions(), joint).holds(1.0)
    with pytest.raises(TypeError, match="got GRRSanitizer: pass its `mechanism_` after fit"):
        certify(wide.sanitizers_[0], AllDistributions(), joint)


def test_a_certificate_states_where_values_come_from_and_rounds_upwards():
    learned = JointDistribution(COUNTS, SECRETS, VALUES, alphabet="learned")
    rng = np.random.default_rng(1)
    for _ in range(10):  # rounded to the nearest, about half of the bounds would be false
        mechanism = Mechanism.from_matrix(rng.dirichlet(np.ones(4), 12).T, SECRETS, VALUES)
        certificate = certify(mechanism, RenyiBall(), learned)
        assert certificate.claims.main.around.values_from == "learned"
        printed = float(re.search(r"eps<=([0-9.]+)", repr(certificate))[1])
        assert certificate.eps <= printed <= 1.001 * certificate.eps
