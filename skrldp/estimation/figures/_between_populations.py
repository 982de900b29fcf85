"""Differences and ratios of figures from two sets of reports, about other or the same persons."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats
from skrldp.estimation.figures._by_group import Figures
from skrldp.estimation.figures._combined_intervals import (
    ends_of_quotients,
    ends_of_sums,
    level_of_each,
    quotients,
)
from skrldp.estimation.figures._estimate import Estimate, labels_of
from skrldp.estimation.figures._numbers import NumericEstimate, woodruff_error
from skrldp.estimation.figures._pairs import Between, Linear, Pairs, covariance_of

__all__ = ["difference", "ratio"]

Covariance = Callable[[bool], Floats]


def difference(
    first: Any, second: Any, *, paired: Pairs | None = None
) -> "NumericEstimate | Figures":
    """Estimate by how much figures of one set of reports exceed those of another one.

    Parameters
    ----------
    first, second : NumericEstimate, Estimate or Figures
        Of two fitted estimators: two means or quantiles, two marginals of the same columns, or
        figures of the same groups. Two quantiles may also be of the same reports.
    paired : PairedReports, optional
        Which reports of the two sets are about the same persons, as in a panel: their errors are
        not independent. None if all are different persons, as in two waves of a survey with new
        people.

    Returns
    -------
    NumericEstimate or Figures
        The first less the second. Unless they are quantiles, figures keep their groups, so that
        ``difference`` and ``contrast`` say how differently groups have changed, and have a
        ``covariance``. An error is stated if both figures
        have one and, of pairs, if it rests on the equivalent of five persons who changed or more.
        Intervals of differences of quantiles hold more often than their level, whatever the
        dependence: they have all differences of numbers in the intervals of both.

    Raises
    ------
    TypeError
        If they are not of one of these kinds.
    ValueError
        If they are about other columns or categories, have a bound on their bias, or are categories
        and no numbers; if the pairs are those of other estimators.

    Notes
    -----
    Of pairs, the variance is that of the sum of what each person adds to both estimates:
    V1 + V2 - 2 C, with C the sum over the pairs of the influences of their two reports,
    φ1(y) φ2(y') / (n1 n2). Intervals allow for two persons more who changed as much as reports can.
    Those of quantiles are the same with pairs and without.

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
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> def wave(shares):
    ...     sent = np.rint(10_000 * sanitizer.mechanism_.matrix @ shares)
    ...     return FrequencyEstimator(sanitizer).fit(range(4), sample_weight=sent)
    >>> change = difference(wave([0.1, 0.2, 0.2, 0.5]).mean(1), wave([0.1, 0.2, 0.3, 0.4]).mean(1))
    >>> round(change.value, 2), round(change.std_error, 2)
    (0.3, 0.05)
    """
    return _between(first, second, "difference", paired)


def ratio(first: Any, second: Any, *, paired: Pairs | None = None) -> "NumericEstimate | Figures":
    """Estimate how many times figures of one set of reports are those of another one.

    Parameters
    ----------
    first, second : NumericEstimate, Estimate or Figures
        Of two fitted estimators, as for :func:`difference`.
    paired : PairedReports, optional
        Which reports are about the same persons, as for :func:`difference`.

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
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> def wave(shares):
    ...     sent = np.rint(10_000 * sanitizer.mechanism_.matrix @ shares)
    ...     return FrequencyEstimator(sanitizer).fit(range(4), sample_weight=sent)
    >>> change = ratio(wave([0.1, 0.2, 0.2, 0.5]).mean(1), wave([0.1, 0.2, 0.3, 0.4]).mean(1))
    >>> round(change.value, 2), round(change.std_error, 2)
    (1.17, 0.03)
    """
    return _between(first, second, "ratio", paired)


def _between(
    first: Any, second: Any, what: str, paired: Pairs | None
) -> "NumericEstimate | Figures":
    kinds = Estimate, Figures
    numbers = isinstance(first, NumericEstimate) and isinstance(second, NumericEstimate)
    if not numbers and not (isinstance(first, kinds) and type(first) is type(second)):
        raise TypeError(
            f"a {what} needs two means, two marginals or two sets of figures, got "
            f"{type(first).__name__} and {type(second).__name__}."
        )
    if not (paired is None or isinstance(paired, Pairs)):
        raise TypeError(f"paired must be PairedReports or None, got {type(paired).__name__}.")
    values = _values(first, what), _values(second, what)
    if not numbers:
        (names, labels), (others, of_others) = _named(first), _named(second)
        if (names, labels) != (others, of_others):
            raise ValueError(
                f"the two are about different columns or categories: {len(labels)} of "
                f"{list(names)}, and {len(of_others)} of {list(others)}. Declare the same "
                "categories for both designs."
            )
    nothing = np.zeros(np.size(values[0]))
    found, slopes = values[0] - values[1], (nothing + 1.0, nothing - 1.0)
    if what == "ratio":
        found = quotients(*values)
        slopes = np.atleast_1d(found / values[0]), np.atleast_1d(-found / values[1])
    errors = np.hypot(slopes[0] * first.std_error, slopes[1] * second.std_error)
    correlation, covariance = nothing, _independent(first, second, slopes)
    counts = [0 if isinstance(one, Estimate) else one._n_quantiles for one in (first, second)]
    n_quantiles = sum(max(one, 1) for one in counts) if any(counts) else 0
    if n_quantiles:  # combined as if their dependence was unknown
        correlation, covariance = nothing + np.nan, None
    elif paired is not None:
        between = paired.of(*map(_linear_of, (first, second)))
        errors, correlation = _paired_errors(between, slopes, first, second)
        if covariance is not None:
            covariance = _paired_covariance(between, slopes, errors)
    both = np.stack([np.atleast_1d(one) for one in values])
    own = np.ones_like(nothing)

    def intervals(level: Any, method: str) -> NDArray[Any]:
        of_each = level_of_each(level, n_quantiles) if n_quantiles else level
        each = [one.confidence_interval(of_each, method=method) for one in (first, second)]
        ends = np.stack([np.atleast_2d(one) for one in each])
        if what == "ratio":
            return ends_of_quotients(both, ends, correlation)
        matrix = np.array([[own, correlation], [correlation, own]])
        return ends_of_sums(np.array([1.0, -1.0]), both, ends, matrix)

    if n_quantiles:
        errors = woodruff_error(intervals)
    if numbers:
        error = float(errors[0])
        return NumericEstimate(float(found), error, _intervals=intervals, _n_quantiles=n_quantiles)
    n = first.n_reports + second.n_reports
    n_by = 0 if n_quantiles or isinstance(first, Estimate) else first._n_by
    return Figures(what, names, labels, found, errors, n, intervals, covariance, n_by, n_quantiles)


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


def _linear_of(one: Any) -> Linear | None:
    """Return figures as functions of the distribution; None for those of blocks, and of waves."""
    if isinstance(one, Estimate):
        return None if one._linear is None else one._linear()
    if isinstance(one, Figures):
        return one._linear
    if one._fit is None or one._linear is None:
        return None
    return Linear(one._fit, one._linear[None])


def _independent(first: Any, second: Any, slopes: tuple[Floats, Floats]) -> Covariance | None:
    """Return the covariance of sums of figures from two sets of reports; None if not known."""
    known = [_covariance_of(one) for one in (first, second)]
    if None in known:
        return None

    def covariance(free: bool) -> Floats:
        parts = [
            np.outer(slope, slope) * own(free)  # type: ignore[misc]
            for slope, own in zip(slopes, known, strict=True)
        ]
        return parts[0] + parts[1]

    return covariance


def _covariance_of(one: Any) -> Covariance | None:
    if isinstance(one, Figures):
        return one._covariance
    if isinstance(one, NumericEstimate) or one._linear is None:
        return None
    function = one._linear

    def covariance(free: bool) -> Floats:
        linear = function()
        return covariance_of(linear.functions, linear.fit.covariance)(free)

    return covariance


def _paired_errors(
    between: Between, slopes: tuple[Floats, Floats], first: Any, second: Any
) -> tuple[Floats, Floats]:
    """Return the errors of sums of figures of partly the same persons, and their correlation."""
    together = between.together(slopes)
    stated = np.isfinite(first.std_error) & np.isfinite(second.std_error) & together.enough
    return np.where(stated, np.sqrt(together.variances), np.nan), together.correlation


def _paired_covariance(
    between: Between, slopes: tuple[Floats, Floats], errors: Floats
) -> Covariance:
    def covariance(free: bool) -> Floats:
        found = between.covariance(slopes)
        unknown = np.isnan(errors) & (not free)
        found[unknown, :] = found[:, unknown] = np.nan
        return found

    return covariance
