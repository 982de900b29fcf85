"""The sanitizers promise what was proven, about what they do with every record."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from skrldp import (
    AllDistributions,
    AOptimalSanitizer,
    CertificateError,
    GRRSanitizer,
    IRSanitizer,
    PolyOptSanitizer,
    RenyiBall,
    RobustMSESanitizer,
    certify,
)
from skrldp.certificate import _release
from skrldp.claims import Claims
from skrldp.sanitizers import closed_forms

COUNTS = np.array([[300, 200, 100], [150, 250, 500]])
ROWS = [[s, u] for s in range(2) for u in range(3)]


def test_four_weights_are_not_released_unproven(monkeypatch):
    """What decides is the bound that is proven, not the leakage that was found."""
    prove = _release.prove

    def unsure(*arguments):
        proof = prove(*arguments)
        loose = [replace(one, eps=0.8, attained=0.6) for one in proof.claims]
        return replace(proof, claims=Claims(tuple(loose)))

    monkeypatch.setattr(closed_forms, "_DENSE_CELLS", 0)
    grr = GRRSanitizer(0.7, sensitive=0).fit(ROWS)
    assert grr.mechanism_.form.blocks is not None and grr.certificate_.holds(0.7)
    monkeypatch.setattr(_release, "prove", unsure)
    with pytest.raises(CertificateError, match=r"the bound is 0\.8"):
        GRRSanitizer(0.7, sensitive=0).fit(ROWS)


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (IRSanitizer, {}),
        (PolyOptSanitizer, {"time_limit": None}),
        (RobustMSESanitizer, {"distance": "hamming"}),
    ],
)
def test_the_certificate_is_for_the_set_that_was_asked_for(cls, options):
    ball = RenyiBall(radius=0.02, region="lower")
    found = cls(0.7, sensitive=0, uncertainty=ball, **options).fit(
        ROWS, sample_weight=COUNTS.ravel()
    )
    around = found.certificate_.uncertainty
    assert around == ball.fit_set(found.joint_) and around.radius == 0.02
    again = certify(found.mechanism_.matrix, ball, found.joint_).eps
    assert again == pytest.approx(found.certificate_.eps, abs=1e-9) and again <= 0.7


def test_a_huge_radius_is_not_all_distributions():
    """k reports leak k eps at most only if nothing is outside the set."""
    for radius, everything in ((700.0, False), (math.inf, True)):
        found = IRSanitizer(0.7, uncertainty=RenyiBall(radius=radius), sensitive=0)
        claims = found.fit(ROWS, sample_weight=COUNTS.ravel()).mechanism_.claims
        assert claims.main.around.is_everything is everything
        assert "all distributions" in repr(found.certificate_) or not everything


@pytest.mark.parametrize("cls", [RobustMSESanitizer, AOptimalSanitizer])
def test_a_secret_is_compared_with_itself_in_every_design_that_is_asked_to(cls):
    """Such mechanisms are among the others, and privacy is proven for the same set."""
    rows, counts = [[s, u] for s in range(2) for u in range(3)], [60, 30, 25, 20, 45, 30]

    def fitted(**papers):
        ball = RenyiBall(radius=0.1, **papers)
        return cls(1.0, sensitive=0, uncertainty=ball).fit(rows, sample_weight=counts)

    free, papers = fitted(), fitted(same_secret=True)
    assert papers.certificate_.holds(1.0)
    assert papers.certificate_.uncertainty == free.certificate_.uncertainty
    assert papers.solution_.objective > 1.01 * free.solution_.objective


FAST = {"distance": "hamming", "robust_utility": False, "uncertainty": AllDistributions()}


# U has two columns, of which one combination, ("a", 3), never occurs.
CELLS = [row for row in itertools.product("st", "ab", (1, 2, 3)) if row[1:] != ("a", 3)]
RECORDS = [90, 40, 70, 20, 80, 30, 60, 50, 35, 75]


def test_what_is_known_of_a_record_is_not_grouped_with_what_is_not():
    """Else ("a", 3) would be reported as ("other", "other"): another cell to whoever knows "a"."""
    options = {"sensitive": 0, "handle_unknown": "infrequent_if_exist", **FAST}
    with pytest.raises(ValueError, match=r"needs all combinations.*categories='product'"):
        RobustMSESanitizer(observer_columns=[1], **options).fit(CELLS, sample_weight=RECORDS)
    # Nothing but known values, or all combinations: each record keeps what is known of it.
    for other in ({"observer_columns": [1, 2]}, {"observer_columns": [1], "categories": "product"}):
        found = RobustMSESanitizer(**other, **options).fit(CELLS, sample_weight=RECORDS)
        assert found.certificate_.claims.known.eps <= 1.0
