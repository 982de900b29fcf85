"""The JSON of mechanisms: canonical, strict, and the claims in it."""

import datetime
import hashlib
import json
import math
import random
import traceback
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
from skrldp.mechanism import json_format, json_values
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
    matrix = [[0.5, 0.25, 0.125], [0.5, 0.75, 0.875]]
    mechanism = Mechanism.from_matrix(
        matrix, ("no", "yes"), ("a", "b", "c"), observe="nonsensitive"
    )
    return replace(mechanism.named(None, COLUMNS), claims=ALL)


def blocks():
    return Mechanism.from_blocks(srr(1.0, 2, 3), ("no", "yes"), (1, 2, 3)).named(None, COLUMNS)


FORMS = {"dense": dense, "blind": blind, "blocks": blocks}


# One mechanism, one text


def shuffled(value, rng):
    """The same JSON with its keys in another order."""
    if isinstance(value, list):
        return [shuffled(item, rng) for item in value]
    if isinstance(value, dict):
        items = list(value.items())
        rng.shuffle(items)
        return {key: shuffled(item, rng) for key, item in items}
    return value


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("indent", [None, 3])
def test_equivalent_json_has_one_digest(form, indent):
    mechanism = FORMS[form]()
    text = mechanism.to_json()
    other = json.dumps(shuffled(json.loads(text), random.Random(1)), indent=indent)
    assert other != text
    for given_text in (text, other, text.encode(), other.encode()):
        again = Mechanism.from_json(given_text)
        assert again.to_json() == text and again.digest == mechanism.digest
        assert again.claims == mechanism.claims
    assert mechanism.digest == hashlib.sha256(text.encode("utf-8")).hexdigest()


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
    one, two = (
        Manifest.of(parts, [0.5, 0.5])
        for parts in (named, [named[0], replace(named[1], public=None)])
    )
    assert one.digest == two.digest and one.to_json(public=False) == two.to_json()
    assert one.to_json().endswith(
        '"public":{"blocks":[null,{"counts":[[5,0],[1,2]],"records":4,"size":3.5}]}}'
    )
    assert Manifest.from_json(one.to_json()).to_json() == one.to_json()


def test_other_mechanisms_have_other_digests():
    first = dense()
    others = [
        blind(),
        blocks(),
        replace(first, claims=None),
        replace(first, claims=Claims((replace(BALL.main, eps=0.8),))),
        first.named(("x", "y"), COLUMNS),
        first.named(None, [("sick", True), ("age", False)]),
        replace(first, claims=None).named(None, [("ill", False), ("age", True)]),
        replace(first, form=replace(first.form, table=first.form.table[:, ::-1])),
    ]
    assert len({mechanism.digest for mechanism in [first, *others]}) == len(others) + 1


def test_text_of_any_script_is_written_as_it_is():
    mechanism = Mechanism.from_matrix(np.ones((1, 2)), ("да", "нет"), ("東",))
    assert "да" in mechanism.to_json()
    assert Mechanism.from_json(mechanism.to_json().encode()).secrets == ("да", "нет")


# What is refused, for every form


def public(counts=1, rows=1, **numbers):
    """Add counts of public records, the same in every cell, or other ones."""

    def change(d):
        table = [[counts] * len(d["values"])] * len(d["secrets"]) * rows
        d.update(public={"counts": table, **numbers})

    return change


