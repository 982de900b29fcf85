"""Linearised ascent of many rows at once, each on a central path of its own."""

import numpy as np

from skrldp._typing import Floats
from skrldp.design.criteria import Mixture
from skrldp.design.interior_point import Block, RowPaths
from skrldp.design.run import Limits

__all__ = ["ascend_along_paths"]

# Gaps, in units of the range of a row's slopes: from the first on the slopes follow the row, as
# they do from program to program in other ascents; at the second an ascent ends. By hand.
_FOLLOW, _END = 3e-3, 1e-5
# A batch goes on while fewer than this part of its rows have come so far: some are slow.
_MOST_FOLLOW, _MOST_END = 0.7, 0.9
_MOST_STEPS = 40  # Newton steps of a batch


def ascend_along_paths(
    slopes: Floats,
    blocks: list[Block],
    limits: Limits,
    *,
    mixture: Mixture | None = None,
    end: float = _END,
) -> Floats:
    """Ascend the reduced cost of a mixture, from many slopes.

    Where a way down the central path goes is decided by its first slopes; once it is near the
    boundary, the slopes are those at the row itself.

    Shapes: `slopes` (m, a). Returns (m, a): rows of unit sum. They are private up to errors of the
    paths.
    """
    paths = RowPaths(slopes, blocks, workers=limits.workers)
    rows, unit, follow = paths.rows, np.ptp(slopes, axis=1), False
    for _ in range(_MOST_STEPS):
        going = paths.advance(end * unit)
        limits.count()
        rows = np.maximum(paths.rows, np.finfo(float).tiny)
        rows /= rows.sum(axis=1, keepdims=True)
        if not going or limits.met:
            break
        follow = follow or bool(np.mean(paths.gaps <= _FOLLOW * unit) > _MOST_FOLLOW)
        if np.mean(paths.gaps <= 2.0 * end * unit) > _MOST_END:
            break
        if follow and mixture is not None:
            slopes = mixture.slopes(rows)
            unit = np.ptp(slopes, axis=1)
            paths.set_slopes(slopes)
    return rows
