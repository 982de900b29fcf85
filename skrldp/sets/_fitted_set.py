"""The uncertainty set around a public table, as a value: what designs and proofs take."""

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skrldp._typing import Floats, Indices
from skrldp.joint import JointDistribution

__all__ = [
    "REGIONS",
    "UNSEEN",
    "DivergenceLimit",
    "FittedSet",
    "TableFigures",
    "figures_of_table",
    "fitted_set",
]

REGIONS = ("joint", "product", "box", "lower")  # how closely a design follows a set

# Share of records that stands for the limit 0, in which a secret without records may have any
# conditional at no cost. It moves a divergence by about as much; twice as much would by twice.
UNSEEN = 1e-9


TableFigures = tuple[Any, ...]


def figures_of_table(joint: JointDistribution) -> TableFigures:
    """Return what the radii of sets depend on, whatever the order of secrets and values.

    That is the number of records of each secret and the number of values; of a survey, its weights
    and covariance, too.
    """
    records = sorted(joint.counts.sum(axis=1).tolist())
    survey = joint.survey
    weights: TableFigures = ()
    if survey is not None:
        sums = sorted(survey.totals.tolist()), sorted(survey.squares.tolist())
        weights = (*map(tuple, sums), survey.degrees, _digest(survey.covariance))
    return joint.counts.shape[1], tuple(records), weights


def _digest(covariance: Floats | None) -> str:
    """Condense the entries of a covariance, whatever the order of the cells."""
    if covariance is None:
        return ""
    entries = np.sort(covariance, axis=None) + 0.0  # no -0
    return hashlib.sha256(entries.tobytes()).hexdigest()


@dataclass(frozen=True, eq=False)
class DivergenceLimit:
    """A bound on the divergence of the distribution among some cells from the public one."""

    cells: Indices  # (k,), the cells, as places in a flattened table
    centre: Floats  # (k,), their public distribution, of unit sum
    alpha: float  # order of the divergence; 1 unless the cells are all cells
    radius: float  # the bound, in nats


