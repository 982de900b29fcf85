r"""Linear inequalities of rows with the greatest and the least entries of their parts as variables.

Privacy over all distributions says :math:`\max_u v_{s,u} \le e^\epsilon \min_u v_{t,u}`. With
variables :math:`M_s \ge v_{s,u} \ge m_s` for all u it takes two inequalities for each entry and one
for each pair, :math:`M_s \le e^\epsilon m_t`, instead of one for each pair of entries. Of the
region with lower bounds L, the greatest and least report probabilities under secret s are
:math:`L_s \cdot v_s + (1-\sum L_s) M_s` and the same with :math:`m_s`.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from skrldp._typing import Floats
from skrldp.privacy import Requirement

__all__ = ["beside", "lower_rows", "range_rows"]


def range_rows(one: Requirement) -> sp.csr_array:
    """Write privacy over all distributions as functions that must not be positive.

    Returns (m, n_cells + 2 p): the variables are the row, the greatest entries of its p parts, and
    the least.
    """
    layout = one.region.rows
    first, second = one.part_pairs
    each = sp.csr_array(sp.eye_array(len(layout.parts)))
    between = [None, np.exp(-one.eps) * each[first], -each[second]]
    table = sp.block_array([*_within(one), between], format="csr")
    table.sort_indices()
    return table


def lower_rows(one: Requirement, lower: Floats) -> sp.csr_array:
    """Write privacy over all conditionals above lower bounds as functions not to be positive.

    Shapes: `lower` (n_secrets, k). Returns (m, n_cells + 2 p + 2 n_secrets): the variables are the
    row, the greatest entries of its p parts, the least, and the greatest and least report
    probabilities under each secret.
    """
    region, layout = one.region, one.region.rows
    a1, k = lower.shape
    secret = np.arange(a1)
    each = sp.csr_array(sp.eye_array(a1))
    entries = layout.parts[layout.place].ravel()
    under = sp.csr_array(
        (lower.ravel(), entries, k * np.arange(a1 + 1)), shape=(a1, layout.n_cells)
    )
    under.sum_duplicates()
    spare = np.maximum(1.0 - lower.sum(axis=1), 0.0)
    rest = sp.csr_array((spare, (secret, layout.place)), shape=(a1, len(layout.parts)))
    first, second = (each[s] for s in region.pairs)
    table = sp.block_array(
        [
            *([*blocks, None, None] for blocks in _within(one)),
            [under, rest, None, -each, None],  # the greatest probability is at most `most`
            [-under, None, -rest, None, each],  # and the least at least `least`
            [None, None, None, np.exp(-one.eps) * first, -second],
        ],
        format="csr",
    )
    table.eliminate_zeros()
    table.sort_indices()
    return table


def _within(one: Requirement) -> list[list[sp.csr_array | None]]:
    """Say that entries lie between the least and the greatest of their part."""
    layout = one.region.rows
    part, place = np.nonzero(layout.real)
    entry, number = layout.parts[part, place], np.arange(len(part))
    ones = np.ones(len(part))
    cell = sp.csr_array((ones, (number, entry)), shape=(len(part), layout.n_cells))
    own = sp.csr_array((ones, (number, part)), shape=(len(part), len(layout.parts)))
    return [[cell, -own, None], [-cell, None, own]]


def beside(tables: Sequence[sp.csr_array], n_cells: int) -> sp.csr_array:
    """Put functions of one row together, each table with variables of its own after the row.

    Shapes: `tables` (m, n_cells + more); returns (sum of m, n_cells + sum of more).
    """
    if not tables:
        return sp.csr_array((0, n_cells))
    rows = sp.vstack([table[:, :n_cells] for table in tables])
    others = sp.block_diag([table[:, n_cells:] for table in tables])
    found = sp.csr_array(sp.hstack([rows, others]))
    found.sort_indices()
    return found
