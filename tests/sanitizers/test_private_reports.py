"""Private reports in the place of a public table: what is designed, promised and refused."""

import json

import numpy as np
import pytest

from skrldp import (
    AllDistributions,
    AOptimalSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    IRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    Mechanism,
    PolyOptSanitizer,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
    certify,
    privacy_report,
)
from skrldp.certificate import verify_bounds
from skrldp.sets.bounds_from_reports import BoxSet

ANSWERS = {"age": [20, 40, 60], "ill": ["no", "yes"]}
TRUTH = np.array([[0.30, 0.05], [0.25, 0.10], [0.15, 0.15]])  # of age and ill
OF_ILL = TRUTH.T
SHAPE = OF_ILL.shape


def reports_of(sanitizer, truth, n):
    """A fitted estimator of n expected reports about a population."""
    counts = np.rint(n * sanitizer.mechanism_.matrix @ np.ravel(truth))
    symbols = range(len(counts))
    return FrequencyEstimator(sanitizer, encode="symbol").fit(symbols, sample_weight=counts)


@pytest.fixture(scope="module")
def pilot():
    sanitizer = AOptimalSanitizer(
        eps=1.0, sensitive=slice(None), targets="all", categories=ANSWERS
    ).fit()
    return reports_of(sanitizer, TRUTH, 50_000)


def worst_by_programs(mechanism, box):
    """The leakage over a box by linear programs for each report, side and secret."""
    from scipy.optimize import linprog

    worst = 0.0
    rows = mechanism.matrix.reshape(mechanism.shape[0], *SHAPE)
    keep = 1.0 - box.spread

    def most(q, s):
        bounds = list(zip(box.lower[s], box.upper[s], strict=True))
        found = linprog(-q, A_eq=np.ones((1, len(q))), b_eq=[1.0], bounds=bounds)
        return -keep * found.fun + box.spread * q.max()

    for row in rows:
        top = [most(row[s], s) for s in range(len(row))]
        low = [-most(-row[s], s) for s in range(len(row))]
        worst = max(worst, *(np.log(top[s] / low[1 - s]) for s in range(2)))
    return worst


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (AOptimalSanitizer, {}),
        (AOptimalSanitizer, {"uncertainty": LikelihoodRatioSet(drift=0.1)}),
        (AOptimalSanitizer, {"uncertainty": LikelihoodRatioSet(radius="asymptotic")}),
        (AOptimalSanitizer, {"observe": "nonsensitive", "eps_all": 3.0}),
        (PolyOptSanitizer, {"uncertainty": LikelihoodRatioSet(region="lower")}),
        (RobustMSESanitizer, {"robust_utility": False, "utility_uncertainty": RenyiBall(radius=0)}),
        (IRSanitizer, {}),
        (GRRSanitizer, {}),
        (SRRSanitizer, {}),
    ],
)
def test_designs_are_private_over_the_box_of_the_reports(pilot, kind, options):
    sanitizer = kind(eps=1.0, sensitive="ill", categories=ANSWERS, **options).fit(pilot)
    mechanism, certificate = sanitizer.mechanism_, sanitizer.certificate_
    assert certificate.eps <= 1.0
    assert mechanism.leakage(OF_ILL) <= 1.0
    assert mechanism.leakage(certificate.distribution) >= certificate.eps_attained - 1e-9
    text = mechanism.to_json()
    assert Mechanism.from_json(text).to_json() == text
    around = mechanism.claims.main.around
    if around.is_everything:
        return
    fitted = certificate.uncertainty
    assert fitted.contains(None, OF_ILL)
    assert fitted.contains(None, certificate.distribution)
    assert fitted.contains(None, sanitizer.joint_.probabilities)
    assert (around.n_records, around.bounds.n_reports) == (pilot.n_reports_,) * 2
    exact = worst_by_programs(mechanism, fitted.box) if mechanism.observe == "all" else None
    if exact is not None:
        assert certificate.eps == pytest.approx(exact, abs=1e-6)
        assert certificate.eps >= exact - 1e-9
    two = certify(mechanism, sanitizer.uncertainty_, sanitizer.joint_, reports=2)
    assert certificate.eps < two.eps


def test_other_orders_of_columns_and_several_waves_give_one_population(pilot):
    first = AOptimalSanitizer(sensitive="ill", categories=ANSWERS, targets="all").fit(pilot)
    swapped = {name: ANSWERS[name] for name in ("ill", "age")}
    again = AOptimalSanitizer(sensitive="ill", categories=ANSWERS)
    second = again.fit([pilot, reports_of(first, OF_ILL, 50_000)])
    assert first.joint_.probabilities == pytest.approx(OF_ILL, abs=0.01)
    assert second.joint_.n == pytest.approx(100_000, abs=9)
    widths = [(one.uncertainty_.upper_ - one.uncertainty_.lower_).mean() for one in (first, second)]
    assert widths[1] < widths[0]
    with pytest.raises(ValueError, match="different columns"):
        other = GRRSanitizer(sensitive=slice(None), categories=swapped).fit()
        again.fit([pilot, reports_of(other, TRUTH.T, 100)])


