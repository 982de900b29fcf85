"""The JSON of mechanisms: one text for each, read strictly, and all that is written is read back.

Texts that are refused, and what is said of them, are vectors that all readers share
(``tests/client/test_same_in_javascript.py``), and `make fuzz` changes texts of all kinds
(fuzz/targets.py); here are properties over all mechanisms, and what Python alone does.
"""

import datetime
import json
import math
from dataclasses import replace
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import Manifest, Mechanism
from skrldp.claims import Around, Claim, Claims
from skrldp.design.closed_form import srr
from skrldp.mechanism import json_format
from skrldp.mechanism.json_values import unique_key
from skrldp.public_summary import PublicSummary

COLUMNS = [("ill", True), ("age", False)]
AROUND = Around("renyi", {"alpha": 2.0, "radius": 0.1}, "chi2", 0.05, n_records=100)
BALL = Claims((Claim(0.75, 0.5, AROUND, ("ill",), asked=1.0),))
ALL = Claims((Claim(1.75, 0.5, secret=("ill",), asked=2.0),))


def dense(**changes):
    matrix = [[0.5, 0.25, 0.125, 1.0], [0.5, 0.75, 0.875, 0.0]]
    mechanism = Mechanism.from_matrix(matrix, ("no", "yes"), (1, 2)).named(None, COLUMNS)
    return replace(mechanism, claims=BALL, **changes)


def blind():
    matrix, values = [[0.5, 0.25, 0.125], [0.5, 0.75, 0.875]], ("a", "b", "c")
    mechanism = Mechanism.from_matrix(matrix, ("no", "yes"), values, observe="nonsensitive")
    return replace(mechanism.named(None, COLUMNS), claims=ALL)


def blocks():
    return Mechanism.from_blocks(srr(1.0, 2, 3), ("no", "yes"), (1, 2, 3)).named(None, COLUMNS)


FORMS = {"dense": dense, "blind": blind, "blocks": blocks}


def test_no_digest_depends_on_the_public_counts():
    """Keyed reports and ledgers are bound to the digest, and must survive another prior."""
    summary = PublicSummary(np.array([[5, 0], [1, 2]]), survey_records=4, survey_size=3.5)
    bare, full = dense(), dense(public=summary)
    assert bare.digest == full.digest and bare.to_json() == full.to_json(public=False)
    assert full.to_json() == bare.to_json()[:-1] + (
        ',"public":{"counts":[[5,0],[1,2]],"records":4,"size":3.5}}'
    )
    again = Mechanism.from_json(full.to_json())
    assert again.public.counts.tolist() == [[5, 0], [1, 2]] and again.to_json() == full.to_json()
    assert (again.public.n, again.public.size) == (4, 3.5)
    named = [one.named(None, [("ill", True), (n, False)]) for one, n in ((bare, "a"), (full, "b"))]
    one = Manifest.of(named, [0.5, 0.5])
    two = Manifest.of([named[0], replace(named[1], public=None)], [0.5, 0.5])
    assert one.digest == two.digest and one.to_json(public=False) == two.to_json()
    assert one.to_json().endswith(
        '"public":{"blocks":[null,{"counts":[[5,0],[1,2]],"records":4,"size":3.5}]}}'
    )
    assert Manifest.from_json(one.to_json()).to_json() == one.to_json()


@given(st.data())
@settings(max_examples=75)
def test_a_change_of_any_weight_is_seen(data):
    document = json.loads(FORMS[data.draw(st.sampled_from(sorted(FORMS)))]().to_json())
    rows = [document["blocks"]] if "blocks" in document else document["weights"]
    row = data.draw(st.sampled_from(rows))
    place = data.draw(st.integers(0, len(row) - 1))
    row[place] += data.draw(st.integers(-(2**80), 2**80).filter(bool))
    with pytest.raises(ValueError, match="mechanism"):
        Mechanism.from_json(json.dumps(document))


def test_numbers_with_one_hash_have_different_keys():
    """Else an alphabet of n such numbers would take n**2 steps to look through."""
    numbers = [n * (2**61 - 1) for n in range(2000)]
    assert len(set(map(hash, numbers))) == 1
    for names in (numbers, [(n, "a") for n in numbers], [float(2 ** (61 * n)) for n in range(17)]):
        assert len({hash(unique_key(name)) for name in names}) == len(names)


