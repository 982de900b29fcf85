r"""A proven upper bound on the information of all mechanisms that meet some requirements.

A mechanism is a sum of private rows v, and its information the sum of their
:math:`\mu(v)`. If :math:`\mu(v) \le \lambda \cdot v + \delta P \cdot v` for every private row, then
:math:`I(X;Y) \le \sum_x \lambda_x + \delta`, since the rows sum to 1. λ are the dual variables of
the best mixture of the rows that are known, δ comes from branch and bound over all others; rows
that it finds on the way are mixed in, and λ with them.
"""

from dataclasses import dataclass

import numpy as np

from skrldp._typing import Floats
from skrldp.design.bounds._relaxation import Relaxation
from skrldp.design.bounds._search import search
from skrldp.design.programs import RowMixture, used
from skrldp.design.run import Limits
from skrldp.joint import JointDistribution
from skrldp.privacy import Requirement, Requirements

__all__ = ["MOST_PRICED_CELLS", "SLACK", "PricedBound", "priced_bound", "proven", "relaxation_of"]


# Cells up to which this pays: the boxes have as many dimensions.
MOST_PRICED_CELLS = 12
# A larger ε is as good as none, and its exponential is too far from the other coefficients.
_GREATEST_EPS = 10.0
_NEARLY_TIGHT = -1e-5  # violation of the privacy constraints that are there from the start
# Nats that are added to a bound. What the program's sums, the cuts' conditionals and the merged
# table lose by rounding is some 1e-13.
SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class PricedBound:
    """A bound and what was found on the way to it."""

    value: float  # no private mechanism has more information, in nats
    reached: float  # information of ``matrix``
    matrix: Floats  # (b, a), the best mixture of all rows, the given mechanism's and new ones
    solves: int  # linear programs solved


def priced_bound(
    joint: JointDistribution,
    requirements: Requirements,
    matrix: Floats,
    *,
    goal: float = 1e-3,
    solves: int = 1_000,
    limits: Limits | None = None,
) -> PricedBound | None:
    """Bound I(X; Y) at the public distribution from above, by pricing all private rows.

    The work is counted, so that the bound depends on what is given alone (but for a limit of time).

    Shapes: `matrix` (b, a). Returns PricedBound or None: none where this does not apply: rows are
    not about all cells of S and U, or a secret has no records, or cells have none and nothing
    bounds their entries.
    """
    relaxation = relaxation_of(joint.probabilities, joint.conditionals, requirements)
    if relaxation is None:
        return None
    return proven(relaxation, matrix, goal, solves, limits or Limits(None))


def proven(
    relaxation: Relaxation, matrix: Floats, goal: float, solves: int, limits: Limits
) -> PricedBound:
    """Bound the information of all mixtures of private rows; see :func:`priced_bound`."""
    requirements, mixture = relaxation.requirements, RowMixture(relaxation.distribution)

    def add(rows: Floats) -> None:
        private = requirements.shift(rows)
        mixture.add(private, relaxation.prices(private))

    add(np.concatenate([np.ones((1, matrix.shape[1])), matrix]))
    relaxation.cut(mixture.rows, _NEARLY_TIGHT)
    value = np.inf
    while True:
        weights, duals, reached = mixture.solve()
        left = solves - relaxation.solves
        found = search(relaxation, duals, goal * reached, left, limits, reached)
        before = value
        value = min(value, float(duals.sum()) + max(found.bound, 0.0) + SLACK)
        enough = value <= reached * (1.0 + goal) + 2.0 * SLACK
        stuck = found.hopeless or (not found.rows and value == before)
        if enough or stuck or relaxation.solves >= solves or limits.met:
            break
        if found.rows:
            add(np.array(found.rows))
    rows = mixture.rows[: len(weights)]
    best = rows[used(weights)] * weights[used(weights), None]
    return PricedBound(value, reached, best, relaxation.solves)


def relaxation_of(
    distribution: Floats,
    conditionals: Floats,
    requirements: Requirements,
    about_secrets: bool = True,
) -> Relaxation | None:
    """Make the bounds over boxes, with limits on entries and means that hold for all rows.

    Shapes: `distribution` (a1, a2); `conditionals` (a1, a2). Returns Relaxation or None: none where
    there are no such limits.
    """
    weight = distribution.sum(axis=1)
    greatest = max(float(one.pair_eps.max(initial=0.0)) for one in requirements)
    if requirements.n_cells != distribution.size or np.any(weight <= 0) or greatest > _GREATEST_EPS:
        return None
    with np.errstate(divide="ignore"):
        most = 1.0 / distribution.ravel()
    means = np.zeros(len(weight)), 1.0 / weight
    plain = [one for one in requirements if _compares_all_secrets(one, conditionals)]
    if plain:
        # The secrets' means differ by a factor of at most exp(ε), and average to 1. A cell's entry
        # is limited by the greatest probability that it may have, against another secret's mean.
        factor = float(np.exp(min(one.pair_eps.max() for one in plain)))
        means = (
            1.0 / (weight + (1.0 - weight) * factor),
            factor / (1.0 + weight * (factor - 1.0)),
        )
        one = min(plain, key=lambda one: one.pair_eps.max())
        highest = one.region.cell_bounds()[1]
        others = np.where(np.eye(len(weight), dtype=bool), np.inf, means[1]).min(axis=1)
        with np.errstate(divide="ignore"):
            most = np.minimum(most, (factor * others[:, None] / highest).ravel())
    if not np.all(np.isfinite(most)):
        return None
    return Relaxation(requirements, distribution, most * (1.0 + 1e-9), means, about_secrets)


def _compares_all_secrets(one: Requirement, conditionals: Floats) -> bool:
    """Whether a requirement is about the secrets as they are, and compares every two."""
    region = one.region
    return (
        region.compared is None
        and region.n_secrets > 1
        and region.rows.in_order
        and region.conditionals.shape == conditionals.shape
        and bool(np.allclose(region.conditionals, conditionals, rtol=0.0, atol=1e-12))
    )
