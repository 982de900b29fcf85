"""Alphabets that a dtype lists, all combinations, and tables that are refused or read anew."""

import itertools

import numpy as np
import pandas as pd
import pytest

from skrldp.table.learned_categories import learn

LEVELS = ["low", "middle", "high", "top"]
ROWS = ["middle", "high", "low"]  # "top" is not used, and they are not sorted by name


def pandas_category(*, ordered):
    return pd.DataFrame({"s": [0, 1, 1], "u": pd.Categorical(ROWS, LEVELS, ordered=ordered)})


def polars_enum():
    pl = pytest.importorskip("polars")
    return pl.DataFrame({"s": [0, 1, 1], "u": pl.Series(ROWS, dtype=pl.Enum(LEVELS))})


def arrow_dictionary(*, ordered):
    pa = pytest.importorskip("pyarrow")
    codes = pa.array([LEVELS.index(value) for value in ROWS], pa.int8())
    u = pa.DictionaryArray.from_arrays(codes, LEVELS, ordered=ordered)
    return pa.table({"s": [0, 1, 1], "u": u})


LISTING = {
    "pandas category": lambda: pandas_category(ordered=False),
    "pandas ordered": lambda: pandas_category(ordered=True),
    "polars Enum": polars_enum,
    "pyarrow ordered dictionary": lambda: arrow_dictionary(ordered=True),
}


@pytest.mark.parametrize("name", LISTING)
def test_the_levels_of_a_dtype_are_the_alphabet(name):
    """In their order, with those that no row has, and they come back with their dtype."""
    X = LISTING[name]()
    codec, codes = learn(X, sensitive="s")
    assert codec.values == tuple(LEVELS)
    assert codes.values.tolist() == [LEVELS.index(value) for value in ROWS]
    assert codec.encode(pd.DataFrame({"s": [1], "u": ["top"]})).values.tolist() == [3]
    back = codec.decode([3, 0], like=X)
    assert list(back["u"].to_pylist() if name.startswith("pyarrow") else back["u"]) == [
        "top",
        "low",
    ]
    if name.startswith("pandas"):
        assert back["u"].dtype == X["u"].dtype
    elif name.startswith("polars"):
        assert back.schema == X.schema
    else:
        assert back.schema.field("u").type.ordered


@pytest.mark.parametrize("name", LISTING)
def test_levels_are_given_if_rows_cannot_have_made_them(name):
    """Else the user says that they were fixed in advance; all combinations are known then."""
    X = LISTING[name]()
    is_enum = name == "polars Enum"
    assert learn(X, sensitive="s")[0].source == ("declared" if is_enum else "learned")
    for categories in ("dtype", {"u": "dtype"}, ["auto", "dtype"]):
        codec, _ = learn(X, sensitive="s", categories=categories)
        assert (codec.source, codec.values) == ("declared", tuple(LEVELS))


@pytest.mark.parametrize(
    "made",
    [
        lambda numbers, _: pd.cut(numbers, 3),
        lambda numbers, _: pd.qcut(numbers, 3),
        lambda numbers, path: read_back(pd.cut(numbers, 3, labels=LEVELS[:3]), path),
    ],
    ids=["cut", "qcut", "read_stata"],
)
def test_ordered_categories_that_were_made_of_the_table_are_learned(made, tmp_path):
    numbers = pd.Series(np.random.default_rng(0).lognormal(size=300), name="u")
    found = made(numbers, tmp_path / "table.dta")
    assert found.cat.ordered
    X = pd.DataFrame({"s": np.arange(300) % 2, "u": found.cat.rename_categories(list("abc"))})
    for categories in ("auto", "product", "dtype"):
        codec, _ = learn(X, sensitive="s", categories=categories)
        assert codec.values == ("a", "b", "c")
        assert (codec.source == "declared") is (categories == "dtype")


