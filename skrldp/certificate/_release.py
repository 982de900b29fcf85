"""From a design to what may be released: repair, round, prove."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.certificate._certify import Certificate, proof_region, prove
from skrldp.exceptions import CertificateError
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism, slot_bits
from skrldp.region import Region

__all__ = ["release", "repair"]

Floats = NDArray[np.float64]

_ATTEMPTS = 6


def repair(matrix: Floats, region: Region, eps: float, slack: float = 0.0) -> Floats:
    r"""Make any stochastic matrix private by mixing in a little of each report.

    If a row violates privacy by at most δ, adding :math:`\delta/(e^\epsilon - 1)` to all its
    entries makes it private; dividing by the new column sums keeps it so.

    Parameters
    ----------
    matrix : array of shape (b, cells of a row)
        Non-negative, with positive column sums.
    region : Region
        Conditionals that privacy must hold for.
    eps : float
        Privacy parameter, in nats.
    slack : float
        How far inside the privacy constraints to go, in probability.

    Returns
    -------
    array of the same shape
        Columns sum to 1 up to rounding.
    """
    clean = np.clip(matrix, 0.0, None)
    clean = clean / clean.sum(axis=0)
    rows = clean.reshape(len(clean), *region.row_shape)
    excess = region.worst(rows, eps, above=-slack)
    worst = np.zeros(len(rows))
    np.maximum.at(worst, excess.row, excess.bound + slack)
    worst[~clean.any(axis=1)] = 0.0  # a report that is never sent tells nothing
    lift = worst * (1.0 + 1e-9) / np.expm1(eps)
    return (clean + lift[:, None]) / (1.0 + lift.sum())


def release(
    matrix: Floats, joint: JointDistribution, alpha: float, radius: float, eps: float
) -> tuple[Mechanism, Certificate]:
    """Repair a design, round it to what will be sampled, and prove it private.

    Parameters
    ----------
    matrix : array of shape (b, a)
        A design; a solver's output will do.
    joint : JointDistribution
        The public law.
    alpha, radius : float
        Order and radius (nats) of the ball.
    eps : float
        Privacy parameter, in nats.

    Returns
    -------
    Mechanism, Certificate
        Symbols are row numbers of the design; reports that would never be sent are dropped. The
        certificate's ``eps`` is at most ``eps``.

    Raises
    ------
    CertificateError
        If no proof is found.
    """
    region = proof_region(joint, alpha, radius)
    unit = 2.0 ** -slot_bits(len(matrix))
    slack = 2.0 * (1.0 + np.exp(eps)) * unit
    for _ in range(_ATTEMPTS):
        repaired = repair(matrix, region, eps, slack)
        mechanism = _sampled(repaired, joint)
        certificate = prove(mechanism, joint, alpha, radius)
        if certificate.holds(eps):
            return mechanism, certificate
        slack *= 8.0
    raise CertificateError(_unproven(eps, certificate, mechanism, joint))


def _sampled(matrix: Floats, joint: JointDistribution) -> Mechanism:
    """Round to integer weights; reports that would never be sent are dropped."""
    mechanism = Mechanism.from_matrix(matrix, joint.secrets, joint.values)
    used = mechanism.weights.any(axis=1)
    if used.all():
        return mechanism
    kept = matrix[used] / matrix[used].sum(axis=0)
    return Mechanism.from_matrix(kept, joint.secrets, joint.values, np.flatnonzero(used).tolist())


def _unproven(
    eps: float, certificate: Certificate, mechanism: Any, joint: JointDistribution
) -> str:
    a1, a2 = joint.counts.shape
    return (
        f"the mechanism could not be proven private at eps={eps:g}: the bound is "
        f"{certificate.eps:.9g} on {a1} secrets x {a2} values with {mechanism.shape[0]} reports "
        f"({certificate!r}). Nothing is released. Try a larger eps, a coarser alphabet or another "
        "region."
    )
