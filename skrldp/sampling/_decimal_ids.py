"""Which texts are whole numbers: those that their decimal digits are written as, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["whole_numbers"]

_LONGEST = 20  # characters of 2**64 - 1, and of -2**63
_LEAST_LONGEST = np.uint64(10**19)  # the least number of 20 digits; of 19, none is beyond 2**64
_MOST_NEGATIVE = np.uint64(2**63)
_ZERO, _NINE, _MINUS = b"09-"


def whole_numbers(
    octets: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.uint64]]:
    """Find the texts that are an integer from -2**63 to 2**64 - 1, as Python would write it.

    Shapes: `octets` (m,); `starts` and `lengths` (n,); returns `negative` (k,). Returns `rows`
    (k,): the texts that are numbers: "7" is, but "007", "+7", "-0" and "7.0" are not; `values`
    (k,): the numbers modulo 2**64.
    """
    rows = np.flatnonzero((lengths > 0) & (lengths <= _LONGEST))
    lead = octets[starts[rows]]  # of most texts that are no numbers, it is a letter
    rows = rows[(lead <= _NINE) & ((lead >= _ZERO) | (lead == _MINUS))]
    last = octets[starts[rows] + lengths[rows] - 1]
    rows = rows[(last >= _ZERO) & (last <= _NINE)]
    first, n = starts[rows], lengths[rows]
    negative = octets[first] == _MINUS
    first, n = first + negative, n - negative
    lead = octets[first]  # the last character is a digit, so one follows the sign
    fits = (n < _LONGEST) | (lead == _ZERO + 1)
    fits &= (lead != _ZERO) | ((n == 1) & ~negative)
    values = np.zeros(len(rows), dtype=np.uint64)
    for place in range(int(n.max(initial=0))):
        within = place < n
        digit = octets[np.minimum(first + place, len(octets) - 1)] - np.uint8(_ZERO)  # wraps
        fits &= ~within | (digit <= _NINE - _ZERO)
        values = np.where(within, values * np.uint64(10) + digit, values)
    fits &= (n < _LONGEST) | (values >= _LEAST_LONGEST)  # else it went beyond 2**64
    fits &= ~negative | ((n < _LONGEST) & (values <= _MOST_NEGATIVE))
    values = np.where(negative, np.uint64(0) - values, values)
    return rows[fits], negative[fits], values[fits]
