"""Tables of estimates with errors and intervals, and their differences and ratios."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from skrldp._arrays import ReadOnly
from skrldp._pages import in_one_line, page
from skrldp._params import check_level, check_positive, decimals, in_digits, sidak
from skrldp._typing import Floats, Indices
from skrldp.alphabet.categories import listed
from skrldp.estimation.errors_and_intervals import LEAST_SHARE, Sample, combined_ends, ratio_ends
from skrldp.table.new_columns import category_series
from skrldp.targets import contrast_of

_SHOWN = 20  # rows of a printed table

Ends = Callable[[float], NDArray[Any]]  # from a level to the ends of intervals


@dataclass(frozen=True, eq=False)
class Influence:
    """Contributions of single reports to k estimates, times the number of reports, by sample."""

    weights: dict[Sample, Floats]  # weights (k, b), of mean 0
    pairs: "tuple[Pairs, ...]" = ()

    @classmethod
    def together(
        cls, several: "Sequence[Influence]", pairs: "tuple[Pairs, ...]" = ()
    ) -> "Influence":
        """Concatenate the influences of several parts, each with the same number of estimates."""
        weights: dict[Sample, Floats] = {}
        for unit, influence in zip(np.eye(len(several)), several, strict=True):
            for sample, w in influence.weights.items():
                padded = np.kron(unit[:, None], w).astype(float)
                weights[sample] = weights[sample] + padded if sample in weights else padded
        return cls(
            weights, pairs + tuple(pair for influence in several for pair in influence.pairs)
        )

    def covariance(self) -> Floats:
        """Covariance of the estimates, (k, k)."""
        covariance = sum(sample.covariance(w, w) for sample, w in self.weights.items())
        for pairs in self.pairs:
            first, second = pairs.moves(self)
            covariance = covariance + (first * pairs.numbers) @ second.T
            covariance = covariance + (second * pairs.numbers) @ first.T
        return np.asarray(covariance)

    def times(self, slopes: Floats) -> "Influence":
        """Influences of linear functions (m, k) of the estimates."""
        return replace(self, weights={sample: slopes @ w for sample, w in self.weights.items()})

    def __getitem__(self, rows: Indices) -> "Influence":
        return replace(self, weights={sample: w[rows] for sample, w in self.weights.items()})


@dataclass(frozen=True, eq=False)
class Pairs:
    """Number of people who sent each pair of symbols, one to each of two samples."""

    samples: tuple[Sample, Sample]
    symbols: tuple[Indices, Indices]  # (p,) of each kind of pair
    numbers: Floats  # (p,), number of people of each kind

    def moves(self, influence: Influence) -> list[Floats]:
        """Return the contributions of each kind of pair to estimates, (k, p) for each sample."""
        moves, k = [], len(next(iter(influence.weights.values())))
        for sample, symbols in zip(self.samples, self.symbols, strict=True):
            weights = influence.weights.get(sample, np.zeros((k, len(sample.shares))))
            moves.append(weights[:, symbols] / sample.n)
        return moves


@dataclass(frozen=True, eq=False)
class Estimates(ReadOnly):
    """A table of estimates from reports: shares, means or quantiles, one per row.

    Attributes
    ----------
    what : str
        The estimated quantity, in words.
    names : tuple of str
        Names of the labels' columns, beginning with those of groups.
    labels : tuple of m tuples
        Label of each row.
    estimate : array of shape (m,)
        The estimates. The shares of a table are the distribution closest to the unbiased shares.
        NaN if no record of the group was observed.
    std_error : array of shape (m,)
        Standard errors; NaN if the estimate is not identifiable from these reports, if effectively
        fewer than 30 reports determine it, or if one more report could double its variance. The
        interval is still valid.
    noise_error : array of shape (m,)
        The part of the standard errors that the mechanism adds: the variation of the estimates
        around those from the same people's raw answers.
    unbiased : array of shape (m,)
        The unbiased estimates, which may be negative; NaN if not identifiable.
    n_reports : int
        Number of reports.

    Examples
    --------
    >>> from skrldp import FrequencyEstimator, SRRSanitizer
    >>> X = [["no", 0], ["no", 3], ["yes", 0], ["yes", 3]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> estimator = FrequencyEstimator(sanitizer).fit(range(4), sample_weight=[200, 300, 200, 300])
    >>> visits = estimator.mean(1, by=0)
    >>> visits.difference("yes", "no").confidence_interval().round(1)
    array([[-0.5,  0.5]])
    """

    what: str
    names: tuple[Any, ...]
    labels: tuple[tuple[Any, ...], ...]
    estimate: NDArray[Any]
    std_error: Floats
    noise_error: Floats
    unbiased: NDArray[Any]
    n_reports: int
    _ends: Ends = field(repr=False)
    _influence: Influence | None = field(default=None, repr=False)  # None for quantiles
    _n_by: int = field(default=0, repr=False)  # number of columns of groups, which come first
    # Number of quantiles from which each estimate is computed
    _n_quantiles: int = field(default=0, repr=False)
    # Number of reports in each estimate's group
    _n: NDArray[Any] | None = field(default=None, repr=False)

    def confidence_interval(
        self, level: float = 0.95, *, simultaneous: bool = False
    ) -> NDArray[Any]:
        """Confidence interval of each estimate.

        Parameters
        ----------
        level : float, default=0.95
            Probability that an interval contains the true value.
        simultaneous : bool, default=False
            Whether `level` is the probability that all intervals contain their true values
            simultaneously (Šidák's bound).

        Returns
        -------
        array of shape (m, 2)

        Raises
        ------
        ValueError
            If the level is not between 0 and 1.
        """
        level = check_level(level)
        return self._ends(sidak(level, len(self.labels)) if simultaneous else level)

    def covariance(self) -> Floats:
        """Covariance matrix of the unbiased estimates.

        Returns
        -------
        array of shape (m, m)
            NaN for estimates without a standard error.

        Raises
        ------
        ValueError
            If the estimates are quantiles, or single cells of a mechanism that has too many cells
            for a covariance matrix.
        """
        if self._influence is None:
            raise ValueError(f"{self.what}: these estimates have no covariance matrix.")
        covariance = self._influence.covariance()
        unknown = np.isnan(self.std_error)
        covariance[unknown, :] = covariance[:, unknown] = np.nan
        return covariance

    def to_frame(self, level: float = 0.95) -> Any:
        """Return the estimates as a pandas frame.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.

        Returns
        -------
        pandas.DataFrame
            The labels, then "estimate", "std_error", "noise_error", "conf_low", "conf_high",
            "unbiased" and "n", the number of reports (in each group, if reports are in groups).
        """
        import pandas as pd

        low, high = self.confidence_interval(level).T
        labels = zip(*self.labels, strict=True) if self.names else ()
        names = zip(map(str, self.names), labels, strict=True)
        columns = {name: category_series(values) for name, values in names}
        figures = {
            "estimate": self.estimate,
            "std_error": self.std_error,
            "noise_error": self.noise_error,
            "conf_low": low,
            "conf_high": high,
            "unbiased": self.unbiased,
            "n": self.n_reports if self._n is None else self._n,
        }
        return pd.DataFrame(columns | figures, index=range(len(self.labels)))

    @property
    def groups(self) -> list[Any]:
        """The groups as :meth:`difference` accepts them: categories, or tuples of categories."""
        labels = dict.fromkeys(label[: self._n_by] for label in self.labels)
        return [label[0] if len(label) == 1 else label for label in labels]

    def difference(self, first: Any, second: Any) -> "Estimates":
        """Estimate the difference between two groups.

        Parameters
        ----------
        first, second : category, or tuple of categories
            The groups: the first minus the second.

        Returns
        -------
        Estimates
            One row for means; for shares, one row for each category. Errors and intervals take into
            account that both groups are estimated from the same reports.

        Raises
        ------
        ValueError
            If there is no such group, both groups are the same, or the estimates are categories.
        """
        return self._of_two(first, second, "−")

    def contrast(self, coefficients: Mapping[Any, float]) -> "Estimates":
        """Estimate a weighted sum of the groups' estimates.

        Parameters
        ----------
        coefficients : dict
            Coefficient of each group, or of each tuple of categories for several columns; 0 for
            others.

        Returns
        -------
        Estimates

        Raises
        ------
        ValueError
            If there is no such group, all coefficients are 0, or the estimates are categories.
        """
        numbers = contrast_of(coefficients, self.groups)
        return self._combined(numbers, f"{self.what}: a contrast of groups")

    def ratio(self, first: Any, second: Any) -> "Estimates":
        """Estimate the ratio of two groups.

        Parameters
        ----------
        first, second : category, or tuple of categories
            The groups: the first divided by the second.

        Returns
        -------
        Estimates
            Intervals are Fieller's, and unbounded if the second group's estimate may be 0. The
            ratio is NaN if the second group is estimated as 0.

        Raises
        ------
        ValueError
            If there is no such group, both groups are the same, or the estimates are categories.
        """
        return self._of_two(first, second, "/")

    def total(self, size: Any) -> "Estimates":
        """Estimate population totals from shares or means: how many people, or how much.

        Parameters
        ----------
        size : float, or dict of group to float
            The number of people in the population, or in each group if the estimates have groups.

        Returns
        -------
        Estimates
            The shares or means times the size, which is treated as known exactly.

        Raises
        ------
        ValueError
            If a size is not a positive number, a group has no size, or the estimates are quantiles.

        Examples
        --------
        >>> from skrldp import FrequencyEstimator, SRRSanitizer
        >>> X = [["no", 0], ["no", 3], ["yes", 0], ["yes", 3]]
        >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
        >>> estimator = FrequencyEstimator(sanitizer).fit(range(4), sample_weight=[200, 300] * 2)
        >>> estimator.mean(1).total(50_000).estimate.round(-3)  # visits of 50,000 people
        array([107000.])
        """
        self._refuse_quantiles("total")
        groups = self.groups
        if self._n_by and not (isinstance(size, Mapping) and set(size) == set(groups)):
            raise ValueError(
                "Expected the number of people of each group, as in "
                f"total({{{groups[0]!r}: 10_000, ...}}); the groups are [{listed(groups)}]."
            )
        sizes = [size[group] for group in groups] if self._n_by else [size]
        for number in sizes:
            check_positive("size", number, "people")
        factors = np.repeat(np.array(sizes, dtype=float), len(self.labels) // len(sizes))
        return replace(
            self,
            what=f"total, from {self.what}",
            _ends=partial(_scaled_ends, self._ends, factors),
            _influence=self._influence and self._influence.times(np.diag(factors)),
            **{
                name: factors * getattr(self, name)
                for name in ("estimate", "std_error", "noise_error", "unbiased")
            },
        )

    def with_rounding(self, variance: float) -> "Estimates":
        """Add the average variance due to rounding to knots to the noise."""
        n = self.n_reports if self._n is None else self._n
        return replace(self, noise_error=np.sqrt(self.noise_error**2 + variance / n))

    def with_public_means(
        self, shares: "Estimates", means: Mapping[Any, float | None], known: Any
    ) -> "Estimates":
        """Add the variance of the bins' public means, given the shares of bins in each group."""
        variances = dict(zip(means, known.variances, strict=True))
        bin_shares = np.nan_to_num(shares.estimate.reshape(len(self.labels), -1))
        spread = [variances.get(label[-1]) or 0.0 for label in shares.labels[: bin_shares.shape[1]]]
        added = bin_shares**2 @ np.array(spread)
        public = Sample(np.zeros(len(spread)), 0.0, design=np.diag(spread))
        influence = self._influence
        if influence is not None:
            influence = replace(influence, weights=influence.weights | {public: bin_shares})
        return replace(
            self,
            what=f"{self.what} (by public means of bins)",
            std_error=np.sqrt(self.std_error**2 + added),
            _ends=partial(_widened_ends, self._ends, self.estimate, added),
            _influence=influence,
        )

    def _refuse_quantiles(self, kind: str) -> None:
        if self._n_quantiles:
            raise ValueError(f"{self.what}: quantiles have no {kind}. Use shares or a mean.")

    def _of_two(self, first: Any, second: Any, sign: str) -> "Estimates":
        numbers = contrast_of({first: 1.0, second: -1.0}, self.groups)
        if numbers.sum():  # equal groups are a single key of the dict
            raise ValueError(f"both groups are {first!r}: compare two of [{listed(self.groups)}].")
        names = ", ".join(map(_text, self.names[: self._n_by]))
        name = f"{self.what}: {names} {first!r} {sign} {second!r}"
        return self._combined(numbers, name, is_ratio=sign == "/")

    def _combined(
        self, numbers: Floats, name: str, n_by: int = 0, *, is_ratio: bool = False
    ) -> "Estimates":
        """Weighted sums of the groups' estimates, or the ratio of those with weights 1 and -1."""
        if self.estimate.dtype.kind != "f":
            raise ValueError(
                f"{self.what}: these are categories, which have no differences and ratios. Compare "
                "the shares of the categories, marginal(..., by=)."
            )
        order = np.argsort(-numbers, kind="stable")
        order = order[numbers[order] != 0.0]
        rows = np.arange(len(self.labels)).reshape(len(numbers), -1)[order]
        numbers, values = numbers[order], self.estimate[rows]
        (k, m), influence, n = values.shape, None, self.n_reports
        if is_ratio:
            base = np.where(values[1] == 0.0, np.nan, values[1])
            estimates = values[0] / base
            slopes = np.stack([1.0 / base, -estimates / base])
        else:
            estimates, slopes = numbers @ values, np.broadcast_to(numbers[:, None], values.shape)
        correlation, errors = np.full((k, k, m), np.nan), np.full(m, np.nan)
        single = np.full((k, m), np.nan)
        if self._influence is not None:
            joint = self._influence[rows.ravel()]
            stack = np.stack([self._influence[each].covariance() for each in rows.T], axis=-1)
            single = np.sqrt(np.maximum(np.einsum("iij->ij", stack), 0.0))
            sides = single[:, None] * single
            correlation = np.divide(stack, sides, out=np.zeros_like(stack), where=sides > 0)
            # Their intervals do not follow from variances alone
            biased = np.isnan(self.std_error[rows])
            single[biased] = np.nan
            correlation[biased[:, None] | biased] = np.nan
            variances = np.einsum("im,ijm,jm->m", slopes, stack, slopes)
            errors = np.sqrt(np.maximum(variances, 0.0))
            errors[biased.any(axis=0)] = np.nan
            if is_ratio:
                errors[np.abs(values[1]) < LEAST_SHARE * single[1]] = np.nan
            influence = joint.times(np.hstack(list(map(np.diag, slopes))))
            n = round(sum(sample.n for sample, w in joint.weights.items() if w.any())) or n
        n_quantiles = k * self._n_quantiles
        args = self._ends, rows, numbers, values, correlation, single, n_quantiles, is_ratio
        return Estimates(
            name,
            self.names[self._n_by :],
            tuple(self.labels[row][self._n_by :] for row in rows[0]),
            estimates,
            errors,
            np.full(m, np.nan),
            estimates if is_ratio else numbers @ self.unbiased[rows].astype(float),
            n,
            partial(_combined_ends, *args),
            influence,
            n_by,
            n_quantiles,
        )

    def _title(self) -> str:
        return f"{self.what}, from {self.n_reports:,} reports"

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows of a printed table."""
        header = [*map(_text, self.names), "estimate", "std. error", "95 % interval"]
        ends, errors = self.confidence_interval()[:_SHOWN], self.std_error[:_SHOWN]
        columns = _aligned([self.estimate[:_SHOWN], errors, *ends.T], errors)
        rows = []
        for label, estimate, error, low, high in zip(self.labels, *columns, strict=False):
            interval = f"{low} to {high}" if low.strip() else ""
            rows.append([*map(_text, label), estimate, error, interval])
        return header, rows

    def __repr__(self) -> str:
        header, rows = self._shown()
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        lines = [
            "  ".join(f"{text:>{width}}" for text, width in zip(row, widths, strict=True))
            for row in (header, *rows)
        ]
        n_more = len(self.labels) - len(rows)
        return "\n".join([self._title(), *lines, *([f"... and {n_more:,} more"] if n_more else [])])

    def _repr_html_(self) -> str:
        header, rows = self._shown()
        return page(self._title(), rows, header=header, n_more=len(self.labels) - len(rows))


def _text(value: Any) -> str:
    return in_one_line(str(value))


def _aligned(columns: Sequence[NDArray[Any]], errors: Floats) -> list[list[str]]:
    """Format columns with enough decimals for two significant digits of each error."""
    if columns[0].dtype.kind != "f":
        texts = [list(map(str, column.tolist())) for column in columns]
        texts[1] = [""] * len(errors)  # categories have no standard errors
    else:
        values = np.abs(np.concatenate(columns))
        largest = float(np.max(values, where=np.isfinite(values), initial=1e-6))
        sizes, n_digits = (errors, 2) if (errors > 0).any() else (values, 4)
        n_decimals = decimals(sizes.tolist(), largest, n_digits)
        if np.isnan(errors).all() and not np.any(np.fmod(values, 1.0) > 0.0):
            n_decimals = 0  # quantiles of integers
        texts = [[_decimal(value, n_decimals) for value in column] for column in columns]
    return [[text.rjust(max(map(len, column))) for text in column] for column in texts]


def _decimal(value: float, n_decimals: int) -> str:
    if math.isnan(value):
        return ""
    text = f"{value:,.{n_decimals}f}" if abs(value) < 1e7 else in_digits(value)
    return text.removeprefix("-") if not float(text.replace(",", "")) else text


# -- of two sets of reports, or two groups --------------------------------------------------------


def difference(first: Any, second: Any, *, paired: Pairs | None = None) -> Estimates:
    """Estimate the difference between estimates from two sets of reports.

    Parameters
    ----------
    first, second : Estimates
        The same estimates of two fitted estimators, such as their means of a column.
    paired : PairedReports, optional
        Which reports are about the same people, as in a panel. None if no person is in both sets.

    Returns
    -------
    Estimates
        The first minus the second. The intervals combine those of both estimates and their
        correlation (Zou and Donner 2008); for quantiles, they are valid under any dependence.

    Raises
    ------
    TypeError
        If `first` or `second` is not an estimate. ValueError If their columns or categories differ,
        if the estimates are categories, or if the pairs belong to other estimators.

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
    >>> change.estimate.round(2), change.std_error.round(2)
    (array([0.3]), array([0.05]))
    """
    return _compared(first, second, paired, "difference")


def ratio(first: Any, second: Any, *, paired: Pairs | None = None) -> Estimates:
    """Estimate the ratio of estimates from two sets of reports.

    Parameters
    ----------
    first, second : Estimates
        As for :func:`difference`.
    paired : PairedReports, optional
        As for :func:`difference`.

    Returns
    -------
    Estimates
        The first divided by the second. Intervals are Fieller's, and unbounded if the second may be
        0. The ratio is NaN if the second is estimated as 0.

    Raises
    ------
    TypeError, ValueError
        As by :func:`difference`.

    References
    ----------
    A. Donner and G. Y. Zou, Closed-form confidence intervals for functions of the normal mean and
    standard deviation, Statistical Methods in Medical Research 21, 2012.

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
    >>> change.estimate.round(2), change.std_error.round(2)
    (array([1.17]), array([0.03]))
    """
    return _compared(first, second, paired, "ratio")


def pooled(first: Any, second: Any, *, paired: Pairs | None = None) -> Estimates:
    """Estimate the common level of two sets of reports, such as both waves of a panel.

    Parameters
    ----------
    first, second : Estimates
        The same shares or means of two fitted estimators.
    paired : PairedReports, optional
        As for :func:`difference`. Without it, reports about the same people are treated as reports
        about different people, and intervals are too short.

    Returns
    -------
    Estimates
        Weighted means of the two, with the same two weights for all rows, so that shares still sum
        to 1. The weights minimise the sum of the variances. If the populations differ, the common
        level describes neither.

    Raises
    ------
    TypeError, ValueError
        As by :func:`difference`, and if the estimates are quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp import FrequencyEstimator, SRRSanitizer
    >>> from skrldp.estimation import pooled
    >>> X = [["no", 0], ["no", 3], ["yes", 0], ["yes", 3]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> def wave(n):
    ...     sent = np.rint(n * sanitizer.mechanism_.matrix @ [0.1, 0.2, 0.2, 0.5])
    ...     return FrequencyEstimator(sanitizer).fit(range(4), sample_weight=sent)
    >>> spring, autumn = wave(5_000).mean(1), wave(10_000).mean(1)
    >>> np.concatenate([f.std_error for f in (spring, autumn, pooled(spring, autumn))]).round(3)
    array([0.045, 0.032, 0.026])
    """
    stack = _two_sets(first, second, paired)
    stack._refuse_quantiles("pooled level")
    sizes = np.array([first.n_reports, second.n_reports], dtype=float)
    stated = np.isfinite(first.std_error) & np.isfinite(second.std_error)
    if stack._influence is not None and stated.any():
        m = len(stated)
        covariance = stack._influence.covariance().reshape(2, m, 2, m)
        of_first, of_second, across = (
            float(np.diag(covariance[i, :, j])[stated].sum()) for i, j in ((0, 0), (1, 1), (0, 1))
        )
        gains = np.maximum([of_second - across, of_first - across], 0.0)
        sizes = gains if gains.any() else np.ones(2)
    return stack._combined(sizes / sizes.sum(), f"level of two: {first.what}", first._n_by)


def _compared(first: Any, second: Any, paired: Any, kind: str) -> Estimates:
    """Subtract or divide the same estimates of two sets of reports."""
    stack, signs = _two_sets(first, second, paired), np.array([1.0, -1.0])
    description = f"{kind} of two: {first.what}"
    return stack._combined(signs, description, first._n_by, is_ratio=kind == "ratio")


def _two_sets(first: Any, second: Any, paired: Any) -> Estimates:
    """Check that two tables have the same estimates, and stack them."""
    for figures in (first, second):
        if not isinstance(figures, Estimates):
            raise TypeError(f"Expected estimates of two estimators, got {type(figures).__name__}.")
    if not (paired is None or isinstance(paired, Pairs)):
        raise TypeError(f"paired must be PairedReports or None, got {type(paired).__name__}.")
    if (first.names, first.labels) != (second.names, second.labels):
        raise ValueError(
            f"the two estimates have different columns or categories: {len(first.labels)} of "
            f"{list(first.names)}, and {len(second.labels)} of {list(second.names)}. Give the same "
            "categories to both designs."
        )
    if paired is not None:
        one, two = (x._influence.weights if x._influence else () for x in (first, second))
        samples = paired.samples
        if not any(a in one and b in two for a, b in (samples, samples[::-1])):
            raise ValueError(
                "paired= must link the two estimators of these estimates. Make the pairs again "
                "after "
                "an estimator is fitted again."
            )
    two = stacked([first, second], ("",), [(0,), (1,)], () if paired is None else (paired,))
    return replace(two, _n_by=1)


def stacked(
    groups: Sequence[Estimates],
    names: tuple[Any, ...],
    labels: Sequence[tuple[Any, ...]],
    pairs: tuple[Pairs, ...] = (),
) -> Estimates:
    """Stack the same estimates from several labelled groups of reports."""
    first, influences = groups[0], [x._influence for x in groups if x._influence is not None]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(group, name) for group in groups])
        for name in ("estimate", "std_error", "noise_error", "unbiased")
    }
    return replace(
        first,
        names=names + first.names,
        labels=tuple(
            label + of for label, group in zip(labels, groups, strict=True) for of in group.labels
        ),
        n_reports=sum(group.n_reports for group in groups),
        _ends=partial(_stacked_ends, [group._ends for group in groups]),
        _influence=Influence.together(influences, pairs)
        if len(influences) == len(groups)
        else None,
        _n_by=len(names) + first._n_by,
        _n_quantiles=max(group._n_quantiles for group in groups),
        _n=np.repeat([group.n_reports for group in groups], len(first.labels)),
        **arrays,
    )


# The ends of intervals as functions of the level; these are partial functions, which can be
# pickled.


def _stacked_ends(groups: Sequence[Ends], level: float) -> NDArray[Any]:
    """Return the ends of the intervals of several groups' estimates."""
    return np.concatenate([ends(level) for ends in groups])


def _combined_ends(
    ends: Ends,
    rows: Indices,
    numbers: Floats,
    values: Floats,
    correlation: Floats,
    errors: Floats,
    n_quantiles: int,
    is_ratio: bool,
    level: float,
) -> Floats:
    """Return the ends of the intervals of weighted sums of estimates at given rows.

    The sum of two quantiles' intervals is conservative; each further interval adds its error
    probability.
    """
    group_ends = ends(1.0 - (1.0 - level) / max(n_quantiles - 1, 1))[rows]
    spreads = ndtri(0.5 + level / 2.0) * errors
    if is_ratio:
        return ratio_ends(values, group_ends, correlation[0, 1], spreads)
    return combined_ends(numbers, values, group_ends, correlation, spreads)


def _widened_ends(ends: Ends, estimate: Floats, added: Floats, level: float) -> Floats:
    """Widen intervals for an additional, independent variance of the estimates."""
    half, more = ends(level) - estimate[:, None], ndtri(0.5 + level / 2.0) ** 2 * added
    return estimate[:, None] + np.array([-1.0, 1.0]) * np.sqrt(half**2 + more[:, None])


def _scaled_ends(ends: Ends, factors: Floats, level: float) -> NDArray[Any]:
    """Return the ends of the intervals of totals."""
    return factors[:, None] * ends(level)
