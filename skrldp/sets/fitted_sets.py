"""The uncertainty set around a public table, as the immutable value that designs and proofs use.

**Rare cells.** :func:`estimated_miss` estimates by simulation how often an asymptotic set misses
the true distribution. An asymptotic radius is accurate if each cell has many records. Cells with an
expected count of about 0.01 to 5 make such sets miss more often than stated: at order 2 those far
below 1, because each of their records has a large weight, and at order 1 those of about 2. The
table does not determine the expected counts of cells with at most one record, so the worst of
several plausible values is used.
"""

import hashlib
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.special import betainccinv, betaincinv, xlogy

from skrldp._typing import Booleans, Floats, Indices
from skrldp.claims import EVERYTHING, Around
from skrldp.claims_in_words import describe
from skrldp.joint import JointDistribution
from skrldp.support_function import bisect, divergence, pull_in

REGIONS = ("joint", "product", "box", "lower")  # how closely a design's constraints follow a set

# Share of records that is used instead of the limit 0, at which a secret without records may have
# any conditional at no cost. It changes a divergence by about as much, in proportion to its size.
UNSEEN = 1e-9
_LAST_DIGITS = 1e-12  # of probabilities


TableFigures = tuple[Any, ...]


def figures_of_table(joint: JointDistribution) -> TableFigures:
    """Return the figures that radii depend on, invariant to the order of secrets and values.

    These are the number of records of each secret and the number of values; for surveys, also the
    weights and the covariance.
    """
    records = sorted(joint.counts.sum(axis=1).tolist())
    survey = joint.survey
    weights: TableFigures = ()
    if survey is not None:
        sums = sorted(survey.totals.tolist()), sorted(survey.squares.tolist())
        weights = (*map(tuple, sums), survey.degrees, _digest(survey.covariance))
    return joint.counts.shape[1], tuple(records), weights


def _digest(covariance: Floats | None) -> str:
    """Condense the entries of a covariance, invariant to the order of the cells."""
    if covariance is None:
        return ""
    entries = np.sort(covariance, axis=None) + 0.0  # no -0
    return hashlib.sha256(entries.tobytes()).hexdigest()


