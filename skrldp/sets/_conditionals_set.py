"""The set of distributions whose conditionals are near the public ones, as a value."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from skrldp._sentences import inside
from skrldp._typing import Floats, Indices
from skrldp.joint import JointDistribution
from skrldp.sets._fitted_set import UNSEEN, DivergenceLimit, FittedSet, TableFigures
from skrldp.support_function import divergence, pull_in

__all__ = ["ConditionalsSet"]


@dataclass(frozen=True)
class ConditionalsSet(FittedSet):
    r"""The distributions whose conditionals are near the public ones, one by one and two by two.

    With the public marginal w of S and :math:`k_s = w_s D(\hat P_{U|s} \| R_s)`, the set has all
    distributions with :math:`k_s \le b_1 + w_s\delta` for each secret and
    :math:`k_s + k_t \le b_2 + (w_s + w_t)\delta` for each two. Their marginal of S is anything.

    Parameters
    ----------
    single, pair : float
        The budgets :math:`b_1` and :math:`b_2`, in nats of the joint distribution: bounds of log
        likelihood ratios, divided by the number of records. Infinite for all distributions, 0 for
        the public one alone.
    drift : float
        By how much the present conditionals may be further off, δ, in nats.
    rule, beta, n_records, n_values, table
        As in :class:`FittedSet`.

    Raises
    ------
    ValueError
        If a number is not at least 0, or two conditionals may take less together than one.

    Examples
    --------
    >>> around = ConditionalsSet(single=0.072, pair=0.098, n_records=200)
    >>> print(around.describe())  # doctest: +NORMALIZE_WHITESPACE
    the distributions whose conditionals of U have log likelihood ratios of at most 14.4 for each
    secret and 19.6 for each two
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
        """Check the numbers, so that no NaN passes for a small set."""
        for name in ("single", "pair"):
            if not getattr(self, name) >= 0.0:
                raise ValueError(f"{name}={getattr(self, name)!r} must be a number >= 0 (nats).")
        if not 0.0 <= self.drift < math.inf:
            raise ValueError(f"drift={self.drift!r} must be a finite number >= 0 (nats).")
        if self.pair < self.single:
            raise ValueError(
                f"pair={self.pair!r} must be at least single={self.single!r}: two conditionals "
                "take at least as much as one."
            )

    def secret_weights(self, joint: JointDistribution) -> Floats:
        """Return the secrets' shares of the records, on which likelihood ratios depend."""
        return joint.record_shares

    def single_budgets(self, marginal: Floats) -> Floats:
        """Return the single budget, with what the drift adds for each secret."""
        return self.single + self.drift * np.asarray(marginal)

    def pair_budgets(self, marginals: Floats) -> Floats:
        """Return the pair budget, with what the drift adds for two secrets."""
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
        """Whether the budgets are 0: those of groups depend on the groups' records."""
        return self.is_point

    def ball_beside(self) -> tuple[dict[str, Any], float]:
        """Return the parameters of a Kullback-Leibler ball of this beta, or of the pair budget.

        What is added is the drift: if the divergence of each conditional is δ more, and the
        marginal of S the same, that of the joint distribution is at most δ more.
        """
        if self.beta is None:
            return {"alpha": 1.0, "radius": self.pair}, self.drift
        rule = "chi2" if self.rule in ("asymptotic", "survey") else "finite-sample"
        return {"alpha": 1.0, "radius": rule, "beta": self.beta}, self.drift

    def limits(self, joint: JointDistribution) -> list[DivergenceLimit]:
        """Limit the divergence of each conditional by itself; pairs of them say more."""
        weights, n_values = self.secret_weights(joint), joint.conditionals.shape[1]
        budgets = self.single_budgets(weights)
        return [
            DivergenceLimit(
                s * n_values + np.arange(n_values),
                joint.conditionals[s],
                1.0,
                float(budgets[s] / weights[s]),
            )
            for s in np.flatnonzero(np.isfinite(budgets) & (weights > 0))
        ]

    def missed_share(self, joint: JointDistribution, weights: Floats, tables: int) -> float:
        """Share of tables whose set misses the conditionals with these weights."""
        rng = np.random.default_rng(0)
        records = joint.counts.sum(axis=1)
        taken = np.zeros((tables, len(records) + 1))
        for s in np.flatnonzero(records):
            truth = weights[s] / weights[s].sum()
            drawn = rng.multinomial(records[s], truth, size=tables) / records[s]
            taken[:, s] = joint.marginal[s] * xlogy(drawn, drawn / truth).sum(axis=1)
        taken.sort(axis=1)
        missed = (taken[:, -1] > self.single) | (taken[:, -1] + taken[:, -2] > self.pair)
        return float(missed.mean())

    def contains(self, joint: JointDistribution, distribution: Floats) -> bool:
        """Whether each conditional, and each two of them, are near the public ones.

        What a distribution says about a secret of probability zero counts for nothing.
        """
        weights = self.secret_weights(joint)
        taken = np.zeros(len(weights))
        held = distribution.sum(axis=1) > 0
        for s in np.flatnonzero(held & (weights > 0)):
            conditional = distribution[s] / distribution[s].sum()
            taken[s] = weights[s] * divergence(joint.conditionals[s], conditional, 1.0)
        if np.any(taken > self.single_budgets(weights)):
            return False
        first, second = np.triu_indices(len(taken), 1)
        pairs = np.stack([first, second], axis=1)
        return bool(np.all(taken[pairs].sum(axis=1) <= self.pair_budgets(weights[pairs])))

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
            own = self.single_budgets(weight)
            radius = self.pair_budgets(weight) if len(seen) == 2 else own[:, 0]
            completed[seen] = pull_in(completed[seen][None], public, weight, 1.0, radius, own)[0]
        marginal[secrets[marginal[secrets] <= 0]] = UNSEEN
        return (marginal / marginal.sum())[:, None] * completed

    def describe(self) -> str:
        """Say in words which distributions are inside."""
        what = "have log likelihood ratios of at most"
        if self.n_records is None:
            what = "have divergences times P(s) of at most"
        words = f"the distributions whose conditionals of U {what} {self._budgets_in_words()}"
        if self.drift:
            words += f", where each divergence may be {self.drift:.4g} nats more (drift)"
        return inside(self, words)

    def _budgets_in_words(self) -> str:
        single, pair = (f"{budget:.4g}" for budget in self._likelihood_ratios)
        if self.single < self.pair:
            return f"{single} for each secret" + (f" and {pair} for each two" * self.shares_budget)
        # What one conditional may take follows from the pairs, but not what drift adds to it.
        return f"{pair} for each {'secret and each ' if self.drift else ''}two secrets together"

    def brief(self) -> str:
        """State the budgets, and the drift if there is one."""
        if self.is_everything:
            return "all distributions"
        single, pair = self._likelihood_ratios
        what = "P(s) D" if self.n_records is None else "log likelihood ratios"
        words = f"{what}<={single:.4g}, of two<={pair:.4g}"
        return words + (f", drift={self.drift:.4g}" if self.drift else "")

    @property
    def figures(self) -> dict[str, float]:
        """Budgets and drift; two conditionals never take more than twice what one may."""
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
