r"""Maximum likelihood over the distributions whose conditionals of U are in an uncertainty set.

The distribution of S is free, and the conditional of each secret is anywhere in its own ball. These
distributions π form a convex set, the convex hull of what the uncertainty set allows: their extreme
points have one secret each, so what the set allows for two secrets together does not matter.

The log-likelihood L is concave. With :math:`g = Q^\top(f / Q\pi)`, the concavity of the logarithm
gives for every other π'

.. math:: L(\pi') - L(\pi) \le \log(g\cdot\pi') \le \log\max_s \max_{R_s} R_s\cdot g_s,

where the support function bounds the right side rigorously. The conditionals that attain it are the
columns of a mixture, whose best weights are found by the maximum-likelihood method for
distributions; then further columns are added (fully corrective Frank-Wolfe).
"""

import math
import time
from typing import NamedTuple

import numpy as np

from skrldp._typing import Booleans, Floats, Indices
from skrldp.estimation.channels import Channel, DenseChannel
from skrldp.estimation.likelihood._maximise import maximise
from skrldp.joint import JointDistribution
from skrldp.sets import FittedSet
from skrldp.support_function import conditional_radius, pull_in, support, worst_conditionals

__all__ = ["MaximumOverSet", "greatest_over_set", "maximum_over_set"]

_LEAST_WEIGHT = 1e-13  # of a column that is kept
_MOST_STEPS = 5_000  # of the maximisation over weights
_MOST_ROUNDS = 500
_FRUITLESS = 5  # rounds without a better bound: only rounding errors are left
_INNER = 0.1  # of the tolerance: how exactly the weights are found


class MaximumOverSet(NamedTuple):
    """The most likely distribution of a set."""

    distribution: Floats  # (a,), a distribution of X in the set
    log_likelihood: float  # of all reports together at that distribution, in nats
    upper_bound: float  # a bound on the log-likelihood at every distribution in the set


def greatest_over_set(
    functions: Floats, fitted_set: FittedSet, joint: JointDistribution
) -> tuple[Floats, Floats]:
    """Greatest values of linear functions over the conditionals of each secret in its ball.

    Shapes: functions (m, a) to bounds (m, a1), conditionals (m, a1, a2).
    """
    shape = joint.counts.shape
    q = functions.reshape(-1, shape[1])  # (m a1, a2)
    secret = np.tile(np.arange(shape[0]), len(functions))
    found = np.zeros_like(q)
    found[np.arange(len(q)), q.argmax(axis=1)] = 1.0
    bound = q.max(axis=1)
    weights = fitted_set.secret_weights(joint)
    budgets, free = _budgets(fitted_set, joint)
    point = ~free & (budgets <= 0)
    fixed = point[secret]
    found[fixed] = joint.conditionals[secret[fixed]]
    bound[fixed] = np.sum(found[fixed] * q[fixed], axis=1)
    ball = ~(free | point)[secret]
    if ball.any():
        s = secret[ball]
        problem = q[ball, None], joint.conditionals[s, None], weights[s, None]
        best = support(*problem, fitted_set.alpha, budgets[s])
        bound[ball] = best.bound
        attained = worst_conditionals(*problem, fitted_set.alpha, budgets[s], best.slack)
        found[ball] = attained[:, 0]
    return bound.reshape(-1, shape[0]), found.reshape(-1, *shape)


def _budgets(fitted_set: FittedSet, joint: JointDistribution) -> tuple[Floats, Booleans]:
    """Return the budget of each conditional, and which secrets may have any conditional."""
    weights = fitted_set.secret_weights(joint)
    budgets = fitted_set.single_budgets(weights)
    free = weights <= 0
    some = ~free & (budgets > 0)
    free[some] = np.isinf(conditional_radius(weights[some], fitted_set.alpha, budgets[some]))
    return budgets, free


def maximum_over_set(
    channel: Channel,
    counts: Floats,
    fitted_set: FittedSet,
    joint: JointDistribution,
    *,
    tol: float = 1e-3,
    time_limit: float | None = None,
) -> MaximumOverSet:
    """Maximise the log-likelihood of reports over the distributions of a set.

    Shapes: counts (b,).
    """
    end = math.inf if time_limit is None else time.perf_counter() + time_limit
    n = float(counts.sum())
    shares, seen = counts / n, counts > 0
    tol /= n
    atoms = _start(fitted_set, joint)  # distributions of X with one secret each, (m, a)
    columns = _reports(channel, atoms)
    best, value, bound, fruitless = joint.probabilities.ravel(), -math.inf, math.inf, 0
    for _ in range(_MOST_ROUNDS):
        mixture = maximise(
            DenseChannel(columns), shares, _INNER * tol, _MOST_STEPS, end - time.perf_counter()
        )
        weights = mixture.distribution
        report = columns @ weights
        if np.any(report[seen] <= 0):  # no distribution of the set explains a report that was seen
            return MaximumOverSet(weights @ atoms, -math.inf, -math.inf)
        now = float(shares[seen] @ np.log(report[seen]))
        prices = np.divide(shares, report, out=np.zeros_like(shares), where=seen)
        greatest, attained = greatest_over_set(channel.backward(prices)[None], fitted_set, joint)
        fruitless += 1
        if now > value:
            best, value = weights @ atoms, now
        limit = now + math.log(max(1.0, float(greatest.max())))
        if limit < bound:
            bound, fruitless = limit, 0
        if bound - value <= tol or fruitless >= _FRUITLESS or time.perf_counter() >= end:
            break
        helpful = np.flatnonzero(greatest[0] > 1.0)
        new, kept = _atoms(helpful, attained[0, helpful], len(greatest[0])), weights > _LEAST_WEIGHT
        atoms = np.concatenate([atoms[kept], new])
        columns = np.hstack([columns[:, kept], _reports(channel, new)])
    return MaximumOverSet(best, n * value, n * max(bound, value))


def _start(fitted_set: FittedSet, joint: JointDistribution) -> Floats:
    """For each secret the public conditional, and one with mass in every cell it may have."""
    a1, a2 = joint.counts.shape
    weights = fitted_set.secret_weights(joint)
    budgets, free = _budgets(fitted_set, joint)
    even = np.full((a1, a2), 1.0 / a2)
    ball = np.flatnonzero(~free & (budgets > 0))
    if ball.size:
        around = joint.conditionals[ball, None], weights[ball, None], fitted_set.alpha
        even[ball] = pull_in(even[ball, None], *around, budgets[ball])[:, 0]
    wide = np.flatnonzero(free | (budgets > 0))
    public = np.flatnonzero(weights > 0)
    parts = [(public, joint.conditionals[public]), (wide, even[wide])]
    return np.concatenate([_atoms(*part, a1) for part in parts])


def _atoms(secrets: Indices, conditionals: Floats, n_secrets: int) -> Floats:
    """Distributions of X in which the secret is certain, (m, a)."""
    found = np.zeros((len(secrets), n_secrets, conditionals.shape[1]))
    found[np.arange(len(secrets)), secrets] = conditionals
    return found.reshape(len(secrets), n_secrets * conditionals.shape[1])


def _reports(channel: Channel, atoms: Floats) -> Floats:
    """Distributions of the report, (b, m)."""
    return np.stack([channel.forward(atom) for atom in atoms], axis=1)
