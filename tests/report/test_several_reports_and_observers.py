"""What a privacy report says of several reports and of observers who know columns.

Bounds for several reports, for observers who know columns of U and for all observers are the
certificates'; what can leak more is never understated.
"""

import itertools
import math
import warnings

import numpy as np
import pytest
import reports_of_fits
from conftest import few_iterations
from reports_of_fits import leakage, row

from skrldp import (
    AOptimalSanitizer,
    IRSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    SRRSanitizer,
    certify,
    privacy_report,
)
from skrldp._params import at_most
from skrldp.mechanism.manifest import read_json
from skrldp.mechanism.messages import lines_of, notes_of

pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",
)

# --- Several reports -----------------------------------------------------------------------------

THREE = [[s, u] for s in ("red", "green", "blue") for u in range(2)]
OF_THREE = [120, 60, 90, 50, 140, 80]


def fitted(cls=PolyOptSanitizer, rows=THREE, counts=OF_THREE, **parameters):
    return reports_of_fits.fitted(cls, rows, counts, **parameters)


@pytest.mark.parametrize(
    ("cls", "parameters"),
    [
        (PolyOptSanitizer, {"eps_worst_case": 3.0}),
        (PolyOptSanitizer, {"observer_columns": [1]}),
        (IRSanitizer, {}),
        (SRRSanitizer, {}),
    ],
)
def test_reports_about_one_person(cls, parameters):
    """Figures are the certificates', and products of rows leak no more at the public table."""
    sanitizer = fitted(cls, **parameters)
    report, certificate = privacy_report(sanitizer), sanitizer.certificate_
    claims = report.claims
    assert (claims.eps_worst_case, claims.eps_given_u) == (
        certificate.eps_worst_case,
        certificate.eps_given_u,
    )
    rows, shape = sanitizer.mechanism_.matrix, sanitizer.joint_.counts.shape
    conditionals = sanitizer.joint_.conditionals
    for k in (1, 2, 3, 10):
        around, eps = certificate.uncertainty, claims.find(reports=k).eps
        proof = certify(sanitizer.mechanism_, around, sanitizer.joint_, reports=k)
        assert proof.eps <= eps * (1.0 + 1e-9)  # certify may look at more combinations
        assert claims.find(reports=k).attained <= eps
        assert k == 1 or eps <= certificate.eps + (k - 1) * certificate.eps_worst_case + 1e-9
        if k <= 3:
            products = [np.prod(some, axis=0) for some in itertools.product(rows, repeat=k)]
            of_secret = np.einsum("ysu,su->ys", np.reshape(products, (-1, *shape)), conditionals)
            assert leakage(of_secret, itertools.permutations(range(3), 2)) <= eps + 1e-9
        same, any_record = (row(report, reports=f"{k}{of}") for of in (", same record", ""))
        if same and any_record not in (None, "no bound"):
            assert float(same) < float(any_record)  # weaker claims are not shown
        stated = same or any_record
        if math.isfinite(eps):
            assert stated == at_most(eps, ".6g")
        else:
            assert stated in ("no bound", None)
    said = "one report to an observer who knows nothing else" in " ".join(report.warnings)
    assert said == (cls is not SRRSanitizer and "eps_worst_case" not in parameters)


@pytest.mark.parametrize("eps_worst_case", [None, 2.0])
def test_reports_about_a_record_that_changes_are_told_apart(eps_worst_case):
    """U2 = U1 xor S: each is distributed as in the table, and both together tell S."""
    rows, counts = [[s, u] for s in (0, 1) for u in (0, 1)], [4000] * 4
    sanitizer = IRSanitizer(0.5, categories=[[0, 1], [0, 1]], sensitive=0)
    if eps_worst_case is not None:
        sanitizer = AOptimalSanitizer(
            0.5, eps_worst_case=eps_worst_case, categories=[[0, 1], [0, 1]], sensitive=0
        )
    with few_iterations(), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        sanitizer.fit(rows, sample_weight=counts)
    report, of_record = privacy_report(sanitizer), sanitizer.mechanism_.matrix.reshape(-1, 2, 2)
    of_secret = [
        sum(np.outer(of_record[:, s, u], of_record[:, s, u ^ s]).ravel() / 2 for u in (0, 1))
        for s in (0, 1)
    ]
    assert (
        leakage(np.transpose(of_secret), [(0, 1), (1, 0)]) > report.claims.find(reports=2).eps + 0.1
    )
    said = row(report, reports="2")
    if eps_worst_case is None:
        assert said == "no bound"
    else:
        bound = report.claims.eps + report.claims.eps_worst_case
        assert leakage(np.transpose(of_secret), [(0, 1), (1, 0)]) <= bound
        assert said == at_most(bound, ".6g")


# --- Observers who know columns ------------------------------------------------------------------


@pytest.mark.usefixtures("few_reports")
def test_who_knows_one_of_several_grouped_values_is_told_apart():
    """Of half of the rare values U = S, of the others U = 1 - S: "other" tells nothing, they do."""
    rows = [[s, k, u] for s in (0, 1) for k in "A" for u in (0, 1)]
    rare = [[s, f"{kind}{i}", s ^ kind] for s in (0, 1) for i in range(2) for kind in (0, 1)]
    own = {"sensitive": 0, "observer_columns": [1], "categories": "product"}
    own["uncertainty"] = RenyiBall(radius=0.01)
    counts = [900] * len(rows) + [200] * len(rare)
    sanitizer = fitted(PolyOptSanitizer, rows + rare, counts, min_frequency=500, **own)
    report, mechanism = privacy_report(sanitizer), sanitizer.mechanism_
    first, second = (mechanism.values.index(("other", s)) for s in (0, 1))
    told = mechanism.matrix.reshape(-1, 2, len(mechanism.values))
    who_knows_one = np.stack([told[:, 0, first], told[:, 1, second]], axis=1)
    assert leakage(who_knows_one, [(0, 1), (1, 0)]) > report.claims.known.eps + 0.1
    words = "For column 1, observers are assumed to know the category"
    assert words in " ".join(report.notes)
    loaded = read_json(mechanism.to_json())  # inspect and verify have nothing else
    assert words in str(lines_of(loaded)) and words in str(notes_of(loaded))
    plain = fitted(PolyOptSanitizer, rows, [900] * len(rows), **own)
    assert words not in " ".join(privacy_report(plain).notes)
    assert words not in str(lines_of(plain.mechanism_))
