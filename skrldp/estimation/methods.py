"""The figures that every estimator has: shares, means and quantiles of the columns of records."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._params import is_finite
from skrldp._typing import Booleans, Floats
from skrldp.alphabet.combinations import (
    CellGroups,
    Record,
    group_cells,
    group_records,
    numbers_of_cells,
)
from skrldp.estimation.figures import Figures, Influence
from skrldp.estimation.statistic import CellShares, Sample, Statistic, project

__all__ = ["Asked", "Cells", "FigureMethods", "asked_mean", "asked_shares", "check_size"]

_MOST_NUMBERS = 25_000_000  # of figures times cells: some hundred megabytes

Evaluated = tuple[Statistic | CellShares, Sample]


class Cells(ABC):
    """The cells of a record, with what reports say about functions of them."""

    record: Record
    n_cells: int
    samples: Sequence[tuple[tuple[Any, ...], Sample]]  # of each group of reports: label, reports
    names: tuple[Any, ...] = ()  # of the columns of groups of reports

    @abstractmethod
    def statistic(self, c: Floats, g: Floats | None, sample: Sample) -> Statistic:
        """Make the statistic of figures c·π / g·π, (k, a)."""

    @abstractmethod
    def unbiased(self, functions: Floats, sample: Sample) -> Statistic:
        """Make the statistic of linear functions (k, a), whatever it rests on."""

    def shares(self, group: CellGroups, sample: Sample) -> Evaluated:
        """Make the statistic of the shares of categories, and the reports that it takes."""
        return self.statistic(group.indicators, None, sample), sample

    def most_likely(self, sample: Sample) -> Floats | None:
        """Return the distribution (a,) that points are those of; None: they are unbiased."""
        return None


class FigureMethods(ABC):
    """Shares, means and quantiles of a fitted estimator's columns."""

    @abstractmethod
    def _cells(self, columns: Any, by: Any, part: str = "all") -> Cells:
        """Return cells that have some columns, or a part if `columns` is None."""

    def marginal(self, columns: Any = None, *, part: str = "all", by: Any = None) -> Figures:
        """Estimate the distribution of some columns: shares, or a crosstab.

        Parameters
        ----------
        columns : name, position, list of them, or None
            Columns of the table; None for a part of the record.
        part : {"all", "sensitive", "nonsensitive"}, default="all"
            The part, if `columns` is None: X, S or U.
        by : name, position or list of them, optional
            Columns that make groups of records: the shares are those within each group.

        Returns
        -------
        Figures
            The shares of all combinations of categories that occur in cells.

        Raises
        ------
        ValueError
            If the mechanism has no such columns.
        """
        cells = self._cells(columns, by, part)
        return _figures(cells, asked_shares(cells, columns, part, by))

    def mean(self, column: Any, *, by: Any = None) -> Figures:
        """Estimate the mean of a column of numbers.

        Parameters
        ----------
        column : name or position
            A column of the table. Records where it is missing are left out.
        by : name, position or list of them, optional
            Columns that make groups of records: the means are those of the groups.

        Returns
        -------
        Figures

        Raises
        ------
        ValueError
            If there is no such column, or it is not numeric.
        """
        cells = self._cells(column, by)
        return _figures(cells, asked_mean(cells, column, by))

    def quantile(
        self, column: Any, q: float = 0.5, *, order: Sequence[Any] | None = None, by: Any = None
    ) -> Figures:
        """Estimate a quantile: the least number or category t that a share q do not exceed.

        Parameters
        ----------
        column : name or position
            A column of the table. Records where it is missing are left out.
        q : float, default=0.5
            Between 0 and 1; 0.5 is the median.
        order : sequence, optional
            The column's categories from least to greatest, if they are not numbers, such as
            ``table["size"].cat.categories``.
        by : name, position or list of them, optional
            Columns that make groups of records: the quantiles are those of the groups.

        Returns
        -------
        Figures
            One of the column's numbers or categories each, without a standard error. The interval
            has the numbers that the reports do not contradict: neither that a share of q is at most
            t, nor that less are below it (Woodruff 1952).

        Raises
        ------
        ValueError
            If there is no such column, it is not numeric and has no `order`, the order lacks a
            category, or q is not between 0 and 1.
        """
        if not (is_finite(q) and 0.0 < q < 1.0):
            raise ValueError(f"q={q!r} must be a number between 0 and 1.")
        cells = self._cells(column, by)
        group = group_cells(cells.record, [column], "all")
        group, categories = (group, None) if order is None else _ranked(group, order)
        numbers, present = numbers_of_cells(group)
        groups, members = _members(cells, by, group, present)
        steps = np.unique(numbers[present > 0])
        within = np.repeat(members, len(steps), axis=0)
        check_size(len(within), cells.n_cells)
        shares = np.tile(numbers <= steps[:, None], (len(members), 1)) * within
        what = f"quantile {q:g} of {group.name[0]!r}"
        asked = Asked(what, groups, len(groups), _of(cells, shares, within))
        values = (
            steps if categories is None else np.array(categories, dtype=object)[steps.astype(int)]
        )
        return _figures(cells, asked, values, float(q))