DAMAGE = {
    "a public list": (lambda d: d.update(public=[[1]]), "public must be an object"),
    "no public counts": (lambda d: d.update(public={}), "public lacks 'counts'"),
    "an unknown public key": (public(bins=[]), "public has the unknown key 'bins'"),
    "public counts of no shape": (public(rows=2), "counts must be secrets by values"),
    "negative public counts": (public(-1), "counts are negative"),
    "fractional public counts": (public(1.0), "counts must be integers"),
    "no public record": (public(0), "sum to between 1 and"),
    "too many public records": (public(2**52), "sum to between 1 and"),
    "vast public records": (public(2**62), "sum to between 1 and"),
    "a survey without records": (public(size=1.5), "beside its number of records"),
    "a survey of no records": (public(records=0), "numbers of records must be positive"),
    "a survey of 5.0 records": (public(records=5.0), "records must hold integers"),
    "a survey of whole size": (public(records=5, size=5), "size must be a decimal"),
    "a survey of no size": (public(records=5, size=0.0), "numbers of records must be positive"),
    "an unknown key": (lambda d: d.update(comment="hi"), "unknown key 'comment'"),
    "a misspelt key": (lambda d: d.update(guarante=None), "unknown key 'guarante'"),
    "version true": (lambda d: d.update(version=True), "version True"),
    "version 1.0": (lambda d: d.update(version=1.0), r"version 1\.0"),
    "a later version": (lambda d: d.update(version=6), "this release reads version 5"),
    "an older version": (lambda d: d.update(version=3), "version 3"),
    "a column twice": (
        lambda d: d.update(columns=[["a", True], ["a", False]]),
        "column names repeat",
    ),
    "a column more": (
        lambda d: d["columns"].append(["b", False]),
        r"values must match the 2 columns \['age', 'b'\]",
    ),
    "no sensitive column": (
        lambda d: d.update(columns=[["a", False], ["b", False]]),
        "secrets must match the 0 columns",
    ),
    "a flag that is text": (lambda d: d["columns"][0].__setitem__(1, "false"), "name and true"),
    "columns with more": (lambda d: d["columns"][0].append(1), "pairs of a name and true"),
    "a secret and its double": (lambda d: d.update(secrets=[1, True]), "1 and True are equal"),
    "a value and its double": (
        lambda d: d["values"].__setitem__(slice(0, 2), [2, 2.0]),
        r"values repeat, because 2 and 2\.0 are equal",
    ),
    "one moment twice": (
        lambda d: d.update(
            secrets=[
                {"datetime": "2020-01-01T00:00:00+00:00"},
                {"datetime": "2020-01-01T01:00:00+01:00"},
            ]
        ),
        "secrets repeat",
    ),
    "nanoseconds": (
        lambda d: d["secrets"].__setitem__(0, {"datetime": "2020-01-01T00:00:00.000000001"}),
        "not a date, time",
    ),
    "an unknown kind": (lambda d: d["secrets"].__setitem__(0, {"python": "exit()"}), "secrets"),
    "two kinds": (
        lambda d: d["secrets"].__setitem__(0, {"date": "2020-01-01", "time": "00:00"}),
        "secrets",
    ),
    "no date": (lambda d: d["secrets"].__setitem__(0, {"date": "yesterday"}), "not a date, time"),
    "a duration beyond all": (
        lambda d: d["secrets"].__setitem__(0, {"microseconds": 10**30}),
        "not a date, time",
    ),
    "half a surrogate pair": (lambda d: d["secrets"].__setitem__(0, "\ud800"), "surrogate pair"),
    "nested categories": (lambda d: d["secrets"].__setitem__(0, [[[["a"]]]]), "nested too deeply"),
    "a secret of two parts": (lambda d: d["secrets"].__setitem__(0, ["a", "b"]), "must match"),
    "secrets are text": (lambda d: d.update(secrets="ab"), "secrets must be a list"),
    "bits": (lambda d: d.update(denominator_bits=-1), "bits"),
    "an enormous number of bits": (lambda d: d.update(denominator_bits=10**9), "bits"),
    "no claims": (lambda d: d.update(claims=None), "claims must be a list"),
    "observe": (lambda d: d.update(observe="some"), "observe"),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("form", FORMS)
def test_damage_is_told(form, damage):
    document = json.loads(FORMS[form]().to_json())
    change, message = DAMAGE[damage]
    change(document)
    with pytest.raises(ValueError, match=message) as caught:
        Mechanism.from_json(json.dumps(document))
    assert "mechanism" in str(caught.value) and "\n" not in str(caught.value)


def spoilt(value, deep):
    """What may not stand in the place of a part: nothing, another type, length or number."""
    yield from (None, {}, 77, "text")
    if isinstance(value, list):
        yield from ([], value[:-1], [*value, "new"], [*value, value[0]], [*value, 0])
        for place, part in enumerate(value) if deep else ():
            if not isinstance(part, str | bool):
                for bad in spoilt(part, deep):
                    yield [*value[:place], bad, *value[place + 1 :]]
    elif isinstance(value, int):
        yield from (value + 1, value - 1, float(value), str(value), True, 2**70)


@pytest.mark.parametrize("form", FORMS)
def test_every_part_is_needed_as_it_is(form):
    document = json.loads(FORMS[form]().to_json())
    names, read = {"secrets", "values", "symbols"}, []
    blind = {"secrets"} if form == "blind" else set()  # of whom there may be any number
    for key in document.keys() - {"claims", "observe"} - blind:
        lacks = {name: part for name, part in document.items() if name != key}
        changes = [{key: one} for one in spoilt(document[key], key not in names)]
        for one in [lacks, *(document | change for change in changes)]:
            try:
                Mechanism.from_json(json.dumps(one))
                read.append((key, one.get(key)))
            except ValueError as error:
                assert "mechanism" in str(error)
    assert read == [("columns", [])] * (form == "blocks")  # none need be named without claims


@pytest.mark.parametrize("bits", [0, 60])
def test_bits_of_a_block_mechanism_have_their_range(bits):
    document = json.loads(blocks().to_json())
    shift = bits - document["denominator_bits"]
    weights = [w << shift if shift > 0 else w >> -shift for w in document["blocks"]]
    with pytest.raises(ValueError, match="mechanism"):
        Mechanism.from_json(json.dumps(document | {"denominator_bits": bits, "blocks": weights}))


TAMPERED = [
    ('"version":5', '"version":5,"version":5', "duplicate key 'version'"),
    ('"alpha":2.0', '"alpha":2.0,"alpha":3.0', "duplicate key 'alpha'"),
    ('"eps":0.75', '"eps":NaN', "NaN is not a finite number"),
    ('"eps":0.75', '"eps":-Infinity', "-Infinity is not a finite number"),
    ('"eps":0.75', '"eps":1e999', "1e999 is not a finite number"),
    ('"eps":0.75', '"eps":' + "9" * 400, "eps=99999"),
    ('"eps":0.75', '"eps":' + "9" * 5000, "more than 4,300 digits"),
    ('"eps":0.75', '"eps":0.25', "attained=0.5 must be at most eps=0.25"),
    ('"n_records":100', '"n_records":100.0', r"n_records=100\.0"),
    ('"around":{', '"around":"some","laws":{', "unknown key 'laws'"),
    ('"n_records":100', '"n_records":100,"values_from":null', "values_from is null"),
]


@pytest.mark.parametrize(("old", "new", "message"), TAMPERED)
def test_tampered_text_is_refused(old, new, message):
    text = dense().to_json()
    assert old in text
    with pytest.raises(ValueError, match=message):
        Mechanism.from_json(text.replace(old, new, 1))


@pytest.mark.parametrize(
    "text", [b"\xff{}", "é".encode("latin-1"), b"", "{", "[]", "3", '"skrldp-mechanism"', "{}"]
)
def test_what_is_no_mechanism_is_refused(text):
    with pytest.raises(ValueError, match="not a mechanism"):
        Mechanism.from_json(text)


@pytest.mark.parametrize("text", [None, 5, {"format": "skrldp-mechanism"}])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(TypeError, match="as str or bytes"):
        Mechanism.from_json(text)


@pytest.mark.parametrize("form", FORMS)
def test_weights_that_sum_up_must_not_be_negative(form):
    document = json.loads(FORMS[form]().to_json())
    if form == "blocks":
        document["blocks"][0] += 2 * (document["blocks"][1] + 1)
        document["blocks"][1] = -1
    else:
        document["weights"][0][0] += document["weights"][1][0] + 1
        document["weights"][1][0] = -1
    with pytest.raises(ValueError, match="weights are negative"):
        Mechanism.from_json(json.dumps(document))


@given(st.data())
@settings(max_examples=75)
def test_a_change_of_any_weight_is_seen(data):
    document = json.loads(
        data.draw(st.sampled_from(sorted(FORMS)).map(lambda f: FORMS[f]().to_json()))
    )
    rows = [document["blocks"]] if "blocks" in document else document["weights"]
    row = data.draw(st.sampled_from(rows))
    place = data.draw(st.integers(0, len(row) - 1))
    row[place] += data.draw(st.integers(-(2**80), 2**80).filter(bool))
    with pytest.raises(ValueError, match="mechanism"):
        Mechanism.from_json(json.dumps(document))


def test_an_alphabet_that_would_fill_the_memory_is_refused():
    document = json.loads(blocks().to_json())
    document.update(secrets=list(range(2000)), values=list(range(2000)))
    with pytest.raises(ValueError, match="2,000 x 2,000 cells exceed the limit of 1,000,000"):
        Mechanism.from_json(json.dumps(document))


NAMES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-3, 3).map(float)
    | st.text(max_size=2)
    | st.sampled_from(["1", "n1", "s", "-1", "0x1"])
    | st.dates()
    | st.timedeltas()
)


