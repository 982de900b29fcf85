"""Published figures from surveys by randomised response, which is a mechanism with a known matrix.

Only what follows from printed counts can be computed again: the records of both surveys are in the
R packages ``rr`` and ``RRreg`` alone, whose printed coefficients are therefore not tested.
"""

import numpy as np
import pytest

from skrldp import FrequencyEstimator, JointDistribution, Mechanism
from skrldp.regression import logit

pytest.importorskip("formulaic")

FORCED = np.array([[5, 1], [1, 5]]) / 6  # a die: the truth at 2 to 5, else a forced answer


def estimate(matrix, secrets, values, columns, counts, **options):
    mechanism = Mechanism.from_matrix(matrix, secrets, values).named(None, columns)
    return FrequencyEstimator(mechanism, **options).fit(range(len(matrix)), sample_weight=counts)


def test_contacts_with_armed_groups_in_nigeria():
    """Blair, Imai and Zhou (2015): .26191 (.01441), from the only counts with these digits."""
    columns = [("contact", True), ("everybody", False)]
    estimator = estimate(FORCED, ["no", "yes"], ["all"], columns, [2435 - 831, 831])
    share = estimator.marginal("contact").to_frame().set_index("contact").loc["yes"]
    assert (share["estimate"], share["std_error"]) == pytest.approx((0.26191, 0.01441), abs=5e-6)
    found = logit("contact ~ 1", estimator)
    slope = 0.26191 * (1 - 0.26191)
    assert found.params["Intercept"] == pytest.approx(np.log(0.26191 / (1 - 0.26191)), abs=3e-5)
    assert found.bse["Intercept"] == pytest.approx(0.01441 / slope, abs=3e-5)


def test_minarets_by_the_stochastic_lie_detector():
    """Heck and Moshagen (2018): .870695 (.041085), of whom .635806 do not lie.

    Two groups have dice of their own: a carrier says yes unless he lies, and another person says
    yes as the die wants. The group is drawn by the mechanism, so that one matrix knows all.
    """
    groups, yes = np.array([564, 692]), np.array([373, 398])
    says_yes = np.array([[1, 1], [0, 0], [10 / 12, 2 / 12], [10 / 12, 2 / 12]]).T  # (group, cell)
    shares = (groups / groups.sum())[:, None]
    matrix = np.concatenate([shares * says_yes, shares * (1 - says_yes)])
    columns = [("carrier", True), ("answer", False)]
    counts = np.concatenate([yes, groups - yes])
    asked = matrix, ["yes", "no"], ["honest", "lie"], columns, counts
    likely = estimate(*asked, method="em").frequencies_  # weights that are best there
    public = JointDistribution(np.rint(1e9 * likely), *asked[1:3])
    estimator = estimate(*asked, public=public)
    share = estimator.marginal("carrier").to_frame().set_index("carrier").loc["yes"]
    assert (share["estimate"], share["std_error"]) == pytest.approx((0.870695, 0.041085), abs=2e-6)
    honest = estimator.frequencies_[0, 0] / share["estimate"]
    assert honest == pytest.approx(0.635806, abs=2e-6)
