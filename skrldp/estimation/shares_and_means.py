"""The methods of every estimator: shares, means and quantiles of the columns of records."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skrldp._params import as_list, is_finite
from skrldp._typing import Booleans, Floats
from skrldp.alphabet.combinations import (
    CellGroups,
    group_cells,
    group_records,
    means_of_bins,
    numbers_of_cells,
)
from skrldp.alphabet.numbers import Bins, is_infinite
from skrldp.estimation.channels import Channel, StructuredChannel, most_likely
from skrldp.estimation.errors_and_intervals import Inference, Sample, Samples, Statistic, project
from skrldp.estimation.figures import Ends, Estimates, Influence, stacked
from skrldp.estimation.hypotheses import HypothesisTest, independence_of
from skrldp.estimation.report_weights import CellShares, WeightedStatistic
from skrldp.mechanism.mechanism import Mechanism

_MOST_NUMBERS = 25_000_000  # maximum of estimates times cells, which take a few hundred megabytes
# For the most likely distribution: tolerance in nats per report, and maximum number of steps.
_TOL, _STEPS = 1e-10, 10_000


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a record, with the information in the reports about functions of the cells."""

    record: Mechanism
    channel: Channel
    samples: Samples
    names: tuple[Any, ...] = ()  # names of the columns of groups of reports
    method: str = "unbiased"
    bounded: bool = True  # whether weights of bounded bias replace weak ones
    kind: type[WeightedStatistic] = WeightedStatistic
    _kept: dict[Any, Any] = field(default_factory=dict)

    @property
    def counts(self) -> Floats:
        """Counts of the reports of all groups, (b,), weighted if they are from a survey."""
        return np.sum([sample.n * sample.shares for _, sample in self.samples], axis=0)

    def one_sample(self, purpose: str) -> Sample:
        """Return the only group of reports."""
        if self.names:
            raise ValueError(f"{purpose} needs one group: fit an estimator to its reports alone.")
        return self.samples[0][1]

    def _keep(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def statistic(
        self, c: Floats, g: Floats | None, sample: Sample, channel: Channel | None = None
    ) -> WeightedStatistic:
        """Make the statistic of quantities c·π / g·π, (k, a), without replacing biased weights."""
        statistic = self.kind.of(channel or self.channel, c, g)
        if not (self.bounded and statistic.is_weak(sample.n).any()):
            return statistic
        key = statistic.c.tobytes(), statistic.g.tobytes(), sample.n
        return self._keep(key, lambda: statistic.with_bounded_bias(sample.n))

    def unbiased(self, functions: Floats) -> WeightedStatistic:
        """Make the statistic of linear functions (k, a), even if few reports determine them."""
        return self.kind.of(self.channel, functions)

    def covariance(self, functions: Floats) -> tuple[Floats, Booleans]:
        """Covariance of estimates of linear functions, (m, a) to (m, m), and which are determined.

        The derivative of an estimate with respect to the cells' probabilities is such a function
        (delta method).
        """
        statistic, (_, sample) = self.unbiased(functions), self.samples[0]
        covariance = sample.covariance(statistic.of_c, statistic.of_c)
        covariance[~statistic.determined, :] = covariance[:, ~statistic.determined] = np.nan
        return covariance, statistic.determined

    def evaluated(self, estimands: "Estimands", sample: Sample) -> tuple[Statistic, Sample]:
        """Make the statistic of quantities, and the grouping of reports that it uses.

        Without a matrix, shares of only S or U use the reported S or U.
        """
        if estimands.c is not None:
            return self.statistic(estimands.c, estimands.g, sample), sample
        assert estimands.shares is not None
        channel, labels, k = self.channel, estimands.shares.labels, len(estimands.shares.categories)
        if isinstance(channel, StructuredChannel):
            table = labels.reshape(channel.blocks.shape)
            reports = sample.shares.reshape(table.shape)
            for axis, edge in ((1, table[:, :1]), (0, table[:1])):
                if k > 1 and (table == edge).all():
                    sample, labels = replace(sample, shares=reports.sum(axis=axis)), edge.ravel()
                    channel = channel.of_part(axis)
                    break
        if isinstance(channel, StructuredChannel) and k == channel.n_cells:
            cells = CellShares.of_cells(channel)
            return cells.with_bounded_bias(sample.n) if self.bounded else cells, sample
        check_size(k, channel.n_cells)
        shares = (labels == np.arange(k)[:, None]).astype(float)
        return self.statistic(shares, None, sample, channel), sample

    def most_likely(self, sample: Sample) -> Floats:
        """Return the most likely distribution of the cells, (a,)."""
        args = self.channel, sample.shares, _TOL, _STEPS
        return self._keep(sample, lambda: most_likely(*args).distribution)

    def frequencies(self) -> tuple[Floats, Booleans]:
        """Return the distribution of the cells, (a,), and which of them the reports determine."""
        sample = Sample.of_counts(self.counts)
        if isinstance(self.channel, StructuredChannel):
            shares: Statistic = CellShares.of_cells(self.channel)
        else:
            shares = self.unbiased(np.eye(self.channel.n_cells))
        known = shares.determined
        if self.method == "em":
            return self.most_likely(sample), known
        inference = shares.inference(sample)
        unbiased = inference.unbiased
        return project(unbiased, inference.variances) if known.all() else unbiased, known


class FigureMethods(ABC):
    """Shares, means and quantiles of a fitted estimator's columns."""

    @abstractmethod
    def _cells(self, columns: Any, by: Any, part: str = "all") -> Cells:
        """Return cells with the given columns, or with a part of the record if there are none."""

    def marginal(self, columns: Any = None, *, part: str = "all", by: Any = None) -> Estimates:
        """Estimate the distribution of some columns: shares, or a crosstab.

        Parameters
        ----------
        columns : name, position, list of them, or None
            Columns of the table; None for a part of the record.
        part : {"all", "sensitive", "nonsensitive"}, default="all"
            The part, if `columns` is None: X, S or U.
        by : name, position or list of them, optional
            Columns that define groups of records, for shares within each group.

        Returns
        -------
        Estimates
            The shares of all combinations of categories that occur in the mechanism's cells.

        Raises
        ------
        ValueError
            If the mechanism has no such columns.
        """
        cells = self._cells(columns, by, part)
        return _figures(cells, estimands_of_shares(cells, columns, part, by))

    def mean(self, column: Any, *, by: Any = None) -> Estimates:
        """Estimate the mean of a column of numbers.

        Parameters
        ----------
        column : name or position
            A column of the table. Records with a missing value are ignored.
        by : name, position or list of them, optional
            Columns that define groups of records, for means of the groups.

        Returns
        -------
        Estimates
            For a column with :class:`~skrldp.Knots`, the mean is unbiased for every population, and
            its `noise_error` includes the rounding. For a column with :class:`~skrldp.Bins`, it
            uses the public records' means within the bins, whose variance is included; for a
            different population, these means may be off by up to a bin's width.

        Raises
        ------
        ValueError
            If there is no such column, or it is not numeric.
        """
        cells = self._cells(column, by)
        figures = _figures(cells, estimands_of_mean(cells, column, by))
        name = group_cells(cells.record, [column], "all").name[0]
        known = getattr(cells.record, "public_numbers", {}).get(name)
        if known is None:
            return figures
        if known.rounding is not None:
            return figures.with_rounding(known.rounding)
        shares = self.marginal(column, by=by)
        return figures.with_public_means(shares, means_of_bins(cells.record, name), known)

    def quantile(
        self, column: Any, q: float = 0.5, *, order: Sequence[Any] | None = None, by: Any = None
    ) -> Estimates:
        """Estimate a quantile: the smallest number or category not exceeded by a share q.

        Parameters
        ----------
        column : name or position
            A column of the table. Records with a missing value are ignored.
        q : float, default=0.5
            Between 0 and 1; 0.5 is the median.
        order : sequence, optional
            The column's categories from smallest to largest, if they are neither numbers nor bins,
            such as ``table["size"].cat.categories``.
        by : name, position or list of them, optional
            Columns that define groups of records, for quantiles of the groups.

        Returns
        -------
        Estimates
            A number or category of the column for each group, without a standard error. For a
            column with :class:`~skrldp.Bins`, a number or date by linear interpolation within its
            bin, or the finite edge of an open bin. The interval contains the numbers t for which
            the reports contradict neither of two statements: that at least a share q is at most t,
            and that at most a share q is below t (Woodruff 1952).

        Raises
        ------
        ValueError
            If there is no such column, if it is not numeric and has no `order`, if the order lacks
            a category, or if q is not between 0 and 1.
        """
        if not (is_finite(q) and 0.0 < q < 1.0):
            raise ValueError(f"q={q!r} must be a number between 0 and 1.")
        cells = self._cells(column, by)
        group = group_cells(cells.record, [column], "all")
        bins = getattr(cells.record, "numbers_by_name", {}).get(group.name[0])
        bins = bins if isinstance(bins, Bins) and order is None else None
        order = order if bins is None else bins.labels
        group, categories = (group, None) if order is None else _ranked(group, order)
        numbers, present = numbers_of_cells(group)
        groups, members = _members(cells, by, group, present)
        steps = np.unique(numbers[present > 0])
        check_size(len(members) * len(steps), cells.channel.n_cells)
        within = np.repeat(members, len(steps), axis=0)
        shares = np.tile(numbers <= steps[:, None], (len(members), 1)) * within
        name = f"quantile {q:g} of {group.name[0]!r}"
        below = _figures(cells, Estimands(name, groups, None, shares, within), len(steps))
        if bins is not None:
            upper = [0, *(int(step) + 1 for step in steps)]
            return _quantiles(below, partial(_interpolated, [bins.edges[k] for k in upper]), q)
        if categories is not None:
            steps = np.array(categories, dtype=object)[steps.astype(int)]
        return _quantiles(below, partial(_first, steps), q)

    def test_independence(self, first: Any, second: Any, *, given: Any = None) -> HypothesisTest:
        """Test whether two columns are independent, or independent given others.

        Parameters
        ----------
        first, second : name, position or list of them
            Columns of the table. Several columns are treated as their combination.
        given : name, position or list of them, optional
            Columns within whose categories the two are independent.

        Returns
        -------
        HypothesisTest
            By the score statistic: its covariance is that under the hypothesis.

        Raises
        ------
        ValueError
            If there are no such columns, if no block contains all of them, if the reports do not
            determine their joint distribution, or if some of their combinations are not cells.

        Examples
        --------
        >>> from skrldp import FrequencyEstimator, SRRSanitizer
        >>> X = [["no", 0], ["no", 1], ["yes", 0], ["yes", 1]]
        >>> sanitizer = SRRSanitizer(eps=2.0, sensitive=0).fit(X, sample_weight=[300, 70, 200, 430])
        >>> sent = (5_000 * sanitizer.mechanism_.matrix @ [0.3, 0.07, 0.2, 0.43]).round()
        >>> estimator = FrequencyEstimator(sanitizer).fit(range(4), sample_weight=sent)
        >>> print(estimator.test_independence(0, 1))
        5,000 reports contradict that 0 and 1 are independent (p = 1.4e-137; ...
        """
        columns = [*as_list(first), *as_list(second), *as_list(given)]
        cells = self._cells(columns, None)
        sample = cells.one_sample("a test of independence")
        return independence_of(cells.channel, cells.record, sample, first, second, given)


class Estimands(NamedTuple):
    """Estimates that are requested."""

    name: str
    groups: tuple[CellGroups, ...]  # the groups by columns, if any
    shares: CellGroups | None  # the categories, for shares
    c: Floats | None = None  # (k, a), for estimates c·π / g·π; None for the shares of all records
    g: Floats | None = None  # None: 1

    @property
    def labelled(self) -> tuple[CellGroups, ...]:
        """The groups of cells that the labels name, in order."""
        return self.groups if self.shares is None else (*self.groups, self.shares)

    @property
    def labels(self) -> list[tuple[Any, ...]]:
        """The label of each estimate."""
        groups = ((len(group.name) > 1, group.categories) for group in self.labelled)
        rows = ([c if is_row else (c,) for c in own] for is_row, own in groups)
        return [tuple(chain(*label)) for label in product(*rows)]


def estimands_of_shares(cells: Cells, columns: Any, part: str, by: Any) -> Estimands:
    """Request the shares of columns, or of a part, within groups."""
    group = group_cells(cells.record, columns, part)
    if by is None:
        return Estimands("share", (), group)
    groups = group_records(cells.record, by, group)
    check_size(len(group.categories) * len(groups.categories), cells.channel.n_cells)
    within = np.repeat(groups.indicators, len(group.categories), axis=0)
    shares = np.tile(group.indicators, (len(groups.categories), 1)) * within
    return Estimands("share", (groups,), group, shares, within)


def estimands_of_mean(cells: Cells, column: Any, by: Any) -> Estimands:
    """Request the mean of a column, within groups."""
    group = group_cells(cells.record, [column], "all")
    numbers, present = numbers_of_cells(group, means_of_bins(cells.record, group.name[0]))
    groups, members = _members(cells, by, group, present)
    within = None if members.all() else members
    name = f"mean of {group.name[0]!r}"
    return Estimands(name, groups, None, numbers * members, within)


def _members(
    cells: Cells, by: Any, group: CellGroups, present: Floats
) -> tuple[tuple[CellGroups, ...], Floats]:
    """Return the requested groups, and which cells with a number are in each of them (k, a)."""
    if by is None:
        return (), present[None]
    groups = group_records(cells.record, by, group)
    check_size(len(groups.categories), cells.channel.n_cells)
    return (groups,), present * groups.indicators


def _figures(cells: Cells, estimands: Estimands, n_steps: int = 1) -> Estimates:
    """Estimate from each group of reports; `n_steps` estimates have the same label."""
    of_groups = [_of_one(cells, estimands, sample, n_steps) for _, sample in cells.samples]
    if not cells.names:
        return of_groups[0]
    return stacked(of_groups, cells.names, [label for label, _ in cells.samples])


def _of_one(cells: Cells, estimands: Estimands, group: Sample, n_steps: int) -> Estimates:
    """Estimate from one group of reports."""
    statistic, sample = cells.evaluated(estimands, group)
    inference, influence = statistic.inference(sample), None
    ends = inference.ends
    likely = cells.most_likely(group) if cells.method == "em" else None
    points = _points(estimands, inference, likely)
    if estimands.shares is not None:
        points = np.clip(points, *ends(0.95).T)
    if isinstance(statistic, WeightedStatistic):
        influence = Influence(dict([sample.on_survey(statistic.influence(sample))]))
    return Estimates(
        estimands.name,
        tuple(name for group in estimands.labelled for name in group.name),
        tuple(label for label in estimands.labels for _ in range(n_steps)),
        points,
        inference.errors,
        inference.noise_errors,
        inference.unbiased,
        round(sample.n),
        ends,
        influence,
        sum(len(group.name) for group in estimands.groups),
    )


def _points(estimands: Estimands, inference: Inference, likely: Floats | None) -> Floats:
    """Point estimates for a group of reports: at a given distribution (a,), or unbiased."""
    statistic = inference.statistic
    if likely is not None:
        if estimands.shares is not None and not estimands.groups:
            k = len(estimands.shares.categories)
            return np.bincount(estimands.shares.labels, likely, k).astype(np.float64)
        assert isinstance(statistic, WeightedStatistic)
        top, share = statistic.c @ likely, statistic.g @ likely
        ratio = np.divide(top, share, out=np.full_like(top, np.nan), where=share > 0)
        return statistic.lowest + ratio
    points = inference.points
    if estimands.shares is None:
        return np.clip(points, statistic.lowest, statistic.lowest + statistic.width)
    tables = points.reshape(-1, len(estimands.shares.categories))
    spreads = inference.variances.reshape(tables.shape)
    for table, variances in zip(tables, spreads, strict=True):
        if np.isfinite(table).all():
            table[:] = project(table, variances)
    return points


# Maps the cumulative shares of groups at k values, and q, to a quantile of each group.
Inverse = Callable[[Floats, float], NDArray[Any]]


def _quantiles(below: Estimates, inverse: Inverse, q: float) -> Estimates:
    """Compute quantiles of each group from the cumulative shares at the values."""
    estimate = inverse(below.estimate, q - 1e-12)
    undefined, k = np.full(len(estimate), np.nan), len(below.estimate) // len(estimate)
    return replace(
        below,
        labels=below.labels[::k],
        estimate=estimate,
        std_error=undefined,
        noise_error=undefined,
        unbiased=estimate,
        _ends=partial(_quantile_ends, below._ends, inverse, q),
        _influence=None,
        _n_quantiles=1,
        _n=None if below._n is None else below._n[::k],
    )


def _quantile_ends(ends: Ends, inverse: Inverse, q: float, level: float) -> NDArray[Any]:
    """Return the ends of the intervals of quantiles, from those of the cumulative shares."""
    sure, possible = ends(level).T
    return np.stack([inverse(side, q) for side in (possible, sure)], axis=1)


def _first(values: NDArray[Any], shares: Floats, q: float) -> NDArray[Any]:
    """Return the first value at which each group's cumulative share reaches q, or NaN."""
    table = shares.reshape(-1, len(values))
    quantiles = values[(np.maximum.accumulate(table[:, :-1], axis=1) < q).sum(axis=1)]
    quantiles[np.isnan(table[:, 0])] = np.nan
    return quantiles


def _interpolated(edges: Sequence[Any], shares: Floats, q: float) -> NDArray[Any]:
    """Return the value at which each group's cumulative share reaches q, linear within bins.

    Within an open bin this is the finite edge. NaN for empty groups.
    """
    ends = [edges[1] if is_infinite(edges[0]) else edges[0], *edges[1:-1]]
    ends.append(edges[-2] if is_infinite(edges[-1]) else edges[-1])
    origin = ends[0]
    steps = np.array([(end - origin) / _unit_of(origin) for end in ends], dtype=float)
    table = np.maximum.accumulate(np.clip(shares.reshape(-1, len(edges) - 1), 0.0, 1.0), axis=1)
    table[:, -1] = np.where(np.isnan(table[:, -1]), np.nan, 1.0)
    quantiles = np.array([np.interp(q, np.append(0.0, row), steps) for row in table])
    if isinstance(origin, date):
        return np.array([origin + step * _unit_of(origin) for step in quantiles], dtype=object)
    return quantiles + float(origin)


def _unit_of(value: Any) -> Any:
    return timedelta(days=1) if isinstance(value, date) else 1.0


def _ranked(group: CellGroups, order: Sequence[Any]) -> tuple[CellGroups, tuple[Any, ...]]:
    """Replace categories by their ranks."""
    names = tuple(order) if isinstance(order, Iterable) else ()
    lacks = [c for c in group.categories if c is not None and c not in names]
    if isinstance(order, str) or lacks or len(set(names)) < len(names) or None in names:
        raise ValueError(
            f"order={order!r} must list the categories of column {group.name[0]!r} from least to "
            f"greatest, each once: {[c for c in group.categories if c is not None]}."
        )
    ranks = tuple(None if c is None else names.index(c) for c in group.categories)
    return CellGroups(group.name, ranks, group.labels), names


def check_size(k: int, n_cells: int) -> None:
    """Reject more estimates than fit into memory."""
    if k * n_cells > _MOST_NUMBERS:
        raise ValueError(f"{k:,} estimates of {n_cells:,} cells are too many. Use fewer columns.")