@given(names=st.tuples(*[NAMES | st.tuples(NAMES, NAMES) | st.tuples(NAMES)] * 2))
def test_keys_of_names_are_equal_as_the_names_are(names):
    first, second = names
    assert (unique_key(first) == unique_key(second)) == (first == second)


def test_numbers_with_one_hash_have_different_keys():
    """Else an alphabet of n such numbers would take n**2 steps to look through."""
    numbers = [n * (2**61 - 1) for n in range(2000)]
    assert len(set(map(hash, numbers))) == 1
    for names in (numbers, [(n, "a") for n in numbers], [float(2 ** (61 * n)) for n in range(17)]):
        assert len({hash(unique_key(name)) for name in names}) == len(names)
    document = json.loads(blocks().to_json())
    document.update(secrets=[0, 1], values=[*numbers, 5.0, 5])
    with pytest.raises(ValueError, match=r"values repeat, because 5\.0 and 5 are equal"):
        Mechanism.from_json(json.dumps(document))


LONG = "x" * 10**6
ECHOES = {
    "a key": lambda d: d.update({LONG: 1}),
    "a version": lambda d: d.update(version=LONG),
    "two names": lambda d: d.update(secrets=[LONG, LONG]),
    "named columns": lambda d: d.update(columns=[[LONG, True], ["b", True], ["c", False]]),
    "what is observed": lambda d: d.update(observe=LONG),
    "a weight": lambda d: d.update(denominator_bits=LONG),
    "a date": lambda d: d["secrets"].__setitem__(0, {"date": LONG}),
    "half a surrogate pair": lambda d: d["secrets"].__setitem__(0, LONG + "\ud800"),
    "a rule": lambda d: d.update(
        claims=[{
            "secret": [0], "known": [], "eps": 1, "attained": 1,
            "around": {"set": "renyi", "alpha": 1, "radius": 1, "rule": LONG, "beta": 0.1},
        }]
    ),
}  # fmt: skip