class Asked:
    """Figures that are asked for: their labels, and their statistic for a set of reports."""

    def __init__(
        self,
        what: str,
        parts: Sequence[CellGroups],
        n_groups: int,
        evaluated: Callable[[Sample], Evaluated],
        partition: CellGroups | None = None,
    ) -> None:
        self.what, self.evaluated, self.partition = what, evaluated, partition
        self.names = tuple(name for one in parts for name in one.name)
        self.n_by = sum(len(one.name) for one in parts[:n_groups])
        # of shares: how many categories have the sum 1
        self.n_shares = len(parts[-1].categories) if len(parts) > n_groups else 0
        labels: list[tuple[Any, ...]] = [()]
        for one in parts:
            own = [c if len(one.name) > 1 else (c,) for c in one.categories]
            labels = [label + category for label in labels for category in own]
        self.labels = labels


def asked_shares(cells: Cells, columns: Any, part: str, by: Any) -> Asked:
    """Ask for the shares of columns, or of a part, within groups."""
    group = group_cells(cells.record, columns, part)
    if by is None:
        return Asked("share", (group,), 0, lambda sample: cells.shares(group, sample), group)
    groups = group_records(cells.record, by, group)
    check_size(len(group.categories) * len(groups.categories), cells.n_cells)
    within = np.repeat(groups.indicators, len(group.categories), axis=0)
    shares = np.tile(group.indicators, (len(groups.categories), 1)) * within
    return Asked("share", (groups, group), 1, _of(cells, shares, within))


def asked_mean(cells: Cells, column: Any, by: Any) -> Asked:
    """Ask for the mean of a column, within groups."""
    group = group_cells(cells.record, [column], "all")
    numbers, present = numbers_of_cells(group)
    groups, members = _members(cells, by, group, present)
    within = None if members.all() else members
    what = f"mean of {group.name[0]!r}"
    return Asked(what, groups, len(groups), _of(cells, numbers * members, within))


def _of(cells: Cells, c: Floats, g: Floats | None) -> Callable[[Sample], Evaluated]:
    check_size(len(c), cells.n_cells)
    return lambda sample: (cells.statistic(c, g, sample), sample)


def _members(
    cells: Cells, by: Any, group: CellGroups, present: Floats
) -> tuple[tuple[CellGroups, ...], Floats]:
    """Return the groups that are asked for, and which records with a number are in them (k, a)."""
    if by is None:
        return (), present[None]
    groups = group_records(cells.record, by, group)
    return (groups,), present * groups.indicators


