"""Bounds of the conditionals of U given S from private reports, instead of a public table.

The probability of value u given secret s is at most θ if and only if E h ≤ 0, where the function
h is 1[x = (s, u)] − θ·1[x has secret s] of a record x. The mean weight of the reports estimates E
h. If E h ≤ 0, Chernoff's bound for the mean m of the weights of n reports is, for every λ > 0,

    P(mean ≥ m) ≤ exp(n (log S(λ) − λ m)),  S(λ) = max {Σ_x P_x M_x(λ) : Σ_x P_x h(x) ≤ 0},

with the moments M_x(λ) = Σ_y Q(y|x) exp(λ w(y)). The maximum is attained at one record with h ≤ 0
or at two with opposite signs, so it has a closed form. It is valid for any weights that were fixed
before the reports were counted, because the moments are those of the actual weights.

Values of θ are tested in a fixed order, upward from 0, until one is not rejected; the lower bound
is the last rejected value. It exceeds P(u|s) only if the first true hypothesis was rejected. Upper
bounds test P(u|s) ≥ θ downward from 1. The proof is that of Theorem 42 (docs/proofs.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import chdtri, log_ndtr

from skrldp._typing import Booleans, Floats, Indices
from skrldp.claims import UNITS, Around, BoxBounds
from skrldp.joint import CountedReports, JointDistribution
from skrldp.sets.fitted_sets import UNSEEN, Box, ConditionalsSet, FittedSet

# Bounds are multiples of 1/UNITS. Twice as many take twice the time, and narrow a bound by 0.00006.
# Units between coarse hypotheses. The coarse tests only locate where the fine ones begin, and use a
# hundredth of the error probability. Half as many units take as long, because fewer fine tests need
# more coarse ones.
COARSE = 256
_COARSE_SHARE = 0.01
_BATCH = 32  # hypotheses per bound tested at a time; with twice as many, half are wasted
_MOST_ENTRIES = 1 << 21  # maximum array entries per step: 16 megabytes each
# Trial multipliers of λ around its normal approximation, and the factor by which each round narrows
# them.
_TRIALS = 2.0 ** np.arange(-5, 6)
_CLOSER = (
    2.0 ** np.linspace(-0.7, 0.7, 5),
    2.0 ** np.linspace(-0.2, 0.2, 5),
    2.0 ** np.linspace(-0.05, 0.05, 3),
)
_MARGIN = 0.01  # margin of an estimate before rounding, relative to the bounds' widths
_SINGULAR = 1e-8  # correlations below this are due to rounded probabilities
_ROUNDING = 1e-12  # relative error of logarithms of sums, for each report


class _Source:
    """The reports of one mechanism, with the weights that estimate cells from them.

    Shapes: `channel` (b, a), the probabilities of the reports that can be sent, and `shares` (b,)
    of these reports. The `weights` (a, b) estimate each cell, with the smallest variance at the
    uniform distribution: they depend on the mechanism alone, so they are fixed before anybody
    reports.
    """

    def __init__(self, reports: CountedReports) -> None:
        is_possible = reports.matrix.max(axis=1) > 0
        self.n, self.channel = reports.n, reports.matrix[is_possible]
        self.shares = reports.counts[is_possible] / reports.n
        root = math.sqrt(self.channel.shape[1])
        roots = np.sqrt(self.channel.mean(axis=1))[:, None]
        left, values, right = np.linalg.svd(self.channel / roots / root, full_matrices=False)
        seen = values > _SINGULAR
        self.weights = (right[seen].T / values[seen]) @ (left[:, seen] / roots).T / root


@dataclass(frozen=True, eq=False)
class _Hypotheses:
    """One hypothesis for each of m bounds: P(u|s) is at most θ, or at least θ."""

    shape: tuple[int, int]  # numbers of secrets and of values
    secret: Indices  # (m,)
    value: Indices  # (m,)
    is_upper: Booleans  # (m,), whether it is for an upper bound: P(u|s) is at least θ
    theta: Floats  # (m,)

    def weights(self, source: _Source) -> Floats:
        """Weights of the reports whose mean is at most 0 by each hypothesis, (m, b)."""
        of_cells = source.weights.reshape(*self.shape, -1)
        sign = np.where(self.is_upper, -1.0, 1.0)[:, None]
        of_secrets = self.theta[:, None] * of_cells.sum(axis=1)[self.secret]
        return sign * (of_cells[self.secret, self.value] - of_secrets)


_LogP = tuple[Floats, Floats]  # logarithms of p-values, and the scales of λ at which they hold


class BoundTests:
    """Tests of the hypotheses of all 2·a1·a2 bounds, by the reports of all sources together.

    Bounds are numbered: lower ones in the order of the cells, then upper ones. The steps of their
    hypotheses are units, upward from 0 for lower bounds and downward from 1 for upper ones.
    """

    def __init__(
        self, reports: Sequence[CountedReports], shape: tuple[int, int], beta: float, rule: str
    ) -> None:
        self.sources, self.shape = [*map(_Source, reports)], shape
        self.n_bounds = 2 * shape[0] * shape[1]
        self._log_p = {"reports": _chernoff, "reports-asymptotic": _normal}[rule]
        #: Logarithms of the critical values of coarse and of fine steps.
        self.levels = [
            log_critical_product(share * beta / self.n_bounds, len(self.sources))
            for share in (_COARSE_SHARE, 1.0 - _COARSE_SHARE)
        ]

    def log_p(self, bounds: Indices, steps: Indices, scale: Floats | None = None) -> _LogP:
        """Bound the logarithm of the product of the sources' p-values, (m,).

        `scale` (sources, m) multiplies the λ of the normal approximation; without it the best λ is
        searched for. Returns the scales as well.
        """
        is_upper, cell = np.divmod(bounds, self.n_bounds // 2)
        theta = np.where(is_upper, 1.0 - steps / UNITS, steps / UNITS)
        secret, value = np.divmod(cell, self.shape[1])
        hypotheses = _Hypotheses(self.shape, secret, value, is_upper == 1, theta)
        search, total = scale is None, np.zeros(len(bounds))
        scale = np.ones((len(self.sources), len(bounds))) if scale is None else scale.copy()
        for row, source in enumerate(self.sources):
            log_p, scale[row] = self._log_p(source, hypotheses, scale[row], search)
            total += log_p
        return total, scale

    def rejected(self, bounds: Indices) -> Indices:
        """Test the hypotheses of m bounds in order; return the last rejected step, or 0."""
        last = np.zeros(len(bounds), dtype=np.intp)
        for step, level in zip((COARSE, 1), self.levels, strict=True):
            scale = np.ones((len(self.sources), len(bounds)))
            # At the coarse level nothing is rejected yet, not even θ = 0 (P(u|s) is 0, or is 1).
            following = last.copy() if step > 1 else last + 1
            active = np.arange(len(bounds))
            while len(active):
                steps = (following[active, None] + step * np.arange(_BATCH)).ravel()
                repeated = np.repeat(active, _BATCH)
                log_p, _ = self.log_p(bounds[repeated], steps, scale[:, repeated])
                passed = ((log_p < level) & (steps < UNITS)).reshape(-1, _BATCH)
                n_passed = np.where(passed.all(axis=1), _BATCH, passed.argmin(axis=1))
                following[active] += step * n_passed
                # If one is not rejected at the previous λ, search for its best λ, and continue if
                # that rejects it.
                stuck = active[n_passed < _BATCH]
                log_p, scale[:, stuck] = self.log_p(bounds[stuck], following[stuck])
                is_rejected = (log_p < level) & (following[stuck] < UNITS)
                following[stuck[is_rejected]] += step
                active = np.setdiff1d(active, stuck[~is_rejected])
            last = np.maximum(following - step, last)
        return last


def conditional_bounds(
    reports: Sequence[CountedReports], shape: tuple[int, int], beta: float, rule: str
) -> tuple[Indices, Indices]:
    """Bound all conditionals simultaneously, with probability at least 1 − β.

    A mechanism may have been chosen after the reports of earlier sources were seen, because those
    reports come from different people.

    Returns arrays of shape (a1, a2): lower and upper bounds, in units of 1/8192.
    """
    if shape[1] == 1:
        return np.full(shape, UNITS), np.full(shape, UNITS)
    tests = BoundTests(reports, shape, beta, rule)
    n_entries = sum(max(source.channel.shape) for source in tests.sources) * _BATCH
    size = max(1, _MOST_ENTRIES // n_entries)
    batches = np.array_split(np.arange(tests.n_bounds), math.ceil(tests.n_bounds / size))
    steps = np.concatenate([tests.rejected(batch) for batch in batches]).reshape(2, *shape)
    return steps[0], UNITS - steps[1]


def _chernoff(source: _Source, hypotheses: _Hypotheses, scale: Floats, search: bool) -> _LogP:
    """Bound log p of each hypothesis, by λ of its normal approximation times a scale, (m,).

    With `search`, the best of several scales. Any λ is valid.
    """
    weights = hypotheses.weights(source)
    mean, square = weights @ source.shares, weights**2
    variance = square @ source.shares - mean**2 + square.max(axis=1) / source.n  # never 0
    normal, log_p = np.maximum(mean, 0.0) / variance, np.zeros(len(mean))
    for trials in (_TRIALS, *_CLOSER) if search else (np.ones(1),):
        centre = scale
        for trial in trials:
            lam = normal * trial * centre
            bound = source.n * _exponents(source, hypotheses, weights, mean, lam)
            is_less = bound < log_p
            log_p = np.where(is_less, bound, log_p)
            scale = np.where(is_less, trial * centre, scale)
    return log_p, scale


def _exponents(
    source: _Source, hypotheses: _Hypotheses, weights: Floats, mean: Floats, lam: Floats
) -> Floats:
    """Return log S(λ) − λ·mean, rounded upwards, (m,)."""
    powers = lam[:, None] * weights
    shift = powers.max(axis=1)
    moments = np.exp(powers - shift[:, None]) @ source.channel
    moments = moments.reshape(-1, *hypotheses.shape)
    index, secret = np.arange(len(mean)), hypotheses.secret
    of_cell = moments[index, secret, hypotheses.value]
    moments[index, secret, hypotheses.value] = 0.0
    of_secret = moments[index, secret].max(axis=1)
    moments[index, secret] = 0.0
    outside = moments.max(axis=(1, 2))
    single = np.where(hypotheses.is_upper, of_cell, of_secret)
    pair = hypotheses.theta * of_cell + (1.0 - hypotheses.theta) * of_secret
    greatest = np.maximum(np.maximum(outside, single), pair)
    logs = np.log(np.maximum(greatest, np.finfo(float).tiny))  # underflow must not reject
    return logs + shift - lam * mean + _ROUNDING * (1.0 + np.abs(shift))


def _normal(source: _Source, hypotheses: _Hypotheses, scale: Floats, search: bool) -> _LogP:
    """Return log p of each hypothesis by the normal approximation, (m,)."""
    weights = hypotheses.weights(source)
    mean, square = weights @ source.shares, weights**2
    # Add one report, the most variable one, so that no variance is 0.
    variance = square @ source.shares - mean**2 + (square @ source.channel).max(axis=1) / source.n
    return np.asarray(log_ndtr(-np.sqrt(source.n / variance) * np.maximum(mean, 0.0))), scale


def log_critical_product(delta: float, n_sources: int) -> float:
    """Return the logarithm below which a product of p-values has probability at most δ.

    Fisher's method: minus twice the logarithm of a product of m independent uniform variables has
    the chi-squared distribution of 2m degrees. Each p-value need only be valid given those before.
    """
    return -float(chdtri(2 * n_sources, delta)) / 2.0


def is_empty(lower: Indices, upper: Indices) -> Booleans:
    """Whether no conditional lies between the bounds (a1, a2) of each secret."""
    return (lower.sum(axis=1) > UNITS) | (upper.sum(axis=1) < UNITS)


@dataclass(frozen=True, eq=False)
class BoxSet(FittedSet):
    """The distributions whose conditionals of U lie between bounds; the marginal of S is free.

    With drift δ, a conditional is a mixture: e^{−δ} times a conditional between the bounds, and the
    remaining 1 − e^{−δ} of any distribution. Equivalently, since the reports were
    sent, no probability of a value given a secret has fallen below e^{−δ} times its earlier value.

    Parameters
    ----------
    lower, upper : array of shape (a1, a2)
        The bounds, in units of 1/8192.
    drift : float
        δ, in nats.
    rule : {"reports", "reports-asymptotic"}
        How the bounds were computed.
    beta, n_records
        As in :class:`FittedSet`; the number of records is that of reports.
    reports : tuple of CountedReports
        The reports from which they were computed.

    Raises
    ------
    ValueError
        If no conditional lies between the bounds of a secret.
    """

    lower: Indices
    upper: Indices
    drift: float
    rule: str
    beta: float
    n_records: int
    reports: tuple[CountedReports, ...]
    n_values: None = None
    table: None = None
    alpha: float = 1.0
    of_conditionals: ClassVar[bool] = True
    kind: ClassVar[str] = "box"
    joint_radius = None  # the marginal of S may be anything
    shares_budget = limits_singles = is_everything = is_point = False
    covers_groups = False

    def __post_init__(self) -> None:
        """Reject an empty set, for which every mechanism would be private."""
        empty = is_empty(self.lower, self.upper)
        if empty.any():
            raise ValueError(
                "the reports are inconsistent: no distribution of U given secret "
                f"{int(np.argmax(empty))} lies between its bounds. Check that each report was "
                "drawn by the mechanism that was passed with it, and about a different person."
            )

    @property
    def box(self) -> Box:
        """The bounds as probabilities, and the share that drift leaves free, rounded upwards."""
        spread = float(np.nextafter(-math.expm1(-self.drift), 2.0)) if self.drift else 0.0
        return Box(self.lower / UNITS, self.upper / UNITS, spread)

    @property
    def public_alone(self) -> FittedSet:
        """The estimated distribution alone."""
        return ConditionalsSet(0.0, 0.0, 0.0, "given", None, self.n_records)

    def single_budgets(self, marginal: Floats) -> Floats:
        """Return infinity, because bounds do not limit divergences."""
        return np.full(np.shape(marginal), math.inf)

    def pair_budgets(self, marginals: Floats) -> Floats:
        """Return infinity, as for single conditionals."""
        return np.full(len(marginals), math.inf)

    def arranged(self, secrets: Indices, values: Indices) -> "BoxSet":
        """Return the bounds of secrets and values in a different order."""
        cells = np.ix_(secrets, values)
        return replace(self, lower=self.lower[cells], upper=self.upper[cells])

    def centred(self, joint: JointDistribution) -> JointDistribution:
        """Pull the conditionals of an estimate inside the bounds, keeping integer counts."""
        inner, scale = self.box.pulled_in(joint.conditionals, margin=_MARGIN), joint.counts.sum()
        while True:
            counts = np.rint(scale * np.maximum(joint.marginal, UNSEEN)[:, None] * inner)
            pulled = replace(joint, counts=counts.astype(np.int64))
            if counts.any(axis=1).all() and self.box.contains(pulled.conditionals).all():
                return pulled
            scale *= 10

    def contains(self, joint: JointDistribution, distribution: Floats) -> bool:
        """Whether the conditionals of a distribution, where defined, lie in the box."""
        total = distribution.sum(axis=1, keepdims=True)
        seen = total[:, 0] > 0
        return bool(self.box.contains(distribution / np.where(total > 0, total, 1.0))[seen].all())

    def distribution_with(
        self, joint: JointDistribution, conditionals: Floats, secrets: Indices
    ) -> Floats:
        """Complete two conditionals with the estimated ones; see :class:`FittedSet`.

        Shapes: `conditionals` (a1, a2); returns (a1, a2).
        """
        marginal, completed = joint.marginal.copy(), joint.conditionals.copy()
        completed[secrets] = self.box.pulled_in(conditionals)[secrets]
        marginal[secrets[marginal[secrets] <= 0]] = UNSEEN
        return (marginal / marginal.sum())[:, None] * completed

    def ball_beside(self) -> tuple[dict[str, Any], float]:
        """Reject a request for a ball of joint distributions: bounds limit conditionals only."""
        raise ValueError(
            "private reports bound U given S, but not S, so they do not provide a set for the "
            "worst expected distance: pass utility_uncertainty=RenyiBall(alpha=1, radius=...), "
            "with radius=0 for none."
        )

    def missed_share(self, joint: JointDistribution, weights: Floats, tables: int) -> float:
        """Return the stated probability: bounds from reports need no simulated tables."""
        return self.beta

    def stated(self, values_from: str | None = None) -> Around:
        """Return the set in the form that claims use."""
        counted = tuple((source.digest, tuple(source.counts.tolist())) for source in self.reports)
        lower, upper = (tuple(map(tuple, b.tolist())) for b in (self.lower, self.upper))
        bounds = BoxBounds(lower, upper, counted)
        numbers = self.figures, self.rule, self.beta, self.n_records
        return Around(self.kind, *numbers, None, "declared", bounds)

    @property
    def figures(self) -> dict[str, float]:
        """The drift alone, because the bounds are arrays."""
        return {"drift": float(self.drift)}

    @property
    def fitted_attributes(self) -> dict[str, Any]:
        """The bounds ``lower_`` and ``upper_``, as probabilities."""
        return {"lower_": self.box.lower, "upper_": self.box.upper}
