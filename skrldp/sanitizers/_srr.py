"""Secret randomised response."""

from skrldp.design.closed_form import srr
from skrldp.information import Blocks
from skrldp.sanitizers._closed_forms import ResponseSanitizer
from skrldp.sanitizers._texts import with_parameters

__all__ = ["SRRSanitizer"]


@with_parameters
class SRRSanitizer(ResponseSanitizer):
    """Secret randomised response: protects S at every distribution, and U only as far as needed.

    The probabilities of a report given two records differ by a factor of at most exp(ε); if the two
    records have the same secret, by at most exp(2ε).

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
    GRRSanitizer : The baseline: protects the whole record, at every distribution.
    IRSanitizer : Reports S and U independently, each by randomised response.
    PolyOptSanitizer : Maximal mutual information, private at every distribution of a set.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    The promise: a report changes the odds of any two secrets by a factor of at most exp(eps),
    whatever the distribution of the population. Nothing is promised about U beyond what it reveals
    about S. Two reports about the same person are together private at 2·eps.

    {Read more in the guide}

    References
    ----------
    Mechanisms for Robust Local Differential Privacy, Entropy 2024, Definition 4 and (58).

    Examples
    --------
    >>> from skrldp import SRRSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[7, 10, 26, 57])
    >>> round(sanitizer.mutual_information_, 4)
    0.1936
    >>> sanitizer.certificate_.holds(1.0)
    True
    """

    _name = "srr"

    def _response(self, eps: float, a1: int, a2: int) -> Blocks:
        return srr(eps, a1, a2)
