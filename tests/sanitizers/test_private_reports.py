"""Private reports may stand in the place of a public table: designs are private over their box.

The box of bounds that the reports leave is that of the counts that are stated, in any order of
columns and categories; two phases leak at most both epsilons; what reports cannot replace is
refused, and reports that contradict the bounds are warned of.
"""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations

from skrldp import (
    AllDistributions,
    AOptimalSanitizer,
    BlockEstimator,
    BlockSanitizer,
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
)
from skrldp._params import at_most
from skrldp.certificate import verify_bounds
from skrldp.mechanism.manifest import Manifest
from skrldp.sets.bounds_from_reports import BoxSet
from skrldp.table.codec import manifest_codes

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"  # designs end early, to save time
)

ANSWERS = {"age": [20, 40, 60], "ill": ["no", "yes"]}
TRUTH = np.array([[0.30, 0.05], [0.25, 0.10], [0.15, 0.15]])  # of age and ill
OF_ILL = TRUTH.T
SHAPE = OF_ILL.shape


def reports_of(sanitizer, truth, n):
    """A fitted estimator of n expected reports about a population."""
    counts = np.rint(n * sanitizer.mechanism_.matrix @ np.ravel(truth))
    symbols = range(len(counts))
    return FrequencyEstimator(sanitizer, encode="symbol").fit(symbols, sample_weight=counts)


@pytest.fixture(autouse=True, scope="module")
def _quick():
    """What is promised holds for every design, so that they may end early."""
    with few_iterations():
        yield


@pytest.fixture(scope="module")
def pilot():
    sanitizer = AOptimalSanitizer(
        eps=1.0, sensitive=slice(None), targets="all", categories=ANSWERS
    ).fit()
    return reports_of(sanitizer, TRUTH, 50_000)


def worst_by_programs(mechanism, box, shape=SHAPE):
    """The leakage over a box by linear programs for each report, side and secret."""
    from scipy.optimize import linprog

    worst = 0.0
    rows = mechanism.matrix.reshape(mechanism.shape[0], *shape)
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (AOptimalSanitizer, {}),
        (AOptimalSanitizer, {"uncertainty": LikelihoodRatioSet(drift=0.1)}),
        (AOptimalSanitizer, {"uncertainty": LikelihoodRatioSet(radius="asymptotic")}),
        (AOptimalSanitizer, {"observe": "nonsensitive", "eps_worst_case": 3.0}),
        (PolyOptSanitizer, {"uncertainty": LikelihoodRatioSet(region="lower")}),
        (RobustMSESanitizer, {"robust_utility": False, "utility_uncertainty": RenyiBall(radius=0)}),
        (IRSanitizer, {}),
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


@pytest.mark.slow
def test_other_orders_of_columns_and_several_waves_give_one_population(pilot):
    first = AOptimalSanitizer(sensitive="ill", categories=ANSWERS, targets="all").fit(pilot)
    swapped = {name: ANSWERS[name] for name in ("ill", "age")}
    again = AOptimalSanitizer(sensitive="ill", categories=ANSWERS)
    second = again.fit([pilot, reports_of(first, OF_ILL, 50_000)])
    assert first.joint_.probabilities == pytest.approx(OF_ILL, abs=0.01)
    assert second.joint_.n == pytest.approx(100_000, abs=9)
    widths = [(one.uncertainty_.upper_ - one.uncertainty_.lower_).mean() for one in (first, second)]
    assert widths[1] < widths[0]
    other = GRRSanitizer(sensitive=slice(None), categories=swapped).fit()
    third = again.fit([pilot, reports_of(other, TRUTH.T, 50_000)])
    assert third.joint_.probabilities == pytest.approx(OF_ILL, abs=0.01)
    with pytest.raises(ValueError, match="different columns"):
        other = GRRSanitizer(sensitive=slice(None), categories={"age": ANSWERS["age"]}).fit()
        again.fit([pilot, reports_of(other, TRUTH.sum(axis=1), 100)])


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
        ({"observer_columns": "age"}, "observer_columns needs the records"),
        ({"handle_unknown": "infrequent_if_exist"}, "handle_unknown"),
        ({"uncertainty": RenyiBall()}, "not joint distributions"),
        ({"uncertainty": LikelihoodRatioSet(radius=0.01)}, "no radius in nats"),
        ({"categories": {**ANSWERS, "age": [20, 40, 60, 80]}}, "different combinations"),
    ],
)
def test_what_reports_cannot_replace_is_refused(pilot, options, words):
    options = {"sensitive": "ill", "categories": ANSWERS, **options}
    with pytest.raises(ValueError, match=words) as error:
        AOptimalSanitizer(**options).fit(pilot)
    assert len(str(error.value)) <= 250


