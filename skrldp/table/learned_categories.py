"""Learning the alphabets of a public table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from skrldp.alphabet.categories import OTHER, named
from skrldp.alphabet.combinations import Alphabet
from skrldp.alphabet.numbers import Bins, Knots
from skrldp.alphabet.values import chance_of_infrequent, frequent_from
from skrldp.table.codec import CellCodec, Codes
from skrldp.table.encoding import (
    MOST_CATEGORIES,
    Column,
    Frequencies,
    Given,
    Grouping,
    Rare,
    Records,
    given_categories,
    group_values,
    learn_column,
    most_values,
)
from skrldp.table.lazy import LazyTable, Numbers, refuse_weights
from skrldp.table.numbers import (
    cut,
    cut_at_quantiles,
    fixed_draws,
    refuse_many_values,
    split_counts,
)
from skrldp.table.read import Table, lazy_frame, read_table, without_rows
from skrldp.table.select import resolve_columns, row_contents

MAX_CELLS = 1_000_000


@dataclass(frozen=True)
class LearningPlan:
    """The options of :func:`learn`."""

    # secrets, values: Positions of the columns of S, and of U
    secrets: tuple[int, ...]
    values: tuple[int, ...]
    given: Sequence[Given]  # the user's categories for each column; None to learn them
    everything: bool  # whether all combinations were requested by ``categories="product"``
    grouping: Grouping
    max_cells: int = MAX_CELLS
    advice: str = ""  # sentence for the message if there are more cells
    is_searched: bool = False  # whether a search follows, which requires few categories per column
    is_cut: bool = False  # whether edges of bins are quantiles of the counted records

    def refuses_many_values(self, position: int) -> bool:
        """Whether a column must not have many distinct values as categories."""
        is_free = self.given[position] is None and not self.grouping.is_used
        return self.is_searched and is_free and position in self.values

    def is_product(self, positions: Sequence[int]) -> bool:
        """Whether the alphabet of these columns is all combinations of their categories."""
        return self.everything or any(self.given[position] is not None for position in positions)

    def takes_others(self, position: int) -> bool:
        """Whether unlisted values of a column become "other"."""
        is_rounded = isinstance(self.given[position], Knots)
        return self.grouping.unknown and position in self.values and not is_rounded

    @property
    def knots(self) -> dict[int, Knots]:
        """The columns whose numbers are rounded, by position."""
        return {
            position: numbers
            for position, numbers in enumerate(self.given)
            if isinstance(numbers, Knots)
        }


# --- Messages about tables with too many cells, or too many distinct rows -------------------------


_SHOWN = 3  # columns that a message lists


@dataclass(frozen=True)
class Size:
    """A column's name and number of levels, and how many of these occur in the table."""

    name: object
    levels: int  # number of possible values of the column
    used: int  # how many of them occur in the table
    is_open: bool = False  # whether the column has more distinct values than are counted

    @classmethod
    def of(cls, name: object, column: Column | None, codes: np.ndarray | None) -> Size:
        """Count the levels of a column that was read; None if there are too many to count."""
        if column is None or codes is None:
            return cls(name, MOST_CATEGORIES + 1, MOST_CATEGORIES + 1, True)
        return cls(name, len(column), int(np.count_nonzero(np.bincount(codes))))

    def words(self) -> str:
        """Return a description such as "'zip': 50,000 (12 of them used)"."""
        if self.is_open:
            return f"{self.name!r}: more than {MOST_CATEGORIES:,}"
        unused = f" ({self.used:,} of them used)" if self.used < self.levels else ""
        return f"{self.name!r}: {self.levels:,}{unused}"


def too_many_cells(n_cells: int, limit: int, sizes: Sequence[Size], advice: str) -> ValueError:
    """Return the error for a table with too many cells, or a column with too many values."""
    problem = f"the table has at least {n_cells:,} cells, more than {limit:,}"
    if any(size.is_open for size in sizes):
        problem = f"a column can have at most {MOST_CATEGORIES:,} distinct values"
    return _too_many(problem, sizes, advice)