@pytest.mark.parametrize("echo", ECHOES)
def test_messages_are_short_whatever_is_read(echo):
    document = json.loads(blind().to_json())
    ECHOES[echo](document)
    with pytest.raises(ValueError) as caught:
        Mechanism.from_json(json.dumps(document))
    told = "".join(traceback.format_exception(caught.value))
    assert len(str(caught.value)) < 1000 and len(told) < 10_000


def test_numbers_and_keys_that_are_no_json_are_not_echoed():
    for text in ('{"a":1e' + "9" * 10**6 + "}", "{" + f'"{LONG}":1,"{LONG}":1' + "}"):
        with pytest.raises(ValueError, match="not a mechanism") as caught:
            Mechanism.from_json(text)
        told = "".join(traceback.format_exception(caught.value))
        assert len(str(caught.value)) < 1000 and len(told) < 10_000


def test_sizes_are_checked_before_names_are_read(monkeypatch):
    def never(*arguments):
        raise AssertionError("a name was read")

    monkeypatch.setattr(json_format, "revive", never)
    assert json_values.MOST_CELLS == 1_000_000
    monkeypatch.setattr(json_values, "MOST_CELLS", 1_000)  # a text of a million takes seconds
    for changes, message in (
        ({"values": [[]] * 1_001, "secrets": [0]}, "1 x 1,001 cells exceed the limit of 1,000"),
        ({"symbols": [[]] * 65_537}, "65,537 reports exceed the limit of 65,536"),
    ):
        with pytest.raises(ValueError, match=message):
            Mechanism.from_json(json.dumps({**json.loads(dense().to_json()), **changes}))


