"""Estimates with errors and intervals, as tables, and their differences and ratios."""

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
from skrldp.alphabet.columns import listed
from skrldp.estimation.errors_and_intervals import (
    LEAST_SHARE,
    Sample,
    combined_ends,
    ratio_ends,
)
from skrldp.table.codec import category_series
from skrldp.targets import contrast_of

_SHOWN = 20  # rows of a printed table

Ends = Callable[[float], NDArray[Any]]  # of intervals, for a level


@dataclass(frozen=True, eq=False)
class Influence:
    """Contributions of single reports to k estimates, times their number, by sample."""

    parts: dict[Sample, Floats]  # weights (k, b), of mean 0
    pairs: "tuple[Pairs, ...]" = ()

    @classmethod
    def together(
        cls, several: "Sequence[Influence]", pairs: "tuple[Pairs, ...]" = ()
    ) -> "Influence":
        """Of as many estimates of each, one after the other."""
        found: dict[Sample, Floats] = {}
        for unit, one in zip(np.eye(len(several)), several, strict=True):
            for sample, own in one.parts.items():
                padded = np.kron(unit[:, None], own).astype(float)
                found[sample] = found[sample] + padded if sample in found else padded
        return cls(found, pairs + tuple(pair for one in several for pair in one.pairs))

    def covariance(self) -> Floats:
        """Covariance of the estimates, (k, k)."""
        found = sum(sample.covariance(own, own) for sample, own in self.parts.items())
        for pairs in self.pairs:
            one, two = pairs.moves(self)
            found = found + (one * pairs.numbers) @ two.T + (two * pairs.numbers) @ one.T
        return np.asarray(found)

    def times(self, slopes: Floats) -> "Influence":
        """Of linear functions of the estimates, (m, k) to m estimates."""
        return replace(self, parts={sample: slopes @ own for sample, own in self.parts.items()})

    def __getitem__(self, rows: Indices) -> "Influence":
        return replace(self, parts={sample: own[rows] for sample, own in self.parts.items()})


@dataclass(frozen=True, eq=False)
class Pairs:
    """Number of people who sent each pair of symbols to two samples."""

    samples: tuple[Sample, Sample]
    symbols: tuple[Indices, Indices]  # (p,) of each kind of pair
    numbers: Floats  # (p,), people of each kind

    def moves(self, influence: Influence) -> list[Floats]:
        """Return what the reports of each kind of pair add to estimates, (k, p) of each sample."""
        found, k = [], len(next(iter(influence.parts.values())))
        for sample, symbols in zip(self.samples, self.symbols, strict=True):
            weights = influence.parts.get(sample, np.zeros((k, len(sample.shares))))
            found.append(weights[:, symbols] / sample.n)
        return found


