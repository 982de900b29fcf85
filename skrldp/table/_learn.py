"""Learning the alphabets of a public table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skrldp.alphabet import plain
from skrldp.table._alphabet import (
    Column,
    check_size,
    encode_column,
    given_categories,
    learn_alphabet,
    learn_column,
)
from skrldp.table._codec import CellCodec, Codes, named
from skrldp.table._read import column_names, read_table, resolve_sensitive

__all__ = [
    "CellCodec",
    "Codes",
    "Column",
    "column_names",
    "encode_column",
    "learn_codec",
    "plain",
    "read_table",
    "resolve_sensitive",
]

MAX_CELLS = 1_000_000


def learn_codec(
    X: Any, *, sensitive: Any = 0, categories: Any = "auto", max_cells: int = MAX_CELLS
) -> CellCodec:
    """Learn the alphabets of a public table.

    Parameters
    ----------
    X : array, list of rows, or data frame of shape (n, n_columns)
        The public table.
    sensitive : name, position, list of them, or callable, default=0
        The columns of S; see :func:`resolve_sensitive`.
    categories : "auto", list or dict, default="auto"
        One alphabet per column, in the table's order, or by name for some columns. "auto", for all
        or for one column: the observed values, sorted. Given alphabets keep their order (None, for
        missing, goes last) and may hold values that the public table lacks.

        If S (or U) has several columns, its alphabet is the combinations that the public table
        has; it is all combinations as soon as any of the columns has given categories.
    max_cells : int, default=1_000_000
        Largest number of cells to allow.

    Returns
    -------
    CellCodec

    Raises
    ------
    TypeError
        For sparse, lazy or structured input, and values that cannot be categories.
    ValueError
        If the table is not two-dimensional or is empty, has duplicate columns, infinite or complex
        numbers or too many cells, if S or U has fewer than two values, or if the table has a value
        that is not in the given `categories`.

    Examples
    --------
    >>> codec = learn_codec([["no", 1], ["yes", 1], ["no", 2]])
    >>> codec.secrets, codec.values
    (('no', 'yes'), (1, 2))
    >>> cells = codec.encode([["yes", 2]]).cells(codec.n_values)
    >>> cells
    array([3], dtype=uint8)
    >>> codec.decode(cells, like=[["no", 1]])
    array([['yes', 2]], dtype=object)
    """
    table = read_table(X)
    secret_positions = resolve_sensitive(X, sensitive)
    value_positions = tuple(p for p in range(len(table.names)) if p not in secret_positions)
    if not value_positions:
        raise ValueError(_nothing_to_release(len(table.names)))
    given = given_categories(categories, table.names)
    learnt = [learn_column(table, position, alphabet) for position, alphabet in enumerate(given)]
    columns, codes = zip(*learnt, strict=True)

    alphabets = []
    for positions, part in ((secret_positions, "S"), (value_positions, "U")):
        is_product = any(given[position] is not None for position in positions)
        alphabet = learn_alphabet(
            columns, codes, positions, is_product=is_product, max_size=max_cells
        )
        if len(alphabet) < 2:
            constant = [columns[position] for position in positions]
            raise ValueError(_constant(part, constant, table.n_rows))
        alphabets.append(alphabet)
    secret_alphabet, value_alphabet = alphabets
    check_size(len(secret_alphabet) * len(value_alphabet), max_cells, columns)
    return CellCodec(
        columns=columns,
        sensitive=secret_positions,
        nonsensitive=value_positions,
        secrets=secret_alphabet.members(columns),
        values=value_alphabet.members(columns),
        _secret_alphabet=secret_alphabet,
        _value_alphabet=value_alphabet,
        library=table.library,
    )


def _nothing_to_release(n_columns: int) -> str:
    every = f"the table has {n_columns} feature(s), all sensitive, so U is empty; "
    return f"{every}there must be at least one other column"


def _constant(part: str, columns: Sequence[Column], n_rows: int) -> str:
    count = " (n_samples=1)" if n_rows == 1 else ""
    mend = "choose other sensitive columns" if part == "S" else "add columns"
    return (
        f"{part} ({named(columns)}) has only one value{count}, so there is nothing to "
        f"{'protect' if part == 'S' else 'release'}; list its other values in `categories`, or "
        f"{mend}"
    )
