"""Frequencies of a fitted estimator's cells and columns, with errors, intervals and bounds."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skrldp._typing import Floats
from skrldp.alphabet import CellGroups, group_cells, group_records
from skrldp.estimation._fit import Fit, least_squares
from skrldp.estimation.channels import MOST_DENSE, Channel
from skrldp.estimation.figures import (
    CategoryRanges,
    Estimate,
    Figures,
    LeastSquaresRanges,
    Linear,
    NumericEstimate,
    figures_of,
    intervals,
)
from skrldp.mechanism import Mechanism

__all__ = ["CategorySummaries"]

_MOST_COVARIANCE = 25_000_000  # categories by cells: some hundred megabytes


class CategorySummaries:
    """Frequencies of a fitted estimator's cells and columns."""

    mechanism_: Mechanism
    frequencies_: Floats
    std_error_: Floats
    n_reports_: int
    identifiable_: NDArray[np.bool_]
    counts_: NDArray[np.int64]
    _channel: Channel
    _fit: Fit
    _with_ranges: Callable[..., NumericEstimate]

    def confidence_interval(
        self, level: float = 0.95, *, simultaneous: bool = False, method: str = "auto"
    ) -> Floats:
        """Confidence intervals of the probabilities of the cells.

        Parameters
        ----------
        level : float, default=0.95
            Probability that an interval contains the true probability.
        simultaneous : bool, default=False
            Whether `level` is the probability that all intervals do so at once (by Šidák's bound,
            so the true probability is somewhat higher).
        method : {"auto", "likelihood-ratio", "score", "wald"}, default="auto"
            "likelihood-ratio" needs maximum likelihood: an interval has all probabilities that some
            distribution gives whose log-likelihood is at most half a χ² quantile below the
            greatest (of a somewhat larger quantile for an end that is reached by a distribution
            with zeros, or that few reports decide on). It exists for every cell. Where the cell is
            not identifiable it is the range of :meth:`bounds` widened by the sampling error.
            "score" is, for least squares, Wilson's interval with the noise of the reports: all
            probabilities that the estimate is not too far from, in standard errors at that
            probability. For maximum likelihood it is Wald's interval of least squares cut off at 0
            and 1, or Wilson's of a share with the same standard error where that is much shorter;
            where neither has an error, all from 0 to 1. "wald" is the estimate plus and minus a
            multiple of its standard error. "auto" is the score for least squares; for maximum
            likelihood it is the likelihood ratio up to 250 cells (more for few categories), and the
            score beyond.

        Returns
        -------
        array of shape (a1, a2, 2)
            Within 0 and 1, and NaN where least squares cannot determine the probability. Wald's are
            not cut off, and NaN where there is no standard error.

        Raises
        ------
        ValueError
            If the level is not between 0 and 1, or there is no such method.
        """
        check_is_fitted(self)
        frequencies, errors = self.frequencies_.ravel(), self.std_error_.ravel()
        labels = np.arange(len(frequencies))
        ranges = self._ranges(labels, frequencies, errors, self.identifiable_.ravel())
        found = intervals(frequencies, errors, ranges, level, simultaneous, method)
        return found.reshape(*self.frequencies_.shape, 2)

    def marginal(self, columns: Any = None, *, part: str = "all", by: Any = None) -> Any:
        """Estimate the distribution of some columns.

        Parameters
        ----------
        columns : name, position, list of them, or None
            Columns of the table; None for a part of the record.
        part : {"all", "sensitive", "nonsensitive"}, default="all"
            The part: X, S or U.
        by : name, position or list of them, optional
            Columns that make groups of records: the distribution within each group is estimated.

        Returns
        -------
        Estimate, or Figures for groups
            Estimate for all combinations of the columns' categories that occur in cells. A marginal
            can be identifiable where the cells are not.

        Raises
        ------
        ValueError
            If the mechanism has no such columns.
        """
        check_is_fitted(self)
        group = group_cells(self.mechanism_, columns, part)
        if by is not None:
            return self._shares_by(group, by)
        values, errors, known = self._by_category(group)
        return Estimate(
            group.name,
            group.categories,
            values,
            errors,
            known,
            self.n_reports_,
            self._ranges(group.labels, values, errors, known),
            partial(_as_functions, group, self._fit),
        )

    def _shares_by(self, group: CellGroups, by: Any) -> Figures:
        """Shares of categories within groups: means of their indicators."""
        groups = group_records(self.mechanism_, by, group)
        _check_size(len(group.categories) * len(groups.categories), self._channel)
        shares = group.indicators
        each = [self._with_ranges(share, cells) for cells in groups.indicators for share in shares]
        return figures_of("share", groups, group, each, self.n_reports_, self._fit.covariance)

    def covariance(self, columns: Any = None, *, part: str = "all") -> Floats:
        """Covariance matrix of the estimates of :meth:`marginal`.

        Parameters
        ----------
        columns, part : optional
            As in :meth:`marginal`.

        Returns
        -------
        array of shape (k, k)
            NaN where a category has no standard error.

        Raises
        ------
        ValueError
            If the mechanism has no such columns, or there are too many categories.
        """
        check_is_fitted(self)
        group = group_cells(self.mechanism_, columns, part)
        _check_size(len(group.categories), self._channel)
        return self._fit.covariance(group.indicators)

    def bounds(self, columns: Any = None, *, part: str = "all") -> Floats:
        """Least and greatest frequencies over all distributions with the same likelihood.

        If frequencies are not identifiable, :meth:`marginal` gives one of many distributions of
        maximal likelihood, and this method gives their range. More reports do not narrow it.

        Parameters
        ----------
        columns, part : optional
            As in :meth:`marginal`.

        Returns
        -------
        array of shape (k, 2)
            Both are the estimate if that is identifiable. Sampling error is not included:
            intervals by the likelihood ratio are these bounds widened by it. With `restrict_to`,
            over the distributions of the set whose log-likelihood is within 0.0001 nats of the
            greatest.

        Raises
        ------
        ValueError
            If the mechanism has no such columns, or the method is not "ml".
        """
        check_is_fitted(self)
        if self._fit.region is None:
            raise ValueError(
                "bounds are over distributions that explain the reports, which least squares does "
                f"not find: use method='ml' (and at most {MOST_DENSE:,} cells)."
            )
        group = group_cells(self.mechanism_, columns, part)
        values, errors, known = self._by_category(group)
        ranges = self._ranges(group.labels, values, errors, known)
        assert isinstance(ranges, CategoryRanges)
        return ranges.bounds(len(values))

    def _free_errors(self, columns: Any) -> Floats:
        """Errors of the estimates of :meth:`marginal`, however many reports they rest on."""
        group = group_cells(self.mechanism_, columns, "all")
        errors = np.empty(len(group.categories))
        for rows, functions in self._channel.indicators(group.labels, len(errors)):
            errors[rows] = self._fit.spread(functions)[1]
        return errors

    def _by_category(self, group: CellGroups) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        return self._fit.of_labels(group.labels, len(group.categories))

    def _ranges(
        self,
        labels: NDArray[np.intp],
        values: Floats,
        errors: Floats,
        known: NDArray[np.bool_],
    ) -> CategoryRanges | LeastSquaresRanges:
        fit = self._fit
        if fit.unbiased:
            return LeastSquaresRanges(fit, values, labels)
        squares = partial(least_squares, self._channel, self.counts_.astype(float), fit.likely)
        return CategoryRanges(fit.region, values, errors, squares, labels, known, self._channel)


def _as_functions(group: CellGroups, fit: Fit) -> Linear:
    """Write the shares of categories as functions of the cells."""
    _check_size(len(group.categories), fit.channel)
    return Linear(fit, group.indicators)


def _check_size(k: int, channel: Channel) -> None:
    if k * channel.n_cells > _MOST_COVARIANCE:
        raise ValueError(f"the covariance of {k:,} categories is too large; take fewer columns.")
