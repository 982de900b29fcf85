"""Symbols in frames that were asked for are categories, which all that reads reports takes."""

import numpy as np
import pandas as pd
import pytest

from skrldp import BlockEstimator, BlockSanitizer, FrequencyEstimator, GRRSanitizer
from skrldp.cli import main

TABLE = pd.DataFrame({"s": ["n", "y"] * 60, "u": list("abcd") * 30, "w": [1, 1, 2] * 40})
CONTAINERS = ("pandas", "polars")


def sent(sanitizer, container):
    """The same reports, as numbers and as a category."""
    numbers = sanitizer.set_output(transform="default").transform(TABLE)
    return numbers, sanitizer.set_output(transform=container).transform(TABLE)


def categories_of(column, container):
    if container == "pandas":
        assert not column.cat.ordered
        return column.cat.categories.tolist()
    return [int(one) for one in column.dtype.categories]


@pytest.mark.parametrize("container", CONTAINERS)
def test_symbols_are_a_category_of_all_symbols(container, tmp_path):
    pytest.importorskip(container)
    sanitizer = GRRSanitizer(sensitive="s", encode="symbol", categories="product", random_state=0)
    numbers, Y = sent(sanitizer.fit(TABLE[:12]), container)  # fewer reports than symbols
    sanitizer.set_output(transform=container)
    Y = sanitizer.transform(TABLE[:3])
    b = sanitizer.mechanism_.shape[0]
    assert categories_of(Y["report"], container) == list(range(b))
    again = sanitizer.decode(Y, encode="symbol")
    assert type(again) is type(Y) and again["report"].dtype == Y["report"].dtype
    numbers, Y = sent(sanitizer, container)
    expected = FrequencyEstimator(sanitizer).fit(numbers).counts_
    for reports in (Y, Y["report"]):
        np.testing.assert_array_equal(FrequencyEstimator(sanitizer).fit(reports).counts_, expected)
        sanitizer.set_output(transform="default")
        decoded = np.asarray(sanitizer.decode(reports))
        assert decoded.tolist() == np.asarray(sanitizer.decode(numbers)).tolist()
    (tmp_path / "m.json").write_text(sanitizer.mechanism_.to_json())
    write = {"pandas": "to_parquet", "polars": "write_parquet"}[container]
    getattr(Y, write)(tmp_path / "y.parquet")
    numbers.to_csv(tmp_path / "y.csv", index=False)
    for ending in ("parquet", "csv"):
        files = [str(tmp_path / name) for name in ("m.json", f"y.{ending}", f"{ending}.csv")]
        assert main(["estimate", *files[:2], "-o", files[2]]) == 0
    assert (tmp_path / "parquet.csv").read_text() == (tmp_path / "csv.csv").read_text()


@pytest.mark.parametrize("container", CONTAINERS)
def test_blocks_and_their_reports_are_categories(container):
    pytest.importorskip(container)
    sanitizer = BlockSanitizer(sensitive="s", base=GRRSanitizer(), random_state=0).fit(TABLE)
    numbers, Y = sent(sanitizer, container)
    sizes = [one.shape[0] for one in sanitizer.manifest_.mechanisms]
    assert categories_of(Y["report"], container) == list(range(max(sizes)))
    assert categories_of(Y["block"], container) == list(range(len(sizes)))
    found, expected = (BlockEstimator(sanitizer).fit(one).counts_ for one in (Y, numbers))
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(own, other)


def test_categories_that_are_no_symbols_are_refused_without_showing_them():
    sanitizer = GRRSanitizer(sensitive="s", encode="symbol").fit(TABLE[["s", "u"]])
    for wrong in (["0", "secret"], ["0", None]):
        reports = pd.DataFrame({"report": pd.Categorical(wrong)})
        for read in (FrequencyEstimator(sanitizer).fit, sanitizer.decode):
            with pytest.raises(ValueError) as caught:
                read(reports)
            assert "secret" not in str(caught.value)
