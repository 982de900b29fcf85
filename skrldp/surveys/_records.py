"""The design of each record, read from a table."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats, Indices

__all__ = ["SurveyRecords", "WeightSums"]


@dataclass(frozen=True, eq=False)
class WeightSums:
    """Weights of records by the rows that stand for them, arrays of shape (n,).

    Attributes
    ----------
    counts : integer array
        How many records each row stands for.
    present : array
        How many of them have a weight.
    least, most : arrays
        The least and the greatest weight.
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
    """Weights, strata and clusters of records, or of rows that stand for several of one cluster.

    Attributes
    ----------
    weights : array of shape (n,)
        Positive; of several records, their sum.
    strata : integer array of shape (n,)
        Codes from 0.
    clusters : integer array of shape (n,) or None
        Codes from 0; each cluster is in one stratum. None: each record is a cluster.
    singleton : {"error", "center", "certainty"}
        What becomes of a stratum of one cluster.
    replicates : array of shape (n, R) or None
        Replicate weights.
    scale : float or None
        Factor of the replicates' sum of squares.
    counts : integer array of shape (n,) or None
        How many records each row stands for; None if each is one.
    sums_of_squares : array of shape (n,) or None
        Of their weights.
    max_weights : array of shape (strata,) or None
        The greatest weight, or sum of a cluster's weights, that the design could give.
    stratum_sizes : array of shape (strata,) or None
        Numbers in proportion to the population's strata.
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
        """Whether some cluster has several records."""
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
            own = coo_array((np.ones(len(cells)), (cells, np.arange(len(cells)))))
            own.resize((n_cells, len(cells)))
            apart = own @ self.replicates - (own @ self.weights)[:, None]
            found: Floats = self.scale * apart @ apart.T
            return found
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
        found = raw - (sums.T * (factor / size)) @ sums
        alone = np.flatnonzero(size == 1)
        if alone.size and self.singleton == "error":
            raise ValueError(
                f"{alone.size:,} of {len(size):,} strata have one cluster, of which no variance "
                "can be estimated. Join such strata with others; or say singleton='center', which "
                "takes the distance from the mean of all clusters, or singleton='certainty', if "
                "they were drawn with certainty."
            )
        if alone.size and self.singleton == "center":
            apart = sums[alone] - sums.sum(axis=0) / self.n_clusters
            found += apart.T @ apart
        return found
