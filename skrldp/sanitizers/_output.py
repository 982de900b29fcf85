"""How reports leave a sanitizer: forms, names, containers, and symbols read back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skrldp._params import check_choice
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism
from skrldp.sanitizers._reports import (
    CONTAINERS,
    ENCODINGS,
    as_frame,
    blank_table,
    posterior,
    read_symbols,
    report_names,
    to_container,
    with_index_of,
)
from skrldp.table import CellCodec

__all__ = ["ReportsMixin"]


class ReportsMixin:
    """The part of a sanitizer that writes reports once their symbols are drawn."""

    encode: str | None
    n_features_in_: int
    joint_: JointDistribution
    mechanism_: Mechanism
    _codec: CellCodec
    _default_encode: str

    def decode(self, reports: Any, encode: str = "cells") -> Any:
        """Write reports that were drawn before in another form. Nothing is drawn.

        The reports keep the promise that they were made under, since they are computed from
        the symbols alone; to call `transform` again would be a second report about each person.

        Parameters
        ----------
        reports : array or list of shape (n,) or (n, 1), series, or data frame of one column
            Symbols, from 0 to b − 1: what `transform` returns with ``encode="symbol"``, or what
            clients with this ``mechanism_`` send.
        encode : {"symbol", "onehot", "posterior", "cells"}, default="cells"
            The form to write them in, as the parameter `encode` has it.

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
            If `reports` has more than one column, or holds anything that is no symbol of
            ``mechanism_``.

        Examples
        --------
        >>> from skrldp import SRRSanitizer
        >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
        >>> sanitizer = SRRSanitizer(eps=1.0).fit(X, sample_weight=[7, 10, 26, 57])
        >>> sanitizer.decode([3, 0])
        array([['yes', 'rare'],
               ['no', 'often']], dtype=object)
        >>> sanitizer.decode([3, 0], encode="onehot")
        array([[0., 0., 0., 1.],
               [1., 0., 0., 0.]])
        """
        check_is_fitted(self)
        check_choice("encode", encode, ENCODINGS)
        table, symbols = read_symbols(reports, self.mechanism_.shape[0])
        if encode == "cells":
            written = self._written(symbols, encode, [], blank_table(self._codec, table))
            written = with_index_of(written, table)
            names = self._report_names(getattr(self, "feature_names_in_", None), encode)
            return to_container(written, names, self._container())
        return self._emitted(symbols, table, encode)

    def _emitted(self, symbols: NDArray[Any], X: Any, encode: str | None = None) -> Any:
        """Return the reports, given by their symbols, about the rows of X as `transform` does."""
        encode = self._encoding() if encode is None else encode
        names = self._report_names(getattr(self, "feature_names_in_", None), encode)
        return to_container(self._written(symbols, encode, names, X), names, self._container())

    def _written(self, symbols: NDArray[Any], encode: str, names: Sequence[str], like: Any) -> Any:
        if encode == "cells":
            return self._codec.decode(self._reported_cells()[symbols], like=like)
        if encode == "symbol":
            numbers: NDArray[Any] = symbols.astype(np.int64)[:, None]
        elif encode == "onehot":
            numbers = np.zeros((len(symbols), self.mechanism_.shape[0]))
            numbers[np.arange(len(symbols)), symbols] = 1.0
        else:
            numbers = posterior(self.mechanism_, self.joint_, self._codec)[symbols]
        return as_frame(numbers, names, like)

    def _reported_cells(self) -> NDArray[Any]:
        """Return the cell that each symbol stands for, an integer array of shape (b,)."""
        return np.arange(self.mechanism_.shape[0])

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
            Must be the names seen in `fit` if there were any; else the names to use.

        Returns
        -------
        ndarray of str objects
        """
        check_is_fitted(self)
        fitted = getattr(self, "feature_names_in_", None)
        names: Any = fitted
        if input_features is not None:
            names = np.asarray(input_features, dtype=object)
        if names is not None and len(names) != self.n_features_in_:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(names)}"
            )
        if fitted is not None and not np.array_equal(fitted, names):
            raise ValueError("input_features is not equal to feature_names_in_")
        return np.array(self._report_names(names, self._encoding()), dtype=object)

    def _report_names(self, columns: Sequence[Any] | None, encode: str) -> list[str]:
        if columns is None:
            columns = [f"x{place}" for place in range(self.n_features_in_)]
        return report_names(encode, self._codec, self.mechanism_.shape[0], columns)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set the container of the output of `transform` and `decode`.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None
            "default" is the container of the input; None changes nothing. It goes before
            scikit-learn's global setting ``transform_output``.

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
