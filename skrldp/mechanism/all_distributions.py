r"""A mechanism's leakage at the worst of all distributions of (S, U), from ratios of its entries.

Over all distributions of U given S the leakage is the logarithm of the largest ratio of two
entries of a row with different secrets (docs/proofs.md, Theorem 26); to somebody who knows U, of
two entries with the same value of U (Theorem 29). Therefore neither a set nor a search is needed,
and equal reports multiply the ratio: k of them leak k times as much.
"""

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ROWS, chunks
from skrldp._typing import Floats
from skrldp.mechanism.forms import BlockForm, Form, ValuesForm

# Absolute and relative increase of the logarithm of a quotient of two numbers. Conversion to
# floats, division and logarithm have errors of less than three units in total.
_ROUNDING = 4.0 * sys.float_info.epsilon


def leakage_over_all(mechanism: Form | Floats, n_secrets: int) -> tuple[float, float]:
    """Bound one report's leakage over all distributions, and to an observer who knows U.

    The sampled integers are compared, so both are exact except for rounding upwards.

    Shapes: `mechanism` (b, a1 * a2). Returns `eps_worst_case, eps_given_u`: in nats.
    """
    if not isinstance(mechanism, Form):
        table: NDArray[Any] = mechanism
    elif isinstance(mechanism, BlockForm):
        table = _like_all_reports(mechanism)
        n_secrets = min(n_secrets, 3)
    elif isinstance(mechanism, ValuesForm):  # all secrets are equal
        n_secrets = min(n_secrets, 2)
        table = np.tile(mechanism.table, (1, n_secrets))
    else:
        table = mechanism.weights
    rows = table.reshape(len(table), n_secrets, -1)
    everywhere = given_u = 0.0
    for batch in chunks(len(rows), max(1, ROWS // max(1, table.shape[1]))):
        batch_rows = rows[batch]
        everywhere = max(everywhere, _greatest(batch_rows.max(axis=2), batch_rows.min(axis=2)))
        by_value = np.moveaxis(batch_rows, 2, 1).reshape(-1, n_secrets)
        given_u = max(given_u, _greatest(by_value, by_value))
    return everywhere, given_u


def _like_all_reports(form: BlockForm) -> NDArray[Any]:
    """Return a row that represents every report of a block mechanism, shape (1, at most 6)."""
    table = form.table
    of_secret = [table.same, table.same_secret][: table.n_values]
    foreign = [table.same_value, table.other][: table.n_values]
    return np.array([of_secret, foreign, foreign][: table.n_secrets]).reshape(1, -1)


def _greatest(largest: NDArray[Any], smallest: NDArray[Any]) -> float:
    """Log of the largest ratio of an entry of `largest` to one of `smallest` of a different secret.

    Both have shape (n, a1), and entries of the same row are compared.
    """
    if largest.shape[1] < 2:
        return 0.0
    first, last = largest.argmax(axis=1), smallest.argmin(axis=1)
    upper, second = np.partition(largest, [-2, -1], axis=1)[:, :-3:-1].T
    lower, second_least = np.partition(smallest, [0, 1], axis=1)[:, :2].T
    # The largest over the smallest entry if their secrets differ; otherwise one of the two and the
    # runner-up of the other. All other ratios are not larger.
    ends = np.where(first != last, upper, second)
    return max(_log_ratio(upper, second_least), _log_ratio(ends, lower))


def _log_ratio(upper: NDArray[Any], lower: NDArray[Any]) -> float:
    """Bound the largest log-ratio; 0 / 0, for reports that are never sent, counts as 1."""
    differ = upper > lower
    if not differ.any():
        return 0.0
    above, below = upper[differ].astype(float), lower[differ].astype(float)
    if not below.all():
        return math.inf
    with np.errstate(over="ignore"):
        ratio = above / below
    best = int(ratio.argmax())
    if math.isfinite(ratio[best]):
        return outwards(math.log(ratio[best]))
    return outwards(float((np.log(above) - np.log(below)).max()))


def outwards(value: float) -> float:
    """Raise a bound by the largest rounding error."""
    return value + _ROUNDING * (1.0 + value)


def inwards(value: float) -> float:
    """Lower a bound that was raised by rounding to at most the exact value."""
    return value if math.isinf(value) else max(0.0, value - 2.0 * _ROUNDING * (1.0 + value))


def times(count: int, eps: float) -> float:
    """Multiply a bound by an integer, rounding upwards; 0 and one time are exact."""
    if eps == 0.0 or count == 0:
        return 0.0
    if count == 1:
        return eps
    # The number is rounded to a float, and the product is rounded.
    return eps * count * (1.0 + _ROUNDING) if count < 1e300 else math.inf
