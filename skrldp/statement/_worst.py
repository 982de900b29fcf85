"""The report that changes the odds of two secrets most, at one distribution."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats
from skrldp.certificate import Certificate
from skrldp.information import conditionals_of
from skrldp.mechanism import Mechanism
from skrldp.statement._several import compared

__all__ = ["leakage_of", "worst_case"]

Worst = tuple[float, Any, tuple[Any, Any]]


def leakage_of(mechanism: Mechanism, certificate: Certificate, distribution: Floats) -> float:
    """Leakage at a distribution, of the pairs of secrets that the certificate is about.

    Shapes: `distribution` (a1, a2). Returns float: in nats.
    """
    if certificate.eps_pairs is not None:
        return _worst_of_pairs(mechanism, certificate, distribution)[0]
    return mechanism.leakage(distribution)


def worst_case(mechanism: Mechanism, certificate: Certificate) -> tuple[Any, tuple[Any, Any]]:
    """Return the worst report at the certificate's distribution, and the two secrets."""
    distribution = certificate.distribution
    if certificate.eps_pairs is not None:
        return _worst_of_pairs(mechanism, certificate, distribution)[1:]
    of_secret, seen = _reports(mechanism, distribution)
    return _worst(mechanism, of_secret, [mechanism.secrets[s] for s in seen])[1:]


def _reports(mechanism: Mechanism, distribution: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the distribution of the reports given each secret that occurs, and these secrets."""
    seen = np.flatnonzero(distribution.sum(axis=1) > 0)
    return mechanism.report_distribution(conditionals_of(distribution))[:, seen], seen


def _worst_of_pairs(mechanism: Mechanism, certificate: Certificate, distribution: Floats) -> Worst:
    """Find the worst case of the pair that leaks most, among those that are compared."""
    of_secret, seen = _reports(mechanism, distribution)
    mask = compared(certificate)[np.ix_(seen, seen)]
    cases = []
    for s, others in enumerate(mask):  # each secret with those that it is compared to
        least = of_secret[:, others].min(axis=1)
        report, ratio = _greatest(of_secret[:, s], least)
        t = np.flatnonzero(others)[of_secret[report, others].argmin()]
        names = mechanism.secrets[seen[s]], mechanism.secrets[seen[t]]
        cases.append((ratio, mechanism.symbols[report], names))
    return max(cases, key=lambda case: case[0])


def _worst(mechanism: Mechanism, of_secret: Floats, names: list[Any]) -> Worst:
    report, ratio = _greatest(of_secret.max(axis=1), of_secret.min(axis=1))
    pair = names[of_secret[report].argmax()], names[of_secret[report].argmin()]
    return ratio, mechanism.symbols[report], pair


def _greatest(most: Floats, least: Floats) -> tuple[int, float]:
    """Find the report with the greatest ratio; return it and the logarithm of the ratio."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(most > 0, most / least, 1.0)
    report = int(ratio.argmax())
    return report, math.log(ratio[report])
