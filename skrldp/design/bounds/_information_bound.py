"""An upper bound on the information of every mechanism that meets some requirements."""

import numpy as np
from numpy.typing import NDArray

from skrldp.design.run import ObjectiveBound, least
from skrldp.design.subset import optimal_response
from skrldp.information import entropy, mutual_information_bound
from skrldp.joint import JointDistribution
from skrldp.privacy import Requirements

__all__ = ["AT_PUBLIC", "NEAR_PUBLIC", "information_bound"]


AT_PUBLIC = "the optimum for the public distribution alone"
NEAR_PUBLIC = f"an upper bound on {AT_PUBLIC}"
# Secrets that the linear program tells apart; the others are one. With the first the bound takes
# less than a second, with the second milliseconds.
_MOST_SECRETS, _MOST_SECRETS_QUICK = 50, 10
_GAP, _ROUNDS = 1e-4, 200  # where the linear program ends, relative to what is learned of S


def information_bound(
    joint: JointDistribution, requirements: Requirements, quick: bool = False
) -> ObjectiveBound:
    r"""Bound I(X; Y) at the public distribution from above.

    In nats: the least bound of the requirements that compare all their secrets, as each bounds
    what is learned of them.

    By the chain rule :math:`I(X;Y) = I(S;Y) + I(U;Y|S)`. The last term is at most H(U|S), and what
    a mechanism that is private at the public distribution reports about S alone is ε-LDP. So the
    optimum for the public distribution alone, :math:`H(U|S) + C_\epsilon(S)`, bounds every
    mechanism that is private over a set that holds it.
    """
    probabilities = joint.probabilities
    bounds = [
        ObjectiveBound(
            entropy(requirements.fold(probabilities)), "entropy of what is reported about"
        )
    ]
    for one in requirements:
        if one.region.compared is None:
            marginal = one.region.marginal
            counts = np.rint(marginal * joint.people.sum()).astype(np.int64)
            most = _MOST_SECRETS_QUICK if quick else _MOST_SECRETS
            of_secret, attained = _of_secret(counts, one.eps, most)
            value = entropy(probabilities) - entropy(marginal) + of_secret
            bounds.append(ObjectiveBound(value, AT_PUBLIC if attained else NEAR_PUBLIC))
    return least(bounds)


def _of_secret(counts: NDArray[np.int64], eps: float, most: int) -> tuple[float, bool]:
    """Bound what ε-LDP reports tell about S, and say whether that is nearly attained.

    Rare secrets are told apart by a further report in thought, again of ε-LDP.
    """
    frequent = np.sort(counts[counts > 0])[::-1]
    if len(frequent) < 2 or eps <= 0:
        return 0.0, True
    simple = mutual_information_bound((frequent / frequent.sum())[:, None], eps)
    rest, more = frequent[most - 1 :], 0.0
    if len(frequent) > most:
        share = rest.sum() / frequent.sum()
        more = share * mutual_information_bound((rest / rest.sum())[:, None], eps)
        frequent = np.append(frequent[: most - 1], rest.sum())
    best = optimal_response(frequent, eps, gap=_GAP, rounds=_ROUNDS, quick=True)
    bound = min(best.bound + more, simple)
    return bound, more == 0.0 and bound <= best.information * (1.0 + 2.0 * _GAP)
