"""Sanitizers: what they certify, how they are fitted, and which columns are S."""

import tracemalloc

import numpy as np
import pytest
from conftest import few_iterations, slow_clock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sanitizer_fits import (
    CLOSED_FORMS,
    GOOD,
    INFORMATIVE,
    N_ROWS,
    SANITIZERS,
    fitted,
    frame_of,
    make,
    solution_of,
)
from scipy.stats import chi2
from sklearn.exceptions import NotFittedError

from skrldp import (
    AllDistributions,
    AOptimalSanitizer,
    CertificateError,
    GRRSanitizer,
    InfeasibleError,
    Mechanism,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
)
from skrldp.sanitizers import closed_forms, optimal

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",
)


# --- The promise ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", SANITIZERS)
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_certificate_never_exceeds_eps(cls, data):
    a1, a2 = data.draw(st.integers(2, 3)), data.draw(st.integers(2, 3))
    counts = data.draw(st.lists(st.integers(0, 200), min_size=a1 * a2, max_size=a1 * a2))
    counts[0] += 1
    eps = data.draw(st.floats(0.05, 4.0))
    X = [[s, u] for s in range(a1) for u in range(a2)]
    exact = cls is PolyOptSanitizer and data.draw(st.booleans())
    sanitizer = fitted(make(cls, exact, eps=eps), X, sample_weight=counts)
    certificate, mechanism = sanitizer.certificate_, sanitizer.mechanism_
    assert certificate.eps_attained <= certificate.eps <= eps
    assert mechanism.leakage(certificate.distribution) <= eps + 1e-12
    assert np.all(mechanism.weights.sum(axis=0) == 2**mechanism.denominator_bits)


@pytest.mark.parametrize("cls", SANITIZERS)
@pytest.mark.parametrize("eps", [1e-9, 1e-3, 20.0, 1e6])
def test_extreme_eps(cls, eps):
    if cls is AOptimalSanitizer and eps == 1e-9:  # probabilities are rounded more coarsely
        with pytest.raises(InfeasibleError, match="whose reports all targets are identifiable"):
            fitted(make(cls, eps=eps), GOOD)
        return
    exact = cls is PolyOptSanitizer  # for any eps
    sanitizer = fitted(make(cls, exact, eps=eps), GOOD)
    assert sanitizer.certificate_.holds(eps)
    if eps > 10 and cls in CLOSED_FORMS:
        assert sanitizer.normalized_mutual_information_ > 0.999


@pytest.mark.parametrize("cls", CLOSED_FORMS)
@pytest.mark.parametrize("eps", [1e-6, 1.0, 30.0])
def test_blocks_that_stay_blocks_are_certified_too(cls, eps, monkeypatch):
    dense = fitted(cls(eps, sensitive=0), GOOD)
    monkeypatch.setattr(closed_forms, "_DENSE_CELLS", 0)
    blocks = fitted(cls(eps, sensitive=0), GOOD)
    assert type(blocks.mechanism_.form) is not type(dense.mechanism_.form)
    assert blocks.certificate_.holds(eps)
    np.testing.assert_allclose(blocks.mechanism_.matrix, dense.mechanism_.matrix, atol=1e-8)


def test_what_cannot_be_proven_is_not_released(monkeypatch):
    sanitizer = GRRSanitizer(1.0, sensitive=0).fit(GOOD)
    before = dict(vars(sanitizer))
    monkeypatch.setattr("skrldp.sanitizers.closed_forms.grr", lambda eps, n: (0.9, 0.1, 0.0, 0.0))
    monkeypatch.setattr(closed_forms, "_DENSE_CELLS", 0)
    with pytest.raises(CertificateError, match="Nothing is released"):
        sanitizer.fit(GOOD[:, ::-1])
    assert vars(sanitizer) == before  # what was fitted before still stands
    with pytest.raises(CertificateError):
        (unfitted := GRRSanitizer(1.0, sensitive=0)).fit(GOOD)
    with pytest.raises(NotFittedError):
        unfitted.transform(GOOD)


def test_a_design_that_leaks_is_repaired(monkeypatch):
    monkeypatch.setattr(optimal, "solve", lambda *args, **options: solution_of(np.eye(4)))
    sanitizer = PolyOptSanitizer(0.5, sensitive=0).fit(GOOD)
    assert sanitizer.certificate_.holds(0.5)
    assert np.all(sanitizer.mechanism_.matrix > 0)