def _figures(
    cells: Cells, asked: Asked, values: NDArray[Any] | None = None, q: float = 0.5
) -> Figures:
    """Estimate figures from each group of reports; quantiles if they are shares up to values."""
    evaluated = [asked.evaluated(sample) for _, sample in cells.samples]
    parts = zip(evaluated, cells.samples, strict=True)
    points = [_points(asked, *one, cells.most_likely(sample)) for one, (_, sample) in parts]
    estimate, influence = np.concatenate(points), None
    ends: _Ends = _Ends(evaluated)

    def stacked(name: str) -> Floats:
        return np.concatenate([getattr(one, name)(sample) for one, sample in evaluated])

    if values is not None:
        ends, estimate = _quantiles(evaluated, estimate, values, q)
        errors = noise = np.full(len(estimate), np.nan)
        unbiased = estimate
    else:
        errors, noise, unbiased = map(stacked, ("errors", "noise_errors", "unbiased"))
        if asked.n_shares:
            estimate = np.clip(estimate, *ends(0.95).T)
        if isinstance(evaluated[0][0], Statistic):
            influence = Influence.of(
                (sample, _placed(one.influence(sample), k, len(evaluated)))
                for k, (one, sample) in enumerate(evaluated)
                if isinstance(one, Statistic)
            )
    return Figures(
        asked.what,
        cells.names + asked.names,
        tuple(label + one for label, _ in cells.samples for one in asked.labels),
        estimate,
        errors,
        noise,
        unbiased,
        round(sum(sample.n for _, sample in cells.samples)),
        ends,
        influence,
        len(cells.names) + asked.n_by,
        0 if values is None else 1,
        np.repeat([round(sample.n) for _, sample in cells.samples], len(estimate) // len(points))
        if cells.names
        else None,
    )


def _points(
    asked: Asked, statistic: Statistic | CellShares, sample: Sample, likely: Floats | None
) -> Floats:
    """Points for one group of reports: of a distribution of the cells (a,), or unbiased ones."""
    if likely is not None:
        if asked.partition is not None:
            labels = asked.partition.labels
            return np.bincount(labels, likely, len(asked.labels)).astype(np.float64)
        assert isinstance(statistic, Statistic)
        top, share = statistic.c @ likely, statistic.g @ likely
        return np.divide(top, share, out=np.full_like(top, np.nan), where=share > 0)
    found = statistic.points(sample)
    if not asked.n_shares:
        assert isinstance(statistic, Statistic)
        return np.clip(found, statistic.least, statistic.most)
    variances = statistic.variances(sample)
    for start in range(0, len(found), asked.n_shares):
        rows = slice(start, start + asked.n_shares)
        if np.isfinite(found[rows]).all():
            found[rows] = project(found[rows], variances[rows])
    return found


@dataclass(frozen=True, eq=False)
class _Ends:
    """Ends of the intervals of figures, of each group of reports."""

    evaluated: Sequence[Evaluated]

    def __call__(self, level: float) -> NDArray[Any]:
        return np.concatenate([one.ends(sample, level) for one, sample in self.evaluated])


@dataclass(frozen=True, eq=False)
class _QuantileEnds(_Ends):
    """Ends of the intervals of quantiles, from those of the shares that are at most each value."""

    values: NDArray[Any]
    empty: Booleans
    q: float

    def __call__(self, level: float) -> NDArray[Any]:
        found = super().__call__(level).reshape(-1, len(self.values), 2)
        found[:, -1] = 1.0
        possible, sure = (np.argmax(found[..., side] >= self.q, axis=1) for side in (1, 0))
        return self.named(np.stack([possible, sure], axis=1))

    def named(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return the values at some places; NaN for empty groups."""
        found = self.values[rows]
        found[self.empty] = np.nan
        return found


def _placed(influence: Floats, k: int, n_groups: int) -> Floats:
    """Put rows (m, b) at their place among those of all groups of reports."""
    found = np.zeros((n_groups, *influence.shape))
    found[k] = influence
    return found.reshape(-1, influence.shape[1])


def _quantiles(
    evaluated: Sequence[Evaluated], shares: Floats, values: NDArray[Any], q: float
) -> tuple["_QuantileEnds", NDArray[Any]]:
    """Quantiles of each group, from the shares that are at most each of the values."""
    below = shares.reshape(-1, len(values))
    ends = _QuantileEnds(evaluated, values, np.isnan(below[:, 0]), q)
    below[:, -1] = 1.0
    rising = np.maximum.accumulate(below, axis=1)
    return ends, ends.named(np.argmax(rising >= q - 1e-12, axis=1))


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


def check_size(k: int, n_cells: int) -> None:
    """Refuse so many figures that memory does not hold them."""
    if k * n_cells > _MOST_NUMBERS:
        raise ValueError(f"{k:,} figures of {n_cells:,} cells are too many; take fewer columns.")
