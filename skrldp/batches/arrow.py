"""Conversion of Arrow columns to NumPy arrays, tables of other libraries, and checks of ids."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._frames import (
    one_dictionary,
    own_index,
    refuse_without_plugin,
    values_of,
    without_views,
)
from skrldp.alphabet.categories import Factorized, listed
from skrldp.alphabet.values import brief, is_missing
from skrldp.sampling.random_bits import IntegerIds, OctetIds

if TYPE_CHECKING:
    from numpy.typing import NDArray


_SHOWN = 8  # maximum number of rows in a message


def pyarrow() -> Any:
    """Import pyarrow.

    Raises ImportError if it is missing.
    """
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError as error:
        raise ImportError(
            "Record batches need the package 'pyarrow': pip install pyarrow."
        ) from error
    return pyarrow


# Arrow's own conversions to and from NumPy import pandas, which takes longer than a command.


def numbers_of(column: Any) -> NDArray[Any]:
    """Read an Arrow column of numbers, none of them missing."""
    numbers: NDArray[Any] = np.from_dlpack(column)
    return numbers


def arrow_numbers(numbers: NDArray[Any]) -> Any:
    """Make an Arrow column of numbers."""
    pa = pyarrow()
    contiguous = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(contiguous.dtype), len(contiguous), [None, pa.py_buffer(contiguous)]
    )


def check_columns(needed: Sequence[str], names: Sequence[Any]) -> None:
    """Raise a ValueError if a column is missing or duplicate."""
    for name in needed:
        count = list(names).count(name)
        if count != 1:
            raise ValueError(
                f"batches must have exactly one column {brief(repr(name))}, but have "
                f"{'none' if count == 0 else count}: their columns are {listed(names)}. Nothing "
                "was reported."
            )


# --- Ids -----------------------------------------------------------------------------------------


def check_id_type(name: str, dtype: Any) -> None:
    """Raise a ValueError if a column's type is not a type of ids."""
    types = pyarrow().types
    if types.is_dictionary(dtype):
        dtype = dtype.value_type
    kinds = (_is_octets(dtype), types.is_integer(dtype), _is_uuid(dtype), types.is_null(dtype))
    if not any(kinds):
        remedy = ""
        if types.is_floating(dtype) or types.is_decimal(dtype):
            remedy = " Cast integers to int64, before they become floats."
        raise ValueError(
            f"the ids in column {brief(repr(name))} must be integers, strings or bytes, not "
            f"{kind(dtype)}.{remedy}"
        )


def kind(dtype: Any) -> str:
    """Name a type without its fields, whose names may be values."""
    return str(dtype).partition("<")[0]


def _is_uuid(dtype: Any) -> bool:
    return bool(getattr(dtype, "extension_name", "") == "arrow.uuid")


def _is_octets(dtype: Any) -> bool:
    pa = pyarrow()
    return bool(
        _is_string(dtype)
        or pa.types.is_binary(dtype)
        or pa.types.is_large_binary(dtype)
        or pa.types.is_fixed_size_binary(dtype)
        or str(dtype) == "binary_view"
    )


def _is_string(dtype: Any) -> bool:
    types = pyarrow().types
    return bool(
        types.is_string(dtype) or types.is_large_string(dtype) or str(dtype) == "string_view"
    )


def read_ids(name: str, column: Any) -> IntegerIds | OctetIds:
    """Read the ids of a batch.

    Raises ValueError if an id is missing, or empty.
    """
    pa = pyarrow()
    column = bare(column)
    rows = np.arange(0)
    # The empty string is not an id, because files write missing values so
    if _is_octets(column.type):
        lengths = pa.compute.binary_length(column)
        lengths = lengths.fill_null(0) if lengths.null_count else lengths
        rows = np.flatnonzero(numbers_of(lengths) == 0)
    elif column.null_count:
        rows = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
    if len(rows):
        raise ValueError(
            f"column {brief(repr(name))} has no id in {_rows(rows)} of a batch of {len(column):,} "
            "rows. Add an id to each record, or drop those without. Nothing of the batch was "
            "reported."
        )
    if pa.types.is_null(column.type):  # without rows
        return IntegerIds(np.zeros(0, dtype=np.int64))
    if pa.types.is_integer(column.type):
        return IntegerIds(numbers_of(column))
    return octets_in(column)


