"""Mean, variance and quantiles of a column of numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skrldp._params import is_finite
from skrldp._typing import Floats
from skrldp.aggregate._bounded_mean import average, half_width, scores_for
from skrldp.aggregate._channels import Channel, DenseChannel
from skrldp.aggregate._checks import MOST_DENSE
from skrldp.aggregate._drift import set_around
from skrldp.aggregate._fit import Fit
from skrldp.aggregate._intervals import critical_value
from skrldp.aggregate._source import Source
from skrldp.alphabet import CellGroups, group_cells, numbers_of_cells
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism

__all__ = ["NumericEstimate", "NumericSummaries", "mean", "quantile", "variance"]

# Estimates and standard errors of linear functions (m, a) of the distribution: NaN where not
# determined.
Evaluate = Callable[[Floats], tuple[Floats, Floats]]

_ROUNDING = 1e-12  # a share this close to q counts as equal to it


@dataclass(frozen=True, eq=False)
class NumericEstimate:
    """An estimated number about a column: its mean, variance or a quantile.

    Attributes
    ----------
    value : float
        The estimate; NaN if least squares cannot determine it from the reports, or if no record
        has a number. A category if it is a quantile of ordered categories.
    std_error : float
        Its standard error (of a quantile, Woodruff's: the 95 % interval's length over 2 · 1.96);
        NaN if the reports do not determine it, and for ordered categories.
    bias : float
        Bound on the bias of the estimate over the distributions of `within`; 0 for an estimate
        that assumes no set. Intervals include it.
    within : str
        The set of distributions that the bound on the bias holds for, in words; empty for an
        estimate that assumes none.
    """

    value: Any
    std_error: float
    bias: float = 0.0
    within: str = ""
    _band: tuple[Floats, Floats, Floats] | None = field(default=None, repr=False)
    _order: tuple[Any, ...] | None = field(default=None, repr=False)

    def confidence_interval(self, level: float = 0.95) -> NDArray[Any]:
        """Interval that contains the true number with a given probability.

        Parameters
        ----------
        level : float, default=0.95
            That probability.

        Returns
        -------
        array of shape (2,)
            NaN if the reports do not determine the number. For ordered categories, the two end
            categories.

        Raises
        ------
        ValueError
            If the level is not between 0 and 1.
        """
        z = critical_value(level)
        if self.within:
            half = half_width(self.bias, self.std_error, level)
            return np.array([self.value - half, self.value + half])
        if self._band is None:
            return np.array([self.value - z * self.std_error, self.value + z * self.std_error])
        ends = _inverted(*self._band, z)
        if self._order is None:
            return ends
        return np.array([_category(end, self._order) for end in ends], dtype=object)


def _category(rank: float, order: tuple[Any, ...]) -> Any:
    return np.nan if np.isnan(rank) else order[int(rank)]


def _share(present: Floats, evaluate: Evaluate) -> float:
    """Share of records that have a number: exactly 1 if there is no category for missing values."""
    return 1.0 if present.all() else float(evaluate(present[None])[0][0])


def mean(group: CellGroups, evaluate: Evaluate) -> NumericEstimate:
    """Mean of a column over the records that have a number, with an error by the delta method.

    Parameters
    ----------
    group : CellGroups
        The categories of one column.
    evaluate : callable
        Gives estimates and standard errors of linear functions of the distribution.

    Returns
    -------
    NumericEstimate
    """
    numbers, present = numbers_of_cells(group)
    share = _share(present, evaluate)
    if share == 0.0:
        return NumericEstimate(np.nan, np.nan)
    origin = float(numbers[present > 0].mean())
    value = origin + float(evaluate(((numbers - origin) * present)[None])[0][0]) / share
    error = evaluate(((numbers - value) * present / share)[None])[1][0]
    return NumericEstimate(value, float(error))


def variance(group: CellGroups, evaluate: Evaluate) -> NumericEstimate:
    """Variance of a column over the records with a number, with an error by the delta method.

    Parameters
    ----------
    group : CellGroups
        The categories of one column.
    evaluate : callable
        Gives estimates and standard errors of linear functions of the distribution.

    Returns
    -------
    NumericEstimate
    """
    numbers, present = numbers_of_cells(group)
    centre, share = mean(group, evaluate), _share(present, evaluate)
    if share == 0.0:
        return centre
    squares = (numbers - centre.value) ** 2
    value = float(evaluate((squares * present)[None])[0][0]) / share
    error = evaluate(((squares - value) * present / share)[None])[1][0]
    return NumericEstimate(value, float(error + 0.0 * centre.std_error))  # NaN if the mean's is


def _ranked(group: CellGroups, order: Sequence[Any]) -> tuple[CellGroups, tuple[Any, ...]]:
    """Put ranks in place of categories."""
    names = tuple(order)
    lacks = [c for c in group.categories if c is not None and c not in names]
    if isinstance(order, str) or lacks or len(set(names)) < len(names) or None in names:
        raise ValueError(
            f"order={order!r} must list the categories of column {group.name[0]!r} from least to "
            f"greatest, each once: {[c for c in group.categories if c is not None]}."
        )
    ranks = tuple(None if c is None else names.index(c) for c in group.categories)
    return CellGroups(group.name, ranks, group.labels), names


def quantile(
    group: CellGroups, evaluate: Evaluate, q: Any, order: Sequence[Any] | None = None
) -> NumericEstimate:
    """Quantile of a column over the records that have a number: the least t with F(t) >= q.

    The interval holds the numbers t that the reports do not contradict: they do not show that F(t)
    < q, nor that F already reached q before t (Woodruff 1952). This needs no density, so it is
    valid for few categories too.

    Parameters
    ----------
    group : CellGroups
        The categories of one column.
    evaluate : callable
        Gives estimates and standard errors of linear functions of the distribution, which may be
        too large.
    q : float
        Between 0 and 1.
    order : sequence, optional
        The categories from least to greatest, if they are no numbers.

    Returns
    -------
    NumericEstimate
    """
    if not (is_finite(q) and 0.0 < q < 1.0):
        raise ValueError(f"q={q!r} must be a number between 0 and 1.")
    names = None
    if order is not None:
        group, names = _ranked(group, order)
    numbers, present = numbers_of_cells(group)
    steps = np.unique(numbers[present > 0])
    below = numbers[None, :] <= steps[:-1, None]  # at the last number, F is exactly 1
    excess, errors = evaluate((below - float(q)) * present)
    reached = np.append(excess >= -_ROUNDING, True)
    value = np.nan if np.isnan(excess).any() else float(steps[np.argmax(reached)])
    band = steps, excess, errors
    if names is not None:
        return NumericEstimate(_category(value, names), np.nan, _band=band, _order=names)
    z = critical_value(0.95)
    lower, upper = _inverted(*band, z)
    return NumericEstimate(value, float(upper - lower) / (2.0 * z), _band=band)


def _inverted(steps: Floats, excess: Floats, errors: Floats, z: float) -> Floats:
    """Range of the numbers that an estimate of F(number) − q, with its errors, allows."""
    if np.isnan(errors).any():
        return np.full(2, np.nan)
    not_before = np.append(True, excess - z * errors < _ROUNDING)
    not_after = np.append(excess + z * errors >= -_ROUNDING, True)
    allowed = steps[not_before & not_after]
    return np.array([allowed.min(), allowed.max()])


class NumericSummaries:
    """Means, variances and quantiles of a fitted estimator's columns."""

    mechanism_: Mechanism
    counts_: NDArray[np.int64]
    _fit: Fit
    _channel: Channel
    _source: Source

    def mean(self, column: Any) -> NumericEstimate:
        """Estimate the mean of a column of numbers.

        Parameters
        ----------
        column : name or position
            A column of the table. Records where it is missing are left out.

        Returns
        -------
        NumericEstimate
            It may be identifiable where the column's distribution is not. By least squares, where
            the reports do not determine it and the estimator was made with the fitted sanitizer,
            it is the :meth:`bounded_mean` over the sanitizer's set: its `bias` is then not 0,
            and `within` states the set.

        Raises
        ------
        ValueError
            If there is no such column, or it is not numeric.
        """
        group, evaluate = self._asked(column)
        found = mean(group, evaluate)
        bounded = self._fit.unbiased and self._source.joint is not None
        if bounded and np.isnan(found.value) and self._n_dense and numbers_of_cells(group)[1].all():
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
        >>> sanitizer = RobustMSESanitizer(eps=0.5, random_state=0).fit(cells, sample_weight=counts)
        >>> reports = sanitizer.transform(np.repeat(np.array(cells, object), counts, axis=0))
        >>> estimator = FrequencyEstimator(sanitizer, encode="cells").fit(reports)
        >>> low, high = estimator.bounded_mean(1).confidence_interval()
        >>> bool(low < 15_000 / 4_700 < high), bool(high - low < 0.4)    # the mean is 3.19
        (True, True)
        """
        group, _ = self._asked(column)
        numbers, present = numbers_of_cells(group)
        if not present.all():
            raise ValueError(
                f"column {group.name[0]!r} has missing values: the mean over the other records is "
                "a ratio, whose bias is not bounded here. Give the missing values a number."
            )
        if not self._n_dense:
            raise ValueError(
                f"a bounded mean works up to {MOST_DENSE:,} cells, but the mechanism has "
                f"{self._channel.n_cells:,}."
            )
        chosen = self._source.utility_uncertainty if within is None else within
        around, joint = set_around(self._source, chosen, joint)
        channel = self._channel
        if not isinstance(channel, DenseChannel):
            channel = DenseChannel(self.mechanism_.matrix)
        n = float(self.counts_.sum())
        scores = scores_for(channel, numbers, around, joint, n)
        shares = self.counts_ / n
        report = channel.positive(channel.forward(self._fit.likely))
        value, error = average(scores, shares, report, n)
        return NumericEstimate(value, error, scores.bias, around.describe())

    @property
    def _n_dense(self) -> int:
        """Number of cells, if their matrix can be used; else 0."""
        n_cells = self._channel.n_cells
        return n_cells if isinstance(self._channel, DenseChannel) or n_cells <= MOST_DENSE else 0

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
        return variance(*self._asked(column))

    def quantile(
        self, column: Any, q: float, *, order: Sequence[Any] | None = None
    ) -> NumericEstimate:
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

        Returns
        -------
        NumericEstimate
            One of the column's numbers or categories, with an interval between two of them.

        Raises
        ------
        ValueError
            If there is no such column, it is not numeric and has no `order`, the order lacks a
            category, or q is not between 0 and 1.
        """
        group, _ = self._asked(column)
        return quantile(group, self._fit.spread, q, order)

    def _asked(self, column: Any) -> tuple[CellGroups, Evaluate]:
        check_is_fitted(self)
        return group_cells(self.mechanism_, [column], "all"), self._fit.evaluate