def too_many_rows(limit: int, sizes: Sequence[Size], advice: str) -> ValueError:
    """Return the error for a lazy frame with too many distinct rows to group their values here."""
    problem = (
        f"the table has more than {limit:,} distinct rows, all of which are needed to round "
        "numbers, or to group rare or unknown values"
    )
    return _too_many(problem, sizes, advice)


def _too_many(problem: str, sizes: Sequence[Size], advice: str) -> ValueError:
    largest = sorted(sizes, key=lambda size: -size.levels)
    n_more = len(sizes) - _SHOWN
    unlisted = f"; {n_more:,} more column{'s' if n_more > 1 else ''}" if n_more > 0 else ""
    levels = "; ".join(size.words() for size in largest[:_SHOWN])
    unused = ""
    if any(size.used < size.levels for size in sizes):
        unused = ", drop unused levels (cat.remove_unused_categories())"
    return ValueError(
        f"{problem}. Levels per column: {levels}{unlisted}. Use Bins, group values{unused} "
        f"or drop columns.{' ' if advice else ''}{advice}"
    )


# --- The distinct rows of a lazy frame, counted and bounded before they are fetched ---------------


def bring(lazy: LazyTable, plan: LearningPlan) -> Table:
    """Fetch the distinct rows of a table, at most one for each cell.

    An engine first counts the distinct values of each column. Then it counts the distinct rows, of
    which one more is fetched than there may be cells.

    Returns Table: with the number of records of each row. Raises ValueError if there are too many
    cells, or no rows. Raises RuntimeError if the engine fails.
    """
    numbers = lazy.numbers()
    if numbers.n_rows == 0:
        raise without_rows(0, len(lazy.names))
    for position, dtype in enumerate(lazy.dtypes):
        is_free = plan.refuses_many_values(position) and not isinstance(dtype, nw.Enum)
        if is_free and numbers.distinct[position] <= MOST_CATEGORIES:
            refuse_many_values(lazy.names[position], *_distinct_values(lazy, position, None))
    sizes = [_size(lazy, position, numbers, plan) for position in range(len(lazy.names))]
    if any(size.is_open for size in sizes):
        raise too_many_cells(0, plan.max_cells, sizes, plan.advice)
    is_grouped = plan.grouping.is_used or bool(plan.knots)
    limit = max(plan.max_cells, MAX_CELLS) if is_grouped else plan.max_cells
    table = lazy.rows(range(len(lazy.names)), limit + 1, numbers.nan)
    if table.n_rows > limit and is_grouped:
        raise too_many_rows(limit, sizes, plan.advice)
    if table.n_rows > limit:  # each distinct row is a cell
        raise too_many_cells(table.n_rows, limit, sizes, plan.advice)
    return table


def _size(lazy: LazyTable, position: int, numbers: Numbers, plan: LearningPlan) -> Size:
    """Return the size of a column, as :func:`learn` will determine it from the distinct rows."""
    name, dtype, listed = lazy.names[position], lazy.dtypes[position], plan.given[position]
    used = numbers.distinct[position]
    if isinstance(listed, Bins | Knots):  # engines bin before they count; knots are rounded here
        size = len(listed.categories)
        return Size(name, size, min(used, size))
    if isinstance(listed, tuple) and (used <= len(listed) or plan.takes_others(position)):
        return Size(name, max(len(listed), used), used)
    if used > MOST_CATEGORIES:
        return Size.of(name, None, None)
    levels = 0
    if dtype == nw.Boolean:
        levels = 2
    elif isinstance(dtype, nw.Enum):
        levels = len(dtype.categories)
    levels += levels > 0 and numbers.missing[position] > 0
    return Size(name, max(levels, used), used)


# --- Learning -------------------------------------------------------------------------------------