def octets_in(column: Any) -> OctetIds:
    """Return strings or bytes without copying them."""
    pa = pyarrow()
    n, first = len(column), column.offset
    buffers = column.buffers()
    if pa.types.is_fixed_size_binary(column.type):
        width = column.type.byte_width
        octets = _bytes(buffers[1])[first * width : (first + n) * width]
        return OctetIds(octets, np.arange(n + 1, dtype=np.int64) * width, are_strings=False)
    large = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    ends: NDArray[Any] = np.zeros(1, dtype=np.int64)
    if n:  # an empty column may have no offsets
        ends = _bytes(buffers[1]).view(np.int64 if large else np.int32)[first : first + n + 1]
    return OctetIds(_bytes(buffers[2]), ends, are_strings=_is_string(column.type))


def _bytes(buffer: Any) -> NDArray[np.uint8]:
    if buffer is None:
        return np.zeros(0, dtype=np.uint8)
    return np.frombuffer(buffer, dtype=np.uint8)


def bare(column: Any) -> Any:
    """Return ids in a type without dictionaries, extensions and views."""
    pa = pyarrow()
    if isinstance(column, pa.DictionaryArray):
        column = values_of(column)
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    return without_views(column)


def on_its_own(column: Any) -> Any:
    """Copy a kept column, so that it contains only the values of its rows.

    Arrow's files and pickles contain whole buffers: unused values of a dictionary, the content of
    missing values, the rows outside a slice, and the string that a view is part of, such as a line
    with the answers. Therefore dictionaries and views are converted to plain columns.
    """
    pa = pyarrow()
    if isinstance(column, pa.ExtensionArray):
        return pa.ExtensionArray.from_storage(column.type, on_its_own(column.storage))
    while isinstance(column, pa.DictionaryArray):  # or a dictionary of dictionaries
        column = bare(column)
    plain = without_views(column)
    if plain.null_count:  # the content of missing values is arbitrary
        return plain.take(arrow_numbers(np.arange(len(plain))))
    return pa.concat_arrays([plain, plain[:0]])


def own_type(name: str, dtype: Any) -> Any:
    """Return the type to which :func:`on_its_own` converts columns of a type.

    Raises ValueError if values are nested, because they may contain other rows' values.
    """
    storage = getattr(dtype, "storage_type", dtype)
    if storage.num_fields or (storage is not dtype and hasattr(storage, "index_type")):
        raise ValueError(
            f"column {brief(repr(name))} of the type {kind(dtype)} cannot be kept: keep columns of "
            "strings, numbers, dates or bytes. Nothing was reported."
        )
    return on_its_own(pyarrow().nulls(0, dtype)).type


def _rows(rows: NDArray[Any]) -> str:
    first_rows = ", ".join(map(str, rows[:_SHOWN])) + (", ..." if len(rows) > _SHOWN else "")
    return f"{len(rows):,} row{'s' if len(rows) > 1 else ''} ({first_rows})"


# --- Values --------------------------------------------------------------------------------------


def read_values(name: str, column: Any) -> Factorized | list[Any]:
    """Read a column of records, each distinct value once.

    Raises ValueError if the values cannot be categories.
    """
    pa = pyarrow()
    wrong = (
        f"column {brief(repr(name))} contains values that cannot be categories, of type "
        f"{kind(column.type)}: categories are strings, numbers, booleans, dates or missing. "
        "Nothing was reported."
    )
    if column.type.num_fields:
        raise ValueError(wrong)
    try:
        if not isinstance(column, pa.DictionaryArray):
            column = column.dictionary_encode()
    except pa.ArrowNotImplementedError:
        return _listed(column, wrong)
    indices = column.indices
    if indices.null_count:
        indices = indices.cast(pa.int64()).fill_null(-1)
    positions, distinct = numbers_of(indices), without_views(column.dictionary)
    if len(distinct) > len(positions):  # for example of a whole table
        used, positions = np.unique(positions, return_inverse=True)
        gone = int(used.size > 0 and used[0] < 0)
        positions = positions.reshape(-1) - gone
        distinct = distinct.take(arrow_numbers(used[gone:]))
    numeric = pa.types.is_integer(distinct.type) or pa.types.is_floating(distinct.type)
    if numeric and not distinct.null_count:
        return Factorized(positions, numbers_of(distinct))
    return Factorized(positions, _listed(distinct, wrong))


