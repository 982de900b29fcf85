"""What a sanitizer writes into its mechanism is what the certificate proves, for every secret."""

import math
from dataclasses import replace

import pytest

from skrldp import (
    AllDistributions,
    JointDistribution,
    Mechanism,
    PolyOptSanitizer,
    RenyiBall,
    certify,
)
from skrldp.certificate import guarantee_of

JOINT = JointDistribution([[7, 10], [26, 57]])
RESPONSE = Mechanism.from_matrix(
    [[0.4, 0.3, 0.2, 0.25], [0.6, 0.7, 0.8, 0.75]], JOINT.secrets, JOINT.values
)
PROOF = certify(RESPONSE, RenyiBall(radius=0.01), JOINT)
COLUMNS = [("age", False), ("ill", True), (7, True), ("place", False)]
ALL = AllDistributions().fit_set(JOINT)


def test_bounds_over_all_distributions():
    claim = guarantee_of(PROOF, 1.0)
    assert (claim.eps, claim.eps_all, claim.eps_given_u) == (
        PROOF.eps, PROOF.eps_all, PROOF.eps_given_u,
    )  # fmt: skip
    assert claim.eps < claim.eps_all < math.inf and claim.further == ()
    twice = certify(RESPONSE, RenyiBall(radius=0.01), JOINT, reports=2)
    assert twice.eps_attained <= claim.bound_of(2)
    none = guarantee_of(replace(PROOF, eps_all=math.inf, eps_given_u=math.inf), 1.0)
    assert (none.eps_all, none.eps_given_u, none.bound_of(2)) == (None, None, math.inf)
    whole = guarantee_of(certify(RESPONSE, AllDistributions(), JOINT), 1.0)
    assert whole.eps_all is None and whole.bound_of(2) >= 2 * PROOF.eps_all - 1e-9
    # Both bound the leakage over the set, so the smaller one does.
    above = guarantee_of(replace(PROOF, eps=PROOF.eps_all + 1e-9), 1.0)
    assert above.eps == above.eps_all == PROOF.eps_all
    with pytest.raises(ValueError, match="certificate of one report"):
        guarantee_of(twice, 1.0)


def test_known_columns_of_all_secrets_together():
    proof = replace(PROOF, known=replace(PROOF, eps=0.6))
    with pytest.raises(ValueError, match="about known columns; say which"):
        guarantee_of(proof, 0.5, columns=COLUMNS)
    claim = guarantee_of(proof, 0.5, columns=COLUMNS, known=[3])
    (statement,) = claim.further
    assert (statement.secret, statement.known) == ((1, 2), (3,))
    assert (statement.eps_requested, statement.eps) == (0.5, 0.6)


def test_it_goes_through_json():
    X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    found = PolyOptSanitizer(1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    claim = found.mechanism_.guarantee
    assert claim.eps_all == found.certificate_.eps_all < math.inf
    assert Mechanism.from_json(found.mechanism_.to_json()).guarantee == claim
