"""Approaches that take the public distribution for the true one, or promise nothing of S.

Notions of privacy that bound the posterior of S by its prior have a polytope of posteriors. The
most informative report of S is a mixture of its vertices, by a linear program; U is then told as
well as the report of S allows, by the coupling of skrldp's non-robust optimum.
"""

import numpy as np
from scipy.linalg import hadamard
from scipy.optimize import linprog

from skrldp.design.non_robust import coupled

from .approaches import AT_PUBLIC, POSTERIORS, SOME_VALUES, Approach, DoesNotApplyError
from .measures import given_secret, greatest
from .plain import grr


def vertices(low, high):
    """Vertices of the distributions between bounds, (m, k): all but one entry are at a bound."""
    k, found = len(low), []
    for free in range(k):
        for which in np.ndindex(*[2] * (k - 1)):
            ends = np.insert(
                np.where(which, np.delete(high, free), np.delete(low, free)), free, 0.0
            )
            ends[free] = 1.0 - ends.sum()
            if low[free] - 1e-12 <= ends[free] <= high[free] + 1e-12:
                found.append(ends.clip(low, high))
    return np.unique(np.round(found, 14), axis=0)


def most_informative(prior, low, high):
    """The report of S with posteriors between bounds that tells most of S, (b, k)."""
    posteriors = vertices(low, high)
    logarithms = np.log(np.where(posteriors > 0, posteriors, 1.0))
    found = linprog((-(posteriors * logarithms)).sum(axis=1), A_eq=posteriors.T, b_eq=prior)
    return (found.x[:, None] * posteriors / prior)[found.x > 1e-12]


class OfPosteriors(Approach):
    """Bounds on the posterior of S, relative to its prior, at the public distribution."""

    promise, uses = POSTERIORS, (vertices, most_informative, coupled)

    def bounds(self, prior, eps):
        raise NotImplementedError

    def matrix(self, task, eps):
        counts = task.counts + 0.5 / task.counts.size * (task.counts.min() == 0)
        prior = counts.sum(axis=1) / counts.sum()
        response = most_informative(prior, *self.bounds(prior, eps))
        return coupled(response, counts / counts.sum(axis=1, keepdims=True))


class PointwiseMaximalLeakage(OfPosteriors):
    """Posteriors of at most e^ε times the prior (Grosse, Saeidian and Oechtering, 2310.07381)."""

    name = "PML"

    def bounds(self, prior, eps):
        return np.zeros_like(prior), np.minimum(1.0, np.exp(eps) * prior)


class LocalInformationPrivacy(OfPosteriors):
    """Posteriors within e^-ε and e^ε times the prior (Jiang, Li and Tandon 2018)."""

    name = "LIP"

    def bounds(self, prior, eps):
        return np.exp(-eps) * prior, np.minimum(1.0, np.exp(eps) * prior)


class PrivacyFunnel(Approach):
    """Values of U are merged, the pair first that tells most of S for what it tells of U.

    Greedy, as of Makhdoumi and others 2014; until the leakage at the public table is at most ε.
    """

    name, promise = "Privacy funnel", AT_PUBLIC

    def matrix(self, task, eps):
        shares = task.counts / task.counts.sum()
        groups = [np.array([value]) for value in np.flatnonzero(shares.sum(axis=0))]
        tables = [shares[:, group].sum(axis=1) for group in groups]
        while greatest(np.array(tables) / shares.sum(axis=1)) > eps:
            gains = {}
            for i, one in enumerate(tables):
                for j in range(i):
                    both = np.array([one, tables[j]])
                    lost = information_of(both)
                    gains[i, j] = lost / plogp(both.sum(axis=1))
            i, j = max(gains, key=gains.get)
            groups[j] = np.append(groups[j], groups.pop(i))
            tables[j] = tables[j] + tables.pop(i)
        told = np.zeros((len(groups), shares.shape[1]))
        for row, group in enumerate(groups):
            told[row, group] = 1.0
        told[0, shares.sum(axis=0) == 0] = 1.0
        return np.tile(told, len(shares))


def information_of(both):
    """What telling two rows apart says about the columns, in nats."""
    total = both.sum(axis=0)
    rows = both.sum(axis=1, keepdims=True)
    expected = rows * total / total.sum()
    return float(
        (both * np.log(np.where(both > 0, both, 1.0) / np.where(both > 0, expected, 1.0))).sum()
    )


def plogp(masses):
    """What telling apart says about which of two it is, in nats."""
    return float(-(masses * np.log(masses / masses.sum())).sum())


