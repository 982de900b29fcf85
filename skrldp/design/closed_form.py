"""Mechanisms without optimisation: GRR, SRR and independent reporting.

Each is determined by four probabilities (same, same_secret, same_value, other), from which
:class:`skrldp.mechanism.forms.BlockForm` samples without a matrix.

:func:`value_budget` computes how much a report of U may contain without revealing too much about
the secret.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skrldp._arrays import LARGEST_EXPONENT, chunks
from skrldp._typing import Floats, Indices
from skrldp.design.limits import MOST_ENTRIES
from skrldp.information import Blocks, block_information
from skrldp.joint import JointDistribution
from skrldp.privacy.private_rows import Region
from skrldp.privacy.requirements import Requirement, Requirements
from skrldp.privacy.screening import odds_factor, screened_maxima

# Function from values of ε2, of shape (n,), to those of δ.
_Budget = Callable[[Floats], Floats]


def value_budget(requirements: Requirements) -> Callable[[Any], Any]:
    """Find δ, the budget for the report of U, as a function of the unused part of the smallest ε.

    Returns callable: maps ε2, the smallest ε minus that of the report of S, to δ, which may be
    infinite. An array of ε2 is mapped to an array of δ in little more time than a single value.
    """
    least = requirements.least_eps
    budgets = [_budget(one, least) for one in requirements]

    def value_eps(part: Any) -> Any:
        parts = np.atleast_1d(np.asarray(part, dtype=float))
        found = np.min([of(parts) for of in budgets], axis=0)
        return found if np.ndim(part) else float(found[0])

    return value_eps


def _budget(one: Requirement, least: float) -> _Budget:
    """δ as a function of ε2, for one requirement."""
    first, second = _telling_pairs(one.region)
    spare = one.eps - least
    if len(first) == 0:  # no report of U contains information
        return lambda parts: np.full(parts.shape, np.inf)
    if one.everywhere:
        return lambda parts: parts + spare
    return _tight_budget(one.region, first, second, spare)


def _telling_pairs(region: Region) -> tuple[Indices, Indices]:
    """Pairs of secrets under which U has several values.

    Copies that serve as padding are not counted as values.
    """
    first, second = region.pairs
    several = (region.rows.real.sum(axis=1) > 1)[region.rows.place]
    telling = several[first] | several[second]
    return first[telling], second[telling]


def _tight_budget(region: Region, first: Indices, second: Indices, spare: float) -> _Budget:
    """δ as a function of ε2, from the exact worst pair for each value of U."""
    lower, upper = region.cell_bounds()
    real = region.rows.real[region.rows.place]
    counts = (real[first] | real[second]).T

    def some(parts: Floats) -> Floats:
        eps = parts + spare
        room = np.expm1(eps)
        # Each conditional alone yields an upper bound.
        rough = upper[first].T - odds_factor(eps)[:, None, None] * lower[second].T
        rough = np.where(counts, least_odds(rough, room[:, None, None]), 0.0)

        def exact(row: Indices, entry: Indices) -> Floats:
            value, pair = np.unravel_index(entry, counts.shape)
            gap = region.value_gap(value, first[pair], second[pair], eps[row])
            return least_odds(gap, room[row])

        worst = screened_maxima(rough.reshape(len(parts), -1), exact, 64)
        with np.errstate(divide="ignore"):
            return np.log1p(1.0 / worst)

    def value_eps(parts: Floats) -> Floats:
        size = max(1, MOST_ENTRIES // counts.size)
        return np.concatenate([some(parts[rows]) for rows in chunks(len(parts), size)])

    return value_eps


def least_odds(gap: Floats, room: Floats) -> Floats:
    r"""Return 1 / (exp(δ) - 1) for the largest δ that the gap allows.

    Returns array of the shape of ``gap``: 0 if everything may be reported, infinity if nothing may.
    """
    with np.errstate(divide="ignore"):
        return np.where(gap > 0, gap / np.where(gap > 0, room, 1.0), 0.0)


def grr(eps: float, n_cells: int) -> Blocks:
    """Generalised randomised response on all of X (Entropy (56)).

    Examples
    --------
    >>> [round(p, 3) for p in grr(np.log(2), 4)]
    [0.4, 0.2, 0.2, 0.2]
    """
    other = 1.0 / (math.exp(eps) + n_cells - 1.0) if eps < LARGEST_EXPONENT else 0.0
    return 1.0 - (n_cells - 1.0) * other, other, other, other


def srr(eps: float, n_secrets: int, n_values: int) -> Blocks:
    r"""Secret randomised response: the ratio :math:`e^\epsilon` holds only between secrets.

    Entropy (58); within a secret the ratio may be :math:`e^{2\epsilon}`.

    Examples
    --------
    >>> [round(p, 3) for p in srr(np.log(2), 2, 2)]
    [0.444, 0.111, 0.222, 0.222]
    """
    drop = math.exp(-eps)
    others = (n_secrets - 1.0) * n_values
    # Divided by exp(eps), so that a large eps does not overflow.
    total = 1.0 + drop**2 * (n_values - 1.0) + drop * others
    same_secret, foreign = drop**2 / total, drop / total
    return 1.0 - (n_values - 1.0) * same_secret - others * foreign, same_secret, foreign, foreign


def block_matrix(blocks: Blocks, shape: tuple[int, int]) -> Floats:
    """Write a block mechanism as a matrix.

    Shapes: returns (a, a).
    """
    a1, a2 = shape
    same, same_secret, same_value, other = blocks
    matrix = (
        other
        + (same_secret - other) * np.kron(np.eye(a1), np.ones((a2, a2)))
        + (same_value - other) * np.kron(np.ones((a1, a1)), np.eye(a2))
        + (same - same_secret - same_value + other) * np.eye(a1 * a2)
    )
    return np.maximum(matrix, 0.0)


@dataclass(frozen=True)
class IndependentReporting:
    """Independent reports of S and of U, each by GRR."""

    blocks: Blocks  # the mechanism
    secret_eps: float  # budget for the report of S, ε1 = ε − ε2
    value_eps: float  # budget for the report of U, δ; infinite if U is reported unchanged
    information: float  # I(X; Y) at the public distribution, in nats


def independent_reporting(
    joint: JointDistribution, requirements: Requirements
) -> IndependentReporting:
    r"""Independent reporting with the best split of the budget (Entropy (82)).

    S is reported by GRR at :math:`\epsilon_1`. The rest of a requirement's ε, :math:`\epsilon_2`,
    is left for the report of U, and δ is the smallest value that any requirement allows. Over a set
    of distributions, the report of U by GRR with budget δ leaks at most :math:`\epsilon_2` about S
    if :math:`e^\delta - 1 = (e^{\epsilon_2}-1)/m`, with *m* the region's bound on :math:`\max_u
    R_1(u)
    - e^{\epsilon_2} R_2(u)`. No larger δ is valid.

    Over all distributions, it leaks δ, so that :math:`\delta = \epsilon_2` there. If some columns
    of U are known, *u* must be distinguishable from another value with the same known columns.

    Examples
    --------
    A bound over all distributions limits the report of U, which could otherwise be sent unchanged:

    >>> from skrldp.privacy.requirements import Requirement, Requirements
    >>> from skrldp.privacy.private_rows import privacy_region
    >>> from skrldp.sets.fitted_sets import RenyiSet
    >>> joint = JointDistribution([[40, 30], [30, 20]])
    >>> one = Requirement(privacy_region(joint, RenyiSet(2.0, 0.001)), 0.8)
    >>> everywhere = Requirement(privacy_region(joint, RenyiSet(1.0, np.inf)), 2.0)
    >>> for asked in (one,), (one, everywhere):
    ...     found = independent_reporting(joint, Requirements(asked))
    ...     print(round(found.secret_eps, 2), round(found.value_eps, 2))
    0.65 inf
    0.0 2.0
    """
    if not requirements.any_pair:  # nothing is compared, so everything may be reported
        return _reports(joint, np.inf, np.inf)
    return divided_reporting(joint, requirements.least_eps, value_budget(requirements))


def divided_reporting(
    joint: JointDistribution, eps: float, value_eps: Callable[[Floats], Floats]
) -> IndependentReporting:
    """Return the best split of ε, if ``value_eps`` maps the rest of ε to the budget of U."""

    def split(parts: Floats) -> list[IndependentReporting]:
        deltas = value_eps(parts)
        return [
            _reports(joint, eps - float(part), float(delta))
            for part, delta in zip(parts, deltas, strict=True)
        ]

    return _best_split(split, eps)


def _reports(joint: JointDistribution, secret_eps: float, value_eps: float) -> IndependentReporting:
    blocks = _product(secret_eps, value_eps, joint.counts.shape)
    information = block_information(blocks, joint.probabilities)
    return IndependentReporting(blocks, secret_eps, value_eps, information)


def closed_forms(joint: JointDistribution, requirements: Requirements) -> list[Floats]:
    """Return the private closed forms as matrices.

    Returns list of arrays: SRR, independent reporting if all requirements are about the whole
    secret, and GRR, of shape (a, a). If only U is observed, randomised response to U with the
    largest private budget, of shape (a2, a2).
    """
    shape = joint.counts.shape
    if requirements.n_cells < joint.counts.size:
        compared = requirements.any_pair
        delta = value_budget(requirements)(requirements.least_eps) if compared else np.inf
        return [response_matrix(delta, shape[1])]
    forms = [srr(min(requirements.least_eps, LARGEST_EXPONENT), *shape)]
    if all(about_whole_secrets(one, joint) for one in requirements):
        forms.append(independent_reporting(joint, requirements).blocks)
    forms.append(grr(min(requirements.least_eps, LARGEST_EXPONENT), joint.counts.size))
    return [block_matrix(form, shape) for form in forms]


def _product(secret_eps: float, value_eps: float, shape: tuple[int, int]) -> Blocks:
    a1, a2 = shape
    same_s, other_s = _response(secret_eps, a1)
    same_u, other_u = _response(value_eps, a2)
    return same_s * same_u, same_s * other_u, other_s * same_u, other_s * other_u


def _response(eps: float, size: int) -> tuple[float, float]:
    """Probabilities, in GRR, of the true value and of each other value.

    Above 60 nats, the value is reported unchanged, because other reports would have probabilities
    below exp(-60), which the integers of a released mechanism cannot represent.
    """
    return grr(eps, size)[:2] if eps <= 60.0 else (1.0, 0.0)


def response_matrix(eps: float, size: int) -> Floats:
    """Write GRR of one attribute as a matrix.

    Shapes: returns (size, size).
    """
    same, other = _response(eps, size)
    return other + (same - other) * np.eye(size)


def about_whole_secrets(one: Requirement, joint: JointDistribution) -> bool:
    """Whether each part belongs to one secret of the joint distribution."""
    a2 = joint.counts.shape[1]
    of_cell = one.region.rows.parts // a2
    return bool(np.all(of_cell == of_cell[:, :1]))


def _best_split(
    split: Callable[[Floats], list[IndependentReporting]], eps: float, n_points: int = 33
) -> IndependentReporting:
    """Search ε2 on a grid, then twice more around each of the two best points.

    There may be two local maxima. The first grid alone loses up to 0.8 % on the ten tables;
    doubling its points gains nothing.
    """
    tried: dict[float, IndependentReporting] = {}

    def reports(parts: Floats) -> dict[float, IndependentReporting]:
        new = [part for part in parts.tolist() if part not in tried]
        if new:
            tried.update(zip(new, split(np.array(new)), strict=True))
        return {part: tried[part] for part in parts.tolist()}

    reports(np.linspace(0.0, eps, n_points))
    width = eps / (n_points - 1)
    ranked = sorted(tried, key=lambda part: -tried[part].information)
    for centre in ranked[:2]:
        low, high = max(0.0, centre - width), min(eps, centre + width)
        for _ in range(2):
            found = reports(np.linspace(low, high, n_points))
            best = max(found, key=lambda part: found[part].information)
            step = (high - low) / (n_points - 1)
            low, high = max(0.0, best - step), min(eps, best + step)
    return max(tried.values(), key=lambda result: result.information)
