"""An estimated mean, variance or quantile of a column of numbers, and its interval."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._numbers import at_most
from skrldp._params import check_choice, is_finite
from skrldp._typing import Floats
from skrldp.alphabet import CellGroups, numbers_of_cells
from skrldp.estimation._fit import Fit
from skrldp.estimation.figures._bounded_mean import half_width
from skrldp.estimation.figures._intervals import (
    INTERVALS,
    Ranges,
    critical_value,
    intervals,
    likelihood_drops,
)
from skrldp.estimation.likelihood import LikelihoodRegion

__all__ = [
    "Band",
    "NumericEstimate",
    "Scaled",
    "mean",
    "quantile",
    "variance",
    "woodruff_error",
]

# Estimates and standard errors of linear functions (m, a) of the distribution: NaN where not
# determined.
Evaluate = Callable[[Floats], tuple[Floats, Floats]]

_WOODRUFF = 0.95  # level of the interval that the error of a quantile is from
_ROUNDING = 1e-12  # a share this close to q counts as equal to it


@dataclass(frozen=True, eq=False)
class Scaled:
    """What reports say about a number, scaled to lie between 0 and 1."""

    least: float  # the number at 0
    unit: float  # the length of the range
    ranges: Ranges  # of the number in these units

    def interval(self, value: float, error: float, level: Any, method: str) -> Floats:
        """Interval of the number, whose estimate and standard error are given."""
        own = (np.array([(value - self.least) / self.unit]), np.array([error / self.unit]))
        found: Floats = intervals(*own, self.ranges, level, False, method)[0]
        return self.least + self.unit * found


@dataclass(frozen=True, eq=False)
class Band:
    """The distribution function F of a column, for the interval of a quantile."""

    steps: Floats  # (k,), the numbers of the column, rising
    excess: Floats  # (k - 1,), estimates of F(number) − q but for the last number
    errors: Floats  # (k - 1,), their errors
    functions: Callable[[Floats], Floats]  # numbers (m,) to F(number) − q as functions (m, a)
    region: LikelihoodRegion | None  # the likelihood, for intervals by its ratio
    order: tuple[Any, ...] | None = None  # the categories that the numbers are ranks of
    _found: dict[float, Floats] = field(default_factory=dict, init=False, repr=False)

    def interval(self, level: Any, method: str) -> NDArray[Any]:
        """Range of the numbers, or categories, that the reports allow."""
        if method == "score":
            raise ValueError("quantiles have no score intervals: use method='wald' or 'auto'.")
        if method == "likelihood-ratio" and self.region is None:
            raise ValueError(
                "intervals by the likelihood ratio need FrequencyEstimator(..., method='ml') and "
                "at most 2,500 cells: use method='wald' here."
            )
        programs = 4.0 * np.log2(len(self.steps) + 1.0)
        quick = self.region is not None and self.region.is_quick(programs)
        if method == "likelihood-ratio" or (method == "auto" and quick):
            ends = self._by_likelihood(level)
        else:
            ends = self._by_errors(critical_value(level))
        if self.order is None:
            return ends
        return np.array([category(end, self.order) for end in ends], dtype=object)

    def _by_likelihood(self, level: Any) -> Floats:
        """Search the numbers that some distribution of nearly the same likelihood has as quantile.

        Ranges of F(number) − q rise with the number.
        """
        if level in self._found:
            return self._found[level].copy()
        drops, last = likelihood_drops(level), len(self.steps) - 1

        @cache
        def ends(place: int) -> Floats:
            assert self.region is not None
            found: Floats = self.region.ends(self.functions(self.steps[[place]]), *drops)[0]
            return found

        first = bisect_left(range(last), True, key=lambda place: ends(place)[1] >= -_ROUNDING)
        sure = bisect_left(range(last), True, key=lambda place: ends(place)[0] >= _ROUNDING)
        self._found[level] = self.steps[[first, sure]]
        return self._found[level].copy()

    def _by_errors(self, z: float) -> Floats:
        """Range of the numbers that the estimates of F(number) − q allow, with their errors."""
        if np.isnan(self.errors).any():
            return np.full(2, np.nan)
        not_before = np.append(True, self.excess - z * self.errors < _ROUNDING)
        not_after = np.append(self.excess + z * self.errors >= -_ROUNDING, True)
        allowed = self.steps[not_before & not_after]
        return np.array([allowed.min(), allowed.max()])


def category(rank: float, order: tuple[Any, ...]) -> Any:
    """Return the category of a rank; NaN for NaN."""
    return np.nan if np.isnan(rank) else order[int(rank)]


@dataclass(frozen=True, eq=False, repr=False)
class NumericEstimate:
    """An estimated number about a column: its mean, variance or a quantile.

    Attributes
    ----------
    value : float
        The estimate; NaN if least squares cannot determine it from the reports, or if no record
        has a number. A category if it is a quantile of ordered categories.
    std_error : float
        Its standard error (of a quantile, and of what is made of quantiles, Woodruff's: the 95 %
        interval's length over 2 · 1.96); NaN if the reports do not determine it or are too few for
        an error, for ordered categories, and for a quantile whose interval is a single number.
        Intervals may exist all the same.
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
    _linear: Floats | None = None  # as a function of the cells, less it
    _fit: Fit | None = None  # of the cells; None for blocks
    _scaled: Scaled | None = None
    _band: Band | None = None
    _intervals: Callable[[Any, str], Floats] | None = None
    _n_quantiles: int = 0  # that it is made of

    def __repr__(self) -> str:
        low, high = (_in_words(end) for end in self.confidence_interval())
        said = [_in_words(self.value), f"95 % interval {low} to {high}"]
        if np.isfinite(self.std_error):
            said.append(f"standard error {self.std_error:.3g}")
        if self.within:
            said.append(f"bias at most {at_most(self.bias, '.3g')} over {self.within}")
        return f"{type(self).__name__}({', '.join(said)})"

    def confidence_interval(self, level: float = 0.95, *, method: str = "auto") -> NDArray[Any]:
        """Interval that contains the true number with a given probability.

        Parameters
        ----------
        level : float, default=0.95
            That probability.
        method : {"auto", "likelihood-ratio", "score", "wald"}, default="auto"
            As in :meth:`FrequencyEstimator.confidence_interval`: by maximum likelihood, "auto" is
            the likelihood ratio, and has all numbers that some distribution gives whose
            log-likelihood is near the greatest. Quantiles have no "score"; means whose bias is
            bounded have "auto" alone.

        Returns
        -------
        array of shape (2,)
            Within the range of the column's numbers (of a variance, at least 0 and at most the
            greatest that this range allows), but for Wald's. NaN if least squares cannot determine
            the number. For ordered categories, the two end categories.

        Raises
        ------
        ValueError
            If the level is not between 0 and 1, or there is no such method.
        """
        check_choice("method", method, INTERVALS)
        z = critical_value(level)
        if self.within:
            if method != "auto":
                raise ValueError("a mean whose bias is bounded has one interval: method='auto'.")
            half = half_width(self.bias, self.std_error, level)
            return np.array([self.value - half, self.value + half])
        if self._intervals is not None:  # of a difference
            return self._intervals(level, method)[0]
        if self._band is not None:
            return self._band.interval(level, method)
        if self._scaled is None:
            return np.array([self.value - z * self.std_error, self.value + z * self.std_error])
        return self._scaled.interval(self.value, self.std_error, level, method)


def _in_words(value: Any) -> str:
    """Write a number with four digits, or a category."""
    return f"{value:.4g}" if isinstance(value, float | np.floating) else repr(value)


def _share(present: Floats, evaluate: Evaluate) -> float:
    """Share of records that have a number: exactly 1 if there is no category for missing values."""
    return 1.0 if present.all() else float(evaluate(present[None])[0][0])


def mean(numbers: Floats, present: Floats, evaluate: Evaluate) -> NumericEstimate:
    """Mean of a number over the records that have one, with an error by the delta method.

    Shapes: `numbers` (a,); `present` (a,), 1 or 0.
    """
    share = _share(present, evaluate)
    if share == 0.0:
        return NumericEstimate(np.nan, np.nan)
    origin = float(numbers[present > 0].mean())
    value = origin + float(evaluate(((numbers - origin) * present)[None])[0][0]) / share
    linear = (numbers - value) * present / share
    return NumericEstimate(value, float(evaluate(linear[None])[1][0]), _linear=linear)


def variance(numbers: Floats, present: Floats, evaluate: Evaluate) -> NumericEstimate:
    """Variance of a number over the records that have one, with an error by the delta method."""
    centre, share = mean(numbers, present, evaluate), _share(present, evaluate)
    if share == 0.0:
        return centre
    squares = (numbers - centre.value) ** 2
    value = float(evaluate((squares * present)[None])[0][0]) / share
    linear = (squares - value) * present / share
    error = evaluate(linear[None])[1][0] + 0.0 * centre.std_error  # NaN if the mean's is
    return NumericEstimate(value, float(error), _linear=linear)


def _ranked(group: CellGroups, order: Sequence[Any]) -> tuple[CellGroups, tuple[Any, ...]]:
    """Put ranks in place of categories."""
    names = tuple(order) if isinstance(order, Iterable) else ()
    lacks = [c for c in group.categories if c is not None and c not in names]
    if isinstance(order, str) or lacks or len(set(names)) < len(names) or None in names:
        raise ValueError(
            f"order={order!r} must list the categories of column {group.name[0]!r} from least to "
            f"greatest, each once: {[c for c in group.categories if c is not None]}."
        )
    ranks = tuple(None if c is None else names.index(c) for c in group.categories)
    return CellGroups(group.name, ranks, group.labels), names


def quantile(
    group: CellGroups,
    evaluate: Evaluate,
    q: Any,
    order: Sequence[Any] | None = None,
    region: LikelihoodRegion | None = None,
    members: Floats | None = None,
) -> NumericEstimate:
    """Quantile of a column over the records that have a number: the least t with F(t) >= q.

    The interval holds the numbers t that the reports do not contradict: they do not show that F(t)
    < q, nor that F already reached q before t (Woodruff 1952). This needs no density, so it is
    valid for few categories too.
    """
    if not (is_finite(q) and 0.0 < q < 1.0):
        raise ValueError(f"q={q!r} must be a number between 0 and 1.")
    names = None
    if order is not None:
        group, names = _ranked(group, order)
    numbers, present = numbers_of_cells(group)
    if members is not None:  # the cells of a group of records
        present = present * members
        if _share(present, evaluate) == 0.0 or not present.any():
            return NumericEstimate(np.nan, np.nan)
    steps = np.unique(numbers[present > 0])
    functions = partial(_excess, numbers, present, float(q))
    excess, errors = evaluate(functions(steps[:-1]))  # at the last number, F is exactly 1
    reached = np.append(excess >= -_ROUNDING, True)
    value = np.nan if np.isnan(excess).any() else float(steps[np.argmax(reached)])
    band = Band(steps, excess, errors, functions, region, names)
    if names is not None:
        return NumericEstimate(category(value, names), np.nan, _band=band, _n_quantiles=1)
    error = np.nan
    if not np.isnan(errors).any():
        error = float(woodruff_error(band.interval)[0])
    return NumericEstimate(value, error, _band=band, _n_quantiles=1)


def woodruff_error(intervals: Callable[[Any, str], NDArray[Any]]) -> Floats:
    """Errors (m,) of figures made of quantiles, from their intervals (m, 2): none from a number."""
    lower, upper = np.atleast_2d(intervals(_WOODRUFF, "auto")).T
    found = (upper - lower) / (2.0 * critical_value(_WOODRUFF))
    return np.where(found > 0.0, found, np.nan)


def _excess(numbers: Floats, present: Floats, q: float, steps: Floats) -> Floats:
    """F(step) − q, times the share of records with a number, as functions (m, a)."""
    excess: Floats = ((numbers[None, :] <= steps[:, None]) - q) * present
    return excess
