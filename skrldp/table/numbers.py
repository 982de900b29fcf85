"""Columns of numbers and dates in public tables: binned by the engine, or rounded once per record.

An engine bins numbers before it counts: each becomes a representative number of its bin, so that
the result is read like a table. Numbers with knots are counted without rounding, and each count is
split multinomially, as if its records had been rounded individually.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from skrldp._params import is_number
from skrldp.alphabet.categories import Column
from skrldp.alphabet.numbers import Bins, Draws, Knots
from skrldp.alphabet.values import brief, in_other_type
from skrldp.table.lazy import LazyTable
from skrldp.table.read import Table, lazy_frame, read_table

# Seed of the rounding of public tables, which is not secret, so that `fit` is a function of its
# input.
_SEED = 22


def fixed_draws() -> Draws:
    """Return draws with a fixed seed, to round the records of a public table."""
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
    """Round the records of each kind independently, given their number.

    The result does not depend on the order of rows, nor on whether they were counted before. It is
    distributed as if each record had been rounded individually (Theorem 41).

    Shapes: `codes` (n,) of each column, those of columns with knots being ignored; `counts` (n,).
    Returns the codes of each column, (m,), and the number of records of each row, (m,).
    """
    keys, chances = list(codes), {}
    for position, column_knots in knots.items():
        positions, distinct = table.factorize(position, slice(0, table.n_rows))
        lower, thresholds = column_knots.thresholds(distinct)
        keys[position], thresholds = lower[positions], thresholds[positions]
        chances[position] = thresholds.astype(np.int64)
    kinds, rows = np.unique(np.stack([*keys, *chances.values()], 1), axis=0, return_inverse=True)
    counts = np.bincount(rows.reshape(-1), counts).astype(np.int64)
    columns = list(kinds.T)
    generator = np.random.default_rng(_SEED)
    for number, position in enumerate(knots, len(keys)):
        raised = generator.binomial(counts, columns[number] / 2.0**32)
        columns = [np.tile(column, 2) for column in columns]
        columns[position][len(counts) :] += 1
        counts = np.concatenate([counts - raised, raised])
        columns = [column[counts > 0] for column in columns]
        counts = counts[counts > 0]
    return columns[: len(keys)], counts


# --- Edges and knots that are read from a public column -------------------------------------------


# Maximum distinct numbers or dates, also as text, and other strings of a column that a search
# accepts as categories. At twice as many, designs take minutes. The US have 56 states and
# territories.
_MOST_NUMBERS, _MOST_STRINGS = 12, 60
# Maximum records per value of an identifier, because panels have several per person
FEW_OF_EACH = 3
_MAX_MESSAGE = 250  # characters
_FEW_RECORDS = 200  # smaller tables are examples, and are searched quickly
_BINS, _KNOTS, _DATES = (0.2, 0.4, 0.6, 0.8), (0.1, 0.3, 0.5, 0.7, 0.9), (1 / 3, 2 / 3)
_NUMBER_TEXT = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")  # a leading zero marks a code
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T].*)?")
_DATE_TEXT = re.compile(
    r"(\d{4}([-/.]\d\d?){2}|(\d\d?[-/.]){2}(\d{4}|\d\d)|\d\d?[ -]\w{3,9}[ -]\d{4}"
    r"|\w{3,9} \d\d?, \d{4})([ T].*)?"
)


def round_points(
    numbers: NDArray[Any], counts: NDArray[Any], shares: Sequence[float]
) -> list[int | float]:
    """Return round numbers near quantiles of a column, between the ends of its range.

    Shapes: `numbers` (k,), sorted; `counts` (k,).
    """
    is_whole = bool((numbers == np.floor(numbers)).all())
    cumulated = np.cumsum(counts) / np.sum(counts)
    indices = np.minimum(np.searchsorted(cumulated, shares), len(numbers) - 1)
    points = np.unique(np.concatenate([numbers[:1], numbers[indices], numbers[-1:]]))
    gaps = np.diff(points)
    steps = [
        _round_step(gap / 2.0) for gap in (gaps[0], *np.minimum(gaps[1:], gaps[:-1]), gaps[-1])
    ]
    if is_whole:
        steps = [1.0, *(max(step, 1.0) for step in steps[1:-1]), 1.0]
    rounding: list[Callable[[float], int]] = [math.floor, *[round] * (len(points) - 2), math.ceil]
    rounded_points = []
    for point, step, rounded in zip(points.tolist(), steps, rounding, strict=True):
        value = round(rounded(point / step) * step, max(0, -math.floor(math.log10(step))))
        rounded_points.append(int(value) if value == int(value) else value)
    return sorted({*rounded_points})


def _round_step(limit: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that does not exceed a number."""
    power = 10.0 ** math.floor(math.log10(limit))
    return next(power * factor for factor in (5.0, 2.0, 1.0) if power * factor <= limit * 1.000001)