def learn(
    X: Any,
    *,
    sensitive: Any = 0,
    categories: Any = "auto",
    max_cells: int = MAX_CELLS,
    advice: str = "",
    grouping: Grouping | None = None,
    weights: Callable[[int], np.ndarray] | None = None,
    by_row: bool = False,
    is_searched: bool = False,
) -> tuple[CellCodec, Codes]:
    """Learn the alphabets of a public table, and encode its rows.

    Shapes: `X` (n, n_columns). Returns `codes`: those of the table's rows, or of distinct rows for
    a lazy frame and for rounded numbers, unless rounding is done row by row. Raises TypeError for
    sparse or structured input, and values that cannot be categories. Raises ValueError if the table
    is not two-dimensional or is empty, has duplicate columns, infinite or complex numbers or too
    many cells, if S or U has columns but fewer than two values, or if the table contains a value
    that is not in `categories`. Raises RuntimeError if an engine fails to count the rows of a lazy
    frame.

    Examples
    --------
    >>> codec, codes = learn([["no", 1], ["yes", 1], ["no", 2]])
    >>> codec.secrets, codec.values
    (('no', 'yes'), (1, 2))
    >>> codes.secrets.tolist(), codes.values.tolist()
    ([0, 1, 0], [0, 0, 1])
    >>> cells = codec.encode([["yes", 2]]).cells(codec.n_values)
    >>> cells
    array([3], dtype=uint8)
    >>> codec.decode(cells, like=[["no", 1]])
    array([['yes', 2]], dtype=object)
    """
    refuse_weights(X, weights)
    grouping = Grouping() if grouping is None else grouping
    table, plan = _public_table(
        X, sensitive, categories, grouping, max_cells, advice, weights, is_searched=is_searched
    )
    secret_positions, value_positions = plan.secrets, plan.values
    record_counts = table.records if weights is None else weights(table.n_rows)
    pairs = table.learned or _learned(table, plan)
    learnt = [pair for pair in pairs if pair is not None]
    for position, pair in enumerate(pairs):
        if pair is not None and plan.refuses_many_values(position) and not pair[0].declared:
            of_each = np.bincount(pair[1], record_counts, len(pair[0]))
            refuse_many_values(pair[0].name, pair[0].categories, of_each)

    def check(n_cells: int) -> None:
        if n_cells > max_cells or len(learnt) < len(pairs):
            sizes = [
                Size.of(name, *(pair or (None, None)))
                for name, pair in zip(table.names, pairs, strict=True)
            ]
            raise too_many_cells(n_cells, max_cells, sizes, advice)

    check(0)
    columns, codes = map(list, zip(*learnt, strict=True))
    rows = None
    if weights is not None and any(isinstance(own, Bins | Knots) for own in plan.given):
        rows = np.unique(row_contents(table), return_inverse=True)[1].reshape(-1)
    is_split = bool(plan.knots) and not by_row
    if is_split:
        codes, record_counts = split_counts(table, codes, record_counts, plan.knots)
    combined = len(value_positions) > 1 and not plan.is_product(value_positions)
    learned = [position for position in value_positions if not columns[position].declared]
    # If no values are grouped, the learned values are the combinations.
    together = combined and not grouping.is_used and bool(learned)
    judged = () if together else value_positions
    n_learned = 1 if together else len(learned)
    n_rows = len(codes[0])
    n = n_rows if record_counts is None else int(record_counts.sum())
    minimum = frequent_from(n, grouping.beta / max(1, n_learned))
    ungrouped, ungrouped_codes, counts = list(columns), list(codes), record_counts
    records, is_open = None, False
    if grouping.is_used:
        records = Records.of(columns, codes, record_counts)
        ungrouped_codes, counts = list(records.codes), records.counts
        codes = list(ungrouped_codes)
        for p in value_positions:
            columns[p], codes[p] = group_values(
                columns[p], codes[p], records, grouping, minimum, combined=combined
            )
        is_open = grouping.takes_unknown and combined
        is_open = is_open and all(columns[p].other is not None for p in value_positions)
    frequencies = Frequencies.of(
        {p: (ungrouped[p], columns[p]) for p in judged},
        {p: np.bincount(ungrouped_codes[p], counts, len(ungrouped[p])) for p in judged},
        value_positions if grouping.takes_unknown else (),
        minimum,
        len(columns),
    )
    alphabets = []
    for part, positions in (("S", secret_positions), ("U", value_positions)):
        if not positions:  # the whole record is the secret
            alphabets.append((Alphabet(()), np.zeros(n_rows, dtype=np.uint8)))
            continue
        own = [columns[position] for position in positions]
        own_codes = [codes[position] for position in positions]
        if part == "U" and is_open:
            alphabet, index = _with_others(own, own_codes, check)
        else:
            alphabet, index = _combined(own, own_codes, plan.is_product(positions), check)
        if len(alphabet) < 2:
            all_rare = all(column.categories == (OTHER,) for column in own)
            enough = grouping.enough(n, minimum) if all_rare else None
            raise ValueError(_constant(part, own, table.n_records, enough))
        alphabets.append((alphabet, index if records is None else index[records.row]))
    (secret_alphabet, secrets), (value_alphabet, values) = alphabets
    check(len(secret_alphabet) * len(value_alphabet))
    n_possible = frequencies.product(value_positions)
    if together:
        of_each = np.bincount(values, record_counts, len(value_alphabet))
        n_possible = most_values(of_each)
        frequencies = replace(frequencies, fewest=min(frequencies.fewest, int(of_each.min())))
        names = [columns[position].name for position in value_positions]
        rare = Rare.of(names, value_alphabet.members(), of_each, minimum)
        if rare.n:
            frequencies = replace(frequencies, rare=(rare, *frequencies.rare))
    source = "learned" if frequencies.rare else "frequent" if learned else "declared"
    beta_of_values = None
    if source == "frequent":
        chance = n_learned * chance_of_infrequent(n, frequencies.fewest)
        beta_of_values = min(grouping.beta, chance)  # rounding
    if plan.is_cut and source != "learned":
        source = "cut"
    codec = CellCodec(
        columns=tuple(columns),
        sensitive=secret_positions,
        nonsensitive=value_positions,
        secrets=secret_alphabet.members(),
        values=value_alphabet.members(),
        _secret_alphabet=secret_alphabet,
        _value_alphabet=value_alphabet,
        library=table.library,
        source=source,
        most_values=None if frequencies.rare else n_possible,
        beta_of_values=beta_of_values,
        frequencies=frequencies,
        groups_unknown=grouping.takes_unknown,
    )
    if rows is None and records is not None:
        rows = records.row
    counted = record_counts if is_split else table.records
    return codec, Codes(secrets, values, codec.n_secrets, rows, counted)


