"""Independent reporting of S and of U."""

from skrldp.alphabet import Record
from skrldp.design.closed_form import IndependentReporting, independent_reporting
from skrldp.privacy import Promise
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._checks import MOST_CELLS_OF_IR
from skrldp.sanitizers._closed_forms import release_closed_form
from skrldp.sanitizers._fitted_state import Designed
from skrldp.sanitizers._texts import with_parameters
from skrldp.sets import FittedSet

__all__ = ["IRSanitizer"]


@with_parameters
class IRSanitizer(BaseSanitizer):
    """Independent reporting: S and U are each reported by their own mechanism.

    ε is split between the two in the best proportion. The report of U may be more exact than ε
    alone would allow, since it reveals S only as far as the two are dependent. Both reports are by
    randomised response: there is no solver, and up to 4,000 cells are possible.

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
    PrivacyLeakWarning
        By `fit`, if there are too few public records for the asymptotic radius of the set to be
        reliable, or if the table's columns have names and `sensitive` is None.

    See Also
    --------
    PolyOptSanitizer : Maximal mutual information, private at every distribution of a set.
    SRRSanitizer : A closed form that is private at every distribution.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    The promise: a report changes the odds of any two secrets by a factor of at most exp(eps),
    whichever distribution of the uncertainty set is the true one. Nothing is promised about U
    beyond what it reveals about S.

    The promise is for **one report about each person**, to somebody who knows nothing else about
    them. Two reports, or one and U, may even determine S: ``certify(..., reports=k)`` gives the
    number for k reports, and `eps_all` of :class:`PolyOptSanitizer` bounds it.

    {Read more in the guide}

    References
    ----------
    Mechanisms for Robust Local Differential Privacy, Entropy 2024, Theorem 5 and (82).

    Examples
    --------
    >>> from skrldp import IRSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> n = [70, 100, 260, 570]
    >>> sanitizer = IRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=n)
    >>> round(sanitizer.mutual_information_, 4)
    0.6432
    >>> sanitizer.certificate_.holds(1.0)
    True
    """

    _most_cells = MOST_CELLS_OF_IR

    def _reporting(self, promise: Promise) -> IndependentReporting:
        return independent_reporting(promise.joint, promise.requirements())

    def _design(self, promise: Promise, around: FittedSet, record: Record) -> Designed:
        return release_closed_form(
            lambda: self._reporting(promise).blocks, "independent reporting", promise
        )
