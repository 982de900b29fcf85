"""How many cells blocks have, before any of them is designed."""

import math
from collections.abc import Sequence
from typing import Any

from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._checks import larger_designs
from skrldp.table import MOST_CATEGORIES, learn_column, read_table

__all__ = ["refuse_large_blocks", "sizes_of"]

_SHOWN = 20  # blocks that a message names


def refuse_large_blocks(
    base: BaseSanitizer,
    blocks: Sequence[Sequence[int]],
    sizes: dict[int, float],
    secret: Sequence[int],
    names: Sequence[Any],
) -> None:
    """Name all blocks that have more cells than `base` can design for.

    Where `base` groups values, their numbers are not known before. Of several secrets, not all
    combinations need occur: there are two at least.
    """
    if base.min_frequency is not None or base.handle_unknown == "infrequent_if_exist":
        return
    n_secrets = sizes[secret[0]] if len(secret) == 1 else 2
    cells = [n_secrets * math.prod(sizes[place] for place in block) for block in blocks]
    most = base._most_cells
    large = [(block, n) for block, n in zip(blocks, cells, strict=True) if n > most]
    if not large:
        return
    shown = "; ".join(f"{_named(block, names)} {_number(n)}" for block, n in large[:_SHOWN])
    more = f"; and {len(large) - _SHOWN:,} more blocks" if len(large) > _SHOWN else ""
    places = sorted({place for block, _ in large for place in block}, key=lambda p: -sizes[p])
    levels = ", ".join(f"{names[p]!r} {_number(sizes[p])}" for p in places[:_SHOWN])
    larger = larger_designs(most, blocks=False)
    raise ValueError(
        f"{len(large):,} of {len(blocks):,} blocks have more cells (secrets times values) than a "
        f"design of {type(base).__name__} holds, {most:,}: {shown}{more}. Values of their columns: "
        f"{levels}. Cut numbers (edges=), group rare values (a base with min_frequency=), make "
        f"smaller blocks (blocks=), or give another base.{larger and ' '}{larger}"
    )


def _named(block: Sequence[int], names: Sequence[Any]) -> str:
    return "(" + ", ".join(repr(names[place]) for place in block) + ")"


def _number(n: float) -> str:
    return f"{int(n):,}" if math.isfinite(n) else f"more than {MOST_CATEGORIES:,}"


def sizes_of(
    tables: Sequence[tuple[Any, Any]],
    columns: Sequence[Sequence[int]],
    categories: Any,
    names: Sequence[Any],
) -> dict[int, float]:
    """Count the categories of each column: those that are listed, or else those in the tables."""
    found: dict[int, float] = {}
    for (table, _), places in zip(tables, columns, strict=True):
        for position, place in enumerate(places):
            if place not in found:
                own = categories
                if not isinstance(own, str):
                    own = categories.get(names[place], "auto")
                if not isinstance(own, str):
                    found[place] = len(list(own))
                    continue
                read = read_table(table)
                learned = learn_column(read, position, "dtype" if own == "dtype" else None)
                found[place] = math.inf if learned is None else len(learned[0])
    return found
