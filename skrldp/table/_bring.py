"""The distinct rows of a lazy frame, for learning: counted and bounded before they are brought."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import narwhals.stable.v2 as nw

from skrldp.table._columns import MOST_CATEGORIES, learn_column
from skrldp.table._lazy import LazyTable, Numbers
from skrldp.table._limits import Size, too_many_cells, too_many_rows
from skrldp.table._plan import MAX_CELLS, LearningPlan
from skrldp.table._read import Table, without_rows

__all__ = ["bring"]


def bring(lazy: LazyTable, plan: LearningPlan) -> Table:
    """Bring the distinct rows of a table, at most one for each cell.

    An engine first counts the distinct values of each column, and then, if their product is too
    large, the distinct combinations. Until the rows are known to be few enough, numbers alone are
    brought.

    Returns Table: with the number of records of each row. Raises ValueError if there are too many
    cells, no rows, or values that are not in the listed categories. Raises RuntimeError if the
    engine fails, or the table grows beyond the limit while it is read.
    """
    numbers = lazy.numbers()
    if numbers.n_rows == 0:
        raise without_rows(0, len(lazy.names))
    sizes = [_size(lazy, place, numbers, plan) for place in range(len(lazy.names))]
    _check_listed(lazy, numbers, plan)
    if any(size.is_open for size in sizes):
        raise too_many_cells(0, plan.max_cells, sizes, plan.advice)
    everything = range(len(lazy.names))
    if plan.grouping.is_used:
        most = max(plan.max_cells, MAX_CELLS)
        if math.prod(numbers.distinct) > most:
            n_rows = lazy.n_combinations(everything)
            if n_rows > most:
                raise too_many_rows(n_rows, most, sizes, plan.advice)
    else:
        most = plan.max_cells
        _check_cells(lazy, sizes, plan)
    table = lazy.rows(everything, most + 1, numbers.nan)
    if table.n_rows > most:
        raise RuntimeError(
            "the table grew while it was read: it has more distinct rows than were counted first. "
            "Fit on a copy that does not change."
        )
    return table


def _size(lazy: LazyTable, place: int, numbers: Numbers, plan: LearningPlan) -> Size:
    """Return the size of a column, as :func:`learn` will find it from the distinct rows."""
    name, dtype, own = lazy.names[place], lazy.dtypes[place], plan.given[place]
    used = numbers.distinct[place]
    if isinstance(own, tuple) and (used <= len(own) or plan.takes_others(place)):
        return Size(name, max(len(own), used), used)
    if used > MOST_CATEGORIES:
        return Size.open(name)
    levels = 0
    if dtype == nw.Boolean:
        levels = 2
    elif isinstance(dtype, nw.Enum):
        levels = len(dtype.categories)
    levels += levels > 0 and numbers.missing[place] > 0
    return Size(name, max(levels, used), used)


def _check_listed(lazy: LazyTable, numbers: Numbers, plan: LearningPlan) -> None:
    """Refuse a column that has more values than are listed for it, by its own distinct values."""
    for place, own in enumerate(plan.given):
        if not isinstance(own, tuple) or plan.takes_others(place):
            continue
        if len(own) < numbers.distinct[place] <= MOST_CATEGORIES:
            learn_column(lazy.rows([place], MOST_CATEGORIES), 0, own, secret=place in plan.secrets)


def _check_cells(lazy: LazyTable, sizes: Sequence[Size], plan: LearningPlan) -> None:
    """Refuse a table with too many cells. The numbers in messages are those of tables at hand."""

    def check(n_cells: int) -> None:
        if n_cells > plan.max_cells:
            raise too_many_cells(n_cells, plan.max_cells, sizes, plan.advice)

    if math.prod(size.levels for size in sizes) <= plan.max_cells:
        return
    n_secrets, n_values = (
        _count_part(lazy, positions, sizes, plan, check)
        for positions in (plan.secrets, plan.values)
    )
    check(n_secrets * n_values)


def _count_part(
    lazy: LazyTable,
    positions: Sequence[int],
    sizes: Sequence[Size],
    plan: LearningPlan,
    check: Callable[[int], None],
) -> int:
    """Count the combinations that S, or U, can take."""
    if len(positions) == 1:
        return sizes[positions[0]].levels
    product = math.prod(sizes[place].levels for place in positions)
    if plan.is_product(positions):
        check(product)
        return product
    found = lazy.n_combinations(positions)
    if found > plan.max_cells:
        for stop in range(2, len(positions)):
            check(lazy.n_combinations(positions[:stop]))
    check(found)
    return found
