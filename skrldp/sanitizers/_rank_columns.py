"""What columns of a wide table are worth, alone and in pairs, before blocks are chosen."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp.information import entropy
from skrldp.joint import as_counts
from skrldp.sanitizers._block_edges import bins_of
from skrldp.sanitizers._column_blocks import tables_of
from skrldp.sanitizers._surveys import WEIGHTED
from skrldp.sanitizers._warnings import warn_of_first_column
from skrldp.table import (
    MOST_CATEGORIES,
    Table,
    column_names,
    cut,
    lazy_frame,
    lazy_names,
    learn_column,
    read_table,
    resolve_columns,
)

__all__ = ["rank_columns"]


def rank_columns(
    X: Any,
    *,
    sensitive: Any = None,
    pairs: bool = True,
    edges: Any = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Rank columns and pairs of columns by how much they have to tell for each cell they take.

    Where a table has too many columns for one mechanism, this says which of them, or which blocks
    of a :class:`BlockSanitizer`, are worth their cells. It reads public records, and promises
    nothing: never give it private ones.

    Parameters
    ----------
    X : array, list of rows, data frame or lazy frame of shape (n, n_columns)
        The public table.
    sensitive : str, int, list or callable, default=None
        The columns of the secret S; None is the first column, with a warning if it has a name.
    pairs : bool, default=True
        Whether pairs of columns of U are ranked as well.
    edges : dict, optional
        Edges at which columns of numbers are cut, as in :class:`BlockSanitizer`.
    sample_weight : array of shape (n,), optional
        How many records each row stands for. Lazy frames have no weights.

    Returns
    -------
    pandas.DataFrame
        A row for each column of U and each pair, the best first:

        - ``columns``: the tuple of their names;
        - ``cells``: combinations of a secret and values, as many as a block of them would have;
        - ``records_per_cell``: public records for each of these. The fewer, the larger the
          confidence set, and the less a private report tells;
        - ``information``: the entropy of the columns, in nats, which is the most that any report
          tells about them;
        - ``information_per_cell``: by which rows are sorted;
        - ``information_about_secret``: mutual information of S and the columns, in nats: what a
          private report has to hide. It is 0 if they are independent;
        - ``dependence``: mutual information of the two columns of a pair, in nats; 0 for a single
          column. Where it is small, two single columns tell nearly all that the pair tells.

    Raises
    ------
    ValueError
        If the table or the weights are not as described, or there is no column of U.

    See Also
    --------
    BlockSanitizer : Wide tables, a block of columns for each person.

    Notes
    -----
    Estimates from counts of records: mutual information is too large by about the number of cells
    over twice the number of records, so that it is not to be trusted with few records per cell.
    Who chooses blocks by this table divides `beta` by the number of blocks chosen from, as
    :class:`BlockSanitizer` says.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skrldp import rank_columns
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"ill": rng.integers(0, 2, 9000), "age": rng.integers(0, 6, 9000)})
    >>> table["home"] = (table["age"] + rng.integers(0, 3, 9000)) // 3
    >>> ranked = rank_columns(table, sensitive="ill")
    >>> ranked[["columns", "cells", "information_per_cell", "dependence"]].round(2)
           columns  cells  information_per_cell  dependence
    0      (home,)      6                  0.17        0.00
    1       (age,)     12                  0.15        0.00
    2  (age, home)     36                  0.06        0.59
    """
    import pandas as pd

    lazy = lazy_frame(X)
    names = column_names(X) if lazy is None else lazy_names(lazy)
    if sensitive is None:
        warn_of_first_column(names)
    secret = resolve_columns(X, slice(1) if sensitive is None else sensitive)
    X = cut(X, bins_of(edges, names, secret))
    free = [place for place in range(len(names)) if place not in secret]
    if not free:
        raise ValueError(f"all {len(names)} columns are sensitive: there is nothing to rank.")
    parts: list[tuple[int, ...]] = [(place,) for place in free]
    if pairs:
        parts += combinations(free, 2)
    several = _coded(X, secret, parts, sample_weight)
    found = pd.DataFrame(
        {"columns": tuple(names[place] for place in part)} | _worth(coded, len(secret))
        for part, coded in zip(parts, several, strict=True)
    )
    order = np.argsort(-found["information_per_cell"].to_numpy(), kind="stable")
    return found.iloc[order].reset_index(drop=True)


class _Coded(NamedTuple):
    """Columns of S and then of U as codes, and how many records each row counts."""

    sizes: Sequence[int]
    codes: Sequence[NDArray[Any]]  # each (n,)
    counts: NDArray[np.int64]  # (n,)


def _coded(
    X: Any, secret: Sequence[int], parts: Sequence[Sequence[int]], sample_weight: Any
) -> Iterator[_Coded]:
    """Yield the columns of S and of each part; an engine brings distinct rows of each part."""
    every = [[*secret, *part] for part in parts]
    if lazy_frame(X) is not None:
        for table, counts in tables_of(X, every, sample_weight):
            read = read_table(table)
            learned = [_learned(read, place) for place in range(len(read.names))]
            yield _Coded([size for size, _ in learned], [code for _, code in learned], counts)
        return
    read = read_table(X)
    counts = np.ones(read.n_rows, dtype=np.int64)
    if sample_weight is not None:
        counts = as_counts(sample_weight, read.n_rows, table=X, weighted=WEIGHTED)
    learned = [_learned(read, place) for place in range(len(read.names))]
    for places in every:
        own = [learned[place] for place in places]
        yield _Coded([size for size, _ in own], [code for _, code in own], counts)


def _learned(table: Table, place: int) -> tuple[int, NDArray[Any]]:
    """Return the number of categories of a column, and each row's category."""
    found = learn_column(table, place, None)
    if found is None:
        raise ValueError(
            f"column {table.names[place]!r} has more than {MOST_CATEGORIES:,} distinct values. "
            "Cut numbers (edges=), group values, or leave the column out."
        )
    return len(found[0]), found[1]


def _worth(coded: _Coded, n_secret: int) -> dict[str, float]:
    """Compute what the table says of some columns, of which the first ones are those of S."""
    total = coded.counts.sum()

    def information(columns: slice) -> float:
        several = np.stack([code.astype(np.int64) for code in coded.codes[columns]])
        kinds = np.unique(several, axis=1, return_inverse=True)[1].reshape(-1)
        return entropy(np.bincount(kinds, coded.counts) / total)

    of_secret, of_columns = slice(0, n_secret), slice(n_secret, None)
    told = information(of_columns)
    alone = [information(slice(k, k + 1)) for k in range(n_secret, len(coded.codes))]
    cells = math.prod(coded.sizes)
    secret = information(of_secret) + told - information(slice(None))
    return {
        "cells": cells,
        "records_per_cell": total / cells,
        "information": told,
        "information_per_cell": told / cells,
        "information_about_secret": max(secret, 0.0),
        "dependence": max(sum(alone) - told, 0.0),
    }
