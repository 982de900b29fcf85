"""Sets for surveys: bounds on likelihood-ratio statistics, by Rao and Scott's method.

With n_s records of secret s, ``2 G_s = 2 n_s KL(p_s || R_s)`` is about a sum of chi-squared
variables, weighted with the eigenvalues of the estimates' covariance, in units of that of n_s
independent records. Such a sum is approximately T times an F variable with T²/Q and (T²/Q) df
degrees of freedom, where T is the sum and Q the sum of squares of these eigenvalues.

The estimated covariance ignores cells that were not drawn, so T is at least Kish's design effect of
the weights, and values without records get the mean effect of the others. With few records in a
cell, the statistics are larger than with many, so the bounds are multiplied by the same inflation
as for independent records.
"""

import numpy as np
from scipy.special import fdtri

from skrldp._typing import Floats
from skrldp.joint import JointDistribution
from skrldp.public_summary import PublicSummary
from skrldp.sets.radii import (
    chi2_radius,
    finite_sample_radius,
    likelihood_ratio_budgets,
    mean_width,
)
from skrldp.surveys.records import MOST_CELLS

NOT_INDEPENDENT = (
    "radius='finite-sample' needs independent records, but these come from a survey. Use "
    "survey=SurveyDesign(max_weight=...) in a sanitizer, which draws an independent subsample, "
    "or LikelihoodRatioSet(radius='asymptotic'), which accounts for the design."
)


def survey_budgets(joint: JointDistribution, beta: float) -> tuple[float, float]:
    """Bounds on the statistics of single secrets and of pairs, at joint error about beta.

    Secrets depend on one another, so beta is divided among all bounds. Among bounds on single
    secrets, on pairs, and on both, those with the smallest mean width are returned.

    Returns `single, pair`: in nats, multiplied by records. Raises ValueError if the table has too
    many cells for a covariance.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp.surveys.records import SurveyRecords, SurveyTotals
    >>> cells = np.repeat(range(4), [70, 100, 260, 570])
    >>> records = SurveyRecords(np.ones(1000), np.zeros(1000, int), np.arange(1000))
    >>> survey = SurveyTotals.of(records, cells, 4)
    >>> joint = JointDistribution([[70, 100], [260, 570]], survey=survey)
    >>> print("%.2f %.2f" % survey_budgets(joint, 0.05))
    4.43 4.43
    """
    records, values = joint.counts.sum(axis=1), joint.most_values
    seen = np.flatnonzero(records)
    trace, squares = _of_secrets(joint)
    if values <= 1:
        return 0.0, 0.0

    own_squares = np.diag(squares)
    s, t = (seen[indices] for indices in np.triu_indices(len(seen), 1))

    def single_at(error: float) -> float:
        return float(_bound(trace[seen], own_squares[seen], joint, error).max())

    def pair_at(error: float) -> float:
        paired = own_squares[s] + own_squares[t] + 2.0 * squares[s, t]
        return float(_bound(trace[s] + trace[t], paired, joint, error).max())

    exact = likelihood_ratio_budgets(records, values, beta, "finite-sample")
    asymptotic = likelihood_ratio_budgets(records, values, beta, "asymptotic")
    if len(seen) == 1:
        bound = single_at(beta) * max(exact[0] / asymptotic[0], 1.0)
        return bound, bound
    few = max(exact[1] / asymptotic[1], 1.0)
    alone, paired = single_at(beta / len(seen)), pair_at(beta / len(s))
    halves = single_at(beta / 2 / len(seen)), pair_at(beta / 2 / len(s))
    candidates = [(alone, 2.0 * alone), (paired, paired), (min(halves), halves[1])]
    single, pair = min(
        candidates,
        key=lambda candidate: mean_width(max(candidate[0] / candidate[1], 0.5), candidate[1]),
    )
    return single * few, min(pair, 2.0 * single) * few


def effective_records(joint: JointDistribution) -> Floats:
    """Effective number of independent records of each secret, shape (a1,)."""
    trace, _ = _of_secrets(joint)
    records = joint.counts.sum(axis=1)
    free = max(joint.most_values - 1, 1)
    effective: Floats = records / np.where(trace > 0, trace / free, 1.0)
    return effective


def summary_of(joint: JointDistribution) -> PublicSummary:
    """Summarise a public table for estimates, with a survey's effective number of records."""
    if joint.survey is None or joint.survey.covariance is None:
        return joint.summary()
    size = joint.counts.size
    (trace,), _ = _effects(joint, 1, size - 1)
    return joint.summary(float(joint.n / (trace / (size - 1))) if trace > 0 else float(joint.n))


