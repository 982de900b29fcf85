r"""Mechanisms that need no optimisation: GRR, SRR and independent reporting.

Each is given by four probabilities (same, same_secret, same_value, other), which
:class:`skrldp.mechanism.BlockForm` samples without a matrix.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from skrldp._typing import Floats, Indices
from skrldp.design._screened_maximum import screened_maxima
from skrldp.information import Blocks, block_information
from skrldp.joint import JointDistribution
from skrldp.requirements import Requirement, Requirements
from skrldp.row_privacy import PointRegion, Region, SimplexRegion, odds_factor
from skrldp.support_function import l1_radius

__all__ = [
    "Blocks",
    "IndependentReporting",
    "SplitSearch",
    "best_split",
    "block_matrix",
    "closed_forms",
    "grr",
    "independent_reporting",
    "response_matrix",
    "srr",
    "theorem5_budget",
    "theorem5_distance",
    "value_budget",
]


# Nats: a value reported with a larger budget is reported as it is. Other reports would have
# probabilities below exp(-60), which the integers of a released mechanism cannot show.
_UNLIMITED = 60.0
_OVERFLOW = 700.0  # nats: exp(eps) overflows beyond some 709
_FIRST_GAPS = 64  # pairs of secrets and values whose exact worst case is taken at once


class SplitSearch(NamedTuple):
    """How a budget's best split is searched.

    Attributes
    ----------
    grid : int
        Points to begin with.
    fine : int
        Points around the best of them, each time.
    levels : int
        How often.
    """

    grid: int
    fine: int
    levels: int


# The grid has a step of eps/32; nine points on four levels end with one of eps/8192.
_SPLITS = SplitSearch(grid=33, fine=9, levels=4)


def grr(eps: float, n_cells: int) -> Blocks:
    """Generalised randomised response on all of X (Entropy (56)).

    Parameters
    ----------
    eps : float
        Privacy parameter, in nats.
    n_cells : int
        Number of cells a.

    Returns
    -------
    Blocks

    Examples
    --------
    >>> [round(p, 3) for p in grr(np.log(2), 4)]
    [0.4, 0.2, 0.2, 0.2]
    """
    other = 1.0 / (math.exp(eps) + n_cells - 1.0) if eps < _OVERFLOW else 0.0
    return 1.0 - (n_cells - 1.0) * other, other, other, other


def srr(eps: float, n_secrets: int, n_values: int) -> Blocks:
    r"""Secret randomised response: the ratio :math:`e^\epsilon` between secrets alone.

    Entropy (58); within a secret the ratio may be :math:`e^{2\epsilon}`.

    Parameters
    ----------
    eps : float
        Privacy parameter, in nats.
    n_secrets, n_values : int
        Sizes of the two alphabets.

    Returns
    -------
    Blocks

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

    Parameters
    ----------
    blocks : Blocks
        The four probabilities.
    shape : tuple (a1, a2)
        Numbers of secrets and values.

    Returns
    -------
    array of shape (a, a)
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
    """Independent reports of S and of U, each by GRR.

    Attributes
    ----------
    blocks : Blocks
        The mechanism.
    secret_eps : float
        Budget of the report of S, ε1 = ε − ε2.
    value_eps : float
        Budget of the report of U, δ; infinite if U is reported as it is.
    information : float
        I(X; Y) at the public distribution, in nats.
    """

    blocks: Blocks
    secret_eps: float
    value_eps: float
    information: float


