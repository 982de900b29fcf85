"""The figures of a proof that travel with a mechanism."""

import math
from typing import Any

from skrldp.certificate import Certificate
from skrldp.mechanism import RULES, Guarantee

__all__ = ["guarantee_of"]


def guarantee_of(certificate: Certificate, eps: float, uncertainty: Any, n: int) -> Guarantee:
    """Put a certificate's figures together.

    Parameters
    ----------
    certificate : Certificate
        The proof. Its set may be smaller than the uncertainty set, where privacy for the public law
        alone was asked for: then it is the certificate's that counts.
    eps : float
        What was asked for, in nats.
    uncertainty : RenyiBall or AllDistributions
        The uncertainty set, with its radius ``B_``.
    n : int
        Number of public records.

    Returns
    -------
    Guarantee
    """
    figures = float(eps), float(certificate.eps), float(certificate.eps_attained)
    radius = float(certificate.radius)
    if math.isinf(radius):
        return Guarantee(*figures, radius, n_records=int(n))
    rule, beta = "given", None
    asked = getattr(uncertainty, "radius", None)
    if asked in RULES and radius == uncertainty.B_:
        rule, beta = asked, float(uncertainty.beta)
    return Guarantee(*figures, radius, float(certificate.alpha), rule, beta, int(n))