class FittedSet(ABC):
    r"""A set of distributions of (S, U) around a public one.

    Privacy compares two conditionals of U at a time, so designs and proofs ask what any two of them
    may be. Whatever the set, that is a ball: with the marginal w of S, a conditional R of a secret
    takes a part of a budget, at order 1 the part :math:`w_s D(\hat P_{U|s} \| R)`; what two
    conditionals take together is at most the *pair budget*, and what each takes at most its *single
    budget*. The set of all distributions has infinite budgets, the public distribution alone has
    budgets of zero.

    Attributes
    ----------
    alpha : float
        Order of the divergence.
    rule : str or None
        Where the budgets come from: ``"chi2"``, ``"asymptotic"``, ``"finite-sample"``,
        ``"survey"`` or ``"given"``; None for all distributions.
    beta : float or None
        Probability with which a set made by this rule misses the true distribution; None for given
        radii and for all distributions.
    n_records : int or None
        Number of public records; None if it is not told.
    n_values : int or None
        The number of values of U that there may be, where the population may have more than are
        listed; budgets that come from a beta are for so many. None otherwise.
    table : tuple or None
        What the budgets depend on of the table that they are for, see :func:`figures_of_table`;
        None if that is not known.
    of_conditionals : bool
        Whether it limits the conditionals of U alone, not the probabilities of the secrets.
    kind : str
        The name of its kind in the guarantees of mechanisms.
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
        """Tell what the conditional of each secret may take by itself.

        Returns array of the same shape: in nats of the joint distribution.
        """

    @abstractmethod
    def pair_budgets(self, marginals: Floats) -> Floats:
        """Tell what the conditionals of two secrets may take together.

        Shapes: `marginals` (m, 2). Returns (m,): in nats of the joint distribution.
        """

    @property
    @abstractmethod
    def shares_budget(self) -> bool:
        """Whether two conditionals may take less together than each by itself."""

    @property
    @abstractmethod
    def limits_singles(self) -> bool:
        """Whether one conditional may take less than two together."""

    @property
    @abstractmethod
    def is_everything(self) -> bool:
        """Whether no distribution is outside."""

    @property
    @abstractmethod
    def is_point(self) -> bool:
        """Whether the public conditionals are the only ones inside."""

    @property
    @abstractmethod
    def public_alone(self) -> "FittedSet":
        """The public distribution alone, as a set of the same kind."""

    @abstractmethod
    def contains(self, joint: JointDistribution, distribution: Floats) -> bool:
        """Whether a distribution is inside.

        Shapes: `distribution` (a1, a2).
        """

    @abstractmethod
    def distribution_with(
        self, joint: JointDistribution, conditionals: Floats, secrets: Indices
    ) -> Floats:
        """Complete conditionals to a distribution of the set, moved inside if need be.

        Shapes: `conditionals` (a1, a2); returns (a1, a2).
        """

    @property
    @abstractmethod
    def covers_groups(self) -> bool:
        """Whether what it allows of groups of cells, whatever these are, is inside its like."""

    @property
    @abstractmethod
    def joint_radius(self) -> float | None:
        """Radius of the ball of joint distributions that it is, in nats; None if it is none."""

    @abstractmethod
    def ball_beside(self) -> tuple[dict[str, Any], float]:
        """Parameters of a RenyiBall that corresponds to it, and what to add to its radius."""

    @abstractmethod
    def limits(self, joint: JointDistribution) -> list[DivergenceLimit]:
        """Write what it says of single conditionals, or of all cells, as bounds on divergences."""

    @abstractmethod
    def missed_share(self, joint: JointDistribution, weights: Floats, tables: int) -> float:
        """Draw tables from other weights of the cells; share of those whose set misses these.

        Shapes: `weights` (a1, a2). Drift does not count.
        """

    @property
    def joint_is_convex(self) -> bool:
        """Whether what the set allows for two conditionals together is convex.

        Below order 1/2 it is not: a bound from duality would be loose, so regions and proofs then
        take each conditional by itself.
        """
        return self.alpha >= 0.5

    @abstractmethod
    def describe(self) -> str:
        """Say in words which distributions are inside."""

    @abstractmethod
    def brief(self) -> str:
        """State the figures of the set in a few characters, for a `repr`."""

    @property
    @abstractmethod
    def figures(self) -> dict[str, float]:
        """The figures by which a guarantee states the set."""

    @property
    @abstractmethod
    def fitted_attributes(self) -> dict[str, float]:
        """What a sanitizer writes on its copy of the parameter object: attributes by name."""


def fitted_set(joint: JointDistribution, uncertainty: Any, name: str = "uncertainty") -> FittedSet:
    """Make a set around a public distribution; one that has been made is left as it is.

    Raises ValueError if it is no set, or was made for a table on which other budgets depend: its
    beta would be false for this one.
    """
    if isinstance(uncertainty, FittedSet):
        n_records, table = uncertainty.n_records, uncertainty.table
        same = n_records in (None, joint.n) and table in (None, figures_of_table(joint))
        if uncertainty.beta is not None and not same:
            raise ValueError(
                f"{name} was made around another table than this one of {joint.n:,} records, with "
                "other numbers of records by secret, other numbers of values, or another survey "
                "design, so that its beta would not hold: give the set without a table, such as "
                "LikelihoodRatioSet(), which is then made around this one."
            )
        return uncertainty
    if isinstance(uncertainty, type):
        made = uncertainty.__name__
        raise ValueError(f"{name} must be an instance, got the class {made}: write {made}().")
    if not hasattr(uncertainty, "fit_set"):
        raise ValueError(
            f"{name} must be an uncertainty set such as LikelihoodRatioSet(), or a sanitizer's "
            f"`uncertainty_`, got {type(uncertainty).__name__}."
        )
    fitted: FittedSet = uncertainty.fit_set(joint)
    return fitted
