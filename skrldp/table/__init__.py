"""From rows of tables to cells, and back.

A record is X = (S, U): the sensitive columns S, and all the other columns together, U. A *cell* is
one value x = (s, u) of the whole record, and its code is ``s * a2 + u``, where `s` counts the `a1`
secrets and `u` the `a2` values of U. :func:`learn` reads the alphabets of a public table and its
rows. It returns a :class:`CellCodec`, which encodes rows of any table with the same columns as
codes, and decodes codes to rows in the library and with the dtypes of the table.

Categories are Python scalars and are compared as such: see :mod:`skrldp.alphabet`.
"""
