"""Mean, variance and quantiles of a column of numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skrldp._params import is_finite
from skrldp._typing import Floats
from skrldp.aggregate._fit import Fit
from skrldp.aggregate._intervals import critical_value
from skrldp.aggregate._marginals import Grouping, grouping
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
        The estimate; NaN if least squares cannot determine it from the reports. A category if it
        is a quantile of ordered categories.
    std_error : float
        Its standard error (of a quantile, Woodruff's: the 95 % interval's length over 2 · 1.96);
        NaN if the reports do not determine it, and for ordered categories.
    """

    value: Any
    std_error: float
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
        if self._band is None:
            return np.array([self.value - z * self.std_error, self.value + z * self.std_error])
        ends = _inverted(*self._band, z)
        if self._order is None:
            return ends
        return np.array([_category(end, self._order) for end in ends], dtype=object)


def _category(rank: float, order: tuple[Any, ...]) -> Any:
    return np.nan if np.isnan(rank) else order[int(rank)]


def _numbers(group: Grouping) -> tuple[Floats, Floats]:
    """Return each cell's number (0 where it is missing) and whether it has one."""
    numbers = []
    for category in group.categories:
        if category is not None and not isinstance(category, Real):
            raise ValueError(
                f"column {group.name[0]!r} is not numeric: it has the category {category!r}. "
                "(Quantiles of ordered categories need their `order`.)"
            )
        numbers.append(np.nan if category is None else float(category))
    cells = np.array(numbers)[group.labels]
    present = ~np.isnan(cells)
    if not present.any():
        raise ValueError(f"column {group.name[0]!r} has no numbers, only missing values.")
    return np.where(present, cells, 0.0), present.astype(float)


def _share(present: Floats, evaluate: Evaluate) -> float:
    """Share of records that have a number: exactly 1 if there is no category for missing values."""
    return 1.0 if present.all() else float(evaluate(present[None])[0][0])


def mean(group: Grouping, evaluate: Evaluate) -> NumericEstimate:
    """Mean of a column over the records that have a number, with an error by the delta method.

    Parameters
    ----------
    group : Grouping
        The categories of one column.
    evaluate : callable
        Gives estimates and standard errors of linear functions of the distribution.

    Returns
    -------
    NumericEstimate
    """
    numbers, present = _numbers(group)
    share = _share(present, evaluate)
    origin = float(numbers[present > 0].mean())
    value = origin + float(evaluate(((numbers - origin) * present)[None])[0][0]) / share
    error = evaluate(((numbers - value) * present / share)[None])[1][0]
    return NumericEstimate(value, float(error))


def variance(group: Grouping, evaluate: Evaluate) -> NumericEstimate:
    """Variance of a column over the records with a number, with an error by the delta method.

    Parameters
    ----------
    group : Grouping
        The categories of one column.
    evaluate : callable
        Gives estimates and standard errors of linear functions of the distribution.

    Returns
    -------
    NumericEstimate
    """
    numbers, present = _numbers(group)
    centre, share = mean(group, evaluate), _share(present, evaluate)
    squares = (numbers - centre.value) ** 2
    value = float(evaluate((squares * present)[None])[0][0]) / share
    error = evaluate(((squares - value) * present / share)[None])[1][0]
    return NumericEstimate(value, float(error + 0.0 * centre.std_error))  # NaN if the mean's is


def _ranked(group: Grouping, order: Sequence[Any]) -> tuple[Grouping, tuple[Any, ...]]:
    """Put ranks in place of categories."""
    names = tuple(order)
    lacks = [c for c in group.categories if c is not None and c not in names]
    if isinstance(order, str) or lacks or len(set(names)) < len(names) or None in names:
        raise ValueError(
            f"order={order!r} must list the categories of column {group.name[0]!r} from least to "
            f"greatest, each once: {[c for c in group.categories if c is not None]}."
        )
    ranks = tuple(None if c is None else names.index(c) for c in group.categories)
    return Grouping(group.name, ranks, group.labels), names


def quantile(
    group: Grouping, evaluate: Evaluate, q: Any, order: Sequence[Any] | None = None
) -> NumericEstimate:
    """Quantile of a column over the records that have a number: the least t with F(t) >= q.

    The interval holds the numbers t that the reports do not contradict: they do not show that F(t)
    < q, nor that F already reached q before t (Woodruff 1952). This needs no density, so it is
    valid for few categories too.

    Parameters
    ----------
    group : Grouping
        The categories of one column.
    evaluate : callable
        Gives estimates and standard errors of linear functions of the distribution.
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
    numbers, present = _numbers(group)
    steps = np.unique(numbers[present > 0])
    below = numbers[None, :] <= steps[:-1, None]  # at the last number, F is exactly 1
    excess, errors = evaluate((below - float(q)) * present)
    reached = np.append(excess >= -_ROUNDING, True)
    value = np.nan if np.isnan(excess).any() else float(steps[np.argmax(reached)])
    band = steps, excess, errors
    if names is not None:
        return NumericEstimate(_category(value, names), np.nan, band, names)
    z = critical_value(0.95)
    lower, upper = _inverted(*band, z)
    return NumericEstimate(value, float(upper - lower) / (2.0 * z), band)


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
    _fit: Fit

    def mean(self, column: Any) -> NumericEstimate:
        """Estimate the mean of a column of numbers.

        Parameters
        ----------
        column : name or position
            A column of the table. Records where it is missing are left out.

        Returns
        -------
        NumericEstimate
            It may be identifiable where the column's distribution is not.

        Raises
        ------
        ValueError
            If there is no such column, or it is not numeric.
        """
        return mean(*self._asked(column))

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
        return quantile(*self._asked(column), q, order)

    def _asked(self, column: Any) -> tuple[Grouping, Evaluate]:
        check_is_fitted(self)
        return grouping(self.mechanism_, [column], "all"), self._fit.evaluate
