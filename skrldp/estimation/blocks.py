"""Estimates from the reports of all blocks of a wide table."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skrldp._arrays import ReadOnlyFit, read_only
from skrldp._params import as_list
from skrldp._typing import Booleans, Floats
from skrldp.alphabet.categories import listed
from skrldp.estimation.channels import Channel
from skrldp.estimation.errors_and_intervals import Inference, Moments, Sample, Statistic
from skrldp.estimation.estimator import FrequencyEstimator
from skrldp.estimation.hypotheses import (
    DRIFT,
    DriftTest,
    drift_of,
    warn_of_broken_bounds,
    warn_of_contradiction,
    warn_of_drift,
)
from skrldp.estimation.report_weights import WeightedStatistic
from skrldp.estimation.reports import refuse_rows, summary_for, whole_from_0
from skrldp.estimation.shares_and_means import Cells, FigureMethods
from skrldp.joint import JointDistribution, as_counts
from skrldp.mechanism.manifest import Manifest
from skrldp.pooling import CommonMargins, Pool, ReportInformation, information_of
from skrldp.public_summary import PublicSummary
from skrldp.sanitizers.access import as_block_sanitizer
from skrldp.sanitizers.block_sanitizer import margins_of
from skrldp.table.read import read_table
from skrldp.table.select import whole_numbers

# -- the design -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BlockDesign:
    """A manifest, its margins, and the public distributions of the blocks' cells."""

    manifest: Manifest
    public: Sequence[PublicSummary] | None  # one for each block; None if unknown

    @classmethod
    def read(cls, mechanism: Any, distribution: Any = None) -> "BlockDesign":
        """Read a manifest, its JSON, or a fitted BlockSanitizer.

        `distribution`, a list with a JointDistribution for each block, replaces the manifest's
        public distributions.
        """
        sanitizer = as_block_sanitizer(mechanism)
        if isinstance(mechanism, str | bytes):
            manifest = Manifest.from_json(mechanism)
        elif isinstance(mechanism, Manifest):
            manifest = mechanism
        elif sanitizer is not None:
            manifest = sanitizer.manifest_
        else:
            raise TypeError(
                "mechanism must be a Manifest, its JSON text or a fitted BlockSanitizer, got "
                f"{type(mechanism).__name__}."
            )
        if distribution is not None:
            return cls(manifest, _summaries(manifest, distribution))
        public = [block.public for block in manifest.mechanisms if block.public is not None]
        return cls(manifest, public if len(public) == len(manifest.mechanisms) else None)

    @cached_property
    def margins(self) -> CommonMargins:
        """The parameters that the blocks share."""
        return margins_of(self.manifest)

    @cached_property
    def channels(self) -> list[Channel]:
        """The blocks' mechanisms, with weights for the public or uniform distributions."""
        matrices = [block.matrix for block in self.manifest.mechanisms]
        if self.public is None:
            cells = [np.full(matrix.shape[1], 1.0 / matrix.shape[1]) for matrix in matrices]
        else:
            cells = [joint.smoothed().ravel() for joint in self.public]
        return list(map(Channel, matrices, cells))

    @cached_property
    def matrices(self) -> list[Floats]:
        """The matrices of the blocks' mechanisms (b, a), with cells in lexicographic order."""
        return [self.manifest.in_order(k, c.matrix) for k, c in enumerate(self.channels)]

    @cached_property
    def cells(self) -> list[Floats]:
        """The distributions for which weights are best, with cells in lexicographic order."""
        return [self.manifest.in_order(k, c.public) for k, c in enumerate(self.channels)]

    def information(self, cells: Sequence[Floats]) -> list[ReportInformation]:
        """Return the information of one report of each block, at distributions of its cells."""
        blocks = zip(self.margins.blocks, self.matrices, cells, strict=True)
        return [information_of(*block) for block in blocks]

    def warn_of_contradictions(self, counts: Sequence[Floats]) -> None:
        """Warn about blocks with reports that no distribution of records explains."""
        blocks = self.manifest.blocks
        for channel, counted, block in zip(self.channels, counts, blocks, strict=True):
            if counted.any():
                warn_of_contradiction(channel, counted, block=block, tests=len(blocks))

    def drift(self, counts: Sequence[Floats]) -> DriftTest | None:
        """Test the population of each block; None without public records of U."""
        if self.public is None:
            return None
        of_all = zip(self.channels, counts, self.manifest.mechanisms, self.public, strict=True)
        blocks = [block for block in of_all if block[1].any() and len(block[2].values) > 1]
        blocks = [block for block in blocks if block[3].size is not None]
        tests = [drift_of(channel, n, public, design) for channel, n, design, public in blocks]
        if not tests:
            return None
        worst = min(tests, key=attrgetter("p_value"))
        if worst.p_value < DRIFT:
            worst = worst.with_leakage([block[:3] for block in blocks])
        return replace(
            worst,
            p_value=min(1.0, len(tests) * worst.p_value),
            n_reports=round(sum(counted.sum() for counted in counts)),
            columns=tuple(dict.fromkeys(chain.from_iterable(test.columns for test in tests))),
        )

    def block_with(self, columns: Any, by: Any, part: str) -> int:
        """Return the index of the smallest block that contains the given columns."""
        if columns is None and not (part == "sensitive" and self.manifest.in_every_block):
            raise ValueError(
                "no block contains the whole record. Name columns= of one block, for example "
                f"{list(self.manifest.blocks[0])}."
            )
        wanted = [*as_list(columns), *as_list(by)]
        names = [name for name, _ in self.manifest.columns]
        strange = [name for name in wanted if name not in names]
        if strange:
            raise ValueError(
                f"column {strange[0]!r} does not exist. The columns are [{listed(names)}]."
            )
        sizes = [
            (mechanism.shape[1], number)
            for number, mechanism in enumerate(self.manifest.mechanisms)
            if {name for name, _ in mechanism.columns}.issuperset(wanted)
        ]
        if not sizes:
            raise ValueError(
                f"no block contains the columns {wanted}. Refit with blocks= that contains them, "
                "or weight the public records with RakingWeights."
            )
        return min(sizes)[1]


