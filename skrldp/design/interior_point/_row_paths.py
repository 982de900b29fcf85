"""Central paths of single rows: linear functions of private rows, many at a time.

The rows of :class:`CentralPath` meet in the sums of the columns. Here each row has the sum 1 and is
maximised on its own, with its own barrier parameter and its own step length.
"""

import numpy as np

from skrldp._typing import Floats
from skrldp.design.interior_point._block import Block
from skrldp.design.interior_point._part import Part, parts_of
from skrldp.design.interior_point._step_lengths import FIRST_LENGTH, step_lengths
from skrldp.design.run import Workers

__all__ = ["RowPaths"]

# As in _central_path.py, but that steps are aimed further: a single row is easily centred again.
_FIRST_GAP = 10.0  # in units of the mean range of the slopes
_CENTRING_RANGE = (0.05, 0.9)
# Entries of the Hessians of one part. Doubled, steps take 1.6 times as long at 90 cells: memory is
# asked for anew.
_ENTRIES = 250_000


class RowPaths:
    """Follow the central path of each of some rows.

    Parameters
    ----------
    slopes : array of shape (b, a)
        Linear functions, one to be maximised for each row.
    blocks : list of Block
        The requirements on each row.
    workers : Workers, optional
        Who does the work; None is the thread that calls.

    Attributes
    ----------
    gaps : array of shape (b,)
        Duality gap of each row, but for errors that vanish along the path.
    """

    def __init__(
        self, slopes: Floats, blocks: list[Block], *, workers: Workers | None = None
    ) -> None:
        self._workers = workers or Workers()
        b, a = slopes.shape
        uniform = np.full((b, a), 1.0 / a)
        places = parts_of(b, a, _ENTRIES)
        self._parts = [Part(place, uniform[place], blocks, 1.0) for place in places]
        self._count = self._parts[0].complementarity()[1]
        gap = _FIRST_GAP * float(np.ptp(slopes, axis=1).mean()) or 1.0
        for part in self._parts:
            part.scale_multipliers(gap / self._count)
        self.gaps = np.full(b, gap)
        self._lengths = np.full(b, FIRST_LENGTH)
        self.set_slopes(slopes)

    def set_slopes(self, slopes: Floats) -> None:
        """Change the linear functions; the paths go on from where they are.

        Shapes: `slopes` (b, a).
        """
        self._slopes = slopes

    @property
    def rows(self) -> Floats:
        """The rows, shape (b, a). They are private up to errors that vanish on the way."""
        return np.concatenate([part.rows for part in self._parts])

    def advance(self, least_gaps: Floats) -> bool:
        """Take one Newton step of each row.

        Shapes: `least_gaps` (b,). Returns bool: whether it was taken; False when rounding has ended
        a path.
        """
        return all(
            self._workers.map(lambda part: self._advance(part, least_gaps[part.place]), self._parts)
        )

    def _advance(self, part: Part, least_gaps: Floats) -> bool:
        try:
            part.linearise()
        except np.linalg.LinAlgError:
            return False
        place, count = part.place, self._count
        mean = part.complementarity()[0] / count
        centring = np.clip(1.0 - self._lengths[place], *_CENTRING_RANGE)
        barrier = np.maximum(centring * mean, np.minimum(mean, least_gaps / count))
        gradient = part.gradient(barrier) - self._slopes[place]
        try:
            both = part.solve(np.stack([gradient, np.ones_like(gradient)], axis=2))
        except np.linalg.LinAlgError:
            return False
        alone, ones = both[..., 0], both[..., 1]
        missing = 1.0 - part.rows.sum(axis=1)
        multiplier = (missing + alone.sum(axis=1)) / ones.sum(axis=1)
        step = multiplier[:, None] * ones - alone
        lengths, total = step_lengths(part.find_steps(step), part.products, count)
        if not np.isfinite(total).all():
            return False
        part.take(lengths)
        self._lengths[place], self.gaps[place] = lengths.min(axis=1), total
        return True
