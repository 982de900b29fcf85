"""The design of each record, read from a table."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats, Indices

__all__ = ["SurveyRecords", "codes_of"]


@dataclass(frozen=True, eq=False)
class SurveyRecords:
    """Weights, strata and clusters of records.

    Attributes
    ----------
    weights : array of shape (n,)
        Positive.
    strata, clusters : integer arrays of shape (n,)
        Codes from 0; each cluster is in one stratum.
    singleton : {"error", "center", "certainty"}
        What becomes of a stratum of one cluster.
    replicates : array of shape (n, R) or None
        Replicate weights.
    scale : float or None
        Factor of the replicates' sum of squares.
    """

    weights: Floats
    strata: Indices
    clusters: Indices
    singleton: str = "error"
    replicates: Floats | None = None
    scale: float | None = None

    def __len__(self) -> int:
        return len(self.weights)

    @cached_property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.clusters.max()) + 1

    @property
    def are_clustered(self) -> bool:
        """Whether some cluster has several records."""
        return self.n_clusters < len(self)

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
        shape = self.n_clusters, n_cells
        of_clusters = coo_array((self.weights, (self.clusters, cells)), shape=shape).tocsr()
        stratum = np.zeros(self.n_clusters, dtype=np.intp)
        stratum[self.clusters] = self.strata
        size = np.bincount(stratum)
        factor = np.where(size > 1, size / np.maximum(size - 1, 1), 0.0)
        scaled = of_clusters.multiply(np.sqrt(factor[stratum])[:, None]).tocsr()
        member = coo_array((np.ones(len(stratum)), (stratum, np.arange(len(stratum)))))
        sums = (member.tocsr() @ of_clusters).toarray()  # of each stratum
        found = (scaled.T @ scaled).toarray() - (sums.T * (factor / size)) @ sums
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


def codes_of(what: str, name: Any, column: Callable[[Any], Any]) -> Indices:
    """Write the values of a column as codes from 0, in an order that rows do not change."""
    values = np.asarray(column(name), dtype=object)
    missing = np.array([value is None or value != value for value in values], dtype=bool)
    if missing.any():
        raise ValueError(
            f"column {name!r} lacks the {what} of {int(missing.sum()):,} of {len(values):,} "
            f"records, the first in row {int(np.argmax(missing))}."
        )
    place: dict[Any, int] = {}
    codes = np.array([place.setdefault(value, len(place)) for value in values.tolist()])
    return codes.astype(np.intp)
