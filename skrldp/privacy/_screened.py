"""Rows of a mechanism with bounds of each secret's part by itself, which clear most pairs at once.

To bound the worst of all pairs of secrets takes a search for each pair. What one secret's
conditional makes of a row at most, and at least, takes one search for each secret. Two such bounds
together bound a pair, from above: few pairs need a closer look.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from skrldp._arrays import Batch, chunks
from skrldp._typing import Booleans, Floats, Indices
from skrldp.privacy._worst_pairs import WorstPairs, odds_factor

__all__ = ["ROUNDING", "RoughPairs", "Screened"]


# Relative: covers the products and sums that make a bound of bounds. Twice as much would raise
# proven bounds by some 1e-15.
ROUNDING = 8.0 * np.finfo(float).eps

# Cells of pairs that are looked at closely at a time: bounds the memory. Arrays of twice as many, 4
# megabytes each, are held for the two conditionals of a pair.
_PAIR_CELLS = 1 << 18


@dataclass(frozen=True, eq=False)
class RoughPairs(Batch):
    """Pairs of secrets with their parts of a row, and how much they may violate privacy at most."""

    # first, second: (m,), the secrets
    first: Indices
    second: Indices
    # part, other: (m, k), their parts
    part: Floats
    other: Floats
    eps: Floats  # (m,), ε of the pair, in nats
    bound: Floats  # (m,), the rough upper bound


class Compared(Protocol):
    """A region, as far as pairs of its secrets are compared."""

    @property
    def pairs(self) -> tuple[Indices, Indices]: ...

    def closely(
        self, pairs: RoughPairs, above: float, conditionals: bool
    ) -> tuple[Floats, Floats | None]: ...


@dataclass(frozen=True, eq=False)
class Screened:
    """Rows whose pairs of secrets are compared over a region."""

    region: Compared  # the conditionals, and the pairs of secrets
    # parts, others: (b, a1, k), the part of each secret, where it is the first of a pair and where
    # it is the second
    parts: Floats
    others: Floats
    # most, least: (b, a1), upper bounds of what a conditional makes of a part, and of minus that
    most: Floats
    least: Floats

    def gaps(self, eps: Floats) -> Floats:
        """Bound the violation of every row and pair roughly.

        Shapes: `eps` (n_pairs,); returns (b, n_pairs).
        """
        first, second = self.region.pairs
        return _gaps(self.most[:, first], self.least[:, second], odds_factor(eps))

    def leakages(self, row: Indices, pair: Indices) -> Floats:
        """Estimate which entries leak most, by the same bounds: a guess at their order.

        Shapes: `row` and `pair` (m,); returns (m,).
        """
        first, second = self.region.pairs
        most, least = self.most[row, first[pair]], -self.least[row, second[pair]]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(least > 0, most / least, np.inf)

    def closely(
        self,
        row: Indices,
        pair: Indices,
        eps: Floats,
        above: float = -np.inf,
        conditionals: bool = False,
    ) -> tuple[WorstPairs, Booleans]:
        """Bound some entries as closely as the region can.

        Shapes: `row` and `pair` (m,); `eps` (m,). Returns `kept` (m,): which of the entries they
        are.
        """
        first, second = (secret[pair] for secret in self.region.pairs)
        bound = _gaps(self.most[row, first], self.least[row, second], odds_factor(eps))
        size = self.parts.shape[2]
        found = [np.empty((0, 2, size))]
        for part in chunks(len(row), max(1, _PAIR_CELLS // max(1, size))):
            one, other = first[part], second[part]
            parts = self.parts[row[part], one], self.others[row[part], other]
            rough = RoughPairs(one, other, *parts, eps[part], bound[part])
            close, worst = self.region.closely(rough, above, conditionals)
            bound[part] = close
            if worst is not None:
                found.append(worst)
        kept = bound > above
        names = row[kept], first[kept], second[kept]
        all_found = np.concatenate(found) if conditionals else None
        return WorstPairs(*names, bound[kept], eps[kept], all_found), kept


def _gaps(most: Floats, least: Floats, factor: Floats) -> Floats:
    """Bound what is left of the first when the second is taken from it."""
    gaps = most + factor * least
    gaps += ROUNDING * (np.abs(most) + factor * np.abs(least))
    gaps[np.isnan(gaps)] = np.inf  # nothing is known of these
    return gaps