def test_without_table_and_reports_there_is_no_set():
    with pytest.raises(ValueError, match=r"fit\(reports\)"):
        AOptimalSanitizer(sensitive="ill", categories=ANSWERS).fit()
    with pytest.raises(ValueError, match="categories= must list"):
        GRRSanitizer(sensitive=slice(None)).fit()
    bounds = np.array([[9_000, 0]]), np.array([[8_192, 8_192]])
    with pytest.raises(ValueError, match="are inconsistent"):
        BoxSet(*bounds, 0.0, "reports", 0.05, 10, ())


@pytest.mark.slow
def test_bounds_are_computed_again_from_the_counts_that_are_stated(pilot):
    first = AOptimalSanitizer(sensitive="ill", categories=ANSWERS, targets="all").fit(pilot)
    both = [pilot, reports_of(first, OF_ILL, 9_000)]
    mechanism = IRSanitizer(sensitive="ill", categories=ANSWERS).fit(both).mechanism_
    text, pilots = mechanism.to_json(), [one.mechanism_.to_json() for one in both[::-1]]
    assert verify_bounds(text, pilots).holds
    assert "which is not given" in verify_bounds(text, pilots[1:]).message
    assert "bounds are not stated" in verify_bounds(pilots[1], pilots).message
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


def test_bounds_follow_secrets_and_values_into_any_order(pilot):
    sanitizer = AOptimalSanitizer(sensitive="ill", categories=ANSWERS).fit(pilot)
    joint, box = sanitizer.joint_, sanitizer.certificate_.uncertainty
    turned = joint.counts[::-1, ::-1], joint.secrets[::-1], joint.values[::-1]
    other = JointDistribution(*turned, reports=joint.reports)
    around = box.arranged(np.array([1, 0]), np.array([2, 1, 0]))
    again = certify(sanitizer.mechanism_, around, other)
    assert again.eps == pytest.approx(sanitizer.certificate_.eps, abs=1e-9)
    assert certify(sanitizer.mechanism_, box, other).eps > 1.1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:respondents contradict")
def test_leakage_is_bounded_at_the_population_that_reported(pilot):
    sanitizer = AOptimalSanitizer(sensitive="ill", categories=ANSWERS, targets="all").fit(pilot)
    others = np.array([[0.02, 0.25, 0.33], [0.20, 0.10, 0.10]])
    true = sanitizer.mechanism_.leakage(others)
    bounds = [reports_of(sanitizer, others, n).leakage_bound() for n in (50, 20_000, 10**6, 10**8)]
    assert true > 1.2
    assert sorted(bounds, reverse=True) == bounds
    assert true < bounds[-1] < true + 0.02
    assert pilot.leakage_bound() <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("drift", "n_warnings"), [(0.0, 1), (0.2, 0)])
