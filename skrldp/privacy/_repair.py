"""The repair of mechanisms that are not quite private (docs/proofs.md, Lemma 18)."""

from collections.abc import Callable

import numpy as np

from skrldp._typing import Floats
from skrldp.privacy._requirements import Requirements

__all__ = ["repair"]


def repair(
    matrix: Floats,
    requirements: Requirements,
    rounding: float = 0.0,
    callback: Callable[[int], None] | None = None,
) -> Floats:
    """Make any stochastic matrix private by mixing in a little of each report.

    Adding a number to all entries of a row makes it private (:meth:`Requirements.shifts`);
    dividing by the new column sums keeps it so.

    Shapes: `matrix` (b, n_cells). Returns array of the same shape: columns sum to 1 up to rounding.
    """
    clean = np.clip(matrix, 0.0, None)
    clean = clean / clean.sum(axis=0)
    shifts = requirements.shifts(clean, rounding, callback)
    shifts[~clean.any(axis=1)] = 0.0  # a report that is never sent tells nothing
    return (clean + shifts[:, None]) / (1.0 + shifts.sum())
