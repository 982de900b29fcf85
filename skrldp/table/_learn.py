"""Learning the alphabets of a public table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skrldp.alphabet import OTHER, Alphabet, chance_of_infrequent, frequent_from, named
from skrldp.table._bring import bring
from skrldp.table._codec import CellCodec
from skrldp.table._codes import Codes
from skrldp.table._columns import Column, given_categories, learn_column
from skrldp.table._frequencies import Frequencies, Rare, most_values
from skrldp.table._grouping import Grouping, Records, group_values
from skrldp.table._lazy import LazyTable, refuse_weights
from skrldp.table._limits import Size, too_many_cells
from skrldp.table._plan import MAX_CELLS, LearningPlan
from skrldp.table._read import Table, lazy_frame, read_table
from skrldp.table._select import resolve_columns

__all__ = ["learn"]


def learn(
    X: Any,
    *,
    sensitive: Any = 0,
    categories: Any = "auto",
    max_cells: int = MAX_CELLS,
    advice: str = "",
    grouping: Grouping | None = None,
    weights: Callable[[int], np.ndarray] | None = None,
) -> tuple[CellCodec, Codes]:
    """Learn the alphabets of a public table, and encode its rows.

    Shapes: `X` (n, n_columns). Returns `codes`: the table's rows; the distinct ones of a lazy
    frame. Raises TypeError for sparse or structured input, and values that cannot be categories.
    Raises ValueError if the table is not two-dimensional or is empty, has duplicate columns,
    infinite or complex numbers or too many cells, if S or U has columns but fewer than two values,
    or if the table has a value that is not in the given `categories`. Raises RuntimeError if an
    engine fails to count the rows of a lazy frame.

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
    table, plan = _public_table(X, sensitive, categories, grouping, max_cells, advice)
    secret_positions, value_positions = plan.secrets, plan.values
    record_counts = table.records if weights is None else weights(table.n_rows)
    found = [
        learn_column(
            table,
            place,
            own,
            secret=place in secret_positions,
            others=plan.takes_others(place),
        )
        for place, own in enumerate(plan.given)
    ]
    learnt = [pair for pair in found if pair is not None]

    def check(n_cells: int) -> None:
        if n_cells > max_cells or len(learnt) < len(found):
            pairs = [(None, None) if pair is None else pair for pair in found]
            sizes = [Size.of(name, *pair) for name, pair in zip(table.names, pairs, strict=True)]
            raise too_many_cells(n_cells, max_cells, sizes, advice)

    check(0)
    columns, codes = map(list, zip(*learnt, strict=True))
    combined = len(value_positions) > 1 and not plan.is_product(value_positions)
    learned = [place for place in value_positions if not columns[place].declared]
    # Where nothing is grouped, the values that are learned are the combinations.
    together = combined and not grouping.is_used and bool(learned)
    judged = () if together else value_positions
    n_learned = 1 if together else len(learned)
    n = table.n_rows if record_counts is None else int(record_counts.sum())
    least = frequent_from(n, grouping.beta / max(1, n_learned))
    whole, whole_codes, counts = list(columns), list(codes), record_counts
    records, is_open = None, False
    if grouping.is_used:
        records = Records.of(columns, codes, record_counts)
        whole_codes, counts = list(records.codes), records.counts
        codes = list(whole_codes)
        for p in value_positions:
            columns[p], codes[p] = group_values(
                columns[p], codes[p], records, grouping, least, combined=combined
            )
        is_open = grouping.takes_unknown and combined
        is_open = is_open and all(columns[p].other is not None for p in value_positions)
    frequencies = Frequencies.of(
        {p: (whole[p], columns[p]) for p in judged},
        {p: np.bincount(whole_codes[p], counts, len(whole[p])) for p in judged},
        value_positions if grouping.takes_unknown else (),
        least,
        len(columns),
    )
    parts = []
    for part, positions in (("S", secret_positions), ("U", value_positions)):
        if not positions:  # the whole record is the secret
            parts.append((Alphabet(()), np.zeros(table.n_rows, dtype=np.uint8)))
            continue
        own = [columns[position] for position in positions]
        own_codes = [codes[position] for position in positions]
        if part == "U" and is_open:
            alphabet, index = _with_others(own, own_codes, check)
        else:
            alphabet, index = _combined(own, own_codes, plan.is_product(positions), check)
        if len(alphabet) < 2:
            all_rare = all(column.categories == (OTHER,) for column in own)
            enough = grouping.enough(n, least) if all_rare else None
            raise ValueError(_constant(part, own, table.n_records, enough))
        parts.append((alphabet, index if records is None else index[records.row]))
    (secret_alphabet, secrets), (value_alphabet, values) = parts
    check(len(secret_alphabet) * len(value_alphabet))
    most = frequencies.product(value_positions)
    if together:
        of_each = np.bincount(values, record_counts, len(value_alphabet))
        most = most_values(of_each)
        frequencies = replace(frequencies, fewest=min(frequencies.fewest, int(of_each.min())))
        names = [columns[place].name for place in value_positions]
        rare = Rare.of(names, value_alphabet.members(), of_each, least)
        if rare.n:
            frequencies = replace(frequencies, rare=(rare, *frequencies.rare))
    source = _source(frequencies, learned)
    beta_of_values = None
    if source == "frequent":
        chance = n_learned * chance_of_infrequent(n, frequencies.fewest)
        beta_of_values = min(grouping.beta, chance)  # rounding
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
        most_values=None if frequencies.rare else most,
        beta_of_values=beta_of_values,
        frequencies=frequencies,
        groups_unknown=grouping.takes_unknown,
    )
    rows = None if records is None else records.row
    return codec, Codes(secrets, values, codec.n_secrets, rows, table.records)