def test_reports_that_contradict_the_bounds_of_their_design_are_warned_of(pilot, drift, n_warnings):
    around = LikelihoodRatioSet(drift=drift)
    sanitizer = AOptimalSanitizer(
        sensitive="ill", categories=ANSWERS, targets="all", uncertainty=around
    ).fit(pilot)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reports_of(sanitizer, OF_ILL, 20_000)
    others = 0.85 * OF_ILL + 0.15 * np.array([[0.0, 0.0, 0.7], [0.3, 0.0, 0.0]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator = reports_of(sanitizer, others, 10**6)
    assert len(caught) == n_warnings
    for one in caught:
        bound = f"at most e^{at_most(estimator.leakage_bound(), '.3g')}, with 95 % confidence"
        assert f"contradict the {pilot.n_reports_:,} private reports" in str(one.message)
        assert bound in str(one.message) and len(str(one.message)) <= 250
    again = AOptimalSanitizer(sensitive="ill", categories=ANSWERS).fit(estimator)
    assert again.mechanism_.leakage(others) <= 1.0  # a new design for them is private


# --- Blocks ---------------------------------------------------------------------------------------

COLUMNS = {"ill": ["no", "yes"], "age": [20, 40, 60], "town": ["a", "b"]}


def people_of(n, seed=0):
    """Records whose other columns depend on the secret."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.3
    age = np.where(ill, rng.choice(3, n, p=[0.5, 0.3, 0.2]), rng.choice(3, n, p=[0.2, 0.3, 0.5]))
    town = np.where(ill, rng.random(n) < 0.7, rng.random(n) < 0.4).astype(int)
    codes = {"ill": ill.astype(int), "age": age, "town": town}
    return pd.DataFrame({c: np.array(COLUMNS[c], dtype=object)[codes[c]] for c in COLUMNS})


def expected_blocks(sanitizer, people):
    """A fitted estimator of the expected reports of some people, each of whom reports a block."""
    manifest, parts = sanitizer.manifest_, []
    secrets, values = manifest_codes(manifest, people)
    for k, (one, share) in enumerate(zip(manifest.mechanisms, manifest.shares, strict=True)):
        cells = np.bincount(manifest.cells(k, secrets, values, slice(None)), minlength=one.shape[1])
        parts.append(np.rint(share * one.matrix @ cells).astype(int))
    block = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    report = np.concatenate([np.arange(len(part)) for part in parts])
    rows = pd.DataFrame({"block": block, "report": report})
    return BlockEstimator(manifest).fit(rows, sample_weight=np.concatenate(parts))


@pytest.fixture(scope="module")
def block_pilot():
    whole = BlockSanitizer(
        sensitive=slice(None), blocks=[["ill", "age"], ["town", "ill"]], categories=COLUMNS
    )
    return expected_blocks(whole.fit(), people_of(60_000))


def worst_of_blocks(sanitizer):
    """The greatest leakage of a block by linear programs over the bounds that it states."""
    found = []
    for mechanism, one in zip(sanitizer.manifest_.mechanisms, sanitizer.certificates_, strict=True):
        shape = len(mechanism.secrets), len(mechanism.values)
        found.append(worst_by_programs(mechanism, one.uncertainty.box, shape))
    return max(found)


@pytest.mark.slow
def test_blocks_are_designed_from_reports_of_whole_records_of_each_block(block_pilot):
    people, answers = people_of(60_000, seed=1), {name: COLUMNS[name] for name in sorted(COLUMNS)}
    base = AOptimalSanitizer(tol=0.1, targets="all")
    middle = BlockSanitizer(sensitive="ill", categories=answers, base=base).fit(block_pilot)
    waves = [block_pilot, expected_blocks(middle, people)]
    last = BlockSanitizer(sensitive=["ill"], categories=answers).fit(waves)
    by_name = BlockSanitizer(sensitive="ill").fit(waves)
    for sanitizer in (middle, last, by_name):
        manifest = sanitizer.manifest_
        assert manifest.in_every_block == ("ill",)
        assert set(sanitizer.blocks_) == {("age",), ("town",)}
        assert sanitizer.certificate_.eps <= 1.0
        assert sanitizer.certificate_.eps == pytest.approx(worst_of_blocks(sanitizer), abs=1e-6)
        assert 0.5 < manifest.leakage(people) <= 1.0
        assert Manifest.from_json(manifest.to_json()).to_json() == manifest.to_json()
        for one in manifest.mechanisms:  # beta is divided
            assert one.claims.main.around.beta == 0.025
        assert manifest.claims.beta == 0.05
    assert last.std_error_.sum() < middle.std_error_.sum()
    assert sorted(by_name.std_error_) == pytest.approx(sorted(last.std_error_), rel=1e-6)
    reports = last.transform(people[list(answers)][:2_000])
    assert BlockEstimator(last.manifest_.to_json()).fit(reports).n_reports_ == 2_000
    pilots = [one.manifest_.to_json() for one in waves]
    assert verify_bounds(last.manifest_.to_json(), pilots).holds
    assert "of block 0" in verify_bounds(last.manifest_.to_json(), pilots[1:]).message


def test_reports_in_two_phases_leak_at_most_both_epsilons(pilot):
    later = AOptimalSanitizer(eps=0.7, sensitive="ill", categories=ANSWERS).fit(pilot)
    claims = pilot.mechanism_.claims, later.mechanism_.claims
    both = claims[1].together_with(claims[0])
    assert 1.6 < both.eps == pytest.approx(claims[0].eps + claims[1].eps, abs=1e-12)
    assert (both.reports, both.record, both.how) == (2, "may change", "composition")
    first = pilot.mechanism_.matrix.reshape(-1, *TRUTH.shape).transpose(0, 2, 1)
    second = later.mechanism_.matrix.reshape(-1, *OF_ILL.shape)
    box, rng, worst = later.certificate_.uncertainty.box, np.random.default_rng(0), 0.0
    for _ in range(200):
        inside = box.pulled_in(rng.dirichlet(np.full(SHAPE[1], 0.3), size=SHAPE[0]))
        chances = np.einsum("isu,jsu,su->ijs", first, second, inside).reshape(-1, SHAPE[0])
        ratios = np.log(chances[:, 0] / chances[:, 1])
        worst = max(worst, np.abs(ratios).max())
    assert 1.0 < worst <= both.eps
    with pytest.raises(ValueError, match="does not protect column 'age'"):
        claims[0].together_with(claims[1])