def refuse_many_values(name: Any, values: Sequence[Any], counts: NDArray[Any]) -> None:
    """Reject a column of many distinct values before a search, with a remedy.

    Shapes: `values` (k,), `counts` (k,). Raises ValueError.
    """
    n_records = np.sum(counts)
    pairs = [(v, n) for v, n in zip(values, counts, strict=True) if v is not None and n > 0]
    if len(pairs) <= _MOST_NUMBERS or n_records < _FEW_RECORDS:
        return
    distinct, records = map(list, zip(*pairs, strict=True))
    values_read = _from_texts(distinct)
    numbers = np.array([float(v) for v in values_read if is_number(v)])
    is_dense = len(numbers) >= n_records / FEW_OF_EACH and np.all(np.diff(np.sort(numbers)) == 1.0)
    kind, remedies = "values", [""]
    if len(numbers) == len(distinct) and not is_dense:
        kind, remedies = "numbers", _remedies_for_numbers(name, numbers, records)
    elif all(isinstance(value, date) for value in values_read):
        kind, remedies = "dates", [_remedy_for_dates(name, values_read)]
    elif all(isinstance(v, str) and _DATE_TEXT.fullmatch(v) for v in distinct):
        kind, remedies = "dates as strings", ["Convert them to dates, and pass Bins of dates."]
    elif len(distinct) >= n_records / FEW_OF_EACH:
        remedies = ["It looks like an identifier or free text: drop it."]
    elif len(distinct) > _MOST_STRINGS:
        remedies = ["Use min_frequency='auto' to report rare ones as 'other', or list categories."]
    if kind in ("numbers", "dates") and values_read is not distinct:
        kind += " as strings"
        remedies = [f"Convert them, then {text[0].lower()}{text[1:]}" for text in remedies]
    problem = f"column {brief(repr(name))} has {len(distinct):,} distinct {kind}."
    for remedy in remedies:
        if len(message := f"{problem} {remedy}") <= _MAX_MESSAGE:
            break
    if remedy:
        raise ValueError(message)


def _from_texts(values: list[Any]) -> list[Any]:
    """Convert strings that are all numbers, or all dates; return other values unchanged."""
    for form, read in ((_NUMBER_TEXT, float), (_ISO_DATE, datetime.fromisoformat)):
        if all(isinstance(value, str) and form.fullmatch(value) for value in values):
            with suppress(ValueError):
                return [read(value) for value in values]
    return values


_LEARNED = "Prefer edges from elsewhere, because beta assumes this."


