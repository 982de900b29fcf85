"""The uncertainty set around a public table, as a value: what designs and proofs take."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from skrldp._typing import Floats, Indices
from skrldp.joint import JointDistribution
from skrldp.support import bisect, divergence

__all__ = ["FittedSet", "RenyiSet"]

# Share of records that stands for the limit 0, in which a secret without records may have any
# conditional at no cost. It moves a divergence by about as much; twice as much would by twice.
_UNSEEN = 1e-9


class FittedSet(ABC):
    """A set of distributions of (S, U) around a public one.

    Privacy compares two conditionals of U at a time, so designs and proofs ask for the Rényi ball
    that any two of them share, and for the one that each keeps by itself. The set of all
    distributions has infinite radii, the public distribution alone has radii of zero.

    Attributes
    ----------
    alpha : float
        Order of the divergence.
    rule : {"chi2", "finite-sample", "given"} or None
        Where the radii come from; None for all distributions.
    beta : float or None
        Probability with which a set made by this rule misses the true distribution; None for given
        radii and for all distributions.
    n_records : int or None
        Number of public records; None if it is not told.
    """

    alpha: float
    rule: str | None
    beta: float | None
    n_records: int | None

    @property
    @abstractmethod
    def joint_radius(self) -> float:
        """Radius of the ball of distributions of (S, U), in nats: for robust utility."""

    @property
    @abstractmethod
    def pair_radius(self) -> float:
        """Radius of the ball whose budget any two conditionals share, in nats."""

    @property
    @abstractmethod
    def single_radius(self) -> float:
        """Radius of the ball whose budget each conditional keeps by itself, in nats."""

    @property
    @abstractmethod
    def public_alone(self) -> "FittedSet":
        """The public distribution alone, as a set of the same kind."""

    @abstractmethod
    def distribution_with(
        self, joint: JointDistribution, conditionals: Floats, secrets: Indices
    ) -> Floats:
        """Complete conditionals to a distribution of the set, moved inside if need be.

        Parameters
        ----------
        joint : JointDistribution
            The public distribution.
        conditionals : array of shape (a1, a2)
            Conditionals of U given each secret.
        secrets : integer array
            The secrets whose conditionals matter; if the public table lacks them, they are given a
            little mass.

        Returns
        -------
        array of shape (a1, a2)
        """

    @property
    def is_everything(self) -> bool:
        """Whether no distribution is outside."""
        return math.isinf(self.pair_radius) and math.isinf(self.single_radius)

    @property
    def is_point(self) -> bool:
        """Whether the public distribution is the only one inside."""
        return self.joint_radius == 0.0

    @property
    def joint_is_convex(self) -> bool:
        """Whether what the set allows for two conditionals together is convex.

        Below order 1/2 it is not: a bound from duality would be loose, so regions and proofs then
        take each conditional by itself.
        """
        return self.alpha >= 0.5

    def describe(self) -> str:
        """Say in words which distributions are inside.

        Returns
        -------
        str
        """
        if self.is_everything:
            return "all distributions"
        if self.is_point:
            return "the public distribution alone"
        return (
            f"the distributions within Rényi divergence B = {self.joint_radius:.4g} "
            f"(alpha = {self.alpha:g}) of the public one"
        )


@dataclass(frozen=True)
class RenyiSet(FittedSet):
    """A Rényi ball around the public distribution, with its radius.

    Parameters
    ----------
    alpha : float
        Order of the divergence.
    radius : float
        Radius B, in nats: infinite for all distributions, 0 for the public one alone.
    rule, beta, n_records
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

    def __post_init__(self) -> None:
        """Check the numbers, so that no NaN passes for a small set."""
        if not 0.0 < self.alpha < math.inf:
            raise ValueError(f"alpha={self.alpha!r} must be a positive finite number.")
        if not self.radius >= 0.0:
            raise ValueError(f"radius={self.radius!r} must be a number >= 0 (nats).")

    @property
    def joint_radius(self) -> float:
        """The radius: this set is a ball of distributions of (S, U)."""
        return self.radius

    @property
    def pair_radius(self) -> float:
        """The radius: any two conditionals share the budget of the whole."""
        return self.radius

    @property
    def single_radius(self) -> float:
        """The radius: one conditional may use the budget of the whole."""
        return self.radius

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

        Parameters
        ----------
        joint : JointDistribution
            The public distribution.
        conditionals : array of shape (a1, a2)
            Conditionals of U given each secret.
        secrets : integer array
            The secrets whose conditionals matter.

        Returns
        -------
        array of shape (a1, a2)
        """
        alpha, public = self.alpha, joint.conditionals
        marginal = joint.marginal.copy()
        unseen = secrets[marginal[secrets] <= 0]
        marginal[unseen] = _UNSEEN
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
