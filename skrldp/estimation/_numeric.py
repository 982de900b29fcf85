"""Mean, variance and quantiles of a column of numbers."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skrldp._typing import Floats
from skrldp.alphabet import CellGroups, group_cells, group_records, numbers_of_cells
from skrldp.estimation._drift import set_around
from skrldp.estimation._fit import Fit, least_squares
from skrldp.estimation.channels import MOST_DENSE, Channel
from skrldp.estimation.figures import (
    Figures,
    LeastSquaresRanges,
    NumberRanges,
    NumericEstimate,
    Ranges,
    Scaled,
    average,
    figures_of,
    mean,
    quantile,
    scores_for,
    variance,
)
from skrldp.estimation.reports import Source
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism

__all__ = ["NumericSummaries"]


class NumericSummaries:
    """Means, variances and quantiles of a fitted estimator's columns."""

    mechanism_: Mechanism
    counts_: NDArray[np.int64]
    n_reports_: int
    _fit: Fit
    _channel: Channel
    _source: Source

    def mean(self, column: Any, *, by: Any = None) -> Any:
        """Estimate the mean of a column of numbers.

        Parameters
        ----------
        column : name or position
            A column of the table. Records where it is missing are left out.
        by : name, position or list of them, optional
            Columns that make groups of records: the mean of each group is estimated.

        Returns
        -------
        NumericEstimate, or Figures for groups
            It may be identifiable where the column's distribution is not. By least squares, where
            the reports do not determine it and the estimator was made with the fitted sanitizer,
            it is the :meth:`bounded_mean` over the sanitizer's set: its `bias` is then not 0,
            and `within` states the set.

        Raises
        ------
        ValueError
            If there is no such column, or it is not numeric.
        """
        group = self._asked(column)
        numbers, present = numbers_of_cells(group)
        if by is not None:
            groups = group_records(self.mechanism_, by, group)
            each = [self._with_ranges(numbers, present * own) for own in groups.indicators]
            what = f"mean of {group.name[0]!r}"
            return figures_of(what, groups, None, each, self.n_reports_, self._fit.covariance)
        found = self._with_ranges(numbers, present)
        bounded = self._fit.unbiased and self._source.joint is not None
        if bounded and np.isnan(found.value) and self._channel.has_matrix and present.all():
            return self.bounded_mean(column)
        return found

    def bounded_mean(
        self, column: Any, within: Any = None, *, joint: JointDistribution | None = None
    ) -> NumericEstimate:
        r"""Estimate the mean of a column with a bias that is bounded over a set of distributions.

        Such an estimate always exists, also where the reports do not determine the mean or where
        an unbiased estimate has a large error. It is the average of scores of the reports. The
        scores are chosen for a short interval at the public distribution, and the bias is bounded
        at every distribution of the set. `RobustMSESanitizer` reports numbers that are close to
        the column's, so its scores are close to the reports themselves.

        Parameters
        ----------
        column : name or position
            A column of numbers, without missing values.
        within : RenyiBall, LikelihoodRatioSet, AllDistributions or FittedSet, optional
            The set. A `RenyiBall` is a set of joint distributions. A `LikelihoodRatioSet` says
            nothing about P(S), and the bound is then the one for the worst secret, which is often
            much greater. None is the sanitizer's ``utility_uncertainty_`` if it has one, such as
            `RobustMSESanitizer`, and else its ``uncertainty_``.
        joint : JointDistribution, optional
            The public distribution that the set is around; the sanitizer's if None.

        Returns
        -------
        NumericEstimate
            With ``value``, ``std_error``, ``bias`` and ``within``. If the population is in the
            set, its intervals contain the mean with at least the probability that they state,
            as far as the average is normal.

        Raises
        ------
        ValueError
            If there is no such column, it is not numeric or has missing values, the set or the
            public distribution is not known, or there are too many cells.

        Examples
        --------
        >>> import numpy as np
        >>> from skrldp import FrequencyEstimator, RobustMSESanitizer
        >>> cells = [[group, stars] for group in ("a", "b") for stars in (1, 2, 3, 4, 5)]
        >>> counts = [100, 200, 900, 900, 700, 500, 400, 700, 200, 100]
        >>> sanitizer = RobustMSESanitizer(eps=0.5, sensitive=0, random_state=0)
        >>> _ = sanitizer.fit(cells, sample_weight=counts)
        >>> reports = sanitizer.transform(np.repeat(np.array(cells, object), counts, axis=0))
        >>> estimator = FrequencyEstimator(sanitizer, encode="cells").fit(reports)
        >>> low, high = estimator.bounded_mean(1).confidence_interval()
        >>> bool(low < 15_000 / 4_700 < high), bool(high - low < 0.4)    # the mean is 3.19
        (True, True)
        """
        group = self._asked(column)
        numbers, present = numbers_of_cells(group)
        if not present.all():
            raise ValueError(
                f"column {group.name[0]!r} has missing values: the mean over the other records is "
                "a ratio, whose bias is not bounded here. Give the missing values a number."
            )
        if not self._channel.has_matrix:
            raise ValueError(
                f"a bounded mean works up to {MOST_DENSE:,} cells, but the mechanism has "
                f"{self._channel.n_cells:,}."
            )
        chosen = self._source.utility_uncertainty if within is None else within
        around, joint = set_around(self._source, chosen, joint)
        channel = self._channel
        n = float(self.counts_.sum())
        scores = scores_for(channel.dense(), numbers, around, joint, n)
        shares = self.counts_ / n
        report = channel.positive(channel.forward(self._fit.likely))
        value, error = average(scores, shares, report, n)
        return NumericEstimate(value, error, scores.bias, around.describe())

    def variance(self, column: Any) -> NumericEstimate:
        """Estimate the variance of a column of numbers.

        Parameters
        ----------
        column : name or position
            A column of the table. Records where it is missing are left out.

        Returns
        -------
        NumericEstimate
            Its bias is of the order of 1/n: the squared standard error of the mean is not added.

        Raises
        ------
        ValueError
            If there is no such column, or it is not numeric.
        """
        return self._with_ranges(*numbers_of_cells(self._asked(column)), squared=True)

    def quantile(
        self, column: Any, q: float, *, order: Sequence[Any] | None = None, by: Any = None
    ) -> Any:
        """Estimate a quantile: the least number or category t that a share q do not exceed.

        Parameters
        ----------
        column : name or position
            A column of the table. Records where it is missing are left out.
        q : float
            Between 0 and 1; 0.5 for the median.
        order : sequence, optional
            The column's categories from least to greatest, for ordered categories that are no
            numbers, such as ``table["size"].cat.categories``.
        by : name, position or list of them, optional
            Columns that make groups of records: the quantile of each group is estimated.

        Returns
        -------
        NumericEstimate, or Figures for groups
            One of the column's numbers or categories, with an interval between two of them. With
            few values the interval holds more often than its level: the true quantile t is missed
            only if the reports deny that F(t) reaches q, or that F was below q before t. Each is
            denied wrongly in at most half of 1 - level, and hardly ever where F jumps far over q.

        Raises
        ------
        ValueError
            If there is no such column, it is not numeric and has no `order`, the order lacks a
            category, or q is not between 0 and 1.
        """
        group, fit = self._asked(column), self._fit
        if by is None:
            return quantile(group, fit.spread, q, order, fit.region)
        groups = group_records(self.mechanism_, by, group)
        each = [quantile(group, fit.spread, q, order, fit.region, own) for own in groups.indicators]
        what = f"quantile {q:g} of {group.name[0]!r}"
        return figures_of(what, groups, None, each, self.n_reports_, None)

    def distribution_function(self, column: Any, *, by: Any = None) -> Figures:
        """Estimate the share of the records whose number is at most t, for each number t.

        Parameters
        ----------
        column : name or position
            A column of numbers. Records where it is missing are left out.
        by : name, position or list of them, optional
            Columns that make groups of records: the shares are those within each group.

        Returns
        -------
        Figures
            With a label for each group and number; the share of the greatest is 1.

        Raises
        ------
        ValueError
            If there is no such column, or it is not numeric.
        """
        group = self._asked(column)
        numbers, present = numbers_of_cells(group)
        steps = tuple(one for one in sorted(x for x in group.categories if x is not None))
        at_most = CellGroups(group.name, steps, np.searchsorted(steps, numbers))
        of = [present]
        groups = None
        if by is not None:
            groups = group_records(self.mechanism_, by, group)
            of = [present * own for own in groups.indicators]
        each = [self._with_ranges((numbers <= t) * 1.0, own) for own in of for t in steps]
        what = f"distribution function of {group.name[0]!r}"
        first, rest = (at_most, None) if groups is None else (groups, at_most)
        return figures_of(what, first, rest, each, self.n_reports_, self._fit.covariance)

    def _asked(self, column: Any) -> CellGroups:
        check_is_fitted(self)
        return group_cells(self.mechanism_, [column], "all")

    def _with_ranges(
        self, numbers: Floats, present: Floats, *, squared: bool = False
    ) -> NumericEstimate:
        """Mean or variance of a number, with what the reports say about it."""
        fit, estimate = self._fit, variance if squared else mean
        found = replace(estimate(numbers, present, fit.evaluate), _fit=fit)
        if found._linear is None:
            return found
        given = present > 0
        least, unit = float(numbers[given].min()), float(np.ptp(numbers[given]))
        if unit == 0.0:
            return found
        shares = given * (numbers - least) / unit
        if squared:  # at most a quarter of the squared range
            least, unit = 0.0, unit**2 / 4.0
        value, error = (found.value - least) / unit, found.std_error / unit
        own = np.array([value])
        ranges: Ranges
        if fit.unbiased:
            ranges = LeastSquaresRanges(fit, own, function=found._linear / unit + value)
        else:
            squares = partial(least_squares, self._channel, self.counts_.astype(float), fit.likely)
            errors = np.array([error])
            ranges = NumberRanges(fit.region, own, errors, squares, shares, given, squared)
        return replace(found, _scaled=Scaled(least, unit, ranges))
