"""The columns that the mechanisms of a manifest have in common, and how often blocks are drawn."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._arrays import real_numbers
from skrldp.alphabet import OTHER, Bins, Column, listed
from skrldp.mechanism._base import Mechanism
from skrldp.mechanism._others import Others
from skrldp.mechanism._rounding import round_columns, slot_bits

__all__ = [
    "check_together",
    "columns_of",
    "names_of",
    "orders_of",
    "others_of",
    "weights_of",
    "with_bins",
]

MOST_BLOCKS = 10_000


def weights_of(shares: ArrayLike) -> NDArray[np.int64]:
    """Round the blocks' probabilities to whole numbers whose sum is a power of two, (m,)."""
    probabilities = real_numbers(shares, "shares").astype(float)
    if (
        probabilities.ndim != 1
        or not np.isfinite(probabilities).all()
        or (probabilities < 0).any()
        or abs(probabilities.sum() - 1.0) > 1e-9
    ):
        raise ValueError("shares must be probabilities, one for each block, with sum 1.")
    if not len(probabilities):
        raise ValueError("a manifest needs at least one block.")
    weights: NDArray[np.int64] = round_columns(
        probabilities[:, None], slot_bits(len(probabilities))
    )[:, 0]
    return weights


def names_of(mechanism: Mechanism, *, sensitive: bool) -> tuple[Any, ...]:
    """Return the names of the columns of S, or of U."""
    return tuple(name for name, flag in mechanism.columns if flag is sensitive)


def check_together(mechanisms: Sequence[Mechanism]) -> None:
    """Check that mechanisms are those of different blocks of one table."""
    if not 0 < len(mechanisms) <= MOST_BLOCKS:
        raise ValueError(
            f"a manifest has from 1 to {MOST_BLOCKS:,} mechanisms, got {len(mechanisms):,}."
        )
    for one in mechanisms:
        if not one.columns:
            raise ValueError("the mechanisms of a manifest need names of columns.")
    first, blocks = mechanisms[0], set()
    secret = names_of(first, sensitive=True)
    for one in mechanisms:
        block = names_of(one, sensitive=False)
        if one.observe != first.observe:
            raise ValueError("some mechanisms of the manifest observe S and others do not.")
        if names_of(one, sensitive=True) != secret or one.secrets != first.secrets:
            raise ValueError(
                f"the block of {listed(block)} protects another secret than the first block: all "
                "blocks have the same columns of S, with the same secrets."
            )
        if frozenset(block) in blocks:
            raise ValueError(f"two blocks have the columns {listed(block)}.")
        blocks.add(frozenset(block))


def others_of(mechanisms: Sequence[Mechanism]) -> dict[Any, Others]:
    """Return which values each column of U has as "other"; refuse blocks that differ."""
    found: dict[Any, Others] = {}
    for one in mechanisms:
        entries = one.others or (None,) * len(names_of(one, sensitive=False))
        for name, entry in zip(names_of(one, sensitive=False), entries, strict=True):
            if found.setdefault(name, entry) != entry:
                raise ValueError(
                    f"column {name!r} has other values as 'other' in one block than in another."
                )
    return found


def columns_of(mechanisms: Sequence[Mechanism], others: dict[Any, Others]) -> tuple[Column, ...]:
    """Return the alphabet of each column of U, in the order in which blocks name them first."""
    found: dict[Any, Column] = {}
    for one in mechanisms:
        names = names_of(one, sensitive=False)
        alphabets = list(zip(*one.values, strict=True)) if len(names) > 1 else [one.values]
        for name, own in zip(names, alphabets, strict=True):
            few = others[name]
            column = Column.of_values(name, own, few if isinstance(few, tuple) else ())
            if found.setdefault(name, column).categories != column.categories:
                raise ValueError(
                    f"column {name!r} has other categories in one block than in another, as where "
                    "each block learns them from records of its own: declare them (categories=)."
                )
        expected = math.prod(len(found[name]) for name in names)
        if len(one.values) != expected:
            raise ValueError(
                f"the block of {listed(names)} has {len(one.values):,} values, but its columns "
                f"have {expected:,} combinations of categories: a block's mechanism has all."
            )
    return tuple(found.values())


def with_bins(
    columns: Sequence[Column], others: dict[Any, Others], bins: Mapping[Any, Bins]
) -> tuple[Column, ...]:
    """Return columns that find numbers in their bins; refuse bins that are not the categories.

    Where all unknown values are "other", bins may be unknown as well.
    """
    strange = [name for name in bins if name not in [column.name for column in columns]]
    if strange:
        raise ValueError(f"bins are of columns of U, and {strange[0]!r} is none.")
    found = []
    for column in columns:
        own = bins.get(column.name)
        if own is not None:
            known = {*column.categories, *column.infrequent} - {OTHER}
            cut = {*own.labels} - {OTHER}
            if not (known <= cut if others[column.name] is True else known == cut):
                raise ValueError(f"the bins of column {column.name!r} are not its categories.")
            column = replace(column, bins=own)
        found.append(column)
    return tuple(found)


def orders_of(
    mechanisms: Sequence[Mechanism], columns: Sequence[Column], places: Sequence[Sequence[int]]
) -> list[NDArray[np.int64] | None]:
    """Return the place of each combination among a block's values; None where they are in order."""
    found: list[NDArray[np.int64] | None] = []
    for one, own_places in zip(mechanisms, places, strict=True):
        key = np.zeros(len(one.values), dtype=np.int64)
        for number, place in enumerate(own_places):
            column = columns[place]
            own = [v[number] for v in one.values] if len(own_places) > 1 else one.values
            key = key * len(column) + column.codes(own)
        order = np.argsort(key)
        found.append(None if np.array_equal(order, np.arange(len(order))) else order)
    return found
