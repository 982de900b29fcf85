"""Columns of many distinct values stop a search, with a remedy that can be pasted.

Numbers and dates are recognised in text as well, because all columns of a CSV are text.
"""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skrldp import Bins, Knots
from skrldp.cli._common import of_commands
from skrldp.cli._design import _numbers
from skrldp.table.learned_categories import Grouping, learn

N = 2_000
DAYS = pd.Series(pd.date_range("2024-01-01", periods=N))


def cities(k):
    """Return k different names, one of half the records."""
    return ["often"] * (N // 2) + [f"city {row % (k - 1)}" for row in range(N // 2)]


def numbers(k, first=17):
    """Return k different numbers."""
    return pd.Series([first + 2 * (row % k) for row in range(N)])


def searched(column, library=pd.DataFrame.copy, **options):
    """Learn the categories of a table with this column, as before a search."""
    table = pd.DataFrame({"ill": [0, 1] * (N // 2), "x": column})
    return learn(library(table), is_searched=True, **options)[0]


def refusal(column, library=pd.DataFrame.copy):
    with pytest.raises(ValueError, match="column 'x' has") as error:
        searched(column, library)
    assert len(str(error.value)) <= 250
    return str(error.value)


@pytest.mark.parametrize(
    "column",
    [cities(60), numbers(12), numbers(12).astype(str), DAYS[:12].tolist() * 166 + [DAYS[0]] * 8],
    ids=["strings", "numbers", "numbers as text", "dates"],
)
def test_few_values_are_categories(column):
    assert len(searched(column).values) == len(set(column))


@pytest.mark.parametrize("library", [pd.DataFrame.copy, pl.from_pandas, pl.LazyFrame])
@pytest.mark.parametrize("k", [61, 600])
def test_many_strings_are_grouped_or_listed(k, library):
    column = cities(k)
    assert refusal(column, library).endswith("as 'other', or list categories.")
    assert searched(column, library, grouping=Grouping("auto")).values == ("often", "other")
    assert len(searched(column, library, categories={"x": sorted(set(column))}).values) == k


@pytest.mark.parametrize("to_text", [lambda column: column, lambda column: column.astype(str)])
@pytest.mark.parametrize("column", [numbers(13), numbers(500, -400) / 4.0])
def test_numbers_are_cut_or_rounded_also_if_they_are_text(column, to_text):
    message = refusal(to_text(column))
    assert ("as strings. Convert them" in message) == (to_text(column).dtype != column.dtype)
    for pattern, kind in ((r"Bins\(\[.*?\]\)", Bins), (r"Knots\(\[.*?\]\)", Knots)):
        cut = eval(re.search(pattern, message)[0])
        assert isinstance(cut, kind)
        codec = searched(column, categories={"x": cut})
        assert len(codec.values) == len(cut.categories)
    of_command = of_commands(message)
    for option, kind in (("--bins", Bins), ("--knots", Knots)):
        text = re.search(rf'{option} "(x=.*?)"', of_command)[1]
        assert _numbers(option, text, kind)[1] == eval(
            re.search(rf"{kind.__name__}\(\[.*?\]\)", message)[0]
        )


@pytest.mark.parametrize("to_text", [lambda days: days, lambda days: days.astype(str)])
def test_dates_are_cut_also_if_they_are_text(to_text):
    message = refusal(to_text(DAYS))
    bins = eval(re.search(r"Bins\(\[.*\]\)", message)[0], {"np": np, "Bins": Bins})
    counts = np.bincount(bins.codes(DAYS))
    assert counts.sum() == N and counts.min() > N / 6
    text = re.search(r'--bins "(x=.*?)"', of_commands(message))[1]
    assert _numbers("--bins", text, Bins)[1] == bins


def test_dates_in_local_forms_are_recognised():
    for form in ("%m/%d/%Y", "%d.%m.%y", "%B %d, %Y"):
        assert "dates as strings. Convert them to dates" in refusal(DAYS.dt.strftime(form))


def test_identifiers_are_dropped():
    for column in ([f"person {row}" for row in range(N)], [f"{row % 700:05}" for row in range(N)]):
        assert refusal(pd.Series(column)).endswith("identifier or free text: drop it.")


@pytest.mark.parametrize("cut", [Bins([0, 30, 200]), Knots([0, 200])])
def test_missing_numbers_are_counted_and_have_no_bin(cut):
    column = numbers(50).where(numbers(50) > 17)
    with pytest.raises(ValueError, match=r"'x' .* has 40 missing values, .*group .* into strings"):
        searched(column, categories={"x": cut})


def test_numbers_outside_knots_have_no_other():
    codec = searched(numbers(12), categories={"x": Knots([0, 200])}, grouping=Grouping("auto"))
    outside = pd.DataFrame({"ill": [0], "x": [201.0]})
    for unknown in ("error", "other"):
        with pytest.raises(ValueError, match=r"'x' .*outside='clip'\)\.$"):
            codec.encode(outside, unknown=unknown)