@pytest.mark.parametrize("cls", SANITIZERS)
def test_transform_samples_the_certified_matrix(cls):
    """Chi-squared test of each cell's reports; all together alarm falsely once in 1e9 runs."""
    sanitizer = fitted(make(cls, eps=1.0, encode="symbol"), GOOD)
    n_draws, (n_symbols, n_cells) = 20_000, sanitizer.mechanism_.shape
    for cell, (secret, value) in enumerate(sanitizer.mechanism_.cells):
        X = np.tile([[secret, value]], (n_draws, 1))
        seen = np.bincount(sanitizer.transform(X)[:, 0], minlength=n_symbols)
        expected = n_draws * sanitizer.mechanism_.matrix[:, cell]
        assert np.all(seen[expected == 0] == 0)
        common = expected >= 5
        assert seen[~common].sum() <= 100  # expected: at most 5 for each of at most 4 symbols
        statistic = ((seen - expected)[common] ** 2 / expected[common]).sum()
        assert statistic < chi2.isf(1e-9 / n_cells, max(1, common.sum()))


def together(sanitizer):
    """Leakage at the worst distribution of two reports about one record."""
    matrix = sanitizer.mechanism_.matrix
    pairs = (matrix[:, None] * matrix[None]).reshape(-1, matrix.shape[1])
    return Mechanism.from_matrix(pairs, (0, 1), (1, 2)).leakage(sanitizer.certificate_.distribution)


@pytest.mark.parametrize("cls", [GRRSanitizer, SRRSanitizer])
def test_two_reports_add_up_if_private_at_all_distributions(cls):
    assert together(cls(0.5, sensitive=0).fit(GOOD)) <= 1.0 + 1e-9


def test_two_reports_may_reveal_the_secret_otherwise(monkeypatch):
    """U or S+U, at random and told which: nothing of S if U is uniform, but both tell all."""
    design = [[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]]
    solution = solution_of(np.array(design) / 2)
    monkeypatch.setattr(optimal, "solve", lambda *args, **options: solution)
    sanitizer = fitted(NonRobustSanitizer(0.5, sensitive=0), GOOD)
    assert sanitizer.certificate_.holds(0.5)
    assert together(sanitizer) > 10.0


def test_two_calls_differ_unless_seeded():
    X = np.tile(GOOD, (10, 1))
    secure = SRRSanitizer(1.0, sensitive=0).fit(X)
    assert not np.array_equal(secure.transform(X), secure.transform(X))
    seeded = SRRSanitizer(1.0, random_state=3, sensitive=0).fit(X)
    np.testing.assert_array_equal(seeded.transform(X), seeded.transform(X))
    other = SRRSanitizer(1.0, random_state=4, sensitive=0).fit(X)
    assert not np.array_equal(seeded.transform(X), other.transform(X))


# --- Fitting -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", SANITIZERS)
def test_fitted_attributes(cls):
    X = frame_of("pandas")
    sanitizer = fitted(make(cls, eps=1.0, sensitive="ill"), X)
    joint, mechanism = sanitizer.joint_, sanitizer.mechanism_
    assert joint.secrets == (False, True) and joint.n == N_ROWS
    assert mechanism.columns == (("size", False), ("ill", True), ("count", False))
    assert sanitizer.n_features_in_ == 3
    assert list(sanitizer.feature_names_in_) == list(X.columns)
    for name, figure in sanitizer.certificate_.uncertainty.fitted_attributes.items():
        assert getattr(sanitizer.uncertainty_, name) == figure
    again = Mechanism.from_json(mechanism.to_json())
    np.testing.assert_array_equal(again.weights, mechanism.weights)
    assert (again.cells, again.symbols) == (mechanism.cells, mechanism.symbols)


@pytest.mark.parametrize("cls", INFORMATIVE)
def test_mutual_information(cls):
    X = frame_of("pandas")
    sanitizer = fitted(make(cls, eps=1.0, sensitive="ill"), X)
    joint = sanitizer.joint_
    information = sanitizer.mechanism_.mutual_information(joint.probabilities)
    assert sanitizer.mutual_information_ == information
    assert sanitizer.normalized_mutual_information_ == pytest.approx(information / joint.entropy)
    assert sanitizer.score(X) == pytest.approx(sanitizer.normalized_mutual_information_)
    assert sanitizer.mutual_information_ <= sanitizer.solution_.bound + 1e-9