def test_texts_that_would_fill_the_memory_are_not_parsed(monkeypatch):
    text = dense().to_json()
    for name, most in (
        ("MOST_CHARACTERS", len(text)),
        ("MOST_BRACKETS", text.count("[") + text.count("{")),
        ("MOST_COMMAS", text.count(",")),
    ):
        monkeypatch.setattr(json_format, name, most)
        Mechanism.from_json(text)
        monkeypatch.setattr(json_format, name, most - 1)
        monkeypatch.setattr(json_format, "json", None)  # the parser
        with pytest.raises(ValueError, match=r"not a mechanism: the text has .* the limit"):
            Mechanism.from_json(text)
        monkeypatch.undo()


def test_negative_weights_are_not_written():
    mechanism = dense()
    weights = mechanism.weights.copy()
    weights[:, 0] = 2**33 + 1, -1
    damaged = replace(mechanism, form=type(mechanism.form)(weights, mechanism.denominator_bits))
    with pytest.raises(ValueError, match="weights are negative"):
        damaged.to_json()


def test_names_of_another_number_are_refused_at_once():
    three = ("a", "b", "c")
    for make in (
        lambda: dense().named(three, COLUMNS),
        lambda: blocks().named(three, COLUMNS),
        lambda: Mechanism.from_matrix(np.ones((1, 4)), ("no", "yes"), (1, 2), symbols=three),
        lambda: dense(symbols=three),
    ):
        with pytest.raises(ValueError, match=r"Expected one symbol for .* [126] reports, got 3"):
            make()
    with pytest.raises(ValueError, match="3 secrets x 2 values, got 4"):
        dense(secrets=three)
    with pytest.raises(ValueError, match="must not be empty"):
        Mechanism.from_blocks((1.0, 0.0, 0.0, 0.0), ("a",), ())
    for columns in ([("ill", True, 1)], ["ill"], [("ill", "yes")], [("ill", 1)]):
        with pytest.raises(ValueError, match="column"):
            dense().named(None, columns)


BERLIN = ZoneInfo("Europe/Berlin")
ANYTHING = st.one_of(
    st.sampled_from(
        [
            np.datetime64("2020-01-01T00:00:00.000000001", "ns"),
            np.datetime64("NaT", "s"),
            np.datetime64("10000-01-01", "s"),
            np.timedelta64(1, "h"),
            np.str_("a"),
            np.float32(0.1),
            np.uint64(2**63),
            np.bool_(True),
            math.nan,
            pd.NA,
            pd.Timestamp("2020-01-01", tz="Europe/Berlin"),
            pd.Timedelta(1, "h"),
            b"a",
            "\ud800",
            10**400,
            1j,
            {"date": "2020-01-01"},
            frozenset(),
            datetime.datetime(2020, 10, 25, 2, 30, tzinfo=BERLIN, fold=1),
            datetime.time(2, 30, tzinfo=BERLIN),
            datetime.time(2, 30, tzinfo=datetime.UTC),
        ]
    ),
    st.text(max_size=2),
    st.integers(-2, 2),
    st.floats(),
    st.none(),
    st.booleans(),
    st.datetimes(),
    st.timedeltas(),
)
NESTED = st.recursive(
    ANYTHING, lambda part: st.lists(part, max_size=2) | st.tuples(part), max_leaves=4
)
ALPHABETS = st.lists(NESTED, min_size=1, max_size=3) | st.lists(st.integers(0, 9), max_size=3)
SOME_COLUMNS = st.just([]) | st.lists(st.tuples(NESTED, st.booleans()), max_size=3)


@given(ALPHABETS, ALPHABETS, st.none() | ALPHABETS, SOME_COLUMNS, st.integers(1, 3), st.data())
@settings(max_examples=100)
def test_what_is_written_comes_back(secrets, values, symbols, columns, n_reports, data):
    """Every mechanism is refused when it is made or written, or comes back from its JSON."""
    kind = data.draw(st.sampled_from(sorted(FORMS)))
    width = len(values) * (1 if kind == "blind" else len(secrets))
    observe = "nonsensitive" if kind == "blind" else "all"
    try:
        if kind == "blocks":
            share = 1.0 / (len(secrets) * len(values) or 1)
            mechanism = Mechanism.from_blocks((share,) * 4, secrets, values)
        else:
            matrix = np.full((n_reports, width), 1.0 / n_reports)
            mechanism = Mechanism.from_matrix(matrix, secrets, values, observe=observe)
        mechanism = mechanism.named(symbols, columns)
        text = mechanism.to_json()
    except (ValueError, TypeError) as error:
        assert "unhashable" not in str(error) and "broadcast" not in str(error)
        return
    again = Mechanism.from_json(text)
    for part in ("secrets", "values", "symbols", "columns", "denominator_bits", "observe"):
        assert getattr(again, part) == getattr(mechanism, part)
    np.testing.assert_array_equal(again.weights, mechanism.weights)
    assert again.to_json() == text