def learn_columns(
    X: Any, sensitive: Any, categories: Any, grouping: Grouping, records: Any = None
) -> Table:
    """Read a table in memory and learn its columns once, for later calls of :func:`learn` on some.

    Shapes: `records` (n,), how many records each row represents. Raises as :func:`learn`.
    """
    table = replace(read_table(X), records=records) if records is not None else read_table(X)
    table, plan = _public_table(
        table, sensitive, categories, grouping, MAX_CELLS, "", None, is_searched=False
    )
    return replace(table, learned=_learned(table, plan))


def _learned(table: Table, plan: LearningPlan) -> tuple[tuple[Column, np.ndarray] | None, ...]:
    """Learn the alphabet of each column, and encode its rows."""
    draws = fixed_draws()
    return tuple(
        learn_column(
            table,
            position,
            listed,
            secret=position in plan.secrets,
            others=plan.takes_others(position),
            draws=draws,
        )
        for position, listed in enumerate(plan.given)
    )


def _public_table(
    X: Any,
    sensitive: Any,
    categories: Any,
    grouping: Grouping,
    max_cells: int,
    advice: str,
    weights: Callable[[int], np.ndarray] | None,
    *,
    is_searched: bool,
) -> tuple[Table, LearningPlan]:
    """Read a table, or the distinct rows of a lazy frame, and its columns."""
    frame = lazy_frame(X)
    source = read_table(X) if frame is None else LazyTable.of(frame)
    names = source.names
    secrets = resolve_columns(X, sensitive, names=names)
    values = tuple(position for position in range(len(names)) if position not in secrets)
    given = given_categories(categories, names)
    everything = isinstance(categories, str) and categories == "product"
    is_cut = False
    for position, listed in enumerate(given):
        if isinstance(listed, Bins) and listed.is_number_of_bins:
            given[position], is_cut = _edges(listed, source, position, weights), True
    plan = LearningPlan(
        secrets, values, given, everything, grouping, max_cells, advice, is_searched, is_cut
    )
    if isinstance(source, Table):
        return source, plan
    bins = {
        name: listed for name, listed in zip(names, given, strict=True) if isinstance(listed, Bins)
    }
    return bring(LazyTable.of(cut(source.frame, bins)) if bins else source, plan), plan


