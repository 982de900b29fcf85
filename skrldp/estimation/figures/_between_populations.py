"""Differences and ratios of figures from two sets of reports, about different persons."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.estimation.figures._by_group import Figures
from skrldp.estimation.figures._combined_intervals import (
    ends_of_quotients,
    ends_of_sums,
    level_of_each,
    quotients,
)
from skrldp.estimation.figures._estimate import Estimate, labels_of
from skrldp.estimation.figures._numbers import NumericEstimate, woodruff_error

__all__ = ["difference", "ratio"]


def difference(first: Any, second: Any) -> "NumericEstimate | Figures":
    """Estimate by how much figures of one set of reports exceed those of another one.

    The two sets are about different persons, as two waves of a survey with new people are: their
    errors are independent.

    Parameters
    ----------
    first, second : NumericEstimate, Estimate or Figures
        Of two fitted estimators: two means or quantiles, two marginals of the same columns, or
        figures of the same groups. Two quantiles may also be of the same reports.

    Returns
    -------
    NumericEstimate or Figures
        The first less the second. Intervals of differences of quantiles hold more often than their
        level, whatever the dependence: they have all differences of numbers in the intervals of
        both.

    Raises
    ------
    TypeError
        If they are not of one of these kinds.
    ValueError
        If they are about other columns or categories, have a bound on their bias, or are categories
        and no numbers.

    References
    ----------
    G. Y. Zou and A. Donner, Construction of confidence limits about effect measures, Statistics in
    Medicine 27, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp import FrequencyEstimator, SRRSanitizer
    >>> from skrldp.estimation import difference
    >>> X = [["no", 0], ["no", 3], ["yes", 0], ["yes", 3]]
    >>> sanitizer = SRRSanitizer(eps=1.0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> def wave(shares):
    ...     sent = np.rint(10_000 * sanitizer.mechanism_.matrix @ shares)
    ...     return FrequencyEstimator(sanitizer).fit(range(4), sample_weight=sent)
    >>> change = difference(wave([0.1, 0.2, 0.2, 0.5]).mean(1), wave([0.1, 0.2, 0.3, 0.4]).mean(1))
    >>> round(change.value, 2), round(change.std_error, 2)
    (0.3, 0.05)
    """
    return _between(first, second, "difference")


def ratio(first: Any, second: Any) -> "NumericEstimate | Figures":
    """Estimate how many times figures of one set of reports are those of another one.

    The two sets are about different persons, as for :func:`difference`.

    Parameters
    ----------
    first, second : NumericEstimate, Estimate or Figures
        Of two fitted estimators, as for :func:`difference`.

    Returns
    -------
    NumericEstimate or Figures
        The first over the second. Intervals are those of the difference of logarithms; they reach
        to 0 or infinity where a figure may be 0.

    Raises
    ------
    TypeError, ValueError
        As by :func:`difference`, and if a figure is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp import FrequencyEstimator, SRRSanitizer
    >>> from skrldp.estimation import ratio
    >>> X = [["no", 0], ["no", 3], ["yes", 0], ["yes", 3]]
    >>> sanitizer = SRRSanitizer(eps=1.0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> def wave(shares):
    ...     sent = np.rint(10_000 * sanitizer.mechanism_.matrix @ shares)
    ...     return FrequencyEstimator(sanitizer).fit(range(4), sample_weight=sent)
    >>> change = ratio(wave([0.1, 0.2, 0.2, 0.5]).mean(1), wave([0.1, 0.2, 0.3, 0.4]).mean(1))
    >>> round(change.value, 2), round(change.std_error, 2)
    (1.17, 0.03)
    """
    return _between(first, second, "ratio")


def _between(first: Any, second: Any, what: str) -> "NumericEstimate | Figures":
    kinds = Estimate, Figures
    numbers = isinstance(first, NumericEstimate) and isinstance(second, NumericEstimate)
    if not numbers and not (isinstance(first, kinds) and type(first) is type(second)):
        raise TypeError(
            f"a {what} needs two means, two marginals or two sets of figures, got "
            f"{type(first).__name__} and {type(second).__name__}."
        )
    values = _values(first, what), _values(second, what)
    if not numbers:
        (names, labels), (others, of_others) = _named(first), _named(second)
        if (names, labels) != (others, of_others):
            raise ValueError(
                f"the two are about different columns or categories: {len(labels)} of "
                f"{list(names)}, and {len(of_others)} of {list(others)}. Declare the same "
                "categories for both designs."
            )
    if what == "ratio":
        found = quotients(*values)
        errors = found * np.hypot(first.std_error / values[0], second.std_error / values[1])
    else:
        found, errors = values[0] - values[1], np.hypot(first.std_error, second.std_error)
    counts = [0 if isinstance(one, Estimate) else one._n_quantiles for one in (first, second)]
    n_quantiles = sum(max(one, 1) for one in counts) if any(counts) else 0
    intervals = _intervals(*values, first, second, what == "ratio", n_quantiles)
    if n_quantiles:
        errors = woodruff_error(intervals)
    if numbers:
        error = float(np.atleast_1d(errors)[0])
        return NumericEstimate(float(found), error, _intervals=intervals, _n_quantiles=n_quantiles)
    n = first.n_reports + second.n_reports
    return Figures(what, names, labels, found, errors, n, intervals, _n_quantiles=n_quantiles)


def _values(found: "NumericEstimate | Estimate | Figures", what: str) -> Any:
    if isinstance(found, NumericEstimate):
        if found.within:
            raise ValueError(f"a mean whose bias is bounded over a set has no {what} to another.")
        values: Any = found.value
        ordered = not isinstance(values, float)
    else:
        values = found.values if isinstance(found, Figures) else found.frequencies
        ordered = values.dtype.kind != "f"
    if ordered:
        raise ValueError(
            f"quantiles of ordered categories are no numbers, so they have no {what}. Compare "
            "the shares of the categories, marginal()."
        )
    return values


def _named(found: Estimate | Figures) -> tuple[tuple[Any, ...], tuple[tuple[Any, ...], ...]]:
    if isinstance(found, Figures):
        return found.names, found.labels
    return found.columns, labels_of(found.columns, found.categories)


def _intervals(
    values: Any, others: Any, first: Any, second: Any, ratio: bool, n_quantiles: int
) -> Any:
    """Return the intervals of differences, or ratios, of estimates from two sets of reports.

    The reports are independent, but quantiles are combined as if their dependence was unknown.
    """
    both = np.stack([np.atleast_1d(values), np.atleast_1d(others)])

    def intervals(level: Any, method: str) -> NDArray[Any]:
        each = level_of_each(level, n_quantiles) if n_quantiles else level
        found = [one.confidence_interval(each, method=method) for one in (first, second)]
        ends = np.stack([np.atleast_2d(one) for one in found])
        correlation = np.full(both.shape[1], np.nan if n_quantiles else 0.0)
        if ratio:
            return ends_of_quotients(both, ends, correlation)
        own = np.ones_like(correlation)
        between = np.array([[own, correlation], [correlation, own]])
        return ends_of_sums(np.array([1.0, -1.0]), both, ends, between)

    return intervals
