"""The records of a survey: their design, their estimates, and the subset that is independent."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from skrldp._arrays import ReadOnly, read_only
from skrldp._typing import Floats, Indices


@dataclass(frozen=True, eq=False)
class WeightSums:
    """Weights of records, aggregated by the rows that represent them, arrays of shape (n,).

    Attributes
    ----------
    counts : integer array
        How many records each row represents.
    present : array
        How many of them have a weight.
    least, most : arrays
        The smallest and the largest weight.
    weights, squares : arrays
        Their sum, and that of their squares.
    """

    counts: NDArray[np.int64]
    present: Floats
    least: Floats
    most: Floats
    weights: Floats
    squares: Floats


@dataclass(frozen=True, eq=False)
class SurveyRecords:
    """Weights, strata and clusters of records, or of rows that aggregate a cluster's records.

    Attributes
    ----------
    weights : array of shape (n,)
        Positive weights; for a row that aggregates records, the sum of their weights.
    strata : integer array of shape (n,)
        Codes from 0.
    clusters : integer array of shape (n,) or None
        Codes from 0; each cluster is in one stratum. None: each record is a cluster.
    singleton : {"error", "center", "certainty"}
        What to do with a stratum of a single cluster.
    replicates : array of shape (n, R) or None
        Replicate weights.
    scale : float or None
        Factor of the replicates' sum of squares.
    counts : integer array of shape (n,) or None
        How many records each row represents; None if each represents one.
    sums_of_squares : array of shape (n,) or None
        Of their weights.
    max_weights : array of shape (strata,) or None
        The largest weight, or largest sum of a cluster's weights, that the design permits.
    stratum_sizes : array of shape (strata,) or None
        Numbers in proportion to the strata's population sizes.
    """

    weights: Floats
    strata: Indices
    clusters: Indices | None
    singleton: str = "error"
    replicates: Floats | None = None
    scale: float | None = None
    counts: NDArray[np.int64] | None = None
    sums_of_squares: Floats | None = None
    max_weights: Floats | None = None
    stratum_sizes: Floats | None = None

    @cached_property
    def n_records(self) -> int:
        """Number of records."""
        return len(self.weights) if self.counts is None else int(self.counts.sum())

    @cached_property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.n_records if self.clusters is None else int(self.clusters.max()) + 1

    @property
    def are_clustered(self) -> bool:
        """Whether any cluster has several records."""
        return self.n_clusters < self.n_records

    @property
    def squares(self) -> Floats:
        """Sums of squared weights, shape (n,)."""
        return self.weights**2 if self.sums_of_squares is None else self.sums_of_squares

    def clusters_of_secrets(self, secrets: NDArray[np.integer[Any]], n_secrets: int) -> Indices:
        """Count the clusters that have records of each secret, shape (n_secrets,)."""
        if self.clusters is None:
            return np.bincount(secrets, self.counts, n_secrets).astype(np.intp)
        pairs = np.unique(self.clusters.astype(np.int64) * n_secrets + secrets)
        return np.bincount(pairs % n_secrets, minlength=n_secrets)

    @cached_property
    def degrees(self) -> int:
        """Degrees of freedom of variances: clusters less strata, or replicates less one."""
        if self.replicates is not None:
            gram = self.replicates.T @ self.replicates
            return int(np.linalg.matrix_rank(gram)) - 1
        return self.n_clusters - (int(self.strata.max()) + 1)

    def covariance_of_totals(self, cells: NDArray[np.integer[Any]], n_cells: int) -> Floats:
        """Estimate the covariance of the weighted number of people in each cell.

        Parameters
        ----------
        cells : integer array of shape (n,)
            Each record's cell.
        n_cells : int
            Number of cells a.

        Returns
        -------
        array of shape (a, a)

        Raises
        ------
        ValueError
            If a stratum has one cluster and `singleton` is "error".
        """
        from scipy.sparse import coo_array

        if self.replicates is not None:
            assert self.scale is not None
            indicators = coo_array((np.ones(len(cells)), (cells, np.arange(len(cells)))))
            indicators.resize((n_cells, len(cells)))
            apart = indicators @ self.replicates - (indicators @ self.weights)[:, None]
            covariance: Floats = self.scale * apart @ apart.T
            return covariance
        if self.clusters is None:
            size = np.bincount(self.strata, self.counts)
        else:
            stratum = np.zeros(self.n_clusters, dtype=np.intp)
            stratum[self.clusters] = self.strata
            size = np.bincount(stratum)
        factor = np.where(size > 1, size / np.maximum(size - 1, 1), 0.0)
        if self.clusters is None:  # a record is in one cell
            raw = np.diag(np.bincount(cells, factor[self.strata] * self.squares, n_cells))
        else:
            of_clusters = coo_array(
                (self.weights, (self.clusters, cells)), shape=(self.n_clusters, n_cells)
            ).tocsr()
            scaled = of_clusters.multiply(np.sqrt(factor[stratum])[:, None]).tocsr()
            raw = (scaled.T @ scaled).toarray()
        sums = coo_array((self.weights, (self.strata, cells)), shape=(len(size), n_cells)).toarray()
        covariance = raw - (sums.T * (factor / size)) @ sums
        alone = np.flatnonzero(size == 1)
        if alone.size and self.singleton == "error":
            raise ValueError(
                f"{alone.size:,} of {len(size):,} strata have one cluster, so no variance "
                "can be estimated. Merge such strata with others, or pass "
                "singleton='center'."
            )
        if alone.size and self.singleton == "center":
            apart = sums[alone] - sums.sum(axis=0) / self.n_clusters
            covariance += apart.T @ apart
        return covariance


# --- Estimates of a population's distribution, with their covariance ------------------------------


MOST_CELLS = 2_000  # maximum number of cells with a stored covariance: 32 megabytes
# Total of the integers in `shares`, and the minimum of a nonempty cell, whose share is then exact
# to a relative error of 5e-5. One record in a hundred million has a share far above this minimum.
_SCALE = 10**15
_FEWEST = 10**4


@dataclass(frozen=True, eq=False)
class SurveyTotals(ReadOnly):
    """Weighted totals of cells, and their covariance.

    Attributes
    ----------
    totals : array of shape (a,)
        Sum of the weights of each cell's records.
    squares : array of shape (a,)
        Sum of the squared weights.
    covariance : array of shape (a, a) or None
        Of the totals; None for more than 2,000 cells.
    degrees : int
        Degrees of freedom of the covariance.
    """

    totals: Floats
    squares: Floats
    covariance: Floats | None
    degrees: int

    @classmethod
    def of(
        cls, records: SurveyRecords, cells: NDArray[np.integer[Any]], n_cells: int
    ) -> "SurveyTotals":
        """Estimate the totals of cells.

        Parameters
        ----------
        records : SurveyRecords
        cells : integer array of shape (n,)
            Each record's cell.
        n_cells : int
            Number of cells a.

        Returns
        -------
        SurveyTotals

        Raises
        ------
        ValueError
            If no variance can be estimated, or a few records have nearly all the weight.

        Examples
        --------
        >>> records = SurveyRecords(np.array([1.0, 3.0, 2.0]), np.zeros(3, int), np.arange(3))
        >>> found = SurveyTotals.of(records, np.array([0, 1, 1]), 2)
        >>> found.totals.tolist(), found.degrees
        ([1.0, 5.0], 2)
        """
        if records.degrees < 1:
            raise ValueError(
                "the survey has as many strata as clusters (or one replicate), so no variance can "
                "be estimated from it."
            )
        totals = np.bincount(cells, records.weights, n_cells)
        smallest, total = totals[totals > 0].min(), totals.sum()
        if smallest * (_SCALE / total) < _FEWEST:
            raise ValueError(
                f"the weights of a cell's records sum to {smallest:.2g}, and all weights to "
                f"{total:.2g}: nearly all weight is on few records, so no distribution can be "
                "estimated. A weight is the number of people that a record represents: correct "
                "them."
            )
        covariance = None
        if n_cells <= MOST_CELLS:
            covariance = read_only(records.covariance_of_totals(cells, n_cells))
        return cls(
            read_only(totals),
            read_only(np.bincount(cells, records.squares, n_cells)),
            covariance,
            records.degrees,
        )

    @cached_property
    def shares(self) -> NDArray[np.int64]:
        """Integers in proportion to the totals, at least 10,000 for cells with records."""
        return read_only(np.rint(self.totals * (_SCALE / self.totals.sum())).astype(np.int64))

    def arranged(self, cells: NDArray[np.integer[Any]], n_cells: int) -> "SurveyTotals":
        """Return the totals of coarser cells, each the sum of several of these.

        Parameters
        ----------
        cells : integer array of shape (a,)
            The new cell of each cell.
        n_cells : int
            Number of new cells.

        Returns
        -------
        SurveyTotals
        """
        covariance = None
        if self.covariance is not None and n_cells <= MOST_CELLS:
            covariance = np.zeros((n_cells, n_cells))
            np.add.at(covariance, np.ix_(cells, cells), self.covariance)
            covariance = read_only(covariance)
        return SurveyTotals(
            read_only(np.bincount(cells, self.totals, n_cells)),
            read_only(np.bincount(cells, self.squares, n_cells)),
            covariance,
            self.degrees,
        )


# --- The part of a survey that is an independent sample of the population -------------------------


_SALT = b"skrldp: an independent part of a survey, version 1\n"
_BITS = 53
# Probability that a table is rejected because a stratum has too few records. Half of it makes a
# sample of four strata of 250 records 1 % smaller, twice as much 1 % larger.
_RUN_OUT = 1e-3


def independent_part(
    records: SurveyRecords, content: NDArray[np.bytes_] | list[bytes]
) -> NDArray[np.bool_]:
    """Return which records to keep so that they are an independent sample of the population.

    A record is kept with probability ``weight / max_weight``; at most one record of a cluster is
    kept, with probability ``sum of weights / max_weight``, drawn in proportion to the weights. If
    records (or clusters) were drawn independently with probabilities inverse to their weights,
    the records kept are drawn independently, with equal probability within their stratum. If there
    are several strata, as many records of each are kept as a sample of the whole population would
    contain (Theorem 39).

    The random choices come from a digest of the sorted table with a fixed salt, so that nobody can
    repeat them until they like the result, and the order of the rows does not matter. Proofs about
    the result model the digest as a random oracle.

    Parameters
    ----------
    records : SurveyRecords
        With the largest weight that the design permits, and the sizes of strata.
    content : sequence of n bytes
        The content of each record, including weights and clusters.

    Returns
    -------
    array of n bool

    Raises
    ------
    ValueError
        If there are replicate weights, or strata of unknown sizes; if a weight exceeds the stated
        largest; or if a stratum has fewer records than a sample of the population would have.
    """
    assert records.max_weights is not None
    if records.replicates is not None:
        raise ValueError(
            "the exact set (radius='finite-sample') needs strata and clusters, which replicate "
            "weights do not contain: use LikelihoodRatioSet(radius='asymptotic')."
        )
    if len(records.max_weights) > 1 and records.stratum_sizes is None:
        raise ValueError(
            "the exact set (radius='finite-sample') of a survey with strata needs a column with "
            "the number of people in each: SurveyDesign(stratum_sizes=...)."
        )
    _check_weights(records)
    coins, order = _coins(content)
    if records.are_clustered:
        is_kept = _one_of_each(records, coins[0], order)
    else:
        is_kept = coins[0] * records.max_weights[records.strata] < records.weights
    if len(records.max_weights) == 1:
        return is_kept
    return _as_drawn_from_all(records, is_kept, coins, order)


def _check_weights(records: SurveyRecords) -> None:
    """Reject weights larger than the design's largest."""
    assert records.max_weights is not None
    mass, strata = records.weights, records.strata
    if records.clusters is not None:
        mass = np.bincount(records.clusters, records.weights).astype(np.float64)
        strata = np.zeros(len(mass), dtype=np.intp)
        strata[records.clusters] = records.strata
    max_weights = records.max_weights[strata]
    over = mass > max_weights
    if over.any():
        first = int(np.argmax(over))
        quantity = "cluster's sum of weights" if records.are_clustered else "weight"
        raise ValueError(
            f"max_weight={max_weights[first]:g} is less than a {quantity} of the table, "
            f"{mass[first]:g}. It must be the largest that the design allows, known "
            "before the records were drawn."
        )


