"""Bisection, for many problems at once."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skrldp._typing import Floats

__all__ = ["bisect"]

# An interval of length 1 shrinks to 1e-15, the last digits of what is sought. Twice as many steps
# would change nothing and take twice the time.
_STEPS = 50


def bisect(
    holds: Callable[[Floats], Any], low: Floats, high: Floats, steps: int = _STEPS
) -> Floats:
    """Greatest points at which a condition holds that is true below them and false above.

    Shapes: `low` and `high` (N,). Returns (N,): the last points at which the condition was seen to
    hold; `low` where there was none.

    Examples
    --------
    >>> import numpy as np
    >>> bisect(lambda x: x * x <= np.array([0.25, 2.0]), np.zeros(2), np.full(2, 4.0)).round(6)
    array([0.5     , 1.414214])
    """
    for _ in range(steps):
        middle = (low + high) / 2.0
        held = holds(middle)
        low, high = np.where(held, middle, low), np.where(held, high, middle)
    return low
