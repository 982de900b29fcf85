"""Every sanitizer promises that at most eps is proved, for the integer weights that are sampled.

The certificate is for the set that was asked for, and nothing without a proof is released. That
`transform` draws from the certified matrix is tested in test_reports_of_transform.py.
"""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sanitizer_fits import (
    CLOSED_FORMS,
    GOOD,
    INFORMATIVE,
    N_ROWS,
    SANITIZERS,
    GivenDesign,
    fitted,
    frame_of,
    make,
)
from sklearn.exceptions import NotFittedError

from skrldp import (
    AllDistributions,
    AOptimalSanitizer,
    CertificateError,
    GRRSanitizer,
    InfeasibleError,
    IRSanitizer,
    Mechanism,
    PolyOptSanitizer,
    RenyiBall,
    RobustMSESanitizer,
    certify,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",  # designs end early, to save time
)

COUNTS = np.array([[300, 200, 100], [150, 250, 500]])
ROWS = [[s, u] for s in range(2) for u in range(3)]
LARGE = np.indices((6, 90)).reshape(2, -1).T  # too many cells for a dense table

# --- The promise ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", SANITIZERS)
@settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_the_certificate_never_exceeds_eps(cls, data):
    a1, a2 = data.draw(st.integers(2, 3)), data.draw(st.integers(2, 3))
    counts = data.draw(st.lists(st.integers(0, 200), min_size=a1 * a2, max_size=a1 * a2))
    counts[0] += 1
    eps = data.draw(st.floats(0.05, 4.0))
    X = [[s, u] for s in range(a1) for u in range(a2)]
    sanitizer = fitted(make(cls, eps=eps), X, sample_weight=counts)
    certificate, mechanism = sanitizer.certificate_, sanitizer.mechanism_
    assert certificate.eps_attained <= certificate.eps <= eps
    assert mechanism.leakage(certificate.distribution) <= eps + 1e-12
    assert np.all(mechanism.weights.sum(axis=0) == 2**mechanism.denominator_bits)


@pytest.mark.parametrize("cls", SANITIZERS)
@pytest.mark.parametrize("eps", [1e-9, 1e6])
def test_extreme_promises_are_kept(cls, eps):
    if cls is AOptimalSanitizer and eps == 1e-9:  # probabilities are rounded more coarsely
        with pytest.raises(InfeasibleError, match="whose reports identify all targets"):
            fitted(make(cls, eps=eps), GOOD)
        return
    sanitizer = fitted(make(cls, exact=cls is PolyOptSanitizer, eps=eps), GOOD)
    assert sanitizer.certificate_.holds(eps)
    if eps > 10 and cls in CLOSED_FORMS:
        assert sanitizer.normalized_mutual_information_ > 0.999


class Unprovable(GRRSanitizer):
    """Its response leaks twice as much as is promised."""

    def _response(self, eps, a1, a2):
        return super()._response(2.0 * eps, a1, a2)


def test_a_mechanism_without_a_proof_is_not_released():
    sanitizer = Unprovable(sensitive=0)
    with pytest.raises(CertificateError, match="Nothing is released"):
        sanitizer.fit(LARGE)
    with pytest.raises(NotFittedError):
        sanitizer.transform(LARGE)
    before = dict(vars(sanitizer.fit(GOOD)))  # a dense matrix is repaired
    assert sanitizer.certificate_.holds(1.0)
    with pytest.raises(CertificateError):
        sanitizer.fit(LARGE)
    assert vars(sanitizer) == before  # what was fitted before still stands