def _summaries(manifest: Manifest, joints: Any) -> list[PublicSummary]:
    """Summarise public tables; reject those that do not match a manifest's blocks."""
    mechanisms = manifest.mechanisms
    tables = list(joints) if isinstance(joints, list | tuple) else []
    if len(tables) != len(mechanisms) or not all(isinstance(j, JointDistribution) for j in tables):
        raise ValueError(
            f"distribution must be a list of {len(mechanisms):,} JointDistributions, one for "
            "each block, or None for the public ones of the manifest."
        )
    blocks = zip(tables, mechanisms, strict=True)
    return [summary_for("the distribution of a block", *block) for block in blocks]


# -- the statistic --------------------------------------------------------------------------------


class _PooledChannel(Channel):
    """The reports of all blocks about the cells of one block."""

    def __init__(self, reports: "BlockReports", number: int) -> None:
        design, self.expected, self._reports = reports.design, reports.expected, reports
        symbols, shares = slice(*reports.ends[number : number + 2]), self.expected.shares
        channel = design.channels[number]
        matrix = np.repeat(shares[:, None], channel.n_cells, axis=1)
        matrix[symbols] = shares[symbols].sum() * channel.matrix
        self._number, self._in_order = number, partial(design.manifest.in_order, number)
        super().__init__(matrix, channel.public)

    def weights(self, functions: Floats) -> Floats:
        """Weights of the reports of all blocks for functions of the cells: (k, a) to (k, b)."""
        reports = self._reports
        arguments = self._number, self._in_order(functions), reports.information
        constant, weights = reports.pool.weights(*arguments)
        return constant[:, None] + reports.sample.n * weights

    def determines(self, functions: Floats, weights: Floats) -> Booleans:
        """Whether the reports of all blocks determine functions (k, a)."""
        return self._reports.pool.determines(self._number, self._in_order(functions))


