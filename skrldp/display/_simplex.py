"""What a Rényi ball allows for a conditional of three values, as shapes in a triangle."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from skrldp.bounds import conditional_radius
from skrldp.laws import worst_laws
from skrldp.oracle import support

__all__ = ["CORNERS", "box_outline", "region_outline", "to_plane"]

Floats = NDArray[np.float64]

# Of the triangle: the first value at the lower left, then counterclockwise.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
_DIRECTIONS = 360


def to_plane(laws: Floats) -> Floats:
    """Place laws in the triangle.

    Parameters
    ----------
    laws : array of shape (..., 3)
        Laws of three values.

    Returns
    -------
    array of shape (..., 2)
    """
    return laws @ CORNERS


def region_outline(p: Floats, weight: float, alpha: float, radius: float) -> Floats:
    """Boundary of what a ball of joint laws allows for one conditional (Entropy Theorem 1).

    That is convex, so it is the hull of the laws where linear functions are greatest; the oracle
    finds them.

    Parameters
    ----------
    p : array of shape (3,)
        Public conditional.
    weight : float
        Public probability of the secret.
    alpha, radius : float
        Order and radius (nats) of the ball around the joint law.

    Returns
    -------
    array of shape (m, 3)
        Laws along the boundary.
    """
    if weight > 0 and radius == 0:
        return p[None, :]
    if np.isinf(conditional_radius([weight], alpha, radius)[0]):
        return np.eye(3)
    angle = np.linspace(0.0, 2.0 * np.pi, _DIRECTIONS, endpoint=False)
    plane = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    q = (plane @ CORNERS.T)[:, None, :]
    centre = np.broadcast_to(p, q.shape)
    weights = np.full((len(q), 1), weight)
    slack = support(q, centre, weights, alpha, radius).slack
    return worst_laws(q, centre, weights, alpha, radius, slack)[:, 0]


def box_outline(lower: Floats, upper: Floats) -> Floats:
    """Corners of the laws of three values between bounds.

    Parameters
    ----------
    lower, upper : arrays of shape (3,)
        Bounds that some law keeps.

    Returns
    -------
    array of shape (m, 3)
        In order around the polygon; fewer than six where bounds meet.
    """
    found = []
    for free in range(3):  # at a corner two probabilities are at their bounds
        others = [u for u in range(3) if u != free]
        for ends in product((0, 1), repeat=2):
            law = np.empty(3)
            law[others] = [(lower, upper)[end][u] for end, u in zip(ends, others, strict=True)]
            law[free] = 1.0 - law[others].sum()
            if lower[free] - 1e-12 <= law[free] <= upper[free] + 1e-12:
                found.append(law)
    corners = np.unique(np.round(found, 12), axis=0)
    x, y = (to_plane(corners) - to_plane(corners).mean(axis=0)).T
    return corners[np.argsort(np.arctan2(y, x))]
