"""Conversion of symbols to the reports of a table, in its container, and back: `decode`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import TransformerTags

from skrldp._arrays import refuse_masked
from skrldp._frames import own_index
from skrldp._params import check_choice
from skrldp.joint import JointDistribution
from skrldp.mechanism.mechanism import Mechanism
from skrldp.table.codec import CellCodec
from skrldp.table.read import read_table
from skrldp.table.select import column_names, whole_numbers

ENCODINGS = ("symbol", "onehot", "posterior", "cells")
CONTAINERS = ("default", "pandas", "polars")

_MAX_WORK = 2e9  # maximum multiplications for a table of posteriors: a few seconds


def posterior(mechanism: Mechanism, joint: JointDistribution, codec: CellCodec) -> NDArray[Any]:
    """Probability of each category of each column given each report, at the public distribution.

    Returns (b, total number of categories): columns in the table's order, categories in the
    alphabet's. Reports with probability 0 at the public distribution get the marginal distribution.
    Raises ValueError if the alphabets are too large for such a table.
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
    shares = []
    for position, column in enumerate(codec.columns):
        category = codec.marginal(position).reshape(distribution.shape)
        share = np.empty((n_symbols, len(column.categories)))  # P̂(y, category)
        for index in range(share.shape[1]):
            if position in codec.sensitive:
                share[:, index] = by_secret[:, category[:, 0] == index].sum(axis=1)
            else:
                of_category = np.where(category == index, distribution, 0.0)
                share[:, index] = mechanism.report_distribution(of_category).sum(axis=1)
        total = share.sum(axis=1, keepdims=True)
        marginal = np.bincount(category.ravel(), distribution.ravel(), minlength=share.shape[1])
        shares.append(np.where(total > 0, share / np.where(total > 0, total, 1.0), marginal))
    return np.hstack(shares)


def read_symbols(reports: Any, n_symbols: int) -> tuple[Any, NDArray[Any]]:
    """Read the symbols of reports.

    Shapes: `reports` (n,); returns `symbols` (n,). Returns `table`: the reports; a frame for a
    series. Raises ValueError if there is more than one column, or a value is not a symbol.
    """
    reports = as_table(reports)
    table = read_table(reports)
    if len(table.names) != 1:
        raise ValueError(
            f"reports has {len(table.names)} columns, but symbols are a single column of integers: "
            "pass the output of transform with encode='symbol', or the reports of clients."
        )
    symbols = whole_numbers(table, 0, n_symbols)
    if (symbols < 0).any():
        raise ValueError(
            f"{int((symbols < 0).sum()):,} of {table.n_rows:,} reports are not symbols of this "
            f"mechanism, 0 to {n_symbols - 1} (the first in row {int(np.argmax(symbols < 0))}; "
            "values are not shown). Pass reports of this mechanism."
        )
    return reports, symbols


def as_table(reports: Any) -> Any:
    """Make a table of one column from one-dimensional reports; leave tables unchanged."""
    series = nw.from_native(reports, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series):
        return series.to_frame().to_native()
    if isinstance(reports, list | tuple | range | np.ndarray):
        refuse_masked(reports, "reports")
        array = np.asarray(reports)
        if array.ndim == 1:
            if array.dtype.kind in "US":  # numpy may have converted a list's numbers to strings
                array = np.asarray(reports, dtype=object)
            return array[:, None]
    return reports


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
    """Dtype of an array of all categories: numeric if all are numbers, otherwise object."""
    values = np.array([value for column in codec.columns for value in column.categories])
    return values.dtype if values.dtype.kind in "iuf" else np.dtype(object)


def with_index_of(frame: Any, like: Any) -> Any:
    """Set the index of a pandas frame to that of a table with the same number of rows."""
    table = read_table(like)
    if not table.is_array and table.source.implementation.is_pandas_like():
        frame.index = own_index(table.source.to_native().index)
    return frame


def as_frame(numbers: NDArray[Any], names: Sequence[str], like: Any) -> Any:
    """Convert an array to the container of a user's table, with its library and index.

    Shapes: `numbers` (n, len(names)).
    """
    table = read_table(like)
    if table.is_array:
        return numbers
    return with_index_of(_frame(numbers, names, table.source.implementation), table)


def to_container(output: Any, names: Sequence[str], container: str) -> Any:
    """Convert an output to the library that `set_output` specifies."""
    if container == "default":
        return output
    if isinstance(output, np.ndarray):
        return _frame(output, names, container)
    frame = nw.from_native(output)
    if frame.implementation.value == container:
        return output
    return frame.to_pandas() if container == "pandas" else frame.to_polars()


def as_categories(frame: Any, sizes: Mapping[str, int], container: str) -> Any:
    """Convert columns of integers to categoricals of a chosen container, with the given sizes.

    Indices of reports have no order, but models treat a column of numbers as a quantity.
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
    # Columns of Python objects: the dtype of each is inferred.
    columns = {name: array[:, index].tolist() for index, name in enumerate(names)}
    return nw.from_dict(columns, backend=library).to_native()


# --- The output of a sanitizer --------------------------------------------------------------------


class TableTransformer(BaseEstimator):
    """The methods of a transformer for containers, tags and the table of its fit.

    It is not a TransformerMixin, which would convert frames to arrays and back, and so lose dtypes
    and the order of categories.
    """

    _fitted: Any  # a dataclass with `reported_itself`

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit on a table and report the same records, for experiments, not to protect people.

        The mechanism depends on every record passed to `fit`, and this dependence is not private.
        To protect people, call `fit` with public records and `transform` with the private ones.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            The table.
        y : ignored
            Not used; present for API consistency. Labels of private records are columns of X,
            because `y` passes unchanged through a pipeline's transformers, and the guarantee does
            not cover it.
        **fit_params
            Passed to `fit`: ``sample_weight``.

        Returns
        -------
        array or data frame of n rows
            As returned by `transform`.
        """
        column_names(X)  # raises an error if X is not a table in memory
        reports = self.fit(X, y, **fit_params).transform(X)
        self._fitted = replace(self._fitted, reported_itself=True)
        return reports

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set the container of the output of `transform` and `decode`.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None
            "default" is the container of the input; None changes nothing. It takes precedence over
            scikit-learn's global setting ``transform_output``. In "pandas" and "polars", symbols
            are categoricals, because models treat columns of numbers as quantities.

        Returns
        -------
        self
        """
        if transform is not None:
            check_choice("transform", transform, CONTAINERS)
            self._output_container = transform
        return self

    def _container(self) -> str:
        chosen: str | None = getattr(self, "_output_container", None)
        return sklearn.get_config()["transform_output"] if chosen is None else chosen

    def __sklearn_clone__(self) -> Any:
        copy = super().__sklearn_clone__()
        return copy.set_output(transform=getattr(self, "_output_container", None))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True  # missing is a category if the public table contains it
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        return tags
