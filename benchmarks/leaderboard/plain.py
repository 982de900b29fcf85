"""Plain local differential privacy, of the whole record or of its columns.

Frequencies are estimated by maximum likelihood from all reports, which is at least as good as the
papers' own estimators. OUE, subset selection and OLH have too many reports to list on large
alphabets: orbits of subsets under cyclic shifts, and so many hash functions, stand for all of them.
These are mechanisms in their own right, as private as the full ones.
"""

from functools import reduce

import numpy as np
from scipy.stats import binom

from .approaches import ONE_COLUMN, RECORD, Approach, DoesNotApplyError

ROWS = 2048  # of those that have more, about
LISTED = 10  # subsets of at most so many cells are listed


def grr(k, eps):
    """Generalised randomised response, (k, k)."""
    table = np.ones((k, k))
    np.fill_diagonal(table, np.exp(eps))
    return table / table.sum(axis=0)


def sizes_of(task):
    return [len(own) for own in task.categories]


def oue(k, eps):
    """Optimised unary encoding: rows are the bits that are reported.

    The cell's own bit is on with probability 1/2, others with q: a bit that is on is e^eps times as
    probable for its cell as for others.
    """
    q = 1.0 / (np.exp(eps) + 1.0)
    if k <= LISTED:
        bits = every_subset(k)
        on = bits.sum(axis=1)[:, None] - bits
        return 0.5 * q**on * (1.0 - q) ** (k - 1 - on)
    sizes = binom.ppf((np.arange(ROWS // k) + 0.5) / (ROWS // k), k, q)
    return np.where(orbits(k, sizes), np.exp(eps), 1.0)


def every_subset(k):
    return (np.arange(1 << k)[:, None] >> np.arange(k)) % 2


def orbits(k, sizes):
    """Random subsets of these sizes, and all their cyclic shifts."""
    rng, shifts = np.random.default_rng(0), (np.arange(k)[:, None] + np.arange(k)) % k
    return np.concatenate([(rng.permutation(k) < size)[shifts] for size in sizes])


class OUE(Approach):
    """Optimised unary encoding of the record (Wang and others 2017)."""

    name, promise, uses = "OUE", RECORD, (oue, every_subset, orbits)

    def matrix(self, task, eps):
        return oue(task.truth.size, eps)


def subset_selection(k, eps):
    """Rows are subsets of one size, with e^eps for their cells."""
    size = max(1, round(k / (np.exp(eps) + 1.0)))
    subsets = orbits(k, [size] * (ROWS // k))
    if k <= LISTED:
        subsets = every_subset(k)
        subsets = subsets[subsets.sum(axis=1) == size]
    table = np.where(subsets, np.exp(eps), 1.0)
    return table / table.sum(axis=0)


class SubsetSelection(Approach):
    """A random subset that is likelier to have the record's cell (Ye and Barg 2018)."""

    name, promise = "Subset selection", RECORD
    uses = (subset_selection, every_subset, orbits)

    def matrix(self, task, eps):
        return subset_selection(task.truth.size, eps)


def olh(k, eps):
    """Optimised local hashing: a public hash function, and GRR of the hash."""
    g, rng = round(np.exp(eps)) + 1, np.random.default_rng(0)
    hashes = rng.integers(g, size=(max(64, ROWS // g), k))
    return np.concatenate([grr(g, eps)[:, own] for own in hashes])


class OLH(Approach):
    """Optimised local hashing of the record (Wang and others 2017)."""

    name, promise, uses = "OLH", RECORD, (olh, grr)

    def matrix(self, task, eps):
        return olh(task.truth.size, eps)


class SPL(Approach):
    """Every column by GRR, with its part of ε."""

    name, promise, uses = "SPL", RECORD, (grr,)

    def matrix(self, task, eps):
        sizes = sizes_of(task)
        return reduce(np.kron, [grr(size, eps / len(sizes)) for size in sizes])


class SMP(Approach):
    """One column, drawn at random and named, by GRR with all of ε."""

    name, promise, uses = "SMP", RECORD, (grr,)

    def matrix(self, task, eps):
        sizes = sizes_of(task)
        return np.concatenate([grr(k, eps)[:, task.codes[:, j]] for j, k in enumerate(sizes)])


class RSFD(Approach):
    """RS+FD[GRR]: one column is true, the others are fake and uniform (Arcolezi and others 2021).

    Nobody knows which, for which the paper raises ε. That is right for records that differ in one
    column if all columns have as many categories: of 2 and 15, 1.21 is told at ε = 1. Of records
    that differ in more columns more is told than ε in any case, as `eps_worst_case` shows.
    """

    name, promise, uses = "RS+FD", ONE_COLUMN, (grr,)

    def amplified(self, eps, columns):
        return np.log(columns * (np.exp(eps) - 1.0) + 1.0)

    def companion(self, task, eps, pivot, place):
        """Probabilities of the report of a column given that of the pivot, (k, k of the pivot)."""
        sizes = sizes_of(task)
        return np.full((sizes[place], sizes[pivot]), 1.0 / sizes[place])

    def matrix(self, task, eps):
        sizes, codes, total = sizes_of(task), task.codes, 0.0  # reports are records
        own = self.amplified(eps, len(sizes))
        for pivot, size in enumerate(sizes):
            true = grr(size, own)[np.ix_(codes[:, pivot], codes[:, pivot])]
            for place in set(range(len(sizes))) - {pivot}:
                told = self.companion(task, eps, pivot, place)
                true = true * told[codes[:, place], codes[:, pivot]][:, None]
            total = total + true
        return total / len(sizes)


class RSRFD(RSFD):
    """RS+RFD[GRR]: the fake values have the public margins (Arcolezi and others 2023)."""

    name = "RS+RFD"

    def companion(self, task, eps, pivot, place):
        sizes = sizes_of(task)
        weights = task.counts.ravel() / task.counts.sum()
        margin = np.bincount(task.codes[:, place], weights, sizes[place])
        return np.repeat(margin[:, None], sizes[pivot], axis=1)


class CorrRR(RSFD):
    """Corr-RR (Seeam, Zheng and Hu, arXiv 2507.17516): the other columns copy the pivot's report.

    How often they do is the paper's closed form for the margins, here those of the public table in
    place of a first phase. It needs columns of equally many categories.
    """

    name, promise = "Corr-RR", RECORD

    def amplified(self, eps, columns):
        return eps

    def companion(self, task, eps, pivot, place):
        sizes = sizes_of(task)
        if len(set(sizes)) > 1:
            raise DoesNotApplyError("columns have different numbers of categories")
        k, weights = sizes[0], task.counts.ravel() / task.counts.sum()
        of = [np.bincount(task.codes[:, j], weights, k) for j in (pivot, place)]
        copied = copying(*of, eps, task.n)
        return np.where(np.eye(k), copied, (1.0 - copied) / (k - 1))


def copying(of_pivot, of_other, eps, n):
    """How often a column copies the pivot's report: the least of a quadratic, within [0, 1]."""
    k = len(of_pivot)
    delta = (np.exp(eps) - 1.0) / (np.exp(eps) + k - 1.0)
    rest, slope = 1.0 - of_pivot - of_other, 2.0 * of_other - 1.0
    level = (1.0 - delta) / k + delta / 2.0 * (rest + 2.0 * of_pivot)
    tilt = delta / 2.0 * slope
    linear = (rest * slope / 2.0 + tilt * (1.0 - 2.0 * level) / (n * delta**2)).sum()
    square = (slope**2 / 4.0 - tilt**2 / (n * delta**2)).sum()
    return float(np.clip(-linear / (2.0 * square), 0.0, 1.0)) if abs(square) > 1e-12 else 0.5


RSRFD.uses = (grr, RSFD.matrix, RSRFD.companion)
CorrRR.uses = (grr, RSFD.matrix, CorrRR.companion, copying)