PrivacyFunnel.uses = (information_of, plogp)


class UnseenSecret(Approach):
    """S is unseen; two reports along a singular vector (Zamani, Sadeghi and Skoglund, 2601.04815).

    P(S|U) has to be square and invertible. The step is as long as the leakage at the public table
    and the probabilities allow.
    """

    name, promise = "Unseen S, 2601.04815", AT_PUBLIC

    def matrix(self, task, eps):
        shares = task.counts / task.counts.sum()
        of_s, of_u = shares.sum(axis=1), shares.sum(axis=0)
        if shares.shape[0] != shares.shape[1] or not of_u.all():
            raise DoesNotApplyError("S and U have different numbers of values")
        if np.linalg.cond(shares / of_u) > 1e12:
            raise DoesNotApplyError("P(S|U) is singular")
        back = np.linalg.inv(shares / of_u) * np.sqrt(of_s)
        orthogonal = np.eye(len(of_s)) - np.outer(np.sqrt(of_s), np.sqrt(of_s))
        _, _, turns = np.linalg.svd(back / np.sqrt(of_u)[:, None] @ orthogonal)
        step = back @ orthogonal @ turns[0]

        def given_u(length):  # reports are equally probable
            return np.array([of_u + length * step, of_u - length * step]) / (2.0 * of_u)

        short, long = 0.0, (of_u / np.abs(step)).min()
        for _ in range(60):
            middle = (short + long) / 2.0
            leaks = greatest(given_secret(np.tile(given_u(middle), len(of_s)), shares))
            short, long = (middle, long) if leaks <= eps else (short, middle)
        return np.tile(given_u(short), len(of_s))


class Raw(Approach):
    """The records themselves: what errors are compared with."""

    name = "Raw records"

    def matrix(self, task, eps):
        return np.eye(task.truth.size)


class PRAM(Approach):
    """Post-randomisation of the secret, by randomised response; U is sent as it is."""

    name, uses = "PRAM of S", (grr,)

    def matrix(self, task, eps):
        return np.kron(grr(len(task.truth), eps), np.eye(task.truth.shape[1]))


class CorrelationRemover(Approach):
    """U less its regression on S, as of fairlearn: numbers, from which U and S can be read off."""

    name, source = "CorrelationRemover", "from fairlearn's formula, here"

    def matrix(self, task, eps):
        sizes = [len(own) for own in task.categories]
        coded = [np.eye(k)[task.codes[:, j]][:, 1:] for j, k in enumerate(sizes)]
        weights, others = task.counts.ravel() / task.n, np.concatenate(coded[1:], axis=1)
        secret = coded[0] - weights @ coded[0]
        root = np.sqrt(weights)[:, None]
        slopes = np.linalg.lstsq(root * secret, root * others, rcond=None)[0]
        _, report = np.unique((others - secret @ slopes).round(9), axis=0, return_inverse=True)
        return np.eye(report.max() + 1)[:, report.ravel()]


class URR(Approach):
    """uRR (Murakami and Kawamoto 2019): other secrets than the commonest are sensitive."""

    name, promise = "uRR", SOME_VALUES

    def matrix(self, task, eps):
        sensitive = np.repeat(task.rare, task.truth.shape[1])
        size = sensitive.sum()
        told = np.eye(len(sensitive))
        told[np.ix_(sensitive, sensitive)] = grr(size, eps)
        least = 1.0 / (np.exp(eps) + size - 1.0)
        told[np.ix_(sensitive, ~sensitive)] = least
        told[~sensitive] *= 1.0 - size * least
        return told


class HighLow(Approach):
    """High-low LDP (Acharya and others 2020): Hadamard response of the sensitive cells.

    Other cells are told as they are, but for so much of each of these reports as the promise asks.
    """

    name, promise = "High-low LDP", SOME_VALUES

    def matrix(self, task, eps):
        sensitive = np.repeat(task.rare, task.truth.shape[1])
        size = int(sensitive.sum())
        k = 1 << size.bit_length()
        told = np.where(hadamard(k)[:, 1 : size + 1] > 0, np.exp(eps), 1.0) / (1.0 + np.exp(eps))
        rows = np.full((k, len(sensitive)), 2.0 / (k * (1.0 + np.exp(eps))))
        rows[:, sensitive] = 2.0 * told / k
        own = np.diag(np.where(sensitive, 0.0, (np.exp(eps) - 1.0) / (np.exp(eps) + 1.0)))
        return np.concatenate([rows, own])