def independent_reporting(
    joint: JointDistribution, requirements: Requirements, budget: str = "tight"
) -> IndependentReporting:
    r"""Independent reporting with the best split of the budget (Entropy (82)).

    S is reported by GRR at :math:`\epsilon_1`. What a requirement leaves for the report of U is its
    ε less that. The report of U by GRR with budget δ leaks at most :math:`\epsilon_2` about S if

    - ``"theorem5"``: :math:`e^\delta - 1 = 2(e^{\epsilon_2}-1)/d`, with the ℓ1 distance *d* that
      any two conditionals of the ball can have (Entropy Theorem 5, with its slip mended);
    - ``"tight"``: :math:`e^\delta - 1 = (e^{\epsilon_2}-1)/m`, with *m* the region's bound on
      :math:`\max_u R_1(u) - e^{\epsilon_2} R_2(u)`. No larger δ is valid.

    Parameters
    ----------
    joint : JointDistribution
        The public distribution.
    requirements : Requirements
        What a row must satisfy; about the secrets of ``joint``, with known values of U or without.
    budget : {"tight", "theorem5"}
        How δ follows from ε2 for the first requirement; for others it is the tight one.

    Returns
    -------
    IndependentReporting
    """
    if budget not in ("tight", "theorem5"):
        raise ValueError(f"budget={budget!r} must be 'tight' or 'theorem5'.")
    eps = requirements.least_eps
    value_eps = value_budget(joint, requirements, budget)

    def split(part: float) -> IndependentReporting:
        part = float(part)
        delta = value_eps(part)
        blocks = _product(eps - part, delta, joint.counts.shape)
        return IndependentReporting(
            blocks, eps - part, delta, block_information(blocks, joint.probabilities)
        )

    return best_split(split, eps, _SPLITS)


def closed_forms(joint: JointDistribution, requirements: Requirements) -> list[Floats]:
    """Write the closed forms that are private as matrices.

    Parameters
    ----------
    joint : JointDistribution
        The public distribution.
    requirements : Requirements
        What a row must satisfy.

    Returns
    -------
    list of arrays
        SRR and, where all requirements are about the whole secret, independent reporting, of shape
        (a, a). If U alone is observed, randomised response to U with the largest budget that is
        private, of shape (a2, a2).
    """
    shape = joint.counts.shape
    whole = all(_about_whole_secrets(one, joint) for one in requirements)
    if requirements.n_cells < joint.counts.size:
        eps = requirements.least_eps
        return [response_matrix(value_budget(joint, requirements)(eps), shape[1])]
    forms = [srr(min(requirements.least_eps, _OVERFLOW), *shape)]
    if whole:
        forms.append(independent_reporting(joint, requirements).blocks)
    return [block_matrix(form, shape) for form in forms]


def _product(secret_eps: float, value_eps: float, shape: tuple[int, int]) -> Blocks:
    a1, a2 = shape
    same_s, other_s = _response(secret_eps, a1)
    same_u, other_u = _response(value_eps, a2)
    return same_s * same_u, same_s * other_u, other_s * same_u, other_s * other_u


def _response(eps: float, size: int) -> tuple[float, float]:
    """Probabilities of the same value and of each other one, in GRR."""
    return grr(eps, size)[:2] if eps <= _UNLIMITED else (1.0, 0.0)


def response_matrix(eps: float, size: int) -> Floats:
    """Write GRR of one attribute as a matrix.

    Parameters
    ----------
    eps : float
        Privacy parameter, in nats; may be infinite.
    size : int
        Number of values.

    Returns
    -------
    array of shape (size, size)
    """
    same, other = _response(eps, size)
    return other + (same - other) * np.eye(size)


def theorem5_distance(joint: JointDistribution, region: Region) -> float:
    """Bound d on the ℓ1 distance of two conditionals in the ball (Entropy (62)).

    Parameters
    ----------
    joint : JointDistribution
        The public distribution.
    region : Region
        Anything with the uncertainty set.

    Returns
    -------
    float
        At most 2.
    """
    if isinstance(region, SimplexRegion) or np.any(joint.marginal <= 0):
        return 2.0
    p = joint.conditionals
    apart = max(float(np.abs(p - row).sum(axis=1).max()) for row in p)
    if isinstance(region, PointRegion):
        return min(2.0, apart)
    reach = l1_radius(p, joint.marginal, region.alpha, region.single_budgets)
    return min(2.0, 2.0 * float(reach.max()) + apart)


def theorem5_budget(distance: float) -> Callable[[float], float]:
    """δ as a function of ε2, from the ℓ1 distance of the conditionals."""
    return lambda part: float(np.log1p(2.0 * np.expm1(part) / distance)) if distance > 0 else np.inf