def _remedies_for_numbers(name: Any, numbers: NDArray[Any], records: Sequence[Any]) -> list[str]:
    """State bins and knots, and then fewer of them for messages that would be too long."""
    order = np.argsort(numbers)
    numbers, counts = numbers[order], np.array(records, dtype=float)[order]
    remedies = []
    for step in (1, 2, 4):
        edges = round_points(numbers, counts, _BINS[::step])
        # Rounding errors are smallest if the density of knots follows a root of the numbers'
        # density, and if knots reach the tail.
        knots = round_points(numbers, np.sqrt(counts), _KNOTS[::step])
        if edges[-1] == numbers[-1]:  # a bin excludes its upper edge
            edges[-1] += 1
        remedies.append(
            f"Pass categories={{{name!r}: Bins({edges})}} for shares or Knots({knots}) for means, "
            f"or list codes. {_LEARNED}"
        )
    return remedies


def _remedy_for_dates(name: Any, dates: Sequence[Any]) -> str:
    if any(getattr(value, "tzinfo", None) for value in dates):
        return "Pass Bins whose edges have a time zone."
    moments = np.sort(np.array(dates, dtype="M8[us]"))
    for unit in ("Y", "M", "D", "h", "m", "s"):
        units = moments.astype(f"M8[{unit}]")
        if len(np.unique(units)) > 2 * len(_DATES):
            break
    inner = np.quantile(units.astype(int), _DATES, method="lower").astype(units.dtype)
    edges = ", ".join(f"np.datetime64('{edge}')" for edge in np.unique([units[0], *inner]))
    return f"Pass categories={{{name!r}: Bins([{edges}, np.inf])}}. {_LEARNED}"


def cut_at_quantiles(bins: Bins, name: Any, values: Sequence[Any], counts: NDArray[Any]) -> Bins:
    """Return this many bins between rounded quantiles of a column's numbers, with open ends.

    Shapes: `values` (k,), `counts` (k,). Raises ValueError if the column has values of other types,
    or too few distinct ones.
    """
    pairs = [(v, n) for v, n in zip(values, counts, strict=True) if v is not None and n > 0]
    if not all(is_number(v) or isinstance(v, Decimal) for v, _ in pairs):
        raise ValueError(f"column {name!r} has values that are not numbers: pass Bins(edges).")
    shares = [k / bins.n_bins for k in range(1, bins.n_bins)]
    numbers, counted = zip(*sorted((float(v), n) for v, n in pairs), strict=True)
    points: list[int | float] = [numbers[0]] if len({*numbers}) < 3 else []
    points = points or round_points(np.array(numbers), np.array(counted), shares)[1:-1]
    points = [point for point in points if numbers[0] < point <= numbers[-1]]
    if not points:
        raise ValueError(f"column {name!r} has too few distinct numbers for {bins.n_bins} bins.")
    return Bins([-math.inf, *points, math.inf], outside=bins.outside)


# --- What the public records say of the numbers in bins, and of rounding --------------------------


def summaries_of(
    X: Any, columns: Sequence[Column], weights: NDArray[Any] | None, *, is_survey: bool
) -> list[dict[str, Any] | None]:
    """Return the public means of each column's bins with variances, or the variance of rounding.

    Shapes: `weights` (n,), of the rows: counts of records, or those of a survey. Columns without
    numbers, or with more distinct numbers than an engine fetches, have None.
    """
    return [
        _summary(X, position, column.numbers, weights, is_survey)
        for position, column in enumerate(columns)
    ]


_MOST_DISTINCT = 1_000_000  # maximum distinct numbers of a column of a lazy frame


