"""From a wide table to blocks of columns, and to a mechanism for each."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from skrldp._params import is_whole
from skrldp.alphabet import Bins
from skrldp.joint import as_counts
from skrldp.sanitizers._a_optimal import AOptimalSanitizer
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._checks import default_uncertainty
from skrldp.sanitizers._records import check_weights
from skrldp.sanitizers._surveys import WEIGHTED
from skrldp.table import (
    MAX_CELLS,
    cut,
    distinct_rows_of,
    lazy_frame,
    refuse_weights,
    resolve_columns,
    row_contents,
    take_rows,
    with_columns,
)
from skrldp.targets import Contrast

__all__ = [
    "blocks_of",
    "checked_base",
    "design_of",
    "tables_of",
]

_NAMED = ("singles", "pairs")
# Of the designs of blocks. The errors of 66 pairs are 2 % greater than at .02, in half the time and
# with two thirds of the reports.
_TOL = 0.1


def checked_base(sanitizer: Any) -> BaseSanitizer:
    """Return a copy of what designs a block; refuse what cannot."""
    base = AOptimalSanitizer(tol=_TOL) if sanitizer.base is None else clone(sanitizer.base)
    if not isinstance(base, BaseSanitizer):
        raise TypeError(
            f"base must be a sanitizer that designs one block, got {type(sanitizer.base).__name__}."
        )
    for name in ("sensitive", "known", "eps_all"):
        # A place of the table is another column of a block, and what is asked for is not dropped.
        if (given := getattr(base, name, None)) is not None:
            raise ValueError(
                f"base has {name}={given!r}, but what is promised about all "
                f"blocks is said once: leave {name} out of the base, and give it to BlockSanitizer."
            )
    for given in _listed(getattr(base, "targets", None)):
        selected = _selections_of(given) or [given]
        names = [name for one in selected for name in _listed(one)]
        if any(is_whole(name) or isinstance(name, slice) for name in names):
            # Of two blocks, the same place is two columns: each would be designed for another one.
            raise ValueError(
                f"base has {given!r}, which names a column by its place, and a place is another "
                "column in each block: name columns."
            )
    if base.survey is not None:
        raise ValueError(
            "base has a survey, but the public table of blocks has no survey design. Fit "
            f"{type(base).__name__}(survey=...) itself, on the columns of one block and those of "
            "the survey design."
        )
    if sanitizer.known is not None and not hasattr(base, "known"):
        raise ValueError(f"known is given, but a {type(base).__name__} has no known columns.")
    if sanitizer.eps_all is not None and not hasattr(base, "eps_all"):
        raise ValueError(f"eps_all is given, but a {type(base).__name__} has no eps_all.")
    return base


def blocks_of(
    sanitizer: Any, X: Any, names: Sequence[Any], secret: Sequence[int], known: Sequence[int]
) -> list[tuple[int, ...]]:
    """Return the places of each block's columns of U, in the table's order."""
    numbers = [*range(len(names))]
    if list(names) != numbers and set(names) == set(numbers):
        raise ValueError(
            f"the columns are named {list(names)}: numbers that are not their places, so that a "
            "client could not read an array of records. Give the columns other names."
        )
    rest = [place for place in numbers if place not in secret]
    if not rest:
        raise ValueError(
            f"the table has {len(names)} feature(s), all sensitive: there is nothing to report."
        )
    free = [place for place in rest if place not in known] or rest
    is_named = isinstance(sanitizer.blocks, str) and sanitizer.blocks in _NAMED
    if not is_named and not isinstance(sanitizer.blocks, list | tuple):
        raise ValueError(
            f"blocks={sanitizer.blocks!r} must be 'singles', 'pairs' or a list of blocks, each a "
            "column or a list of columns."
        )
    if is_named:
        chosen: list[tuple[int, ...]] = [(place,) for place in free]
        if sanitizer.blocks == "pairs" and len(free) > 1:
            chosen = list(combinations(free, 2))
    else:
        chosen = [_places(X, block, names, secret) for block in sanitizer.blocks]
    found = list(dict.fromkeys(tuple(sorted({*block, *known})) for block in chosen))
    missing = [names[place] for place in rest if not any(place in block for block in found)]
    if missing:
        raise ValueError(
            f"no block has the columns {missing}, so nobody would report them: add them to a "
            "block, or leave them out of the table."
        )
    return found


def design_of(
    sanitizer: Any,
    base: BaseSanitizer,
    names: Sequence[Any],
    secret: Sequence[int],
    block: Sequence[int],
    known: Sequence[int],
    beta: float,
    categories: Any,
) -> BaseSanitizer:
    """Return the sanitizer of a block, not yet fitted."""
    columns = sorted({*secret, *block})
    place = {column: position for position, column in enumerate(columns)}
    one = clone(base)
    around = default_uncertainty() if one.uncertainty is None else one.uncertainty
    if "beta" in getattr(around, "get_params", dict)():
        around.set_params(beta=beta)
    own: dict[str, Any] = {
        "eps": sanitizer.eps,
        "sensitive": [place[column] for column in secret],
        "categories": _own_categories(categories, names, columns, block),
        "uncertainty": around,
        "encode": "symbol",
    }
    if hasattr(one, "eps_all"):
        own["eps_all"] = sanitizer.eps_all
    if known:
        own["known"] = [place[column] for column in known]
    return one.set_params(**own)


# --- Blocks --------------------------------------------------------------------------------------


def _places(X: Any, block: Any, names: Sequence[Any], secret: Sequence[int]) -> tuple[int, ...]:
    """Return the places of a block's columns; refuse secrets, which are in every block anyway."""
    places = resolve_columns(X, block, "blocks")
    inside = [names[place] for place in places if place in secret]
    if inside:
        raise ValueError(
            f"the block {block!r} has the sensitive column {inside[0]!r}. Blocks are columns of U: "
            "S is part of every block."
        )
    return places


