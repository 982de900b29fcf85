"""The repair of mechanisms that are not quite private (docs/proofs.md, Lemma 18)."""

from collections.abc import Callable

import numpy as np

from skrldp._typing import Floats
from skrldp.privacy._requirements import Requirements

__all__ = ["constant_rows", "repair"]


def repair(
    matrix: Floats,
    requirements: Requirements,
    rounding: float = 0.0,
    stand_in: Floats | None = None,
    callback: Callable[[int], None] | None = None,
) -> Floats:
    """Make any stochastic matrix private by mixing in a little of each report.

    Adding a number to all entries of a row makes it private (:meth:`Requirements.shifts`);
    dividing by the new column sums keeps it so.

    Shapes: `matrix` (b, n_cells); `stand_in` (a2,). Returns array of the same shape: columns sum to
    1 up to rounding.
    """
    clean = np.clip(matrix, 0.0, None)
    clean = clean / clean.sum(axis=0)
    shifts = requirements.shifts(clean, rounding, callback=callback)
    if stand_in is not None:
        constant = constant_rows(clean, stand_in)
        for first, second in ((clean, constant), (constant, clean)):
            needed = requirements.shifts(first, rounding, second, callback)
            shifts = np.maximum(shifts, needed)
    shifts[~clean.any(axis=1)] = 0.0  # a report that is never sent tells nothing
    return (clean + shifts[:, None]) / (1.0 + shifts.sum())


def constant_rows(rows: Floats, distribution: Floats) -> Floats:
    """Make rows whose entries are all what a distribution makes of each row.

    Shapes: `rows` (b, k); `distribution` (k,).
    """
    return np.broadcast_to((rows @ distribution)[:, None], rows.shape)
