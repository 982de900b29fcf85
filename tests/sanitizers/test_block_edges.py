"""Columns of numbers that blocks cut at fixed edges."""

import functools
import json
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lazy_frames import ENGINES
from sklearn.base import clone

from skrldp import (
    BlockEstimator,
    BlockSanitizer,
    Calibrator,
    GRRSanitizer,
    IRSanitizer,
    Manifest,
    batches,
    client,
)
from skrldp.alphabet.columns import Bins
from skrldp.client.records import BlockReader

EDGES = {"age": [0, 18, 30, 65, 120], "bmi": [-np.inf, 18.5, 25, np.inf]}
AGES = ("[0, 18)", "[18, 30)", "[30, 65)", "[65, 120]")
KEY = bytes(range(32))


@functools.cache
def table(n=2_000):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "ill": rng.integers(0, 2, n),
            "age": rng.integers(0, 121, n),
            "bmi": rng.normal(25.0, 5.0, n),
            "job": rng.choice(["a", "b"], n),
        }
    )


def cut_by_pandas():
    ages = pd.cut(table()["age"], [*EDGES["age"][:-1], 121], right=False, labels=AGES)
    bmi = pd.cut(table()["bmi"], EDGES["bmi"], right=False, labels=BMI)
    return table().assign(age=ages.astype(str), bmi=bmi.astype(str))


BMI = ("(-inf, 18.5)", "[18.5, 25)", "[25, inf)")
KNOWN = {"ill": [0, 1], "job": ["a", "b"]}


def test_levels_of_other_columns_may_be_given():
    X = table().assign(job=pd.Categorical(table()["job"], ["a", "b", "never"]))
    found = blocks(categories="dtype", base=IRSanitizer()).fit(X)
    assert [one.joint_.alphabet for one in found.sanitizers_] == ["declared"] * 3
    assert found.manifest_.categories["job"] == ("a", "b", "never")


def blocks(**options):
    own = {"sensitive": "ill", "edges": EDGES, "categories": KNOWN, "blocks": "pairs"}
    return BlockSanitizer(**(own | {"base": GRRSanitizer(), "random_state": 0} | options))


@functools.cache
def fitted():
    return blocks().fit(table())


def test_the_bins_are_categories_of_a_table_that_was_cut_before():
    before = cut_by_pandas()
    known = KNOWN | {"age": list(AGES), "bmi": list(BMI)}
    own = blocks(edges=None, categories=known).fit(before)
    assert own.manifest_.categories == fitted().manifest_.categories
    assert [m.to_json() for m in own.manifest_.mechanisms] == [
        m.to_json() for m in fitted().manifest_.mechanisms
    ]
    np.testing.assert_array_equal(fitted().transform(table()), own.transform(before))
    assert fitted().score(table()) == pytest.approx(own.score(before))
    estimates = BlockEstimator(fitted()).fit(fitted().transform(table()))
    assert estimates.marginal("age").labels == tuple((age,) for age in AGES)
    weights = Calibrator(fitted(), table()).fit(fitted().transform(table())).weights_
    assert len(weights) == len(table())


@pytest.mark.parametrize("library", ["polars", "pyarrow", *(f"lazy {name}" for name in ENGINES)])
def test_tables_of_every_library(library):
    frame = pl.from_pandas(table())
    make = {"polars": pl.DataFrame.clone, "pyarrow": pl.DataFrame.to_arrow} | {
        f"lazy {name}": engine for name, engine in ENGINES.items()
    }
    found = clone(fitted()).fit(make[library](frame))
    assert found.manifest_.digest == fitted().manifest_.digest


def test_counts_are_those_of_rows_before_they_are_cut():
    counted = table().assign(bmi=table()["bmi"].round()).value_counts().reset_index()
    weights = counted.pop("count")
    weighted = blocks().fit(counted, sample_weight=10_000 * weights)
    whole = blocks().fit(counted.loc[counted.index.repeat(weights)])
    for one, own in zip(weighted.sanitizers_, whole.sanitizers_, strict=True):
        np.testing.assert_allclose(one.joint_.probabilities, own.joint_.probabilities, atol=1e-12)


def test_arrays_have_places():
    edges = {1: EDGES["age"], 2: EDGES["bmi"]}
    known = [[0, 1], "auto", "auto", ["a", "b"]]
    found = blocks(edges=edges, sensitive=0, categories=known)
    rows = table().to_numpy(dtype=object)
    reports = found.fit(rows).transform(rows)
    np.testing.assert_array_equal(reports, fitted().transform(table()))


