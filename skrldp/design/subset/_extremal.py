r"""The best local differential privacy for one attribute whose distribution is known.

Every δ-LDP mechanism is a mixture of rows :math:`1 + (e^\delta - 1) 1_A` over sets A of values
(Kairouz, Oh and Viswanath 2016), so the most informative one is a linear program over sets. It is
solved with the sets found so far; its dual variables say which set is missing. With public counts
that set is found exactly, however many values there are: the reduced cost of a set depends on its
count and the sum of its duals alone, and for each count the least sum follows by dynamic
programming.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._typing import Booleans, Floats
from skrldp.design.programs import LEAST_GAIN, used
from skrldp.design.subset._partitions import first_sets
from skrldp.design.subset._set_mixture import SetMixture
from skrldp.design.subset._sets import best_sets, simple_sets
from skrldp.information import entropy, mutual_information_bound, row_information

__all__ = ["LocalOptimum", "optimal_response"]


_GROUPS = 200  # sets of many values that are made to begin with, roughly
_ROUNDING = 64.0 * np.finfo(float).eps  # of the sums of dual variables, for each value


@dataclass(frozen=True, eq=False)
class LocalOptimum:
    """The most informative local mechanism."""

    matrix: Floats  # (b, k), probability of each report given each value; b is at most k
    information: float  # I(V; Y) at the known distribution, in nats
    bound: float  # no δ-LDP mechanism has more
    rounds: int  # linear programs solved
    sets: Booleans = field(repr=False)  # (m, k), the sets of the reports, a start for another δ


def optimal_response(
    counts: ArrayLike,
    eps: float,
    *,
    gap: float = 1e-6,
    rounds: int = 200,
    first: Booleans | None = None,
    quick: bool = False,
) -> LocalOptimum:
    r"""Find the most informative local mechanism for an attribute with known counts.

    Maximises the mutual information between value and report over all mechanisms in which no two
    values differ by more than :math:`e^\epsilon` in the probability of any report.

    Shapes: `counts` (k,); `first` (m, k). Returns LocalOptimum: its bound is proven, whatever the
    tolerance of the linear programs. With more than ten values and more than ten million for the
    number of values times the number of records, counts are rounded while searching, and the bound
    is a little less close. Raises ValueError if the counts are not whole numbers with a positive
    sum, or ε is negative.

    For small ε the optimum asks whether the value is in one set that has about half of the
    records; for large ε it is randomised response. To find the best set is as hard as to part
    numbers into two equal sums, hence the work grows with the number of records.

    P. Kairouz, S. Oh and P. Viswanath, *Extremal mechanisms for local differential privacy*,
    Journal of Machine Learning Research 17, 2016, Theorems 2, 4, 5 and 6.

    Examples
    --------
    Only the sums matter here: {0, 1, 2} has half of the records, and so has {3}.

    >>> best = optimal_response([10, 10, 20, 40], 0.1)
    >>> sorted(best.matrix[:, 3].round(3).tolist())
    [0.475, 0.525]
    >>> round(best.information, 6), round(best.bound, 6)
    (0.001249, 0.001249)
    """
    whole = _whole(counts)
    if not eps >= 0:
        raise ValueError(f"eps={eps!r} must be a number >= 0 (in nats).")
    distribution = whole / whole.sum()
    if eps == 0 or len(whole) == 1:
        return LocalOptimum(np.ones((1, len(whole))), 0.0, 0.0, 0, simple_sets(len(whole))[:1])
    drop = float(np.exp(-eps))
    pricing = best_sets(whole, quick)
    mixture = SetMixture(distribution)
    start = first_sets(distribution[None], _GROUPS)
    mixture.add(start if first is None else np.concatenate([start, first]), drop)
    bound = _simple_bound(distribution, eps)
    weights, duals, value = mixture.solve()
    done = 0
    while done < rounds:
        done += 1
        sets, most = pricing.best(duals, drop)
        # With this multiple of the distribution added, the dual variables are feasible.
        rounding = _ROUNDING * len(whole) * float(np.abs(duals).sum())
        bound = min(bound, float(duals.sum()) + max(most, 0.0) + rounding)
        near = bound - value <= max(LEAST_GAIN, gap * value)
        if near or not mixture.add(sets, drop):
            break
        weights, duals, value = mixture.solve()
    matrix = mixture.matrix(weights)
    information = max(0.0, float(row_information(matrix, distribution).sum()))
    in_use = mixture.sets[used(weights)]
    return LocalOptimum(matrix, information, float(max(bound, information)), done, in_use)


def _simple_bound(distribution: Floats, eps: float) -> float:
    """Bound the information by the entropy and by what the odds ratio allows."""
    return (
        entropy(distribution)
        if np.isinf(eps)
        else mutual_information_bound(distribution[:, None], eps)
    )


def _whole(counts: ArrayLike) -> NDArray[np.int64]:
    table = np.asarray(counts)
    if table.ndim != 1 or not np.issubdtype(table.dtype, np.number):
        raise ValueError(f"counts must be a list of numbers, got shape {table.shape}.")
    if not np.all(np.isfinite(table)) or np.any(table < 0) or np.any(table != np.floor(table)):
        raise ValueError("counts must be whole numbers >= 0.")
    whole = table.astype(np.int64)
    if whole.sum() <= 0:
        raise ValueError("counts are all zero.")
    return whole
