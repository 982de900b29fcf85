"""From a public distribution and a set around it to the region that privacy must hold for."""

from skrldp._params import check_choice
from skrldp._typing import Indices
from skrldp.joint import JointDistribution
from skrldp.privacy._balls import JointRegion, ProductRegion
from skrldp.privacy._layout import Layout
from skrldp.privacy._polyhedra import BoxRegion, LowerRegion, PointRegion, SimplexRegion
from skrldp.privacy._region import Region
from skrldp.sets import REGIONS, FittedSet

__all__ = ["exact_kind", "privacy_region"]


def exact_kind(uncertainty: FittedSet) -> str:
    """Name the tightest region that proofs can use: the exact one where that is convex."""
    return "joint" if uncertainty.joint_is_convex else "product"


def privacy_region(
    joint: JointDistribution,
    uncertainty: FittedSet,
    *,
    region: str = "joint",
    same_secret: bool = False,
    layout: Layout | None = None,
    compared: tuple[Indices, Indices] | None = None,
) -> Region:
    """Build the privacy region of a set of distributions around the public one.

    Shapes: `compared` (n_pairs,). Raises ValueError if the region is unknown, or is the joint one
    with alpha < 1/2, where it is not convex.
    """
    if region == "exact":
        region = exact_kind(uncertainty)
    check_choice("region", region, REGIONS)
    public = joint.conditionals, joint.marginal, uncertainty.secret_weights(joint)
    arguments = *public, uncertainty, same_secret, layout, compared
    if uncertainty.is_point:
        return PointRegion(*arguments)
    if uncertainty.is_everything:
        return SimplexRegion(*arguments)
    if region == "joint" and uncertainty.shares_budget:
        if not uncertainty.joint_is_convex:
            raise ValueError(
                f"region='joint' needs alpha >= 1/2, got alpha={uncertainty.alpha}: below, what "
                "the ball allows for two conditionals together is not convex, and a bound from "
                "duality would be loose. Use RenyiBall(alpha, region='product'), 'box' or 'lower', "
                "or a larger alpha."
            )
        return JointRegion(*arguments)
    ball = ProductRegion(*arguments)
    if region in ("joint", "product"):
        return ball
    return BoxRegion.around(ball) if region == "box" else LowerRegion.around(ball)
