"""A case's table as other libraries hold it, and the kinds of values in it."""

import datetime

import numpy as np
import pandas as pd

FORMS = (
    "array",
    "numpy texts",
    "rows",
    "indexed",
    "nullable",
    "categories",
    "enums",
    "polars",
    "polars categorical",
    "polars lazy",
    "arrow",
    "arrow dictionaries",
    "duckdb",
)
PLACES = ("array", "numpy texts", "rows")  # whose columns have no names
KINDS = ("integers", "fractions", "truths", "days", "moments", "missing", "other", "mixed")


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
    if kind == "other" and code == 0 and name in ("u", "k"):
        return "other"
    if kind == "mixed" and code in (0, 1):
        return [7, "7"][code]
    if kind == "missing" and code == 0 and name in ("u", "k"):
        return None
    return {-1: f"{name}none", -2: "unheard of"}.get(code, f"{name}{code}")


def of_any_library(case, table):
    """Write private records as some library holds them, whatever held the public table."""
    forms = ["array", "rows"]
    if not case.places:
        forms = [form for form in FORMS if form not in PLACES and form not in ("enums", "duckdb")]
        if case.kind == "mixed":
            forms = ["indexed", "categories"]
    return in_form(case, table, private=True, form=str(case.rng.choice(forms)))


def in_form(case, table, private=False, form=None):
    """Write a table, or private records, as the library of a case holds it."""
    form = form or case.form
    if form in PLACES[:2]:
        own = table.to_numpy(dtype=object)
        return own if form == "array" else own.astype(str)
    if form == "rows":
        return table.to_numpy(dtype=object).tolist()
    if form == "indexed":
        return table.set_axis([f"person {row % 5}" for row in range(len(table))])
    if form == "nullable":
        return table.convert_dtypes()
    if form == "categories":
        own = table.copy()
        for name, levels in case.levels.items():
            if name in own:
                own[name] = pd.Categorical(own[name], categories=levels)
        return own
    if form in ("polars", "polars categorical", "enums", "polars lazy"):
        import polars as pl

        own = pl.DataFrame({name: table[name].tolist() for name in table})
        if form == "enums":
            own = own.with_columns(
                pl.col(name).cast(pl.Enum(levels))
                for name, levels in case.levels.items()
                if name in own.columns
            )
        if form == "polars categorical":
            texts = [name for name, kind in own.schema.items() if kind == pl.String]
            own = own.with_columns(pl.col(texts).cast(pl.Categorical))
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
    """Rows as dictionaries of Python's own values; what is missing is None."""

    def plain(value):
        value = value.item() if isinstance(value, np.generic) else value
        return None if value != value else value  # as pandas writes it in columns of texts

    return [{name: plain(value) for name, value in row.items()} for row in table.to_dict("records")]
