"""Columns of numbers and dates in public tables: cut where they are, rounded once for each record.

An engine cuts numbers into bins before it counts: each becomes a number of its bin, so that reading
the result is as reading the table. Numbers that are rounded to knots are counted as they are, and
each count is split multinomially, as if its records had been rounded one by one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from skrldp.alphabet.numbers import Bins, Draws, Knots
from skrldp.alphabet.values import in_other_type
from skrldp.table.read import Table

# Of the rounding of public tables, which is not secret: `fit` is a function of its input.
_SEED = 22


def fixed_draws() -> Draws:
    """Return draws from a fixed seed, to round the records of a public table."""
    generator = np.random.default_rng(_SEED)

    def draws(name: Any, knots: Knots, n: int) -> NDArray[np.uint32]:
        return generator.integers(1 << 32, size=n, dtype=np.uint32)

    return draws


def split_counts(
    table: Table,
    codes: Sequence[NDArray[Any]],
    counts: NDArray[np.int64] | None,
    knots: Mapping[int, Knots],
) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
    """Round the records of each kind independently, given how many there are.

    The result does not depend on the order of rows, nor on whether they were counted before.

    Shapes: `codes` (n,) of each column, those of columns with knots being ignored; `counts` (n,).
    Returns the codes of each column, (m,), and how many records have them, (m,).
    """
    keys, chances = list(codes), {}
    for place, own in knots.items():
        positions, distinct = table.factorize(place, slice(0, table.n_rows))
        keys[place], thresholds = (found[positions] for found in own.thresholds(distinct))
        chances[place] = thresholds.astype(np.int64)
    kinds, rows = np.unique(np.stack([*keys, *chances.values()], 1), axis=0, return_inverse=True)
    counts = np.bincount(rows.reshape(-1), counts).astype(np.int64)
    parts = list(kinds.T)
    generator = np.random.default_rng(_SEED)
    for number, place in enumerate(knots, len(keys)):
        raised = generator.binomial(counts, parts[number] / 2.0**32)
        parts = [np.concatenate([own, own]) for own in parts]
        parts[place][len(counts) :] += 1
        counts = np.concatenate([counts - raised, raised])
        parts = [own[counts > 0] for own in parts]
        counts = counts[counts > 0]
    return parts[: len(keys)], counts


# --- Lazy frames: numbers are cut before equal rows are counted -----------------------------------


def cut(frame: nw.LazyFrame[Any], bins: Mapping[Any, Bins]) -> nw.LazyFrame[Any]:
    """Replace the values of columns, given by name, by one of their bin; others stay as they are.

    Raises ValueError if a column's type is not that of its edges.
    """
    schema = frame.collect_schema()
    return frame.with_columns(*(_inside(name, schema[name], own) for name, own in bins.items()))


def _inside(name: str, dtype: Any, bins: Bins) -> nw.Expr:
    is_day, zone = dtype == nw.Date, getattr(dtype, "time_zone", None)
    kind = "number" if dtype.is_numeric() or dtype == nw.Boolean else ""
    kind = ("moment" if zone else "date") if is_day or dtype == nw.Datetime else kind
    if kind != bins.kind:
        raise ValueError(f"column {name!r} is of type {dtype}, but its edges are {bins.kind}s.")
    column = nw.col(name).cast(nw.Float64) if kind == "number" else nw.col(name)
    is_present = ~column.is_null()
    if kind == "number":  # for some engines NaN is more than all numbers, but not than infinity
        is_present &= (column < math.inf) & (column > -math.inf)
    lows: list[Any] = [_literal(edge, is_day) for edge in bins.edges[:-1]]
    highs: list[Any] = [_literal(edge, is_day) for edge in bins.edges[1:]]
    if bins.outside == "clip":
        lows[0] = highs[-1] = None
    found = column
    for low, high, value in zip(lows, highs, bins.inside, strict=True):
        is_in = is_present
        if low is not None:
            is_in &= column >= low
        if high is not None:
            is_in &= column < high
        found = nw.when(is_in).then(nw.lit(_literal(value, is_day))).otherwise(found)
    return found.alias(name)


def _literal(edge: Any, is_day: bool) -> Any:
    """Write an edge for an engine; None for an infinite one, and for days the first one after."""
    if isinstance(edge, float) and math.isinf(edge):
        return None
    if not isinstance(edge, date):
        return float(edge)
    if is_day and isinstance(edge, datetime):  # not midnight
        return edge.date() + timedelta(days=1)
    return edge if is_day or isinstance(edge, datetime) else in_other_type(edge)
