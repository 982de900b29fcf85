"""From a public law and a ball around it to the region that privacy must hold for."""

import numpy as np

from skrldp._params import check_choice
from skrldp.joint import JointDistribution
from skrldp.region._balls import JointRegion, ProductRegion
from skrldp.region._base import Region
from skrldp.region._polyhedra import BoxRegion, LowerRegion, PointRegion, SimplexRegion

__all__ = ["REGIONS", "privacy_region"]

REGIONS = ("joint", "product", "box", "lower")


def privacy_region(
    joint: JointDistribution,
    *,
    alpha: float,
    radius: float,
    region: str = "joint",
    same_secret: bool = False,
    blind: bool = False,
) -> Region:
    """Build the privacy region of a ball of laws around the public one.

    Parameters
    ----------
    joint : JointDistribution
        The public law.
    alpha, radius : float
        Order and radius (nats) of the ball.
    region : {"joint", "product", "box", "lower"}
        How closely the region follows the ball.
    same_secret : bool
        Also compare a secret with itself under two laws, as Entropy Definition 3 does; it is not
        part of the privacy promise and only costs utility.
    blind : bool
        For mechanisms that do not see the secret: rows are functions of U alone.

    Returns
    -------
    Region

    Raises
    ------
    ValueError
        If the region is unknown, or is the joint one with alpha < 1/2, where it is not convex.
    """
    check_choice("region", region, REGIONS)
    arguments = joint.conditionals, joint.marginal, alpha, radius, same_secret, blind
    if radius == 0:
        return PointRegion(*arguments)
    if np.isinf(radius):
        return SimplexRegion(*arguments)
    if region == "joint":
        if alpha < 0.5:
            raise ValueError(
                f"region='joint' needs alpha >= 1/2, got alpha={alpha}: below, what the ball "
                "allows for two conditionals together is not convex, and a bound from duality "
                "would be loose. Use region='product', 'box' or 'lower', or a larger alpha."
            )
        return JointRegion(*arguments)
    ball = ProductRegion(*arguments)
    if region == "product":
        return ball
    return BoxRegion.around(ball) if region == "box" else LowerRegion.around(ball)
