"""The facets of the cone of private rows, where regions are polytopes with few vertices."""

import numpy as np

from skrldp._typing import Floats
from skrldp.design.programs import Cuts
from skrldp.privacy import Requirement, Requirements

__all__ = ["facet_count", "facets", "is_polyhedral"]


def is_polyhedral(requirements: Requirements) -> bool:
    """Whether the conditionals of all regions form polytopes with few vertices."""
    return all(one.region.few_vertices for one in requirements)


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
    extremes = [region.vertices(s) for s in range(region.n_secrets)]
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
    eps = np.full(sum(counts), one.eps)
    first, second = np.concatenate(pairs).T
    row = np.zeros(len(first), dtype=np.intp)
    cuts = Cuts.of(region, row, first, second, np.concatenate(conditionals), eps)
    table: Floats = cuts.coefficients(1, n_cells).toarray()
    return table


def facet_count(requirements: Requirements) -> int:
    """Count the facets of :func:`facets` without building them."""
    total = 0
    for region in (one.region for one in requirements):
        extremes = np.array([len(region.vertices(s)) for s in range(region.n_secrets)])
        first, second = region.pairs
        total += int(np.sum(extremes[first] * extremes[second]))
    return total