@dataclass(frozen=True, eq=False)
class Box:
    """Bounds on each secret's conditional, except for an unrestricted share of its mass."""

    lower: Floats  # (a1, a2)
    upper: Floats  # (a1, a2)
    spread: float = 0.0  # the share

    def contains(self, conditionals: Floats) -> Booleans:
        """Return which conditionals (a1, a2) satisfy the bounds up to rounding error, (a1,)."""
        remaining = 1.0 - self.spread
        above = (conditionals >= remaining * self.lower - _LAST_DIGITS).all(axis=1)
        beyond = np.maximum(conditionals - remaining * self.upper, 0.0).sum(axis=1)
        return np.asarray(above & (beyond <= self.spread + _LAST_DIGITS))

    def pulled_in(self, conditionals: Floats, margin: float = 0.0) -> Floats:
        """Mix conditionals (a1, a2) with an interior one until within the bounds by a margin."""
        width = self.upper - self.lower
        spare = np.maximum(1.0 - self.lower.sum(axis=1, keepdims=True), 0.0)
        total = np.maximum(width.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        centre = self.lower + spare * width / total
        step = conditionals - centre
        room = np.where(step > 0, self.upper - centre, centre - self.lower) * (1.0 - margin)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(step != 0, np.maximum(room, 0.0) / np.abs(step), 1.0)
        return np.asarray(centre + np.minimum(share.min(axis=1, keepdims=True), 1.0) * step)


class FittedSet(ABC):
    r"""A set of distributions of (S, U) around a public one.

    Privacy compares two conditionals of U at a time, so designs and proofs need the region of any
    two of them. For every set but :class:`~skrldp.sets.bounds_from_reports.BoxSet`, which bounds
    each conditional separately, this region is a ball: with the marginal w of S, a conditional R of
    a secret uses part of a budget, at order 1 the part :math:`w_s D(\hat P_{U|s} \| R)`. Each
    conditional uses at most its *single budget*, and two together use at most the *pair budget*.
    The set of all distributions has infinite budgets, and the public distribution alone has budgets
    of zero.

    Attributes
    ----------
    alpha : float
        Order of the divergence.
    rule : str or None
        How the budgets were computed: ``"chi2"``, ``"asymptotic"``, ``"finite-sample"``,
        ``"survey"``, ``"given"``, ``"reports"`` or ``"reports-asymptotic"``; None for all
        distributions.
    beta : float or None
        Probability that a set made by this rule misses the true distribution; None for given radii
        and for all distributions.
    n_records : int or None
        Number of public records; None if it is unknown.
    n_values : int or None
        The maximum number of values of U in the population, if it may have more than are listed;
        budgets computed from a beta hold for this number. None otherwise.
    table : tuple or None
        The figures of the table on which the budgets depend, see :func:`figures_of_table`; None if
        unknown.
    of_conditionals : bool
        Whether the set limits only the conditionals of U, not the probabilities of the secrets.
    kind : str
        The name of this kind of set in claims.
    """

    alpha: float
    rule: str | None
    beta: float | None
    n_records: int | None
    n_values: int | None
    table: TableFigures | None
    of_conditionals: ClassVar[bool] = False
    kind: ClassVar[str]

    def secret_weights(self, joint: JointDistribution) -> Floats:
        """Return the weights w of the secrets: their probabilities, shape (a1,)."""
        return joint.marginal

    @abstractmethod
    def single_budgets(self, marginal: Floats) -> Floats:
        """Return the single budget of each secret's conditional.

        Returns array of the same shape: in nats of the joint distribution.
        """

    @abstractmethod
    def pair_budgets(self, marginals: Floats) -> Floats:
        """Return the pair budget of the conditionals of two secrets.

        Shapes: `marginals` (m, 2). Returns (m,): in nats of the joint distribution.
        """

    @property
    @abstractmethod
    def shares_budget(self) -> bool:
        """Whether two conditionals together have a smaller budget than each alone."""

    @property
    @abstractmethod
    def limits_singles(self) -> bool:
        """Whether one conditional has a smaller budget than two together."""

    @property
    @abstractmethod
    def is_everything(self) -> bool:
        """Whether the set contains every distribution."""

    @property
    @abstractmethod
    def is_point(self) -> bool:
        """Whether the set contains only the public conditionals."""

    @property
    @abstractmethod
    def public_alone(self) -> "FittedSet":
        """The public distribution alone, as a set of the same kind."""

    @abstractmethod
    def contains(self, joint: JointDistribution, distribution: Floats) -> bool:
        """Whether the set contains a distribution.

        Shapes: `distribution` (a1, a2).
        """

    @abstractmethod
    def distribution_with(
        self, joint: JointDistribution, conditionals: Floats, secrets: Indices
    ) -> Floats:
        """Complete conditionals to a distribution of the set, moving it inside if necessary.

        Shapes: `conditionals` (a1, a2); returns (a1, a2).
        """

    @property
    @abstractmethod
    def covers_groups(self) -> bool:
        """Whether grouping cells maps the set into the set of the same kind for the groups."""

    @property
    @abstractmethod
    def joint_radius(self) -> float | None:
        """Radius in nats, if the set is a ball of joint distributions; else None."""

    @abstractmethod
    def ball_beside(self) -> tuple[dict[str, Any], float]:
        """Parameters of the corresponding RenyiBall, and the amount to add to its radius."""

    @abstractmethod
    def missed_share(self, joint: JointDistribution, weights: Floats, tables: int) -> float:
        """Simulate tables from the cell weights; return the share whose set misses them.

        Shapes: `weights` (a1, a2). Drift does not count.
        """

    @property
    def box(self) -> Box | None:
        """The bounds of the conditionals, if the set consists of bounds; else None."""
        return None

    def arranged(self, secrets: Indices, values: Indices) -> "FittedSet":
        """Return the same set with secrets and values in a different order."""
        return self

    def centred(self, joint: JointDistribution) -> JointDistribution:
        """Return a distribution inside the set, near the one around which it was made."""
        return joint

    @property
    def joint_is_convex(self) -> bool:
        """Whether what the set allows for two conditionals together is convex.

        Below order 1/2 it is not, so a dual bound would be loose, and regions and proofs consider
        each conditional separately.
        """
        return self.alpha >= 0.5

    def stated(self, values_from: str | None = None) -> Around:
        """Return the set in the form that claims use, with the source of the values of U."""
        if self.is_everything:
            return EVERYTHING
        stated = self.rule, self.beta, self.n_records, self.n_values
        return Around(self.kind, self.figures, *stated, values_from)

    def describe(self) -> str:
        """Describe in words which distributions the set contains."""
        return describe(self.stated())

    @property
    @abstractmethod
    def figures(self) -> dict[str, float]:
        """The numbers that specify the set in claims."""

    @property
    @abstractmethod
    def fitted_attributes(self) -> dict[str, Any]:
        """The fitted attributes that a sanitizer sets on its copy of the parameter object."""


def fitted_set(joint: JointDistribution, uncertainty: Any, name: str = "uncertainty") -> FittedSet:
    """Fit a set around a public distribution; a fitted set is returned unchanged.

    Raises ValueError if it is not a set, or was fitted to a different table, for which its budgets
    differ: its beta would be false for this table.
    """
    if isinstance(uncertainty, FittedSet):
        n_records, table = uncertainty.n_records, uncertainty.table
        same = n_records in (None, joint.n) and table in (None, figures_of_table(joint))
        if uncertainty.beta is not None and not same:
            raise ValueError(
                f"{name} was fitted to a different table than this one of {joint.n:,} records, so "
                "its beta would not hold: pass an unfitted set, such as LikelihoodRatioSet()."
            )
        return uncertainty
    if isinstance(uncertainty, type):
        class_name = uncertainty.__name__
        raise ValueError(
            f"{name} must be an instance, got the class {class_name}: write {class_name}()."
        )
    if not hasattr(uncertainty, "fit_set"):
        raise ValueError(
            f"{name} must be an uncertainty set such as LikelihoodRatioSet(), or a sanitizer's "
            f"`uncertainty_`, got {type(uncertainty).__name__}."
        )
    fitted: FittedSet = uncertainty.fit_set(joint)
    return fitted


# --- A Rényi ball ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class RenyiSet(FittedSet):
    """A Rényi ball around the public distribution, with its radius.

    Parameters
    ----------
    alpha : float
        Order of the divergence.
    radius : float
        Radius B, in nats: infinite for all distributions, 0 for the public one alone.
    rule, beta, n_records, n_values, table
        As in :class:`FittedSet`.

    Raises
    ------
    ValueError
        If the order is not positive and finite, or the radius is not at least 0.

    Examples
    --------
    >>> RenyiSet(2.0, 0.0752).describe()
    'distributions within Rényi divergence B = 0.0752 (alpha = 2) of the public one'
    >>> RenyiSet(1.0, float("inf")).is_everything
    True
    """

    alpha: float
    radius: float
    rule: str | None = "given"
    beta: float | None = None
    n_records: int | None = None
    n_values: int | None = None
    table: TableFigures | None = field(default=None, repr=False, compare=False)

    kind: ClassVar[str] = "renyi"
    shares_budget = True  # the two conditionals share one budget
    limits_singles = False  # one conditional may use the whole budget
    covers_groups = True  # grouping cells does not increase a divergence

    def __post_init__(self) -> None:
        """Check the numbers, so that NaN is not mistaken for a small radius."""
        if not 0.0 < self.alpha < math.inf:
            raise ValueError(f"alpha={self.alpha!r} must be a positive finite number.")
        if not self.radius >= 0.0:
            raise ValueError(f"radius={self.radius!r} must be a number >= 0 (nats).")

    def single_budgets(self, marginal: Floats) -> Floats:
        """Return the radius: one conditional may use the budget of the whole."""
        return np.full(np.shape(marginal), self.radius)

    def pair_budgets(self, marginals: Floats) -> Floats:
        """Return the radius: any two conditionals share the budget of the whole."""
        return np.full(len(marginals), self.radius)

    @property
    def is_everything(self) -> bool:
        """Whether the radius is infinite."""
        return math.isinf(self.radius)

    @property
    def is_point(self) -> bool:
        """Whether the radius is 0."""
        return self.radius == 0.0

    @property
    def joint_radius(self) -> float:
        """The radius."""
        return self.radius

    def ball_beside(self) -> tuple[dict[str, Any], float]:
        """Return the parameters of the ball itself."""
        return {"alpha": self.alpha, "radius": self.radius}, 0.0

    def missed_share(self, joint: JointDistribution, weights: Floats, tables: int) -> float:
        """Share of tables whose ball misses the distribution with these weights."""
        truth = (weights / weights.sum()).ravel()
        drawn = np.random.default_rng(0).multinomial(joint.n, truth, size=tables) / joint.n
        if self.alpha == 1.0:
            far = xlogy(drawn, drawn / truth).sum(axis=1)
        else:
            total = (truth * (drawn / truth) ** self.alpha).sum(axis=1)
            with np.errstate(divide="ignore"):  # no cell drawn that counts, for orders below 1
                far = np.log(total) / (self.alpha - 1.0)
        return float((far > self.radius).mean())

    def contains(self, joint: JointDistribution, distribution: Floats) -> bool:
        """Whether the divergence of a distribution is at most the radius."""
        return self.is_everything or (
            divergence(joint.probabilities, distribution, self.alpha) <= self.radius
        )

    @property
    def figures(self) -> dict[str, float]:
        """Order and radius."""
        return {"alpha": float(self.alpha), "radius": float(self.radius)}

    @property
    def fitted_attributes(self) -> dict[str, float]:
        """The radius ``B_``."""
        return {"B_": self.radius}

    @property
    def public_alone(self) -> "RenyiSet":
        """The ball of the same order with radius 0."""
        return RenyiSet(self.alpha, 0.0, "given", None, self.n_records)

    def distribution_with(
        self, joint: JointDistribution, conditionals: Floats, secrets: Indices
    ) -> Floats:
        r"""Complete conditionals to a distribution of the ball; see :class:`FittedSet`.

        The marginal of S minimises the divergence: it is proportional to the public one times
        :math:`h_s(R) = (\sum_u \hat P_{u|s}^\alpha R_u^{1-\alpha})^{1/\alpha}`. A distribution that
        is still outside is mixed with the public distribution.

        Shapes: `conditionals` (a1, a2); returns (a1, a2).
        """
        alpha, public = self.alpha, joint.conditionals
        marginal = joint.marginal.copy()
        unseen = secrets[marginal[secrets] <= 0]
        marginal[unseen] = UNSEEN
        if 0.0 < self.radius < math.inf and alpha != 1.0:
            ratio = np.where(public > 0, public, 1.0)
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                terms = ratio**alpha * conditionals ** (1.0 - alpha)
                power = np.where(public > 0, terms, 0.0).sum(axis=1)
            scale = power ** (1.0 / alpha)
            marginal *= np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)
        marginal /= marginal.sum()
        return self._moved_inside(joint.probabilities, marginal[:, None] * conditionals)

    def _moved_inside(self, centre: Floats, distribution: Floats) -> Floats:
        """Mix with the centre until inside: the divergence is quasi-convex along the segment."""
        if self.is_everything or divergence(centre, distribution, self.alpha) <= self.radius:
            return distribution

        def inside(share: Floats) -> np.bool_:
            mixed = share[0] * distribution + (1.0 - share[0]) * centre
            return np.bool_(divergence(centre, mixed, self.alpha) <= self.radius)

        share = bisect(inside, np.zeros(1), np.ones(1))[0]
        return share * distribution + (1.0 - share) * centre


