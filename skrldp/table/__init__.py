"""From rows of tables to cells, and back.

A record is X = (S, U): the sensitive columns S, and all the other columns together, U. A *cell* is
one value x = (s, u) of the whole record, and its code is ``s * a2 + u``, where `s` counts the `a1`
secrets and `u` the `a2` values of U. :func:`learn` reads the alphabets of a public table and its
rows; the :class:`CellCodec` it returns turns rows of any table with the same columns into codes,
and codes into rows again, in the library and with the dtypes the table came in.

Categories are plain Python scalars and compare as such: see :mod:`skrldp.alphabet`.
"""

from skrldp.table._codec import CellCodec
from skrldp.table._codes import Codes
from skrldp.table._columns import MOST_CATEGORIES, encode_column, learn_column
from skrldp.table._cut import cut
from skrldp.table._design_columns import (
    column_reader,
    is_missing,
    numbers_of,
    row_contents,
    take_rows,
    weighted_rows,
    with_columns,
    with_values,
    without_columns,
)
from skrldp.table._frequencies import Rare
from skrldp.table._grouping import Grouping
from skrldp.table._lazy import distinct_rows, distinct_rows_of, lazy_names, refuse_weights
from skrldp.table._learn import learn
from skrldp.table._plan import MAX_CELLS
from skrldp.table._read import Table, lazy_frame, read_table
from skrldp.table._select import column_names, resolve_columns
from skrldp.table._unknown_categories import refuse_categories, refuse_combinations
from skrldp.table._write import category_series

__all__ = [
    "MAX_CELLS",
    "MOST_CATEGORIES",
    "CellCodec",
    "Codes",
    "Grouping",
    "Rare",
    "Table",
    "category_series",
    "column_names",
    "column_reader",
    "cut",
    "distinct_rows",
    "distinct_rows_of",
    "encode_column",
    "is_missing",
    "lazy_frame",
    "lazy_names",
    "learn",
    "learn_column",
    "numbers_of",
    "read_table",
    "refuse_categories",
    "refuse_combinations",
    "refuse_weights",
    "resolve_columns",
    "row_contents",
    "take_rows",
    "weighted_rows",
    "with_columns",
    "with_values",
    "without_columns",
]
