"""All outcomes of a small multinomial, with their probabilities and likelihood ratios."""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlogy


@dataclass(frozen=True)
class Outcomes:
    """Every table of so many records: a row each, and the logarithm of its number of orders."""

    counts: np.ndarray
    log_orders: np.ndarray

    def statistics(self, distribution):
        """Return the probability of each outcome, and its log-likelihood ratio."""
        log_probabilities = self.counts @ np.log(distribution)
        size = self.counts[0].sum()
        best = xlogy(self.counts, self.counts / size).sum(axis=1)
        return np.exp(self.log_orders + log_probabilities), best - log_probabilities


def outcomes(n_cells, size):
    """List the outcomes of so many records on so many cells."""
    last = size + n_cells - 1
    bars = itertools.combinations(range(last), n_cells - 1)
    counts = np.array([np.diff([-1, *places, last]) - 1 for places in bars])
    return Outcomes(counts, gammaln(size + 1) - gammaln(counts + 1).sum(axis=1))