# --- Conditionals near the public ones ------------------------------------------------------------


@dataclass(frozen=True)
class ConditionalsSet(FittedSet):
    r"""The distributions whose conditionals are near the public ones, singly and in pairs.

    With the public marginal w of S and :math:`k_s = w_s D(\hat P_{U|s} \| R_s)`, the set contains
    all distributions with :math:`k_s \le b_1 + w_s\delta` for each secret and :math:`k_s + k_t \le
    b_2 + (w_s + w_t)\delta` for every pair of secrets. The marginal of S is unrestricted.

    Parameters
    ----------
    single, pair : float
        The budgets :math:`b_1` and :math:`b_2`, in nats of the joint distribution: bounds of log
        likelihood ratios, divided by the number of records. Infinite for all distributions, 0 for
        the public one alone.
    drift : float
        The allowance δ, in nats, for conditionals that have shifted since.
    rule, beta, n_records, n_values, table
        As in :class:`FittedSet`.

    Raises
    ------
    ValueError
        If a number is negative or NaN, the drift is infinite, or the pair budget is smaller than
        the single budget.

    Examples
    --------
    >>> around = ConditionalsSet(single=0.072, pair=0.098, n_records=200)
    >>> print(around.describe())  # doctest: +NORMALIZE_WHITESPACE
    distributions whose conditionals of U have log-likelihood ratios of at most 14.4 for each
    secret and 19.6 for every pair
    >>> around.shares_budget
    True
    >>> ConditionalsSet(0.05, 0.1).shares_budget
    False
    """

    single: float
    pair: float
    drift: float = 0.0
    rule: str | None = "given"
    beta: float | None = None
    n_records: int | None = None
    n_values: int | None = None
    table: TableFigures | None = field(default=None, repr=False, compare=False)
    alpha: float = field(default=1.0, init=False, repr=False)  # the order of likelihood ratios
    of_conditionals: ClassVar[bool] = True
    kind: ClassVar[str] = "likelihood-ratio"
    joint_radius = None  # the marginal of S may be anything

    def __post_init__(self) -> None:
        """Check the numbers, so that NaN is not mistaken for a small radius."""
        for name in ("single", "pair"):
            if not getattr(self, name) >= 0.0:
                raise ValueError(f"{name}={getattr(self, name)!r} must be a number >= 0 (nats).")
        if not 0.0 <= self.drift < math.inf:
            raise ValueError(f"drift={self.drift!r} must be a finite number >= 0 (nats).")
        if self.pair < self.single:
            raise ValueError(
                f"pair={self.pair!r} must be at least single={self.single!r}, because two "
                "conditionals use at least as much of the budget as one."
            )

    def secret_weights(self, joint: JointDistribution) -> Floats:
        """Return the secrets' shares of the records, on which likelihood ratios depend."""
        return joint.record_shares

    def single_budgets(self, marginal: Floats) -> Floats:
        """Return the single budget plus each secret's allowance for drift."""
        return self.single + self.drift * np.asarray(marginal)

    def pair_budgets(self, marginals: Floats) -> Floats:
        """Return the pair budget plus two secrets' allowance for drift."""
        return self.pair + self.drift * np.asarray(marginals).sum(axis=-1)

    @property
    def shares_budget(self) -> bool:
        """Whether the pair budget is less than twice the single one."""
        return self.pair < 2.0 * self.single

    @property
    def limits_singles(self) -> bool:
        """Whether the single budget is less than the pair budget, or drift is added to both."""
        return self.single < self.pair or self.drift > 0.0

    @property
    def is_everything(self) -> bool:
        """Whether the single budget is infinite."""
        return math.isinf(self.single)

    @property
    def is_point(self) -> bool:
        """Whether the budgets are 0."""
        return self.pair == 0.0 and self.drift == 0.0

    @property
    def public_alone(self) -> "ConditionalsSet":
        """The set with budgets of zero."""
        return ConditionalsSet(0.0, 0.0, 0.0, "given", None, self.n_records)

    @property
    def covers_groups(self) -> bool:
        """Whether the budgets are 0, because those of groups depend on the groups' records."""
        return self.is_point

    def ball_beside(self) -> tuple[dict[str, Any], float]:
        """Return the parameters of a Kullback-Leibler ball of this beta, or of the pair budget.

        The addition is the drift: if the divergence of each conditional increases by δ at the same
        marginal of S, that of the joint distribution increases by at most δ.
        """
        if self.beta is None:
            return {"alpha": 1.0, "radius": self.pair}, self.drift
        rule = "chi2" if self.rule in ("asymptotic", "survey") else "finite-sample"
        return {"alpha": 1.0, "radius": rule, "beta": self.beta}, self.drift

    def missed_share(self, joint: JointDistribution, weights: Floats, tables: int) -> float:
        """Share of tables whose set misses the conditionals with these weights."""
        rng = np.random.default_rng(0)
        records = joint.counts.sum(axis=1)
        divergences = np.zeros((tables, len(records) + 1))
        for s in np.flatnonzero(records):
            truth = weights[s] / weights[s].sum()
            drawn = rng.multinomial(records[s], truth, size=tables) / records[s]
            divergences[:, s] = joint.marginal[s] * xlogy(drawn, drawn / truth).sum(axis=1)
        divergences.sort(axis=1)
        largest, second = divergences[:, -1], divergences[:, -2]
        missed = (largest > self.single) | (largest + second > self.pair)
        return float(missed.mean())

    def contains(self, joint: JointDistribution, distribution: Floats) -> bool:
        """Whether each conditional, and every pair of them, is near the public ones.

        Conditionals of secrets with probability zero are ignored.
        """
        weights = self.secret_weights(joint)
        divergences = np.zeros(len(weights))
        has_secret = distribution.sum(axis=1) > 0
        for s in np.flatnonzero(has_secret & (weights > 0)):
            conditional = distribution[s] / distribution[s].sum()
            divergences[s] = weights[s] * divergence(joint.conditionals[s], conditional, 1.0)
        if np.any(divergences > self.single_budgets(weights)):
            return False
        first, second = np.triu_indices(len(divergences), 1)
        pairs = np.stack([first, second], axis=1)
        return bool(np.all(divergences[pairs].sum(axis=1) <= self.pair_budgets(weights[pairs])))

    def distribution_with(
        self, joint: JointDistribution, conditionals: Floats, secrets: Indices
    ) -> Floats:
        """Complete two conditionals with the public ones; see :class:`FittedSet`.

        Shapes: `conditionals` (a1, a2); returns (a1, a2).
        """
        marginal, completed = self.secret_weights(joint).copy(), joint.conditionals.copy()
        completed[secrets] = conditionals[secrets]
        seen = np.unique(secrets[marginal[secrets] > 0])
        if len(seen) and not self.is_everything:
            weight, public = marginal[seen][None], joint.conditionals[seen][None]
            single_budgets = self.single_budgets(weight)
            radius = self.pair_budgets(weight) if len(seen) == 2 else single_budgets[:, 0]
            completed[seen] = pull_in(
                completed[seen][None], public, weight, 1.0, radius, single_budgets
            )[0]
        marginal[secrets[marginal[secrets] <= 0]] = UNSEEN
        return (marginal / marginal.sum())[:, None] * completed

    @property
    def figures(self) -> dict[str, float]:
        """Budgets and drift; the pair budget is at most twice the single one."""
        single = float(self.single)
        pair = min(float(self.pair), 2.0 * single)
        return {"single": single, "pair": pair, "drift": float(self.drift)}

    @property
    def fitted_attributes(self) -> dict[str, float]:
        """The bounds ``single_`` and ``pair_`` of log likelihood ratios."""
        single, pair = self._likelihood_ratios
        return {"single_": single, "pair_": pair}

    @property
    def _likelihood_ratios(self) -> tuple[float, float]:
        """The budgets as bounds of log likelihood ratios, if the number of records is known."""
        n = 1 if self.n_records is None else self.n_records
        return self.single * n, self.pair * n


