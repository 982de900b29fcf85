"""Symbols to the numbers or categories of a report, and those to a container."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import refuse_masked
from skrldp._indexes import own_index
from skrldp.alphabet import Column
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism
from skrldp.table import CellCodec, encode_column, numbers_of, read_table

__all__ = [
    "CONTAINERS",
    "ENCODINGS",
    "as_categories",
    "as_frame",
    "blank_frame",
    "blank_table",
    "posterior",
    "read_symbols",
    "report_names",
    "to_container",
    "with_index_of",
]

ENCODINGS = ("symbol", "onehot", "posterior", "cells")
CONTAINERS = ("default", "pandas", "polars")

_MAX_WORK = 2e9  # multiplications for a table of posteriors: some seconds


def report_names(
    encode: str, codec: CellCodec, n_symbols: int, columns: Sequence[Any]
) -> list[str]:
    """Names of the columns that hold the reports."""
    if encode == "symbol":
        return ["report"]
    if encode == "onehot":
        return [f"report_{symbol}" for symbol in range(n_symbols)]
    if encode == "cells":
        return list(columns)
    return [
        f"{name}_{category}"
        for name, column in zip(columns, codec.columns, strict=True)
        for category in column.categories
    ]


def posterior(mechanism: Mechanism, joint: JointDistribution, codec: CellCodec) -> NDArray[Any]:
    """Probability of each category of each column given each report, at the public distribution.

    Returns (b, total number of categories): columns in the table's order, categories in the
    alphabet's. A report that has probability 0 at the public distribution gets the marginal
    distribution. Raises ValueError if the alphabets are too large for such a table.
    """
    n_values = sum(len(codec.columns[position].categories) for position in codec.nonsensitive)
    n_symbols, work = mechanism.shape[0], mechanism.shape[1] * mechanism.shape[0] * n_values
    if mechanism.form.blocks is not None:  # a report costs a1 multiplications rather than a
        work //= codec.n_values
    if work > _MAX_WORK:
        raise ValueError(
            f"encode='posterior' is too large for {n_symbols:,} reports and {codec.n_cells:,} "
            "cells; use encode='symbol' or 'cells'."
        )
    distribution = joint.probabilities
    by_secret = mechanism.report_distribution(distribution)  # P̂(y, s)
    parts = []
    for position, column in enumerate(codec.columns):
        category = codec.marginal(position).reshape(distribution.shape)
        share = np.empty((n_symbols, len(column.categories)))  # P̂(y, category)
        for place in range(share.shape[1]):
            if position in codec.sensitive:
                share[:, place] = by_secret[:, category[:, 0] == place].sum(axis=1)
            else:
                of_category = np.where(category == place, distribution, 0.0)
                share[:, place] = mechanism.report_distribution(of_category).sum(axis=1)
        total = share.sum(axis=1, keepdims=True)
        marginal = np.bincount(category.ravel(), distribution.ravel(), minlength=share.shape[1])
        parts.append(np.where(total > 0, share / np.where(total > 0, total, 1.0), marginal))
    return np.hstack(parts)


def read_symbols(reports: Any, n_symbols: int) -> tuple[Any, NDArray[Any]]:
    """Read the symbols of reports.

    Shapes: `reports` (n,); returns `symbols` (n,). Returns `table`: the reports; a frame where a
    series was given. Raises ValueError if there is more than one column, or a value is not a
    symbol.
    """
    series = nw.from_native(reports, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series):
        reports = series.to_frame().to_native()
    elif isinstance(reports, list | tuple | range | np.ndarray):
        refuse_masked(reports, "reports")
        array = np.asarray(reports)
        if array.dtype.kind in "US":  # numpy may have made strings of a list's numbers
            array = np.asarray(reports, dtype=object)
        reports = array[:, None] if array.ndim == 1 else array
    table = read_table(reports)
    if len(table.names) != 1:
        raise ValueError(
            f"reports has {len(table.names)} columns, but symbols are one column of whole numbers: "
            "give what transform returns with encode='symbol', or what clients send."
        )
    numbers = numbers_of(table, 0)[:, None]
    own = read_table(numbers) if numbers.dtype == object else table
    symbols, unknown = encode_column(own, 0, Column(table.names[0], tuple(range(n_symbols))))
    if unknown:
        missing = f", {unknown[None]:,} of them missing" if unknown[None] else ""
        raise ValueError(
            f"{unknown.total():,} of {table.n_rows:,} reports are not symbols of this mechanism, "
            f"which has the symbols 0 to {n_symbols - 1}{missing} (the first in row "
            f"{int(np.argmax(symbols < 0))}; values are not shown). They are reports of another "
            "mechanism, or not symbols; drop rows without a report."
        )
    return reports, symbols


def blank_table(codec: CellCodec, like: Any = None) -> Any:
    """Make a table with the columns of the public table and one row without values.

    Shapes: returns (1, n_columns).
    """
    names = [column.name for column in codec.columns]
    table = nw.from_native(like, pass_through=True)
    library: Any = codec.library
    if like is not None:
        library = table.implementation.value if isinstance(table, nw.DataFrame) else "numpy"
    if library == "numpy":
        return np.zeros((1, len(names)), dtype=_common_dtype(codec))
    if library == "pandas":  # names need not be strings
        return blank_frame(names)
    written = [name if isinstance(name, str) else f"x{name}" for name in names]
    return nw.from_dict({name: [None] for name in written}, backend=library).to_native()


def blank_frame(names: Sequence[Any]) -> Any:
    """Make a pandas frame of one row without values."""
    import pandas as pd

    return pd.DataFrame([[None] * len(names)], columns=list(names))


def _common_dtype(codec: CellCodec) -> np.dtype[Any]:
    """Dtype of an array that holds every category: of numbers if all are, else object."""
    found = np.array([value for column in codec.columns for value in column.categories])
    return found.dtype if found.dtype.kind in "iuf" else np.dtype(object)


def with_index_of(frame: Any, like: Any) -> Any:
    """Give a pandas frame the index of another one of as many rows; leave the rest as it is."""
    table = read_table(like)
    if not table.is_array and table.source.implementation.is_pandas_like():
        frame.index = own_index(table.source.to_native().index)
    return frame


def as_frame(numbers: NDArray[Any], names: Sequence[str], like: Any) -> Any:
    """Give an array the container of a user's table: its library and index.

    Shapes: `numbers` (n, len(names)).
    """
    table = read_table(like)
    if table.is_array:
        return numbers
    return with_index_of(_frame(numbers, names, table.source.implementation), table)


def to_container(output: Any, names: Sequence[str], container: str) -> Any:
    """Move an output to the library that `set_output` asks for."""
    if container == "default":
        return output
    if isinstance(output, np.ndarray):
        return _frame(output, names, container)
    frame = nw.from_native(output)
    if frame.implementation.value == container:
        return output
    return frame.to_pandas() if container == "pandas" else frame.to_polars()


def as_categories(frame: Any, sizes: Mapping[str, int], container: str) -> Any:
    """Turn columns of numbers into categories of a chosen container, the numbers below each size.

    Numbers of reports have no order, and models take a column of numbers for a quantity.
    """
    if container == "pandas":
        import pandas as pd

        return frame.assign(
            **{name: pd.Categorical(frame[name], range(size)) for name, size in sizes.items()}
        )
    if container == "polars":
        import polars as pl

        return frame.with_columns(
            pl.col(name).cast(pl.String).cast(pl.Enum([*map(str, range(size))]))
            for name, size in sizes.items()
        )
    return frame


def _frame(array: NDArray[Any], names: Sequence[str], library: Any) -> Any:
    if array.dtype != object:
        return nw.from_numpy(array, schema=list(names), backend=library).to_native()
    # Columns of Python objects: each finds its own dtype.
    columns = {name: array[:, place].tolist() for place, name in enumerate(names)}
    return nw.from_dict(columns, backend=library).to_native()
