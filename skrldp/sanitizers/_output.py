"""The output of a sanitizer: form, column names and container of the reports, and `decode`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import sklearn
from numpy.typing import NDArray

from skrldp._params import check_choice
from skrldp.sanitizers._fitted_state import Fitted
from skrldp.sanitizers._write_reports import (
    CONTAINERS,
    ENCODINGS,
    as_categories,
    as_frame,
    blank_table,
    posterior,
    read_symbols,
    report_names,
    to_container,
    with_index_of,
)
from skrldp.table import column_names

__all__ = ["ReportsMixin", "TableTransformer"]


class TableTransformer:
    """The part of a transformer of tables that is about containers, tags and its own table."""

    _fitted: Any  # a dataclass with `reported_itself`

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit on a table and report the same records: for experiments, not to protect people.

        The mechanism depends on every record that `fit` is given, and that dependence is not
        private. To protect people, call `fit` with public records and `transform` with the private
        ones.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            The table.
        y : ignored
            Not used; present for API consistency. Labels of private records are columns of X: in
            a pipeline, what is given as `y` passes every transformer raw, and no promise covers it.
        **fit_params
            Given to `fit`: ``sample_weight``.

        Returns
        -------
        array or data frame of n rows
            As `transform` returns it.
        """
        column_names(X)  # raises an error if X is not a table at hand
        reports = self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]
        self._fitted = replace(self._fitted, reported_itself=True)
        return reports

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set the container of the output of `transform` and `decode`.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None
            "default" is the container of the input; None changes nothing. It takes precedence over
            scikit-learn's global setting ``transform_output``. In "pandas" and "polars", symbols
            are a category, as models take columns of numbers for quantities.

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
        copy = super().__sklearn_clone__()  # type: ignore[misc]
        return copy.set_output(transform=getattr(self, "_output_container", None))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True  # missing is a category where the public table has it
        tags.transformer_tags.preserves_dtype = []
        return tags


class ReportsMixin(TableTransformer):
    """The part of a sanitizer that writes reports once their symbols are drawn."""

    encode: str | None
    _default_encode: str
    _state: Callable[[], Fitted]

    def decode(self, reports: Any, encode: str = "cells") -> Any:
        """Write reports that were drawn earlier in another form, without drawing again.

        Privacy is as before, since the result is computed from the symbols alone. To call
        `transform` again would make a second report about each person.

        Parameters
        ----------
        reports : array or list of shape (n,) or (n, 1), series, or data frame of one column
            Symbols, from 0 to b − 1: what `transform` returns with ``encode="symbol"``, or what
            clients with this ``mechanism_`` send.
        encode : {"symbol", "onehot", "posterior", "cells"}, default="cells"
            The form to write them in, as in the parameter `encode`.

        Returns
        -------
        array or data frame of n rows
            What `transform` would have returned with this `encode`. It is in the container of
            `reports` (for a series, a data frame), unless `set_output` asks for another.

        Raises
        ------
        NotFittedError
            If the sanitizer has not been fitted.
        ValueError
            If `reports` has more than one column, or a value is not a symbol of ``mechanism_``.

        Examples
        --------
        >>> from skrldp import SRRSanitizer
        >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
        >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[7, 10, 26, 57])
        >>> sanitizer.decode([3, 0])
        array([['yes', 'rare'],
               ['no', 'often']], dtype=object)
        >>> sanitizer.decode([3, 0], encode="onehot")
        array([[0., 0., 0., 1.],
               [1., 0., 0., 0.]])
        """
        fitted = self._state()
        check_choice("encode", encode, ENCODINGS)
        table, symbols = read_symbols(reports, fitted.mechanism.shape[0])
        if encode != "cells":
            return self._emitted(symbols, table, fitted, encode)
        names = self._report_names(fitted, fitted.names, encode)
        written = self._written(symbols, encode, names, blank_table(fitted.codec, table), fitted)
        return to_container(with_index_of(written, table), names, self._container())

    def _emitted(self, symbols: NDArray[Any], X: Any, fitted: Fitted, encode: str) -> Any:
        """Return the reports, given by their symbols, about the rows of X as `transform` does."""
        names = self._report_names(fitted, fitted.names, encode)
        written = self._written(symbols, encode, names, X, fitted)
        written = to_container(written, names, chosen := self._container())
        if encode != "symbol":
            return written
        return as_categories(written, dict.fromkeys(names, fitted.mechanism.shape[0]), chosen)

    def _written(
        self, symbols: NDArray[Any], encode: str, names: Sequence[str], like: Any, fitted: Fitted
    ) -> Any:
        if encode == "cells":
            return fitted.codec.decode(fitted.design.reported_cells[symbols], like=like)
        if encode == "symbol":
            numbers: NDArray[Any] = symbols.astype(np.int64)[:, None]
        elif encode == "onehot":
            numbers = np.zeros((len(symbols), fitted.mechanism.shape[0]))
            numbers[np.arange(len(symbols)), symbols] = 1.0
        else:
            numbers = posterior(fitted.mechanism, fitted.joint, fitted.codec)[symbols]
        return as_frame(numbers, names, like)

    def _encoding(self) -> str:
        if self.encode is None:
            return self._default_encode
        check_choice("encode", self.encode, ENCODINGS)
        return self.encode

    # -- scikit-learn's conventions ---------------------------------------------------------------

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of `transform`'s output.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names seen in `fit`, if the table had names; otherwise the names to use.

        Returns
        -------
        ndarray of str objects
        """
        fitted = self._state()
        seen, n_columns = fitted.names, len(fitted.codec.columns)
        names: Any = seen
        if input_features is not None:
            names = np.asarray(input_features, dtype=object)
        if names is not None and len(names) != n_columns:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({n_columns}), got {len(names)}"
            )
        if seen is not None and not np.array_equal(seen, names):
            raise ValueError("input_features is not equal to feature_names_in_")
        return np.array(self._report_names(fitted, names, self._encoding()), dtype=object)

    def _report_names(
        self, fitted: Fitted, columns: Sequence[Any] | None, encode: str
    ) -> list[str]:
        if columns is None:
            columns = [f"x{place}" for place in range(len(fitted.codec.columns))]
        return report_names(encode, fitted.codec, fitted.mechanism.shape[0], columns)
