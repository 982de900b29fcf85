"""The rows that a proof compares over a region, the smallest proved ε, and the worst pair found."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats, Indices
from skrldp.information import Blocks, conditionals_of
from skrldp.joint import JointDistribution
from skrldp.mechanism.mechanism import Mechanism
from skrldp.privacy.private_rows import Region
from skrldp.privacy.screening import Screened, WorstPairs
from skrldp.sets.fitted_sets import FittedSet

# First increase of the trial ε near the proved one, in nats; it then doubles. The proved bound
# exceeds the true one by at most about as much; twice as much saves one step at most.
_STEP = 1e-12
# Initial number of pairs examined closely at a time; doubled each time all are proved.
_FIRST_PAIRS = 64
_HOPELESS = 1e3  # nats; if a larger increase is needed, the bound is infinite

Pair = tuple[int, int, Floats]  # two secrets, and a conditional of each, shape (2, k)


@dataclass(frozen=True)
class View:
    """Rows to compare over a region, and the map from its conditionals to full ones."""

    rows: Floats  # (b, a1, k): the part of the first secret
    against: Floats  # (b, a1, k): the part of the second
    region: Region
    value: int | None = None  # cells are (this value, all others) rather than all values
    rounded: bool = False  # dense, `rows` rounded upwards and `against` downwards


def dense_view(matrix: Floats, region: Region) -> View:
    rows = matrix.reshape(len(matrix), region.n_secrets, -1)
    return View(rows, rows, region)


def mechanism_views(mechanism: Mechanism, region: Region) -> Iterator[View]:
    """One view for a dense mechanism; for block mechanisms, one of two cells per value of U."""
    blocks = mechanism.form.blocks
    if blocks is None:
        yield dense_view(mechanism.matrix, region)
        return
    yield from block_views(blocks, region)


def block_views(blocks: Blocks, region: Region, against: Blocks | None = None) -> Iterator[View]:
    """One view of two cells for each value of U, for a block mechanism.

    The second secret's part may have different numbers, such as those rounded the other way.

    A row of a block mechanism is constant except at one value of U, and its parts for all secrets
    other than its own are equal. Three pairs of parts therefore cover all cases: the row's own
    secret first, second, or neither.
    """
    same, same_secret, same_value, different = blocks
    cases = 3 if region.n_secrets > 2 else 2  # with two secrets, one is always the row's own
    if region.is_everything:  # all pairs of secrets are equivalent
        region = region.among(np.arange(2))
    a1, a2 = region.conditionals.shape
    of_secret, foreign = _parts(blocks, a2)
    other_own, other_foreign = _parts(blocks if against is None else against, a2)
    first = np.repeat(np.array([of_secret, foreign, foreign])[:cases, None], a1, axis=1)
    second = np.array([other_foreign, other_own, other_foreign])[:cases, None]
    second = np.repeat(second, a1, axis=1)
    alike = region.is_everything or (same, same_value) == (same_secret, different)
    for u in range(1 if alike else a2):  # the same for every value
        yield View(first, second, region.one_against_rest(u), u)


def _parts(blocks: Blocks, n_values: int) -> tuple[list[float], list[float]]:
    """Return the parts of a row for its own secret and for another: one value, and all others."""
    same, same_secret, same_value, different = blocks
    if n_values == 1:
        return [same, same], [same_value, same_value]
    return [same, same_secret], [same_value, different]


def least_provable(
    view: View, start: float, callback: Callable[[int], None] | None = None
) -> tuple[float, Pair | None]:
    """Find an ε >= start, nearly the smallest, that the dual bound proves, by Dinkelbach steps.

    Each step goes to the largest log-ratio among the worst conditionals found, which cannot exceed
    the true leakage; once that stalls, the trial ε increases by small, growing steps to cover
    rounding. Rows are processed in batches, because what is proved remains proved as ε grows.
    """
    eps, worst_pair = start, None
    for batch in view.region.parts(len(view.rows)):
        screened = view.region.screened(view.rows[batch], view.against[batch])
        eps, pair = _raised(screened, eps)
        worst_pair = worst_pair if pair is None else pair
        if callback is not None:
            callback(len(screened.parts))
    return eps, worst_pair


def _raised(screened: Screened, eps: float) -> tuple[float, Pair | None]:
    """Raise ε until it is proved for a batch of rows; return the last pair that required more.

    The pairs that seem to leak most come first, few at a time: they raise ε, and most of the
    others are then cleared by bounds of each secret alone.
    """
    worst_pair: Pair | None = None
    step, number = _STEP, _FIRST_PAIRS
    row, pair = np.nonzero(screened.gaps(_each(eps, screened)) > 0.0)
    order = np.argsort(-screened.leakages(row, pair), kind="stable")
    row, pair = row[order], pair[order]
    while len(row) and np.isfinite(eps):
        now = slice(number)
        trials = np.full(len(row[now]), eps)
        worst, unproven = screened.closely(row[now], pair[now], trials, 0.0, conditionals=True)
        row = np.concatenate([row[now][unproven], row[number:]])
        pair = np.concatenate([pair[now][unproven], pair[number:]])
        number *= 2
        if not len(worst.row):
            step = _STEP
            continue
        ratios = _log_ratios(worst, screened.parts, screened.others)
        best = int(ratios.argmax())
        if ratios[best] > eps + step:
            assert worst.conditionals is not None
            eps, step = float(ratios[best]), _STEP
            worst_pair = int(worst.first[best]), int(worst.second[best]), worst.conditionals[best]
        else:
            eps, step = eps + step, 2.0 * step
            if step > _HOPELESS:
                return float("inf"), worst_pair
        left = screened.gaps(_each(eps, screened))[row, pair] > 0.0
        row, pair = row[left], pair[left]
    return eps, worst_pair


def _each(eps: float, screened: Screened) -> Floats:
    return np.full(len(screened.region.pairs[0]), eps)


def _log_ratios(worst: WorstPairs, rows: Floats, against: Floats) -> Floats:
    assert worst.conditionals is not None
    numerator = np.einsum("mu,mu->m", worst.conditionals[:, 0], rows[worst.row, worst.first])
    denominator = np.einsum("mu,mu->m", worst.conditionals[:, 1], against[worst.row, worst.second])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(numerator > 0, np.log(numerator / denominator), -np.inf)


def leakage_at_centre(view: View) -> float:
    region = view.region
    return _ratio_of(view, region.conditionals, region.seen)


def leakage_at(view: View, distribution: Floats) -> float:
    distribution = distribution[: view.region.n_secrets]
    conditionals = conditionals_of(distribution)
    if view.value is not None:
        conditionals_of_group = conditionals[:, view.value]
        conditionals = np.stack([conditionals_of_group, 1.0 - conditionals_of_group], axis=1)
    return _ratio_of(view, conditionals, distribution.sum(axis=1) > 0)


def _ratio_of(view: View, conditionals: Floats, seen: NDArray[np.bool_]) -> float:
    rows, against = view.rows, view.against
    if view.rounded:  # the other way round, so that the attained leakage is not overstated
        rows, against = against, rows
    first, second = view.region.pairs
    both_seen = seen[first] & seen[second]
    pairs = first[both_seen], second[both_seen]
    return max(
        (
            _greatest_ratio(rows[batch], against[batch], conditionals, pairs)
            for batch in view.region.parts(len(rows))
        ),
        default=0.0,
    )


def _greatest_ratio(
    rows: Floats, against: Floats, conditionals: Floats, pairs: tuple[Indices, Indices]
) -> float:
    """Log of the largest ratio of two secrets' probabilities of a report; at least 0."""
    numerator = np.einsum("bsu,su->bs", rows, conditionals)
    denominator = np.einsum("bsu,su->bs", against, conditionals)
    upper, lower = numerator[:, pairs[0]], denominator[:, pairs[1]]
    if np.any((upper > 0) & (lower <= 0)):
        return float("inf")
    if not upper.size:
        return 0.0
    upper, lower = np.where(upper > 0, upper, 1.0), np.where(lower > 0, lower, 1.0)
    with np.errstate(over="ignore"):
        greatest = (upper / lower).max()
    if np.isinf(greatest):  # the quotient overflows a float, but its logarithm does not
        return float((np.log(upper) - np.log(lower)).max())
    return max(0.0, float(np.log(greatest)))


