"""Differences and ratios of figures from two sets of reports, about different persons."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.estimation.figures._by_group import Figures
from skrldp.estimation.figures._combined_intervals import (
    ends_of_quotients,
    ends_of_sums,
    quotients,
)
from skrldp.estimation.figures._estimate import Estimate, labels_of
from skrldp.estimation.figures._numbers import NumericEstimate

__all__ = ["difference", "ratio"]


def difference(first: Any, second: Any) -> "NumericEstimate | Figures":
    """Estimate by how much figures of one set of reports exceed those of another one.

    The two sets are about different persons, as two waves of a survey with new people are: their
    errors are independent.

    Parameters
    ----------
    first, second : NumericEstimate, Estimate or Figures
        Of two fitted estimators: two means, two marginals of the same columns, or figures of the
        same groups.

    Returns
    -------
    NumericEstimate or Figures
        The first less the second.

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
    intervals = _independent(*values, first, second, ratio=what == "ratio")
    if numbers:
        return NumericEstimate(float(found), float(errors), _intervals=intervals)
    n = first.n_reports + second.n_reports
    return Figures(what, names, labels, found, errors, n, intervals)


def _values(found: "NumericEstimate | Estimate | Figures", what: str) -> Any:
    if isinstance(found, NumericEstimate):
        if found.within:
            raise ValueError(f"a mean whose bias is bounded over a set has no {what} to another.")
        values: Any = found.value
        ordered = not isinstance(values, float)
    else:
        values = found.values if isinstance(found, Figures) else found.frequencies
        ordered = values.dtype == object
    if ordered:
        raise ValueError(f"quantiles of ordered categories have no {what}.")
    return values


def _named(found: Estimate | Figures) -> tuple[tuple[Any, ...], tuple[tuple[Any, ...], ...]]:
    if isinstance(found, Figures):
        return found.names, found.labels
    return found.columns, labels_of(found.columns, found.categories)


def _independent(values: Any, others: Any, first: Any, second: Any, *, ratio: bool = False) -> Any:
    """Return the intervals of differences, or ratios, of estimates from two sets of reports."""
    both = np.stack([np.atleast_1d(values), np.atleast_1d(others)])

    def intervals(level: Any, method: str) -> NDArray[Any]:
        found = [one.confidence_interval(level, method=method) for one in (first, second)]
        ends = np.stack([np.atleast_2d(one) for one in found])
        nothing = np.zeros(both.shape[1])
        if ratio:
            return ends_of_quotients(both, ends, nothing)
        between = np.array([[nothing + 1.0, nothing], [nothing, nothing + 1.0]])
        return ends_of_sums(np.array([1.0, -1.0]), both, ends, between)

    return intervals
