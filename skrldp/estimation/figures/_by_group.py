"""Figures of groups: means, shares and quantiles of the records with each value of other columns.

A mean or a share of a group is a ratio of two linear functions of the distribution, of the group's
numbers and of its share. Its error is that of its linear approximation (the delta method), so that
figures of one set of reports have a covariance.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly
from skrldp._params import check_choice
from skrldp._typing import Floats
from skrldp.alphabet import CellGroups, plain_name
from skrldp.estimation.figures._combined_intervals import (
    ends_of_quotients,
    ends_of_sums,
    level_of_each,
    quotients,
)
from skrldp.estimation.figures._estimate import index_of, labels_of
from skrldp.estimation.figures._intervals import INTERVALS
from skrldp.estimation.figures._numbers import NumericEstimate, woodruff_error
from skrldp.estimation.figures._pairs import (
    Linear,
    correlation_of,
    covariance_of,
    transformed,
)
from skrldp.targets import contrast_of

__all__ = ["Figures", "figures_of"]

_SHOWN = 5  # figures that a message names
_JOINED = "error. Join these categories with one another, or with a frequent one, before `fit`."
_SINGULAR = 1e-9  # eigenvalues of a correlation matrix below are rounding: shares have the sum 1


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
    groups : list
        The groups, as :meth:`difference` names them: categories, of several columns tuples.
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
    _n_quantiles: int = field(default=0, repr=False)  # that each is made of
    _linear: Linear | None = field(default=None, repr=False)  # of one set of reports

    @property
    def groups(self) -> list[Any]:
        """The groups: categories, of several columns tuples of them."""
        found = dict.fromkeys(label[: self._n_by] for label in self.labels)
        return [one[0] if len(one) == 1 else one for one in found]

    def confidence_interval(self, level: float = 0.95, *, method: str = "auto") -> NDArray[Any]:
        """Interval of each figure.

        Parameters
        ----------
        level : float, default=0.95
            Probability that an interval contains the true figure.
        method : {"auto", "likelihood-ratio", "score", "wald"}, default="auto"
            As in :meth:`FrequencyEstimator.confidence_interval`. Those of a difference are made of
            the intervals of both figures and their correlation (Zou and Donner 2008), so that they
            exist where there is no standard error. Those of sums of quantiles have all sums of
            numbers in the quantiles' intervals. They hold more often than the level says, and
            whatever the dependence of the reports.

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
            If they are quantiles, whose errors are not those of linear functions.
        """
        return self._known_covariance()(False)

    def wald_test(self) -> tuple[float, float, int]:
        """Test whether all figures are 0, as differences between equal distributions are.

        Returns
        -------
        statistic : float
        pvalue : float
        df : int
            Degrees of freedom of the χ² distribution: the rank of the covariance.

        Raises
        ------
        ValueError
            If the figures have no covariance, or one has no standard error.

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
        >>> one, two = wave([0.1, 0.2, 0.2, 0.5]), wave([0.1, 0.2, 0.3, 0.4])
        >>> statistic, pvalue, df = difference(two.marginal(1), one.marginal(1)).wald_test()
        >>> df, pvalue < 0.01
        (1, True)
        """
        from scipy.stats import chi2

        covariance = self.covariance()
        errors = np.sqrt(np.diag(covariance))
        unknown = np.isnan(errors) | np.isnan(self.values)
        if unknown.any():
            raise ValueError(
                f"{self.what}: of {len(errors)} figures {self._without_error(unknown)} no standard "
                + ("error: it takes more reports." if unknown.all() else _JOINED)
            )
        some = errors > 0.0
        own = covariance[np.ix_(some, some)] / np.outer(errors[some], errors[some])
        spread, directions = np.linalg.eigh(own)
        kept = spread > _SINGULAR
        moved = (self.values[some] / errors[some]) @ directions[:, kept]
        statistic, df = float(moved**2 @ (1.0 / spread[kept])), int(kept.sum())
        return statistic, float(chi2.sf(statistic, df)) if df else 1.0, df

    def _without_error(self, unknown: NDArray[np.bool_]) -> str:
        """Name up to some figures: "those of 'a', 'b' have"."""
        labels = [self.labels[place] for place in np.flatnonzero(unknown)]
        shown = [repr(one[0] if len(one) == 1 else one) for one in labels[:_SHOWN]]
        more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
        those, have = ("that", "has") if len(labels) == 1 else ("those", "have")
        return f"{those} of {', '.join(shown)}{more} {have}"

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
            If there is no such group, both are the same, or the figures are quantiles of
            categories.
        """
        self._check_two(first, second)
        return self._contrast({first: 1.0, second: -1.0}, f"{first!r} less {second!r}")

    def contrast(self, coefficients: Mapping[Any, float]) -> "NumericEstimate | Figures":
        """Estimate a weighted sum of the groups' figures.

        Parameters
        ----------
        coefficients : dict
            Number of each group, of several columns of each tuple of categories; 0 for others.

        Returns
        -------
        NumericEstimate or Figures
            One number for means; for shares one for each category. The error takes into account
            that all are estimated from the same reports.

        Raises
        ------
        ValueError
            If there is no such group, all numbers are 0, or the figures are quantiles of
            categories.
        """
        return self._contrast(coefficients, "a contrast of groups")

    def ratio(self, first: Any, second: Any) -> "NumericEstimate | Figures":
        """Estimate how many times a group's figure is that of another group.

        Parameters
        ----------
        first, second : category, or tuple of categories
            The groups: the ratio is that of the first to the second.

        Returns
        -------
        NumericEstimate or Figures
            As :meth:`difference`. Intervals are those of the difference of logarithms; they reach
            to 0 or infinity where a figure may be 0.

        Raises
        ------
        ValueError
            If there is no such group, both are the same, a figure is not positive, or the figures
            are quantiles of categories.
        """
        self._check_two(first, second)
        one, two = self._of_group(first), self._of_group(second)
        correlation = correlation_of(self._covariance_to_combine()(True))[one, two]
        values = quotients(self.values[one], self.values[two])
        places, slopes = np.arange(len(one)), np.zeros((len(one), len(self.values)))
        slopes[places, one] = values / self.values[one]
        slopes[places, two] = -values / self.values[two]

        def intervals(level: Any, method: str) -> NDArray[Any]:
            ends = self._ends(level, method, 2)
            both = np.stack([self.values[one], self.values[two]])
            return ends_of_quotients(both, np.stack([ends[one], ends[two]]), correlation)

        what = f"{self.what}: {first!r} over {second!r}"
        return self._of_groups(what, one, values, slopes, intervals, 2)

    def _contrast(self, coefficients: Mapping[Any, float], what: str) -> Any:
        groups = self.groups
        numbers = contrast_of(coefficients, groups)
        used = np.flatnonzero(numbers)
        places = np.array([self._of_group(groups[k]) for k in used])  # (k, m)
        numbers = numbers[used]
        correlation = correlation_of(self._covariance_to_combine()(True))
        slopes = np.zeros((places.shape[1], len(self.values)))
        for number, own in zip(numbers, places, strict=True):
            slopes[np.arange(len(own)), own] = number

        def intervals(level: Any, method: str) -> NDArray[Any]:
            ends = self._ends(level, method, len(used))[places]
            between = correlation[places[:, None], places[None]]
            return ends_of_sums(numbers, self.values[places], ends, between)

        values = numbers @ self.values[places]
        what = f"{self.what}: {what}"
        return self._of_groups(what, places[0], values, slopes, intervals, len(used))

    def _of_groups(
        self,
        what: str,
        places: NDArray[np.intp],
        values: Floats,
        slopes: Floats,
        intervals: Callable[[Any, str], NDArray[Any]],
        n_terms: int,
    ) -> "NumericEstimate | Figures":
        """Return figures without the groups: one number, or one for each category."""
        rest = tuple(self.labels[place][self._n_by :] for place in places)
        if self._n_quantiles:
            error = float(woodruff_error(intervals)[0])
            number = float(values[0])
            return NumericEstimate(number, error, _intervals=intervals, _n_quantiles=n_terms)
        of_all = self._known_covariance()
        linear = None if self._linear is None else self._linear.transformed(slopes)

        def covariance(free: bool) -> Floats:
            return transformed(slopes, of_all(free))

        errors = np.sqrt(np.diag(covariance(False)))
        if not rest[0]:
            one = NumericEstimate(float(values[0]), float(errors[0]), _intervals=intervals)
            if linear is None:
                return one
            return replace(one, _linear=linear.functions[0], _fit=linear.fit)
        names, n = self.names[self._n_by :], self.n_reports
        return Figures(what, names, rest, values, errors, n, intervals, covariance, _linear=linear)

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

    def _ends(self, level: Any, method: str, n_terms: int) -> NDArray[Any]:
        """Return the intervals of all figures, for one of a sum of some of them."""
        if self._n_quantiles:
            level = level_of_each(level, n_terms)
        return self.confidence_interval(level, method=method)

    def _covariance_to_combine(self) -> Callable[[bool], Floats]:
        """Return the covariance, of quantiles unknown (NaN); refuse what is no number."""
        if not self._n_quantiles:
            return self._known_covariance()
        if self.values.dtype.kind != "f":
            raise ValueError(
                f"{self.what}: these are categories, which have no differences and ratios. Compare "
                "the shares of the categories, marginal(..., by=)."
            )
        unknown = np.full((len(self.values), len(self.values)), np.nan)
        return lambda free: unknown

    def _known_covariance(self) -> Callable[[bool], Floats]:
        if self._covariance is None:
            raise ValueError(f"{self.what}: the covariance of these figures is not known.")
        return self._covariance

    def _check_two(self, first: Any, second: Any) -> None:
        if self._of_group(first)[0] == self._of_group(second)[0]:
            raise ValueError(f"both groups are {first!r}: compare two of {self.groups}.")

    def _of_group(self, group: Any) -> NDArray[np.intp]:
        wanted = plain_name(group if isinstance(group, tuple) and self._n_by > 1 else (group,))
        found = [place for place, label in enumerate(self.labels) if label[: self._n_by] == wanted]
        if not found:
            raise ValueError(f"there is no group {group!r}; the groups are {self.groups}.")
        return np.array(found)

    def __repr__(self) -> str:
        known = int(np.isfinite(self.std_error).sum())
        names = ", ".join(map(str, self.names))
        count = f"{len(self.labels)}, {known} {'has' if known == 1 else 'have'} a standard error"
        return f"Figures({self.what} by {names}: {count})"


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
    unknown = np.full(len(groups.labels), np.nan)
    functions = np.array([unknown if one._linear is None else one._linear for one in each])
    fits = [one._fit for one in each if one._fit is not None]
    linear = Linear(fits[0], functions) if fits else None
    known = None if covariance is None else covariance_of(functions, covariance)
    errors = np.array([one.std_error for one in each])

    def intervals(level: Any, method: str) -> NDArray[Any]:
        return np.array([one.confidence_interval(level, method=method) for one in each])

    n_by = len(groups.name)
    n_quantiles = max(one._n_quantiles for one in each)  # empty groups have none
    return Figures(
        what, names, labels, values, errors, n_reports, intervals, known, n_by, n_quantiles, linear
    )