def test_texts_that_are_too_large_are_not_parsed(monkeypatch):
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


def test_a_text_that_was_cut_is_refused():
    text = dense().to_json()
    for drop in range(3, 400, 7):
        with pytest.raises(ValueError, match="not a mechanism"):
            Mechanism.from_json(text[:-drop])
            pytest.fail(f"all but {drop} characters were read")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "all", "nonsensitive", "date", "2020-01-01"])
    | st.just({"date": "2020-01-01"}),
    lambda parts: (
        st.lists(parts, max_size=4)
        | st.dictionaries(st.sampled_from(["date", "distributions", "eps"]), parts, max_size=2)
    ),
    max_leaves=6,
)


def places_in(value, path=()):
    """Paths to all parts of a JSON value."""
    if path:
        yield path
    if isinstance(value, list):
        value = dict(enumerate(value))
    for key, part in value.items() if isinstance(value, dict) else ():
        yield from places_in(part, (*path, key))


@given(st.sampled_from(sorted(FORMS)), st.data())
@settings(max_examples=150)
def test_whatever_is_put_in_is_read_exactly_or_refused(form, data):
    document = json.loads(FORMS[form]().to_json())
    path = data.draw(st.sampled_from(list(places_in(document))))
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = data.draw(JSON)
    text = json.dumps(document)
    try:
        again = Mechanism.from_json(text)
    except ValueError as error:
        assert "mechanism" in str(error)
        return
    back = json.loads(again.to_json())
    if back.get("observe") is None and document.get("observe") == "all":
        del document["observe"]
    assert back == {key: part for key, part in document.items() if part is not None}


# What is not written, since it could not be read


@pytest.mark.parametrize(
    ("mechanism", "error", "message"),
    [
        (dense(secrets=(1, True)), ValueError, "secrets repeat, because 1 and True are equal"),
        (dense(symbols=(0, 0.0)), ValueError, "symbols repeat"),
        (dense(columns=(("ill", True),)), ValueError, "values must match the 0 columns"),
        (dense(secrets=(("a", 1), ("b", 1))), ValueError, "secrets must match the 1 column"),
        (dense(secrets=("\udfff", "b")), ValueError, "surrogate"),
        (dense(secrets=(math.nan, "b")), ValueError, "None for a missing value"),
        (
            dense(secrets=(pd.Timestamp("2020-01-01T00:00:00.000000001"), 1)),
            TypeError,
            "nanoseconds",
        ),
        (dense(secrets=(pd.Timedelta(1, "ns"), 1)), TypeError, "nanoseconds"),
        (dense(secrets=(b"a", "b")), TypeError, "type bytes"),
        (blocks().named(range(6), COLUMNS), ValueError, "keep their names"),
    ],
)
def test_what_could_not_be_read_is_not_written(mechanism, error, message):
    with pytest.raises(error, match=message):
        mechanism.to_json()


