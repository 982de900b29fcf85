"""A check of a whole table: each record has an id of its own."""

from __future__ import annotations

from typing import Any

from skrldp.alphabet import brief, is_missing, listed
from skrldp.batches._arrow import pyarrow
from skrldp.batches._frames import as_arrow, as_frame

__all__ = ["check_ids"]

_SHOWN = 8


def check_ids(frame: Any, id: str) -> None:
    """Check that each row of a table has an id, and that no two rows have the same.

    A :class:`Reporter` sees one batch at a time, and so finds only those ids twice that are in one
    batch. Call this once before reporting. The engine groups by the id and counts; what comes back
    are a few ids that are wrong.

    Parameters
    ----------
    frame : data frame or lazy frame
        Of any library that narwhals knows: Polars, DuckDB, PySpark, Dask, Ibis, pandas, pyarrow.
    id : str
        The column of the ids.

    Raises
    ------
    TypeError
        If `frame` is no data frame.
    ValueError
        If there is no such column, its type is none of ids, an id is missing or empty, or
        one occurs twice.

    Examples
    --------
    >>> import polars as pl
    >>> from skrldp.batches import check_ids
    >>> table = pl.LazyFrame({"person": [1, 2, 3], "ill": ["no", "yes", "no"]})
    >>> check_ids(table, "person")
    >>> check_ids(pl.concat([table, table.head(1)]), "person")
    Traceback (most recent call last):
    ...
    ValueError: column 'person' has ids in more than one row: 1 (2 rows). ...
    """
    import narwhals.stable.v2 as nw

    table = _groupable(frame, id).lazy()
    schema = table.collect_schema()
    name = brief(repr(id))
    if id not in schema:
        raise ValueError(
            f"the table lacks the column {name} of the ids; it has {listed(list(schema))}."
        )
    dtype = schema[id]
    objects = dtype == nw.Object and table.implementation.is_polars()
    if (
        objects
        or dtype.is_float()
        or dtype.is_decimal()
        or dtype.is_temporal()
        or dtype.is_nested()
    ):
        raise ValueError(
            f"the ids in column {name} must be integers, strings or bytes, not "
            f"{type(dtype).__name__}. (Missing ids make floats of integers in some libraries.)"
        )
    if dtype == nw.Boolean:
        raise ValueError(f"the ids in column {name} must be integers, strings or bytes, not bool.")
    if dtype == nw.Unknown and (table.implementation.is_duckdb() or table.implementation.is_ibis()):
        raise ValueError(
            f"the ids in column {name} must be integers, strings or bytes, and none of a type of "
            "the engine's own. A UUID of DuckDB comes now as a text and now as 16 bytes, two "
            "different ids: cast it to text."
        )
    count = f"rows of {id}"  # a name that the id has not
    missing_id = nw.col(id).is_null()
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        missing_id |= nw.col(id).cast(nw.String) == ""
    if dtype == nw.Binary:
        missing_id |= nw.col(id) == nw.lit(b"", nw.Binary)
    wrong = (
        table.select(id)
        .group_by(id)
        .agg(nw.len().alias(count))
        .filter(missing_id | (nw.col(count) > 1))
        .head(_SHOWN + 1)
        .collect()
    )
    found = list(zip(wrong[id].to_list(), wrong[count].to_list(), strict=True))
    missing = sum(rows for own, rows in found if _is_no_id(own))
    twice = [f"{brief(repr(own))} ({rows:,} rows)" for own, rows in found if not _is_no_id(own)]
    if twice:
        more = ", ..." if len(twice) > _SHOWN else ""
        raise ValueError(
            f"column {name} has ids in more than one row: {', '.join(twice[:_SHOWN])}{more}. A "
            "person with several rows would report several times: keep one row for each id."
        )
    if missing:
        raise ValueError(
            f"column {name} has no id in {missing:,} row{'s' if missing > 1 else ''}. Give each "
            "record an id, or leave out those without."
        )


def _is_no_id(own: Any) -> bool:
    return is_missing(own) or own in ("", b"")


def _groupable(frame: Any, id: str) -> Any:
    """Return a table whose ids are compared as reporters compare them.

    Columns of pandas may hold 7 and "7", which are one id; entries of an Arrow dictionary may
    repeat.
    """
    if not type(frame).__module__.startswith("pyarrow"):
        table = as_frame(frame)
        if not table.implementation.is_pandas_like() or id not in table.columns:
            return table
        frame = as_arrow(table.select(id))
    pa = pyarrow()
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    if isinstance(frame, pa.Table) and id in frame.column_names:
        dtype = frame.schema.field(id).type
        held = dtype
        if isinstance(dtype, pa.BaseExtensionType):
            held = dtype.storage_type
        elif pa.types.is_dictionary(dtype):
            held = dtype.value_type
        elif str(dtype) in ("string_view", "binary_view"):  # Arrow cannot group by these
            held = pa.large_string() if str(dtype) == "string_view" else pa.large_binary()
        if held is not dtype:
            place = frame.column_names.index(id)
            frame = frame.set_column(place, id, frame[id].cast(held))
    return as_frame(frame)
