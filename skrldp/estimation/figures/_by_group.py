"""Figures of groups: means, shares and quantiles of the records with each value of other columns.

A mean or a share of a group is a ratio of two linear functions of the distribution, of the group's
numbers and of its share. Its error is that of its linear approximation (the delta method), so that
figures of one set of reports have a covariance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly
from skrldp._params import check_choice
from skrldp._typing import Floats
from skrldp.alphabet import CellGroups
from skrldp.estimation.figures._estimate import Estimate, index_of, labels_of
from skrldp.estimation.figures._intervals import INTERVALS
from skrldp.estimation.figures._numbers import NumericEstimate

__all__ = ["Figures", "difference", "figures_of"]


@dataclass(frozen=True, eq=False)
class Figures(ReadOnly):
    """Estimated figures of groups, one for each group, or for each group and category.

    Attributes
    ----------
    what : str
        What is estimated, in words.
    names : tuple
        Names of the columns that the labels are categories of: of the groups first.
    labels : tuple of m tuples
        Which figure each is.
    values : array of shape (m,)
        The estimates; NaN where the reports do not determine the figure, or no record is in the
        group.
    std_error : array of shape (m,)
        Standard errors; NaN where the figure is not determined, or rests on too few reports.
    n_reports : int
        Number of reports; of both sets for a difference between two.
    """

    what: str
    names: tuple[Any, ...]
    labels: tuple[tuple[Any, ...], ...]
    values: NDArray[Any]
    std_error: Floats
    n_reports: int
    _intervals: Callable[[Any, str], NDArray[Any]] = field(repr=False)
    _covariance: Callable[[bool], Floats] | None = field(default=None, repr=False)
    _n_by: int = field(default=0, repr=False)  # columns of the groups

    def confidence_interval(self, level: float = 0.95, *, method: str = "auto") -> NDArray[Any]:
        """Interval of each figure.

        Parameters
        ----------
        level : float, default=0.95
            Probability that an interval contains the true figure.
        method : {"auto", "likelihood-ratio", "score", "wald"}, default="auto"
            As in :meth:`FrequencyEstimator.confidence_interval`. Those of a difference are made of
            the intervals of both figures and their correlation (Zou and Donner 2008), so that they
            exist where there is no standard error.

        Returns
        -------
        array of shape (m, 2)

        Raises
        ------
        ValueError
            If the level is not between 0 and 1, or there is no such method.
        """
        check_choice("method", method, INTERVALS)
        return self._intervals(level, method)

    def covariance(self) -> Floats:
        """Covariance matrix of the figures.

        Returns
        -------
        array of shape (m, m)
            NaN where a figure has no standard error.

        Raises
        ------
        ValueError
            If they are quantiles, whose errors are not those of linear functions, or differences
            between two sets of reports.
        """
        return self._known_covariance()(False)

    def difference(self, first: Any, second: Any) -> "NumericEstimate | Figures":
        """Estimate by how much a group's figure exceeds that of another group.

        Parameters
        ----------
        first, second : category, or tuple of categories
            The groups: the difference is that of the first less that of the second.

        Returns
        -------
        NumericEstimate or Figures
            One number for means; for shares one for each category. The error takes into account
            that both are estimated from the same reports.

        Raises
        ------
        ValueError
            If there is no such group, or the figures are quantiles.
        """
        one, two = self._of_group(first), self._of_group(second)
        of_all = self._known_covariance()
        rest = tuple(self.labels[place][self._n_by :] for place in one)
        both = of_all(True)
        spread = np.sqrt(np.diag(both))
        with np.errstate(invalid="ignore"):
            correlation = both[one, two] / (spread[one] * spread[two])

        def covariance(free: bool) -> Floats:
            own = of_all(free)
            parts = own[np.ix_(one, one)] + own[np.ix_(two, two)]
            return parts - own[np.ix_(one, two)] - own[np.ix_(two, one)]

        def intervals(level: Any, method: str) -> NDArray[Any]:
            ends = self.confidence_interval(level, method=method)
            values = self.values[one], self.values[two]
            return _recovered(*values, ends[one], ends[two], correlation)

        found = Figures(
            f"{self.what}: {first!r} less {second!r}",
            self.names[self._n_by :],
            rest,
            self.values[one] - self.values[two],
            np.sqrt(np.diag(covariance(False))),
            self.n_reports,
            intervals,
            covariance,
        )
        if rest[0]:
            return found
        return NumericEstimate(
            float(found.values[0]), float(found.std_error[0]), _intervals=intervals
        )

    def to_frame(self, level: float = 0.95) -> Any:
        """Write the figures as a pandas frame, with the labels as its index.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns "value", "std_error", "lower" and "upper".
        """
        import pandas as pd

        lower, upper = self.confidence_interval(level).T
        columns = {"value": self.values, "std_error": self.std_error}
        index = index_of(self.names, self.labels)
        return pd.DataFrame(columns | {"lower": lower, "upper": upper}, index=index)

    def _known_covariance(self) -> Callable[[bool], Floats]:
        if self._covariance is None:
            raise ValueError(f"{self.what}: the covariance of these figures is not known.")
        return self._covariance

    def _of_group(self, group: Any) -> NDArray[np.intp]:
        wanted = group if isinstance(group, tuple) and self._n_by > 1 else (group,)
        found = [place for place, label in enumerate(self.labels) if label[: self._n_by] == wanted]
        if not found:
            groups = list(dict.fromkeys(label[: self._n_by] for label in self.labels))
            shown = [one[0] if len(one) == 1 else one for one in groups]
            raise ValueError(f"there is no group {group!r}; the groups are {shown}.")
        return np.array(found)

    def __repr__(self) -> str:
        known = int(np.isfinite(self.std_error).sum())
        names = ", ".join(map(str, self.names))
        return f"Figures({self.what} by {names}: {len(self.labels)}, {known} with an error)"


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
    if isinstance(first, NumericEstimate) and isinstance(second, NumericEstimate):
        return _of_numbers(first, second)
    kinds = Estimate, Figures
    if not (isinstance(first, kinds) and type(first) is type(second)):
        raise TypeError(
            "a difference needs two means, two marginals or two sets of figures, got "
            f"{type(first).__name__} and {type(second).__name__}."
        )
    (names, labels), (others, of_others) = _named(first), _named(second)
    if (names, labels) != (others, of_others):
        raise ValueError(
            f"the two are about different columns or categories: {len(labels)} of {list(names)}, "
            f"and {len(of_others)} of {list(others)}. Declare the same categories for both designs."
        )
    values = _values(first), _values(second)
    return Figures(
        "difference",
        names,
        labels,
        values[0] - values[1],
        np.hypot(first.std_error, second.std_error),
        first.n_reports + second.n_reports,
        _independent(*values, first, second),
    )


def _recovered(
    first: Floats, second: Floats, ends: Floats, other_ends: Floats, correlation: Floats
) -> Floats:
    """Intervals of differences from those of both figures and their correlation.

    Each side has the variance that the length of the interval shows there. Figures whose
    correlation is not known may move against each other.

    Shapes: `first`, `second` and `correlation` (m,); `ends` and `other_ends` (m, 2).
    """
    correlation = np.where(np.isnan(correlation), -1.0, np.clip(correlation, -1.0, 1.0))
    found = np.empty((len(first), 2))
    for side, sign in ((0, -1.0), (1, 1.0)):
        one = np.abs(first - ends[:, side])
        two = np.abs(second - other_ends[:, 1 - side])
        square = one**2 + two**2 - 2.0 * correlation * one * two
        found[:, side] = first - second + sign * np.sqrt(np.maximum(square, 0.0))
    return found


def _independent(values: Any, others: Any, first: Any, second: Any) -> Any:
    """Return the intervals of differences between estimates from two sets of reports."""
    values, others = np.atleast_1d(values), np.atleast_1d(others)

    def intervals(level: Any, method: str) -> NDArray[Any]:
        own, other = (
            np.atleast_2d(one.confidence_interval(level, method=method)) for one in (first, second)
        )
        return _recovered(values, others, own, other, np.zeros(len(values)))

    return intervals


def _of_numbers(first: NumericEstimate, second: NumericEstimate) -> NumericEstimate:
    if first.within or second.within:
        raise ValueError("a mean whose bias is bounded over a set has no difference to another.")
    if not all(isinstance(one.value, float) for one in (first, second)):
        raise ValueError("quantiles of ordered categories have no difference.")
    error = float(np.hypot(first.std_error, second.std_error))
    intervals = _independent(first.value, second.value, first, second)
    return NumericEstimate(first.value - second.value, error, _intervals=intervals)


def _named(found: Estimate | Figures) -> tuple[tuple[Any, ...], tuple[tuple[Any, ...], ...]]:
    if isinstance(found, Figures):
        return found.names, found.labels
    return found.columns, labels_of(found.columns, found.categories)


def _values(found: Estimate | Figures) -> NDArray[Any]:
    values = found.values if isinstance(found, Figures) else found.frequencies
    if values.dtype == object:
        raise ValueError("quantiles of ordered categories have no difference.")
    return values


def figures_of(
    what: str,
    groups: CellGroups,
    categories: CellGroups | None,
    each: Sequence[NumericEstimate],
    n_reports: int,
    covariance: Callable[..., Floats] | None,
) -> Figures:
    """Put figures of groups, or of groups and categories, beside their labels."""
    names, labels = groups.name, labels_of(groups.name, groups.categories)
    if categories is not None:
        own = labels_of(categories.name, categories.categories)
        names, labels = names + categories.name, tuple(g + c for g in labels for c in own)
    values = np.array([one.value for one in each])
    linear = None
    if covariance is not None:
        unknown = np.full(len(groups.labels), np.nan)
        functions = [unknown if one._linear is None else one._linear for one in each]
        linear = _covariance_of(np.array(functions), covariance)
    errors = np.array([one.std_error for one in each])

    def intervals(level: Any, method: str) -> NDArray[Any]:
        return np.array([one.confidence_interval(level, method=method) for one in each])

    n_by = len(groups.name)
    return Figures(what, names, labels, values, errors, n_reports, intervals, linear, n_by)


def _covariance_of(functions: Floats, covariance: Callable[..., Floats]) -> Any:
    """Return the covariance of figures; NaN for unknown ones, and for those without an error."""

    def found(free: bool) -> Floats:
        known = np.isfinite(functions).all(axis=1)
        result = np.full((len(functions), len(functions)), np.nan)
        if known.any():
            result[np.ix_(known, known)] = covariance(functions[known], free=free)
        return result

    return found
