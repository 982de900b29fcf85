"""A Rényi ball around the public distribution, as a value."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from skrldp._sentences import inside
from skrldp._typing import Floats, Indices
from skrldp.joint import JointDistribution
from skrldp.sets._fitted_set import UNSEEN, DivergenceLimit, FittedSet, TableFigures
from skrldp.support_function import bisect, divergence

__all__ = ["RenyiSet"]


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
    'the distributions within Rényi divergence B = 0.0752 (alpha = 2) of the public one'
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
    shares_budget = True  # what one conditional takes, the other cannot
    limits_singles = False  # one conditional may take all
    covers_groups = True  # a divergence of groups is at most that of their cells

    def __post_init__(self) -> None:
        """Check the numbers, so that no NaN passes for a small set."""
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

    def limits(self, joint: JointDistribution) -> list[DivergenceLimit]:
        """Limit the divergence of all cells together."""
        if self.is_everything:
            return []
        centre = joint.probabilities.ravel()
        return [DivergenceLimit(np.arange(len(centre)), centre, self.alpha, self.radius)]

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

    def describe(self) -> str:
        """Say in words which distributions are inside."""
        return inside(
            self,
            f"the distributions within Rényi divergence B = {self.radius:.4g} "
            f"(alpha = {self.alpha:g}) of the public one",
        )

    def brief(self) -> str:
        """State order and radius."""
        return (
            "all distributions"
            if self.is_everything
            else f"alpha={self.alpha:g}, B={self.radius:.4g}"
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

        The marginal of S is the one at which the divergence is least: proportional to the public
        one times :math:`h_s(R) = (\sum_u \hat P_{u|s}^\alpha R_u^{1-\alpha})^{1/\alpha}`. What is
        still outside is mixed with the public distribution.

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
        """Mix with the centre until inside: the divergence is quasi-convex along the way."""
        if self.is_everything or divergence(centre, distribution, self.alpha) <= self.radius:
            return distribution

        def inside(share: Floats) -> np.bool_:
            mixed = share[0] * distribution + (1.0 - share[0]) * centre
            return np.bool_(divergence(centre, mixed, self.alpha) <= self.radius)

        share = bisect(inside, np.zeros(1), np.ones(1))[0]
        return share * distribution + (1.0 - share) * centre
