"""From a design to a releasable mechanism: repair, round, prove."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from skrldp._params import at_most
from skrldp._typing import Floats
from skrldp.certificate._certify import Certificate, prove
from skrldp.exceptions import CertificateError
from skrldp.joint import JointDistribution
from skrldp.mechanism.integer_weights import slot_bits
from skrldp.mechanism.mechanism import Mechanism
from skrldp.privacy.requirements import Requirements, repair

# Maximum number of proofs, each with eight times the slack of the previous one. The last has 2e6
# times the slack that rounding requires: if it fails, rounding is not the cause.
_ATTEMPTS = 8
_MORE = 8.0

# Seconds per report and cell, and per report and pair of secrets. On one core, mechanisms of 1,000
# reports took 1.7 s (100 x 10 cells) and 4.9 s (200 x 5), nearly all of it for these operations.
_SECONDS_CELL, _SECONDS_PAIR = 1.5e-6, 1e-7
_LINE = "{desc}: {n} reports, {elapsed}"  # how tqdm writes it


def expected_seconds(requirements: Requirements) -> float:
    """Estimate how long repair and proof take for a mechanism with a report for each cell.

    Returns float: the number of operations at the speed of an ordinary core.
    """
    return requirements.n_cells * sum(
        requirement.region.conditionals.size * _SECONDS_CELL + requirement.n_pairs * _SECONDS_PAIR
        for requirement in requirements
    )


@contextmanager
def _counted(label: str, verbose: int) -> Iterator[Callable[[int], None] | None]:
    """Show a progress line with the number of reports processed."""
    if not verbose:
        yield None
        return
    from tqdm.auto import tqdm  # imported only if needed

    with tqdm(desc=f"[skrldp] {label}", bar_format=_LINE, leave=False) as line:
        yield line.update


def release(
    matrix: Floats, promise: Requirements, *, verbose: int = 0
) -> tuple[Mechanism, Certificate]:
    """Repair a design, round it to the sampled integers, and prove it private.

    Shapes: `matrix` (b, a). Returns as :func:`release_made`: symbols are row numbers of the design;
    reports that would never be sent are dropped.
    """
    requirements = promise.over()

    def made(rounding: float) -> Mechanism:
        with _counted("repairing", verbose) as callback:
            repaired = repair(matrix, requirements, rounding, callback)
        return _sampled(repaired, promise.joint, promise.observe)

    return release_made(made, 2.0 * 2.0 ** -slot_bits(len(matrix)), promise, verbose=verbose)


def release_made(
    make: Callable[[float], Mechanism],
    slack: float,
    promise: Requirements,
    *,
    verbose: int = 0,
) -> tuple[Mechanism, Certificate]:
    """Prove the mechanism built with some slack for rounding, increasing the slack if necessary.

    Returns Mechanism, Certificate: the certificate is over all cells and meets every requirement.
    Raises CertificateError if no proof is found.
    """
    for _ in range(_ATTEMPTS):
        mechanism = make(slack)
        with _counted("proving", verbose) as callback:
            certificate = prove(mechanism, promise, callback)
        if certificate.claims.is_kept:
            return mechanism, certificate
        slack *= _MORE
    raise CertificateError(_unproven(promise, certificate, mechanism))


def _sampled(matrix: Floats, joint: JointDistribution, observe: str) -> Mechanism:
    """Round to integer weights; reports that would never be sent are dropped."""
    names = joint.secrets, joint.values
    mechanism = Mechanism.from_matrix(matrix, *names, observe=observe)
    used = mechanism.weights.any(axis=1)
    if used.all():
        return mechanism
    sampled = matrix[used] / matrix[used].sum(axis=0)
    return Mechanism.from_matrix(sampled, *names, np.flatnonzero(used).tolist(), observe=observe)


def _unproven(promise: Requirements, certificate: Certificate, mechanism: Mechanism) -> str:
    a1, a2 = promise.joint.counts.shape
    return (
        f"the mechanism could not be proven private at {promise.over().describe()}: over "
        f"{certificate.uncertainty.describe()} the bound is {at_most(certificate.eps)}, over all "
        f"distributions {at_most(certificate.eps_worst_case)}, on {a1} secrets x {a2} values with "
        f"{mechanism.shape[0]} reports. Nothing is released. Try a larger eps, a coarser alphabet "
        "or another region."
    )