def _summary(
    X: Any, position: int, cut: Bins | Knots | None, weights: Any, is_survey: bool
) -> dict[str, Any] | None:
    """Summarise the numbers of one column."""
    if cut is None or (isinstance(cut, Bins) and cut.kind != "number"):
        return None
    frame = lazy_frame(X)
    if frame is None:
        table = read_table(X)
    else:
        table, position, weights = LazyTable.of(frame).rows([position], _MOST_DISTINCT), 0, None
        if table.n_rows == _MOST_DISTINCT:
            return None
    positions, distinct = table.factorize(position, slice(0, table.n_rows))
    numbers = np.array([np.nan if v is None else float(v) for v in distinct] + [np.nan])[positions]
    weights = table.records if weights is None else weights
    weights = np.ones(len(numbers)) if weights is None else np.asarray(weights, dtype=float)
    # Sums over sorted distinct numbers do not depend on the order of rows or on how rows were
    # counted, so that all inputs lead to the same digits.
    numbers, index = np.unique(numbers, return_inverse=True)
    squares, weights = np.bincount(index, weights**2), np.bincount(index, weights)
    if isinstance(cut, Knots):
        is_valid = cut.thresholds(numbers)[0] >= 0
        return {
            "rounding": float(
                np.average(cut.rounding_variance(numbers[is_valid]), weights=weights[is_valid])
            )
        }
    bins, k = cut.codes(numbers), len(cut.labels)
    is_in = bins >= 0
    bins, numbers, weights, squares = (x[is_in] for x in (bins, numbers, weights, squares))
    total, sample_size = np.bincount(bins, weights, k), weights.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(bins, weights * numbers, k) / total
        spread = np.bincount(bins, weights * (numbers - means[bins]) ** 2, k)
        overall = float(
            (weights * (numbers - numbers @ weights / sample_size) ** 2).sum() / sample_size
        )
        n = total**2 / np.bincount(bins, squares, k) if is_survey else total
        variances = np.where(n > 1.0, spread / total * n / (n - 1.0), overall) / n
    seen = total > 0
    return {
        "means": tuple(float(m) if s else None for m, s in zip(means, seen, strict=True)),
        "variances": tuple(float(v) if s else None for v, s in zip(variances, seen, strict=True)),
    }


# --- Lazy frames: numbers are cut before equal rows are counted -----------------------------------


def cut(frame: nw.LazyFrame[Any], bins: Mapping[Any, Bins]) -> nw.LazyFrame[Any]:
    """Replace the values of given columns by a representative of their bin.

    Raises ValueError if a column's type is not that of its edges.
    """
    schema = frame.collect_schema()
    return frame.with_columns(*(_inside(name, schema[name], edges) for name, edges in bins.items()))


def _inside(name: str, dtype: Any, bins: Bins) -> nw.Expr:
    is_day, zone = dtype == nw.Date, getattr(dtype, "time_zone", None)
    kind = "number" if dtype.is_numeric() or dtype == nw.Boolean else ""
    kind = ("moment" if zone else "date") if is_day or dtype == nw.Datetime else kind
    if kind != bins.kind:
        raise ValueError(f"column {name!r} is of type {dtype}, but its edges are {bins.kind}s.")
    column = nw.col(name).cast(nw.Float64) if kind == "number" else nw.col(name)
    is_present = ~column.is_null()
    if kind == "number":  # some engines sort NaN above all numbers, but not above infinity
        is_present &= (column < math.inf) & (column > -math.inf)
    lows: list[Any] = [_literal(edge, is_day) for edge in bins.edges[:-1]]
    highs: list[Any] = [_literal(edge, is_day) for edge in bins.edges[1:]]
    if bins.outside == "clip":
        lows[0] = highs[-1] = None
    value_of_bin = column
    for low, high, value in zip(lows, highs, bins.inside, strict=True):
        is_in = is_present
        if low is not None:
            is_in &= column >= low
        if high is not None:
            is_in &= column < high
        value_of_bin = nw.when(is_in).then(nw.lit(_literal(value, is_day))).otherwise(value_of_bin)
    return value_of_bin.alias(name)


def _literal(edge: Any, is_day: bool) -> Any:
    """Write an edge for an engine; None for an infinite one, and the next day for days."""
    if isinstance(edge, float) and math.isinf(edge):
        return None
    if not isinstance(edge, date):
        return float(edge)
    if is_day and isinstance(edge, datetime):  # not midnight
        return edge.date() + timedelta(days=1)
    return edge if is_day or isinstance(edge, datetime) else in_other_type(edge)
