"""What a fitted sanitizer claims: how much k reports about one person leak at most."""

from typing import Any

from skrldp._typing import Floats
from skrldp.auditing._repeated_reports import repeated_leakage
from skrldp.certificate import Certificate, certify

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


def claim_at(sanitizer: Any, certificate: Certificate, distribution: Floats) -> float:
    """Return what reports should leak at most at a distribution.

    Parameters
    ----------
    sanitizer : BaseSanitizer
        A fitted sanitizer.
    certificate : Certificate
        From :func:`certificate_of`; it states how many reports.
    distribution : array of shape (a1, a2)
        Distribution of (S, U).

    Returns
    -------
    float
        In nats. Outside the certificate's set nothing is promised: there it is what the mechanism
        leaks, or for too many multisets of reports the bound over all distributions, if this is
        more.
    """
    if certificate.uncertainty.contains(sanitizer.joint_, distribution):
        return float(certificate.eps)
    mechanism = sanitizer.mechanism_
    if certificate.reports == 1:
        leaks: float | None = mechanism.leakage(distribution)
    else:
        # k times what one report leaks at this distribution is no bound: all are about one U.
        leaks = repeated_leakage(mechanism, distribution, certificate.reports)
    return max(float(certificate.eps), float(certificate.eps_all if leaks is None else leaks))
