"""Columns of numbers with bins and knots keep their promises from a table to estimates.

Bins are the categories of a table that was cut before; means of knots are unbiased for any
population, with the stated noise; what is outside is refused; edges that are read are said to be;
secrets with knots, and records that change, have no bound that a counterexample breaks.
"""

import functools
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from skrldp import (
    AOptimalSanitizer,
    Bins,
    BlockEstimator,
    BlockSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    JointDistribution,
    Knots,
    Manifest,
    Mechanism,
    RakingWeights,
    RenyiBall,
    batches,
    certify,
    client,
    privacy_report,
    regression,
)
from skrldp.certificate import counts_to_json, verify
from skrldp.sanitizers.access import codec_of
from skrldp.table.numbers import summaries_of

KEY = bytes(range(32))
AGES, BMI = Bins([0, 18, 30, 65, 121]), Bins([-np.inf, 18.5, 25, np.inf])
HOURS = Knots([0, 15, 38, 99])
KNOWN = {"ill": [0, 1], "job": ["a", "b"]}
CUT = KNOWN | {"age": AGES, "bmi": BMI, "hours": HOURS}


@functools.cache
def table(n=2_000):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "ill": rng.integers(0, 2, n),
            "age": rng.integers(0, 121, n),
            "bmi": rng.normal(25.0, 5.0, n),
            "hours": rng.integers(0, 100, n),
            "job": rng.choice(["a", "b"], n),
        }
    )


def cut_by_pandas(frame):
    ages = pd.cut(frame["age"], AGES.edges, right=False).astype(str)
    bmi = pd.cut(frame["bmi"], BMI.edges, right=False, labels=BMI.labels).astype(str)
    return frame.assign(age=ages, bmi=bmi)


SHAPES = {"one": ["ill", "age", "hours"], "blocks": ["ill", "age", "bmi", "hours", "job"]}


def blocks(categories=CUT):
    options = {"blocks": "pairs", "base": GRRSanitizer(), "random_state": 0}
    return BlockSanitizer(sensitive="ill", categories=categories, **options)


@functools.cache
def fitted(kind):
    X = table()[SHAPES[kind]]
    if kind == "blocks":
        return blocks().fit(X)
    return GRRSanitizer(sensitive="ill", categories={c: CUT[c] for c in X}, random_state=0).fit(X)


def text_of(own):
    return own.manifest_.to_json() if hasattr(own, "manifest_") else own.mechanism_.to_json()


def test_bins_are_categories_of_a_table_that_was_cut_before():
    names = ["ill", "age", "bmi", "job"]
    categories = {name: CUT[name] for name in names}
    own = blocks(categories).fit(table()[names])
    before = cut_by_pandas(table()[names])
    listed = categories | {"age": AGES.labels, "bmi": BMI.labels}
    found = blocks(listed).fit(before)
    assert found.manifest_.categories == own.manifest_.categories
    for one, other in zip(found.sanitizers_, own.sanitizers_, strict=True):
        np.testing.assert_array_equal(one.joint_.counts, other.joint_.counts)
    np.testing.assert_array_equal(own.transform(table()[names]), found.transform(before))
    assert own.score(table()[names]) == pytest.approx(found.score(before))
    estimates = BlockEstimator(own).fit(own.transform(table()[names]))
    assert estimates.marginal("age").labels == tuple((age,) for age in AGES.labels)
    weights = RakingWeights(own, table()).fit(own.transform(table()[names])).weights_
    assert len(weights) == len(table())


def test_rounding_depends_neither_on_the_order_of_rows_nor_on_counting_before():
    X = table()[SHAPES["one"]]
    counted = X.value_counts().reset_index()
    weights, own = counted.pop("count"), clone(fitted("one"))
    digest = own.fit(X).mechanism_.digest
    assert own.fit(counted, sample_weight=weights).mechanism_.digest == digest
    shuffled = X.sample(frac=1.0, random_state=0).astype({"age": float})
    assert own.fit(shuffled).mechanism_.digest == digest
    with pytest.raises(ValueError, match="sample_weight sums to"):  # rows that repeat have weights
        own.fit(pd.concat([counted, counted]), sample_weight=np.full(2 * len(counted), 100))


