"""The proof of all that is promised about a table."""

import math
from collections.abc import Callable
from dataclasses import replace

from skrldp.certificate._all_distributions import leakage_over_all
from skrldp.certificate._bounds import LeakageBound, bound_over
from skrldp.certificate._certify import Certificate, prove
from skrldp.certificate._views import View
from skrldp.claims import Claim, Claims
from skrldp.mechanism.mechanism import Mechanism
from skrldp.privacy.requirements import Promise, Statement

__all__ = ["prove_promise"]


def prove_promise(
    mechanism: Mechanism, promise: Promise, callback: Callable[[int], None] | None = None
) -> Certificate:
    """Prove what a promise asks for, and make the claims of the mechanism.

    Returns Certificate: its claims state what was asked for, whether it is kept or not.
    """
    everywhere = leakage_over_all(mechanism, len(promise.joint.secrets))
    plain, *within = promise.statements
    region = None if plain.layout.shared else plain.exact_region
    proof = prove(mechanism, promise.joint, plain.uncertainty, callback, region, everywhere)
    main, *others = proof.claims
    claims = [replace(main, asked=plain.eps)]
    worst = None
    for one in within:
        found = _prove_statement(mechanism, promise, one, callback)
        eps = min(found.eps, everywhere[0])
        around = one.uncertainty.stated(promise.joint.alphabet_for(one.uncertainty.beta))
        known = promise.names_of(one.known)
        claims.append(Claim(eps, min(found.attained, eps), around, known=known, asked=one.eps))
        worst = found.distribution
    if promise.eps_all is not None and not main.around.is_everything:
        most = proof.claims.everywhere or Claim(math.inf, math.inf)
        exactly = [one for one in others if one.known]
        others = [replace(most, asked=promise.eps_all), *exactly]
    secret = tuple(name for name, flag in promise.columns if flag)
    claims = [replace(one, secret=secret) for one in (*claims, *others)]
    return replace(proof, claims=Claims(tuple(claims)), distribution_known=worst)


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
