"""How reports leave a sanitizer: which numbers or categories, and in which container."""

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism
from skrldp.table import CellCodec

__all__ = [
    "CONTAINERS",
    "ENCODINGS",
    "as_frame",
    "posterior",
    "report_names",
    "to_container",
]

ENCODINGS = ("symbol", "onehot", "posterior", "cells")
CONTAINERS = ("default", "pandas", "polars")

_MAX_WORK = 2e9  # multiplications for a table of posteriors: some seconds


def report_names(
    encode: str, codec: CellCodec, n_symbols: int, columns: Sequence[Any]
) -> list[str]:
    """Names of the columns that hold the reports.

    Parameters
    ----------
    encode : {"symbol", "onehot", "posterior", "cells"}
        The output form.
    codec : CellCodec
        The table's alphabets.
    n_symbols : int
        Number of symbols b.
    columns : sequence of str
        Names of the table's columns.

    Returns
    -------
    list of str
    """
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
    """Probability of each category of each column given each report, at the public law.

    Parameters
    ----------
    mechanism : Mechanism
        On the cells of ``joint``.
    joint : JointDistribution
        The public law.
    codec : CellCodec
        The table's alphabets.

    Returns
    -------
    array of shape (b, total number of categories)
        Columns in the table's order, categories in the alphabet's. A report that has probability
        0 at the public law gets the marginal law.

    Raises
    ------
    ValueError
        If the alphabets are too large for such a table.
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
    law = joint.probabilities
    by_secret = mechanism.report_law(law)  # P̂(y, s)
    parts = []
    for position, column in enumerate(codec.columns):
        category = codec.marginal(position).reshape(law.shape)
        share = np.empty((n_symbols, len(column.categories)))  # P̂(y, category)
        for place in range(share.shape[1]):
            if position in codec.sensitive:
                share[:, place] = by_secret[:, category[:, 0] == place].sum(axis=1)
            else:
                of_category = np.where(category == place, law, 0.0)
                share[:, place] = mechanism.report_law(of_category).sum(axis=1)
        total = share.sum(axis=1, keepdims=True)
        marginal = np.bincount(category.ravel(), law.ravel(), minlength=share.shape[1])
        parts.append(np.where(total > 0, share / np.where(total > 0, total, 1.0), marginal))
    return np.hstack(parts)


def as_frame(numbers: NDArray[Any], names: Sequence[str], like: Any) -> Any:
    """Give an array the container of a user's table: its library and index.

    Parameters
    ----------
    numbers : array of shape (n, len(names))
        What to emit.
    names : sequence of str
        Column names.
    like : array, list of rows, or data frame of n rows
        The user's table.

    Returns
    -------
    array or data frame
    """
    table = nw.from_native(like, pass_through=True)
    if not isinstance(table, nw.DataFrame):
        return numbers
    frame = _frame(numbers, names, table.implementation)
    if table.implementation.is_pandas_like():
        frame.index = like.index
    return frame


def to_container(output: Any, names: Sequence[str], container: str) -> Any:
    """Move an output to the library that `set_output` asks for.

    Parameters
    ----------
    output : array or data frame
        What would be emitted by default.
    names : sequence of str
        Column names, for an array.
    container : {"default", "pandas", "polars"}
        The library; "default" leaves the output as it is.

    Returns
    -------
    array or data frame
    """
    if container == "default":
        return output
    if isinstance(output, np.ndarray):
        return _frame(output, names, container)
    frame = nw.from_native(output)
    if frame.implementation.value == container:
        return output
    return frame.to_pandas() if container == "pandas" else frame.to_polars()


def _frame(array: NDArray[Any], names: Sequence[str], library: Any) -> Any:
    if array.dtype != object:
        return nw.from_numpy(array, schema=list(names), backend=library).to_native()
    # Columns of Python objects: each finds its own dtype.
    columns = {name: array[:, place].tolist() for place, name in enumerate(names)}
    return nw.from_dict(columns, backend=library).to_native()