def _as_drawn_from_all(
    records: SurveyRecords, is_kept: NDArray[np.bool_], coins: Floats, order: Indices
) -> NDArray[np.bool_]:
    """Keep as many records of each stratum as a sample of the population would have.

    The size of that sample depends only on the strata's numbers of records.
    """
    assert records.stratum_sizes is not None
    _, first = np.unique(records.strata[order], return_index=True)
    shares = records.stratum_sizes / records.stratum_sizes.sum()
    there = np.bincount(records.strata[is_kept], minlength=len(shares))
    size = _sample_size(there, shares)
    # Strata in the order in which they first occur in the sorted table, whatever the rows' order.
    named = np.argsort(first)
    ends = np.cumsum(shares[named])
    ends[-1] = 1.0
    drawn = named[np.searchsorted(ends, coins[1][order][:size], side="right")]
    wanted = np.bincount(drawn, minlength=len(shares))
    if size == 0 or np.any(wanted > there):
        raise ValueError(
            "a stratum has too few records for an independent sample: of "
            f"{len(there):,} strata the smallest keeps {int(there.min()):,}. Use "
            "LikelihoodRatioSet(radius='asymptotic')."
        )
    by_coin = np.lexsort((coins[2], ~is_kept, records.strata))
    starts = np.cumsum(np.bincount(records.strata)) - np.bincount(records.strata)
    rank = np.empty(len(is_kept), dtype=np.intp)
    rank[by_coin] = np.arange(len(is_kept)) - starts[records.strata[by_coin]]
    chosen: NDArray[np.bool_] = is_kept & (rank < wanted[records.strata])
    return chosen


