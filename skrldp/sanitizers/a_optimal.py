"""The private mechanism that minimises the variance of given estimates."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from skrldp._params import in_digits
from skrldp._typing import Floats
from skrldp.alphabet.combinations import Record, group_cells, numbers_of_cells
from skrldp.alphabet.numbers import Knots
from skrldp.design.a_optimality import Variance
from skrldp.design.criterion_problem import SOLVERS, CriterionProblem
from skrldp.design.limits import TOL
from skrldp.exceptions import InfeasibleError
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirements
from skrldp.sanitizers.fitted_state import Designed, FromFit
from skrldp.sanitizers.optimal import ObservingSanitizer
from skrldp.sanitizers.parameters import (
    Check,
    check_gap,
    design_requirements,
    one_of,
    with_parameters,
)
from skrldp.sanitizers.warnings import warn_of_useless
from skrldp.sets.fitted_sets import FittedSet
from skrldp.targets import Mean, Target, WeightedFunctions, functions_of, target_in_words

_SHOWN = 20  # maximum number of targets whose errors are printed


@with_parameters
class AOptimalSanitizer(ObservingSanitizer):
    r"""The private mechanism with the smallest variance of given estimates: an A-optimal design.

    Parameters
    ----------
    {eps, eps_worst_case, sensitive, survey, observer_columns, categories, min_frequency}
    {uncertainty}
    targets : {"nonsensitive", "sensitive", "all"}, Marginal, Mean, Linear or list, optional
        The estimates to be made: shares of U (None), of S, or the crosstab of both; or
        `skrldp.targets`: shares of some columns, means, linear functions, with weights. Other
        estimates may have large errors. None means the whole record if all columns are sensitive,
        and adds the mean of each column with Knots.
    {observe}
    solver : {"auto", "vertices"}, default="auto"
        "auto" searches rows. "vertices" enumerates all vertices of polyhedral regions with cddlib,
        for about ten cells.
    {time_limit, n_jobs}
    tol : float, default=1e-3
        Relative optimality tolerance of the sum of variances. Larger values make the search quicker
        and, above the default, the number of reports smaller.
    {encode, handle_unknown, random_state, verbose}

    Attributes
    ----------
    {joint_, uncertainty_, mechanism_, certificate_}
    solution_ : Solution
        How the mechanism was found: solver, status, time, and as objective the weighted sum of the
        variances, with a lower bound for all mechanisms. After a search, ``estimate`` is an
        unproved estimate of the optimum, from the best rows of the last rounds.
    variances_ : array of shape (m,)
        Variance of each estimate at the public distribution, times the number of reports: the
        standard error from n reports is ``sqrt(variances_ / n)``.
    targets_ : tuple of length m
        Name of each estimate: (columns, category) for a share, ("mean", column) for a mean,
        ("linear", number) for other functions.
    {mutual_information_, normalized_mutual_information_, information_by_secret_, n_iter_}
    {n_features_in_, feature_names_in_}

    Raises
    ------
    {ValueError}
    InfeasibleError
        By `fit`, if no mechanism was found whose reports determine the targets.
    {CertificateError, SolverError}

    Warns
    -----
    {PrivacyLeakWarning, ConvergenceWarning}
    UserWarning
        By `fit`, if as many reports as there are public records would estimate given targets with
        standard errors above three tenths of their range. With `verbose`, `fit` prints these
        errors.

    See Also
    --------
    PolyOptSanitizer : Maximal mutual information.
    FrequencyEstimator : Estimates from reports, with these variances.
    IRSanitizer : Reports S and U independently, each by randomised response.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    The mechanism minimises the weighted sum of the variances of the unbiased estimates at the
    public distribution, over all mechanisms that satisfy the guarantee. It is an A-optimal design:
    with the information matrix :math:`M = \sum_y q_y q_y^T / (q_y \cdot \pi)` of one report and
    linear functions C it minimises :math:`\operatorname{tr} C M^{-1} C^T`, which is convex in the
    weights of private rows.

    {The promise}

    {Further reports}

    Read more in the guide: :doc:`which sanitizer to take </guide/designs>`, :doc:`what a region
    is </guide/sets>`, and
    :doc:`what a report looks like </guide/reports>`.

    References
    ----------
    F. Pukelsheim, Optimal Design of Experiments, Wiley 1993 (A-optimality).

    Examples
    --------
    >>> from skrldp import AOptimalSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = AOptimalSanitizer(eps=1.0, sensitive=0)
    >>> _ = sanitizer.fit(X, sample_weight=[700, 1000, 2600, 5700])
    >>> sanitizer.certificate_.holds(1.0)
    True
    >>> sanitizer.targets_
    (((1,), 'often'), ((1,), 'rare'))
    """

    targets: str | Target | Sequence[str | Target] | None = None
    tol: float = TOL

    variances_ = FromFit("figures.variances_")
    targets_ = FromFit("figures.targets_")

    _checks: ClassVar[Mapping[str, Check]] = {
        **ObservingSanitizer._checks,
        "solver": one_of(SOLVERS),
        "tol": check_gap,
    }

    def _design(self, promise: Requirements, confidence_set: FittedSet, record: Record) -> Designed:
        requirements = design_requirements(promise, self.uncertainty)
        criterion = self._criterion(promise.joint, requirements, record)
        problem = CriterionProblem(promise.joint, criterion, self.tol)
        design = self._optimum(promise, requirements, problem).numbered(promise.joint)
        if not np.isfinite(design.solution.objective):
            raise InfeasibleError(
                f"no mechanism was found whose reports identify all targets at eps={self.eps}. Use "
                "a larger eps, or fewer targets."
            )
        return design

    def _criterion(
        self, joint: JointDistribution, requirements: Requirements, record: Record
    ) -> Variance:
        targets = self._asked(joint, record)
        scaled = targets.functions * np.sqrt(targets.weights)[:, None]
        distribution = requirements.fold(joint.smoothed())
        if self.observe == "nonsensitive":
            scaled = _of_u_alone(scaled, joint, targets)
        return Variance(distribution, scaled)

    def _asked(self, joint: JointDistribution, record: Record) -> WeightedFunctions:
        targets, distribution = self.targets, joint.smoothed().ravel()
        if targets is None:
            has_u = not all(sensitive for _, sensitive in record.columns)
            targets = ["nonsensitive" if has_u else "all", *_means_of_knots(record, distribution)]
        return functions_of(targets, record, distribution)

    def _summarise(self, joint: JointDistribution, design: Designed) -> tuple[dict[str, Any], str]:
        figures, words = super()._summarise(joint, design)
        targets = self._asked(joint, design.mechanism)
        variances = self._variances(design, joint.probabilities, targets)
        figures |= {"variances_": variances, "targets_": targets.names}
        total = float(variances @ targets.weights)
        words = f"{words}, sum of variances {total:.5g} / n"
        if not isinstance(self.targets, str | None):  # targets are named
            errors = np.sqrt(variances / joint.n)
            words += f". Standard errors from {joint.n:,} reports: {_listed(targets.names, errors)}"
            warn_of_useless(targets, errors, joint.n)
        return figures, words

    def _variances(
        self, design: Designed, probabilities: Floats, targets: WeightedFunctions
    ) -> Floats:
        criterion = Variance(probabilities.ravel(), targets.functions)
        return criterion.variances(design.mechanism.matrix)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the weighted sum of the variances at the distribution of a table.

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
            At most 0, times the number of reports: see ``variances_``. It is not private: it
            depends on X.
        """
        fitted = self._state()
        joint = self._distribution_of(X, sample_weight, fitted)
        goals = self._asked(fitted.joint, fitted.mechanism)
        return -float(self._variances(fitted.design, joint.probabilities, goals) @ goals.weights)


