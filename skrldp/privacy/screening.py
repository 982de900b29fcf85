"""Bounds on each secret's part of a row, which clear most pairs of secrets at once.

An exact bound on all pairs of secrets takes a search for each pair. The maximum and minimum of R·v
over a secret's conditionals R require one search for each secret. Two such bounds together give an
upper bound on a pair, so that only few pairs need an exact one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from skrldp._arrays import LARGEST_EXPONENT, Batch, chunks
from skrldp._typing import Booleans, Floats, Indices

# Relative surplus of shifts, which covers rounding. Twice as much costs utility of the same order.
_MARGIN = 1e-9


def odds_factor(eps: float | Floats) -> Any:
    """Return exp(ε), capped against overflow; the cap can only raise upper bounds."""
    return np.exp(np.minimum(eps, LARGEST_EXPONENT))


def shifts_of(bound: Floats, eps: Floats) -> Floats:
    r"""Find the numbers that, added to rows, make them private for pairs of secrets.

    If a row violates the privacy of a pair by at most δ, adding
    :math:`\delta/(e^\epsilon - 1)` to all its entries makes it private for the pair, as does every
    larger number (docs/proofs.md, the repair lemma).
    """
    return bound * (1.0 + _MARGIN) / np.expm1(np.minimum(eps, LARGEST_EXPONENT))


@dataclass(frozen=True)
class WorstPairs(Batch):
    """Pairs of secrets with upper bounds on their privacy violation in a row, one entry each."""

    # row, first, second: (m,), row of the mechanism and the two secrets
    row: Indices
    first: Indices
    second: Indices
    # (m,), upper bound on ``R1 . v[first] - exp(eps) R2 . v[second]`` over the region.
    bound: Floats
    eps: Floats  # (m,), ε of the pair, in nats
    conditionals: Floats | None  # (m, 2, k), conditionals of the region that nearly attain it

    @property
    def shifts(self) -> Floats:
        """The numbers that, added to the rows, make them private for these pairs, shape (m,)."""
        return shifts_of(self.bound, self.eps)


# Upper bound on the relative rounding error of combining two bounds. Twice as much would raise
# proved bounds by about 1e-15.
ROUNDING = 8.0 * np.finfo(float).eps

# Cells of pairs that are examined closely at a time, which limits the memory. The two conditionals
# of a pair take arrays of twice this size, 4 megabytes each.
_PAIR_CELLS = 1 << 18


@dataclass(frozen=True, eq=False)
class RoughPairs(Batch):
    """Pairs of secrets with their parts of a row, and upper bounds on their privacy violation."""

    # first, second: (m,), the secrets
    first: Indices
    second: Indices
    # part, other: (m, k), their parts
    part: Floats
    other: Floats
    eps: Floats  # (m,), ε of the pair, in nats
    bound: Floats  # (m,), the rough upper bound


class Compared(Protocol):
    """The methods of a region that compare pairs of its secrets."""

    @property
    def pairs(self) -> tuple[Indices, Indices]:
        """The two secrets of each pair."""

    def closely(
        self, pairs: RoughPairs, above: float, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        """Bound pairs, and return their worst conditionals on request."""


@dataclass(frozen=True, eq=False)
class Screened:
    """Rows whose pairs of secrets are compared over a region."""

    region: Compared  # the conditionals, and the pairs of secrets
    # parts, others: (b, a1, k), the part of each secret, where it is the first of a pair and where
    # it is the second
    parts: Floats
    others: Floats
    # most, least: (b, a1), upper bounds of R·v over a part's conditionals R, and of −R·v
    most: Floats
    least: Floats

    def gaps(self, eps: Floats) -> Floats:
        """Bound the violation of every row and pair roughly.

        Shapes: `eps` (n_pairs,); returns (b, n_pairs).
        """
        first, second = self.region.pairs
        return _gaps(self.most[:, first], self.least[:, second], odds_factor(eps))

    def leakages(self, row: Indices, pair: Indices) -> Floats:
        """Estimate how much entries leak, from the same bounds; only their order is used.

        Shapes: `row` and `pair` (m,); returns (m,).
        """
        first, second = self.region.pairs
        upper, lower = self.most[row, first[pair]], -self.least[row, second[pair]]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(lower > 0, upper / lower, np.inf)

    def closely(
        self,
        row: Indices,
        pair: Indices,
        eps: Floats,
        above: float = -np.inf,
        conditionals: bool = False,
    ) -> tuple[WorstPairs, Booleans]:
        """Bound given entries as closely as the region can.

        Shapes: `row` and `pair` (m,); `eps` (m,). Also returns which entries are above, (m,).
        """
        first, second = (secret[pair] for secret in self.region.pairs)
        bound = _gaps(self.most[row, first], self.least[row, second], odds_factor(eps))
        size = self.parts.shape[2]
        close_conditionals = [np.empty((0, 2, size))]
        for batch in chunks(len(row), max(1, _PAIR_CELLS // max(1, size))):
            batch_first, batch_second = first[batch], second[batch]
            part_pairs = self.parts[row[batch], batch_first], self.others[row[batch], batch_second]
            rough = RoughPairs(batch_first, batch_second, *part_pairs, eps[batch], bound[batch])
            close, worst = self.region.closely(rough, above, conditionals)
            bound[batch] = close
            if worst is not None:
                close_conditionals.append(worst)
        is_above = bound > above
        names = row[is_above], first[is_above], second[is_above]
        all_found = np.concatenate(close_conditionals) if conditionals else None
        return WorstPairs(*names, bound[is_above], eps[is_above], all_found), is_above


def _gaps(upper: Floats, minus_lower: Floats, factor: Floats) -> Floats:
    """Bound max R·v of the first minus the factor times min R·v of the second, rounded upwards."""
    gaps = upper + factor * minus_lower
    gaps += ROUNDING * (np.abs(upper) + factor * np.abs(minus_lower))
    gaps[np.isnan(gaps)] = np.inf  # these have no bound
    return gaps


def screened_maxima(
    upper: Floats, exact: Callable[[Indices, Indices], Floats], first: int
) -> Floats:
    """Find the largest value of each row, evaluating entries in the order of their upper bounds.

    An entry whose bound does not exceed the largest value of its row so far is skipped.

    Shapes: `upper` (n, m). Returns (n,): largest values, or 0 if those are negative.
    """
    left = np.where(np.isnan(upper), np.inf, upper)  # NaN is no bound
    greatest = np.zeros(len(upper))
    width = min(first, upper.shape[1])
    active = np.flatnonzero(left.max(axis=1, initial=-np.inf) > 0.0)
    while len(active):
        promising_bounds = left[active]
        columns = np.argpartition(-promising_bounds, width - 1, axis=1)[:, :width]
        promising = np.take_along_axis(promising_bounds, columns, axis=1) > greatest[active, None]
        row, column = np.repeat(active, promising.sum(axis=1)), columns[promising]
        values = np.minimum(exact(row, column), left[row, column])
        np.maximum.at(greatest, row, values)
        left[row, column] = -np.inf
        active = active[left[active].max(axis=1) > greatest[active]]
        width = min(2 * width, upper.shape[1])
    return greatest
