"""Distributions of an uncertainty set, most of them on its boundary."""

import numpy as np

from skrldp.sets.fitted_sets import ConditionalsSet


def members(rng, joint, around, n):
    """Return n distributions of the set, by bisection along random ways of two conditionals."""
    found, n_secrets = [], len(joint.secrets)
    for conditionals in rng.dirichlet(np.full(joint.counts.shape[1], 0.5), (n, n_secrets)):
        marginal = joint.marginal[:, None]
        if isinstance(around, ConditionalsSet):  # which leaves the marginal free
            marginal = rng.dirichlet(np.ones(n_secrets))[:, None]
        chosen = rng.choice(n_secrets, 2, replace=False)
        goal = joint.conditionals.copy()
        goal[chosen] = conditionals[chosen]
        low, high = 0.0, 1.0
        for _ in range(20):
            share = (low + high) / 2.0
            mixed = marginal * (share * goal + (1.0 - share) * joint.conditionals)
            low, high = (share, high) if around.contains(joint, mixed) else (low, share)
        found.append(marginal * (low * goal + (1.0 - low) * joint.conditionals))
    return found