def _listed(column: Any, wrong: str) -> list[Any]:
    try:
        return list(column.to_pylist())
    except (TypeError, ValueError, OverflowError):  # whose message might quote the value
        raise ValueError(wrong) from None


# --- Whole tables in, tables of the same library out ----------------------------------------------


def is_table(records: Any) -> bool:
    """Whether records are a table: of pyarrow, or of a library that narwhals supports.

    Raises TypeError for a lazy frame that cannot be read in batches.
    """
    if not hasattr(type(records), "columns"):  # for example an iterator
        return False
    pa = pyarrow()
    if isinstance(records, pa.Table | pa.RecordBatch):
        return True
    import narwhals.stable.v2 as nw

    frame = as_frame(records, pass_through=True)
    if isinstance(frame, nw.LazyFrame) and not hasattr(records, "__arrow_c_stream__"):
        raise TypeError(
            "Expected record batches, got a lazy frame. Let its engine call the reporter on "
            "batches, as docs/guide/engines.md explains."
        )
    return isinstance(frame, nw.DataFrame)


def in_one_chunk(table: Any) -> Any:
    """Join the chunks of each column, up to the maximum length of Arrow's arrays."""
    pa = pyarrow()
    columns = {}
    for name in table.column_names:
        try:
            columns[name] = pa.table([one_dictionary(table[name])], [name]).combine_chunks()[name]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise ValueError(
                f"column {brief(repr(name))} has chunks of the type {kind(table[name].type)} that "
                "Arrow cannot join: decode the dictionaries within it. Nothing was reported."
            ) from None
    return pa.table(columns)


def as_frame(frame: Any, *, pass_through: bool = False) -> Any:
    """Return a frame of narwhals.

    Raises TypeError if it is not a frame, with the package that narwhals may need.
    """
    import narwhals.stable.v2 as nw

    wrapped = nw.from_native(frame, pass_through=True)
    if wrapped is frame:
        refuse_without_plugin(frame)
        return frame if pass_through else nw.from_native(frame)
    return wrapped


def passed_on(frame: Any, reports: Any, names: Sequence[str]) -> Any:
    """Return columns of a frame that contain only the values of its rows.

    `made` is an Arrow table of the same rows, whose columns already do.
    """
    import narwhals.stable.v2 as nw

    native = frame.select(*names).to_native()
    if frame.implementation.is_polars():
        copied = nw.from_arrow(reports.select(names), backend=frame.implementation).to_native()
        return nw.from_native(copied.cast(dict(native.schema)))
    if frame.implementation.is_pandas() or frame.implementation.is_modin():
        columns = {name: _of_its_rows(native[name], reports[name]) for name in names}
        native = native.assign(**columns)
        native.index = own_index(native.index)
    return nw.from_native(native)


def _of_its_rows(column: Any, values: Any) -> Any:
    """Return a pandas column without unused categories or numbers behind missing values."""
    if column.dtype == "category":  # every column of Modin has an attribute "cat"
        return column.cat.remove_unused_categories()
    if hasattr(getattr(column.dtype, "pyarrow_dtype", None), "index_type"):
        # The rows may have too many distinct values for its codes
        values = values.dictionary_encode()
        return type(column.dtype)(values.type).__from_arrow__(values)
    if hasattr(column.dtype, "__from_arrow__"):
        return column.dtype.__from_arrow__(values)
    return column


def as_arrow(frame: Any) -> Any:
    """Convert a frame in memory, without the library's messages, which would quote values."""
    with suppress(Exception):
        return _converted(frame)
    for name in frame.columns:
        try:
            _converted(frame.select(name))
        except Exception:
            raise ValueError(
                f"column {brief(repr(name))} contains values of several types, or of a type that "
                "Arrow lacks (values are not shown): write it with a single type, for example "
                "strings or integers. Nothing was reported."
            ) from None
    raise ValueError("Arrow cannot represent the table. Nothing was reported.")


def _converted(frame: Any) -> Any:
    import narwhals.stable.v2 as nw

    if frame.implementation.is_polars() and nw.Object in frame.schema.values():
        raise TypeError("polars gives memory addresses for Python objects")
    if frame.implementation.is_pandas():  # Arrow does not recognise every kind of missing value
        native = frame.to_native()
        objects = [native[name] for name in frame.columns if native[name].dtype == object]
        filled = {str(column.name): column.where(column.notna(), None) for column in objects}
        frame = nw.from_native(native.assign(**filled))
    table = frame.to_arrow()
    binary = (f.name for f in table.schema if "binary" in str(f.type) and f.name in frame.columns)
    if any(isinstance(value, str) for name in binary for value in frame[name].to_list()):
        raise TypeError("Arrow writes strings as bytes where some values are bytes")
    return table


