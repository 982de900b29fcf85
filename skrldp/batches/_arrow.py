"""Arrow's columns as NumPy arrays: ids, and the values of a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._frames import values_of, without_views
from skrldp.alphabet import Factorized, brief, listed
from skrldp.sampling.streams import IntegerIds, OctetIds

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "arrow_numbers",
    "bare",
    "check_columns",
    "check_id_type",
    "kind",
    "numbers_of",
    "on_its_own",
    "own_type",
    "pyarrow",
    "read_ids",
    "read_values",
]

_SHOWN = 8  # rows that a message lists
_HELD_WITHIN = ("struct", "view", "dictionary")  # nested types of which Arrow copies too much


def pyarrow() -> Any:
    """Import pyarrow.

    Raises ImportError if it is missing, in one sentence.
    """
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError as error:
        raise ImportError(
            "Record batches need the package 'pyarrow': pip install pyarrow."
        ) from error
    return pyarrow


# Arrow's own ways between its arrays and NumPy's import pandas, which takes longer than a command.


def numbers_of(column: Any) -> NDArray[Any]:
    """Read an Arrow column of numbers, none of them missing."""
    numbers: NDArray[Any] = np.from_dlpack(column)
    return numbers


def arrow_numbers(numbers: NDArray[Any]) -> Any:
    """Make an Arrow column of numbers."""
    pa = pyarrow()
    own = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(own.dtype), len(own), [None, pa.py_buffer(own)]
    )


def _arrow_texts(texts: Sequence[str]) -> Any:
    pa = pyarrow()
    octets = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, octets)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(octets))]
    return pa.Array.from_buffers(pa.string(), len(octets), buffers)


def check_columns(needed: Sequence[str], names: Sequence[Any]) -> None:
    """Raise a ValueError if a column is missing, or there twice."""
    for name in needed:
        count = list(names).count(name)
        if count != 1:
            raise ValueError(
                f"batches need one column {brief(repr(name))}, but have "
                f"{'none' if count == 0 else count}: they have {listed(names)}. Nothing was "
                "reported."
            )


# --- Ids -----------------------------------------------------------------------------------------


def check_id_type(name: str, dtype: Any) -> None:
    """Raise a ValueError if a column's type is none of ids."""
    types = pyarrow().types
    if types.is_dictionary(dtype):
        dtype = dtype.value_type
    kinds = (_is_octets(dtype), types.is_integer(dtype), _is_uuid(dtype), types.is_null(dtype))
    if not any(kinds):
        more = ""
        if types.is_floating(dtype) or types.is_decimal(dtype):
            more = " Cast whole numbers to int64, before they become floats."
        raise ValueError(
            f"the ids in column {brief(repr(name))} must be integers, strings or bytes, not "
            f"{kind(dtype)}.{more}"
        )


def kind(dtype: Any) -> str:
    """Name a type without its fields: the keys of dicts become their names."""
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
    if _is_octets(column.type):  # the empty text is no id: files have it where one is missing
        lengths = pa.compute.binary_length(column)
        lengths = lengths.fill_null(0) if lengths.null_count else lengths
        rows = np.flatnonzero(numbers_of(lengths) == 0)
    elif column.null_count:
        rows = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
    if len(rows):
        raise ValueError(
            f"column {brief(repr(name))} has no id in {_rows(rows)} of a batch of {len(column):,} "
            "rows. Give each record an id, or leave out those without. Nothing of the batch was "
            "reported."
        )
    if pa.types.is_null(column.type):  # and there are no rows
        return IntegerIds(np.zeros(0, dtype=np.int64))
    if pa.types.is_integer(column.type):
        return IntegerIds(numbers_of(column))
    return _octets(column)


def _octets(column: Any) -> OctetIds:
    """See strings or bytes without copying them."""
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
    """Return ids in a type without dictionary, extension and views."""
    pa = pyarrow()
    if isinstance(column, pa.DictionaryArray):
        column = values_of(column)
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    return without_views(column)


