"""Alphabets: declared ones cost nothing, learned ones are said to be; rare values are "other"."""

import itertools
import math
from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder

from skrldp.alphabet.categories import OTHER
from skrldp.alphabet.values import in_other_type
from skrldp.table.encoding import Grouping
from skrldp.table.learned_categories import learn


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
    X = pd.DataFrame({"s": [0, 1] * len(values), "u": np.repeat(values, 2)})
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


@pytest.mark.parametrize("least", [None, 2, 4])
def test_a_date_and_its_midnight_are_one_category(least):
    """The same day in two types: rare or not, it is neither counted as two nor refused."""
    days, noon = [date(2020, 1, day) for day in (1, 2, 3)], datetime(2020, 1, 4, 12)
    midnights = [datetime(2020, 1, day) for day in (1, 2, 3)]
    u = [*midnights[:2], *days[:2] * 3, days[2], midnights[2], *[noon] * 4]
    X = pd.DataFrame({"s": ["a", "b"] * 7, "u": pd.Series(u, dtype=object)})
    codec, codes = learn(X, grouping=Grouping(least))
    rare = [noon, OTHER] if least == 4 else [days[2], noon]
    assert codec.values == (*days[:2], *rare)
    assert np.array_equal(codec.encode(X).values, codes.values)
    moved = X.assign(u=pd.Series([in_other_type(day) for day in u], dtype=object))
    assert np.array_equal(codec.encode(moved).values, codes.values)
    with pytest.raises(ValueError, match="more than once"):
        learn(X, categories={"u": [*days, midnights[0], noon]})


U = ["a"] * 6 + ["b"] * 6
ORDERED = pd.Categorical(U, ordered=True)
SOURCES = {
    "plain column": ("learned", U, {}),
    "listed": ("declared", U, {"categories": {"u": ["a", "b"]}}),
    "given levels": ("declared", ORDERED, {"categories": "dtype"}),
    "ordered category": ("learned", ORDERED, {}),
    "category of more rows": ("learned", pd.Series([*U, "c"], dtype="category")[:12], {}),
    "bool": ("declared", [True, False] * 6, {}),
    "a missing value is learned": ("learned", pd.Categorical([None, *U[1:]]), {}),
    "a listed one is not": ("declared", [None, *U[1:]], {"categories": {"u": ["a", "b", None]}}),
    "many records": ("frequent", [*"ab"] * 60, {}),
    "some rare": ("learned", [*"ab"] * 59 + ["a", "c"], {}),
    "grouped": ("frequent", [*"ab"] * 59 + ["a", "c"], {"grouping": Grouping("auto")}),
    "grouped levels": ("declared", ORDERED, {"categories": "dtype", "grouping": Grouping(2)}),
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
    # Combinations are learned, unless all are known; those without records need not be values.
    two = X.assign(v=[True, False] * 6)
    codec = learn(two, **options)[0]
    sizes = [len(codec.columns[place]) for place in (1, 2)]
    assert (codec.source, codec.most_values) == ("declared", math.prod(sizes))


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
    with pytest.raises(ValueError, match="column 's' has a value unseen"):
        codec.encode(X.assign(s=5), unknown="other")
    listed = learn(X, categories={"s": [0, 1, OTHER]}, grouping=open_to_all)[0]
    with pytest.raises(ValueError, match="column 's' has a value unseen"):
        listed.encode(X.assign(s=5), unknown="other")
    rare = X.assign(s=[0, 0, 0, 1, 1, 2])
    assert learn(rare, grouping=Grouping(3, unknown=True))[0].secrets == (0, 1, 2)


def test_other_beside_numbers():
    """Where a library has columns of objects, numbers stay numbers."""
    X = pd.DataFrame({"s": [0, 1] * 10, "u": [1, 1, 2, 2] * 4 + [3, 4, 5, 6]})
    for frame in (X, X.to_numpy(), pl.from_pandas(X)):
        codec, codes = learn(frame, grouping=Grouping(2, unknown=True))
        assert codec.values == (1, 2, OTHER)
        back = codec.decode(codes.cells(3), like=frame)
        assert np.array_equal(codec.encode(back).values, codes.values)
        rows = back.tolist() if isinstance(back, np.ndarray) else back.to_numpy().tolist()
        assert [row[1] for row in rows] == [1, 1, 2, 2] * 4 + [OTHER] * 4


@pytest.mark.parametrize("least", [0, 1.5, True])
def test_impossible_groups_are_refused(least):
    with pytest.raises(ValueError, match=f"min_frequency={least} must be"):
        Grouping(least)


LEVELS = ["low", "middle", "high", "top"]
ROWS = ["middle", "high", "low"]  # "top" is not used, and they are not sorted by name


def test_levels_are_given_if_rows_cannot_have_made_them():
    """Else the user says that they were fixed in advance; all combinations are known then."""
    enum = pl.DataFrame({"s": [0, 1, 1], "u": pl.Series(ROWS, dtype=pl.Enum(LEVELS))})
    assert learn(enum, sensitive="s")[0].source == "declared"
    X = pd.DataFrame({"s": [0, 1, 1], "u": pd.Categorical(ROWS, LEVELS, ordered=True)})
    assert learn(X, sensitive="s")[0].source == "learned"
    for categories in ("dtype", {"u": "dtype"}, ["auto", "dtype"]):
        codec, _ = learn(X, sensitive="s", categories=categories)
        assert (codec.source, codec.values) == ("declared", tuple(LEVELS))


def test_the_levels_of_storage_are_given_if_the_user_says_so():
    """Because the order of these dictionaries is that of the rows."""
    categorical = pl.DataFrame({"s": [0, 1, 1], "u": pl.Series(ROWS, dtype=pl.Categorical)})
    coded = pa.DictionaryArray.from_arrays(pa.array([1, 2, 0], pa.int8()), LEVELS)
    coded = pa.table({"s": [0, 1, 1], "u": coded})
    for X in (coded, categorical):
        assert learn(X, sensitive="s")[0].values == ("high", "low", "middle")
    codec, _ = learn(coded, sensitive="s", categories="dtype")
    assert (codec.source, codec.values) == ("declared", tuple(LEVELS))
    columns = [pa.array(values).dictionary_encode() for values in (["a", "b"], ["b", "c"])]
    both = pa.concat_tables([pa.table({"s": [0, 1], "u": column}) for column in columns])
    assert learn(both, sensitive="s")[0].values == ("a", "b", "c")
    with pytest.raises(ValueError, match=r"unify_dictionaries\(\), in column 'u'"):
        learn(both, sensitive="s", categories="dtype")


def test_product_has_all_combinations_of_both_parts():
    X = pd.DataFrame(
        {
            "s": [0, 1, 2, 0],
            "t": ["n", "y", "n", "n"],
            "u": [5, 5, 6, 7],
            "v": pd.Categorical(["b", "b", "a", "a"], ["b", "a", "c"]),
        }
    )
    codec, _ = learn(X, sensitive=["s", "t"], categories="product")
    assert codec.secrets == tuple(itertools.product((0, 1, 2), ("n", "y")))
    assert codec.values == tuple(itertools.product((5, 6, 7), ("b", "a", "c")))
    new = pd.DataFrame({"s": [2], "t": ["y"], "u": [7], "v": ["c"]})
    assert codec.encode(new).cells(codec.n_values).tolist() == [codec.n_cells - 1]
    with pytest.raises(ValueError, match="has a value unseen in fit"):
        codec.encode(new.assign(u=8))
