"""Sign tests of whether every report is drawn anew; the mechanism need not be known.

Let y and z be reports of the same cell from one call, and x one from another place. If draws are
independent, y and z are exchangeable given x: whether x agrees with y but not with z, or with z but
not with y, has probability 1/2 each. Where randomness is used twice, x and its own y agree too
often.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import bdtrc

from skrldp._typing import Integers

__all__ = ["check_repeats", "check_runs", "paired_cells"]


_LIKELIEST = 4  # distances that are tested, of all: neighbours, or multiples, may be alike


def paired_cells(cells: Integers, n: int, generator: np.random.Generator) -> Integers:
    """Draw records evenly over some cells, those of places 2i and 2i + 1 of the same cell.

    Returns array of int: cell of each record.
    """
    pairs = cells[generator.permutation(len(cells))]
    pairs = np.resize(pairs, -(-n // 2))
    return np.repeat(generator.permutation(pairs), 2)


def check_repeats(first: Integers, second: Integers) -> float:
    """Bound the p-value of two calls' reports about the same records agreeing by chance."""
    x, y, z = first[::2], second[::2], second[1::2]
    return _coins(x == y, x == z)


def check_runs(
    reports: Integers, generator: np.random.Generator, lags: Integers | None = None
) -> tuple[float, int]:
    """Bound the p-value of reports about one cell agreeing at some distance.

    Looked at are the distances `lags`; if there are none, all up to half of the reports, of which
    those are tested at which reports are most correlated.

    Shapes: `reports` (n,). Returns (float, int): the p-value, and the distance at which reports
    agree most.
    """
    most = len(reports) // 2
    every = np.arange(1, most + 1) if lags is None else lags[lags <= most]
    tested = _likeliest(reports, most) if lags is None else every
    mixed = generator.permutation(most)  # of as many pairs as any distance has
    found = {}
    for lag in tested.tolist():
        whole = reports[: len(reports) - len(reports) % (2 * lag)].reshape(-1, 2, lag)
        early, late = whole[:, 0].ravel(), whole[:, 1].ravel()  # disjoint pairs
        order = mixed if len(mixed) == len(early) else mixed[mixed < len(early)]
        ours, others = order[: len(order) // 2], order[len(order) // 2 : len(order) // 2 * 2]
        found[lag] = _coins(early[ours] == late[ours], early[ours] == late[others])
    if not found:
        return 1.0, 0
    best = min(found, key=lambda lag: found[lag])
    return min(1.0, found[best] * len(every)), best


def _likeliest(reports: Integers, most: int) -> Integers:
    """Find the distances, up to a greatest one, at which reports as numbers are most correlated."""
    numbers = reports - reports.mean()
    size = next_fast_len(2 * len(numbers), real=True)
    sums = irfft(np.abs(rfft(numbers, size)) ** 2, size)[1 : most + 1]
    scores = sums / np.sqrt(np.arange(len(numbers) - 1, len(numbers) - most - 1, -1))
    return 1 + np.argsort(-scores, kind="stable")[:_LIKELIEST]


def _coins(aligned: NDArray[np.bool_], crossed: NDArray[np.bool_]) -> float:
    """P-value of the sign test: probability of at least so many agreements."""
    tossed = aligned != crossed
    heads, tosses = int((aligned & tossed).sum()), int(tossed.sum())
    return 1.0 if heads == 0 else float(bdtrc(heads - 1, tosses, 0.5))