def survey_radius(joint: JointDistribution, beta: float) -> float:
    """Radius of the Kullback-Leibler ball around a survey's distribution, at error about beta."""
    n, size = joint.n, len(joint.counts) * joint.most_values
    trace, squares = _effects(joint, 1, size - 1)
    few = finite_sample_radius(beta, n, size) / chi2_radius(1.0, beta, n, size)
    return float(_bound(trace, squares[0], joint, beta)[0]) / n * max(few, 1.0)


def _covariance(joint: JointDistribution) -> Floats:
    assert joint.survey is not None
    if joint.survey.covariance is None:
        raise ValueError(
            f"a survey's confidence set supports at most {MOST_CELLS:,} cells, but the table has "
            f"{joint.counts.size:,}. Use fewer columns, or fewer categories."
        )
    return joint.survey.covariance


def _apart(covariance: Floats, shares: Floats, totals: Floats) -> Floats:
    """Covariance of shares within groups, linearised as (t_u - p_u sum t) / T in each group.

    Shapes: `covariance` (g k, g k); `shares` (g, k); `totals` (g,); returns (g, k, g, k).
    """
    g, k = shares.shape
    centred = covariance.reshape(g, k, g, k)
    centred = centred - shares[:, :, None, None] * centred.sum(axis=1, keepdims=True)
    centred = centred - shares * centred.sum(axis=3, keepdims=True)
    inverse = np.where(totals > 0, 1.0 / np.where(totals > 0, totals, 1.0), 0.0)
    result: Floats = centred * inverse[:, None, None, None] * inverse[:, None]
    return result


def _of_secrets(joint: JointDistribution) -> tuple[Floats, Floats]:
    return _effects(joint, len(joint.counts), joint.most_values - 1)


def _effects(joint: JointDistribution, groups: int, free: int) -> tuple[Floats, Floats]:
    """Traces of groups' blocks of the standardised covariance, and sums of squares of blocks.

    The groups are the secrets, or a single group of all cells. In these units, the covariance of
    independent records is a projection, with `free` eigenvalues of 1 for each group.

    Shapes: returns (groups,) and (groups, groups).
    """
    survey = joint.survey
    assert survey is not None
    records = joint.counts.reshape(groups, -1).sum(axis=1)
    totals = survey.totals.reshape(groups, -1).sum(axis=1)
    seen = records > 0
    people = joint.people.reshape(groups, -1)
    shares = people / np.maximum(people.sum(axis=1, keepdims=True), 1)
    units = np.sqrt(
        np.divide(records[:, None], shares, out=np.zeros_like(shares), where=people > 0)
    )
    matrix = _apart(_covariance(joint), shares, totals)
    matrix = matrix * units[:, :, None, None] * units
    trace = np.einsum("susu->s", matrix)
    squares = (matrix**2).sum(axis=(1, 3))
    weights = survey.squares.reshape(groups, -1).sum(axis=1)
    kish = np.divide(records * weights, totals**2, out=np.zeros(groups), where=seen)
    # The covariance ignores values without records, so they get the mean effect of the others.
    shown = np.maximum((people > 0).sum(axis=1) - 1, 0)
    of_all = trace.sum() / max(shown.sum(), 1)
    of_value = np.divide(trace, shown, out=np.full(groups, of_all), where=shown > 0)
    minimum = np.maximum(kish, of_value) * free
    for s in np.flatnonzero(seen):
        if trace[s] <= 0.0:  # without any variance, use this effect for all values
            trace[s], squares[s, s] = minimum[s], minimum[s] ** 2 / max(free, 1)
        factor = max(minimum[s] / trace[s], 1.0) if trace[s] > 0 else 1.0
        trace[s] *= factor
        squares[s] *= factor
        squares[:, s] *= factor  # the block of s with itself counts twice
    return trace, squares


def _bound(trace: Floats, squares: Floats, joint: JointDistribution, error: float) -> Floats:
    """Bound half of weighted sums of chi-squared variables, each at this error probability."""
    assert joint.survey is not None
    degrees = trace**2 / np.where(trace > 0.0, squares, 1.0)
    quantile = fdtri(degrees, degrees * joint.survey.degrees, 1.0 - error)
    bound: Floats = np.where(trace > 0.0, trace * quantile / 2.0, 0.0)
    return bound
