"""Bounds on the tail of N KL(p || R), where p are the frequencies of N draws from R.

A multinomial with k + 1 cells is a chain of k binomials, and N KL(p || R) is the sum of their
statistics (docs/proofs.md, Theorem 21). Tables bound the contribution of one step: for all N, and
for N >= 100, where large values are rarer. ``benchmarks/tail_bounds`` computes the tables.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import permutations

import numpy as np
import numpy.typing as npt

#: A step of a chain is large if it has at least this many draws.
LARGE = 100


@dataclass(frozen=True)
class _Table:
    """The tables of one class of steps, at the orders ``lambda`` and at the knots."""

    moments: npt.NDArray[np.float64]  # (orders,): log of the largest E exp(lambda G) of a step
    heads: npt.NDArray[np.float64]  # (1 + steps, orders): log of sup_y exp(lambda y) T_j(y)
    tails: npt.NDArray[np.float64]  # (steps, knots): log T_j; between knots, linear


@cache
def _tables() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], _Table, _Table]:
    """Orders, knots, and the tables for steps with any number of draws and for large ones."""
    data = json.loads(files(__package__).joinpath("tail_bounds.json").read_text("utf-8"))
    orders, knots = np.array(data["orders"]), np.array(data["knots"])
    any_size, large = (
        _with_heads(orders, knots, np.array(data[name]["moments"]), np.array(data[name]["tails"]))
        for name in ("any", "large")
    )
    return orders, knots, any_size, large


def _with_heads(
    orders: npt.NDArray[np.float64],
    knots: npt.NDArray[np.float64],
    moments: npt.NDArray[np.float64],
    tails: npt.NDArray[np.float64],
) -> _Table:
    """Use the tails up to the last knot, and the moments at a larger order beyond it."""
    heads = [np.zeros(len(orders))]
    for steps, tail in enumerate(tails, start=1):
        near = np.maximum(0.0, (orders[:, None] * knots + tail).max(axis=1))
        far = (orders[:, None] - orders) * knots[-1] + steps * moments
        far[orders[:, None] >= orders] = np.inf
        heads.append(np.minimum(np.maximum(near, far.min(axis=1)), steps * moments))
    return _Table(moments, np.array(heads), tails)


@dataclass(frozen=True)
class TailBound:
    """An upper bound on ``P(G >= y)`` as a decreasing function of y."""

    exponents: npt.NDArray[np.float64]  # log P(G >= y) <= exponent - order * y
    tail: npt.NDArray[np.float64] | None  # at the knots, if the table covers the whole chain

    def __call__(self, y: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Bound the tail at each y >= 0, by at most 1."""
        y = np.asarray(y, dtype=float)
        orders, knots, *_ = _tables()
        bound = np.minimum(0.0, (self.exponents - orders * y[..., None]).min(axis=-1))
        if self.tail is not None:
            bound = np.minimum(bound, np.interp(y, knots, self.tail))
        return np.exp(bound)


def tail_bound(steps: int, *large: int) -> TailBound:
    """Bound for the sum over independent multinomials."""
    _, _, of_any, of_large = _tables()
    longest = min(len(of_any.tails), steps * len(large))
    options = []
    for order in set(permutations(large)):  # the order of the multinomials does not matter
        chain = np.concatenate([np.arange(steps) < number for number in order])
        for last in range(longest + 1):
            front = chain[: chain.size - last]
            table = of_large if chain[chain.size - last :].all() else of_any
            options.append(
                front.sum() * of_large.moments + (~front).sum() * of_any.moments + table.heads[last]
            )
    tail = None
    if chain.size == longest:
        tail = (of_large if chain.all() else of_any).tails[longest - 1]
    return TailBound(np.min(options, axis=0), tail)
