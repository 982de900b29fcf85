"""From a design to what may be released: repair, round, prove."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from skrldp._numbers import at_most
from skrldp._typing import Floats
from skrldp.certificate._certify import Certificate
from skrldp.certificate._promises import for_statements, keeps, prove_promise
from skrldp.exceptions import CertificateError
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism, slot_bits
from skrldp.privacy import Promise, Region, Requirements, Statement, constant_rows, repair

__all__ = ["expected_seconds", "may_stand_in", "release"]


# Proofs that are tried, each with eight times the slack of the one before. The last has 3e4 times
# the slack that rounding calls for: where that fails, something else is wrong.
_ATTEMPTS = 6
_MORE = 8.0
# Of what lies between a bound and what was asked, where draws need more than the bound.
_HALVINGS = 20

# Seconds for each report and cell, and for each report and pair of secrets. On one core mechanisms
# of 1,000 reports took 1.7 s (100 x 10 cells) and 4.9 s (200 x 5), nearly all for what is counted.
_SECONDS_CELL, _SECONDS_PAIR = 1.5e-6, 1e-7
_LINE = "{desc}: {n} reports, {elapsed}"  # how tqdm writes it


def may_stand_in(mechanism: Mechanism, distribution: Floats, promise: Promise) -> bool:
    r"""Prove that values of U outside the alphabet may be replaced by draws from a distribution.

    Whether a value is unknown may depend on S, so it must not matter: with D the distribution, all
    secrets and all conditionals R of the region need
    :math:`R \cdot v_s \le e^\epsilon D \cdot v` and
    :math:`D \cdot v \le e^\epsilon R \cdot v_s`. Then any mixture of the two is private as well.

    Shapes: `distribution` (a2,).
    """
    requirements = promise.requirements()
    rows, low, high = _drawn_rows(mechanism, distribution, requirements.n_cells)
    return all(_covers_draws(one.region, one.eps, rows, low, high) for one in requirements)


def _drawn_rows(
    mechanism: Mechanism, distribution: Floats, n_cells: int
) -> tuple[Floats, Floats, Floats]:
    """Return the rows, and bounds of those of a value that is drawn, each of shape (b, n_cells)."""
    rows = mechanism.matrix[:, :n_cells]
    constant = constant_rows(rows, distribution)
    rounding = (len(distribution) + 4) * np.finfo(float).eps
    low, high = constant * (1.0 - rounding), constant * (1.0 + rounding)
    return rows, low, high


def _covers_draws(region: Region, eps: float, rows: Floats, low: Floats, high: Floats) -> bool:
    """Whether draws are private at an ε."""
    return not any(
        len(region.worst(first[part], eps, against=second[part], above=0.0).row)
        for first, second in ((rows, low), (high, rows))
        for part in region.parts(len(rows))
    )


def _with_draws(
    mechanism: Mechanism, distribution: Floats, promise: Promise, certificate: Certificate
) -> Certificate:
    """Raise bounds until they hold where values of U are drawn, too, as what was asked does.

    A bound of two secrets may be less than what was asked, and a draw is neither of them: its
    distribution is that of all records.
    """
    rows, low, high = _drawn_rows(mechanism, distribution, promise.requirements().n_cells)

    def raised(proof: Certificate, one: Statement) -> Certificate:
        def at(share: float) -> float:
            return proof.eps + share * (one.eps - proof.eps) if share < 1.0 else one.eps

        share, least = 0.0, 0.0
        if not _covers_draws(one.exact_region, at(0.0), rows, low, high):
            share = 1.0  # what was asked is proven
            for _ in range(_HALVINGS):
                middle = (least + share) / 2.0
                if _covers_draws(one.exact_region, at(middle), rows, low, high):
                    share = middle
                else:
                    least = middle
        # Whatever is drawn, a report is as probable as some mixture of values makes it.
        return replace(proof, eps=min(at(share), proof.eps_all))

    return for_statements(promise, certificate, raised)


def expected_seconds(requirements: Requirements) -> float:
    """Estimate how long repair and proof take for a mechanism with a report for each cell.

    Returns float: by counting what there is to do, at the pace of an ordinary core.
    """
    return requirements.n_cells * sum(
        one.region.conditionals.size * _SECONDS_CELL + one.n_pairs * _SECONDS_PAIR
        for one in requirements
    )


@contextmanager
def _counted(what: str, verbose: int) -> Iterator[Callable[[int], None] | None]:
    """Show a line on what is being done, with the number of reports done."""
    if not verbose:
        yield None
        return
    from tqdm.auto import tqdm  # loaded when needed

    with tqdm(desc=f"[skrldp] {what}", bar_format=_LINE, leave=False) as line:
        yield line.update


def release(
    matrix: Floats, promise: Promise, *, stand_in: Floats | None = None, verbose: int = 0
) -> tuple[Mechanism, Certificate]:
    """Repair a design, round it to what will be sampled, and prove it private.

    Shapes: `matrix` (b, a); `stand_in` (a2,). Returns Mechanism, Certificate: symbols are row
    numbers of the design; reports that would never be sent are dropped. The certificate is the full
    one, over all cells, and keeps the promise. Raises CertificateError if no proof is found.
    """
    requirements = promise.requirements()
    rounding = 2.0 * 2.0 ** -slot_bits(len(matrix))
    for _ in range(_ATTEMPTS):
        with _counted("repairing", verbose) as callback:
            repaired = repair(matrix, requirements, rounding, stand_in, callback)
        mechanism = _sampled(repaired, promise.joint, promise.observe)
        with _counted("proving", verbose) as callback:
            certificate = prove_promise(mechanism, promise, callback)
        if keeps(certificate, promise) and (
            stand_in is None or may_stand_in(mechanism, stand_in, promise)
        ):
            if stand_in is not None:
                certificate = _with_draws(mechanism, stand_in, promise, certificate)
            return mechanism, certificate
        rounding *= _MORE
    raise CertificateError(_unproven(promise, certificate, mechanism))


def _sampled(matrix: Floats, joint: JointDistribution, observe: str) -> Mechanism:
    """Round to integer weights; reports that would never be sent are dropped."""
    names = joint.secrets, joint.values
    mechanism = Mechanism.from_matrix(matrix, *names, observe=observe)
    used = mechanism.weights.any(axis=1)
    if used.all():
        return mechanism
    kept = matrix[used] / matrix[used].sum(axis=0)
    return Mechanism.from_matrix(kept, *names, np.flatnonzero(used).tolist(), observe=observe)


def _unproven(promise: Promise, certificate: Certificate, mechanism: Mechanism) -> str:
    a1, a2 = promise.joint.counts.shape
    return (
        f"the mechanism could not be proven private at {promise.requirements().describe()}: over "
        f"{certificate.uncertainty.describe()} the bound is {at_most(certificate.eps)}, over all "
        f"distributions {at_most(certificate.eps_all)}, on {a1} secrets x {a2} values with "
        f"{mechanism.shape[0]} reports. Nothing is released. Try a larger eps, a coarser alphabet "
        "or another region."
    )
