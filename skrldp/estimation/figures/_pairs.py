r"""How the estimates of two waves go together, in which some persons are the same.

An estimate is, nearly, the average of influences of the reports, and those of different persons are
independent. So the variance of :math:`a_1\hat\theta_1 + a_2\hat\theta_2` is a sum of squares over
the persons,

.. math:: \sum_i \Bigl(\frac{a_1\phi_1(y_i)}{n_1} + \frac{a_2\phi_2(y'_i)}{n_2}\Bigr)^2 ,

with one of the two terms for who is in one wave alone. How many persons sent each two symbols is
all that is needed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skrldp._arrays import chunks
from skrldp._typing import Booleans, Floats, Indices
from skrldp.estimation._fit import Fit, rest_on_enough

__all__ = ["Between", "Linear", "Pairs", "Wave", "correlation_of", "covariance_of", "transformed"]

_MOST_NUMBERS = 4_000_000  # at a time: 32 MB
_MOST_INFLUENCES = 25_000_000  # figures by symbols: some hundred megabytes
_NOTHING = 1e-20  # of the variance without pairs: the rounding of influences that cancel is less
# Intervals allow for so many persons more who change as much as reports can. Otherwise they would
# be points where nobody has changed.
_MORE = 2.0


@dataclass(frozen=True, eq=False)
class Linear:
    """Figures that are nearly linear functions of an estimated distribution."""

    fit: Fit
    functions: Floats  # (m, a); NaN for figures that are not known

    @property
    def given(self) -> Booleans:
        """Which figures have a function, (m,)."""
        return np.asarray(np.isfinite(self.functions).all(axis=1))

    @property
    def determined(self) -> Booleans:
        """Which figures the reports determine, (m,)."""
        return self.given & self.fit.channel.determines(np.nan_to_num(self.functions))

    def transformed(self, slopes: Floats) -> "Linear":
        """Return linear functions of the figures, (k, m): unknown where one of theirs is."""
        unknown = ~self.given
        found = slopes @ np.where(unknown[:, None], 0.0, self.functions)
        found[(slopes[:, unknown] != 0.0).any(axis=1)] = np.nan
        return Linear(self.fit, found)

    def influences(self, counts: Floats) -> tuple[Floats, Floats]:
        """Influence of a report of each symbol on each figure, (m, b), and the reports, (b,).

        A symbol that was not seen counts for as many reports as the estimate expects; the influence
        of another one is scaled, so that the variance is that of the estimate.
        """
        report, n = self.fit.report_distribution, self.fit.n
        weights = self.fit.weights.of(np.nan_to_num(self.functions))
        numbers = np.where(counts > 0, counts, n * report)
        scale = np.sqrt(np.divide(n * report, numbers, out=np.ones_like(report), where=numbers > 0))
        return (weights - (weights @ report)[:, None]) * scale / n, numbers


def covariance_of(functions: Floats, covariance: Callable[..., Floats]) -> Callable[[bool], Floats]:
    """Return the covariance of figures; NaN for unknown ones, and for those without an error."""

    def found(free: bool) -> Floats:
        known = np.isfinite(functions).all(axis=1)
        result = np.full((len(functions), len(functions)), np.nan)
        if known.any():
            result[np.ix_(known, known)] = covariance(functions[known], free=free)
        return result

    return found


def correlation_of(covariance: Floats) -> Floats:
    """Correlation of figures; NaN where one has no covariance, or does not vary."""
    spread = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore"):
        found: Floats = covariance / np.outer(spread, spread)
    return found


def transformed(slopes: Floats, covariance: Floats) -> Floats:
    """Covariance of linear functions of figures (m, k), NaN where one of theirs is unknown."""
    unknown = np.isnan(np.diag(covariance))
    found = slopes @ np.where(np.isnan(covariance), 0.0, covariance) @ slopes.T
    without = (slopes[:, unknown] != 0.0).any(axis=1)
    found[without, :] = found[:, without] = np.nan
    return found


class Together(NamedTuple):
    """What is known of sums of two figures each, one of each wave."""

    variances: Floats  # (m,); NaN where a figure is not determined
    enough: Booleans  # (m,), whether the variances rest on enough of the persons
    correlation: Floats  # (m,), of the two figures, for intervals


class Wave(NamedTuple):
    """The reports of one wave, and those of them that belong to pairs."""

    fit: Fit
    counts: Floats  # (b,), how many persons sent each symbol
    symbols: Indices  # (k,), of each kind of pair


@dataclass(frozen=True, eq=False)
class Pairs:
    """How many persons sent each two symbols in two waves."""

    _waves: tuple[Wave, Wave]
    _numbers: Floats  # (k,), of persons of each kind of pair

    def of(self, first: Linear | None, second: Linear | None) -> "Between":
        """Return what the pairs say about figures of one wave and of the other one.

        Raises ValueError if the figures are not those of the two waves.
        """
        one, two = self._waves
        if first is not None and second is not None:
            for waves in ((one, two), (two, one)):
                if first.fit is waves[0].fit and second.fit is waves[1].fit:
                    return Between((first, second), waves, self._numbers)
        raise ValueError(
            "paired= links the reports of two fitted estimators, but the figures are not one of "
            "each. Take one from either, and make the pairs anew if an estimator is fitted again."
        )


@dataclass(frozen=True, eq=False)
class Between:
    """Figures of two waves, with the reports that belong to the same persons."""

    figures: tuple[Linear, Linear]
    waves: tuple[Wave, Wave]
    numbers: Floats  # (k,)

    def __post_init__(self) -> None:
        """Refuse more figures than memory holds."""
        m = len(self.figures[0].functions)
        if m * max(len(wave.counts) for wave in self.waves) > _MOST_INFLUENCES:
            raise ValueError(
                f"there are too many figures ({m:,}) for mechanisms of so many symbols; take fewer "
                "columns."
            )

    @property
    def _determined(self) -> Booleans:
        one, two = self.figures
        return one.determined & two.determined

    @property
    def _certain(self) -> Booleans:
        """Which figures are the same in all distributions, (m,)."""
        found: Booleans = np.all([np.ptp(one.functions, axis=1) == 0.0 for one in self.figures], 0)
        return found

    def together(self, slopes: tuple[Floats, Floats]) -> Together:
        """Variances of sums of the figures times slopes, (m,) of each wave; of opposite signs."""
        m = len(self.figures[0].functions)
        squares, fourths, apart = np.zeros(m), np.zeros(m), np.zeros(m)
        for moves, numbers in self._moves(slopes):
            squares += moves**2 @ numbers
            fourths += moves**4 @ numbers
        most, least, scale = np.zeros(m), np.zeros(m), 2.0 * slopes[0] * slopes[1]
        for one, wave, slope in zip(self.figures, self.waves, slopes, strict=True):
            influences, numbers = one.influences(wave.counts)
            seen = slope[:, None] * influences[:, wave.counts > 0]
            most, least = most + seen.max(axis=1), least + seen.min(axis=1)
            own = influences**2 @ numbers
            apart += slope**2 * own
            scale *= np.sqrt(own)
        enough = (squares > _NOTHING * apart) & rest_on_enough(squares, fourths, 1.0)
        more = _MORE * np.maximum(most, -least) ** 2
        plain, with_more = (
            np.divide(one - apart, scale, out=np.zeros(m), where=scale != 0.0)
            for one in (squares, squares + more)
        )
        correlation = np.where(plain > 0.0, np.maximum(with_more, 0.0), plain)
        known = self._determined
        return Together(
            np.where(known, squares, np.nan),
            enough | self._certain,
            np.where(known | (len(self.numbers) == 0), correlation, np.nan),
        )

    def covariance(self, slopes: tuple[Floats, Floats]) -> Floats:
        """Covariance of sums of the figures times slopes, (m,) of each wave, to (m, m)."""
        m = len(self.figures[0].functions)
        found = np.zeros((m, m))
        for moves, numbers in self._moves(slopes):
            found += (moves * numbers) @ moves.T
        unknown = ~self._determined
        found[unknown, :] = found[:, unknown] = np.nan
        return found

    def _moves(self, slopes: tuple[Floats, Floats]) -> Iterator[tuple[Floats, Floats]]:
        """Yield by how much kinds of persons move the sums, (m, k), and their numbers, (k,)."""
        of_pairs = []
        for one, wave, slope in zip(self.figures, self.waves, slopes, strict=True):
            influences, numbers = one.influences(wave.counts)
            moves = slope[:, None] * influences
            paired = np.bincount(wave.symbols, self.numbers, len(numbers))
            yield moves, numbers - paired
            of_pairs.append((moves, wave.symbols))
        step = max(1, _MOST_NUMBERS // max(1, len(slopes[0])))
        for part in chunks(len(self.numbers), step):
            first, second = (moves[:, symbols[part]] for moves, symbols in of_pairs)
            yield first + second, self.numbers[part]
