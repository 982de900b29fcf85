"""Draws that round numbers to knots, repeatable for each person by a key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp.alphabet.numbers import Draws, Knots
from skrldp.mechanism.json_values import as_json
from skrldp.sampling.random_bits import ROUNDING, KeyedStream

if TYPE_CHECKING:
    from numpy.typing import NDArray


class KeptRounding:
    """Draws that are functions of a key, a person, a column and its knots, for any mechanism.

    Therefore a person's number is rounded to the same knot in every report, unless it changes.
    """

    def __init__(self, key: bytes, knots: Mapping[Any, Knots]) -> None:
        self._streams = {
            name: KeyedStream(key, _digest_of(name, points), domain=ROUNDING)
            for name, points in knots.items()
        }

    def draws(self, tapes: Callable[[KeyedStream, NDArray[np.int64]], NDArray[np.uint8]]) -> Draws:
        """Return draws for people, given a function from a stream and n zeros to their tapes."""

        def draws(name: Any, knots: Knots, n: int) -> NDArray[np.uint32]:
            octets = tapes(self._streams[name], np.zeros(n, dtype=np.int64))[:, :4]
            numbers = np.ascontiguousarray(octets).view("<u4")[:, 0]
            return numbers.astype(np.uint32)

        return draws


def _digest_of(name: Any, knots: Knots) -> str:
    """Hash a column's name and knots, as JSON without blanks."""
    column = [as_json(name, depth=2), list(knots.points)]
    text = json.dumps(column, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