def _sample_size(there: Indices, shares: Floats) -> int:
    """Return the largest sample size at which a stratum rarely needs more than `there` records."""
    low, high = 0, int(there.sum()) + 1
    while high - low > 1:
        size = (low + high) // 2
        p_larger = bdtrc(there, size, shares)[there < size].sum()
        low, high = (size, high) if p_larger <= _RUN_OUT else (low, size)
    return low


def _coins(content: NDArray[np.bytes_] | list[bytes]) -> tuple[Floats, Indices]:
    """Return uniform numbers for each row, shape (3, n), and the order of the sorted table."""
    order: Indices = np.array(sorted(range(len(content)), key=content.__getitem__), dtype=np.intp)
    digest = hashlib.sha256(_SALT)
    for position in order:
        digest.update(hashlib.sha256(content[position]).digest())
    coins = np.empty((3, len(order)))
    coins[:, order] = _uniform(digest.digest(), 3 * len(order)).reshape(3, -1)
    return coins, order


def _one_of_each(records: SurveyRecords, coins: Floats, order: Indices) -> NDArray[np.bool_]:
    """Keep one record per selected cluster, using the random number of the cluster's first record.

    One uniform number decides both: given that it is below ``mass / max_weight``, it is uniform up
    to that value and selects the record.
    """
    assert records.clusters is not None and records.max_weights is not None
    sequence = order[np.argsort(records.clusters[order], kind="stable")]
    cluster = records.clusters[sequence]
    first = np.flatnonzero(np.r_[True, cluster[1:] != cluster[:-1]])
    # For each cluster, a point on its cumulative weights.
    point = coins[sequence[first]] * records.max_weights[records.strata[sequence[first]]]
    ends = np.cumsum(records.weights[sequence])
    starts = np.r_[0.0, ends[:-1]]
    begin = np.repeat(starts[first], np.diff(np.r_[first, len(sequence)]))
    point_of_record = np.repeat(point, np.diff(np.r_[first, len(sequence)]))
    hit = (point_of_record >= starts - begin) & (point_of_record < ends - begin)
    is_kept = np.zeros(len(sequence), dtype=bool)
    is_kept[sequence[hit]] = True
    return is_kept


def _uniform(seed: bytes, n: int) -> Floats:
    """Return n uniform numbers from [0, 1), with 53 random bits each."""
    stream = hashlib.shake_256(seed).digest(8 * n)
    bits = np.frombuffer(stream, dtype="<u8") >> np.uint64(64 - _BITS)
    return bits.astype(np.float64) * 2.0**-_BITS
