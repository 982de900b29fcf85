"""Figures from the reports of all blocks of a wide table."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skrldp._arrays import ReadOnlyFit, read_only
from skrldp._typing import Floats
from skrldp.alphabet import CellGroups, group_cells, group_records, numbers_of_cells
from skrldp.estimation._contradiction import warn_of_contradiction
from skrldp.estimation._drift import DriftTest
from skrldp.estimation.figures import (
    Estimate,
    Figures,
    NumericEstimate,
    Ranges,
    figures_of,
    mean,
    quantile,
    score,
)
from skrldp.estimation.wide._block_design import (
    OfBlock,
    block_with,
    count_blocks,
    names_in,
    read_manifest,
    without_zeros,
)
from skrldp.pooling import Pool

__all__ = ["BlockEstimator"]

_SAME = (
    "S and the columns of each block are distributed among those who reported as in the population "
    "of the public table"
)
_NO_DIRECTION = 1e-6  # singular values of a mechanism that are none, relative to the greatest
_ROUNDS = 2  # of weights: first at the public or an even distribution, then at the estimate
_NO_INFORMATION = 1e-8  # eigenvalues relative to the greatest that count as zero


@dataclass(frozen=True, eq=False)
class _ShareRanges(Ranges):
    """Intervals of shares: by the error, within 0 and 1, and stretched to the estimate.

    Errors of reports do not vanish with the share, as those of true records do (Wilson).
    """

    values: Floats
    errors: Floats

    def score(self, z: float, first: int) -> Floats:
        values, errors = self.values[:first], self.errors[:first]
        return score(values, errors, values, errors, z)


class BlockEstimator(ReadOnlyFit, BaseEstimator):
    """Shares, means and crosstabs from the reports of a :class:`~skrldp.BlockSanitizer`.

    The margins of different blocks overlap, so that a figure is estimated from all blocks that bear
    on it: by generalised least squares over the reports of all blocks.

    Parameters
    ----------
    mechanism : BlockSanitizer, Manifest or str
        Source of the reports: the fitted sanitizer, its ``manifest_``, or the manifest's JSON.

    Attributes
    ----------
    manifest_ : Manifest
        The mechanisms of all blocks, and how often each is drawn.
    counts_ : tuple of m arrays
        Number of reports of each symbol of each block.
    block_counts_ : array of shape (m,)
        Number of reports of each block.
    n_reports_ : int
        Number of reports.

    Raises
    ------
    TypeError, ValueError
        By `fit`, for a mechanism and reports that are not as described; nothing is changed then.

    Warns
    -----
    UserWarning
        By figures of a block without reports, if the other blocks do not determine them.

    Notes
    -----
    The distribution of each block's cells is a linear function of parameters that blocks have in
    common: probabilities of categories of sets of columns. The n_b reports of block b have the
    distribution Q_b of that function. With W_b the inverse probabilities of the reports, the
    estimate minimises the sum of ``n_b`` times the squared deviations of the reports' shares,
    weighted by W_b, first at the public distribution (an even one, if that is not known), then at
    the estimate. Its covariance is that of a multinomial at the estimate. It is unbiased but for
    the weights' dependence on the reports, so that small shares may be negative: ``projected()``
    of a marginal is a distribution.

    References
    ----------
    T. E. Raghunathan and J. E. Grizzle, A split questionnaire survey design, J. American
    Statistical Association 90, 1995.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skrldp import BlockEstimator, BlockSanitizer
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame(rng.integers(0, 2, (4000, 3)), columns=["ill", "a", "b"])
    >>> known = {name: [0, 1] for name in table}
    >>> sanitizer = BlockSanitizer(sensitive="ill", categories=known, random_state=0).fit(table)
    >>> estimator = BlockEstimator(sanitizer).fit(sanitizer.transform(table))
    >>> estimator.marginal("a").std_error.round(3)
    array([0.011, 0.011])
    """

    def __init__(self, mechanism: Any) -> None:
        self.mechanism = mechanism

    # -- fitting ----------------------------------------------------------------------------------

    def fit(
        self, Y: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "BlockEstimator":
        """Count reports and estimate the margins of all blocks.

        Parameters
        ----------
        Y : data frame or array of shape (n, 2)
            Reports, each about another person: the columns "block" and "report" of a frame, or two
            columns in this order. Further columns of a frame are ignored.
        y : ignored
            Not used; present for API consistency.
        sample_weight : array of shape (n,), optional
            How many reports each row stands for: whole numbers, zero allowed.

        Returns
        -------
        self

        Warns
        -----
        UserWarning
            If no distribution of records explains the reports of a block, as where they are those
            of another manifest.
        """
        design = read_manifest(self.mechanism)
        counts = count_blocks(Y, sample_weight, design.manifest)
        n = np.array([float(own.sum()) for own in counts])
        if not n.any():
            raise ValueError("there is no report: nothing can be estimated.")
        cells = design.public
        if cells is None:
            cells = tuple(np.full(m.shape[1], 1.0 / m.shape[1]) for m in design.matrices)
        for _ in range(_ROUNDS):
            pool = Pool.of(design.margins, design.information(cells), counts)
            cells = tuple(
                _probable(pool, number, matrix, own)
                for number, (matrix, own) in enumerate(zip(design.matrices, cells, strict=True))
            )
        blocks = design.manifest.blocks
        for k, channel in design.channels(counts):
            warn_of_contradiction(channel, counts[k], cells[k], block=blocks[k], tests=len(blocks))
        self._design = design
        self._pool = Pool.of(design.margins, design.information(cells), counts)
        self.manifest_ = design.manifest
        self.counts_ = tuple(read_only(own.astype(np.int64)) for own in counts)
        self.block_counts_ = read_only(n.astype(np.int64))
        self.n_reports_ = int(n.sum())
        return self

    # -- figures ----------------------------------------------------------------------------------

    def marginal(self, columns: Any, *, by: Any = None) -> Estimate | Figures:
        """Estimate the distribution of columns that stand together in a block.

        Parameters
        ----------
        columns : name or list of names
            The columns; those of S stand in every block.
        by : name or list of names, optional
            Columns that make groups of records: the shares are those within each group.

        Returns
        -------
        Estimate, or Figures for groups

        Raises
        ------
        ValueError
            If no block has all these columns.
        """
        own = self._of_block(columns, by)
        group = _group(own, columns)
        if by is not None:
            return self._by(
                f"share of {', '.join(map(str, group.name))}",
                own,
                by,
                group,
                [(share, np.ones_like(share)) for share in group.indicators],
                group,
            )
        values, errors = own.evaluate(group.indicators)
        return Estimate(
            group.name,
            group.categories,
            values,
            errors,
            ~np.isnan(values),
            self.n_reports_,
            _ShareRanges(values, errors),
        )

    def mean(self, column: Any, *, by: Any = None) -> NumericEstimate | Figures:
        """Estimate the mean of a column of numbers, of all records or of groups.

        Parameters
        ----------
        column : name
            A column of numbers; records where it is missing are left out.
        by : name or list of names, optional
            Columns that make groups of records, and stand in a block together with `column`.

        Returns
        -------
        NumericEstimate, or Figures for groups

        Raises
        ------
        ValueError
            If no block has all these columns, or the column is not numeric.
        """
        own = self._of_block(column, by)
        group = _group(own, column)
        numbers, present = numbers_of_cells(group)
        if by is not None:
            what = f"mean of {group.name[0]!r}"
            return self._by(what, own, by, group, [(numbers, present)], None)
        return mean(numbers, present, own.evaluate)

    def quantile(
        self,
        column: Any,
        q: float = 0.5,
        *,
        order: Sequence[Any] | None = None,
        by: Any = None,
    ) -> NumericEstimate | Figures:
        """Estimate a quantile of a column, of all records or of groups.

        Parameters
        ----------
        column : name
            A column of numbers, or of categories that `order` puts in order.
        q : float, default=0.5
            Between 0 and 1.
        order : sequence, optional
            The categories from least to greatest.
        by : name or list of names, optional
            Columns that make groups of records, and stand in a block together with `column`.

        Returns
        -------
        NumericEstimate, or Figures for groups

        Raises
        ------
        ValueError
            If no block has all these columns, or the column has no order.
        """
        own = self._of_block(column, by)
        group = _group(own, column)
        if by is None:
            return quantile(group, own.evaluate, q, order)
        groups = group_records(own.record, by, group)
        each = [quantile(group, own.evaluate, q, order, None, of) for of in groups.indicators]
        what = f"quantile {q:g} of {group.name[0]!r}"
        return figures_of(what, groups, None, each, self.n_reports_, None)

    def drift_test(self) -> DriftTest:
        """Test whether those who reported and the public table are of one population.

        What is compared is the distribution of S and the columns of each block. A small p-value
        says that some of these differ, not that privacy is lost: confidence sets hold
        distributions beside the public one. The statistic is that of the reports' scores at the
        public margins, block by block. The public table's own error makes it greater by a factor
        that is known in the mean, by which it is divided (Rao and Scott 1981).

        Returns
        -------
        DriftTest

        Raises
        ------
        ValueError
            If the public distribution is not known: `mechanism` must be the BlockSanitizer.

        References
        ----------
        J. N. K. Rao and A. J. Scott, The analysis of categorical data from complex sample surveys,
        J. American Statistical Association 76, 1981.
        """
        check_is_fitted(self)
        design = self._design
        if design.public is None:
            raise ValueError("a test of drift needs the public table: give the BlockSanitizer.")
        total, expected, degrees = 0.0, 0.0, 0
        information = design.information(design.public)
        for number, (one, counts) in enumerate(zip(information, self.counts_, strict=True)):
            n = float(counts.sum())
            if n:
                score = one.channel.T @ ((counts - n * one.report) / one.report)
                inverse = np.linalg.pinv(one.matrix, rcond=_NO_INFORMATION, hermitian=True)
                rank = round(float((inverse * one.matrix).sum()))
                cells, back = design.public[number], design.margins.blocks[number].back
                spread = (back * cells) @ back.T - np.outer(back @ cells, back @ cells)
                total += float(score @ inverse @ score) / n
                expected += rank + n / design.n_public * float((one.matrix * spread).sum())
                degrees += rank
        statistic = total * degrees / expected
        p_value = float(chi2.sf(statistic, degrees))
        return DriftTest(statistic, p_value, degrees, self.n_reports_, "", _SAME)

    # -- how --------------------------------------------------------------------------------------

    def _of_block(self, *selections: Any) -> OfBlock:
        """Return what all reports say about the smallest block that has some columns.

        Warns if no report is of this block, and those of others do not tell all of the columns.
        """
        check_is_fitted(self)
        columns = names_in(selections)
        number = block_with(self.manifest_, columns)
        found = OfBlock(self._pool, self.manifest_, number)
        shares = group_cells(found.record, columns, "all").indicators
        if not self.block_counts_[number] and np.isnan(found.evaluate(shares)[0]).any():
            warnings.warn(
                f"no report is of the block ({', '.join(map(repr, self.manifest_.blocks[number]))})"
                ": figures that the reports of other blocks do not determine are NaN.",
                UserWarning,
                stacklevel=3,
            )
        return found

    def _by(
        self,
        what: str,
        own: OfBlock,
        by: Any,
        group: CellGroups,
        numbers: Sequence[tuple[Floats, Floats]],
        categories: CellGroups | None,
    ) -> Figures:
        """Means of numbers within groups."""
        groups = group_records(own.record, by, group)
        each = [
            mean(number, present * of, own.evaluate)
            for of in groups.indicators
            for number, present in numbers
        ]

        def covariance(functions: Floats, free: bool = False) -> Floats:
            return own.pooled(functions).covariance

        return figures_of(what, groups, categories, each, self.n_reports_, covariance)


def _group(own: OfBlock, columns: Any) -> CellGroups:
    return group_cells(own.record, columns, "all")


def _probable(pool: Pool, number: int, matrix: Floats, before: Floats) -> Floats:
    """Return a distribution of a block's cells near the estimate, without zeros.

    In directions that its reports do not determine, it is the one before, (a,).
    """
    found, report = pool.evaluate([(number, matrix)]), matrix @ before
    moved = np.where(found.determined, found.values - report, 0.0)
    cells = np.maximum(before + np.linalg.pinv(matrix, rcond=_NO_DIRECTION) @ moved, 0.0)
    return without_zeros(cells / max(cells.sum(), 1e-300))
