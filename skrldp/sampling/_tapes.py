"""A stream of random bits in which every row has its own part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Tapes"]


class Tapes:
    """A stream of which every row has its own part, its *tape*.

    A sampler fills one number of each row at a time, as long as it has at most `_codes.BLOCK` rows.
    Numbers are little endian, as those of :class:`~skrldp.sampling.RandomStream`.

    Parameters
    ----------
    octets : array of uint8, shape (n, width)
        The random bytes of each row; C-contiguous. A sampler reads 8 at most.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp.sampling import Tapes
    >>> tapes = Tapes(np.array([[1, 2, 3, 4], [5, 6, 7, 8]], dtype=np.uint8))
    >>> out = np.empty(2, dtype=np.uint16)
    >>> tapes.fill(out)
    >>> [hex(number) for number in out]
    ['0x201', '0x605']
    """

    def __init__(self, octets: NDArray[np.uint8]) -> None:
        self._octets = octets
        self._place = 0

    def fill(self, out: NDArray[Any]) -> None:
        """Overwrite an array with the next number of each tape, in place.

        Shapes: `out` (n,). Raises AssertionError if it has not one entry for each tape, or the
        tapes have no bytes left.
        """
        n, width = self._octets.shape
        end = self._place + out.itemsize
        if out.shape != (n,) or end > width:
            raise AssertionError("a sampler read another number of bits than one for each record")
        out[...] = np.ndarray(
            (n,), f"<u{out.itemsize}", self._octets, offset=self._place, strides=(width,)
        )
        self._place = end
