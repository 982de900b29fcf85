"""Radii of confidence sets, from a significance level and the size of the public table.

How large can the likelihood-ratio statistics of the true conditionals be, at error beta? The
statistic of secret s is G_s = N_s KL(p_s || R_s): N_s records with the secret, observed conditional
p_s, true conditional R_s. Its double is the likelihood-ratio statistic of R_s. The proof is that of
Proposition 24 (docs/proofs.md).
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc, chdtrc, chdtri

from skrldp._params import is_finite, is_number, shown
from skrldp.joint import JointDistribution
from skrldp.sets.tails import LARGE, tail_bound

# Below this, linear programs cannot distinguish the set from the public distribution: at 1e-14
# proofs of designs fail on some tables, and at 1e-100 programs do not end.
_LEAST = 1e-15


# Relative surplus of a radius over the computed root, whose error is 1e-14, so the radius errs on
# the safe side. Twice as much would widen the set negligibly.
_SURPLUS = 1e-12


def given_radius(radius: Any, rules: str) -> float:
    """Check and return a numeric radius.

    Raises ValueError if it is neither 0 nor a number of at least 1e-15, which may be infinite.

    Examples
    --------
    >>> given_radius(1e-100, "'chi2'")
    Traceback (most recent call last):
    ValueError: radius=1e-100 must be 'chi2' or a number >= 0 (nats), and at least 1e-15 if not 0.
    """
    if is_number(radius) and (is_finite(radius) or radius == math.inf):
        number = float(radius)
        if number == 0.0 or number >= _LEAST:
            return number
    raise ValueError(
        f"radius={shown(radius)} must be {rules} or a number >= 0 (nats), and at least {_LEAST:g} "
        "if not 0."
    )


def chi2_radius(alpha: float, beta: float, n: int, n_cells: int) -> float:
    """Asymptotic radius: the chi-squared quantile, expressed as a Rényi divergence.

    Returns float: in nats; infinite where, for alpha < 1, the quantile exceeds what the divergence
    can be.
    """
    if n_cells == 1:  # a single distribution, at divergence 0
        return 0.0
    quantile = float(chdtri(n_cells - 1, beta))
    if alpha == 1.0:
        return quantile / (2.0 * n)
    argument = alpha * (alpha - 1.0) * quantile / (2.0 * n)
    if argument <= -1.0:
        return math.inf
    return math.log1p(argument) / (alpha - 1.0)


def finite_sample_radius(beta: float, n: int, n_cells: int) -> float:
    """Kullback-Leibler radius that is valid for every n, not only asymptotically.

    The smallest ``B > (a-1)/n`` with ``exp(-nB) (e n B / (a-1))^(a-1) <= beta`` (R. Agrawal,
    Finite-sample concentration of the multinomial in relative entropy, IEEE Transactions on
    Information Theory, 2020).

    Returns float: in nats.
    """
    from scipy.optimize import brentq  # slow to import, and rarely needed

    if n_cells == 1:  # a single distribution, at divergence 0
        return 0.0
    degrees = n_cells - 1
    level = -math.log(beta) / degrees
    # With B = (a-1) x / n the condition reads x - 1 - log(x) >= level, x > 1.
    upper = 2.0 * level + 4.0
    root = brentq(lambda x: x - 1.0 - math.log(x) - level, 1.0, upper, xtol=1e-14, rtol=1e-14)
    return degrees * float(root) * (1.0 + _SURPLUS) / n


def asymptotic_values(joint: JointDistribution) -> int:
    """Count the values of U for which an asymptotic set is made.

    Values that were grouped because of their counts are counted individually, because the ungrouped
    ones were chosen by the same counts. As records increase, all values of the population are seen,
    so the value that `joint.most_values` adds for those without records is not counted.
    """
    return max(joint.counts.shape[1], joint.most_values - (joint.alphabet == "frequent"))


def more_values(joint: JointDistribution) -> int | None:
    """Return the maximum number of values of U; None if it does not exceed the number listed.

    A set with given budgets keeps this number, so that a set by a rule can be made from it.
    """
    return joint.most_values if joint.most_values > joint.counts.shape[1] else None


# --- Budgets of likelihood-ratio statistics -------------------------------------------------------


Tail = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]

#: Budgets are computed for up to this many values, because no table has enough records for more.
MOST_VALUES = 1_000_000
# `budgets_up_to` tries every number of values up to this one, and then increases by this share.
_EVERY, _STEP = 40, 0.04

# Candidate ratios single / pair. At 1, the bound on single secrets is redundant, and at 1/2 the
# bound on pairs.
_RATIOS = np.linspace(0.5, 1.0, 11)
# Cells of the sums that approximate integrals: to compare ratios, and for the result.
_ROUGH, _FINE = 50, 1000
# The part of beta spent on treating steps as large ones.
_SPENT = 0.01
_ROUNDING = 1e-9  # maximum relative error of a sum of positive terms


def likelihood_ratio_budgets(
    counts: Sequence[int] | npt.NDArray[np.integer],
    n_values: int,
    beta: float,
    rule: Literal["finite-sample", "asymptotic"],
) -> tuple[float, float]:
    """Bounds on the statistics of single secrets and on their sums over pairs, at joint error beta.

    With probability at least ``1 - beta`` every secret has ``G_s <= single`` and every pair of
    secrets has ``G_s + G_t <= pair``. Among such bounds, over several ratios ``single / pair``,
    these minimise the mean width of the set of a pair's standardised deviations, ``(2 G_s)^(1/2)``
    and ``(2 G_t)^(1/2)``. This width decreases in beta, but each of the two bounds need not.

    Shapes: `counts` (n_secrets,). Returns `single, pair`: in nats, multiplied by records; ``single
    <= pair <= 2 * single``. They are equal if only one secret has records, and 0 with one value of
    U or no records. Raises ValueError if beta or rule is invalid.

    Examples
    --------
    >>> single, pair = likelihood_ratio_budgets([400, 600], 5, 0.05, "finite-sample")
    >>> print(f"{single:.2f} {pair:.2f}")
    9.78 9.78
    >>> single, pair = likelihood_ratio_budgets([400, 600], 5, 0.05, "asymptotic")
    >>> print(f"{single:.2f} {pair:.2f}")
    6.33 7.92
    """
    if rule not in ("finite-sample", "asymptotic"):
        raise ValueError(f"rule must be 'finite-sample' or 'asymptotic'; got {rule!r}")
    if not 0.0 < beta < 1.0:
        raise ValueError(f"beta must lie between 0 and 1; got {beta}")
    records = np.asarray(counts)
    records = np.sort(records[records > 0])  # all other secrets have G_s = 0
    if n_values <= 1 or records.size == 0:
        return 0.0, 0.0
    if rule == "asymptotic":  # where the value does not matter
        records = np.ones_like(records)
    return _budgets(tuple(records.tolist()), n_values, float(beta), rule)


def budgets_up_to(
    counts: Sequence[int] | npt.NDArray[np.integer], most_values: int, beta: float
) -> tuple[float, float]:
    """Bounds that are nondecreasing in the number of values, up to the given number.

    Theorem 36 needs such bounds if the number of values is not known in advance but has an upper
    bound computed from the records: bounds for fewer values must be no larger than those for more.
    The bounds of :func:`likelihood_ratio_budgets` need not be monotone, because their ratio
    changes. Therefore these are the maximum over all numbers; numbers between two steps use the
    bounds of the next step.

    Shapes: `counts` (a1,).

    Examples
    --------
    >>> for most in 6, 7:
    ...     own = likelihood_ratio_budgets([400, 600], most, 0.05, "finite-sample")
    ...     print("%.1f %.1f" % own, "%.1f %.1f" % budgets_up_to([400, 600], most, 0.05))
    11.9 11.9 11.9 11.9
    11.2 14.0 11.9 14.0
    """
    step, numbers = 2, [2]
    while step < most_values:
        step = step + 1 if step < _EVERY else math.ceil(step * (1.0 + _STEP))
        numbers.append(step)
    budgets = [
        likelihood_ratio_budgets(counts, number, beta, "finite-sample") for number in numbers
    ]
    singles, pairs = zip(*budgets, strict=True)
    return max(singles), max(pairs)


@lru_cache(maxsize=1024)  # because a search over eps uses the same table repeatedly
def _budgets(counts: tuple[int, ...], n_values: int, beta: float, rule: str) -> tuple[float, float]:
    """Compute the budgets of secrets that have records, in ascending order."""
    records = np.array(counts)
    if rule == "asymptotic":
        tails = _asymptotic(records.size, n_values - 1)
    else:
        tails = _finite_sample(records, n_values - 1, beta)
    ratios = _RATIOS if records.size > 1 else np.ones(1)
    pair, roots = float(n_values), []
    for candidate in ratios:
        pair = _pair_bound(tails, candidate, beta, _ROUGH, 1e-3, near=pair)
        roots.append(pair)
    best = int(np.argmin([mean_width(*row) for row in zip(ratios, roots, strict=True)]))
    ratio = float(ratios[best])
    pair = _pair_bound(tails, ratio, beta, _FINE, 1e-10, near=roots[best])
    surplus = 1e-9  # the root may lie on either side
    while _failure(tails, ratio * pair * (1.0 + surplus), pair * (1.0 + surplus), _FINE) > beta:
        surplus *= 2.0
    return ratio * pair * (1.0 + surplus), pair * (1.0 + surplus)


@dataclass(frozen=True)
class _Tails:
    """The tails of the independent statistics, or bounds on them."""

    groups: Sequence[tuple[int, Tail]]  # number of secrets with this tail, P(G_s >= y)
    pairs: Sequence[tuple[int, Tail]]  # the same for sums of two; empty if not known
    missed: float  # probability that these bounds do not apply
    exact: bool  # exact tails rather than bounds, so integrals are rounded to nearest, not up


def _asymptotic(secrets: int, degrees: int) -> _Tails:
    """Each statistic is half a chi-squared variable."""
    return _Tails([(secrets, lambda y: chdtrc(degrees, 2.0 * y))], [], 0.0, True)


def _finite_sample(records: npt.NDArray[np.integer], steps: int, beta: float) -> _Tails:
    """Count each secret's first steps as large, as many as a part of beta allows."""
    allowance = _SPENT * beta / records.size
    spared = [0]  # last steps that are not counted as large: 0, 1, 3, 7, ..., all
    while spared[-1] < steps:
        spared.append(min(2 * spared[-1] + 1, steps))
    numbers: Counter[int] = Counter()
    missed = 0.0
    for size, secrets in Counter(records.tolist()).items():
        for spare in spared:
            lost = 0.0 if spare == steps else _few(size, (spare + 2) / (steps + 1))
            if lost <= allowance:
                break
        numbers[steps - spare] += secrets
        missed += secrets * lost
    groups = [(number, tail_bound(steps, large)) for large, number in numbers.items()]
    pairs = [
        (number * (number - 1) // 2, tail_bound(steps, large, large))
        for large, number in numbers.items()
        if number > 1
    ]
    pairs += [
        (n_first * n_second, tail_bound(steps, first, second))
        for (first, n_first), (second, n_second) in combinations(numbers.items(), 2)
    ]
    return _Tails(groups, pairs, missed, False)


def _few(size: int, probability: float) -> float:
    """Bound the probability that fewer than LARGE of this many records are of a given kind."""
    share = (LARGE - 1) / size
    if share >= probability:
        return 1.0
    if probability >= 1.0:
        return 0.0
    divergence = share * math.log(share / probability)
    divergence += (1.0 - share) * math.log((1.0 - share) / (1.0 - probability))
    return math.exp(-size * divergence)


def _pair_bound(
    tails: _Tails, ratio: float, beta: float, cells: int, tolerance: float, near: float
) -> float:
    """Find the bound on pairs that, with ``ratio`` times it on secrets, fails at beta."""
    from scipy.optimize import brentq  # slow to import, and rarely needed

    def excess(pair: float) -> float:
        failure = _failure(tails, ratio * pair, pair, cells)
        return math.log(max(failure, 1e-320)) - math.log(beta)

    lower, upper, step = 0.98 * near, 1.02 * near, 1.1
    while excess(upper) > 0.0:
        lower, upper, step = upper, step * upper, step * step
    while excess(lower) < 0.0:
        lower, upper = lower / step, lower
    return float(brentq(excess, lower, upper, xtol=tolerance * upper, rtol=1e-12))


def _failure(tails: _Tails, single: float, pair: float, cells: int) -> float:
    """Bound the probability that a secret exceeds ``single`` or two exceed ``pair``.

    Return the smaller of two bounds: treating the bounds as the statistics' tails (Proposition 24),
    and the sum over secrets and pairs.
    """
    failure = _joint_failure(tails.groups, single, pair, cells, tails.exact)
    if not tails.exact:
        total = 0.0
        if single < pair or not tails.pairs:
            total += sum(number * float(tail(np.array(single))) for number, tail in tails.groups)
        if pair < 2.0 * single:
            total += sum(number * float(tail(np.array(pair))) for number, tail in tails.pairs)
        failure = min(failure, total)
    return (failure + tails.missed) * (1.0 + _ROUNDING)


def _joint_failure(
    groups: Sequence[tuple[int, Tail]], single: float, pair: float, cells: int, exact: bool
) -> float:
    """Probability as above for independent statistics with these tails, rounded up unless exact.

    Either two secrets exceed half of ``pair``, or exactly one does, and exceeds ``single`` or the
    rest of ``pair`` after another secret.
    """
    grid = np.linspace(pair / 2.0, single, cells + 1)
    numbers = [number for number, _ in groups]
    above = np.array([tail(grid) for _, tail in groups])  # (groups, cells + 1)
    half = above[:, 0]
    if half.max() >= 1.0:
        return 1.0
    remaining_tails = np.array([tail(pair - grid) for _, tail in groups])
    with np.errstate(divide="ignore"):  # a tail of 1
        # log of the probability that a secret is below the rest, given that it is below half
        log_below = np.log1p(-np.minimum(remaining_tails, 1.0)) - np.log1p(-half)[:, None]
    none_above, one_above, two_above = (
        1.0,
        0.0,
        0.0,
    )  # probabilities of the number of secrets that exceed half
    failure = 0.0
    for i, (number, _) in enumerate(groups):
        zero = (1.0 - half[i]) ** number
        two_above += one_above * (1.0 - zero) + none_above * float(bdtrc(1, number, half[i]))
        one_above = one_above * zero + none_above * number * half[i] * (1.0 - half[i]) ** (
            number - 1
        )
        none_above *= zero
        left = np.array(numbers) - (np.arange(len(groups)) == i)  # the other secrets
        below = np.prod((1.0 - half) ** left)
        exceeding = -np.expm1((left[left > 0, None] * log_below[left > 0]).sum(axis=0))
        exceeding = (exceeding[1:] + exceeding[:-1]) / 2.0 if exact else exceeding[1:]
        failure += number * below * (above[i, -1] - np.diff(above[i]) @ exceeding)
    return float(failure + two_above)


def mean_width(ratio: float, pair: float) -> float:
    """Mean over directions in the quarter plane of the support function of the deviations' set.

    The set is ``x, y >= 0, x^2, y^2 <= 2 single, x^2 + y^2 <= 2 pair``: a disc, cut by straight
    lines.
    """
    angle = math.acos(math.sqrt(ratio))  # nearer to an axis, a corner supports
    return math.sqrt(2.0 * pair) * (1.0 + 4.0 / math.pi * (math.sin(angle) - angle))