# Weight of the variance of a mean, relative to the variance of the number. The error of the mean is
# then 4 % above its minimum, and those of shares 19 %; at twice the weight, 3 % and 26 % (ages with
# seven knots, whole records).
_MEANS = 3.0


def _means_of_knots(record: Record, distribution: Floats) -> list[Mean]:
    """Return the means of columns with knots, as targets in addition to shares."""
    means = []
    for name, numbers in getattr(record, "numbers_by_name", {}).items():
        if isinstance(numbers, Knots):
            knots, _ = numbers_of_cells(group_cells(record, [name], "all"))
            variance = float(distribution @ knots**2 - (distribution @ knots) ** 2)
            if variance > 0.0:
                means.append(Mean(name, weight=_MEANS / variance))
    return means


def _listed(names: Sequence[Any], errors: Floats) -> str:
    """List targets with their errors."""
    shown = zip(names[:_SHOWN], errors, strict=False)
    rest = f", ... ({len(names) - _SHOWN:,} more)" if len(names) > _SHOWN else ""
    texts = (f"{target_in_words(name)}: {in_digits(error, 2)}" for name, error in shown)
    return ", ".join(texts) + rest


def _of_u_alone(functions: Floats, joint: JointDistribution, targets: WeightedFunctions) -> Floats:
    """Convert functions of X that depend only on U to functions of U."""
    by_secret = functions.reshape(-1, *joint.counts.shape)
    differ = np.flatnonzero((by_secret != by_secret[:, :1]).any(axis=(1, 2)))
    if len(differ):
        raise ValueError(
            "observe='nonsensitive' reveals nothing about S beyond U, so targets must be functions "
            f"of U, and {targets.names[differ[0]]!r} is not."
        )
    return by_secret[:, 0]
