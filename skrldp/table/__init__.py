"""From rows of tables to cells, and back.

A record is X = (S, U): the sensitive columns S, and all the other columns together, U. A *cell* is
one value x = (s, u) of the whole record, and its code is ``s * a2 + u``, where `s` counts the `a1`
secrets and `u` the `a2` values of U. :func:`learn` reads the alphabets of a public table and its
rows; the :class:`CellCodec` it returns turns rows of any table with the same columns into codes,
and codes into rows again, in the library and with the dtypes the table came in.

Categories are plain Python scalars and compare as such: see :mod:`skrldp.alphabet`.
"""
