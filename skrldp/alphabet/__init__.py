"""Alphabets: the categories of columns, and which combinations of them S and U can take.

Tables and clients both look up values here, so a client has the same categories as the sanitizer.
Categories are Python scalars and compare as such: 1, 1.0 and True are one category, "1" is
another, and missing values of every kind are None. Only NumPy is imported.
"""
