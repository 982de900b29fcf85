"""Tables and regions for the tests of the central path."""

import numpy as np

from skrldp import JointDistribution
from skrldp.privacy.private_rows import LowerRegion, privacy_region
from skrldp.sets.fitted_sets import ConditionalsSet, RenyiSet

TABLES = {
    "2x2": [[7, 10], [26, 57]],
    "3x3": [[10, 7, 101], [161, 144, 3], [6, 12, 59]],
    "zero cells": [[9, 0, 31], [40, 25, 0], [1, 2, 8]],
    "unseen": [[20, 30, 5], [0, 0, 0], [14, 60, 9]],
}


# every way in which a region enters the path
REGIONS = [
    *(("joint", alpha) for alpha in (0.6, 1.0, 1.5, 2.0, 4.0)),
    *(("product", alpha) for alpha in (0.3, 0.45, 0.6, 1.0, 1.5, 2.0, 4.0)),
    *(("lower", 2.0), ("lower", 0.4), ("zero", 1.0), ("point", 1.0), ("pairs", 1.0)),
]


def region_of(table, kind, alpha=2.0, radius=0.05, same_secret=False):
    joint = JointDistribution(TABLES[table])
    if kind == "pairs":  # the shared budget binds for some rows, the single ones for others
        return privacy_region(joint, ConditionalsSet(0.03, 0.04, 0.02), same_secret=same_secret)
    radius = {"point": 0.0, "simplex": np.inf, "zero": np.inf}.get(kind, radius)
    name = "lower" if kind in ("point", "simplex", "zero") else kind
    region = privacy_region(joint, RenyiSet(alpha, radius), region=name, same_secret=same_secret)
    # "zero": all distributions again, as those above lower bounds of 0
    return LowerRegion.around(region) if kind == "zero" else region


def has_path(table, kind):
    return (table, kind) != ("unseen", "point")


THETAS = (0.5, 1.0, 0.0, 0.75, 0.2, 1e-7, -1e-7, -0.3, -2.0 / 3.0, -7.0 / 3.0)


def plain_mean(x, p, theta):
    x, p = x[p > 0], p[p > 0]
    if theta == 0.0:
        return float(np.exp(p @ np.log(x)))
    return float((p @ x**theta) ** (1.0 / theta))
