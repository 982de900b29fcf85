"""The columns that the mechanisms of a manifest have in common."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.alphabet import Column, listed
from skrldp.mechanism._base import Mechanism
from skrldp.mechanism._others import Others

__all__ = ["check_together", "encoders_of", "names_of", "orders_of", "others_of"]

MOST_BLOCKS = 10_000


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


def encoders_of(mechanisms: Sequence[Mechanism], others: dict[Any, Others]) -> tuple[Column, ...]:
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
                    f"column {name!r} has other categories in one block than in another."
                )
        expected = math.prod(len(found[name]) for name in names)
        if len(one.values) != expected:
            raise ValueError(
                f"the block of {listed(names)} has {len(one.values):,} values, but its columns "
                f"have {expected:,} combinations of categories: a block's mechanism has all."
            )
    return tuple(found.values())


def orders_of(
    mechanisms: Sequence[Mechanism], encoders: Sequence[Column], places: Sequence[Sequence[int]]
) -> list[NDArray[np.int64] | None]:
    """Return the place of each combination among a block's values; None where they are in order."""
    found: list[NDArray[np.int64] | None] = []
    for one, own_places in zip(mechanisms, places, strict=True):
        key = np.zeros(len(one.values), dtype=np.int64)
        for number, place in enumerate(own_places):
            column = encoders[place]
            own = [v[number] for v in one.values] if len(own_places) > 1 else one.values
            key = key * len(column) + column.codes(own)
        order = np.argsort(key)
        found.append(None if np.array_equal(order, np.arange(len(order))) else order)
    return found
