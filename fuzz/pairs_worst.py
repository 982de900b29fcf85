"""The worst member of a stated set of distributions, by the definitions alone.

Nothing of the package is imported. Members are found by tilting, by a general solver and at random;
each is checked against the definition of the set before its leakage counts. So what is found is a
lower bound of the truth, and a stated bound below it is false.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

_SHARES = np.linspace(0.0, 1.0, 7)


def costs(public, others, alpha):
    """What conditionals take of a budget, before the weight of their group, over the last axis."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if alpha == 1.0:
            terms = np.where(public > 0, public * np.log(public / others), 0.0)
            return np.maximum(terms.sum(axis=-1), 0.0)
        terms = np.where(public > 0, public**alpha * others ** (1.0 - alpha), 0.0)
        return np.maximum(np.sign(alpha - 1.0) * (terms.sum(axis=-1) ** (1 / alpha) - 1.0), 0.0)


def divergence(centre, other, alpha):
    """Rényi divergence of two distributions."""
    held = centre > 0
    p, q = centre[held], other[held]
    with np.errstate(divide="ignore", over="ignore"):
        if alpha == 1.0:
            return float((p * np.log(p / q)).sum())
        return float(np.log((p**alpha * q ** (1.0 - alpha)).sum()) / (alpha - 1.0))


@dataclass
class Conditionals:
    """Log likelihood ratios divided by n: at most `single` each, and `pair` for each two."""

    single: float
    pair: float
    drift: float = 0.0
    alpha: float = 1.0

    def caps(self, weights, g, h):
        """Budgets of one group, of the other, and of both."""
        return (
            self.single + self.drift * weights[g],
            self.single + self.drift * weights[h],
            self.pair + self.drift * (weights[g] + weights[h]),
        )

    def holds(self, groups, found):
        """Whether it has these conditionals, by the definition; the others are the public ones."""
        taken = {}
        for g, r in found.items():
            weight = groups.weights[g]
            taken[g] = 0.0 if weight == 0 else weight * costs(groups.public[g], r, 1.0)
        for g, own in taken.items():
            if own > self.single + self.drift * groups.weights[g]:
                return False
            for h, other in taken.items():
                both = groups.weights[g] + groups.weights[h]
                if h != g and own + other > self.pair + self.drift * both:
                    return False
        return True


@dataclass
class Ball:
    """All distributions of the cells whose Rényi divergence from the public one is small."""

    alpha: float
    radius: float

    def caps(self, weights, g, h):
        """Budgets of one group, of the other, and of both."""
        if self.alpha == 1.0 or np.isinf(self.radius) or self.radius == 0.0:
            return (self.radius,) * 3
        return (abs(np.expm1((self.alpha - 1.0) * self.radius / self.alpha)),) * 3

    def holds(self, groups, found):
        """Whether some distribution with these conditionals is inside, by its divergence."""
        if np.isinf(self.radius):
            return True
        centre, other = [], []
        for g, public in enumerate(groups.public):
            own, weight = found.get(g, public), groups.weights[g]
            centre.append(weight * public)
            if self.alpha != 1.0 and weight > 0:
                with np.errstate(divide="ignore", invalid="ignore"):
                    terms = np.where(public > 0, public**self.alpha * own ** (1 - self.alpha), 0.0)
                weight = weight * terms.sum() ** (1.0 / self.alpha)
            other.append(weight * own)
        centre, other = np.concatenate(centre), np.concatenate(other)
        if not 0.0 < other.sum() < np.inf:
            return False
        return divergence(centre, other / other.sum(), self.alpha) <= self.radius


@dataclass
class Groups:
    """Hypotheses that an observer compares: what each says about a report.

    rows[g] has shape (b, m_g), the probabilities of the reports in the group's cells; public[g]
    (m_g,) the public distribution of these, uniform without records; weights (G,).
    """

    rows: list
    public: list
    weights: np.ndarray
    names: list
    pairs: list  # of (g, h), the groups that are compared

    def powers(self, choose):
        """Rows of several reports about one record: products of the rows that are chosen."""
        rows = [np.prod([own[list(c)] for c in choose.T], axis=0) for own in self.rows]
        return Groups(rows, self.public, self.weights, self.names, self.pairs)


