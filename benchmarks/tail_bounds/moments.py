"""Rigorous upper bounds of the greatest exponential moment of one step of a chain.

``M(order) = sup over N >= least and 0 < p < 1 of E exp(order * N kl(J / N || p))``, J ~ Bin(N, p).
The numbers of steps in comments are those of the proof, docs/proofs.md, Theorem 22. Throughout
``mu = 1 - order`` and ``f_N(p) = sum over j of b_N(j) exp(-mu N kl(j / N || p))``.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import erf, gammaln, xlogy

ORDERS = np.round(1.0 - np.geomspace(0.85, 0.03, 26), 4)
ROUNDING = 1e-8  # relative inflation (step 9)
RARE = 0.03  # below: comparison with the Poisson distribution; above: cells of p
END = 1.0 - 1.0 / np.sqrt(np.pi)
FLOOR = 1.0075  # S_p(w) <= FLOOR for w <= 0.15 sqrt(pq) (step 5c)
_LOG_FACTORIALS = gammaln(np.arange(200_001) + 1.0)


def log_pi(j):
    """Log of pi(j) = j^j exp(-j) / j!."""
    return xlogy(j, j) - j - _LOG_FACTORIALS[j]


# The functions S of the Poisson and the binomial integral (steps 5 and 6).


def mass(z):
    """E[Z^2; |Z| <= z] for a standard normal Z."""
    return erf(z / np.sqrt(2.0)) - z * np.sqrt(2.0 / np.pi) * np.exp(-z * z / 2.0)


def bisect(function, level, low, high):
    """Bracket of the root of an increasing function, elementwise."""
    for _ in range(45):
        middle = (low + high) / 2.0
        above = function(middle) >= level
        high[above] = middle[above]
        low[~above] = middle[~above]
    return low, high


def poisson_opening():
    """Non-decreasing step majorant of S_Poi: value s[i] on (v[i-1], v[i]], s[0] on (0, v[0]]."""
    v = 0.005 * 1.0025 ** np.arange(2700)  # up to 4.2

    def twice_d(s):  # 2 d((1 + s)^2) / 2
        return xlogy(2.0 * (1.0 + s) ** 2, 1.0 + s) - 2.0 * s - s * s

    half = v * v / 2.0
    _, up = bisect(twice_d, half, np.zeros_like(v), np.full_like(v, 4.0))
    _, down = bisect(lambda s: twice_d(-s), half, np.zeros_like(v), np.ones_like(v))
    opening = (up + down) * (1.0 + 1e-9)  # sqrt(y+) - sqrt(y-)
    return v, np.maximum.accumulate(np.append(1.0015, opening[1:] / v[:-1]))


def binomial_opening():
    """For each cell of p in [RARE, 1/2] a non-decreasing step majorant of S_p for all its p."""
    eta = np.linspace(np.log(RARE / (1.0 - RARE)), 0.0, 1741)
    p = 1.0 / (1.0 + np.exp(-eta))
    p[0], p[-1] = RARE, 0.5
    phi = np.linspace(0.0, np.pi / 2.0, 40_001)
    x, y = np.sin(phi) ** 2, np.cos(phi) ** 2
    entropy = xlogy(x, x) + xlogy(y, y)
    w = 0.15 * np.sqrt(RARE * (1.0 - RARE)) * 1.0025 ** np.arange(1960)
    half = w * w / 2.0 + 1e-12
    s = np.empty((len(p) - 1, len(w)))
    former = None
    for i, one in enumerate(p):
        divergence = entropy - x * np.log(one) - y * np.log1p(-one)
        middle = np.searchsorted(phi, np.arcsin(np.sqrt(one)))  # phi[middle-1] < theta <= it
        # phi+(w): the first angle of the grid with kl >= w^2/2; phi-(w): the last one below theta
        above = middle + np.searchsorted(divergence[middle:], half)
        upper = phi[np.minimum(above, len(phi) - 1)]
        below = np.searchsorted(divergence[:middle][::-1], half)
        lower = np.where(below < middle, phi[np.maximum(middle - 1 - below, 0)], 0.0)
        if i:
            opening = upper - former  # phi+ at the right end of the cell, phi- at the left one
            row = np.append(FLOOR, opening[1:] / w[:-1])
            row[w <= 0.15 * np.sqrt(p[i - 1] * (1.0 - p[i - 1]))] = FLOOR
            s[i - 1] = np.maximum.accumulate(row)
        former = lower
    last = np.maximum(s[:, -1], np.pi / 2.0 / w[-1])  # w beyond the grid
    return p, w, s, last


class Integrals:
    """Bounds of the Poisson and the binomial integral, made once."""

    def __init__(self):
        self.v, self.poisson = poisson_opening()
        if not np.exp(0.17**2 / 8.0) * self.poisson[np.searchsorted(self.v, 0.152)] <= FLOOR:
            raise ArithmeticError("FLOOR is too small (step 5c)")
        self.p, w, s, last = binomial_opening()
        self.nu = 6.0 * 1.08 ** np.arange(75)  # up to 1800
        self.binomial = np.empty((len(self.nu), len(self.p) - 1))
        for i, nu in enumerate(self.nu):
            parts = mass(np.sqrt(nu) * w)
            total = s @ np.diff(parts, prepend=0.0) + last * (1.0 - parts[-1])
            self.binomial[i] = total * (1.0 + ROUNDING)
        low, high = self.p[:-1], self.p[1:]
        self.ends = END * ((1.0 - low) ** self.nu[:, None] + high ** self.nu[:, None])

    def of_poisson(self, kappa):
        parts = mass(np.sqrt(kappa) * self.v)
        total = self.poisson @ np.diff(parts, prepend=0.0)
        return (total + self.poisson[-1] * (1.0 - parts[-1])) * (1.0 + ROUNDING)


integrals = cache(Integrals)

# Sums (steps 2, 3 and 7).


def refined(first, last, count):
    """From ``first`` to ``last`` uniformly, the first step finer: it is long in log p."""
    grid = np.linspace(first, last, count + 1)
    start = first * np.exp(np.linspace(0.0, np.log(grid[1] / first), 6))
    return np.concatenate([start, grid[2:]])


def supremum_small(size, mu, p_max, accuracy):
    """Bound of f_N(p) for N = size and 0 < p <= p_max <= 1/2."""
    p_min = min(0.01 / size, p_max / 2.0)
    first, last = np.arcsin(np.sqrt([p_min, p_max]))
    count = int(np.ceil((last - first) / np.sqrt(2.0 * accuracy / (mu * size)))) + 2
    p = np.sin(refined(first, last, count)) ** 2
    p[0], p[-1] = p_min, p_max
    most = size  # terms up to here, the rest by one bound (step 2)
    if size > 60:
        m = size * p_max
        most = min(size, int(m + 9.0 * np.sqrt(m / mu) + 25.0 / mu) + 2)
    j = np.arange(most + 1)
    c = log_pi(j) + log_pi(size - j) - log_pi(size)
    c -= mu * (xlogy(j, j / size) + xlogy(size - j, 1.0 - j / size))
    eta, a = np.log(p) - np.log1p(-p), -np.log1p(-p)
    terms = np.exp(c + mu * (np.outer(eta, j) - (size * a)[:, None]))
    f = terms.sum(axis=1)
    if most < size:
        x = (most + 1) / size
        divergence = x * np.log(x / p_max) + xlogy(1.0 - x, 1.0 - x) - (1.0 - x) * np.log1p(-p_max)
        f = f + (size - most) * np.exp(-mu * size * divergence)
    near_zero = 1.0 + f[0] - terms[0, 0]  # 0 < p <= p_min <= 1/N
    slope = np.diff(a) / np.diff(eta)  # of the chord; it is a p of the cell
    gap = a[:-1] + slope * (np.log(slope) - np.log1p(-slope) - eta[:-1]) + np.log1p(-slope)
    log_f = np.maximum(np.log(f[:-1]), np.log(f[1:])) + mu * size * gap
    return np.maximum(near_zero, np.exp(log_f.max())) * (1.0 + ROUNDING)


def supremum_poisson(mu, m_max, least, accuracy):
    """Bound of f_N(m / N) for every N >= least and 0 < m <= m_max (step 7)."""
    first, last = 0.1, np.sqrt(m_max)
    count = int(np.ceil((last - first) / np.sqrt(2.0 * accuracy / mu))) + 2
    m = refined(first, last, count) ** 2
    most = int(m_max + 9.0 * np.sqrt(m_max / mu) + 25.0 / mu) + 2
    if most >= least:
        return np.inf
    j = np.arange(most + 1)
    c = log_pi(j) - mu * (xlogy(j, j) - j) + log_pi(least - j) - log_pi(least)
    terms = np.exp(c + mu * (np.outer(np.log(m), j) - m[:, None]))
    x = most + 1.0  # the terms beyond
    rest = np.exp(-mu * (x * np.log(x / m_max) - x + m_max)) / (1.0 - (m_max / x) ** mu)
    f = terms.sum(axis=1) + rest
    near_zero = 1.0 + f[0] - terms[0, 0]
    eta = np.log(m)
    slope = np.diff(m) / np.diff(eta)
    gap = m[:-1] + slope * (np.log(slope) - eta[:-1]) - slope
    log_f = np.maximum(np.log(f[:-1]), np.log(f[1:])) + mu * gap
    return np.maximum(near_zero, np.exp(log_f.max())) * (1.0 + ROUNDING)


# One order.


def estimate(mu, least):
    """Lower bound of M by search: a target for :func:`bound`, which does not rest on it."""
    best = 0.0
    p = np.sin(np.linspace(0.02, np.pi / 4.0, 60)) ** 2
    sizes = np.concatenate([np.arange(1, 13), np.geomspace(1, 3 / mu + 4, 40), [least]])
    for size in np.unique(sizes.astype(int)):
        if size < least:
            continue
        j = np.arange(size + 1)
        c = log_pi(j) + log_pi(size - j) - log_pi(size)
        c -= mu * (xlogy(j, j / size) + xlogy(size - j, 1.0 - j / size))
        logs = np.outer(j, np.log(p)) + np.outer(size - j, np.log1p(-p))
        best = max(best, np.exp(c[:, None] + mu * logs).sum(axis=0).max())
    m = np.linspace(0.2, 6.0 / mu, 120)
    j = np.arange(int(40.0 / mu) + 40)
    c = log_pi(j) - mu * (xlogy(j, j) - j)
    return max(best, np.exp(c[:, None] + mu * (np.outer(j, np.log(m)) - m)).sum(axis=0).max())


class Plan(NamedTuple):
    """For all N >= few, f_N <= target; for fewer, too, if p is at least that of ``common``."""

    few: int
    common: np.ndarray  # for each nu of the integrals
    target: float


def plan_for(mu, least, target, accuracy):
    """Regions B, C1 and C2, if the target holds in them; otherwise None."""
    made, root = integrals(), mu**-0.5
    holds = root * made.binomial + made.ends <= target
    holds &= np.outer(made.nu, made.p[:-1]) >= mu / 2.0  # N p >= 1/2
    # common[i]: from this p up to 1/2 all is well for every N >= nu[i] / mu
    bad = np.where(holds.all(axis=1), -1, holds.shape[1] - 1 - np.argmax(~holds[:, ::-1], axis=1))
    common = np.where(bad < 0, RARE, made.p[bad + 1])
    plan = None
    for x in (2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10, 12, 15, 20):  # x = mu m_0
        m_max = x / mu
        a = x / RARE * (1.0 - RARE)  # at most mu N q, as N >= m_0 / RARE
        if m_max < 0.5 or a < 3.3 * np.log(a / mu) + 4.0:
            continue
        factor = (1.0 - RARE) ** -0.5 * np.exp(mu * RARE / (12.0 * x) + 1.0 / (8.0 * (a - 1.0)))
        if not factor * (root * made.of_poisson(x) + END * np.exp(-x)) <= target:  # C2
            continue
        # B must reach down to p = max(RARE, m_0 / N) for every N that is not few
        need = np.maximum(RARE, x / np.append(made.nu[1:], np.inf))
        enough = (common <= need) | (need >= 0.5)
        if not enough[-1]:
            continue
        start = 0 if enough.all() else len(enough) - np.argmin(enough[::-1])
        for c in (8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 130, 170, 220, 300, 400, 600):
            few = int(np.ceil(max(c / mu, 2 * least if least > 1 else 1)))
            if c >= made.nu[start] and supremum_poisson(mu, m_max, few, accuracy) <= target:  # C1
                break
        else:
            continue
        if plan is None or few < plan.few:
            plan = Plan(few, common, target)
    return plan


def bound(order, least=1, slack=0.0025, accuracy=0.001):
    """Proved upper bound of M(order) over N >= least."""
    mu = 1.0 - float(order)
    target = estimate(mu, least) * (1.0 + slack)
    while (plan := plan_for(mu, least, target, accuracy)) is None:
        target *= 1.002
    worst = plan.target
    for size in range(least, plan.few):  # A
        i = np.searchsorted(integrals().nu, mu * size, side="right") - 1
        p_max = min(0.5, plan.common[i]) if i >= 0 else 0.5
        worst = np.maximum(worst, supremum_small(size, mu, p_max, accuracy))
    if not np.isfinite(worst):
        raise ArithmeticError(f"no bound at order {order}")
    return float(worst)
