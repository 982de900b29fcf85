"""The sanitizer that is private at the public distribution alone."""

from typing import Any

from skrldp.alphabet.combinations import Record
from skrldp.privacy.requirements import Requirements
from skrldp.sanitizers.fitted_state import Designed
from skrldp.sanitizers.optimal import OptimalSanitizer
from skrldp.sanitizers.parameters import with_parameters
from skrldp.sets.fitted_sets import FittedSet
from skrldp.sets.parameter_objects import RenyiBall


@with_parameters
class NonRobustSanitizer(OptimalSanitizer):
    r"""The optimum at the public distribution: a baseline, not private for other distributions.

    Parameters
    ----------
    {eps, sensitive, survey, categories, min_frequency}
    uncertainty : optional
        Ignored, because the only distribution is the public one.
    solver : {"auto", "vertices"}, default="auto"
        "auto" uses the formula of the optimum (see the notes). "vertices" enumerates the vertices
        of the region, for comparison, with about ten cells.
    {time_limit, n_jobs}
    encode : {"symbol", "onehot", "posterior", "cells"}, optional
        Form of the reports: an integer (None), columns of 0 and 1, probabilities of each category
        given the report, or the most probable record given the report.
    {handle_unknown, random_state, verbose}

    Attributes
    ----------
    {joint_}
    uncertainty_ : RenyiBall of radius 0
        The distributions for which privacy holds; ``B_`` is the radius, in nats.
    {mechanism_, certificate_, solution_}
        ``solution_.gap_in_words`` states the distance of the objective from the bound.
    {mutual_information_, normalized_mutual_information_, information_by_secret_, n_iter_}
    {n_features_in_, feature_names_in_}

    Raises
    ------
    {ValueError, CertificateError, SolverError}

    Warns
    -----
    PrivacyLeakWarning
        By every `fit`: privacy holds for the public distribution alone. Also if the table's columns
        have names and `sensitive` is None.
    {ConvergenceWarning}

    See Also
    --------
    PolyOptSanitizer : Maximal mutual information, private at every distribution of a set.
    GRRSanitizer : The baseline: protects the whole record, at every distribution.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    The promise: if the private records follow exactly the public distribution, a report changes the
    odds of any two secrets by a factor of at most exp(eps). In practice they never follow it
    exactly, so this sanitizer protects nobody. It serves to measure the cost of robustness. Use
    :class:`PolyOptSanitizer` to protect people.

    The optimum is :math:`H(U|S) + C_\epsilon(S)`, with :math:`C_\epsilon(S)` the most that a local
    report of S alone contains about S. It is attained: for each secret, the probabilities of that
    report's symbols are laid on an interval, which is cut into the values of U; a report is a part
    of the common refinement, so that S and the report determine U. ``solution_.bound`` proves the
    optimum to a millionth, and bounds every mechanism that is private over a set of distributions:
    see :doc:`the mathematics </mathematics>`, section 7.4.

    {Read more in the guide}

    References
    ----------
    Mechanisms for Robust Local Differential Privacy, Entropy 2024, section 8 (the baseline NR).

    P. Kairouz, S. Oh and P. Viswanath, *Extremal mechanisms for local differential privacy*,
    Journal of Machine Learning Research 17, 2016 (the report of S alone).

    Examples
    --------
    >>> import warnings
    >>> from skrldp import NonRobustSanitizer, PrivacyLeakWarning
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", PrivacyLeakWarning)
    ...     sanitizer = NonRobustSanitizer(eps=1.0, sensitive=0)
    ...     _ = sanitizer.fit(X, sample_weight=[7, 10, 26, 57])
    >>> sanitizer.certificate_.holds(1.0), sanitizer.certificate_.uncertainty.radius
    (True, 0.0)
    >>> sanitizer.solution_.status, sanitizer.solution_.bound_by
    ('optimal', 'the optimum for the public distribution alone')
    """

    def _uncertainty_set(self) -> Any:
        return RenyiBall(radius=0.0)

    def _design(self, promise: Requirements, confidence_set: FittedSet, record: Record) -> Designed:
        return self._best_by(promise, promise.over())
