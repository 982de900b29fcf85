"""Alphabets: the categories of columns, and the possible combinations of S and of U.

Tables and clients look up values with this package, so that a client has the same categories as the
sanitizer. Categories are Python scalars and are compared as such: 1, 1.0 and True are the same
category, "1" is a different one, and all kinds of missing values are None. Only NumPy is imported.
"""
