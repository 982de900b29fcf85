"""How far an asymptotic set is from what it says, where cells are rare: by simulation.

An asymptotic radius is right where each cell has many records. Cells with an expected count of some
0.01 to 5 make such sets miss the true distribution more often than they say: at order 2 those far
below 1, each of whose records counts much, at order 1 those of about 2. The table does not tell
the expected counts of cells that have a record or none, so the worst of some plausible ones counts.
"""

import numpy as np
from scipy.special import betainccinv, betaincinv

from skrldp.joint import JointDistribution
from skrldp.sets._fitted_set import FittedSet

__all__ = ["estimated_miss"]

# A set is taken at its word if each cell has so many records.
_MANY = 10
# Expected counts that are tried for cells with one record or none, where the table allows them, and
# the probability with which an interval for them may be wrong on either side.
_EXPECTED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_MOST_EXPECTED = 3.0
_LEVEL = 0.1
# Tables that are drawn: at most and at least, and in between, cells of all of them together.
_TABLES, _FEWEST, _DRAWN = 2_000, 250, 400_000


def estimated_miss(around: FittedSet, joint: JointDistribution) -> float:
    """Estimate how often a set that is made like this one misses the true distribution.

    Tables are drawn from the public counts, in which cells with one record or none have been given
    the same expected count: the worst of those that are plausible. The seed is fixed.

    Returns float: a probability, with a standard error of 0.007 at 0.1 (0.02 for thousands of
    cells). It is `around.beta` where no estimate is needed: each cell has ten records or more, or
    the set is not asymptotic. It is 0 where there is no beta.

    Examples
    --------
    >>> from skrldp import LikelihoodRatioSet, RenyiBall
    >>> joint = JointDistribution([[9_990, 1, 0, 0, 0], [0, 0, 0, 0, 0]])
    >>> round(estimated_miss(RenyiBall().fit_set(joint), joint), 1)
    0.4
    >>> estimated_miss(LikelihoodRatioSet().fit_set(joint), joint)
    0.05
    """
    said = 0.0 if around.beta is None else around.beta
    counts = joint.counts
    if around.rule not in ("chi2", "asymptotic") or counts.min() >= _MANY:
        return said
    tables = int(np.clip(_DRAWN // counts.size, _FEWEST, _TABLES))
    low = counts <= 1
    worst = 0.0
    for expected in _plausible(int((counts == 0).sum()), int((counts == 1).sum())):
        weights = np.where(low, expected, counts)
        worst = max(worst, around.missed_share(joint, weights, tables))
    return worst


def _plausible(none: int, one: int) -> list[float]:
    """Return expected counts that so many cells with no record and with one may have."""
    if none + one == 0:
        return [1.0]  # not used
    # Of cells with at most one record, the share with one is e / (1 + e).
    low = betaincinv(one, none + 1, _LEVEL) if one else 0.0
    high = betainccinv(one + 1, none, _LEVEL) if none else 1.0
    least = min(low / (1.0 - low), 1.0)
    most = min(high / max(1.0 - high, 1e-9), _MOST_EXPECTED)
    inside = [expected for expected in _EXPECTED if least < expected < most]
    return [*([least] if least > 0.0 else []), *inside, most]
