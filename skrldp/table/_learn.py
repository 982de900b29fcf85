"""Learning the alphabets of a public table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skrldp.alphabet import Alphabet, named
from skrldp.table._codec import CellCodec
from skrldp.table._codes import Codes
from skrldp.table._columns import Column, given_categories, learn_column
from skrldp.table._limits import Size, too_many_cells
from skrldp.table._read import read_table
from skrldp.table._select import resolve_sensitive

__all__ = ["learn"]

MAX_CELLS = 1_000_000


def learn(
    X: Any,
    *,
    sensitive: Any = 0,
    categories: Any = "auto",
    max_cells: int = MAX_CELLS,
    advice: str = "",
) -> tuple[CellCodec, Codes]:
    """Learn the alphabets of a public table, and encode its rows.

    Parameters
    ----------
    X : array, list of rows, or data frame of shape (n, n_columns)
        The public table.
    sensitive : name, position, list of them, or callable, default=0
        The columns of S; see :func:`resolve_sensitive`.
    categories : "auto", "product", list or dict, default="auto"
        One alphabet per column, in the table's order, or by name for some columns. "auto", for all
        or for one column: the levels that its dtype declares, in their order (pandas' category,
        polars' Enum, pyarrow's ordered dictionary, booleans), else the observed values, sorted.
        Given alphabets keep their order (None, for missing, goes last). Given and declared ones
        may hold values that the public table lacks.

        If S (or U) has several columns, its alphabet is the combinations that the public table
        has; it is all combinations with "product", or as soon as any of the columns has given
        categories.
    max_cells : int, default=1_000_000
        Largest number of cells to allow.
    advice : str, default=""
        Sentence for the error message if there are more.

    Returns
    -------
    codec : CellCodec
    codes : Codes
        The table's rows.

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
    table = read_table(X)
    secret_positions = resolve_sensitive(X, sensitive)
    value_positions = tuple(p for p in range(len(table.names)) if p not in secret_positions)
    if not value_positions:
        raise ValueError(_nothing_to_release(len(table.names)))
    given = given_categories(categories, table.names)
    found = [
        learn_column(table, position, alphabet, secret=position in secret_positions)
        for position, alphabet in enumerate(given)
    ]
    learnt = [pair for pair in found if pair is not None]

    def check(n_cells: int) -> None:
        if n_cells > max_cells or len(learnt) < len(found):
            pairs = [(None, None) if pair is None else pair for pair in found]
            sizes = [Size(name, *pair) for name, pair in zip(table.names, pairs, strict=True)]
            raise too_many_cells(n_cells, max_cells, sizes, advice)

    check(0)
    columns, codes = zip(*learnt, strict=True)
    parts = []
    for positions, part in ((secret_positions, "S"), (value_positions, "U")):
        own = [columns[position] for position in positions]
        is_given = any(given[position] is not None for position in positions)
        is_product = is_given or (isinstance(categories, str) and categories == "product")
        alphabet, index = _combined(own, [codes[p] for p in positions], is_product, check)
        if len(alphabet) < 2:
            raise ValueError(_constant(part, own, table.n_rows))
        parts.append((alphabet, index))
    (secret_alphabet, secrets), (value_alphabet, values) = parts
    check(len(secret_alphabet) * len(value_alphabet))
    codec = CellCodec(
        columns=columns,
        sensitive=secret_positions,
        nonsensitive=value_positions,
        secrets=secret_alphabet.members(),
        values=value_alphabet.members(),
        _secret_alphabet=secret_alphabet,
        _value_alphabet=value_alphabet,
        library=table.library,
    )
    return codec, Codes(secrets, values, codec.n_secrets)


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
