"""The form of reports: numbers of symbols, one-hot columns or cells."""

from numbers import Real
from typing import Any

from skrldp.alphabet import Column
from skrldp.estimation.reports._source import Source, as_strings
from skrldp.table import encode_column

__all__ = ["LOST", "form_of"]


LOST = (
    " If they are cells (encode='cells' of an optimised mechanism): several symbols may be written "
    "as the same cell, and the mechanism alone does not say which. Pass the fitted sanitizer in "
    "its place, or reports with encode='symbol'."
)

NOT_COUNTED = " Nothing can be estimated from encode='posterior': estimate from encode='symbol'."


def form_of(table: Any, source: Source) -> str:
    """Find the form of reports: by the names of their columns, or else as the only form possible.

    If the reports have no names, those that a sanitizer would write are used, except for a single
    column of values of U, since clients send one column too, of numbers.
    """
    width = len(table.names)
    for names in (table.names, source.names):
        found = _forms_by_name(tuple(names), width, source)
        if len(found) == 1 and (width > 1 or names is table.names or found != ["cells"]):
            return found[0]
    n_symbols, rows = source.mechanism.shape[0], source.rows
    fits = []
    if width == 1:
        fits.append("symbol")
    if width == n_symbols:
        fits.append("onehot")
    numbered = source.mechanism.symbols == tuple(range(n_symbols))
    if rows and width == len(rows[0]) and not (width == 1 and numbered):
        fits.append("cells")
    if fits == ["symbol", "cells"]:
        return _numbers_or_values(table, source)
    if len(fits) == 1:
        return fits[0]
    if not fits:
        third = f", or the {len(rows[0])} column(s) of a record ('cells')" if rows else ""
        hint = NOT_COUNTED if rows else LOST
        raise ValueError(
            f"Y has {width} columns, but a report of this mechanism is one number ('symbol') or "
            f"{n_symbols} columns of 0 and 1 ('onehot'){third}.{hint}"
        )
    raise ValueError(
        f"the reports may be meant as any of {fits}: say which with encode=..., such as "
        f"encode={fits[-1]!r}."
    )


def _forms_by_name(names: tuple[Any, ...], width: int, source: Source) -> list[str]:
    """List the forms whose columns have these names."""
    if len(names) != width or not all(isinstance(name, str) for name in names):
        return []
    found = []
    if names == ("report",):
        found.append("symbol")
    if names == tuple(f"report_{symbol}" for symbol in range(source.mechanism.shape[0])):
        found.append("onehot")
    if source.rows and sorted(names) == sorted(as_strings(source.columns)):
        found.append("cells")
    return found


def _numbers_or_values(table: Any, source: Source) -> str:
    """Decide between numbers of symbols and values of U for a column without a name.

    An error is raised if a number in it can be both the number of one symbol and the value of
    another.
    """
    assert source.rows is not None
    alphabet = [row[0] for row in source.rows]
    numbers = range(len(alphabet))
    for symbol, value in enumerate(alphabet):
        if value in numbers and value != symbol:
            raise ValueError(
                "the reports may be meant as any of ['symbol', 'cells']: say encode='symbol' for "
                "numbers of reports, as clients and Mechanism.sample make them, or encode='cells' "
                f"for values, as transform writes them. {value!r} is the value of report {symbol}, "
                "and the number of another."
            )
    _, unknown = encode_column(table, 0, Column.of_values(table.names[0], alphabet))
    return "symbol" if unknown and all(isinstance(v, Real) for v in unknown) else "cells"
