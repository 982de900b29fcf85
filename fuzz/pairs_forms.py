"""A case's table as other libraries hold it, and the kinds of values in it."""

import datetime

import numpy as np
import pandas as pd

FORMS = (
    "array",
    "rows",
    "categories",
    "enums",
    "polars",
    "polars lazy",
    "arrow",
    "arrow dictionaries",
    "duckdb",
)
KINDS = ("integers", "fractions", "truths", "days", "moments", "missing")


def value_of(kind, name, code):
    """A value of a column by its code; code -1 for one that no record has, -2 for a strange one."""
    if kind == "integers":
        return 3 * code + 1
    if kind == "fractions":
        return code + 0.5
    if kind == "truths" and name != "u":
        return bool(code) if code in (0, 1) else code
    if kind == "days":
        return datetime.date(2020, 1, 10) + datetime.timedelta(days=code)
    if kind == "moments":
        return datetime.datetime(2020, 1, 10, 12) + datetime.timedelta(hours=code)
    if kind == "missing" and code == 0 and name in ("u", "k"):
        return None
    return {-1: f"{name}none", -2: "unheard of"}.get(code, f"{name}{code}")


def in_form(case, table, private=False):
    """Write a table, or private records, as the library of a case holds it."""
    form = case.form
    if form == "array":
        return table.to_numpy(dtype=object)
    if form == "rows":
        return table.to_numpy(dtype=object).tolist()
    if form == "categories":
        own = table.copy()
        for name, levels in case.levels.items():
            if name in own:
                own[name] = pd.Categorical(own[name], categories=levels)
        return own
    if form in ("polars", "enums", "polars lazy"):
        import polars as pl

        own = pl.DataFrame({name: table[name].tolist() for name in table})
        if form == "enums":
            own = own.with_columns(
                pl.col(name).cast(pl.Enum(levels))
                for name, levels in case.levels.items()
                if name in own.columns
            )
        return own.lazy() if form == "polars lazy" and not private else own
    if form in ("arrow", "arrow dictionaries"):
        import pyarrow as pa

        own = {name: pa.array(table[name].tolist()) for name in table}
        if form == "arrow dictionaries":
            own = {
                name: column.dictionary_encode() if name in ("s", "r", "u", "k") else column
                for name, column in own.items()
            }
        return pa.table(own)
    if form == "duckdb" and not private:
        import duckdb

        return duckdb.from_arrow(in_form(_As("arrow"), table))
    return table


class _As:
    def __init__(self, form):
        self.form = form


def records_of(table):
    """Rows as dictionaries of Python's own values."""
    return [
        {name: own.item() if isinstance(own, np.generic) else own for name, own in row.items()}
        for row in table.to_dict("records")
    ]
