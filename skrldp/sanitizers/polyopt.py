"""The private mechanism with the largest mutual information."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from skrldp.alphabet.combinations import Record
from skrldp.design.mutual_information import Information
from skrldp.privacy.requirements import Requirements
from skrldp.sanitizers.fitted_state import Designed
from skrldp.sanitizers.optimal import ObservingSanitizer
from skrldp.sanitizers.parameters import Check, design_requirements, one_of, with_parameters
from skrldp.sets.fitted_sets import FittedSet

ABOUT_ALL, ABOUT_U = OBJECTIVES = ("I(X;Y)", "I(U;Y)")


@with_parameters
class PolyOptSanitizer(ObservingSanitizer):
    """The private mechanism with the largest mutual information I(X; Y).

    Parameters
    ----------
    {eps, eps_worst_case, sensitive, survey, observer_columns, categories, min_frequency}
    {uncertainty}
    objective : {"I(X;Y)", "I(U;Y)"}, default="I(X;Y)"
        The information to maximise at the public distribution (with half a record added, spread
        evenly over cells): about the whole record, which also rewards information about S, or only
        about U.
    {observe}
    solver : {"auto", "vertices"}, default="auto"
        "auto" searches rows, or uses a formula if privacy is for one distribution. "vertices"
        enumerates all vertices of polyhedral regions with cddlib, for about ten cells.
    {time_limit, n_jobs}
    {encode, handle_unknown, random_state, verbose}

    Attributes
    ----------
    {joint_, uncertainty_, mechanism_, certificate_}
    solution_ : Solution
        How the mechanism was found: solver, status, objective and its bound, time;
        ``solution_.gap_in_words`` states how far the two are apart, and the kind of bound. They are
        in nats.
    {mutual_information_, normalized_mutual_information_, information_by_secret_, n_iter_}
    {n_features_in_, feature_names_in_}

    Raises
    ------
    {ValueError, CertificateError, SolverError}

    Warns
    -----
    {PrivacyLeakWarning, ConvergenceWarning}

    See Also
    --------
    IRSanitizer : Reports S and U independently, each by randomised response.
    RobustMSESanitizer : Minimal expected distance of the report from U.
    NonRobustSanitizer : The baseline: private at the public distribution alone.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    {The promise}

    {Further reports}

    Read more in the guide: :doc:`which sanitizer to take </guide/designs>`, :doc:`what a region
    is </guide/sets>`, and
    :doc:`what a report looks like </guide/reports>`.

    References
    ----------
    Mechanisms for Robust Local Differential Privacy, Entropy 2024, section 5 (PolyOpt,
    Theorems 2 and 3).

    Examples
    --------
    >>> from skrldp import PolyOptSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = PolyOptSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> sanitizer.certificate_.holds(1.0)
    True
    >>> sanitizer.transform([["yes", "often"], ["no", "rare"]]).shape
    (2, 1)
    """

    objective: str = "I(X;Y)"

    _checks: ClassVar[Mapping[str, Check]] = {
        **ObservingSanitizer._checks,
        "objective": one_of(OBJECTIVES),
    }

    def _why_u(self) -> str:
        if self.objective == ABOUT_ALL:
            return super()._why_u()
        return f"objective={self.objective!r} concerns only U: use {ABOUT_ALL!r}"

    def _design(self, promise: Requirements, confidence_set: FittedSet, record: Record) -> Designed:
        requirements = design_requirements(promise, self.uncertainty)
        distribution = requirements.fold(promise.joint.smoothed())
        criterion = Information(distribution)
        if self.objective == ABOUT_U and self.observe == "all":
            a1, a2 = promise.joint.counts.shape
            criterion = Information(distribution, np.tile(np.arange(a2), a1), ABOUT_U)
        return self._best_by(promise, requirements, criterion)
