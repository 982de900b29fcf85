"""Alphabets: the categories of columns, and which combinations of them S and U can take.

Tables and clients both look up values here, so a client has the same categories as the sanitizer.
Categories are Python scalars and compare as such: 1, 1.0 and True are one category, "1" is
another, and missing values of every kind are None. Only NumPy is imported.
"""

from skrldp.alphabet._bins import Bins
from skrldp.alphabet._cell_groups import (
    PARTS,
    CellGroups,
    Record,
    group_cells,
    group_records,
    numbers_of_cells,
)
from skrldp.alphabet._columns import OTHER, Column
from skrldp.alphabet._combinations import Alphabet, combine
from skrldp.alphabet._factorized import Factorized
from skrldp.alphabet._frequent import (
    SEEN_OFTEN,
    chance_of_infrequent,
    frequent_from,
    spent_on_values,
)
from skrldp.alphabet._messages import (
    hint_of,
    known_of,
    listed,
    named,
    numbered,
    rows_in_words,
)
from skrldp.alphabet._scalars import CategoryError, brief, is_missing, plain, plain_name
from skrldp.alphabet._sources import SOURCES, source_in_words, weakest_source

__all__ = [
    "OTHER",
    "PARTS",
    "SEEN_OFTEN",
    "SOURCES",
    "Alphabet",
    "Bins",
    "CategoryError",
    "CellGroups",
    "Column",
    "Factorized",
    "Record",
    "brief",
    "chance_of_infrequent",
    "combine",
    "frequent_from",
    "group_cells",
    "group_records",
    "hint_of",
    "is_missing",
    "known_of",
    "listed",
    "named",
    "numbered",
    "numbers_of_cells",
    "plain",
    "plain_name",
    "rows_in_words",
    "source_in_words",
    "spent_on_values",
    "weakest_source",
]