def test_manifests_clients_and_reporters_take_numbers():
    text = fitted().manifest_.to_json()
    assert json.loads(text)["bins"][1] == ["bmi", [None, 18.5, 25, None], list(BMI)]
    again = Manifest.from_json(text)
    assert again.to_json() == text and again.bins == fitted().manifest_.bins
    people = table().assign(person=range(len(table())))
    device = client.load(text, memoize=KEY)
    numbers = device.report_many(table(), ids=range(len(table())))
    reporter = batches.BlockReporter(text, id="person", key=KEY)
    reports = reporter(people)
    lowest = np.array(EDGES["age"])[Bins.of_edges(EDGES["age"]).places(people["age"].to_numpy())]
    pd.testing.assert_frame_equal(reporter(people.assign(age=lowest)), reports)
    assert not reporter(people.assign(age=people["age"] // 2)).equals(reports)
    assert device.report(table().iloc[5].to_dict(), id=5) == (numbers[0][5], numbers[1][5])


@pytest.mark.parametrize("age", [121, -1, None, float("nan"), "33", AGES[0], [3], Decimal("NaN")])
def test_what_is_in_no_bin_is_refused(age):
    record = {"ill": 1, "age": age, "bmi": 22.0, "job": "a"}
    with pytest.raises(ValueError, match=r"'age'.*knows numbers in \[0, 120\]\..*wider `edges`"):
        client.load(fitted().manifest_.to_json()).report(record)
    if not isinstance(age, list | Decimal):
        with pytest.raises(ValueError, match=r"'age'.*known are numbers in \[0, 120\].*`edges`"):
            fitted().transform(pd.DataFrame([record]))


def test_public_records_in_no_bin_are_refused_or_other():
    strange = table().assign(age=table()["age"].where(table()["age"] != 7, 130))
    for own in (strange, pl.from_pandas(strange).lazy()):
        with pytest.raises(ValueError, match=r"'age'.*'outside the edges \[0, 120\]'"):
            blocks().fit(own)
    base = GRRSanitizer(handle_unknown="infrequent_if_exist", min_frequency=300)
    found = blocks(base=base, blocks="singles").fit(strange)
    assert found.manifest_.others["age"] is True
    record = {"ill": 1, "bmi": 22.0, "job": "a"}
    _, values = BlockReader(found.manifest_).codes(
        [record | {"age": age} for age in (40, 130, None)]
    )
    names = [found.manifest_.categories["age"][code] for code in values[0]]
    assert names == ["[30, 65)", "other", "other"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edges": [0, 1, 2]}, r"must be a dict of lists"),
        ({"edges": {"height": [0, 1, 2]}}, r"keys that are not columns: \['height'\]"),
        ({"edges": {"ill": [0, 1, 2]}}, r"the sensitive column 'ill'.*pandas\.cut"),
        ({"edges": {"age": 3}}, r"column 'age': edges must be a list of numbers"),
        ({"edges": {"age": [0, "x", 2]}}, r"column 'age': edges must be a list of numbers"),
        ({"edges": {"age": [0, 120]}}, r"at least three increasing numbers"),
        ({"edges": {"age": [0, 18, 18, 120]}}, r"at least three increasing numbers"),
        ({"edges": {"age": [0, np.inf, 120]}}, r"at least three increasing numbers"),
        ({"edges": {"age": [0, 18, 2**60]}}, r"at least three increasing numbers"),
        ({"categories": KNOWN | {"age": [1, 2]}}, r"'age' has edges and categories"),
        ({"categories": ["auto", [1, 2], "auto", "auto"]}, r"'age' has edges and categories"),
        ({"categories": [[0, 1]]}, r"categories lists 1 alphabets"),
    ],
)
def test_edges_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        blocks(**options).fit(table())


NUMBERS = st.floats(allow_nan=True) | st.integers(-(2**60), 2**60) | st.booleans()
CUTS = st.lists(st.floats(-1e6, 1e6) | st.integers(-(2**53), 2**53), min_size=3, unique=True)


@given(CUTS.map(sorted), st.lists(NUMBERS), st.booleans(), st.booleans())
def test_bins_against_comparisons(edges, values, is_open_below, is_open_above):
    edges = [-np.inf] * is_open_below + edges + [np.inf] * is_open_above
    bins = Bins.of_edges(edges)
    values = [*values, *edges]

    def expected(value):
        if np.isinf(value):
            return -1
        for place, (low, high) in enumerate(pairwise(edges)):
            if low <= value < high:
                return place
        return len(edges) - 2 if value == edges[-1] else -1

    found = [bins.place(value) for value in values]
    assert found == [expected(value) for value in values]
    floats = np.array([value for value in values if isinstance(value, float)], dtype=float)
    np.testing.assert_array_equal(bins.places(floats), [expected(v) for v in floats])
    whole = np.array([v for v in values if type(v) is int], dtype=np.int64)
    np.testing.assert_array_equal(bins.places(whole), [expected(int(v)) for v in whole])
