"""Whole tables in, tables of the same library out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from skrldp._frames import one_dictionary, own_index, refuse_without_plugin
from skrldp.alphabet import brief
from skrldp.batches._arrow import check_columns, kind, pyarrow

__all__ = ["as_arrow", "as_frame", "is_table", "passed_on", "report_table"]


def is_table(records: Any) -> bool:
    """Tell whether records are a table at hand: of pyarrow, or of a library that narwhals knows.

    Raises TypeError if they are a lazy frame that gives no batches.
    """
    if not hasattr(type(records), "columns"):  # an iterator, say
        return False
    pa = pyarrow()
    if isinstance(records, pa.Table | pa.RecordBatch):
        return True
    import narwhals.stable.v2 as nw

    frame = as_frame(records, pass_through=True)
    if isinstance(frame, nw.LazyFrame) and not hasattr(records, "__arrow_c_stream__"):
        raise TypeError(
            "this is a lazy frame, whose engine calls the reporter on batches of rows: "
            "docs/guide/engines.md says how."
        )
    return isinstance(frame, nw.DataFrame)


def report_table(reporter: Any, records: Any, kept: list[str]) -> Any:
    """Report the records of a table: all, or none. Reports come in a table of the same library.

    Rows keep their order. The table is one batch, so that ids are compared in all of it. `kept`
    names the columns that stand beside the reports as they are.
    """
    pa = pyarrow()
    if isinstance(records, pa.RecordBatch):
        return reporter.report_batch(records)
    if isinstance(records, pa.Table):
        check_columns(reporter.columns, records.column_names)
        return _report_arrow(reporter, records.select(reporter.columns))
    import narwhals.stable.v2 as nw

    frame = nw.from_native(records, eager_only=True)
    check_columns(reporter.columns, frame.columns)
    made = _report_arrow(reporter, as_arrow(frame.select(reporter.columns)))
    own = nw.from_arrow(made.drop_columns(kept), backend=frame.implementation)
    passed = passed_on(frame, made, kept).with_columns(own[name] for name in own.columns)
    return passed.select(made.column_names).to_native()


def _report_arrow(reporter: Any, table: Any) -> Any:
    made = [reporter.report_batch(batch) for batch in _in_one_chunk(table).to_batches()]
    return pyarrow().Table.from_batches(made, reporter.output_schema(table.schema))


def _in_one_chunk(table: Any) -> Any:
    """Join the chunks of each column, as far as Arrow's arrays are that long."""
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

    Raises TypeError if it is none; it names the package that narwhals may need.
    """
    import narwhals.stable.v2 as nw

    found = nw.from_native(frame, pass_through=True)
    if found is frame:
        refuse_without_plugin(frame)
        return frame if pass_through else nw.from_native(frame)
    return found


def passed_on(frame: Any, made: Any, names: Sequence[str]) -> Any:
    """Return columns of a frame that hold nothing but the values of its rows.

    `made` is an Arrow table of the same rows, whose columns are such already.
    """
    import narwhals.stable.v2 as nw

    native = frame.select(*names).to_native()
    if frame.implementation.is_polars():
        copied = nw.from_arrow(made.select(names), backend=frame.implementation).to_native()
        return nw.from_native(copied.cast(dict(native.schema)))
    if frame.implementation.is_pandas() or frame.implementation.is_modin():
        columns = {name: _of_its_rows(native[name], made[name]) for name in names}
        native = native.assign(**columns)
        native.index = own_index(native.index)
    return nw.from_native(native)


def _of_its_rows(column: Any, made: Any) -> Any:
    """Return a column of pandas without unused categories, and numbers beneath missing ones."""
    if column.dtype == "category":  # every column of Modin has an attribute "cat"
        return column.cat.remove_unused_categories()
    if hasattr(getattr(column.dtype, "pyarrow_dtype", None), "index_type"):
        made = made.dictionary_encode()  # the rows' own values may be too many for its codes
        return type(column.dtype)(made.type).__from_arrow__(made)
    if hasattr(column.dtype, "__from_arrow__"):
        return column.dtype.__from_arrow__(made)
    return column


def as_arrow(frame: Any) -> Any:
    """Convert a frame at hand; the library's messages would quote values."""
    with suppress(Exception):
        return _converted(frame)
    for name in frame.columns:
        try:
            _converted(frame.select(name))
        except Exception:
            raise ValueError(
                f"column {brief(repr(name))} holds values of several types, or of one that Arrow "
                "lacks (values are not shown): write it with one type, strings or integers, say. "
                "Nothing was reported."
            ) from None
    raise ValueError("Arrow cannot hold the table. Nothing was reported.")


def _converted(frame: Any) -> Any:
    import narwhals.stable.v2 as nw

    if frame.implementation.is_polars() and nw.Object in frame.schema.values():
        raise TypeError("polars gives memory addresses for Python objects")
    if frame.implementation.is_pandas():  # Arrow does not know all that is missing there
        native = frame.to_native()
        own = [native[name] for name in frame.columns if native[name].dtype == object]
        filled = {str(column.name): column.where(column.notna(), None) for column in own}
        frame = nw.from_native(native.assign(**filled))
    table = frame.to_arrow()
    if frame.implementation.is_pandas_like():
        for name in frame.columns:
            if _is_binary(table.schema.field(name).type) and _has_texts(frame[name]):
                raise TypeError("Arrow writes texts as bytes where some values are bytes")
    return table


def _is_binary(dtype: Any) -> bool:
    types = pyarrow().types
    held = dtype.value_type if types.is_dictionary(dtype) else dtype
    return bool(types.is_binary(held) or types.is_large_binary(held))


def _has_texts(column: Any) -> bool:
    return any(isinstance(value, str) for value in column.to_list())
