"""The proof of all that is promised about a table, and whether it is what was asked for."""

from collections.abc import Callable
from dataclasses import replace

from skrldp.certificate._all_distributions import leakage_over_all
from skrldp.certificate._bounds import bound_over
from skrldp.certificate._certify import Certificate, certificate_from, prove
from skrldp.certificate._views import View
from skrldp.mechanism.mechanism import Mechanism
from skrldp.privacy.requirements import Promise, Statement

__all__ = ["keeps", "prove_promise"]


def prove_promise(
    mechanism: Mechanism, promise: Promise, callback: Callable[[int], None] | None = None
) -> Certificate:
    """Certify a mechanism for every statement of a promise.

    Returns Certificate: about S; that within known values of U is its ``known``.
    """
    found: list[Certificate] = []
    everywhere = leakage_over_all(mechanism, len(promise.joint.secrets))
    for one in promise.statements:
        if not one.known:
            region = None if one.layout.shared else one.exact_region
            certificate = prove(
                mechanism, promise.joint, one.uncertainty, callback, region, everywhere
            )
        else:
            certificate = _prove_statement(mechanism, promise, one, everywhere, callback)
        found.append(certificate)
    return replace(found[0], known=found[1] if len(found) > 1 else None)


def _prove_statement(
    mechanism: Mechanism,
    promise: Promise,
    one: Statement,
    everywhere: tuple[float, float],
    callback: Callable[[int], None] | None = None,
) -> Certificate:
    """Certify a mechanism for secrets and values in another arrangement than the table's."""
    matrix = mechanism.matrix
    if one.layout.n_cells < matrix.shape[1]:  # the secret is not observed: all columns alike
        matrix = matrix[:, : one.layout.n_cells]
    rows = one.layout.spread(matrix)
    view = View(rows, rows, replace(one.exact_region, layout=None))
    found = bound_over(lambda: [view], one.joint, one.uncertainty, callback=callback)
    whole = one.whole_distribution(found.distribution, promise.joint)
    alphabet = promise.joint.alphabet_for(one.uncertainty.beta)
    found = replace(found, distribution=whole)
    return certificate_from(found, one.uncertainty, alphabet, everywhere)


def keeps(certificate: Certificate, promise: Promise) -> bool:
    """Whether all that is promised is proven."""
    if promise.eps_all is not None and not certificate.eps_all <= promise.eps_all:
        return False
    for one in promise.statements:
        proof = certificate.known if one.known else certificate
        if proof is None or not proof.eps <= one.eps:
            return False
    return True