def value_budget(
    joint: JointDistribution, requirements: Requirements, budget: str = "tight"
) -> Callable[[float], float]:
    """Find δ, the budget of the report of U, as a function of what is left of the least ε.

    Parameters
    ----------
    joint : JointDistribution
        The public distribution.
    requirements : Requirements
        What a row must satisfy.
    budget : {"tight", "theorem5"}
        How δ follows for the first requirement.

    Returns
    -------
    callable
        From ε2, the least ε less that of the report of S, to δ, which may be infinite.
    """
    least = requirements.least_eps
    budgets: list[Callable[[float], float]] = []
    for place, one in enumerate(requirements):
        if one.everywhere:
            spare = float(one.pair_eps.min(initial=np.inf)) - least
            if one.region.rows.parts.shape[1] > 1:
                budgets.append(lambda part, spare=spare: part + spare)  # type: ignore[misc]
        elif budget == "theorem5" and place == 0 and np.ndim(one.eps) == 0:
            spare = float(np.asarray(one.eps)) - least
            of_distance = theorem5_budget(theorem5_distance(joint, one.region))
            budgets.append(lambda part, f=of_distance, spare=spare: f(part + spare))  # type: ignore[misc]
        else:
            budgets.append(_tight_budget(one, least))

    def value_eps(part: float) -> float:
        return min((f(part) for f in budgets), default=np.inf) if part > 0 else 0.0

    return value_eps


def _tight_budget(one: Requirement, least: float) -> Callable[[float], float]:
    """δ as a function of ε2, from the exact worst pair for each value of U."""
    region = one.region
    lower, upper = region.cell_bounds()
    first, second = region.pairs
    # A value without others in its part tells nothing there, and copies are no values.
    real = region.rows.real & (region.rows.real.sum(axis=1, keepdims=True) > 1)
    counts = real[region.rows.place][first].T

    def value_eps(part: float) -> float:
        eps = part + (one.pair_eps - least)
        room = np.expm1(eps)
        # Each conditional alone is an upper bound.
        rough = (upper[first] - odds_factor(eps)[:, None] * lower[second]).T / room
        rough = np.where(counts, rough, 0.0)

        def exact(_: Indices, entry: Indices) -> Floats:
            value, pair = np.unravel_index(entry, rough.shape)
            return region.value_gap(value, first[pair], second[pair], eps[pair]) / room[pair]

        worst = float(screened_maxima(rough.reshape(1, -1), exact, _FIRST_GAPS)[0])
        return float(np.log1p(1.0 / worst)) if worst > 0 else np.inf

    return value_eps


def _about_whole_secrets(one: Requirement, joint: JointDistribution) -> bool:
    """Whether each part belongs to one secret of the joint distribution."""
    a2 = joint.counts.shape[1]
    of_cell = one.region.rows.parts // a2
    return bool(np.all(of_cell == of_cell[:, :1]))


class _Informative(Protocol):
    @property
    def information(self) -> float: ...


_T = TypeVar("_T", bound=_Informative)


def best_split(split: Callable[[float], _T], eps: float, search: SplitSearch) -> _T:
    """Search ε2 on a grid, then around its two best points: there are two local maxima.

    Parameters
    ----------
    split : callable
        Makes the reports of a given ε2; their ``information`` is maximised.
    eps : float
        Greatest ε2, in nats.
    search : SplitSearch
        How many points are tried.

    Returns
    -------
    The best that ``split`` returned.
    """
    tried = {float(part): split(float(part)) for part in np.linspace(0.0, eps, search.grid)}
    width = eps / (search.grid - 1)
    ranked = sorted(tried, key=lambda part: -tried[part].information)
    for centre in ranked[:2]:
        low, high = max(0.0, centre - width), min(eps, centre + width)
        for _ in range(search.levels):
            parts = np.linspace(low, high, search.fine)
            found = {float(part): tried.get(float(part)) or split(float(part)) for part in parts}
            tried.update(found)
            best = max(found, key=lambda part: found[part].information)
            step = (high - low) / (search.fine - 1)
            low, high = max(0.0, best - step), min(eps, best + step)
    return max(tried.values(), key=lambda result: result.information)
