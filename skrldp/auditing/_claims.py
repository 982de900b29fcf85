"""What a fitted sanitizer claims: how much k reports about one person leak at most."""

from typing import Any

from skrldp._typing import Floats
from skrldp.auditing._repeated_reports import repeated_leakage
from skrldp.certificate import Certificate, certify
from skrldp.uncertainty_set import AllDistributions

__all__ = ["certificate_of", "claim_at"]


def certificate_of(sanitizer: Any, reports: int) -> Certificate:
    """Return the proof about a number of reports.

    Parameters
    ----------
    sanitizer : BaseSanitizer
        A fitted sanitizer.
    reports : int
        Number of reports about each person.

    Returns
    -------
    Certificate
    """
    certificate: Certificate = sanitizer.certificate_
    if reports == 1:
        return certificate
    # The certificate's set is the public distribution alone where privacy is not robust.
    return certify(sanitizer.mechanism_, certificate.uncertainty, sanitizer.joint_, reports=reports)


def claim_at(sanitizer: Any, certificate: Certificate, distribution: Floats, reports: int) -> float:
    """Return what the reports should leak at most at a distribution.

    Parameters
    ----------
    sanitizer : BaseSanitizer
        A fitted sanitizer.
    certificate : Certificate
        From :func:`certificate_of`.
    distribution : array of shape (a1, a2)
        Distribution of (S, U).
    reports : int
        Number of reports about each person.

    Returns
    -------
    float
        In nats. Outside the certificate's set nothing is promised: there it is what the mechanism
        leaks, or for too many multisets of reports a bound on that, if this is more.
    """
    if certificate.uncertainty.contains(sanitizer.joint_, distribution):
        return float(certificate.eps)
    mechanism = sanitizer.mechanism_
    if reports == 1:
        leaks = mechanism.leakage(distribution)
    else:
        exact = repeated_leakage(mechanism, distribution, reports)
        # k reports leak at most k times what one leaks over all distributions, not k times what
        # one leaks at this distribution: they depend on each other through U.
        everywhere = AllDistributions()
        leaks = (
            reports * certify(mechanism, everywhere, sanitizer.joint_).eps
            if exact is None
            else exact
        )
    return max(float(certificate.eps), float(leaks))