# --- The bound over several views ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LeakageBound:
    """A proven bound, and the leakage at a distribution of the set."""

    eps: float
    attained: float
    distribution: Floats  # (a1, a2), where `attained` is the leakage
    enumerated: bool = True  # from all rows, rather than a sum of bounds of fewer reports


def bound_over(
    views: Callable[[], Iterable[View]],
    joint: JointDistribution,
    uncertainty: FittedSet,
    upper: float = math.inf,
    callback: Callable[[int], None] | None = None,
    start: float = 0.0,
) -> LeakageBound:
    """Prove a bound of at least `start` for all rows of the views."""
    attained, proven = 0.0, start
    witness: tuple[View, Pair] | None = None
    for view in views():
        attained = max(attained, leakage_at_centre(view))
        proven, worst_pair = least_provable(view, max(proven, attained), callback)
        if worst_pair is not None:
            witness = view, worst_pair
        if proven >= upper:
            proven = upper
            break
    distribution = joint.probabilities
    if witness is not None:
        worst = _distribution_of(*witness, joint, uncertainty)
        leakage = max(leakage_at(view, worst) for view in views())
        if leakage >= attained:
            attained, distribution = leakage, worst
    tight = proven < upper or attained >= upper
    return LeakageBound(proven, min(attained, proven), distribution, enumerated=tight)


def _distribution_of(
    view: View, worst: Pair, joint: JointDistribution, uncertainty: FittedSet
) -> Floats:
    """Complete the worst pair of conditionals to a distribution of the set."""
    first, second, pair = worst
    secrets = np.array([first, second])
    conditionals = joint.conditionals.copy()
    for s, conditional in zip(secrets, pair, strict=True):
        if view.value is None:
            conditionals[s] = conditional
        elif conditionals.shape[1] > 1:  # the other values keep their proportions
            rest = np.delete(conditionals[s], view.value)
            if rest.sum() <= 0:
                rest = np.ones(len(rest))
            share = rest / rest.sum() * conditional[1]
            conditionals[s] = np.insert(share, view.value, conditional[0])
    return uncertainty.distribution_with(joint, conditionals, secrets)
