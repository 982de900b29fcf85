"""An upper bound on the information of every mechanism that meets some requirements."""

import numpy as np

from skrldp.information import entropy, mutual_information_bound
from skrldp.joint import JointDistribution
from skrldp.requirements import Requirements

__all__ = ["information_bound"]


def information_bound(joint: JointDistribution, requirements: Requirements) -> float:
    """Bound I(X; Y) at the public distribution from above.

    Parameters
    ----------
    joint : JointDistribution
        The public distribution.
    requirements : Requirements
        What a row must satisfy.

    Returns
    -------
    float
        In nats. Each requirement that compares all its secrets bounds what is learned of them; the
        least of these bounds.
    """
    bounds = [entropy(requirements.fold(joint.probabilities))]
    for one in requirements:
        if one.region.compared is None:
            eps = float(one.pair_eps.max(initial=0.0))
            bounds.append(mutual_information_bound(joint.probabilities, eps, one.region.marginal))
    return float(np.min(bounds))