def test_moments_come_back():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    secrets = (datetime.datetime(2020, 1, 1, tzinfo=zone), None)
    mechanism = Mechanism.from_matrix(np.ones((1, 2)), secrets, (datetime.timedelta(days=-1),))
    again = Mechanism.from_json(mechanism.to_json())
    assert again.secrets == secrets and again.values == mechanism.values


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
def test_moments_of_numpy_are_moments(unit):
    """NumPy itself makes whole numbers of moments in nanoseconds."""
    days = np.array(["2020-01-01", "2020-01-02"], f"M8[{unit}]")
    steps = np.array([1, 2], "m8[h]").astype(f"m8[{'s' if unit == 'D' else unit}]")
    moments = (datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2))
    hours = (datetime.timedelta(hours=1), datetime.timedelta(hours=2))
    dense = Mechanism.from_matrix(np.eye(4), days, steps, symbols=[*days, *steps])
    block = Mechanism.from_blocks((0.25,) * 4, days, steps)
    for mechanism in (dense, dense.named([*steps, *days], []), block):
        assert (mechanism.secrets, mechanism.values) == (moments, hours)
        again = Mechanism.from_json(mechanism.to_json())
        assert (again.secrets, again.values) == (moments, hours)
        assert again.symbols == mechanism.symbols


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


ANYTHING = st.one_of(
    st.sampled_from(
        [
            np.datetime64("2020-01-01T00:00:00.000000001", "ns"),
            np.datetime64("2020-01-01", "ns"),
            np.datetime64("NaT", "s"),
            np.datetime64("10000-01-01", "s"),
            np.timedelta64(1, "ns"),
            np.timedelta64(1, "h"),
            np.str_("a"),
            np.float32(0.1),
            np.uint64(2**63),
            np.bool_(True),
            math.nan,
            pd.NaT,
            pd.NA,
            pd.Timestamp("2020-01-01"),
            pd.Timestamp("2020-01-01", tz="Europe/Berlin"),
            pd.Timedelta(1, "h"),
            b"a",
            "\ud800",
            10**400,
            1j,
            {"date": "2020-01-01"},
            frozenset(),
            datetime.datetime(2020, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
            datetime.time(2, 30, tzinfo=ZoneInfo("Europe/Berlin")),
            datetime.time(2, 30, tzinfo=datetime.UTC),
            datetime.datetime(
                2020, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(seconds=1, microseconds=1))
            ),
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
NAMES = st.lists(NESTED, min_size=1, max_size=3) | st.lists(st.integers(0, 9), max_size=3)
SOME_COLUMNS = st.just([]) | st.lists(st.tuples(NESTED, st.booleans()), max_size=3)


@given(NAMES, NAMES, st.none() | NAMES, SOME_COLUMNS, st.integers(1, 3), st.data())
@settings(max_examples=150)
def test_what_is_written_comes_back(secrets, values, symbols, columns, n_reports, data):
    """Every mechanism is refused when it is made or written, or comes back from its JSON."""
    kind = data.draw(st.sampled_from(["dense", "blind", "blocks"]))
    width = len(values) * (1 if kind == "blind" else len(secrets))
    try:
        if kind == "blocks":
            share = 1.0 / (len(secrets) * len(values) or 1)
            mechanism = Mechanism.from_blocks((share,) * 4, secrets, values)
        else:
            matrix = np.full((n_reports, width), 1.0 / n_reports)
            mechanism = Mechanism.from_matrix(
                matrix, secrets, values, observe="nonsensitive" if kind == "blind" else "all"
            )
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