# --- Ids that occur in several rows of a batch ----------------------------------------------------


def refuse_duplicates(name: str, column: Any, hashes: NDArray[np.uint64]) -> None:
    """Raise a ValueError that lists ids of a column that occur in several rows."""
    if not any_twice(hashes):
        return
    counts = bare(column).value_counts()
    twice = counts.field("values").filter(pyarrow().compute.greater(counts.field("counts"), 1))
    if len(twice):
        raise ValueError(
            f"column {brief(repr(name))} has ids in more than one row of a batch: "
            f"{listed(twice.to_pylist())}. Keep one row for each id, because a report is about a "
            "single record, and call check_ids on the whole table. Nothing of the batch was "
            "reported."
        )


def any_twice(hashes: NDArray[np.uint64]) -> bool:
    """Whether 64-bit numbers contain duplicates."""
    if (hashes[1:] > hashes[:-1]).all():  # as ids of many tables, which are integers
        return False
    ordered = np.sort(hashes)
    return bool(np.any(ordered[1:] == ordered[:-1]))


# --- A check of a whole table: each record has its own id -----------------------------------


def check_ids(frame: Any, id: str) -> None:
    """Check that each row of a table has an id, and that no two rows have the same.

    A :class:`Reporter` sees one batch at a time, and therefore detects only duplicates within a
    batch. Call this function once before reporting. The engine groups by id and counts, and only a
    few duplicate ids are fetched.

    Parameters
    ----------
    frame : data frame or lazy frame
        A table of any library that narwhals supports: Polars, DuckDB, PySpark, Dask, Ibis, pandas,
        pyarrow.
    id : str
        The column of ids.

    Raises
    ------
    TypeError
        If `frame` is not a data frame.
    ValueError
        If there is no such column, its type is not a type of ids, or an id is missing, empty or
        duplicate.

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
    texts, library = dtype in (nw.String, nw.Categorical, nw.Enum), table.implementation
    unclear = dtype == nw.Unknown or (dtype == nw.Object and not library.is_polars())
    if not (texts or unclear or dtype.is_integer() or dtype == nw.Binary):
        raise ValueError(
            f"the ids in column {name} must be integers, strings or bytes, not "
            f"{type(dtype).__name__}. (Some libraries convert integers to floats if some are "
            "missing.)"
        )
    if dtype == nw.Unknown and (library.is_duckdb() or library.is_ibis()):
        raise ValueError(
            f"the ids in column {name} must be integers, strings or bytes, not of an "
            "engine-specific type. DuckDB returns a UUID sometimes as a string and sometimes as 16 "
            "bytes, which are different ids: cast it to a string."
        )
    count = f"rows of {id}"  # a name that differs from the id column's
    missing_id = nw.col(id).is_null()
    if texts:
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
    counts = list(zip(wrong[id].to_list(), wrong[count].to_list(), strict=True))
    missing = sum(rows for value, rows in counts if _is_no_id(value))
    twice = [f"{brief(repr(v))} ({rows:,} rows)" for v, rows in counts if not _is_no_id(v)]
    if twice:
        ellipsis = ", ..." if len(twice) > _SHOWN else ""
        raise ValueError(
            f"column {name} has ids in more than one row: {', '.join(twice[:_SHOWN])}{ellipsis}. A "
            "person with several rows would report several times: keep one row for each id."
        )
    if missing:
        raise ValueError(
            f"column {name} has no id in {missing:,} row{'s' if missing > 1 else ''}. Add an id to "
            "each record, or drop those without."
        )


def _is_no_id(value: Any) -> bool:
    return is_missing(value) or value in ("", b"")


def _groupable(frame: Any, id: str) -> Any:
    """Return a table whose ids compare equal exactly if they do for reporters.

    Columns of pandas may contain 7 and "7", which are the same id; entries of an Arrow dictionary
    may repeat.
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
        chunks = [*frame[id].chunks, pa.nulls(0, frame.schema.field(id).type)]
        frame = pa.table({id: pa.chunked_array([bare(chunk) for chunk in chunks])})
    return as_frame(frame)