def pulled(v, public, weight, alpha, budgets):
    """Conditionals with the greatest mean of each row of v, one for each budget.

    Shapes: `v` (b, m), `budgets` (k,). Returns (b, k, m).
    """
    b, m = v.shape
    budgets = np.asarray(budgets, dtype=float)
    if m == 1 or weight == 0.0 or np.isinf(budgets).any():
        top = np.eye(m)[v.argmax(axis=1)]
        found = np.repeat(top[:, None], len(budgets), axis=1)
        if m == 1 or weight == 0.0:
            return found
        finite = np.flatnonzero(np.isfinite(budgets))
        if finite.size:
            found[:, finite] = pulled(v, public, weight, alpha, budgets[finite])
        return found
    gaps = (v.max(axis=1, keepdims=True) - v)[:, None, :]
    spread = gaps.max(axis=2)
    spread = np.where(spread > 0, spread, 1.0)
    allowed = np.broadcast_to(budgets / weight, (b, len(budgets)))

    def tilted(logs):
        slack = (spread * np.exp(logs))[..., None] + gaps
        with np.errstate(divide="ignore"):
            shares = np.log(np.where(public > 0, public, 1.0)) - np.log(slack) / alpha
        shares = np.where(public > 0, shares, -np.inf)
        shares = np.exp(shares - shares.max(axis=-1, keepdims=True))
        return shares / shares.sum(axis=-1, keepdims=True)

    low, high = np.full(allowed.shape, -40.0), np.full(allowed.shape, 25.0)
    for _ in range(38):
        middle = (low + high) / 2.0
        inside = costs(public, tilted(middle), alpha) <= allowed
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    found = tilted(high)
    found = np.where((costs(public, found, alpha) <= allowed)[..., None], found, public)
    if alpha >= 1.0 and public.all():
        return found  # no more is to be had
    top = np.eye(m)[v.argmax(axis=1)][:, None, :]
    return towards(found, top, lambda r: costs(public, r, alpha) <= allowed)


def towards(start, end, inside):
    """Go from inside a convex set as far as possible; shapes (..., m)."""
    low = np.zeros(inside(start).shape)
    high = np.ones(low.shape)
    whole = inside(np.broadcast_to(end, start.shape))
    for _ in range(34):
        middle = (low + high) / 2.0
        good = inside(start + middle[..., None] * (end - start))
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    low = np.where(whole, 1.0, low)
    return start + low[..., None] * (end - start)


