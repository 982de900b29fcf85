"""Mechanisms by closed forms, whose sampled weights are proven private."""

import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from skrldp._numbers import at_most
from skrldp.alphabet import Record
from skrldp.certificate import Certificate, keeps, prove_promise, release
from skrldp.design.criteria import information_bound
from skrldp.design.run import Solution
from skrldp.exceptions import CertificateError
from skrldp.information import Blocks, block_information
from skrldp.mechanism import Mechanism
from skrldp.privacy import Promise, Requirements
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._fitted_state import Designed
from skrldp.sanitizers._texts import with_parameters
from skrldp.sets import AllDistributions, FittedSet

__all__ = ["ResponseSanitizer", "release_closed_form"]

# A dense table is sampled three times as fast as four weights, but its proof looks at every report,
# pair of secrets and value: at this many combinations it takes a second and some 30 MB.
_DENSE_CELLS = 512
_DENSE_WORK = 5_000_000
_ATTEMPTS = 8


@with_parameters
class ResponseSanitizer(BaseSanitizer):
    """Base class: a randomised response, private at all distributions.

    Parameters
    ----------
    uncertainty : optional
        Ignored: the mechanism is private at all distributions.

    Attributes
    ----------
    uncertainty_ : AllDistributions
        The distributions that privacy holds for; ``B_`` is the radius, in nats.

    Warns
    -----
    PrivacyLeakWarning
        By `fit`, if the table's columns have names and `sensitive` is None.
    """

    _name: ClassVar[str]

    @abstractmethod
    def _response(self, eps: float, a1: int, a2: int) -> Blocks:
        """Return the probabilities of the response for so many secrets and values."""

    def _uncertainty_set(self) -> Any:
        return AllDistributions()

    def _design(self, promise: Promise, around: FittedSet, record: Record) -> Designed:
        eps = promise.requirements().least_eps
        shape = promise.joint.counts.shape
        return release_closed_form(lambda: self._response(eps, *shape), self._name, promise)


def release_closed_form(
    design: Callable[[], Blocks],
    name: str,
    promise: Promise,
) -> Designed:
    """Round a closed form to integer weights and prove it private.

    Returns Designed: the certificate keeps the promise. Raises CertificateError if no proof is
    found.
    """
    start = time.perf_counter()
    joint, requirements = promise.joint, promise.requirements()
    blocks = design()
    n_secrets, n_cells = len(joint.secrets), joint.counts.size
    if n_cells <= _DENSE_CELLS and n_cells**2 * n_secrets <= _DENSE_WORK:
        cells = Mechanism.from_blocks(blocks, joint.secrets, joint.values)
        mechanism, certificate = release(cells.matrix, promise)
        symbols = cells.symbols
    else:
        mechanism, certificate = _release_sparse(blocks, promise, requirements)
        symbols = mechanism.symbols
    bound = information_bound(joint, requirements, quick=True)
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
    blocks: Blocks, promise: Promise, requirements: Requirements
) -> tuple[Mechanism, Certificate]:
    """Increase all probabilities so that the rounded ones stay private, as :func:`repair` does."""
    joint = promise.joint
    a1, a2 = joint.counts.shape
    # Rounding down three of the weights can raise the fourth by a unit for each cell.
    shift = 2.0 * a1 * a2 * 2.0**-53 / np.tanh(requirements.least_eps / 2.0)
    for _ in range(_ATTEMPTS):
        same, same_secret, same_value, other = (p + shift for p in blocks)
        total = 1.0 + a1 * a2 * shift
        shifted = (same / total, same_secret / total, same_value / total, other / total)
        mechanism = Mechanism.from_blocks(shifted, joint.secrets, joint.values)
        certificate = prove_promise(mechanism, promise)
        if keeps(certificate, promise):
            return mechanism, certificate
        shift *= 8.0
    raise CertificateError(
        f"the closed form could not be proven private at {requirements.describe()}, on {a1} "
        f"secrets x {a2} values: the last bound is {at_most(certificate.eps)}, and over all "
        f"distributions {at_most(certificate.eps_all)}. Nothing is released. Try a larger eps or a "
        "coarser alphabet."
    )
