"""The proof of all that is promised about a table."""

from collections.abc import Callable
from dataclasses import replace

from skrldp.certificate._all_distributions import leakage_over_all
from skrldp.certificate._bounds import LeakageBound, bound_over
from skrldp.certificate._certify import Certificate, prove
from skrldp.certificate._views import View
from skrldp.claims import Claims
from skrldp.mechanism.mechanism import Mechanism
from skrldp.privacy.requirements import Promise, Statement


def prove_promise(
    mechanism: Mechanism, promise: Promise, callback: Callable[[int], None] | None = None
) -> Certificate:
    """Prove what a promise asks for, and make the claims of the mechanism.

    Returns Certificate: its claims state what was asked for, whether it is kept or not.
    """
    everywhere = leakage_over_all(mechanism, len(promise.joint.secrets))
    plain, *within = promise.statements
    region = None if plain.layout.shared else plain.exact_region
    given = callback, region, everywhere, plain.claim
    proof = prove(mechanism, promise.joint, plain.uncertainty, *given)
    main, *others = proof.claims
    claims, worst = [main], None
    for one in within:
        found = _prove_statement(mechanism, promise, one, callback)
        claims.append(one.claim.proven(min(found.eps, everywhere[0]), found.attained))
        worst = found.distribution
    if promise.of_all is not None and not main.around.is_everything:
        most = proof.claims.everywhere or promise.of_all
        exactly = [one for one in others if one.known]
        others = [replace(most, asked=promise.of_all.asked), *exactly]
    return replace(proof, claims=Claims((*claims, *others)), distribution_known=worst)


def _prove_statement(
    mechanism: Mechanism,
    promise: Promise,
    one: Statement,
    callback: Callable[[int], None] | None = None,
) -> LeakageBound:
    """Bound the leakage of secrets and values in another arrangement than the table's."""
    matrix = mechanism.matrix
    if one.layout.n_cells < matrix.shape[1]:  # the secret is not observed: all columns alike
        matrix = matrix[:, : one.layout.n_cells]
    rows = one.layout.spread(matrix)
    view = View(rows, rows, replace(one.exact_region, layout=None))
    found = bound_over(lambda: [view], one.joint, one.uncertainty, callback=callback)
    whole = one.whole_distribution(found.distribution, promise.joint)
    return replace(found, distribution=whole)
