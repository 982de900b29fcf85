"""The uncertainty sets that users choose, as scikit-learn parameter objects."""

import math
from typing import Any, Literal, cast

from sklearn.base import BaseEstimator

from skrldp._params import (
    check_beta,
    check_choice,
    check_flag,
    check_positive,
    is_finite,
    shown,
)
from skrldp.alphabet.values import spent_on_values
from skrldp.joint import JointDistribution
from skrldp.sets.bounds_from_reports import BoxSet, conditional_bounds
from skrldp.sets.fitted_sets import REGIONS, ConditionalsSet, RenyiSet, figures_of_table
from skrldp.sets.radii import (
    MOST_VALUES,
    asymptotic_values,
    budgets_up_to,
    chi2_radius,
    finite_sample_radius,
    given_radius,
    likelihood_ratio_budgets,
    more_values,
)
from skrldp.sets.survey_effects import NOT_INDEPENDENT, survey_budgets, survey_radius


class RenyiBall(BaseEstimator):
    r"""Confidence set of distributions around the public one, a ball in Rényi divergence.

    :math:`F = \{P : D_\alpha(\hat P \| P) \le B\}` (Entropy (8)).

    Parameters
    ----------
    alpha : float, default=2.0
        Order of the divergence: 2 is the chi-squared test of both papers, 1 the
        Kullback-Leibler divergence. Below 1/2 the exact joint region is not convex, so only the
        regions ``"product"``, ``"box"`` and ``"lower"`` are available. From 1/2 to 0.55 there is no
        central path, so PolyOpt and AOptimal design for ``"product"`` in place of the joint region,
        while RobustMSE adds cuts for the joint region itself.
    beta : float, default=0.05
        The set misses the true distribution with (about) this probability, if the values of
        U, and bins and groups of them, do not come from the counted records, or come from them in
        the way that ``joint.alphabet == "frequent"`` states.
    radius : {"chi2", "finite-sample"} or float, default="chi2"
        ``"chi2"`` is the asymptotic radius of the papers; it needs many records in every cell,
        and `fit` warns if rare cells make it miss more often than ``beta``. ``"finite-sample"``
        (alpha = 1 only) is valid for every number of records, at about twice the radius. A number
        is the radius B itself, in nats, and ``beta`` is not used.
    region : {"joint", "product", "box", "lower"}, default="joint"
        How closely the constraints of a design follow the set: "joint" is exact; each of the others
        is more conservative than the one before and easier to solve. "lower" is the Entropy
        paper's. Proofs are about the set itself, whatever the region.
        :class:`~skrldp.PolyOptSanitizer`, :class:`~skrldp.AOptimalSanitizer` and
        :class:`~skrldp.RobustMSESanitizer` use it.
    same_secret : bool, default=False
        Also compare a secret with itself under two distributions of the ball in these designs, as
        Entropy Definition 3 does. It is not part of the promise and only costs utility.

    Attributes
    ----------
    B_ : float
        Radius, in nats. Set on the copy that a fitted sanitizer keeps.

    Examples
    --------
    >>> round(RenyiBall().radius_for(n=100, n_cells=4), 4)    # Entropy Example 1
    0.0752
    """

    def __init__(
        self,
        alpha: float = 2.0,
        *,
        beta: float = 0.05,
        radius: str | float = "chi2",
        region: str = "joint",
        same_secret: bool = False,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.radius = radius
        self.region = region
        self.same_secret = same_secret

    def radius_for(self, n: int, n_cells: int) -> float:
        """Radius B of the ball for a table of n records over n_cells cells.

        Parameters
        ----------
        n : int
            Number of public records.
        n_cells : int
            Number of cells a.

        Returns
        -------
        float
            In nats; infinite if the ball contains every distribution.

        Raises
        ------
        ValueError
            If a parameter is out of range.
        """
        alpha = _positive(self.alpha, "alpha")
        if isinstance(self.radius, str):
            beta = check_beta("beta", self.beta)
            if self.radius == "chi2":
                return chi2_radius(alpha, beta, n, n_cells)
            if self.radius == "finite-sample":
                if alpha != 1.0:
                    raise ValueError(
                        "radius='finite-sample' is valid only for alpha=1, got "
                        f"alpha={self.alpha!r}: use RenyiBall(alpha=1, radius='finite-sample')."
                    )
                return finite_sample_radius(beta, n, n_cells)
        return given_radius(self.radius, "'chi2', 'finite-sample'")

    def fit_set(self, joint: JointDistribution) -> RenyiSet:
        """Make the ball around a public distribution.

        Parameters
        ----------
        joint : JointDistribution
            The public distribution.

        Returns
        -------
        RenyiSet
            The ball with its radius, and the rule of the radius.

        Raises
        ------
        ValueError
            If a parameter is out of range.

        Examples
        --------
        >>> from skrldp import JointDistribution
        >>> ball = RenyiBall().fit_set(JointDistribution([[7, 10], [26, 57]]))
        >>> round(ball.radius, 4), ball.rule, ball.beta, ball.n_records
        (0.0752, 'chi2', 0.05, 100)
        """
        check_choice("region", self.region, REGIONS)
        check_flag("same_secret", self.same_secret)
        if joint.reports is not None and isinstance(self.radius, str):
            raise ValueError(
                "private reports bound U given S, but not joint distributions: use "
                "LikelihoodRatioSet(), or pass the ball's radius as a number."
            )
        if joint.survey is not None and isinstance(self.radius, str):
            return self._around_survey(joint)
        spending, (a1, n_values), by_rule = self, joint.counts.shape, isinstance(self.radius, str)
        n_values = asymptotic_values(joint) if self.radius == "chi2" else joint.most_values
        if self.radius == "finite-sample" and joint.alphabet == "frequent":
            beta = check_beta("beta", self.beta)  # a part of it pays for learning the values
            spending = RenyiBall(self.alpha, beta=beta - spent_on_values(beta), radius=self.radius)
        return RenyiSet(
            float(self.alpha),
            spending.radius_for(joint.n, a1 * n_values),
            str(self.radius) if by_rule else "given",
            float(self.beta) if by_rule else None,
            joint.n,
            n_values if n_values > joint.counts.shape[1] else None,
            figures_of_table(joint),
        )

    def _around_survey(self, joint: JointDistribution) -> RenyiSet:
        """Make the ball of order 1 whose radius is corrected for a survey's design."""
        if self.alpha != 1.0 or self.radius != "chi2":
            raise ValueError(
                "for a survey, a ball needs alpha=1 and radius='chi2', or a radius in nats, "
                "because the records are not independent: use "
                "LikelihoodRatioSet(radius='asymptotic') or RenyiBall(alpha=1)."
            )
        beta = check_beta("beta", self.beta)
        radius, table = survey_radius(joint, beta), figures_of_table(joint)
        return RenyiSet(1.0, radius, "survey", beta, joint.n, more_values(joint), table)


class AllDistributions(BaseEstimator):
    """The uncertainty set of all distributions: privacy whatever the public table is.

    Examples
    --------
    >>> AllDistributions().radius_for(n=100, n_cells=4)
    inf
    """

    alpha = 1.0  # the ball of infinite radius, of any order

    def radius_for(self, n: int, n_cells: int) -> float:
        """Return infinity, because the set contains every distribution.

        Parameters
        ----------
        n, n_cells : int
            Ignored.

        Returns
        -------
        float
        """
        return math.inf

    def fit_set(self, joint: JointDistribution) -> RenyiSet:
        """Make the set of all distributions.

        Parameters
        ----------
        joint : JointDistribution
            The public distribution, whose number of records is recorded.

        Returns
        -------
        RenyiSet
        """
        return RenyiSet(self.alpha, math.inf, None, None, joint.n)


def _positive(value: Any, name: str) -> float:
    check_positive(name, value)
    return float(value)


Rule = Literal["finite-sample", "asymptotic"]
_RULES = ("finite-sample", "asymptotic")


class LikelihoodRatioSet(BaseEstimator):
    r"""Confidence set of the conditionals of U, from likelihood-ratio tests of singles and pairs.

    With :math:`N_s` public records of the secret s, the log likelihood ratio of the public
    conditional against another one, R, is :math:`G_s(R) = N_s D(\hat P_{U|s} \| R)`. The set
    contains all distributions with :math:`G_s \le c_1` for each secret, and :math:`G_s + G_t \le
    c_2` for every pair of secrets. The marginal of S is unrestricted, because the privacy of a
    mechanism does not depend on it. The set therefore limits fewer quantities than a ball of joint
    distributions, so its conditionals are much closer to the public ones if there are many secrets.

    Parameters
    ----------
    beta : float, default=0.05
        The set misses the true conditionals with at most this probability, if the values of
        U, and bins and groups of them, do not come from the counted records, or come from them in
        the way that ``joint.alphabet == "frequent"`` states.
    radius : {"finite-sample", "asymptotic"} or float, default="finite-sample"
        ``"finite-sample"`` is valid for every number of records and every distribution, with proved
        constants (docs/proofs.md). ``"asymptotic"`` uses the limiting distribution for many records
        in each cell, so that its bounds are about 1.2 to 1.6 times smaller; `fit` warns if rare
        cells make it miss more often than ``beta``. For surveys it is corrected for the design. A
        number is the radius of the ball that any two conditionals share, in nats of the joint
        distribution: :math:`w_s D_s + w_t D_t` is at most the radius, with the public probabilities
        w of the secrets (for surveys, their shares of the records). ``beta`` is then not used.
    drift : float, default=0.0
        For a population that may have changed since the public records were taken: by how many nats
        the divergence of the public conditional from the present one may exceed the bound without
        drift, for each secret. It is sufficient that no probability of a value given a secret has
        fallen by more than a factor of :math:`e^\delta`. The set then has :math:`G_s \le c_1 +
        N_s\delta` and :math:`G_s + G_t \le c_2 + (N_s + N_t)\delta`. With ``known=``, the same is
        assumed for each secret at each combination of the known columns' values. For both it is
        sufficient that no probability of a value given a secret has changed by more than a factor
        of :math:`e^{\delta/2}`, up or down.
    region : {"joint", "product", "box", "lower"}, default="joint"
        How closely the constraints of a design follow the set: "joint" is exact; each of the others
        is more conservative than the one before and easier to solve. A proof is about the set
        itself, whatever the region. :class:`~skrldp.PolyOptSanitizer`,
        :class:`~skrldp.AOptimalSanitizer` and :class:`~skrldp.RobustMSESanitizer` use it.

    Attributes
    ----------
    single_, pair_ : float
        The bounds :math:`c_1` and :math:`c_2` of the log likelihood ratios, in nats: for a given
        radius the radius times the number of public records; infinite if the set contains all
        distributions. Set on the copy that a fitted sanitizer keeps.
    lower_, upper_ : array of shape (a1, a2)
        Set instead of these if private reports replace the public table: the bounds of the
        probability of each value given each secret.

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

    def fit_set(self, joint: JointDistribution) -> ConditionalsSet | BoxSet:
        """Make the set around a public distribution.

        Parameters
        ----------
        joint : JointDistribution
            The public distribution.

        Returns
        -------
        ConditionalsSet or BoxSet
            The set with its budgets and their rule; for private reports instead of a table, bounds
            of the conditionals.

        Raises
        ------
        ValueError
            If a parameter is out of range.
        """
        check_choice("region", self.region, REGIONS)
        drift = _at_least_zero(self.drift)
        if joint.reports is not None:
            return self._from_reports(joint, drift)
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

    def _from_reports(self, joint: JointDistribution, drift: float) -> BoxSet:
        """Bound the conditionals by the private reports that replace a public table."""
        rules = {"finite-sample": "reports", "asymptotic": "reports-asymptotic"}
        if self.radius not in rules:
            raise ValueError(
                f"radius={shown(self.radius)}: bounds from private reports have no radius in nats. "
                "Use radius='finite-sample' or 'asymptotic'."
            )
        rule, beta = rules[str(self.radius)], check_beta("beta", self.beta)
        bounds = conditional_bounds(joint.reports or (), joint.counts.shape, beta, rule)
        return BoxSet(*bounds, drift, rule, beta, joint.n, joint.reports or ())


def _budgets(joint: JointDistribution, beta: float, rule: Rule) -> tuple[float, float, int | None]:
    """Return the budgets, and the number of values if it exceeds the number listed."""
    records, listed = joint.counts.sum(axis=1), joint.counts.shape[1]
    n_values_max = joint.most_values
    if rule == "asymptotic":
        n_values_max = asymptotic_values(joint)
        return *likelihood_ratio_budgets(
            records, n_values_max, beta, rule
        ), n_values_max if n_values_max > listed else None
    if n_values_max == listed and joint.alphabet != "frequent":
        return *likelihood_ratio_budgets(records, listed, beta, rule), None
    if n_values_max > MOST_VALUES:
        return math.inf, math.inf, n_values_max
    if joint.alphabet == "frequent":
        beta -= spent_on_values(beta)
        return *budgets_up_to(records, n_values_max, beta), n_values_max
    return *likelihood_ratio_budgets(records, n_values_max, beta, rule), n_values_max


def _at_least_zero(drift: Any) -> float:
    if not (is_finite(drift) and drift >= 0):
        raise ValueError(f"drift={drift!r} must be a finite number >= 0 (nats).")
    return float(drift)