@dataclass(frozen=True, eq=False)
class Estimates(ReadOnly):
    """Estimates from reports: shares, means or quantiles, a row each.

    Attributes
    ----------
    what : str
        What is estimated, in words.
    names : tuple of str
        Names of the columns that the labels are categories of, those of groups first.
    labels : tuple of m tuples
        Which estimate each row is.
    estimate : array of shape (m,)
        The estimates. Shares of one table are a distribution: the one next to the unbiased shares.
        NaN where no record of the group is seen.
    std_error : array of shape (m,)
        Standard errors; NaN where the estimate is not identifiable from these reports, or fewer
        than 30 reports would determine it: the interval is still valid.
    noise_error : array of shape (m,)
        The part of the standard errors that the mechanism adds: by how much the estimates vary
        around those of the same people's raw answers.
    unbiased : array of shape (m,)
        The estimates as the weights of the reports make them, which may be negative; NaN where the
        estimate is not identifiable.
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
    _influence: Influence | None = field(default=None, repr=False)  # None: of quantiles
    _n_by: int = field(default=0, repr=False)  # columns of groups, which come first
    _n_quantiles: int = field(default=0, repr=False)  # that each estimate is made of
    _n: NDArray[Any] | None = field(default=None, repr=False)  # reports of each estimate's group

    def confidence_interval(
        self, level: float = 0.95, *, simultaneous: bool = False
    ) -> NDArray[Any]:
        """Confidence interval of each estimate.

        Parameters
        ----------
        level : float, default=0.95
            Probability that an interval contains the true value.
        simultaneous : bool, default=False
            Whether `level` is the probability that all do so at once (Šidák's bound).

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
            NaN where an estimate has no standard error.

        Raises
        ------
        ValueError
            If the estimates are quantiles, or single cells of a mechanism with too many for a
            matrix.
        """
        if self._influence is None:
            raise ValueError(f"{self.what}: these figures have no covariance matrix.")
        found = self._influence.covariance()
        unknown = np.isnan(self.std_error)
        found[unknown, :] = found[:, unknown] = np.nan
        return found

    def to_frame(self, level: float = 0.95) -> Any:
        """Write the estimates as a pandas frame.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.

        Returns
        -------
        pandas.DataFrame
            The labels, then "estimate", "std_error", "noise_error", "conf_low", "conf_high",
            "unbiased" and "n", the number of reports (of the group, if these are in groups).
        """
        import pandas as pd

        low, high = self.confidence_interval(level).T
        labels = zip(*self.labels, strict=True) if self.names else ()
        columns = {
            name: category_series(own)
            for name, own in zip(map(str, self.names), labels, strict=True)
        }
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
        """The groups, as :meth:`difference` names them: categories, of several columns tuples."""
        found = dict.fromkeys(label[: self._n_by] for label in self.labels)
        return [one[0] if len(one) == 1 else one for one in found]

    def difference(self, first: Any, second: Any) -> "Estimates":
        """Estimate by how much one group exceeds another group.

        Parameters
        ----------
        first, second : category, or tuple of categories
            The groups: the first less the second.

        Returns
        -------
        Estimates
            One for means; for shares one for each category. Errors and intervals take into account
            that both are estimated from the same reports.

        Raises
        ------
        ValueError
            If there is no such group, both are the same, or the estimates are categories.
        """
        return self._of_two(first, second, "−")

    def contrast(self, coefficients: Mapping[Any, float]) -> "Estimates":
        """Estimate a weighted sum over groups.

        Parameters
        ----------
        coefficients : dict
            Number of each group, of several columns of each tuple of categories; 0 for others.

        Returns
        -------
        Estimates

        Raises
        ------
        ValueError
            If there is no such group, all numbers are 0, or the estimates are categories.
        """
        numbers = contrast_of(coefficients, self.groups)
        return self._combined(numbers, f"{self.what}: a contrast of groups")

    def ratio(self, first: Any, second: Any) -> "Estimates":
        """Estimate the ratio of one group to another group.

        Parameters
        ----------
        first, second : category, or tuple of categories
            The groups: the first over the second.

        Returns
        -------
        Estimates
            Intervals are Fieller's: they reach to infinity where the second group's estimate may be
            0. The estimate is NaN where it is estimated as 0.

        Raises
        ------
        ValueError
            If there is no such group, both are the same, or the estimates are categories.
        """
        return self._of_two(first, second, "/")

    def total(self, size: Any) -> "Estimates":
        """Estimate totals of a population from shares or means: how many people, or how much.

        Parameters
        ----------
        size : float, or dict of group to float
            The number of people in the population, or in each group if the estimates have groups.

        Returns
        -------
        Estimates
            The shares or means times the size. The size is taken as known exactly.

        Raises
        ------
        ValueError
            If a size is not a positive number, a group has none, or the estimates are quantiles.

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
        """Add to the noise what rounding to knots adds to each number, in the mean."""
        n = self.n_reports if self._n is None else self._n
        return replace(self, noise_error=np.sqrt(self.noise_error**2 + variance / n))

    def with_public_means(
        self, shares: "Estimates", means: Mapping[Any, float | None], known: Any
    ) -> "Estimates":
        """Add the variance of public means of bins, given the shares of the bins in each group."""
        variances = dict(zip(means, known.variances, strict=True))
        own = np.nan_to_num(shares.estimate.reshape(len(self.labels), -1))
        spread = [variances.get(label[-1]) or 0.0 for label in shares.labels[: own.shape[1]]]
        added = own**2 @ np.array(spread)
        public = Sample(np.zeros(len(spread)), 0.0, design=np.diag(spread))
        influence = self._influence and replace(
            self._influence, parts=self._influence.parts | {public: own}
        )
        return replace(
            self,
            what=f"{self.what} (by public means of bins)",
            std_error=np.sqrt(self.std_error**2 + added),
            _ends=partial(_widened_ends, self._ends, self.estimate, added),
            _influence=influence,
        )

    def _refuse_quantiles(self, what: str) -> None:
        if self._n_quantiles:
            raise ValueError(f"{self.what}: quantiles have no {what}. Take shares or a mean.")

    def _of_two(self, first: Any, second: Any, sign: str) -> "Estimates":
        numbers = contrast_of({first: 1.0, second: -1.0}, self.groups)
        if numbers.sum():  # both are one entry of the dict
            raise ValueError(f"both groups are {first!r}: compare two of [{listed(self.groups)}].")
        names = ", ".join(map(_text, self.names[: self._n_by]))
        what = f"{self.what}: {names} {first!r} {sign} {second!r}"
        return self._combined(numbers, what, is_ratio=sign == "/")

    def _combined(
        self, numbers: Floats, what: str, n_by: int = 0, *, is_ratio: bool = False
    ) -> "Estimates":
        """Weighted sums of the groups' estimates, or the ratio of the one of 1 to the one of -1."""
        if self.estimate.dtype.kind != "f":
            raise ValueError(
                f"{self.what}: these are categories, which have no differences and ratios. Compare "
                "the shares of the categories, marginal(..., by=)."
            )
        order = np.argsort(-numbers, kind="stable")
        order = order[numbers[order] != 0.0]
        places = np.arange(len(self.labels)).reshape(len(numbers), -1)[order]
        numbers, values = numbers[order], self.estimate[places]
        (k, m), influence, n = values.shape, None, self.n_reports
        if is_ratio:
            base = np.where(values[1] == 0.0, np.nan, values[1])
            found = values[0] / base
            slopes = np.stack([1.0 / base, -found / base])
        else:
            found, slopes = numbers @ values, np.broadcast_to(numbers[:, None], values.shape)
        correlation, errors = np.full((k, k, m), np.nan), np.full(m, np.nan)
        if self._influence is not None:
            joint = self._influence[places.ravel()]
            both = np.stack([self._influence[own].covariance() for own in places.T], axis=-1)
            single = np.sqrt(np.maximum(np.einsum("iij->ij", both), 0.0))
            sides = single[:, None] * single
            correlation = np.divide(both, sides, out=np.zeros_like(both), where=sides > 0)
            biased = np.isnan(self.std_error[places])  # intervals are not of variances alone
            correlation[biased[:, None] | biased] = np.nan
            errors = np.sqrt(np.maximum(np.einsum("im,ijm,jm->m", slopes, both, slopes), 0.0))
            errors[biased.any(axis=0)] = np.nan
            if is_ratio:
                errors[np.abs(values[1]) < LEAST_SHARE * single[1]] = np.nan
            influence = joint.times(np.hstack([np.diag(own) for own in slopes]))
            n = round(sum(sample.n for sample, own in joint.parts.items() if own.any())) or n
        n_quantiles = k * self._n_quantiles
        args = self._ends, places, numbers, values, correlation, n_quantiles, is_ratio
        return Estimates(
            what,
            self.names[self._n_by :],
            tuple(self.labels[place][self._n_by :] for place in places[0]),
            found,
            errors,
            np.full(m, np.nan),
            found if is_ratio else numbers @ self.unbiased[places].astype(float),
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
        more = len(self.labels) - len(rows)
        return "\n".join([self._title(), *lines, *([f"... and {more:,} more"] if more else [])])

    def _repr_html_(self) -> str:
        header, rows = self._shown()
        return page(self._title(), rows, header=header, n_more=len(self.labels) - len(rows))


def _text(value: Any) -> str:
    return in_one_line(str(value))


def _aligned(columns: Sequence[NDArray[Any]], errors: Floats) -> list[list[str]]:
    """Write columns with the same number of decimals, which shows two digits of each error."""
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
    """Estimate by how much estimates from one set of reports exceed those from another one.

    Parameters
    ----------
    first, second : Estimates
        The same estimates of two fitted estimators, such as their means of a column.
    paired : PairedReports, optional
        Which reports are about the same people, as in a panel; None if all are different people.

    Returns
    -------
    Estimates
        The first less the second. Intervals are made of those of both estimates and their
        correlation (Zou and Donner 2008); those of quantiles hold whatever the dependence is.

    Raises
    ------
    TypeError
        If they are not estimates.
    ValueError
        If they are about other columns or categories, or are categories; if the pairs are those of
        other estimators.

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
    """Estimate the ratio of estimates from one set of reports to those from another one.

    Parameters
    ----------
    first, second : Estimates
        As for :func:`difference`.
    paired : PairedReports, optional
        As for :func:`difference`.

    Returns
    -------
    Estimates
        The first over the second. Intervals are Fieller's: they reach to infinity where the second
        may be 0. The estimate is NaN where the second is estimated as 0.

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
    """Estimate the level of two sets of reports together, such as both waves of a panel.

    Parameters
    ----------
    first, second : Estimates
        The same shares or means of two fitted estimators.
    paired : PairedReports, optional
        As for :func:`difference`. Without it, reports about the same people count as those of
        different people, and intervals are too short.

    Returns
    -------
    Estimates
        Weighted means of the two, with one pair of weights for all rows, so that shares still add
        up to 1: the weights for which the sum of the variances is smallest. If the populations
        differ, the level describes neither.

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
    both = _two_sets(first, second, paired)
    both._refuse_quantiles("pooled level")
    sizes = np.array([first.n_reports, second.n_reports], dtype=float)
    stated = np.isfinite(first.std_error) & np.isfinite(second.std_error)
    if both._influence is not None and stated.any():
        m = len(stated)
        covariance = both._influence.covariance().reshape(2, m, 2, m)
        one, two, across = (
            float(np.diag(covariance[i, :, j])[stated].sum()) for i, j in ((0, 0), (1, 1), (0, 1))
        )
        gains = np.maximum([two - across, one - across], 0.0)
        sizes = gains if gains.any() else np.ones(2)
    return both._combined(sizes / sizes.sum(), f"level of two: {first.what}", first._n_by)


def _compared(first: Any, second: Any, paired: Any, kind: str) -> Estimates:
    """Subtract or divide the same estimates of two sets of reports."""
    both, signs = _two_sets(first, second, paired), np.array([1.0, -1.0])
    what = f"{kind} of two: {first.what}"
    return both._combined(signs, what, first._n_by, is_ratio=kind == "ratio")


def _two_sets(first: Any, second: Any, paired: Any) -> Estimates:
    """Check that two are the same estimates, and stack them."""
    for one in (first, second):
        if not isinstance(one, Estimates):
            raise TypeError(f"figures of two estimators are needed, got {type(one).__name__}.")
    if not (paired is None or isinstance(paired, Pairs)):
        raise TypeError(f"paired must be PairedReports or None, got {type(paired).__name__}.")
    if (first.names, first.labels) != (second.names, second.labels):
        raise ValueError(
            f"the two estimates have different columns or categories: {len(first.labels)} of "
            f"{list(first.names)}, and {len(second.labels)} of {list(second.names)}. Give the same "
            "categories to both designs."
        )
    if paired is not None:
        own = [one._influence.parts if one._influence else () for one in (first, second)]
        both = paired.samples
        if not any(a in own[0] and b in own[1] for a, b in (both, both[::-1])):
            raise ValueError(
                "paired= links the reports of two fitted estimators, but the figures are not one "
                "of each. Make the pairs anew if an estimator is fitted again."
            )
    two = stacked([first, second], ("",), [(0,), (1,)], () if paired is None else (paired,))
    return replace(two, _n_by=1)


def stacked(
    parts: Sequence[Estimates],
    names: tuple[Any, ...],
    labels: Sequence[tuple[Any, ...]],
    pairs: tuple[Pairs, ...] = (),
) -> Estimates:
    """Stack the same estimates of several groups of reports, which have labels."""
    first, own = parts[0], [one._influence for one in parts if one._influence is not None]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in parts])
        for name in ("estimate", "std_error", "noise_error", "unbiased")
    }
    return replace(
        first,
        names=names + first.names,
        labels=tuple(
            label + of for label, one in zip(labels, parts, strict=True) for of in one.labels
        ),
        n_reports=sum(one.n_reports for one in parts),
        _ends=partial(_stacked_ends, [one._ends for one in parts]),
        _influence=Influence.together(own, pairs) if len(own) == len(parts) else None,
        _n_by=len(names) + first._n_by,
        _n_quantiles=max(one._n_quantiles for one in parts),
        _n=np.repeat([one.n_reports for one in parts], len(first.labels)),
        **arrays,
    )


# Ends of intervals, for a level: parts of functions, so that they pickle.


def _stacked_ends(parts: Sequence[Ends], level: float) -> NDArray[Any]:
    """Return the ends of the intervals of the estimates of several groups."""
    return np.concatenate([ends(level) for ends in parts])


def _combined_ends(
    ends: Ends,
    places: Indices,
    numbers: Floats,
    values: Floats,
    correlation: Floats,
    n_quantiles: int,
    is_ratio: bool,
    level: float,
) -> Floats:
    """Return the ends of the intervals of weighted sums of estimates, in rows of places.

    Two quantiles' intervals hold at once for their sum; each further one adds its misses.
    """
    own = ends(1.0 - (1.0 - level) / max(n_quantiles - 1, 1))[places]
    if is_ratio:
        return ratio_ends(values, own, correlation[0, 1])
    return combined_ends(numbers, values, own, correlation)


def _widened_ends(ends: Ends, estimate: Floats, added: Floats, level: float) -> Floats:
    """Widen intervals for a further, independent variance of the estimates."""
    found = ends(level)
    half = np.sqrt(
        (found - estimate[:, None]) ** 2 + (ndtri(0.5 + level / 2.0) ** 2 * added)[:, None]
    )
    return estimate[:, None] + np.array([-1.0, 1.0]) * half


def _scaled_ends(ends: Ends, factors: Floats, level: float) -> NDArray[Any]:
    """Return the ends of intervals of totals."""
    return factors[:, None] * ends(level)
