"""From how many records on a value may be one of its own, though it was learned from them.

What is learned from the counted records favours what happened to be frequent among them. But
values that have many records are there in almost every table, so that a confidence level can
allow for them (docs/proofs.md, Theorem 36).
"""

from __future__ import annotations

import math

__all__ = ["SEEN_OFTEN", "chance_of_infrequent", "frequent_from", "spent_on_values"]

#: Values with so many records count towards the number of values that a confidence set allows for.
#: Fixed in advance, as the theorem wants; at 1 a single record would count, at 10 `frequent_from`
#: is 6 to 8 records more.
SEEN_OFTEN = 5

# The part of beta that pays for having learned which values are frequent. It costs the set 2 % of
# its error; `frequent_from` is five records more at half of it.
_SPENT = 0.02
_MANY = 400  # records, beyond which the bound (below 1e-40) is not computed


def spent_on_values(beta: float) -> float:
    """Return the part of beta that pays for having learned the values."""
    return _SPENT * beta


def frequent_from(n: int, beta: float) -> int:
    """Find how many records a value needs to be one of its own.

    Returns int: the least m for which Theorem 36 holds: with probability at least ``1 - beta``,
    every value with m of the n records is so probable that it has `SEEN_OFTEN` records itself, as
    all values that are as probable have.

    Examples
    --------
    >>> [frequent_from(n, 0.001) for n in (1_000, 20_000, 1_000_000)]
    [49, 58, 69]
    """
    least = SEEN_OFTEN + 2
    while _chance(n, least) > beta:
        least += 1
    return least


def chance_of_infrequent(n: int, fewest: int) -> float:
    """Bound the probability of Theorem 36 where each value that is kept has so many records.

    Examples
    --------
    >>> chance_of_infrequent(1_000, 49) < 0.001 < chance_of_infrequent(1_000, 48)
    True
    """
    return _chance(n, min(fewest, _MANY))


def _chance(n: int, least: int) -> float:
    """Bound the probability of Theorem 36 at the best expected count, a whole number."""
    means = range(SEEN_OFTEN + 1, least)
    return min((_bound(n, mean, least) for mean in means), default=math.inf)


def _bound(n: int, mean: int, least: int) -> float:
    """Chernoff's bounds for sums of independent indicators, of n / mean values each."""
    below = SEEN_OFTEN - 1
    few = math.exp(below - mean + below * math.log(mean / below))
    many = math.exp(least - mean + least * math.log(mean / least))
    return (n / mean) * (few + many) * (1.0 + 1e-9)  # rounding
