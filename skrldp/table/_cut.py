"""Numbers of a table, cut at fixed edges."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from skrldp.alphabet import Bins, plain
from skrldp.table._design_columns import with_values
from skrldp.table._read import Table, lazy_frame, read_table

__all__ = ["cut"]


def cut(X: Any, bins: Mapping[Any, Bins]) -> Any:
    """Return a table or lazy frame with the labels of bins in place of numbers.

    What is in no bin gets the label "outside the edges [0, 120]"; what is missing stays so.
    Raises ValueError if a column of a lazy frame holds no numbers.
    """
    if not bins:
        return X
    lazy = lazy_frame(X)
    if lazy is not None:
        schema = lazy.collect_schema()
        for name in bins:
            if not schema[name].is_numeric():
                raise ValueError(f"column {name!r} has edges, but does not hold numbers.")
        return lazy.with_columns(*(_expression(*item) for item in bins.items())).to_native()
    table = read_table(X)
    places = {name: table.names.index(name) for name in bins}
    return with_values(X, {places[name]: _cut(table, places[name], bins[name]) for name in bins})


def _cut(table: Table, place: int, bins: Bins) -> np.ndarray:
    positions, distinct = table.factorize(place, slice(0, table.n_rows))
    names = [*bins.labels, _outside(bins)]
    labels = [None if plain(value) is None else names[bins.place(value)] for value in distinct]
    return np.array([*labels, None], dtype=object)[positions]


def _expression(name: str, bins: Bins) -> nw.Expr:
    column = nw.col(name)
    found = nw.lit(_outside(bins))
    of_bins = zip(pairwise(bins.edges), bins.labels, strict=True)
    for (low, high), label in reversed(list(of_bins)):
        is_closed = high == bins.edges[-1] and high < math.inf
        below = column <= high if is_closed else column < high
        found = nw.when((column >= low) & below).then(nw.lit(label)).otherwise(found)
    return nw.when(~column.is_null()).then(found).alias(name)


def _outside(bins: Bins) -> str:
    return f"outside the edges {bins.range}"
