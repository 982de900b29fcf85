"""What columns and pairs are worth, against counts made by hand."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from block_tables import wide_table
from lazy_frames import ENGINES

from skrldp import PrivacyLeakWarning, rank_columns

TABLE = wide_table(2_000)


def entropy_of(columns):
    shares = TABLE.groupby(columns).size() / len(TABLE)
    return -float((shares * np.log(shares)).sum())


def test_figures_are_those_of_the_counts():
    found = rank_columns(TABLE, sensitive="ill")
    assert len(found) == 6
    assert found["information_per_cell"].is_monotonic_decreasing
    for row in found.itertuples():
        columns = list(row.columns)
        cells = 2 * int(np.prod([TABLE[name].nunique() for name in columns]))
        assert (row.cells, row.records_per_cell) == (cells, len(TABLE) / cells)
        assert row.information == pytest.approx(entropy_of(columns))
        assert row.information_per_cell == pytest.approx(entropy_of(columns) / cells)
        secret = entropy_of(["ill"]) + entropy_of(columns) - entropy_of([*columns, "ill"])
        assert row.information_about_secret == pytest.approx(secret, abs=1e-12)
        alone = sum(entropy_of([name]) for name in columns)
        assert row.dependence == pytest.approx(alone - entropy_of(columns), abs=1e-12)
    dependent = found.set_index("columns")["dependence"]
    assert dependent["age", "job"] > dependent["home", "job"] > 0.01  # as the table is made


@pytest.mark.parametrize("sensitive", ["ill", ["ill", "home"]])
def test_every_kind_of_table_gives_the_same(sensitive):
    expected = rank_columns(TABLE, sensitive=sensitive)
    counted = TABLE.value_counts().reset_index()
    weighted = rank_columns(
        counted.drop(columns="count")[list(TABLE)],
        sensitive=sensitive,
        sample_weight=counted["count"],
    )
    pd.testing.assert_frame_equal(weighted, expected)
    frame = pl.from_pandas(TABLE)
    for table in (frame, *(make(frame) for make in ENGINES.values())):
        pd.testing.assert_frame_equal(rank_columns(table, sensitive=sensitive), expected)
    places = [list(TABLE).index(name) for name in np.atleast_1d(sensitive)]
    array = rank_columns(TABLE.to_numpy(dtype=object), sensitive=places)
    pd.testing.assert_frame_equal(array.drop(columns="columns"), expected.drop(columns="columns"))


def test_single_columns_alone():
    found = rank_columns(TABLE, sensitive="ill", pairs=False)
    assert set(found["columns"]) == {("age",), ("home",), ("job",)}
    assert (found["dependence"] == 0).all()


def test_what_cannot_be_ranked():
    with pytest.raises(ValueError, match="nothing to rank"):
        rank_columns(TABLE[["ill"]], sensitive="ill")
    with pytest.raises(ValueError, match="'wage' not found"):
        rank_columns(TABLE, sensitive="wage")
    many = TABLE.assign(age=np.arange(len(TABLE)) / 7)
    assert rank_columns(many, sensitive="ill")["columns"].iloc[-1] == ("age", "job")
    many = pd.DataFrame({"ill": [0, 1] * 60_000, "wage": np.arange(120_000)})
    with pytest.raises(ValueError, match="column 'wage' has more than 100,000 distinct values"):
        rank_columns(many, sensitive="ill")
    with pytest.warns(PrivacyLeakWarning, match="sensitive is not given"):
        assert len(rank_columns(TABLE, pairs=False)) == 3
    with pytest.raises(ValueError, match="rows of a lazy frame have no order"):
        rank_columns(pl.from_pandas(TABLE).lazy(), sensitive="ill", sample_weight=[1] * len(TABLE))