def _edges(
    bins: Bins,
    source: Table | LazyTable,
    position: int,
    weights: Callable[[int], np.ndarray] | None,
) -> Given:
    """Return bins whose edges are quantiles of a column, which may have been learned before."""
    pair = source.learned[position] if isinstance(source, Table) and source.learned else None
    if pair is not None:
        numbers: Given = pair[0].numbers
        return numbers
    counted = _distinct_values(source, position, weights)
    return cut_at_quantiles(bins, source.names[position], *counted)


def _distinct_values(
    source: Table | LazyTable, position: int, weights: Callable[[int], np.ndarray] | None
) -> tuple[Sequence[Any], np.ndarray]:
    """Return the distinct values of a column, (k,), and the number of records of each, (k,)."""
    if isinstance(source, LazyTable):
        source, position = source.rows([position], MAX_CELLS), 0
    positions, distinct = source.factorize(position, slice(0, source.n_rows))
    counts = source.records if weights is None else weights(source.n_rows)
    return distinct, np.bincount(positions + 1, counts, len(distinct) + 1)[1:]


def _combined(
    columns: Sequence[Column],
    codes: Sequence[np.ndarray],
    is_product: bool,
    check: Callable[[int], None],
) -> tuple[Alphabet, np.ndarray]:
    """Return all (or the occurring) combinations of categories, and each row's index."""
    if not is_product:
        return Alphabet.observed(columns, codes, check)
    check(math.prod(len(column) for column in columns))
    alphabet = Alphabet.product(columns)
    return alphabet, alphabet.index(codes)


def _with_others(
    columns: Sequence[Column], codes: Sequence[np.ndarray], check: Callable[[int], None]
) -> tuple[Alphabet, np.ndarray]:
    """Return the occurring combinations and the one of only "other", and each row's index."""
    codes_with_other = [
        np.append(code, -1 if column.other is None else column.other)
        for column, code in zip(columns, codes, strict=True)
    ]
    alphabet, _ = Alphabet.observed(columns, codes_with_other, check)
    return alphabet, alphabet.index_with_others(codes)


def _constant(part: str, columns: Sequence[Column], n_rows: int, enough: int | None) -> str:
    if enough is not None:
        return (
            f"U ({named(columns)}) has only one value, 'other', because all values of the table "
            f"are rare: each has fewer than {enough:,} records. Merge them into fewer values"
        )
    count = " (n_samples=1)" if n_rows == 1 else ""
    mend = "choose other sensitive columns" if part == "S" else "add columns"
    return (
        f"{part} ({named(columns)}) has only one value{count}, so there is nothing to "
        f"{'protect' if part == 'S' else 'release'}; list its other values in `categories`, or "
        f"{mend}"
    )
