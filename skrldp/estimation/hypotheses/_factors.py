"""Distributions of cells as products of conditional distributions, and the likeliest of them.

A factor gives each of its states a probability among the states with the same condition. The
distribution of a cell is the product of the probabilities of the states that the cell has, one of
each factor. Hypotheses differ in the factors alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from skrldp._typing import Floats
from skrldp.estimation.channels import Channel

__all__ = ["Factor", "Sample", "greatest_likelihood"]

_STEPS = 5_000
_GAIN, _SLOPE = 1e-11, 1e-7  # of a step, and by a number; nats per report
_START = 1e-3  # of a state's probability that the uniform distribution has in the first one
_LEAST, _LEAST_ROOT = 1e-290, 1e-100


@dataclass(frozen=True, eq=False)
class Factor:
    """States with probabilities.

    Attributes
    ----------
    states : array of shape (a,)
        The state of each cell.
    conditions : array of shape (k,)
        The condition of each state: probabilities of the states of each have the sum 1.
    known : array of shape (k,) or None
        The probabilities, if the hypothesis states them.
    """

    states: NDArray[np.intp]
    conditions: NDArray[np.intp]
    known: Floats | None = None

    @staticmethod
    def of(states: NDArray[np.intp], conditions: NDArray[np.intp]) -> "Factor":
        """Make a factor of the states of all cells, and the condition of each cell."""
        pairs, places = np.unique(np.stack([conditions, states]), axis=1, return_inverse=True)
        return Factor(places.reshape(-1).astype(np.intp), pairs[0].astype(np.intp))

    def normalised(self, logs: Floats) -> Floats:
        """Return logarithms of probabilities, from (k,) less a number for each condition."""
        top = np.full(self.conditions.max() + 1, -np.inf)
        np.maximum.at(top, self.conditions, logs)
        sums = np.bincount(self.conditions, np.exp(logs - top[self.conditions]))
        found: Floats = logs - (top + np.log(np.maximum(sums, _LEAST)))[self.conditions]
        return found

    def slope(self, logs: Floats, weights: Floats) -> Floats:
        """Return derivatives by (k,) of a sum of logarithms of the cells with weights (a,)."""
        of_states = np.bincount(self.states, weights, len(self.conditions))
        of_conditions = np.bincount(self.conditions, of_states)
        found: Floats = of_states - np.exp(logs) * of_conditions[self.conditions]
        return found


@dataclass(frozen=True, eq=False)
class Sample:
    """Reports of one population.

    Attributes
    ----------
    channel : Channel
    counts : array of shape (b,)
    factors : tuple of Factor
        Those that its distribution is the product of, with the states of its own cells.
    numbers : tuple of int
        Which they are of the factors of all samples: samples may have some in common.
    """

    channel: Channel
    counts: Floats
    factors: tuple[Factor, ...]
    numbers: tuple[int, ...]

    def own(self) -> Iterator[tuple[int, Factor]]:
        """Give each factor after its number."""
        return zip(self.numbers, self.factors, strict=True)


def greatest_likelihood(
    samples: Sequence[Sample], factors: Sequence[Factor], starts: Sequence[Floats]
) -> tuple[float, list[Floats]]:
    """Maximise the log-likelihood over products of factors, by L-BFGS on their square roots.

    A step may take a root through 0 and back again. On logarithms, a probability that one step
    makes tiny stays so, as its derivative vanishes, even if more of it is better.

    Shapes: `starts` has a distribution (a,) for each sample, from which the first probabilities of
    the factors are taken. Returns the log-likelihood in nats, and the distributions (a,).
    """
    n = sum(float(sample.counts.sum()) for sample in samples)
    free = [k for k, factor in enumerate(factors) if factor.known is None]
    ends = np.cumsum([0, *(len(factors[k].conditions) for k in free)])
    first = [np.zeros(len(factor.conditions)) for factor in factors]
    for sample, start in zip(samples, starts, strict=True):
        mixed = (1.0 - _START) * start + _START / len(start)
        for k, own in sample.own():
            first[k] += np.bincount(own.states, mixed, len(first[k]))
    logs_of = [
        np.log(first[k] if factor.known is None else np.maximum(factor.known, _LEAST))
        for k, factor in enumerate(factors)
    ]

    def distributions(parameters: Floats) -> tuple[list[Floats], list[Floats]]:
        logs = list(logs_of)
        for place, k in enumerate(free):
            roots = np.maximum(np.abs(parameters[ends[place] : ends[place + 1]]), _LEAST_ROOT)
            logs[k] = factors[k].normalised(2.0 * np.log(roots))
        found = []
        for sample in samples:
            total = np.sum([logs[k][own.states] for k, own in sample.own()], axis=0)
            found.append(np.exp(total))
        return logs, found

    def minus(parameters: Floats) -> tuple[float, Floats]:
        logs, found = distributions(parameters)
        value, slopes = 0.0, [np.zeros(len(one)) for one in logs]
        for sample, distribution in zip(samples, found, strict=True):
            report = np.maximum(sample.channel.forward(distribution), _LEAST)
            value += float(sample.counts @ np.log(report))
            weights = distribution * sample.channel.backward(sample.counts / report)
            for k, own in sample.own():
                slopes[k] += own.slope(logs[k], weights)
        signs = np.where(parameters < 0.0, -1.0, 1.0)
        roots = signs * np.maximum(np.abs(parameters), _LEAST_ROOT)
        return -value / n, -2.0 * np.concatenate([slopes[k] for k in free]) / roots / n

    options = {"maxiter": _STEPS, "maxfun": 2 * _STEPS, "ftol": _GAIN, "gtol": _SLOPE, "maxcor": 20}
    best = minimize(
        minus,
        np.concatenate([np.exp(logs_of[k] / 2.0) for k in free]),
        jac=True,
        method="L-BFGS-B",
        options=options,
    )
    return -n * float(best.fun), distributions(best.x)[1]
