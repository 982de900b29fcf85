"""Polyhedral regions: their extreme conditionals, and the facets of the cone of private rows."""

import numpy as np

from skrldp._typing import Floats
from skrldp.design._cuts import Cuts
from skrldp.region import BoxRegion, LowerRegion, PointRegion, Region, SimplexRegion

__all__ = ["extreme_conditionals", "facet_count", "facets", "is_polyhedral"]


_MOST_BOX_VALUES = 6  # of U: a box may have a2 * 2**(a2 - 1) vertices, 192 here and 448 with 7
_ROUNDING = 1e-15  # of probabilities


def is_polyhedral(region: Region) -> bool:
    """Whether the conditionals of the region form polytopes with few vertices.

    Parameters
    ----------
    region : Region
        Any.

    Returns
    -------
    bool
    """
    if isinstance(region, BoxRegion):
        return region.conditionals.shape[1] <= _MOST_BOX_VALUES
    return isinstance(region, SimplexRegion | PointRegion | LowerRegion)


def extreme_conditionals(region: Region, secret: int) -> Floats:
    """Vertices of the conditionals that a polyhedral region allows for one secret.

    Parameters
    ----------
    region : Region
        A polyhedral region.
    secret : int
        Position of the secret.

    Returns
    -------
    array of shape (m, a2)
    """
    size = region.conditionals.shape[1]
    if isinstance(region, LowerRegion):
        lower = region.lower[secret]
        return lower + max(1.0 - float(lower.sum()), 0.0) * np.eye(size)
    if isinstance(region, BoxRegion):
        return _box_vertices(region.lower[secret], region.upper[secret])
    if isinstance(region, PointRegion) and region.marginal[secret] > 0:
        return region.conditionals[[secret]]
    return np.eye(size)


def _box_vertices(lower: Floats, upper: Floats) -> Floats:
    """Vertices of {lower <= R <= upper, sum R = 1}: all entries but one are at a bound."""
    size = len(lower)
    found = []
    for free in range(size):
        others = np.delete(np.arange(size), free)
        for pattern in range(2 ** (size - 1)):
            high = (pattern >> np.arange(size - 1)) & 1
            vertex = np.empty(size)
            vertex[others] = np.where(high == 1, upper[others], lower[others])
            vertex[free] = 1.0 - vertex[others].sum()
            if lower[free] - _ROUNDING <= vertex[free] <= upper[free] + _ROUNDING:
                found.append(vertex)
    return np.unique(np.round(np.array(found), 15), axis=0)


def facets(region: Region, eps: float) -> Floats:
    r"""Inequalities ``row @ v <= 0`` of the private rows v, for a polyhedral region.

    One for each pair of secrets and of extreme conditionals (Entropy (43)).

    Parameters
    ----------
    region : Region
        A polyhedral region.
    eps : float
        Privacy parameter, in nats.

    Returns
    -------
    array of shape (m, number of cells of a row)
    """
    extremes = [extreme_conditionals(region, s) for s in range(region.n_secrets)]
    pairs, conditionals = [np.zeros((0, 2), dtype=np.intp)], [np.zeros((0, 2, region.row_shape[1]))]
    for pair in np.stack(region.pairs, axis=1):
        one, other = (extremes[secret] for secret in pair)
        most, least = (part.ravel() for part in np.indices((len(one), len(other))))
        conditionals.append(np.stack([one[most], other[least]], axis=1))
        pairs.append(np.tile(pair, (len(most), 1)))
    first, second = region.place(np.concatenate(pairs)).T
    cuts = Cuts(np.zeros(len(first), dtype=np.intp), first, second, np.concatenate(conditionals))
    table: Floats = cuts.coefficients((1, *region.row_shape), eps).toarray()
    # Where U alone is observed, pairs may say the same.
    return np.unique(table, axis=0) if region.observe == "nonsensitive" else table


def facet_count(region: Region) -> int:
    """Count the facets of :func:`facets` without building them.

    Parameters
    ----------
    region : Region
        A polyhedral region.

    Returns
    -------
    int
    """
    extremes = [len(extreme_conditionals(region, s)) for s in range(region.n_secrets)]
    first, second = region.pairs
    return sum(extremes[s] * extremes[t] for s, t in zip(first, second, strict=True))
