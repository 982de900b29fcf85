"""How often each block is to be drawn."""

from collections.abc import Sequence

import numpy as np

from skrldp._typing import Floats
from skrldp.pooling._margins import CommonMargins
from skrldp.pooling._pool import Pool

__all__ = ["best_shares"]

_STEPS = 50
_CLOSE = 1e-3  # relative gain that the shares may leave: less than the sampling of blocks changes


def best_shares(
    margins: CommonMargins,
    information: Sequence[Floats],
    functions: Sequence[tuple[int, Floats]],
) -> Floats:
    """Find the shares of blocks for which the variances of some functions have the least sum.

    The sum is convex in the shares, and each step multiplies a share by the root of how much a
    report of the block lowers the sum (Pukelsheim, Optimal Design of Experiments, 1993).

    Shapes: m matrices (p, p), the information of one report; each of `functions` is the number of a
    block and an array (k, a) of functions of its cells. Returns (m,).
    """
    shares = np.full(len(information), 1.0 / len(information))
    nothing = tuple(np.zeros(len(matrix)) for matrix in information)
    for _ in range(_STEPS):
        scaled = tuple(r * matrix for r, matrix in zip(shares, information, strict=True))
        total, gains = Pool(margins, scaled, nothing).gains(functions)
        if (
            gains <= (1.0 + _CLOSE) * total * shares
        ).all():  # no block's report would lower the sum by more
            break
        shares = np.sqrt(shares * np.maximum(gains, 0.0))
        shares /= shares.sum()
    return shares
