"""The certificate: a proven bound, and the worst law found."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from skrldp._html import page
from skrldp._typing import Floats
from skrldp.certificate._views import (
    View,
    dense_view,
    leakage_at,
    leakage_at_centre,
    least_provable,
    mechanism_views,
)
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism
from skrldp.region import Region, privacy_region
from skrldp.support import divergence
from skrldp.uncertainty import AllDistributions, RenyiBall

__all__ = ["Certificate", "certify", "proof_region", "prove"]


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proven about a mechanism's leakage over an uncertainty set.

    Attributes
    ----------
    eps : float
        Upper bound on the leakage at every law of the set, in nats.
    eps_attained : float
        Leakage at ``law``: no smaller bound is true.
    law : array of shape (a1, a2)
        The worst law found, inside the set.
    alpha, radius : float
        Order and radius (nats) of the set; the radius is infinite for all laws.
    """

    eps: float
    eps_attained: float
    law: Floats
    alpha: float
    radius: float

    def holds(self, eps: float) -> bool:
        """Whether the mechanism is proven private at this ε.

        Parameters
        ----------
        eps : float
            Privacy parameter, in nats.

        Returns
        -------
        bool
        """
        return self.eps <= eps

    def __repr__(self) -> str:
        over = "all laws" if np.isinf(self.radius) else f"alpha={self.alpha:g}, B={self.radius:.4g}"
        return f"Certificate(eps<={self.eps:.9g}, attained {self.eps_attained:.9g}, {over})"

    def _repr_html_(self) -> str:
        ball = f"the distributions within Rényi divergence B = {self.radius:.4g}"
        over = f"{ball} (alpha = {self.alpha:g}) of the public one"
        if np.isinf(self.radius):
            over = "all distributions"
        elif self.radius == 0:
            over = "the public distribution alone"
        a1, a2 = self.law.shape
        rows = [
            ("proven", f"eps <= {self.eps:.9g} nats"),
            ("attained", f"eps = {self.eps_attained:.9g} nats, at the worst distribution found"),
            ("holds for", over),
            ("cells", f"{a1:,} secrets x {a2:,} values"),
        ]
        return page("Certificate", rows)


def certify(
    mechanism: Mechanism | ArrayLike,
    uncertainty: RenyiBall | AllDistributions,
    joint: JointDistribution,
) -> Certificate:
    """Prove a bound on any mechanism's leakage over an uncertainty set.

    Parameters
    ----------
    mechanism : Mechanism or array of shape (b, a1 * a2)
        A mechanism, ours or hand-written: probabilities with columns that sum to 1, cells in the
        order ``s * a2 + u`` of ``joint``.
    uncertainty : RenyiBall or AllDistributions
        The set of laws.
    joint : JointDistribution
        The public law the set is around.

    Returns
    -------
    Certificate
        ``eps`` is infinite if a report rules out a secret at some law of the set.

    Raises
    ------
    ValueError
        If the matrix is not a mechanism on the cells of ``joint``.

    Examples
    --------
    >>> joint = JointDistribution([[7, 10], [26, 57]])
    >>> response = [[0.4, 0.4, 0.2, 0.2], [0.6, 0.6, 0.8, 0.8]]
    >>> certify(response, RenyiBall(), joint)
    Certificate(eps<=0.693147181, attained 0.693147181, alpha=2, B=0.07524)
    """
    radius = uncertainty.radius_for(joint.n, joint.counts.size)
    if not isinstance(mechanism, Mechanism):
        matrix = np.asarray(mechanism, dtype=float)
        Mechanism.from_matrix(matrix, joint.secrets, joint.values)  # checks the matrix
        views: list[View] = [dense_view(matrix, proof_region(joint, uncertainty.alpha, radius))]
    else:
        if mechanism.shape[1] != joint.counts.size or len(mechanism.secrets) != len(joint.secrets):
            raise ValueError(
                f"the mechanism has {len(mechanism.secrets)} secrets and {mechanism.shape[1]} "
                f"cells, but the public law has {joint.counts.shape[0]} and {joint.counts.size}."
            )
        views = list(mechanism_views(mechanism, proof_region(joint, uncertainty.alpha, radius)))
    return _certificate(views, joint, uncertainty.alpha, radius)