def on_its_own(column: Any) -> Any:
    """Copy a column that is passed on, so that it holds nothing but the values of its rows.

    Files and pickles of Arrow hold buffers whole: the values of a dictionary that no row has, what
    is beneath a missing value, the rows from which a slice was cut, and the text, such as a line
    with the answers, of which a view is a piece. So dictionaries and views become plain columns.
    """
    pa, name = pyarrow(), str(column.type)
    if isinstance(column, pa.ExtensionArray):
        own = on_its_own(column.storage)
        if own.type != column.type.storage_type:
            own = pa.array(own.to_pylist(), column.type.storage_type)
        return pa.ExtensionArray.from_storage(column.type, own)
    if isinstance(column, pa.RunEndEncodedArray):
        column = pa.compute.run_end_decode(column)
    elif any(kind in name for kind in _HELD_WITHIN) and column.type.num_fields:
        return pa.array(column.to_pylist(), _without_dictionaries(column.type))
    while isinstance(column, pa.DictionaryArray):  # or a dictionary of dictionaries
        column = bare(column)
    return without_views(column).take(arrow_numbers(np.arange(len(column))))


def _without_dictionaries(dtype: Any) -> Any:
    """Return a nested type with plain values: older versions of Arrow build few dictionaries."""
    pa = pyarrow()
    if pa.types.is_dictionary(dtype):
        return dtype.value_type
    if pa.types.is_struct(dtype):
        return pa.struct([field.with_type(_without_dictionaries(field.type)) for field in dtype])
    if pa.types.is_map(dtype):
        return pa.map_(*map(_without_dictionaries, (dtype.key_type, dtype.item_type)))
    for is_list, make in (
        (pa.types.is_list, pa.list_),
        (pa.types.is_large_list, pa.large_list),
        (pa.types.is_fixed_size_list, lambda field: pa.list_(field, dtype.list_size)),
    ):
        if is_list(dtype):
            return make(dtype.value_field.with_type(_without_dictionaries(dtype.value_type)))
    return dtype


def own_type(dtype: Any) -> Any:
    """Return the type of the columns that :func:`on_its_own` makes of those of a type."""
    return on_its_own(pyarrow().nulls(0, dtype)).type


def _rows(rows: NDArray[Any]) -> str:
    some = ", ".join(map(str, rows[:_SHOWN])) + (", ..." if len(rows) > _SHOWN else "")
    return f"{len(rows):,} row{'s' if len(rows) > 1 else ''} ({some})"


# --- Values --------------------------------------------------------------------------------------

_MOST_PLACES = 255  # integers in so narrow a range are their own places in it: 8 bits, unsigned


def read_values(name: str, column: Any, texts: Sequence[str] = ()) -> Factorized | list[Any]:
    """Read a column of records, each distinct value once.

    `texts` are such as rows may have: where all have one of these, that is faster.

    Raises ValueError if the values cannot be categories.
    """
    pa = pyarrow()
    wrong = (
        f"column {brief(repr(name))} holds values that cannot be categories, of type "
        f"{kind(column.type)}: these are strings, numbers, booleans, dates or missing. Nothing "
        "was reported."
    )
    if column.type.num_fields:
        raise ValueError(wrong)
    if 0 < len(texts) <= len(column) and str(column.type) in ("string", "large_string"):
        places = pa.compute.index_in(column, _arrow_texts(texts).cast(column.type))
        if not places.null_count:
            return Factorized(numbers_of(places), texts)
    if pa.types.is_integer(column.type) and len(column) and not column.null_count:
        numbers = numbers_of(column)
        low, high = numbers.min(), numbers.max()
        if int(high) - int(low) <= _MOST_PLACES:
            places = np.arange(int(high) - int(low) + 1).astype(numbers.dtype)
            return Factorized((numbers - low).astype(np.uint8), places + low)
    try:
        if not isinstance(column, pa.DictionaryArray):
            column = column.dictionary_encode()
    except pa.ArrowNotImplementedError:
        return _listed(column, wrong)
    indices = column.indices
    if indices.null_count:
        indices = indices.cast(pa.int64()).fill_null(-1)
    positions, distinct = numbers_of(indices), without_views(column.dictionary)
    if len(distinct) > len(positions):  # of a whole table, say
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
