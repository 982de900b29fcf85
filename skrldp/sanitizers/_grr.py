"""Generalised randomised response on the whole record."""

from typing import Any

from skrldp.alphabet import Record
from skrldp.design.closed_form import grr
from skrldp.privacy import Promise
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._blocks import release_blocks
from skrldp.sanitizers._fitted_state import Designed
from skrldp.sanitizers._texts import with_parameters
from skrldp.sets import AllDistributions, FittedSet

__all__ = ["GRRSanitizer"]


@with_parameters
class GRRSanitizer(BaseSanitizer):
    """Generalised randomised response: report the record, or any other one, all equally likely.

    It is the baseline: local differential privacy for the whole record, S and U alike.

    Parameters
    ----------
    {eps, sensitive, survey, categories, min_frequency, max_categories, alphabet_fraction}
    uncertainty : optional
        Ignored: the mechanism is private at all distributions.
    {encode, handle_unknown, random_state, verbose}

    Attributes
    ----------
    {joint_}
    uncertainty_ : AllDistributions
        The distributions that privacy holds for; ``B_`` is the radius, in nats.
    {mechanism_, certificate_, solution_, mutual_information_, normalized_mutual_information_}
    {information_by_secret_, n_features_in_, feature_names_in_}

    Raises
    ------
    {ValueError, CertificateError}

    Warns
    -----
    PrivacyLeakWarning
        By `fit`, if the table's columns have names and `sensitive` is None.

    See Also
    --------
    SRRSanitizer : A closed form that is private at every distribution.
    IRSanitizer : Reports S and U independently, by a closed form or optimised.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    The promise: a report changes the odds of any two records by a factor of at most exp(eps),
    whatever is known about the population and whatever its distribution. Two reports about the same
    person are together private at 2·eps.

    Read more in the guide: :doc:`which sanitizer to take </guide/sanitizers>` and
    :doc:`what a report looks like </guide/reports>`.

    References
    ----------
    Mechanisms for Robust Local Differential Privacy, Entropy 2024, (56).

    Examples
    --------
    >>> from skrldp import GRRSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = GRRSanitizer(eps=1.0).fit(X, sample_weight=[7, 10, 26, 57])
    >>> round(sanitizer.mutual_information_, 4)
    0.0908
    >>> sanitizer.certificate_.holds(1.0)
    True
    >>> sanitizer.transform([["yes", "often"], ["no", "rare"]]).shape
    (2, 2)
    """

    def _uncertainty_set(self) -> Any:
        return AllDistributions()

    def _design(self, promise: Promise, around: FittedSet, record: Record) -> Designed:
        eps = promise.requirements().least_eps
        return release_blocks(lambda: grr(eps, promise.joint.counts.size), "grr", promise)