def test_a_design_that_leaks_is_repaired():
    sanitizer = fitted(GivenDesign(0.5, sensitive=0, matrix=np.eye(4)), GOOD)
    assert sanitizer.certificate_.holds(0.5)
    assert np.all(sanitizer.mechanism_.matrix > 0)


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
    sanitizer = cls(0.7, sensitive=0, uncertainty=ball, **options)
    sanitizer.fit(ROWS, sample_weight=COUNTS.ravel())
    around = sanitizer.certificate_.uncertainty
    assert around == ball.fit_set(sanitizer.joint_) and around.radius == 0.02
    again = certify(sanitizer.mechanism_.matrix, ball, sanitizer.joint_).eps
    assert again == pytest.approx(sanitizer.certificate_.eps, abs=1e-9) and again <= 0.7


@pytest.mark.parametrize("cls", [RobustMSESanitizer, AOptimalSanitizer])
def test_designs_compare_a_secret_with_itself_where_the_set_asks_for_it(cls):
    """Such mechanisms are among the others, and privacy is proved for the same set."""
    certificates, objectives = [], []
    for same_secret in (False, True):
        ball = RenyiBall(radius=0.1, same_secret=same_secret)
        sanitizer = cls(1.0, sensitive=0, uncertainty=ball)
        fitted(sanitizer, ROWS, sample_weight=[60, 30, 25, 20, 45, 30])
        certificates.append(sanitizer.certificate_)
        objectives.append(sanitizer.solution_.objective)
    assert certificates[1].holds(1.0)
    assert certificates[0].uncertainty == certificates[1].uncertainty
    assert objectives[1] > 1.01 * objectives[0]


def test_known_values_are_not_grouped_with_unknown_ones():
    """Else ("a", 3) would be reported as ("other", "other"): another cell to whoever knows "a"."""
    cells = [row for row in itertools.product("st", "ab", (1, 2, 3)) if row[1:] != ("a", 3)]
    counts = [90, 40, 70, 20, 80, 30, 60, 50, 35, 75]
    options = {"distance": "hamming", "robust_utility": False, "uncertainty": AllDistributions()}
    options |= {"sensitive": 0, "handle_unknown": "infrequent_if_exist"}
    with pytest.raises(ValueError, match=r"requires all combinations.*categories='product'"):
        RobustMSESanitizer(observer_columns=[1], **options).fit(cells, sample_weight=counts)
    # Nothing but known values, or all combinations: each record keeps what is known of it.
    for other in ({"observer_columns": [1, 2]}, {"observer_columns": [1], "categories": "product"}):
        found = RobustMSESanitizer(**other, **options).fit(cells, sample_weight=counts)
        assert found.certificate_.claims.known.eps <= 1.0


# --- Fitting -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", SANITIZERS)
def test_fitted_attributes_describe_the_table_and_the_mechanism(cls):
    X = frame_of("pandas")
    sanitizer = fitted(make(cls, eps=1.0, sensitive="ill"), X)
    joint, mechanism = sanitizer.joint_, sanitizer.mechanism_
    assert joint.secrets == (False, True) and joint.n == N_ROWS
    assert mechanism.columns == (("size", False), ("ill", True), ("count", False))
    assert sanitizer.n_features_in_ == 3
    assert list(sanitizer.feature_names_in_) == list(X.columns)
    for name, value in sanitizer.certificate_.uncertainty.fitted_attributes.items():
        assert getattr(sanitizer.uncertainty_, name) == value
    if cls in (IRSanitizer, PolyOptSanitizer, AOptimalSanitizer):  # the default is exact
        assert sanitizer.certificate_.uncertainty.rule == "finite-sample"
    again = Mechanism.from_json(mechanism.to_json())
    np.testing.assert_array_equal(again.weights, mechanism.weights)
    assert (again.cells, again.symbols) == (mechanism.cells, mechanism.symbols)
    if cls in INFORMATIVE:
        information = mechanism.mutual_information(joint.probabilities)
        share = information / joint.entropy
        assert sanitizer.mutual_information_ == information <= sanitizer.solution_.bound + 1e-9
        assert sanitizer.normalized_mutual_information_ == pytest.approx(share)
        assert sanitizer.score(X) == pytest.approx(share)
