r"""Simplicial decomposition: linear programs over mechanisms, and all of their rows mixed.

A criterion that is concave in the weights of rows (:mod:`skrldp.design.criteria`) has a price for
each row at the best mixture of those known so far. Prices are convex, so the linear function that
touches the price at some row is below it everywhere. The mechanism that maximises the sum of such
functions, one for each report, is a linear program over private mechanisms, and a central path
(:mod:`skrldp.design.interior_point`) solves it for all reports at once. Its rows join the others
and are mixed again. If the functions touch at the rows that are mixed, the new rows are worth at
least as much, so the mixture gets better until nothing is left to gain there; other rows, perturbed
or random, are taken in turn.
"""

import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from skrldp._typing import Floats
from skrldp.design.alternation._annealing import path_requirements
from skrldp.design.alternation._starts import starts
from skrldp.design.criteria import Criterion, Mixture
from skrldp.design.interior_point import CentralPath, path_blocks
from skrldp.design.programs import ExpectedCost
from skrldp.design.run import Limits
from skrldp.privacy import Requirements, repair

__all__ = ["decompose", "set_indicators"]


# Chosen by hand.
_REPORTS = 48  # of each program
_GAP = 2e-2  # at which a program ends, in units of the criterion's scale
_MOST_STEPS = 100  # Newton steps of one program
# Circles of sets of the best size, of secrets, of values of U and of cells, each; fewer where there
# would be more than so many sets.
_CIRCLES, _MOST_SETS = 4, 1_000
_KINDS = 3  # of rows at which prices are touched
_PERTURBATION = 0.7  # standard deviation of the logarithms of a perturbation
# The search ends when so many rounds have gained less than this, relatively.
_PATIENCE, _GAIN = 4 * _KINDS, 5e-4


def decompose(
    criterion: Criterion,
    requirements: Requirements,
    first: list[Floats],
    *,
    limits: Limits,
    callback: Callable[[Floats], None] | None = None,
    few: int = 0,
) -> tuple[Floats, int, int, str]:
    """Search for rows by linear programs, and mix them.

    Shapes: `first` (m, a). Returns `matrix` (b, a): the best mechanism; `n_rows`: number of rows
    that were mixed; `rounds`: number of programs; `status`: ``"converged"``, ``"max_iter"`` or
    ``"time_limit"``.
    """
    mixture = criterion.mixture()
    # The lifted unit rows put the all-ones vector inside the cone of the rows, so a strictly
    # positive mixture exists.
    mixture.add(np.concatenate([*first, requirements.lift(np.eye(requirements.n_cells))]))
    best = max(first, key=criterion.value)
    values: list[float] = []
    status = ""
    if requirements.any_pair:
        if limits.left is not None:  # few rows are mixed before many, lest time runs out
            with suppress(TimeoutError):
                best = mixture.supported(mixture.solve(limits.left).weights)
        mixture.add(requirements.lift(set_indicators(requirements)))
    while not status:
        try:
            weights, _, value = mixture.solve(limits.left)
        except TimeoutError:
            return best, len(mixture.rows), len(values), "time_limit"
        if value >= max(values, default=-np.inf):
            best = mixture.supported(weights)
        values.append(value)
        if callback is not None:
            callback(mixture.rows * weights[:, None])
        if _gained_little(values) or 0 < few < len(values):
            status = "converged"
        elif limits.met:
            status = limits.status
        else:
            rows = _touched(mixture, weights, requirements, len(values))
            mixture.add(_best_for(mixture.slopes(rows), criterion, requirements, limits))
    if values[-1] == max(values):
        best = mixture.mechanism(weights)
    return best, len(mixture.rows), len(values) - 1, status


def set_indicators(requirements: Requirements) -> Floats:
    """Write rows that tell whether the value of U, the secret or the cell is in a set.

    Of each, all that follow from a few random sets by turning a random circle of the values: so
    every value is in as many of them. Sets of ``1 / (1 + exp(eps))`` of all values are the best
    where records are told as values without structure (Ye and Barg 2018).

    Returns (m, a): rows of 0 and 1, not private.
    """
    rng, shape = np.random.default_rng(0), requirements.shape
    share = 1.0 / (1.0 + np.exp(requirements.least_eps))
    rows = []
    for what in (shape[:1], shape[1:], shape):  # secrets, values of U, cells
        n = math.prod(what)
        circles = max(1, min(_CIRCLES, _MOST_SETS // n))
        sizes = [round(share * n)] * circles
        if what != shape:
            sizes += [1, n // 2]
        for size in (size for size in sizes if 0 < size < n):
            circle, members = rng.permutation(n), rng.permutation(n)[:size]
            sets = np.zeros((n, n))
            turned = circle[(members + np.arange(n)[:, None]) % n]
            np.put_along_axis(sets, turned, 1.0, axis=1)
            whole = sets.reshape(n, *what) if what != shape[:1] else sets[:, :, None]
            rows.append(np.broadcast_to(whole.reshape(n, -1, whole.shape[-1]), (n, *shape)))
    return np.concatenate(rows).reshape(-1, requirements.n_cells)


def _gained_little(values: list[float]) -> bool:
    """Whether the last rounds gained too little to go on."""
    if len(values) <= _PATIENCE:
        return False
    before = values[-1 - _PATIENCE]
    return values[-1] - before <= _GAIN * abs(before)


def _touched(mixture: Mixture, weights: Floats, requirements: Requirements, seed: int) -> Floats:
    """Rows at which prices are touched: in use, perturbed ones, and random ones, in turn."""
    rng, shape = np.random.default_rng(seed), requirements.shape
    kind = seed % _KINDS
    if kind == 1:
        return starts(shape, _REPORTS, seed)
    likely = np.maximum(weights * mixture.rows.mean(axis=1), 0.0)
    if kind == 2:
        some: Floats = mixture.rows[np.argsort(-likely)[:_REPORTS]]
        return some
    chosen = rng.choice(len(likely), size=_REPORTS, p=likely / likely.sum())
    noise = rng.normal(scale=_PERTURBATION, size=(_REPORTS, requirements.n_cells))
    return mixture.rows[chosen] * np.exp(noise)


def _best_for(
    slopes: Floats, criterion: Criterion, requirements: Requirements, limits: Limits
) -> Floats:
    """Maximise the sum of linear functions of the rows of a private mechanism, nearly."""
    mass = np.where(criterion.distribution > 0, criterion.distribution, 1.0)
    cost = ExpectedCost(-slopes / mass, criterion.distribution)
    blocks = path_blocks(path_requirements(requirements))
    assert blocks is not None  # lower bounds have a central path
    path = CentralPath(cost, blocks, workers=limits.workers)
    for _ in range(_MOST_STEPS):
        going = path.advance()
        limits.count()
        if not going or path.gap <= _GAP * criterion.scale or limits.met:
            break
    return repair(np.maximum(path.rows, 0.0), requirements)