def log_ratio(upper, lower):
    """Logarithm of quotients; 0 / 0 is 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(upper <= 0.0, -np.inf, np.log(upper) - np.log(lower))


def worst(groups, around, rng=None, pairs=None):
    """The greatest leakage found of each compared pair, {(g, h): eps}, h less probable than g.

    Every value is attained by members that :meth:`holds` accepted.
    """
    found = {}
    for g, h in groups.pairs if pairs is None else pairs:
        found[g, h] = max(
            _by_tilting(groups, around, g, h, 1 if rng is None else 3),
            0.0 if rng is None else _at_random(groups, around, g, h, rng),
        )
    if rng is not None and found and rng.random() < 0.4:
        g, h = list(found)[rng.integers(len(found))]
        found[g, h] = max(found[g, h], _by_solver(groups, around, g, h, rng))
    return found


def _leak(groups, around, g, h, first, second):
    """Leakage of all rows at two conditionals, if these are inside; they are moved there."""
    point = around.caps(groups.weights, g, h)[2] == 0.0
    for share in () if point else (1.0, 1.0 - 1e-12, 1.0 - 1e-9, 1.0 - 1e-6, 0.99, 0.5):
        a = share * first + (1.0 - share) * groups.public[g]
        b = share * second + (1.0 - share) * groups.public[h]
        if around.holds(groups, {g: a, h: b}):
            ratio = log_ratio(groups.rows[g] @ a, groups.rows[h] @ b)
            return float(ratio.max(initial=0.0))
    ratio = log_ratio(groups.rows[g] @ groups.public[g], groups.rows[h] @ groups.public[h])
    return float(ratio.max(initial=0.0))


def _by_tilting(groups, around, g, h, rounds):
    own, other, both = around.caps(groups.weights, g, h)
    if both == 0.0:
        return _leak(groups, around, g, h, groups.public[g], groups.public[h])
    if np.isinf(own):
        budgets = left = np.array([np.inf])
    else:
        most = min(own, both)
        budgets = _SHARES * most
        left = np.minimum(both - budgets, other)
    alpha, w = around.alpha, groups.weights
    best = 0.0
    for _ in range(rounds):
        first = pulled(groups.rows[g], groups.public[g], w[g], alpha, budgets)
        second = pulled(-groups.rows[h], groups.public[h], w[h], alpha, left)
        upper = np.einsum("bkm,bm->bk", first, groups.rows[g])
        lower = np.einsum("bkm,bm->bk", second, groups.rows[h])
        ratio = log_ratio(upper, lower)
        y, k = np.unravel_index(ratio.argmax(), ratio.shape)
        best = max(best, _leak(groups, around, g, h, first[y, k], second[y, k]))
        if len(budgets) == 1:
            break
        step = budgets[1] - budgets[0] if len(budgets) > 1 else 0.0
        budgets = np.clip(budgets[k] + step * np.linspace(-1, 1, 7), 0.0, most)
        left = np.minimum(both - budgets, other)
    return best


def _at_random(groups, around, g, h, rng, tries=4):
    best, centres = 0.0, (groups.public[g], groups.public[h])
    for _ in range(tries):
        sharp = rng.choice([0.2, 1.0])
        ends = [rng.dirichlet(np.full(len(public), sharp)) for public in centres]

        def at(share, ends=ends):
            return [p + share * (e - p) for p, e in zip(centres, ends, strict=True)]

        low, high = 0.0, 1.0
        for _ in range(30):
            middle = (low + high) / 2.0
            a, b = at(middle)
            inside = around.holds(groups, {g: a, h: b})
            low, high = (middle, high) if inside else (low, middle)
        best = max(best, _leak(groups, around, g, h, *at(low)))
    return best


def _by_solver(groups, around, g, h, rng):
    """A general solver, for one row: it knows the budgets, and nothing of how to tilt."""
    y = int(rng.integers(len(groups.rows[g])))
    v, z, m = groups.rows[g][y], groups.rows[h][y], len(groups.public[g])
    own, other, both = around.caps(groups.weights, g, h)
    if np.isinf(own) or not (v.any() and z.any()):
        return 0.0
    w, scale = groups.weights, 1.0 / max(both, 1e-12)

    def taken(x):
        return (
            w[g] * costs(groups.public[g], x[:m], around.alpha),
            w[h] * costs(groups.public[h], x[m:], around.alpha),
        )

    rules = [
        {"type": "eq", "fun": lambda x: x[:m].sum() - 1.0},
        {"type": "eq", "fun": lambda x: x[m:].sum() - 1.0},
        {"type": "ineq", "fun": lambda x: scale * (own - taken(x)[0])},
        {"type": "ineq", "fun": lambda x: scale * (other - taken(x)[1])},
        {"type": "ineq", "fun": lambda x: scale * (both - sum(taken(x)))},
    ]
    start = np.concatenate([groups.public[g], groups.public[h]])
    start = 0.999 * start + 0.001 * rng.dirichlet(np.ones(len(start))) * 2.0
    with np.errstate(all="ignore"):
        result = minimize(
            lambda x: float(np.log(max(x[m:] @ z, 1e-300)) - np.log(max(x[:m] @ v, 1e-300))),
            start,
            method="SLSQP",
            bounds=[(1e-9, 1.0)] * len(start),
            constraints=rules,
            options={"maxiter": 40},
        )
    x = np.clip(result.x, 0.0, 1.0)
    if not np.isfinite(x).all() or x[:m].sum() <= 0 or x[m:].sum() <= 0:
        return 0.0
    return _leak(groups, around, g, h, x[:m] / x[:m].sum(), x[m:] / x[m:].sum())


def greatest_mean(v, centre, around):
    """The greatest mean of v (a,) over a ball of distributions of all cells."""
    cap = around.caps(np.ones(1), 0, 0)[0]
    if cap == 0.0:
        return float(centre @ v)  # rounding would accept others nearby
    found = pulled(v[None], centre, 1.0, around.alpha, [cap])[0, 0]
    whole = Groups([v[None]], [centre], np.ones(1), [0], [])
    for share in (1.0, 1.0 - 1e-12, 1.0 - 1e-9, 1.0 - 1e-6, 0.99, 0.0):
        law = share * found + (1.0 - share) * centre
        if around.holds(whole, {0: law}):
            return float(law @ v)
    return float(centre @ v)