def read_back(column, path):
    """Write a column as Stata does, and read it."""
    column.to_frame().to_stata(path, write_index=False)
    return pd.read_stata(path)["u"]


def test_the_levels_of_storage_are_given_if_the_user_says_so():
    pa = pytest.importorskip("pyarrow")
    codec, _ = learn(arrow_dictionary(ordered=False), sensitive="s", categories="dtype")
    assert (codec.source, codec.values) == ("declared", tuple(LEVELS))
    columns = [pa.array(values).dictionary_encode() for values in (["a", "b"], ["b", "c"])]
    parts = [pa.table({"s": [0, 1], "u": u}) for u in columns]
    both = pa.concat_tables(parts)
    assert learn(both, sensitive="s")[0].values == ("a", "b", "c")
    with pytest.raises(ValueError, match=r"unify_dictionaries\(\) of the table, in column 'u'"):
        learn(both, sensitive="s", categories="dtype")
    codec, _ = learn(both.unify_dictionaries(), sensitive="s", categories="dtype")
    assert codec.source == "declared"


def test_a_missing_value_is_learned_beside_given_levels():
    X = pandas_category(ordered=True)
    X.loc[0, "u"] = None
    codec, codes = learn(X, sensitive="s", categories="dtype")
    assert (codec.source, codec.values) == ("learned", (*LEVELS, None))
    assert codes.values.tolist() == [4, 2, 0]


def test_storage_is_no_declaration():
    """The order of these dictionaries is that of the rows."""
    pl = pytest.importorskip("polars")
    categorical = pl.DataFrame({"s": [0, 1, 1], "u": pl.Series(ROWS, dtype=pl.Categorical)})
    for X in (arrow_dictionary(ordered=False), categorical):
        assert learn(X, sensitive="s")[0].values == ("high", "low", "middle")


@pytest.mark.parametrize("dtype", ["bool", "boolean", "bool[pyarrow]"])
def test_booleans_have_both_values(dtype):
    X = pd.DataFrame({"s": [0, 1, 0], "u": pd.Series([True] * 3, dtype=dtype)})
    assert learn(X)[0].values == (False, True)


def test_product_has_all_combinations_of_both_parts():
    X = pd.DataFrame(
        {
            "s": [0, 1, 2, 0],
            "t": ["n", "y", "n", "n"],
            "u": [5, 5, 6, 7],
            "v": pd.Categorical(["b", "b", "a", "a"], ["b", "a", "c"]),
        }
    )
    codec, codes = learn(X, sensitive=["s", "t"], categories="product")
    assert codec.secrets == tuple(itertools.product((0, 1, 2), ("n", "y")))
    assert codec.values == tuple(itertools.product((5, 6, 7), ("b", "a", "c")))
    again = codec.encode(X)
    np.testing.assert_array_equal(codes.secrets, again.secrets)
    np.testing.assert_array_equal(codes.values, again.values)
    new = pd.DataFrame({"s": [2], "t": ["y"], "u": [7], "v": ["c"]})
    assert codec.encode(new).cells(codec.n_values).tolist() == [codec.n_cells - 1]
    with pytest.raises(ValueError, match="has a value unseen in fit"):
        codec.encode(new.assign(u=8))


# Names of columns


# Other containers


ROW = {"s": 0, "u": 1}


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ({"s": [0, 1], "u": [0, 1]}, r"A dictionary was passed.*use pandas\.DataFrame\(X\)"),
        ([ROW, ROW], r"A list of dictionaries was passed.*use pandas\.DataFrame\(X\)"),
        (([0, 1], ROW), "A list of dictionaries"),
        (np.ma.masked_array([[0, 1], [1, 0]]), "masked array.*numpy.where"),
        ([np.ma.masked_array([0, 1], [True, False]), [1, 0]], "masked array.*numpy.where"),
    ],
)
def test_what_is_no_table(X, message):
    with pytest.raises(TypeError, match=message):
        learn(X)