# --- How often an asymptotic set misses if cells are rare -----------------------------------------


# An asymptotic set needs no simulation if each cell has this many records.
_MANY = 10
# Candidate expected counts of cells with at most one record, as far as the table is compatible with
# them, and the error probability of an interval for them on either side.
_EXPECTED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_MOST_EXPECTED = 3.0
_LEVEL = 0.1
# Maximum and minimum number of simulated tables; in between, their total number of cells.
_TABLES, _FEWEST, _DRAWN = 2_000, 250, 400_000


def estimated_miss(around: FittedSet, joint: JointDistribution) -> float:
    """Estimate how often a set made by the same rule misses the true distribution.

    Tables are drawn from the public counts, after all cells with at most one record have been given
    the same expected count: the worst of the plausible ones. The seed is fixed.

    Returns float: a probability, with a standard error of 0.007 at 0.1 (0.02 for thousands of
    cells). It is `around.beta` if no estimate is needed, because each cell has ten records or more
    or the set is not asymptotic, and 0 if there is no beta.

    Examples
    --------
    >>> from skrldp import LikelihoodRatioSet, RenyiBall
    >>> joint = JointDistribution([[9_990, 1, 0, 0, 0], [0, 0, 0, 0, 0]])
    >>> round(estimated_miss(RenyiBall().fit_set(joint), joint), 1)
    0.4
    >>> estimated_miss(LikelihoodRatioSet().fit_set(joint), joint)
    0.05
    """
    stated_beta = 0.0 if around.beta is None else around.beta
    counts = joint.counts
    if around.rule not in ("chi2", "asymptotic") or counts.min() >= _MANY:
        return stated_beta
    tables = int(np.clip(_DRAWN // counts.size, _FEWEST, _TABLES))
    low = counts <= 1
    worst = 0.0
    for expected in _plausible(int((counts == 0).sum()), int((counts == 1).sum())):
        weights = np.where(low, expected, counts)
        worst = max(worst, around.missed_share(joint, weights, tables))
    return worst


def _plausible(n_empty: int, n_single: int) -> list[float]:
    """Return expected counts compatible with the numbers of cells with no record and one."""
    if n_empty + n_single == 0:
        return [1.0]  # not used
    # Of cells with at most one record, the share with one is e / (1 + e).
    low = betaincinv(n_single, n_empty + 1, _LEVEL) if n_single else 0.0
    high = betainccinv(n_single + 1, n_empty, _LEVEL) if n_empty else 1.0
    minimum = min(low / (1.0 - low), 1.0)
    maximum = min(high / max(1.0 - high, 1e-9), _MOST_EXPECTED)
    inside = [expected for expected in _EXPECTED if minimum < expected < maximum]
    return [*([minimum] if minimum > 0.0 else []), *inside, maximum]
