"""The proof of all that is promised about a table, and whether it is what was asked for."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from skrldp._typing import Floats, Indices
from skrldp.certificate._all_distributions import leakage_over_all
from skrldp.certificate._bounds import LeakageBound, bound_over
from skrldp.certificate._certify import Certificate, certificate_from, prove
from skrldp.certificate._views import View, group_views, groups_by_known
from skrldp.mechanism import Mechanism
from skrldp.privacy import Promise, Statement

__all__ = ["for_statements", "keeps", "prove_promise"]


def prove_promise(
    mechanism: Mechanism, promise: Promise, callback: Callable[[int], None] | None = None
) -> Certificate:
    """Certify a mechanism for every statement of a promise.

    Returns Certificate: about S; that within known values of U is its ``known``.
    """
    found: list[Certificate] = []
    everywhere = leakage_over_all(mechanism, len(promise.joint.secrets), promise.compared)
    for one in promise.statements:
        if one.joint is promise.joint and promise.compared is None and np.ndim(one.pair_eps) == 0:
            region = None if one.layout.shared else one.exact_region
            certificate = prove(
                mechanism, promise.joint, one.uncertainty, callback, region, everywhere
            )
        else:
            certificate = _prove_statement(mechanism, promise, one, everywhere, callback)
        found.append(certificate)
    return replace(found[0], known=found[1] if len(found) > 1 else None)


def for_statements(
    promise: Promise,
    certificate: Certificate,
    change: Callable[[Certificate, Statement], Certificate],
) -> Certificate:
    """Change the proof of each statement."""
    plain, *within = promise.statements
    found = change(certificate, plain)
    for one in within:
        assert certificate.known is not None
        found = replace(found, known=change(certificate.known, one))
    return found


def _prove_statement(
    mechanism: Mechanism,
    promise: Promise,
    one: Statement,
    everywhere: tuple[float, float],
    callback: Callable[[int], None] | None = None,
) -> Certificate:
    """Certify a mechanism for secrets and values in another arrangement than the table's."""
    first, second = one.compared
    wanted = np.broadcast_to(one.pair_eps, first.shape)
    views = _views(mechanism, promise, one)
    bounds = []
    for eps in np.unique(wanted):
        chosen = wanted == eps
        of_pairs = views(first[chosen], second[chosen])
        bound = bound_over(of_pairs, one.joint, one.uncertainty, callback=callback)
        bounds.append((chosen, bound))
    nothing = LeakageBound(0.0, 0.0, one.joint.probabilities)
    worst = max((bound for _, bound in bounds), key=lambda bound: bound.eps, default=nothing)
    eps_pairs = None
    if np.ndim(one.pair_eps) or promise.compared is not None:
        eps_pairs = np.full(one.eps.shape, np.inf)
        np.fill_diagonal(eps_pairs, 0.0)
        for chosen, bound in bounds:
            eps_pairs[first[chosen], second[chosen]] = bound.eps
    whole = one.whole_distribution(worst.distribution, promise.joint)
    bound = replace(worst, distribution=whole)
    alphabet = promise.joint.alphabet_for(one.uncertainty.beta)
    return certificate_from(bound, one.uncertainty, alphabet, everywhere, eps_pairs=eps_pairs)


def _views(
    mechanism: Mechanism, promise: Promise, one: Statement
) -> Callable[[Indices, Indices], Callable[[], Iterable[View]]]:
    """Return what gives the views of some pairs of a statement's secrets.

    A mechanism of four numbers is not written as a matrix, if the statement allows it.
    """
    region, shape, blocks = one.exact_region, promise.joint.counts.shape, mechanism.form.blocks
    if blocks is not None and groups_by_known(region, shape) is not None:
        return lambda first, second: (
            lambda: group_views(blocks, replace(region, compared=(first, second)), shape)
        )
    matrix = mechanism.matrix
    if one.layout.n_cells < matrix.shape[1]:  # the secret is not observed: all columns alike
        matrix = matrix[:, : one.layout.n_cells]
    rows, plain = one.layout.spread(matrix), replace(region, layout=None)
    return lambda first, second: (
        lambda: [View(rows, rows, replace(plain, compared=(first, second)))]
    )


def keeps(certificate: Certificate, promise: Promise) -> bool:
    """Whether all that is promised is proven."""
    if promise.eps_all is not None and not certificate.eps_all <= promise.eps_all:
        return False
    for one in promise.statements:
        proof = certificate.known if one.known else certificate
        if proof is None or not _holds(proof, one.eps[one.compared], one):
            return False
    return True


def _holds(proof: Certificate, eps: Floats, one: Statement) -> bool:
    if proof.eps_pairs is None:
        return bool(np.all(proof.eps <= eps))
    return bool(np.all(proof.eps_pairs[one.compared] <= eps))