def _selections_of(target: Any) -> list[Any]:
    """Return how a target selects columns: each a name, a place or a list of them."""
    one = target.of if isinstance(target, Contrast) else target
    found = [getattr(one, part, None) for part in ("columns", "column", "by")]
    return [given for given in found if given is not None]


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]


def _own_categories(
    categories: Any, names: Sequence[Any], columns: Sequence[int], block: Sequence[int]
) -> Any:
    """Return what `categories` says of a block's columns: all their combinations are cells."""
    if isinstance(categories, str):
        return "product" if len(block) > 1 and categories == "auto" else categories
    own = [categories.get(names[place], "auto") for place in columns]
    if all(isinstance(one, str) and one == "auto" for one in own):
        return "product"
    return own


def tables_of(
    X: Any,
    columns: Sequence[Sequence[int]],
    sample_weight: ArrayLike | None,
    bins: Mapping[Any, Bins] | None = None,
) -> list[tuple[Any, Any]]:
    """Return some columns of a table, several times, with the weights of their rows.

    Numbers of columns that have bins are cut.
    Rows that are distinct in the table may repeat in some columns: their counts are added up. Those
    of a lazy frame are counted where they are, for all blocks at once. Raises ValueError if the
    weights cannot be counts of the table's rows.
    """
    refuse_weights(X, sample_weight)
    cells = cut(X, bins or {})
    lazy = lazy_frame(cells)
    if lazy is not None:
        return distinct_rows_of(lazy, columns, MAX_CELLS)
    if sample_weight is None:
        return [(with_columns(cells, own), None) for own in columns]
    rows = np.unique(row_contents(X), return_inverse=True)[1].reshape(-1)
    weights = as_counts(sample_weight, len(rows), table=X, weighted=WEIGHTED)
    check_weights(weights, rows)
    found = []
    for own in columns:
        table = with_columns(cells, own)
        _, first, kinds = np.unique(row_contents(table), return_index=True, return_inverse=True)
        kept = np.zeros(len(rows), dtype=bool)
        kept[first] = True
        counts = np.bincount(kinds.reshape(-1), weights)[np.argsort(first)]
        found.append((take_rows(table, kept), counts))
    return found
