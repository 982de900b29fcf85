"""What the likelihood says about categories, and about a column of numbers."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly
from skrldp._typing import Booleans, Floats
from skrldp.estimation._fit import Fit
from skrldp.estimation._threads import one_thread
from skrldp.estimation.channels import Channel
from skrldp.estimation.figures._intervals import Ranges, score
from skrldp.estimation.figures._numbers import mean, variance
from skrldp.estimation.figures._range_of_variance import range_of_variance
from skrldp.estimation.likelihood import LikelihoodRegion, extremes

__all__ = ["CategoryRanges", "NumberRanges"]

_FLAT = 1e-4  # nats by which the likelihood may differ to count as the same, within a set
_PROGRAMS_OF_VARIANCE = 100.0  # as many programs take as long, roughly


@dataclass(frozen=True, eq=False)
class LikelihoodRanges(ReadOnly, Ranges):
    """What maximum likelihood says about some figures between 0 and 1."""

    region: LikelihoodRegion | None  # the likelihood; None for channels without a matrix
    values: Floats  # (k,), the estimates
    errors: Floats  # (k,), their standard errors
    squares: Callable[[], Fit]  # by least squares
    by_likelihood: ClassVar[bool] = True

    @cached_property
    def _found(self) -> dict[tuple[float, float, float, int], Floats]:
        """Ranges that were found."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the ranges that were found: a copy finds its own."""
        return {name: value for name, value in vars(self).items() if name != "_found"}

    @property
    def n_programs(self) -> float:
        """Number of programs that the figures take."""
        return float(len(self.values))

    @property
    def is_quick(self) -> bool:
        """Whether intervals by the likelihood ratio take no more than some two minutes."""
        return self.region is not None and self.region.is_quick(self.n_programs)

    @property
    def has_region(self) -> bool:
        """Whether there are intervals by the likelihood ratio."""
        return self.region is not None

    def ends(self, drops: tuple[float, float, float], first: int) -> Floats:
        """See :class:`Ranges`; ranges are found once."""
        assert self.region is not None
        key = (*drops, first)
        if key not in self._found:
            self._found[key] = self._range(self.region, drops, first)
        return self._found[key].copy()

    @abstractmethod
    def _range(
        self, region: LikelihoodRegion, drops: tuple[float, float, float], first: int
    ) -> Floats:
        """Find the ranges."""

    def score(self, z: float, first: int) -> Floats:
        """See :class:`Ranges`."""
        with one_thread():
            return score(self.values, self.errors, *self._unbiased(self.squares()), z)[:first]

    @abstractmethod
    def _unbiased(self, fit: Fit) -> tuple[Floats, Floats]:
        """Estimates and errors of the figures by least squares, (k,)."""


@dataclass(frozen=True, eq=False)
class CategoryRanges(LikelihoodRanges):
    """What maximum likelihood says about the probabilities of some categories."""

    labels: NDArray[np.intp]  # (a,), category of each cell
    known: NDArray[np.bool_]  # (k,), whether the reports determine the probabilities
    channel: Channel

    def _functions(self, categories: NDArray[np.intp]) -> Floats:
        return (self.labels == categories[:, None]).astype(float)

    def _range(
        self, region: LikelihoodRegion, drops: tuple[float, float, float], first: int
    ) -> Floats:
        return region.ends(self._functions(np.arange(first)), *drops)

    def _unbiased(self, fit: Fit) -> tuple[Floats, Floats]:
        return fit.of_labels(self.labels, len(self.values))[:2]

    def bounds(self, first: int) -> Floats:
        """Ranges of the first categories over the distributions of the same likelihood.

        Shape: (first, 2).
        """
        assert self.region is not None
        found = np.stack([self.values[:first]] * 2, axis=1)
        left = np.flatnonzero(~self.known[:first])
        if not left.size:
            return found
        if self.region.constraints:
            found[left] = self.region.ends(self._functions(left), _FLAT)
        else:
            basis = self.channel.dense().basis
            found[left] = extremes(basis, self.region.distribution, self._functions(left))
        return found


@dataclass(frozen=True, eq=False)
class NumberRanges(LikelihoodRanges):
    """What maximum likelihood says about the mean or the variance of a number."""

    numbers: Floats  # (a,), the number in each cell, between 0 and 1
    given: Booleans  # (a,), the cells that have a number
    squared: bool  # whether the figure is the variance, times 4

    @property
    def n_programs(self) -> float:
        """Number of programs."""
        return _PROGRAMS_OF_VARIANCE if self.squared else 1.0

    def _range(
        self, region: LikelihoodRegion, drops: tuple[float, float, float], first: int
    ) -> Floats:
        if self.squared:
            return 4.0 * range_of_variance(region, self.numbers, self.given, *drops)[None]
        return region.ends(self.numbers[None], *drops, given=self.given)

    def _unbiased(self, fit: Fit) -> tuple[Floats, Floats]:
        figure, unit = (variance, 4.0) if self.squared else (mean, 1.0)
        found = figure(self.numbers, self.given.astype(float), fit.evaluate)
        return np.array([unit * found.value]), np.array([unit * found.std_error])
