"""Sanitizers with closed forms, whose sampled weights are proved private: GRR, SRR and IR."""

import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from skrldp.alphabet.combinations import Record
from skrldp.certificate import Certificate, release, release_made
from skrldp.design.closed_form import IndependentReporting, grr, independent_reporting, srr
from skrldp.design.mutual_information import information_bound
from skrldp.design.solution import Solution
from skrldp.information import Blocks, block_information
from skrldp.mechanism.mechanism import Mechanism
from skrldp.privacy.requirements import Requirements
from skrldp.sanitizers.base import BaseSanitizer
from skrldp.sanitizers.fitted_state import Designed
from skrldp.sanitizers.parameters import MOST_CELLS_OF_IR, with_parameters
from skrldp.sets.fitted_sets import FittedSet
from skrldp.sets.parameter_objects import AllDistributions

# A dense table is sampled three times as fast as four weights, but its proof examines every report,
# pair of secrets and value: with this many combinations it takes a second and about 30 MB.
_DENSE_CELLS = 512
_DENSE_WORK = 5_000_000


@with_parameters
class ResponseSanitizer(BaseSanitizer):
    """Base class: a randomised response, private for all distributions.

    Parameters
    ----------
    uncertainty : optional
        Ignored, because the mechanism is private for all distributions.

    Attributes
    ----------
    uncertainty_ : AllDistributions
        The distributions for which privacy holds; ``B_`` is the radius, in nats.

    Warns
    -----
    PrivacyLeakWarning
        By `fit`, if the table's columns have names and `sensitive` is None.
    """

    _name: ClassVar[str]

    def _response(self, eps: float, a1: int, a2: int) -> Blocks:
        """Return the probabilities of the response for this many secrets and values."""
        raise NotImplementedError

    def _uncertainty_set(self) -> Any:
        return AllDistributions()

    def _design(self, promise: Requirements, confidence_set: FittedSet, record: Record) -> Designed:
        eps = promise.over().least_eps
        shape = promise.joint.counts.shape
        return release_closed_form(lambda: self._response(eps, *shape), self._name, promise)


def release_closed_form(design: Callable[[], Blocks], name: str, promise: Requirements) -> Designed:
    """Round a closed form to integer weights and prove it private.

    Returns Designed: the certificate meets the requirements. Raises CertificateError if no proof is
    found.
    """
    start = time.perf_counter()
    joint, requirements = promise.joint, promise.over()
    blocks = design()
    n_secrets, n_cells = len(joint.secrets), joint.counts.size
    if n_cells <= _DENSE_CELLS and n_cells**2 * n_secrets <= _DENSE_WORK:
        cells = Mechanism.from_blocks(blocks, joint.secrets, joint.values)
        mechanism, certificate = release(cells.matrix, promise)
        symbols = cells.symbols
    else:
        mechanism, certificate = _release_sparse(blocks, promise, requirements.least_eps)
        symbols = mechanism.symbols
    bound = information_bound(joint, requirements)
    solution = Solution(
        status="closed form",
        solver=name,
        objective=block_information(blocks, joint.probabilities),
        bound=bound.value,
        bound_by=bound.by,
        iterations=0,
        seconds=time.perf_counter() - start,
    )
    return Designed(mechanism, certificate, solution, symbols=symbols)


def _release_sparse(
    blocks: Blocks, promise: Requirements, least_eps: float
) -> tuple[Mechanism, Certificate]:
    """Increase all probabilities so that they remain private after rounding, as in repair."""
    joint, n_cells = promise.joint, promise.joint.counts.size

    def made(shift: float) -> Mechanism:
        same, same_secret, same_value, different = (
            (p + shift) / (1.0 + n_cells * shift) for p in blocks
        )
        four = same, same_secret, same_value, different
        return Mechanism.from_blocks(four, joint.secrets, joint.values)

    # Rounding three of the weights down can raise the fourth by a unit for each cell.
    return release_made(made, 2.0 * n_cells * 2.0**-53 / np.tanh(least_eps / 2.0), promise)


# --- Generalised randomised response on the whole record ------------------------------------------


@with_parameters
class GRRSanitizer(ResponseSanitizer):
    """Generalised randomised response: report the record, or any other one with equal probability.

    This is the baseline: local differential privacy for the whole record, S and U.

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
    for every distribution of the population and whatever an observer knows. Two reports about the
    same person are together private at 2·eps.

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


# --- Secret randomised response -------------------------------------------------------------------


@with_parameters
class SRRSanitizer(ResponseSanitizer):
    """Secret randomised response: protects S for every distribution, and U only as necessary.

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
    whatever the distribution of the population. There is no guarantee for U beyond what it reveals
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
        return srr(eps, a1, a2) if a2 > 1 else grr(eps, a1)


# --- Independent reporting of S and of U ----------------------------------------------------------


@with_parameters
class IRSanitizer(BaseSanitizer):
    """Independent reporting: S and U are reported by separate mechanisms.

    ε is split optimally between the two. The report of U may be more precise than ε alone would
    allow, because it reveals S only as far as the two are dependent. Both use randomised response,
    so no solver is needed, and up to 4,000 cells are possible.

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
    for every true distribution in the uncertainty set. There is no guarantee for U beyond what it
    reveals about S.

    The promise is for **one report about each person**, to an observer who knows nothing else about
    them. Two reports, or one and U, may even determine S: ``certify(..., reports=k)`` gives the
    number for k reports, and `eps_worst_case` of :class:`PolyOptSanitizer` bounds it.

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

    def _why_u(self) -> str:
        return "this mechanism reports U separately: use PolyOptSanitizer or AOptimalSanitizer"

    def _reporting(self, promise: Requirements) -> IndependentReporting:
        return independent_reporting(promise.joint, promise.over())

    def _design(self, promise: Requirements, confidence_set: FittedSet, record: Record) -> Designed:
        return release_closed_form(
            lambda: self._reporting(promise).blocks, "independent reporting", promise
        )