def test_means_of_knots_are_unbiased_for_a_population_unlike_the_public_table():
    """Six standard errors: a false alarm in 10^9 runs."""
    rng = np.random.default_rng(1)
    n = 20_000
    people = pd.DataFrame({"ill": rng.integers(0, 2, n), "age": 40, "hours": 0})
    people["hours"] = np.where(people["ill"] == 1, 25, rng.integers(61, 99, n))
    found = FrequencyEstimator(fitted("one")).fit(fitted("one").transform(people))
    for estimates, truth in [
        (found.mean("hours"), [people["hours"].mean()]),
        (found.mean("hours", by="ill"), people.groupby("ill")["hours"].mean()),
    ]:
        figures = estimates.to_frame()
        errors = (figures["estimate"].to_numpy() - truth) / figures["std_error"].to_numpy()
        assert (np.abs(errors) < 6).all()


@pytest.mark.parametrize("kind", SHAPES)
def test_clients_and_reporters_take_numbers(kind):
    text, people = text_of(fitted(kind)), table()[SHAPES[kind]]
    again = (Manifest if kind == "blocks" else Mechanism).from_json(text)
    assert again.to_json() == text
    ids = list(range(len(people)))
    device = client.load(text, permanent_key=KEY)
    made = np.array(device.report_many(people, ids=ids)).T.reshape(len(people), -1)
    reporter = (batches.BlockReporter if kind == "blocks" else batches.Reporter)(
        text, id="person", key=KEY
    )
    reports = reporter(people.assign(person=ids))
    np.testing.assert_array_equal(reports.drop(columns="person").to_numpy(), made)
    np.testing.assert_array_equal(device.report(people.iloc[5].to_dict(), id=5), made[5].squeeze())
    lowest = np.array(AGES.inside)[AGES.codes(people["age"].to_numpy())]
    np.testing.assert_array_equal(
        np.array(device.report_many(people.assign(age=lowest), ids=ids)).T.reshape(made.shape), made
    )
    half = np.array(device.report_many(people.assign(age=people["age"] // 2), ids=ids))
    assert not np.array_equal(half.T.reshape(made.shape), made)


@pytest.mark.parametrize("name", ["age", "hours"])
def test_what_is_outside_is_refused(name):
    words = {"age": r"numbers in \[0, 121\)", "hours": r"numbers in \[0, 99\]"}[name]
    device = client.load(text_of(fitted("one")))
    for value in (121, -1, None, float("nan"), "33", AGES.labels[0]):
        record = table()[SHAPES["one"]].iloc[0].to_dict() | {name: value}
        with pytest.raises(ValueError, match=rf"'{name}'.*knows {words}\..*a wider range"):
            device.report(record)
        with pytest.raises(ValueError, match=rf"'{name}'.*{words}.*a wider range.*'clip'"):
            fitted("one").transform(pd.DataFrame([record]))


# --- Means, quantiles, edges that are read --------------------------------------------------------


def earners(n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    hours = np.clip(rng.normal(40.0 + shift, 10.0, n).round(1), 0.0, 99.0)
    return pd.DataFrame({"ill": rng.integers(0, 2, n), "hours": hours})


PARTS = Bins([0, 20, 35, 45, 60, 100])


@functools.cache
def of_earners(numbers):
    own = GRRSanitizer(eps=3.0, sensitive="ill", categories={"ill": [0, 1], "hours": numbers})
    return own.fit(earners(2_000, 0))


@pytest.mark.slow
def test_means_of_bins_have_the_variance_of_the_public_means():
    """300 public tables: the spread of means is as stated, within 35 % (four standard errors)."""
    own, people = of_earners(PARTS), earners(50_000, 1)
    column = next(one for one in codec_of(own).columns if one.name == "hours")
    found = FrequencyEstimator(own).fit(own.transform(people))
    shares = found.marginal("hours").estimate
    spread, stated = [], []
    for seed in range(300):
        (known,) = summaries_of(earners(500, seed)[["hours"]], [column], None, is_survey=False)
        spread.append(shares @ known["means"])
        stated.append(shares**2 @ known["variances"])
    assert np.var(spread) == pytest.approx(np.mean(stated), rel=0.35)
    mean, by_group = found.mean("hours"), found.mean("hours", by="ill")
    assert "by public means of bins" in str(mean) and by_group.difference(1, 0).std_error[0] > 0
    public = own.mechanism_.public
    exact = replace(public.numbers[1], variances=(0.0,) * len(PARTS.labels))
    summary = replace(public, numbers=(None, exact))
    plain = FrequencyEstimator(replace(own.mechanism_, public=summary)).fit(own.transform(people))
    added = shares**2 @ public.numbers[1].variances
    expected = np.sqrt(plain.mean("hours").std_error ** 2 + added)
    assert mean.std_error == pytest.approx(expected, rel=0.05)
    half = np.diff(mean.confidence_interval()[0]) / 2 / 1.96
    assert half == pytest.approx(mean.std_error, rel=0.05)


def test_public_means_and_rounding_are_those_of_the_numbers():
    public = earners(2_000, 0)
    found = (
        clone(of_earners(PARTS))
        .fit(pl.from_pandas(public).lazy())
        .mechanism_.public_numbers["hours"]
    )
    groups = public.groupby(PARTS.codes(public["hours"].to_numpy()))["hours"]
    np.testing.assert_allclose(found.means, groups.mean())
    np.testing.assert_allclose(found.variances, groups.var() / groups.count())
    knots = Knots([0, 30, 45, 99])
    own = of_earners(knots).mechanism_
    assert own.public_numbers["hours"].rounding == pytest.approx(
        knots.rounding_variance(public["hours"].to_numpy()).mean()
    )


@pytest.mark.slow
def test_noise_of_knots_is_around_the_raw_answers():
    """2,000 reports of the same people, 200 times: within 15 %, three standard errors."""
    knots, people, rng = Knots([0, 30, 45, 99]), earners(2_000, 3), np.random.default_rng(0)
    mechanism = of_earners(knots).mechanism_
    lower, thresholds = knots.thresholds(people["hours"].to_numpy())
    cells = people["ill"].to_numpy() * len(knots.points) + lower
    raised = np.minimum(cells + 1, mechanism.shape[1] - 1)  # where no threshold is above 0
    chance = thresholds / 2.0**32
    of_people = mechanism.matrix[:, cells] * (1.0 - chance) + mechanism.matrix[:, raised] * chance
    drawn = rng.multinomial(1, of_people.T, size=(200, len(people))).sum(axis=1)
    means, noise = [], []
    for counts in drawn:
        estimator = FrequencyEstimator(mechanism, encode="symbol")
        found = estimator.fit(range(len(counts)), sample_weight=counts).mean("hours")
        means.append(found.unbiased[0])
        noise.append(found.noise_error[0])
    assert np.std(means) == pytest.approx(np.mean(noise), rel=0.15)
    assert abs(np.mean(means) - people["hours"].mean()) < 6 * np.std(means) / np.sqrt(200)


def test_edges_that_are_read_from_the_public_column_are_said_to_be():
    public = earners(2_000, 0)
    own = clone(of_earners(PARTS)).set_params(categories={"ill": [0, 1], "hours": Bins(4)})
    found = own.fit(public).mechanism_
    edges = found.numbers_by_name["hours"].edges
    assert edges[0] == -np.inf and edges[-1] == np.inf and len(edges) == 5
    shares = np.bincount(found.numbers_by_name["hours"].codes(public["hours"].to_numpy()))
    assert (shares > 250).all() and all(round(edge) == edge for edge in edges[1:-1])
    assert own.joint_.alphabet == "cut"
    shuffled = public.assign(ill=public["ill"].sample(frac=1.0, random_state=0).to_numpy())
    assert own.fit(shuffled).mechanism_.numbers == found.numbers  # whatever S is
    assert own.fit(pl.from_pandas(public).lazy()).mechanism_.digest == found.digest
    designed = AOptimalSanitizer(sensitive="ill", categories=own.categories, tol=0.5).fit(public)
    assert "edges of bins were read" in " ".join(str(privacy_report(designed)).split())
    rare = ["rare"] * 5 + ["often"] * 1_995
    for job, source in ((public["ill"], "cut"), (rare, "learned")):
        fitted = own.fit(public.assign(job=job))
        claims = fitted.mechanism_.claims
        assert fitted.joint_.alphabet == source
        assert Mechanism.from_json(fitted.mechanism_.to_json()).claims == claims


def test_regressions_take_knots_as_a_linear_response_alone():
    own = of_earners(Knots([0, 30, 45, 99]))
    found = FrequencyEstimator(own).fit(own.transform(earners(20_000, 6)))
    means = found.mean("hours", by="ill")
    slope = regression.ols("hours ~ ill", found).params.iloc[-1]
    assert slope == pytest.approx(means.difference(1, 0).estimate[0], abs=0.05)
    for fit, formula in (
        (regression.logit, "ill ~ hours"),
        (regression.ols, "log(hours + 1) ~ ill"),
        (regression.poisson, "hours ~ ill"),
    ):
        with pytest.raises(ValueError, match="'hours' has Knots: rounding flattens slopes"):
            fit(formula, found)


# --- Three limits of knots, each with its counterexample ------------------------------------------


def test_a_secret_with_knots_needs_the_whole_record():
    """x in {0, 10, 20} with knots 0 and 20, and u = 1 for 10: u says nothing of K, all of x."""
    x = np.repeat([0, 10, 20], [25, 50, 25])
    frame = pd.DataFrame({"x": x, "u": (x == 10).astype(int)})
    knots = {"x": Knots([0, 20]), "u": [0, 1]}
    own = GRRSanitizer(sensitive="x", categories=knots)
    with pytest.raises(ValueError, match=r"'x' is sensitive and has Knots.*slice\(None\)"):
        own.fit(frame)
    with pytest.raises(ValueError, match="'x' is sensitive and has Knots"):
        BlockSanitizer(sensitive="x", categories=knots, base=GRRSanitizer()).fit(frame)
    assert clone(own).set_params(sensitive=slice(None)).fit(frame).certificate_.holds(1.0)
    alone = GRRSanitizer(sensitive="x", categories={"x": Knots([0, 20])}).fit(frame[["x"]])
    reported = alone.mechanism_.matrix @ np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]])
    leakage = np.log(reported.max(axis=1) / reported.min(axis=1)).max()
    assert leakage <= alone.certificate_.eps


def test_bounds_of_several_reports_are_those_of_a_record_that_changes():
    """x = 10 for one secret, 0 or 20 for the other: K says nothing of S, two roundings do."""
    joint = JointDistribution([[50, 50], [50, 50]], ("no", "yes"), (0, 20))
    keep = np.array([[0.8, 0.2, 0.8, 0.2], [0.2, 0.8, 0.2, 0.8]])
    plain = Mechanism.from_matrix(keep, joint.secrets, joint.values)
    plain = plain.named(None, [("ill", True), ("x", False)])
    point = RenyiBall(alpha=1.0, radius=0.0)
    assert certify(plain, point, joint).eps < 1e-9
    assert certify(plain, point, joint, reports=2).eps < 1e-9  # K is kept
    rounded = plain.named(None, plain.columns, numbers=[None, Knots([0, 20])])
    fresh, kept = [np.outer(row, row) for row in keep[:, :2].T], np.full(2, 0.5) @ keep[:, :2].T
    leakage = np.abs(np.log(np.mean(fresh, axis=0) / np.outer(kept, kept))).max()
    found = certify(rounded, point, joint, reports=2)
    assert 0.25 < leakage <= found.eps
    assert found.claim.record == "may change" and found.claim.how == "composition"
    own = fitted("one")
    claims = privacy_report(own).claims
    assert {one.record for one in claims if one.reports > 1} <= {"may change"}
    assert claims.find(reports=3).eps >= 3 * own.certificate_.eps * (1 - 1e-9)
    text, counts = own.mechanism_.to_json(), counts_to_json(own.joint_)
    verdict = verify(text, counts, own.certificate_.witness(), eps=9.0, reports=2)
    assert not verdict.holds and "knots" in str(verdict)