def test_polyopt_passes_its_parameters_on(monkeypatch):
    calls = []

    def spy(problem, requirements, **options):
        calls.append((problem, requirements.only, options))
        return solve(problem, requirements, **options)

    solve = optimal.solve
    monkeypatch.setattr(optimal, "solve", spy)
    papers = RenyiBall(radius=0.001, region="lower", same_secret=True)
    options = {"uncertainty": papers, "time_limit": 500.0}
    PolyOptSanitizer(0.7, **options, sensitive=0).fit(GOOD)
    problem, one, options = calls[0]
    assert type(one.region).__name__ == "LowerRegion" and one.region.same_secret
    assert one.eps == 0.7
    criterion = problem.criterion
    assert 400.0 < options.pop("time_limit") < 500.0  # less what repair and proof will take
    assert options == {"solver": "auto", "verbose": 0, "n_jobs": None}
    assert criterion.distribution.sum() == pytest.approx(1.0) and (criterion.distribution > 0).all()
    assert criterion.name == "I(X;Y)"


@pytest.mark.parametrize("cls", [PolyOptSanitizer, RobustMSESanitizer])
def test_without_a_time_limit_a_fit_depends_on_no_clock(cls):
    found = []
    for seconds in (1e-9, 1e6):
        with slow_clock(seconds), few_iterations(40):
            found.append(cls(sensitive=0, time_limit=None).fit(GOOD).mechanism_.digest)
    assert found[0] == found[1]


@pytest.mark.parametrize("cls", CLOSED_FORMS)
def test_weights_are_counts(cls):
    X, weights = frame_of("pandas"), np.arange(N_ROWS) % 4 + 1
    weighted = fitted(cls(sensitive="ill"), X, sample_weight=weights)
    repeated = fitted(cls(sensitive="ill"), X.loc[X.index.repeat(weights)])
    np.testing.assert_array_equal(weighted.joint_.counts, repeated.joint_.counts)
    np.testing.assert_array_equal(weighted.mechanism_.weights, repeated.mechanism_.weights)
    assert weighted.score(X, sample_weight=weights) == pytest.approx(
        repeated.score(X.loc[X.index.repeat(weights)])
    )


def test_rows_without_weight_are_still_reported():
    weights = [1] * 20 + [0] * 20
    assert len(SRRSanitizer(sensitive=0).fit_transform(GOOD, sample_weight=weights)) == 40


@pytest.mark.parametrize("cls", [GRRSanitizer, SRRSanitizer])
def test_ten_thousand_cells_need_no_matrix(cls):
    X = np.indices((100, 100)).reshape(2, -1).T
    tracemalloc.start()
    sanitizer = cls(2.0, sensitive=0).fit(X)
    sanitizer.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6  # a dense matrix has 800 MB
    assert sanitizer.certificate_.holds(2.0)


@pytest.mark.parametrize("cls", SANITIZERS)
def test_verbose_says_what_was_done(cls, capsys):
    fitted(make(cls), GOOD)
    assert capsys.readouterr().out == ""
    fitted(make(cls, verbose=1), GOOD)
    said = f"{cls.__name__}: S = column 0; U = column 1; JointDistribution(2 secrets x 2 values"
    told = capsys.readouterr()
    assert said in told.out
    if cls is PolyOptSanitizer:  # after the search there are signs of life too
        assert "[skrldp] repairing" in told.err and "[skrldp] proving" in told.err


@pytest.mark.parametrize("cls", [AOptimalSanitizer, PolyOptSanitizer, RobustMSESanitizer])
def test_a_slow_design_says_so_before_it_begins(cls, capsys):
    rows = [[s, u] for s in range(9) for u in range(10)]
    options = {"verbose": 1, "time_limit": 0.01, "uncertainty": AllDistributions()}
    make(cls, exact=True, **options).fit(rows)
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(f"{cls.__name__}: 9 secrets x 10 values = 90 cells, 36 pairs of")
    assert "usually take more than ten seconds" in first


# --- Which columns are S -------------------------------------------------------------------------
