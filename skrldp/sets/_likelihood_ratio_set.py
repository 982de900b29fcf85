"""The uncertainty set that covers what privacy looks at: the conditionals, two at a time."""

import math
from typing import Any, Literal, cast

from sklearn.base import BaseEstimator

from skrldp._params import check_beta, check_choice, is_finite
from skrldp.alphabet import spent_on_values
from skrldp.joint import JointDistribution
from skrldp.sets._conditionals_set import ConditionalsSet
from skrldp.sets._fitted_set import REGIONS, figures_of_table
from skrldp.sets._likelihood_ratio_budgets import (
    MOST_VALUES,
    budgets_up_to,
    likelihood_ratio_budgets,
)
from skrldp.sets._radii import asymptotic_values, given_radius, more_values
from skrldp.sets._survey_budgets import NOT_INDEPENDENT, survey_budgets

__all__ = ["LikelihoodRatioSet"]

Rule = Literal["finite-sample", "asymptotic"]
_RULES = ("finite-sample", "asymptotic")


class LikelihoodRatioSet(BaseEstimator):
    r"""Confidence set of the conditionals of U, from likelihood-ratio tests of one and of two.

    With :math:`N_s` public records of the secret s, the log likelihood ratio of the public
    conditional against another one, R, is :math:`G_s(R) = N_s D(\hat P_{U|s} \| R)`. The set has
    all distributions with :math:`G_s \le c_1` for each secret, and :math:`G_s + G_t \le c_2` for
    each two. The marginal of S may be anything: the privacy of a mechanism does not depend on it.
    So the set covers less than a ball of joint distributions does, and is much smaller where there
    are many secrets.

    Parameters
    ----------
    beta : float, default=0.05
        The set misses the true conditionals with at most this probability, if the values of
        U, and bins and groups of them, do not come from the counted records, or come from them in
        the way that ``joint.alphabet == "frequent"`` states.
    radius : {"finite-sample", "asymptotic"} or float, default="finite-sample"
        ``"finite-sample"`` holds for every number of records and every distribution, with
        constants that are proven (docs/proofs.md). ``"asymptotic"`` is what they tend to with many
        records of each cell, some 1.2 to 1.6 times smaller; a fit warns where rare cells make it
        miss more often than ``beta`` says.
        Of a survey it is corrected for the design. A number is the radius of the ball that any two
        conditionals share, in nats of the joint distribution: :math:`w_s D_s + w_t D_t` is at most
        the radius, with the public probabilities w of the secrets (of a survey
        their shares of the records). ``beta`` is then not used.
    drift : float, default=0.0
        For a population that may have changed since the public records were taken: by how many
        nats the divergence of the public conditional from the present one may exceed what the
        set allows otherwise, for each secret. It is enough if no probability of a value given a
        secret has fallen by more than a factor of :math:`e^\delta`. The set then has
        :math:`G_s \le c_1 + N_s\delta` and :math:`G_s + G_t \le c_2 + (N_s + N_t)\delta`.
        Where columns are known, the same is assumed of each secret within each of their values.
        For both it is enough if no probability of a value given a secret has changed by more than
        a factor of :math:`e^{\delta/2}`, up or down.
    region : {"joint", "product", "box", "lower"}, default="joint"
        How closely the constraints of a design follow the set: "joint" is exact; each of the others
        is more conservative than the one before and easier to solve. A proof is about the set
        itself, whatever the region. :class:`~skrldp.PolyOptSanitizer`,
        :class:`~skrldp.AOptimalSanitizer` and :class:`~skrldp.RobustMSESanitizer` use it.

    Attributes
    ----------
    single_, pair_ : float
        The bounds :math:`c_1` and :math:`c_2` of the log likelihood ratios, in nats: for a given
        radius the radius times the number of public records; infinite if all distributions are
        inside. Set on the copy that a fitted sanitizer keeps.

    Examples
    --------
    >>> from skrldp import JointDistribution
    >>> around = LikelihoodRatioSet(radius=0.01).fit_set(JointDistribution([[7, 10], [26, 57]]))
    >>> around.single, around.pair
    (0.01, 0.01)
    """

    def __init__(
        self,
        beta: float = 0.05,
        *,
        radius: str | float = "finite-sample",
        drift: float = 0.0,
        region: str = "joint",
    ) -> None:
        self.beta = beta
        self.radius = radius
        self.drift = drift
        self.region = region

    def fit_set(self, joint: JointDistribution) -> ConditionalsSet:
        """Make the set around a public distribution.

        Parameters
        ----------
        joint : JointDistribution
            The public distribution.

        Returns
        -------
        ConditionalsSet
            The set with its budgets, and where those come from.

        Raises
        ------
        ValueError
            If a parameter is out of its range.
        """
        check_choice("region", self.region, REGIONS)
        drift = _at_least_zero(self.drift)
        if isinstance(self.radius, str) and self.radius in _RULES:
            rule = cast("Rule", self.radius)
            n, beta, table = joint.n, check_beta("beta", self.beta), figures_of_table(joint)
            if joint.survey is not None:
                if rule == "finite-sample":
                    raise ValueError(NOT_INDEPENDENT)
                single, pair = survey_budgets(joint, beta)
                budgets = single / n, pair / n
                return ConditionalsSet(
                    *budgets, drift, "survey", beta, n, more_values(joint), table
                )
            single, pair, n_values = _budgets(joint, beta, rule)
            if math.isinf(single):
                return ConditionalsSet(single, pair, drift, None, None, n, n_values)
            return ConditionalsSet(single / n, pair / n, drift, rule, beta, n, n_values, table)
        radius = given_radius(self.radius, "'finite-sample', 'asymptotic'")
        return ConditionalsSet(radius, radius, drift, "given", None, joint.n, more_values(joint))


def _budgets(joint: JointDistribution, beta: float, rule: Rule) -> tuple[float, float, int | None]:
    """Return the budgets, and for how many values they are if these are more than are listed."""
    records, listed = joint.counts.sum(axis=1), joint.counts.shape[1]
    most = joint.most_values
    if rule == "asymptotic":
        most = asymptotic_values(joint)
        return *likelihood_ratio_budgets(records, most, beta, rule), most if most > listed else None
    if most == listed and joint.alphabet != "frequent":
        return *likelihood_ratio_budgets(records, listed, beta, rule), None
    if most > MOST_VALUES:
        return math.inf, math.inf, most
    if joint.alphabet == "frequent":
        beta -= spent_on_values(beta)
        return *budgets_up_to(records, most, beta), most
    return *likelihood_ratio_budgets(records, most, beta, rule), most


def _at_least_zero(drift: Any) -> float:
    if not (is_finite(drift) and drift >= 0):
        raise ValueError(f"drift={drift!r} must be a finite number >= 0 (nats).")
    return float(drift)
