"""Rare and unknown values of U as "other", and the records that alphabets are learned from."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder

from skrldp.alphabet import OTHER
from skrldp.table import Grouping, learn
from skrldp.table._grouping import Records, set_aside

LEARN = {"fraction": 0.4, "unknown": True}


def table(*columns, names="suvw"):
    return pd.DataFrame(dict(zip(names, map(list, columns), strict=False)))


def counts_of(X, grouping, weights=None, **options):
    """Counted records of each (secret, value), by name."""
    codec, codes = learn(
        X, grouping=grouping, weights=None if weights is None else lambda n: weights, **options
    )
    counted = codes.counted
    if counted is None:
        counted = np.ones(len(codes.secrets), int) if weights is None else np.asarray(weights)
    found = Counter()
    for s, u, n in zip(codes.secrets, codes.values, counted, strict=True):
        found[codec.secrets[s], codec.values[u]] += int(n)
    return codec, +found


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.integers(0, 6), min_size=6, max_size=40),
    st.sampled_from([2, 5, 0.15, 0.4]),
)
def test_rare_values_are_those_of_one_hot_encoder(values, least):
    """Another implementation of the same parameter."""
    encoder = OneHotEncoder(min_frequency=least).fit(np.c_[values])
    rare = encoder.infrequent_categories_[0]
    rare = () if rare is None else tuple(rare.tolist())
    X = table([0, 1] * len(values), [v for v in values for _ in range(2)])
    grouping = Grouping(least if isinstance(least, float) else 2 * least)
    if len(set(values) - set(rare)) + bool(rare) < 2:
        with pytest.raises(ValueError, match="only one value"):
            learn(X, grouping=grouping)
        return
    codec, codes = learn(X, grouping=grouping)
    kept = tuple(sorted(set(values) - set(rare)))
    assert codec.values == kept + ((OTHER,) if rare else ())
    assert codec.columns[1].infrequent == rare
    expected = [OTHER if v in rare else v for v in X["u"]]
    assert [codec.values[code] for code in codes.values] == expected
    assert np.array_equal(codec.encode(X).values, codes.values)
    with pytest.raises(ValueError, match="a value unseen"):
        codec.encode(X.assign(u=99))


@settings(deadline=None, max_examples=20)
@given(st.data())
def test_a_split_counts_the_records_that_were_not_set_aside(data):
    """It depends neither on the order of rows nor on whether equal ones are added up."""
    n = data.draw(st.integers(20, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    X = table(rng.integers(0, 2, n), rng.geometric(0.4, n), rng.choice(list("ab"), n))
    codes = [np.unique(X[name], return_inverse=True)[1] for name in X]
    columns = [learn(X)[0].columns[place] for place in range(3)]
    whole = Records.of(columns, codes, None)
    split = set_aside(whole, columns, LEARN["fraction"])
    assert np.array_equal(split.aside + split.counted, whole.counted)
    assert split.aside.min() >= 0
    assert split.counted.min() >= 0

    codec, found = counts_of(X, Grouping(**LEARN))
    assert (codec.source, sum(found.values())) == ("split", int(split.counted.sum()))
    seen = {  # the columns' values and the combinations among the records set aside, by hand
        tuple(columns[p].categories[c[row]] for p, c in enumerate(split.codes))[1:]
        for row in np.flatnonzero(split.aside)
    }
    assert set(codec.values) == seen | {(OTHER, OTHER)}
    by_hand = Counter()
    for row, count in enumerate(split.counted.tolist()):
        s, *u = (columns[p].categories[c[row]] for p, c in enumerate(split.codes))
        u = tuple(v if v in {own[i] for own in seen} else OTHER for i, v in enumerate(u))
        by_hand[s, u if u in seen else (OTHER, OTHER)] += count
    assert +by_hand == found

    shuffled = X.sample(frac=1.0, random_state=data.draw(st.integers(0, 99)))
    assert counts_of(shuffled, Grouping(**LEARN))[1] == found
    distinct = X.value_counts(sort=False).reset_index()
    weights = distinct.pop("count").to_numpy()
    assert counts_of(distinct, Grouping(**LEARN), weights)[1] == found


@pytest.mark.parametrize("least", [None, 3, 0.05])
@pytest.mark.parametrize("seed", range(3))
def test_a_split_is_judged_by_the_records_set_aside(least, seed):
    """Whatever the counted records hold, they do not decide which values there are."""
    rng = np.random.default_rng(seed)
    X = table(rng.integers(0, 2, 200), rng.geometric(0.2, 200))
    columns = learn(X)[0].columns
    codes = [np.unique(X[name], return_inverse=True)[1] for name in X]
    split = set_aside(Records.of(columns, codes, None), columns, LEARN["fraction"])
    found = Counter()
    for code, number in zip(split.codes[1], split.aside.tolist(), strict=True):
        found[columns[1].categories[code]] += number
    enough = (least * found.total() if isinstance(least, float) else least) or 1
    kept = tuple(sorted(value for value, number in found.items() if number >= enough))
    assert learn(X, grouping=Grouping(least, **LEARN))[0].values == (*kept, OTHER)


def test_a_split_is_a_fair_draw_in_every_cell():
    """No cell gets more, in the mean of many tables, and the spread is binomial.

    Bounds are five standard errors: a false alarm in 1e-6 of the runs, whose seed is fixed.
    """
    rng = np.random.default_rng(0)
    column = learn(table([0, 1], [0, 1]))[0].columns
    scores = []
    for counts in rng.multinomial(400, [0.4, 0.3, 0.2, 0.1], size=900):
        codes = (np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
        split = set_aside(Records(codes, np.arange(4), counts), column, 0.3)
        scores.append((split.aside - 0.3 * counts) / np.sqrt(0.21 * counts))
    scores = np.array(scores)
    assert np.abs(scores.mean(axis=0)).max() < 5 / 30
    assert np.abs((scores**2).mean(axis=0) - 1).max() < 5 * np.sqrt(2) / 30
    correlation = np.corrcoef(scores.T) - np.eye(4)
    assert np.abs(correlation).max() < 5 / 30


U = ["a"] * 6 + ["b"] * 6
ORDERED = pd.Categorical(U, ordered=True)
SOURCES = {
    "plain column": ("learned", U, {}),
    "listed": ("declared", U, {"categories": {"u": ["a", "b"]}}),
    "given levels": ("declared", ORDERED, {"categories": "dtype"}),
    "ordered category": ("learned", ORDERED, {}),
    "category made from the rows": ("learned", pd.Series(U, dtype="category"), {}),
    "category of more rows": ("learned", pd.Series([*U, "c"], dtype="category")[:12], {}),
    "the same of many records": ("frequent", pd.Categorical([*"ab"] * 60), {}),
    "the same, grouped": (
        "frequent", pd.Categorical([*"ab"] * 59 + ["a", "c"]), {"grouping": Grouping("auto")}
    ),
    "the same, split": ("split", pd.Categorical(U), {"grouping": Grouping(**LEARN)}),
    "bool": ("declared", [True, False] * 6, {}),
    "a missing value is learned": ("learned", pd.Categorical([None, *U[1:]]), {}),
    "a listed one is not": ("declared", [None, *U[1:]], {"categories": {"u": ["a", "b", None]}}),
    "many records": ("frequent", [*"ab"] * 60, {}),
    "some rare": ("learned", [*"ab"] * 59 + ["a", "c"], {}),
    "grouped": ("frequent", [*"ab"] * 59 + ["a", "c"], {"grouping": Grouping("auto")}),
    "grouped levels": ("declared", ORDERED, {"categories": "dtype", "grouping": Grouping(2)}),
    "split": ("split", U, {"grouping": Grouping(**LEARN)}),
    "nothing to split": ("declared", [True, False] * 6, {"grouping": Grouping(**LEARN)}),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_source_of_the_alphabet(name):
    """S may be learned: privacy compares conditionals given S."""
    source, values, options = SOURCES[name]
    X = pd.DataFrame({"s": [0, 1] * (len(values) // 2), "u": values})
    codec = learn(X, **options)[0]
    assert codec.source == source
    assert codec.most_values == {"declared": codec.n_values, "frequent": 3}.get(source)
    if source != "declared":
        return
    # Nothing is set aside or counted otherwise: the same integers.
    _, found = counts_of(X, **{"grouping": Grouping(), **options})
    key = [None if pd.isna(v) else v for v in X["u"]]
    assert found == Counter(zip(X["s"], key, strict=True))
    # Combinations are learned, unless all are known; those without records need not be values.
    two = X.assign(v=[True, False] * 6)
    codec = learn(two, **options)[0]
    if "grouping" in options and options["grouping"].fraction:
        assert (codec.source, codec.most_values) == ("split", None)
        codec = learn(two, **{**options, "categories": "product"})[0]
    sizes = [len(codec.columns[place]) for place in (1, 2)]
    assert (codec.source, codec.most_values) == ("declared", math.prod(sizes))


@pytest.mark.parametrize("categories", ["product", {"v": ["a", "b"]}])
def test_one_learned_column_makes_an_alphabet_learned(categories):
    X = pd.DataFrame({"s": [0, 1] * 6, "u": U, "v": pd.Categorical(U[::-1])})
    assert learn(X, categories=categories)[0].source == "learned"
    assert learn(X, categories=categories, grouping=Grouping(**LEARN))[0].source == "split"


def test_declared_columns_take_what_they_lack_as_other():
    """Truth values have no others; a listed "other" is the group; a secret is never grouped."""
    open_to_all = Grouping(unknown=True)
    X = pd.DataFrame({"s": [0, 1] * 3, "u": list("aabbxy"), "b": [True, False] * 3})
    for listed in (["a", "b"], ["other", "a", "b"]):
        codec, codes = learn(X, categories={"u": listed}, grouping=open_to_all)
        assert codec.source == "declared"
        assert set(codec.values) == {(u, b) for u in "ab" for b in (False, True)} | {
            (OTHER, False), (OTHER, True)
        }  # fmt: skip
        assert [codec.values[code][0] for code in codes.values] == list("aabb") + [OTHER] * 2
        found = codec.encode(X.assign(u="z"), unknown="other").values
        assert [codec.values[code] for code in found] == [(OTHER, b) for b in X["b"]]
        assert codec.others == (True, None)
        with pytest.raises(ValueError, match="a value unseen"):
            codec.encode(X.assign(u="z"))
    with pytest.raises(ValueError, match=r"'s' of the public data.*`categories` lacks"):
        learn(X, categories={"s": [0]}, grouping=open_to_all)
    with pytest.raises(ValueError, match="column 's' has 6 rows with a value unseen"):
        codec.encode(X.assign(s=5), unknown="other")
    rare = X.assign(s=[0, 0, 0, 1, 1, 2])
    assert learn(rare, grouping=Grouping(3, unknown=True))[0].secrets == (0, 1, 2)


def test_other_beside_numbers():
    """Where a library has columns of objects, numbers stay numbers."""
    X = pd.DataFrame({"s": [0, 1] * 10, "u": [1, 1, 2, 2] * 4 + [3, 4, 5, 6]})
    pl = pytest.importorskip("polars")
    for frame in (X, X.to_numpy(), pl.from_pandas(X)):
        codec, codes = learn(frame, grouping=Grouping(2, unknown=True))
        assert codec.values == (1, 2, OTHER)
        back = codec.decode(codes.cells(3), like=frame)
        assert np.array_equal(codec.encode(back).values, codes.values)
        rows = back.tolist() if isinstance(back, np.ndarray) else back.to_numpy().tolist()
        assert [row[1] for row in rows] == [1, 1, 2, 2] * 4 + [OTHER] * 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_frequency": 0}, "min_frequency=0 must be"),
        ({"min_frequency": 1.5}, "min_frequency=1.5 must be"),
        ({"min_frequency": True}, "min_frequency=True must be"),
        ({"fraction": 1, "unknown": True}, "alphabet_fraction=1 must be"),
        ({"fraction": 0.5}, "alphabet_fraction=0.5 needs handle_unknown='infrequent_if_exist'"),
    ],
)
def test_impossible_groups(arguments, message):
    with pytest.raises(ValueError, match=message):
        Grouping(**arguments)


def test_a_split_of_too_few_records():
    with pytest.raises(ValueError, match=r"2 records leaves none to learn the alphabet from"):
        learn(table([0, 1], [0, 1]), grouping=Grouping(fraction=1e-9, unknown=True))
