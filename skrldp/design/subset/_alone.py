"""Reports of one attribute alone: nearly the best of independent reports, in little time."""

import numpy as np

from skrldp._typing import Floats
from skrldp.design.closed_form import about_whole_secrets
from skrldp.design.subset._extremal import optimal_response
from skrldp.design.subset._independent import OwnBudgets
from skrldp.joint import JointDistribution
from skrldp.requirements import Requirements

__all__ = ["reports_of_one"]


# Pairs of secrets times values of U that can be looked at in some seconds. A table of 200 x 5 cells
# has 199,000.
_MOST_WORK = 250_000
_SEARCHES = 3  # for sets of values
_PROGRAMS = 8  # linear programs for the report of S


def reports_of_one(joint: JointDistribution, requirements: Requirements) -> list[Floats]:
    """Design the report of U alone, and that of S alone.

    Of all ways to share a budget between independent reports of S and of U, to spend all on U is
    mostly the best, and to spend all on S where U says much about S.

    Parameters
    ----------
    joint : JointDistribution
        The public distribution.
    requirements : Requirements
        What a row must satisfy; some pair of secrets is compared.

    Returns
    -------
    list of arrays of shape (b, n_cells)
        Mechanisms that are private up to rounding. Fewer, or none, where requirements are about
        other secrets than those of ``joint``, or there is too much to do.
    """
    a1, a2 = joint.counts.shape
    work = sum(len(one.region.pairs[0]) for one in requirements) * a2
    if work > _MOST_WORK:
        return []
    blind = requirements.n_cells < joint.counts.size
    if not blind and not all(about_whole_secrets(one, joint) for one in requirements):
        return []
    eps = requirements.least_eps
    silent = np.ones((1, a1))
    budgets = OwnBudgets(joint, requirements, [eps] * _SEARCHES)
    of_values = list(budgets.reports(silent, 0.0, eps).values())
    if blind:
        return of_values
    of_secrets = optimal_response(joint.counts.sum(axis=1), eps, rounds=_PROGRAMS).matrix
    parts = [*((silent, report) for report in of_values), (of_secrets, np.ones((1, a2)))]
    return [np.kron(first, second).astype(float) for first, second in parts]