def _public_table(
    X: Any, sensitive: Any, categories: Any, grouping: Grouping, max_cells: int, advice: str
) -> tuple[Table, LearningPlan]:
    """Read a table, or the distinct rows of a lazy frame, and what its columns are."""
    frame = lazy_frame(X)
    source = read_table(X) if frame is None else LazyTable.of(frame)
    names = source.names
    secrets = resolve_columns(X, sensitive, names=names)
    values = tuple(place for place in range(len(names)) if place not in secrets)
    given = given_categories(categories, names)
    everything = isinstance(categories, str) and categories == "product"
    plan = LearningPlan(secrets, values, given, everything, grouping, max_cells, advice)
    return (source if isinstance(source, Table) else bring(source, plan)), plan


def _source(frequencies: Frequencies, learned: Sequence[int]) -> str:
    """Say where the values come from; columns in `learned` have theirs from counted records."""
    if frequencies.rare:
        return "learned"
    return "frequent" if learned else "declared"


def _combined(
    columns: Sequence[Column],
    codes: Sequence[np.ndarray],
    is_product: bool,
    check: Callable[[int], None],
) -> tuple[Alphabet, np.ndarray]:
    """Return all (or the occurring) combinations of columns' categories, and each row's index."""
    if not is_product:
        return Alphabet.observed(columns, codes, check)
    check(math.prod(len(column) for column in columns))
    alphabet = Alphabet.product(columns)
    return alphabet, alphabet.index(codes)


def _with_others(
    columns: Sequence[Column],
    codes: Sequence[np.ndarray],
    check: Callable[[int], None],
) -> tuple[Alphabet, np.ndarray]:
    """Return the combinations that occur and the one of "other" alone, and each row's index."""
    some = [
        np.append(code, -1 if column.other is None else column.other)
        for column, code in zip(columns, codes, strict=True)
    ]
    alphabet, _ = Alphabet.observed(columns, some, check)
    return alphabet, alphabet.index_with_others(codes)


def _constant(part: str, columns: Sequence[Column], n_rows: int, enough: int | None) -> str:
    if enough is not None:
        return (
            f"U ({named(columns)}) has only one value, 'other', as all values of the table are "
            f"rare: each has fewer than {enough:,} records. Join them into fewer values"
        )
    count = " (n_samples=1)" if n_rows == 1 else ""
    mend = "choose other sensitive columns" if part == "S" else "add columns"
    return (
        f"{part} ({named(columns)}) has only one value{count}, so there is nothing to "
        f"{'protect' if part == 'S' else 'release'}; list its other values in `categories`, or "
        f"{mend}"
    )
