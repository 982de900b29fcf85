"""Polyhedral regions: their extreme conditionals, and the facets of the cone of private rows."""

import numpy as np

from skrldp._typing import Floats
from skrldp.design.programs import Cuts
from skrldp.privacy import (
    BoxRegion,
    LowerRegion,
    PointRegion,
    Region,
    Requirement,
    Requirements,
    SimplexRegion,
)

__all__ = ["extreme_conditionals", "facet_count", "facets", "is_polyhedral"]


_MOST_BOX_VALUES = 6  # of U: a box may have a2 * 2**(a2 - 1) vertices, 192 here and 448 with 7
_ROUNDING = 1e-15  # of probabilities


def is_polyhedral(requirements: Requirements) -> bool:
    """Whether the conditionals of all regions form polytopes with few vertices."""
    return all(_few_vertices(one.region) for one in requirements)


def _few_vertices(region: Region) -> bool:
    if isinstance(region, BoxRegion):
        return region.conditionals.shape[1] <= _MOST_BOX_VALUES
    return isinstance(region, SimplexRegion | PointRegion | LowerRegion)


def extreme_conditionals(region: Region, secret: int) -> Floats:
    """Vertices of the conditionals that a polyhedral region allows for one secret.

    Shapes: returns (m, a2).
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


def facets(requirements: Requirements) -> Floats:
    r"""Inequalities ``row @ v <= 0`` of the private rows v, for polyhedral regions.

    One for each pair of secrets and of extreme conditionals (Entropy (43)).

    Shapes: returns (m, n_cells).
    """
    tables = [_facets_of(one, requirements.n_cells) for one in requirements]
    table = np.concatenate(tables)
    # Where parts are shared, pairs may say the same, and so may several requirements.
    alike = len(tables) > 1 or requirements.items[0].region.rows.shared
    return np.unique(table, axis=0) if alike else table


def _facets_of(one: Requirement, n_cells: int) -> Floats:
    region = one.region
    extremes = [extreme_conditionals(region, s) for s in range(region.n_secrets)]
    pairs, conditionals = [np.zeros((0, 2), dtype=np.intp)], []
    counts = []
    for pair in np.stack(region.pairs, axis=1):
        first, second = (extremes[secret] for secret in pair)
        most, least = (part.ravel() for part in np.indices((len(first), len(second))))
        conditionals.append(np.stack([first[most], second[least]], axis=1))
        pairs.append(np.tile(pair, (len(most), 1)))
        counts.append(len(most))
    if not conditionals:
        return np.zeros((0, n_cells))
    eps = np.repeat(one.pair_eps, counts)
    first, second = np.concatenate(pairs).T
    row = np.zeros(len(first), dtype=np.intp)
    cuts = Cuts.of(region, row, first, second, np.concatenate(conditionals), eps)
    table: Floats = cuts.coefficients(1, n_cells).toarray()
    return table


def facet_count(requirements: Requirements) -> int:
    """Count the facets of :func:`facets` without building them."""
    total = 0
    for region in (one.region for one in requirements):
        extremes = np.array([len(extreme_conditionals(region, s)) for s in range(region.n_secrets)])
        first, second = region.pairs
        total += int(np.sum(extremes[first] * extremes[second]))
    return total
