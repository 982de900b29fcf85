"""Symbols in frames that were asked for are categories, which all that reads reports takes."""

import numpy as np
import pandas as pd
import pytest

from skrldp import FrequencyEstimator, GRRSanitizer

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
def test_symbols_are_a_category_of_all_symbols(container):
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


def test_categories_that_are_no_symbols_are_refused_without_showing_them():
    sanitizer = GRRSanitizer(sensitive="s", encode="symbol").fit(TABLE[["s", "u"]])
    for wrong in (["0", "secret"], ["0", None]):
        reports = pd.DataFrame({"report": pd.Categorical(wrong)})
        for read in (FrequencyEstimator(sanitizer).fit, sanitizer.decode):
            with pytest.raises(ValueError) as caught:
                read(reports)
            assert "secret" not in str(caught.value)