@dataclass(frozen=True, eq=False, kw_only=True)
class _PooledStatistic(WeightedStatistic):
    """Estimates from the reports of all blocks."""

    channel: _PooledChannel
    has_formula = False
    with_bounded_bias = Statistic.with_bounded_bias

    @cached_property
    def _expected(self) -> Inference:
        """The inference from expected reports at the public distribution."""
        return self.inference(self.channel.expected)

    def model_variances(self, theta: Floats) -> Floats:
        """Variances of the residuals' weights at the public distribution, for every θ."""
        return self._expected.moments.variances(theta) * self.channel.expected.n

    def extremes(self, theta: Floats) -> tuple[Floats, Floats]:
        """Smallest and largest residual weight, minus the mean of its block: (..., k)."""
        weights = self.channel.expected.centred(self._residual_weights(theta))
        return weights.min(axis=-1), weights.max(axis=-1)

    def point_variances(self, moments: Moments) -> Floats:
        """Variances of the estimates at the public distribution, (k,)."""
        return self._expected.spread**2

    def noise_variances(self, sample: Sample, moments: Moments) -> Floats:
        """Unknown, because blocks are reported by different people."""
        return np.full(len(self.c), np.nan)

    def bias(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return infinity: the bias of a quantity that no block determines is unbounded."""
        return np.zeros(len(theta)), np.full(len(theta), np.inf)


class BlockReports:
    """The reports of all blocks, combined once for all estimates."""

    def __init__(self, design: BlockDesign, counts: Sequence[Floats]) -> None:
        self.design, self.information = design, design.information(design.cells)
        blocks = zip(self.information, counts, strict=True)
        matrices = tuple(counted.sum() * block.matrix for block, counted in blocks)
        self.pool = Pool(design.margins, matrices)
        self.ends = np.cumsum([0, *map(len, counts)])
        sizes = [counted.sum() for counted in counts]
        strata, n = np.repeat(np.arange(len(counts)), np.diff(self.ends)), float(sum(sizes))
        means = [n * block.report for n, block in zip(sizes, self.information, strict=True)]
        shares_of_both = (np.concatenate(numbers) / n for numbers in (counts, means))
        self.sample, self.expected = (Sample(shares, n, None, strata) for shares in shares_of_both)

    def cells(self, number: int, *, bounded: bool = True) -> Cells:
        """Return the cells of a block, with the information from the reports of all blocks."""
        mechanism, channel = self.design.manifest.mechanisms[number], _PooledChannel(self, number)
        samples = [((), self.sample)]
        return Cells(mechanism, channel, samples, bounded=bounded, kind=_PooledStatistic)


def expected_cells(
    mechanism: Any, n: float, distribution: Any, columns: Any, by: Any, part: str = "all"
) -> Cells:
    """Return the cells with the given columns, and the expected reports."""
    design = BlockDesign.read(mechanism, distribution)
    if design.public is None:
        raise ValueError(
            "this manifest does not contain the distribution of the records. Pass distribution=, a "
            "list with a JointDistribution for each block."
        )
    blocks = zip(design.manifest.shares, design.information(design.cells), strict=True)
    counts = [n * share * information.report for share, information in blocks]
    reports = BlockReports(design, counts)
    return reports.cells(design.block_with(columns, by, part), bounded=False)


# -- the estimator --------------------------------------------------------------------------------


class BlockEstimator(ReadOnlyFit, FigureMethods, BaseEstimator):
    """Shares, means and crosstabs from the reports of a :class:`~skrldp.BlockSanitizer`.

    The margins of different blocks overlap, so a quantity is estimated from all blocks that contain
    information about it, by generalised least squares over their reports.

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
    drift_ : DriftTest or None
        Test of whether the respondents come from the public table's population; None if there are
        no public records to compare.

    Raises
    ------
    TypeError, ValueError
        By `fit`, if the mechanism or the reports are invalid; the estimator is then unchanged. By
        estimates, if no block contains all their columns.

    Warns
    -----
    UserWarning
        By `fit`, if no distribution of records explains the reports of a block, for example because
        they come from a different manifest; and if the respondents' population is not that of the
        public table (p < 0.001), unless privacy is guaranteed for all distributions. By estimates,
        if there are no reports of the block that contains their columns.

    Notes
    -----
    The distribution of each block's cells is a linear function of parameters that the blocks have
    in common: the joint probabilities of categories of sets of columns. The reports of block b have
    the distribution that its mechanism Q_b makes of this. The estimate minimises the sum of the
    squared deviations of the counts of reports from their expectations, divided by the expected
    counts at the public distribution (or at the uniform distribution, if the public one is
    unknown). It is exactly unbiased.

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

    def fit(
        self, Y: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "BlockEstimator":
        """Count the reports of all blocks.

        Parameters
        ----------
        Y : data frame or array of shape (n, 2)
            Reports, each about a different person: a frame with the columns "block" and "report",
            whose other columns are ignored, or an array with two columns in this order.
        y : ignored
            Not used; present for API consistency.
        sample_weight : array of shape (n,), optional
            How many reports each row represents: integers, including zero.

        Returns
        -------
        self
        """
        design = BlockDesign.read(self.mechanism)
        counts = count_blocks(Y, sample_weight, design.manifest)
        n = np.array([counted.sum() for counted in counts])
        design.warn_of_contradictions(counts)
        self.drift_ = design.drift(counts)
        warn_of_drift(self.drift_, design.manifest.claims)
        for channel, own, mechanism in zip(
            design.channels, counts, design.manifest.mechanisms, strict=True
        ):
            warn_of_broken_bounds(mechanism, channel.matrix, own, len(counts))
        self._design, self._reports = design, BlockReports(design, counts)
        self.manifest_ = design.manifest
        self.counts_ = tuple(read_only(counted.astype(np.int64)) for counted in counts)
        self.block_counts_ = read_only(n.astype(np.int64))
        self.n_reports_ = int(n.sum())
        return self

    def _cells(self, columns: Any, by: Any, part: str = "all") -> Cells:
        check_is_fitted(self)
        number = self._design.block_with(columns, by, part)
        if not self.block_counts_[number]:
            names = ", ".join(map(repr, self.manifest_.blocks[number]))
            warnings.warn(
                f"nobody reported the block ({names}): estimates of these columns rest on "
                "the reports of other blocks. Fit more reports.",
                stacklevel=3,
            )
        return self._reports.cells(number)

    def drift_test(self) -> DriftTest:
        """Test whether the respondents come from the public table's population.

        The test of :meth:`FrequencyEstimator.drift_test` is applied to each block. The p-value is
        the smallest p-value times the number of blocks, and the statistic is that of the same
        block. The columns are those of all blocks, and the leakage is the largest of any block.

        Returns
        -------
        DriftTest

        Raises
        ------
        ValueError
            If the public distribution is unknown, or all columns are sensitive.
        """
        check_is_fitted(self)
        if self.drift_ is None:
            raise ValueError(
                "a test of drift needs columns that are not sensitive, and a manifest with the "
                "counts of its public table, as to_json() writes it."
            )
        return self.drift_


# -- counting -------------------------------------------------------------------------------------


def count_blocks(Y: Any, sample_weight: ArrayLike | None, manifest: Manifest) -> list[Floats]:
    """Count the reports of each symbol of each block."""
    table = read_table(Y)
    wanted: Sequence[Any] = ("block", "report")
    if not set(wanted) <= set(table.names):
        if len(table.names) != 2 or any(isinstance(name, str) for name in table.names):
            raise ValueError(
                "Expected reports with the columns 'block' and 'report', got "
                f"{list(table.names)}. Pass the output of BlockSanitizer.transform, or of a "
                f"reporter "
                "of the manifest."
            )
        wanted = table.names
    columns = [table.names.index(name) for name in wanted]
    sizes = np.array([mechanism.shape[0] for mechanism in manifest.mechanisms])
    blocks = whole_numbers(table, columns[0], len(sizes))
    refuse_rows(table, blocks < 0, wanted[:1], whole_from_0(len(sizes)))
    reports = whole_numbers(table, columns[1], sizes.max())
    wrong = (reports < 0) | (reports >= sizes[blocks])
    refuse_rows(table, wrong, wanted[1:], "a number of a symbol of the row's block")
    n = len(blocks)
    weights = None if sample_weight is None else as_counts(sample_weight, n, "report", Y)
    ends = np.cumsum(sizes)
    counts = np.bincount(ends[blocks] - sizes[blocks] + reports, weights, ends[-1])
    return np.split(counts.astype(float), ends[:-1])


# -- the cells of one mechanism or a block, for quantities that are functions of them --------------


def estimated_cells(estimator: Any, columns: Sequence[Any]) -> tuple[Cells, Floats]:
    """Return the cells with given columns, and their estimated distribution (a,)."""
    if not isinstance(estimator, FrequencyEstimator | BlockEstimator):
        raise TypeError(
            "the reports must come as a fitted FrequencyEstimator or BlockEstimator, got "
            f"{type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    cells = estimator._cells(list(columns), None)
    sample = cells.one_sample("a regression")
    if isinstance(estimator, FrequencyEstimator):
        return cells, cells.most_likely(sample)
    frequencies, known = cells.frequencies()
    if not known.all():
        raise ValueError(
            f"the crosstab of {', '.join(map(repr, columns))} is not identifiable from these "
            "reports: report a block of these columns."
        )
    return cells, frequencies