def prove(
    mechanism: Mechanism, joint: JointDistribution, alpha: float, radius: float
) -> Certificate:
    """Certify a mechanism over a ball that is known already; see :func:`certify`.

    Parameters
    ----------
    mechanism : Mechanism
        On the cells of ``joint``.
    joint : JointDistribution
        The public law.
    alpha, radius : float
        Order and radius (nats) of the ball.

    Returns
    -------
    Certificate
    """
    views = list(mechanism_views(mechanism, proof_region(joint, alpha, radius)))
    return _certificate(views, joint, alpha, radius)


def proof_region(joint: JointDistribution, alpha: float, radius: float) -> Region:
    """Return the tightest region that proofs can use: the exact one where that is convex.

    Parameters
    ----------
    joint : JointDistribution
        The public law.
    alpha, radius : float
        Order and radius (nats) of the ball.

    Returns
    -------
    Region
    """
    exact = "joint" if alpha >= 0.5 else "product"
    return privacy_region(joint, alpha=alpha, radius=radius, region=exact)


def _certificate(
    views: list[View], joint: JointDistribution, alpha: float, radius: float
) -> Certificate:
    attained = max(leakage_at_centre(view) for view in views)
    witness: tuple[View, int, int, Floats] | None = None
    proven = attained
    for view in views:
        bound, found = least_provable(view, proven)
        proven = max(proven, bound)
        if found is not None:
            witness = (view, *found)
    law = joint.probabilities
    if witness is not None:
        law = _joint_law(witness, joint, alpha, radius)
        attained = max(attained, *(leakage_at(view, law) for view in views))
    return Certificate(proven, min(attained, proven), law, alpha, radius)


def _joint_law(
    witness: tuple[View, int, int, Floats],
    joint: JointDistribution,
    alpha: float,
    radius: float,
) -> Floats:
    """Complete the worst pair of conditionals to a law of the ball, pulled inside if need be."""
    view, first, second, pair = witness
    conditionals = joint.conditionals.copy()
    for s, conditional in ((first, pair[0]), (second, pair[1])):
        if view.value is None:
            conditionals[s] = conditional
        else:  # the other values keep their proportions
            rest = np.delete(conditionals[s], view.value)
            spread = rest / rest.sum() if rest.sum() > 0 else np.full(len(rest), 1.0 / len(rest))
            conditionals[s] = np.insert(spread * conditional[1], view.value, conditional[0])
    marginal = joint.marginal.copy()
    for s in (first, second):
        if marginal[s] <= 0:
            marginal[s] = 1e-9  # stands for the limit in which an unseen secret costs nothing
    if np.isfinite(radius) and radius > 0 and alpha != 1.0:
        ratio = np.where(joint.conditionals > 0, joint.conditionals, 1.0)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            power = np.where(
                joint.conditionals > 0, ratio**alpha * conditionals ** (1.0 - alpha), 0.0
            ).sum(axis=1)
        scale = power ** (1.0 / alpha)
        marginal *= np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)
    marginal /= marginal.sum()
    law = marginal[:, None] * conditionals
    if np.isinf(radius):
        return law
    centre = joint.probabilities
    low, high = 0.0, 1.0
    if divergence(centre, law, alpha) <= radius:
        return law
    for _ in range(60):  # the divergence is quasi-convex along the way to the centre
        middle = (low + high) / 2.0
        inside = divergence(centre, middle * law + (1.0 - middle) * centre, alpha) <= radius
        low, high = (middle, high) if inside else (low, middle)
    return low * law + (1.0 - low) * centre