def test_without_a_table_all_combinations_are_equally_likely():
    for options in ({"sensitive": slice(None)}, {"uncertainty": AllDistributions()}):
        sanitizer = SRRSanitizer(**{"sensitive": "ill", "categories": ANSWERS, **options}).fit()
        assert (sanitizer.joint_.n, sanitizer.joint_.counts.size) == (0, 6)
        assert sanitizer.mechanism_.claims.main.around.is_everything
        assert list(sanitizer.feature_names_in_) == ["age", "ill"]
    by_place = GRRSanitizer(sensitive=slice(None), categories=[["a", "b"], [1, 2]]).fit()
    assert by_place.transform([["a", 2]]).shape == (1, 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"known": "age"}, "known needs the records"),
        ({"min_frequency": "auto"}, "min_frequency needs"),
        ({"handle_unknown": "infrequent_if_exist"}, "handle_unknown"),
        ({"uncertainty": RenyiBall()}, "no ball of joint"),
        ({"uncertainty": LikelihoodRatioSet(radius=0.01)}, "no radius in nats"),
        ({"categories": {**ANSWERS, "age": [20, 40, 60, 80]}}, "other combinations"),
        ({"categories": {**ANSWERS, "age": [20, 40]}}, "categor"),
    ],
)
def test_what_reports_cannot_replace_is_refused(pilot, options, words):
    options = {"sensitive": "ill", "categories": ANSWERS, **options}
    with pytest.raises(ValueError, match=words) as error:
        AOptimalSanitizer(**options).fit(pilot)
    assert len(str(error.value)) <= 250


def test_neither_table_nor_reports_are_refused_for_a_set():
    with pytest.raises(ValueError, match=r"fit\(reports\)"):
        AOptimalSanitizer(sensitive="ill", categories=ANSWERS).fit()
    with pytest.raises(ValueError, match="categories= must list"):
        GRRSanitizer(sensitive=slice(None)).fit()
    with pytest.raises(ValueError, match="sample_weight needs"):
        GRRSanitizer(sensitive=slice(None), categories=ANSWERS).fit(sample_weight=[1])
    with pytest.raises(ValueError, match="contradict each other"):
        bounds = np.array([[9_000, 0]]), np.array([[8_192, 8_192]])
        BoxSet(*bounds, 0.0, "reports", 0.05, 10, ())


def test_bounds_are_computed_again_from_the_counts_that_are_stated(pilot):
    first = AOptimalSanitizer(sensitive="ill", categories=ANSWERS, targets="all").fit(pilot)
    both = [pilot, reports_of(first, OF_ILL, 9_000)]
    mechanism = IRSanitizer(sensitive="ill", categories=ANSWERS).fit(both).mechanism_
    text, pilots = mechanism.to_json(), [one.mechanism_.to_json() for one in both[::-1]]
    assert verify_bounds(text, pilots).holds
    assert "digest" in verify_bounds(text, pilots[1:]).message
    assert "no bounds" in verify_bounds(pilots[1], pilots).message
    fields = json.loads(text)
    around = fields["claims"][0]["around"]
    for change in (
        lambda: around["lower"][0].__setitem__(0, around["lower"][0][0] + 2),
        lambda: around["upper"][1].__setitem__(2, around["upper"][1][2] - 2),
        lambda: around.update(beta=0.01),
        lambda: around["reports"][0]["counts"].reverse(),
    ):
        around.update(json.loads(text)["claims"][0]["around"])
        change()
        assert not verify_bounds(json.dumps(fields), pilots).holds


def test_reports_and_pages_name_private_reports(pilot):
    sanitizer = IRSanitizer(sensitive="ill", categories=ANSWERS).fit(pilot)
    report = str(privacy_report(sanitizer))
    assert "private reports" in report and "public table" not in report
    plain = " ".join(sanitizer.mechanism_.claims.plain(["age"], False, 1))
    assert f"the {pilot.n_reports_:,} private reports do not rule out" in plain
    assert "at most 5 % of such samples" in plain


def test_bounds_follow_secrets_and_values_into_any_order(pilot):
    sanitizer = AOptimalSanitizer(sensitive="ill", categories=ANSWERS).fit(pilot)
    joint, box = sanitizer.joint_, sanitizer.certificate_.uncertainty
    turned = joint.counts[::-1, ::-1], joint.secrets[::-1], joint.values[::-1]
    other = JointDistribution(*turned, reports=joint.reports)
    around = box.arranged(np.array([1, 0]), np.array([2, 1, 0]))
    again = certify(sanitizer.mechanism_, around, other)
    assert again.eps == pytest.approx(sanitizer.certificate_.eps, abs=1e-9)
    assert certify(sanitizer.mechanism_, box, other).eps > 1.1


def test_leakage_is_bounded_at_the_population_that_reported(pilot):
    sanitizer = AOptimalSanitizer(sensitive="ill", categories=ANSWERS, targets="all").fit(pilot)
    others = np.array([[0.02, 0.25, 0.33], [0.20, 0.10, 0.10]])
    true = sanitizer.mechanism_.leakage(others)
    bounds = [reports_of(sanitizer, others, n).leakage_bound() for n in (50, 20_000, 10**6, 10**8)]
    assert true > 1.2
    assert sorted(bounds, reverse=True) == bounds
    assert true < bounds[-1] < true + 0.02
    assert pilot.leakage_bound() <= 1.0
