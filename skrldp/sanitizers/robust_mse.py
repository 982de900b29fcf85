"""The private mechanism whose reports are closest to U."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from skrldp._params import at_most, check_flag
from skrldp._typing import Floats
from skrldp.alphabet.combinations import Record
from skrldp.claims_in_words import POINT_ALONE
from skrldp.design.closed_form import closed_forms
from skrldp.design.distance_problem import (
    SOLVERS_OF_DISTANCES,
    DistanceProblem,
    distance_matrix,
    expected_distance,
    suited_distance,
)
from skrldp.exceptions import PrivacyLeakWarning
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirements
from skrldp.sanitizers.fitted_state import Designed, Fitted, FromFit
from skrldp.sanitizers.optimal import ObservingSanitizer
from skrldp.sanitizers.parameters import (
    Check,
    UncertaintySet,
    design_requirements,
    one_of,
    or_none,
    set_such_as,
    with_parameters,
)
from skrldp.sets.fitted_sets import FittedSet, RenyiSet
from skrldp.sets.parameter_objects import RenyiBall

# --- The set of joint distributions for the worst expected cost, separate from the privacy set ----


PUBLIC_ALONE = RenyiSet(1.0, 0.0)  # one distribution, for any order

_USE = "RenyiBall(alpha=1, radius='finite-sample'), another RenyiBall or AllDistributions()"


def fit_utility_set(
    chosen: Any, uncertainty: Any, private: FittedSet, joint: JointDistribution
) -> tuple[Any, FittedSet]:
    """Make the set for the worst expected cost around a public distribution.

    Returns `chosen`: a copy of the chosen set, with its radius ``B_``. The default, None, is the
    set for privacy if that is one of joint distributions, or otherwise the corresponding
    Kullback-Leibler ball. Raises ValueError if its parameters are out of range, or it does not
    limit the marginal of S.
    """
    fitted: FittedSet
    if chosen is not None:
        chosen = clone(chosen, safe=False)
        fitted = chosen.fit_set(joint)
    elif private.joint_radius is not None:
        chosen, fitted = clone(uncertainty, safe=False), private
    else:
        parameters, addition = private.ball_beside()
        chosen = RenyiBall(**parameters)
        ball = chosen.fit_set(joint)
        fitted = replace(ball, radius=ball.radius + addition)
    if fitted.joint_radius is None:
        name = type(chosen).__name__
        raise ValueError(
            f"utility_uncertainty cannot be a {name}, because this set does not limit the marginal "
            f"of S, on which an expected distance depends. Use {_USE}. For `uncertainty`, which is "
            f"about privacy, a {name} is suitable."
        )
    chosen.B_ = fitted.joint_radius
    return chosen, fitted


def over_set(useful: FittedSet, private: FittedSet) -> str:
    """State in words over which set the worst distance is, and with which betas."""
    known = (("utility", useful.beta), ("privacy", private.beta))
    betas = ", ".join(f"{name} beta = {beta:g}" for name, beta in known if beta is not None)
    return f"{useful.describe()}; {betas}" if betas else useful.describe()


def worst_distance(
    joint: JointDistribution, design: Designed, uncertainty: FittedSet
) -> tuple[float, Floats]:
    """Return the expected distance at the worst distribution of a set, and that distribution.

    Shapes: returns (a1 * a2,).
    """
    assert design.distance is not None  # from RobustMSE's design
    return expected_distance(joint, design.distance, uncertainty).worst(design.mechanism.matrix)


# --- The sanitizer --------------------------------------------------------------------------------


@with_parameters
class RobustMSESanitizer(ObservingSanitizer):
    """The private mechanism with the smallest expected distance of the report from U.

    Utility and privacy can each be required at every distribution of an uncertainty set, or at the
    public distribution alone. These are the four problems of the paper, which uses one set for
    both:

    ================  =====================  ======================
    ISIT              ``robust_utility``     ``robust_privacy``
    ================  =====================  ======================
    RURP              True                   True
    NURP              False                  True
    RUNP              True                   False
    NUNP              False                  False
    ================  =====================  ======================

    Parameters
    ----------
    {eps, eps_worst_case, sensitive, survey, observer_columns, categories, min_frequency}
    {uncertainty}
    utility_uncertainty : RenyiBall or AllDistributions, optional
        The set for the worst expected distance, with its own beta. None is the privacy set, or
        for a LikelihoodRatioSet a ball of order 1 with its beta, rule and drift.
    robust_utility : bool, default=True
        Whether to minimise the distance at the worst distribution of `utility_uncertainty`, rather
        than at the public one.
    robust_privacy : bool, default=True
        False guarantees privacy at the public distribution alone: **not for protecting people**.
    distance : {"auto", "squared", "absolute", "hamming"}, callable or array, default="auto"
        Distance of the report y from U. "hamming" counts columns that differ; "auto" is "squared"
        for one column of numbers. A callable is given u and y; an array has a row for each u.
    {observe}
    solver : {"auto"}, default="auto"
        "auto" follows a central path or, if there is none, adds cuts to a linear program.
    {time_limit, n_jobs}
    encode : {"symbol", "onehot", "posterior", "cells"}, optional
        Form of the reports: an integer, columns of 0 and 1, probabilities of each category given
        the report, or the reported value of U (None).
    {handle_unknown, random_state}
    verbose : int, default=0
        If positive, `fit` prints its progress.

    Attributes
    ----------
    {joint_, uncertainty_}
    utility_uncertainty_ : RenyiBall or AllDistributions
        The set for the worst expected distance; ``B_`` is its radius, in nats.
    mechanism_ : Mechanism
        The sampled mechanism; its ``symbols`` are the reported values of U. A client needs only
        ``mechanism_.to_json()``.
    certificate_ : Certificate
        Proof that ``mechanism_`` leaks at most ``certificate_.eps <= eps``, at all distributions of
        the set or, without robust privacy, at the public distribution.
    solution_ : Solution
        How the mechanism was found: solver, status, distance with its lower bound and gap, time.
    {information_by_secret_}
    distance_ : str, callable or array
        The distance that was used: "squared" or "hamming" for "auto", otherwise `distance`.
    distortion_ : float
        Expected distance of the sampled mechanism at the public distribution.
    worst_case_distortion_ : float
        Upper bound on the expected distance at every distribution of ``utility_uncertainty_``,
        whether the design minimised it or not. If the radius was computed from a beta, it holds for
        the true distribution except with probability ``utility_uncertainty_.beta``.
    worst_case_distribution_ : array of shape (a1, a2)
        A distribution of that set that nearly attains it.
    {n_iter_, n_features_in_, feature_names_in_}

    Raises
    ------
    {ValueError, CertificateError, SolverError}

    Warns
    -----
    PrivacyLeakWarning
        By `fit`, if there are too few public records for the asymptotic radius of the set to be
        reliable, if privacy holds at the public distribution alone, or if the table's columns have
        names and `sensitive` is None.
    {ConvergenceWarning}

    See Also
    --------
    PolyOptSanitizer : Maximal mutual information, private at every distribution of a set.
    IRSanitizer : Reports S and U independently, each by randomised response.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    {The promise}

    {Further reports}

    {Read more in the guide}

    References
    ----------
    J. Goseling and M. Lopuhaä-Zwakenberg, Robust Optimization for Local Differential Privacy,
    ISIT 2022: problems (7)-(10), Theorems 2 and 4.

    Examples
    --------
    >>> from skrldp import RobustMSESanitizer
    >>> X = [[s, u] for s in ("no", "yes") for u in (0, 1, 2)]
    >>> counts = [300, 200, 100, 150, 250, 500]
    >>> sanitizer = RobustMSESanitizer(eps=0.5, sensitive=0).fit(X, sample_weight=counts)
    >>> sanitizer.certificate_.holds(0.5)
    True
    >>> round(sanitizer.distortion_, 3), round(sanitizer.worst_case_distortion_, 3)
    (0.225, 0.263)
    >>> sanitizer.transform([["yes", 2], ["no", 0]]).shape
    (2, 1)
    """

    utility_uncertainty: UncertaintySet | None = None
    robust_utility: bool = True
    robust_privacy: bool = True
    distance: str | Callable[[Any, Any], float] | Floats | Sequence[Sequence[float]] = "auto"

    distance_ = FromFit("figures.distance_")
    distortion_ = FromFit("figures.distortion_")
    utility_uncertainty_ = FromFit("figures.utility_uncertainty_")
    worst_case_distortion_ = FromFit("figures.worst_case_distortion_")
    worst_case_distribution_ = FromFit("figures.worst_case_distribution_")

    _default_encode = "cells"
    _slow_from = 80  # cells, by measurement

    _checks: ClassVar[Mapping[str, Check]] = {
        **ObservingSanitizer._checks,
        "solver": one_of(SOLVERS_OF_DISTANCES),
        "utility_uncertainty": or_none(set_such_as(_USE)),
        "robust_utility": check_flag,
        "robust_privacy": check_flag,
    }

    def _why_u(self) -> str:
        return "the reports approximate U: use PolyOptSanitizer or AOptimalSanitizer"

    def _private_set(self, uncertainty: FittedSet) -> FittedSet:
        return uncertainty if self.robust_privacy else uncertainty.public_alone

    def _design(self, promise: Requirements, confidence_set: FittedSet, record: Record) -> Designed:
        joint = promise.joint
        distance = distance_matrix(self.distance, joint.values)
        private = self._uncertainty_set()
        chosen, useful = fit_utility_set(self.utility_uncertainty, private, confidence_set, joint)
        over = useful if self.robust_utility else useful.public_alone
        requirements = design_requirements(promise, self.uncertainty)
        problem = DistanceProblem(
            expected_distance(joint, distance, over, observe=self.observe),
            simple=lambda: closed_forms(joint, requirements),
        )
        design = self._optimum(promise, requirements, problem)
        if not self.robust_privacy and not confidence_set.is_point:
            warnings.warn(
                f"robust_privacy=False: {POINT_ALONE}.",
                PrivacyLeakWarning,
                stacklevel=3,
            )
        used = list(design.mechanism.symbols)
        return replace(
            design,
            symbols=[joint.values[y] for y in used],
            distance=distance[:, used],
            utility=(chosen, useful),
        )

    def _summarise(self, joint: JointDistribution, design: Designed) -> tuple[dict[str, Any], str]:
        assert design.utility is not None
        chosen, useful = design.utility
        mean, _ = worst_distance(joint, design, useful.public_alone)
        worst, distribution = worst_distance(joint, design, useful)
        auto = isinstance(self.distance, str) and self.distance == "auto"
        figures = {
            "distance_": suited_distance(joint.values) if auto else self.distance,
            "utility_uncertainty_": chosen,
            "distortion_": mean,
            "worst_case_distortion_": worst,
            "worst_case_distribution_": distribution.reshape(joint.counts.shape),
        }
        over = over_set(useful, design.certificate.uncertainty)
        worst_case = at_most(worst, ".5g")
        return figures, f"distortion {mean:.5g} (at worst {worst_case} over {over})"

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the expected distance of the report from U at the distribution of a table.

        It measures how close one report is to the value of one record, not how precisely shares or
        means are estimated from many reports. For the latter, search with the scorer of
        :func:`~skrldp.model_selection.neg_std_error_scorer`.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            Records, which are only counted, not reported.
        y : ignored
            Not used; present for API consistency.
        sample_weight : array of shape (n,), optional
            How many records each row represents.

        Returns
        -------
        float
            At most 0. It is not private, because it depends on X.
        """
        fitted = self._state()
        distribution = self._distribution_of(X, sample_weight, fitted)
        return -worst_distance(distribution, fitted.design, PUBLIC_ALONE)[0]

    def _written(
        self, symbols: NDArray[Any], encode: str, names: Sequence[str], like: Any, fitted: Fitted
    ) -> Any:
        if encode == "cells":
            return fitted.codec.write_values(fitted.mechanism.symbols, symbols, like=like)
        return super()._written(symbols, encode, names, like, fitted)

    def _report_names(
        self, fitted: Fitted, columns: Sequence[Any] | None, encode: str
    ) -> list[str]:
        names = super()._report_names(fitted, columns, encode)
        if encode == "cells":
            return [names[position] for position in fitted.codec.nonsensitive]
        return names
