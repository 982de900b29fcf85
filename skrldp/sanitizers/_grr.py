"""Generalised randomised response on the whole record."""

from skrldp.design.closed_form import grr
from skrldp.information import Blocks
from skrldp.sanitizers._closed_forms import ResponseSanitizer
from skrldp.sanitizers._texts import with_parameters

__all__ = ["GRRSanitizer"]


@with_parameters
class GRRSanitizer(ResponseSanitizer):
    """Generalised randomised response: report the record, or any other one, all equally likely.

    It is the baseline: local differential privacy for the whole record, S and U alike.

    Parameters
    ----------
    {eps, sensitive, survey, categories, min_frequency}
    {uncertainty, encode, handle_unknown, random_state, verbose}

    Attributes
    ----------
    {joint_, uncertainty_, mechanism_, certificate_, solution_, mutual_information_}
    {normalized_mutual_information_, information_by_secret_, n_features_in_, feature_names_in_}

    Raises
    ------
    {ValueError, CertificateError}

    Warns
    -----
    {PrivacyLeakWarning}

    See Also
    --------
    SRRSanitizer : A closed form that is private at every distribution.
    IRSanitizer : Reports S and U independently, each by randomised response.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    The promise: a report changes the odds of any two records by a factor of at most exp(eps),
    whatever is known about the population and whatever its distribution. Two reports about the same
    person are together private at 2·eps.

    {Read more in the guide}

    References
    ----------
    Mechanisms for Robust Local Differential Privacy, Entropy 2024, (56).

    Examples
    --------
    >>> from skrldp import GRRSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = GRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[7, 10, 26, 57])
    >>> round(sanitizer.mutual_information_, 4)
    0.0908
    >>> sanitizer.certificate_.holds(1.0)
    True
    >>> sanitizer.transform([["yes", "often"], ["no", "rare"]]).shape
    (2, 2)
    """

    _name = "grr"

    def _response(self, eps: float, a1: int, a2: int) -> Blocks:
        return grr(eps, a1 * a2)
