"""Tables to cells and back.

A record is X = (S, U): the sensitive columns S, and all the other columns together, U. A *cell* is
one value x = (s, u) of the whole record, and its code is ``s * a2 + u``, where `s` counts the `a1`
secrets and `u` the `a2` values of U. :func:`learn_codec` reads the alphabets of a public table; the
:class:`CellCodec` it returns turns rows of any table with the same columns into codes, and codes
into rows again, in the library and with the dtypes the table came in.

Categories are plain Python scalars and compare as such: 1, 1.0 and True are one category, "1" is
another, and missing values of every kind (None, NaN, NaT, `pandas.NA`, null) are None.
"""

from skrldp.table._alphabet import encode_column
from skrldp.table._codec import CellCodec, Codes
from skrldp.table._learn import learn_codec
from skrldp.table._read import column_names, read_table

__all__ = ["CellCodec", "Codes", "column_names", "encode_column", "learn_codec", "read_table"]
