"""The report that changes the odds of two secrets most, at one distribution."""

from typing import Any

import numpy as np

from skrldp.certificate import Certificate
from skrldp.information import conditionals_of
from skrldp.mechanism.mechanism import Mechanism

__all__ = ["worst_case"]


def worst_case(mechanism: Mechanism, certificate: Certificate) -> tuple[Any, tuple[Any, Any]]:
    """Return the worst report at the certificate's distribution, and the two secrets."""
    seen = np.flatnonzero(certificate.distribution.sum(axis=1) > 0)
    of_secret = mechanism.report_distribution(conditionals_of(certificate.distribution))[:, seen]
    most, least = of_secret.max(axis=1), of_secret.min(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        report = int(np.where(most > 0, most / least, 1.0).argmax())
    first, second = (seen[pick(of_secret[report])] for pick in (np.argmax, np.argmin))
    return mechanism.symbols[report], (mechanism.secrets[first], mechanism.secrets[second])
