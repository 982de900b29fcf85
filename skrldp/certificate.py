r"""Proof that a mechanism is private, as it will be sampled, and the repair that makes it so.

A certificate is an upper bound on the leakage over every law of the uncertainty set. It comes from
the oracle's dual expressions, which are upper bounds wherever they are evaluated, with the rounding
of the arithmetic added; no solver's word is taken for anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp.exceptions import CertificateError
from skrldp.joint import JointDistribution
from skrldp.laws import divergence
from skrldp.mechanism import BlockMechanism, Mechanism, slot_bits
from skrldp.region import PointRegion, Region, SimplexRegion, WorstPairs, privacy_region
from skrldp.uncertainty import AllDistributions, RenyiBall

__all__ = ["Certificate", "certify", "proof_region", "prove", "release", "repair"]

Floats = NDArray[np.float64]

_STEP = 1e-12  # least rise of the trial ε while closing in on the proven one
_ATTEMPTS = 6


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proven about a mechanism's leakage over an uncertainty set.

    Attributes
    ----------
    eps : float
        Upper bound on the leakage at every law of the set, in nats.
    eps_attained : float
        Leakage at ``law``: no smaller bound is true.
    law : array of shape (a1, a2)
        The worst law found, inside the set.
    alpha, radius : float
        Order and radius (nats) of the set; the radius is infinite for all laws.
    """

    eps: float
    eps_attained: float
    law: Floats
    alpha: float
    radius: float

    def holds(self, eps: float) -> bool:
        """Whether the mechanism is proven private at this ε.

        Parameters
        ----------
        eps : float
            Privacy parameter, in nats.

        Returns
        -------
        bool
        """
        return self.eps <= eps

    def __repr__(self) -> str:
        over = "all laws" if np.isinf(self.radius) else f"alpha={self.alpha:g}, B={self.radius:.4g}"
        return f"Certificate(eps<={self.eps:.9g}, attained {self.eps_attained:.9g}, {over})"


def certify(
    mechanism: Mechanism | ArrayLike,
    uncertainty: RenyiBall | AllDistributions,
    joint: JointDistribution,
) -> Certificate:
    """Prove a bound on any mechanism's leakage over an uncertainty set.

    Parameters
    ----------
    mechanism : Mechanism or array of shape (b, a1 * a2)
        A mechanism, ours or hand-written: probabilities with columns that sum to 1, cells in the
        order ``s * a2 + u`` of ``joint``.
    uncertainty : RenyiBall or AllDistributions
        The set of laws.
    joint : JointDistribution
        The public law the set is around.

    Returns
    -------
    Certificate
        ``eps`` is infinite if a report rules out a secret at some law of the set.

    Raises
    ------
    ValueError
        If the matrix is not a mechanism on the cells of ``joint``.

    Examples
    --------
    >>> joint = JointDistribution([[7, 10], [26, 57]])
    >>> response = [[0.4, 0.4, 0.2, 0.2], [0.6, 0.6, 0.8, 0.8]]
    >>> certify(response, RenyiBall(), joint)
    Certificate(eps<=0.693147181, attained 0.693147181, alpha=2, B=0.07524)
    """
    radius = uncertainty.radius_for(joint.n, joint.counts.size)
    if not isinstance(mechanism, Mechanism):
        matrix = np.asarray(mechanism, dtype=float)
        Mechanism.from_matrix(matrix, joint.secrets, joint.values)  # checks the matrix
        views: list[_View] = [_dense_view(matrix, proof_region(joint, uncertainty.alpha, radius))]
    else:
        if mechanism.shape[1] != joint.counts.size or len(mechanism.secrets) != len(joint.secrets):
            raise ValueError(
                f"the mechanism has {len(mechanism.secrets)} secrets and {mechanism.shape[1]} "
                f"cells, but the public law has {joint.counts.shape[0]} and {joint.counts.size}."
            )
        views = list(_views(mechanism, proof_region(joint, uncertainty.alpha, radius)))
    return _certificate(views, joint, uncertainty.alpha, radius)


def prove(
    mechanism: Mechanism, joint: JointDistribution, alpha: float, radius: float
) -> Certificate:
    """Certify a mechanism over a ball that is known already; see :func:`certify`.

    Parameters
    ----------
    mechanism : Mechanism
        On the cells of ``joint``.
    joint : JointDistribution
        The public law.
    alpha, radius : float
        Order and radius (nats) of the ball.

    Returns
    -------
    Certificate
    """
    views = list(_views(mechanism, proof_region(joint, alpha, radius)))
    return _certificate(views, joint, alpha, radius)


def proof_region(joint: JointDistribution, alpha: float, radius: float) -> Region:
    """Return the tightest region that proofs can use: the exact one where that is convex.

    Parameters
    ----------
    joint : JointDistribution
        The public law.
    alpha, radius : float
        Order and radius (nats) of the ball.

    Returns
    -------
    Region
    """
    exact = "joint" if alpha >= 0.5 else "product"
    return privacy_region(joint, alpha=alpha, radius=radius, region=exact)


# -- views: what the oracle has to look at --------------------------------------------------------


@dataclass(frozen=True)
class _View:
    """Rows to compare over a region, and how a pair of its conditionals reads in full."""

    rows: Floats  # (b, a1, k): the part of the first secret
    against: Floats  # (b, a1, k): the part of the second
    region: Region
    value: int | None = None  # cells are (this value, all others) rather than all values


def _dense_view(matrix: Floats, region: Region) -> _View:
    rows = matrix.reshape(len(matrix), region.n_secrets, -1)
    return _View(rows, rows, region)


def _views(mechanism: Mechanism, region: Region) -> Iterator[_View]:
    """One view for a dense mechanism; for blocks one per value of U, of two cells each.

    A row of a block mechanism is constant apart from one value of U, and all secrets other than
    its own look alike. So three pairs of parts cover everything: the row's own secret first,
    second, or neither.
    """
    if not isinstance(mechanism, BlockMechanism):
        yield _dense_view(mechanism.matrix, region)
        return
    same, same_secret, same_value, other = mechanism.probabilities
    a1, a2 = region.conditionals.shape
    own, foreign = [same, same_secret], [same_value, other]
    if a2 == 1:
        own, foreign = [same, same], [same_value, same_value]
    first = np.repeat(np.array([own, foreign, foreign])[:, None], a1, axis=1)
    second = np.repeat(np.array([foreign, own, foreign])[:, None], a1, axis=1)
    blind = isinstance(region, SimplexRegion) or (same, same_value) == (same_secret, other)
    for u in range(1 if blind else a2):  # the same for every value
        yield _View(first, second, region.one_against_rest(u), u)


# -- closing in on the smallest provable ε --------------------------------------------------------


def _certificate(
    views: list[_View], joint: JointDistribution, alpha: float, radius: float
) -> Certificate:
    attained = max(_leakage_at_centre(view) for view in views)
    witness: tuple[_View, int, int, Floats] | None = None
    proven = attained
    for view in views:
        bound, found = _least_provable(view, proven)
        proven = max(proven, bound)
        if found is not None:
            witness = (view, *found)
    law = joint.probabilities
    if witness is not None:
        law = _joint_law(witness, joint, alpha, radius)
        attained = max(attained, *(_leakage_at(view, law) for view in views))
    return Certificate(proven, min(attained, proven), law, alpha, radius)


def _least_provable(view: _View, start: float) -> tuple[float, tuple[int, int, Floats] | None]:
    """Smallest ε >= start that the dual bound proves, by Dinkelbach steps from below.

    Each step goes to the greatest log-ratio among the worst laws found, which cannot pass the
    true leakage; once that stalls, the trial rises by tiny, growing steps to cover rounding.
    """
    eps, step = start, _STEP
    rows, against = view.rows, view.against
    found = None
    while np.isfinite(eps):
        worst = view.region.worst(rows, eps, against=against, above=0.0, laws=True)
        if len(worst.row) == 0:
            return eps, found
        ratio = _log_ratios(worst, rows, against)
        best = int(ratio.argmax())
        if ratio[best] > eps + step:
            eps = float(ratio[best])
            assert worst.laws is not None
            found = int(worst.first[best]), int(worst.second[best]), worst.laws[best]
        else:
            eps, step = eps + step, 2.0 * step
        kept = np.unique(worst.row)  # a row that is proven stays so as ε grows
        rows, against = rows[kept], against[kept]
        if step > 1e3:
            return float("inf"), found
    return eps, found


def _log_ratios(worst: WorstPairs, rows: Floats, against: Floats) -> Floats:
    assert worst.laws is not None
    most = np.einsum("mu,mu->m", worst.laws[:, 0], rows[worst.row, worst.first])
    least = np.einsum("mu,mu->m", worst.laws[:, 1], against[worst.row, worst.second])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(most > 0, np.log(most / least), -np.inf)


def _leakage_at_centre(view: _View) -> float:
    region = view.region
    seen = region.marginal > 0
    centre = PointRegion(region.conditionals, region.marginal).conditionals
    return _ratio_of(view, centre, seen)


def _leakage_at(view: _View, law: Floats) -> float:
    marginal = law.sum(axis=1)
    seen = marginal > 0
    conditionals = law / np.where(seen, marginal, 1.0)[:, None]
    if view.value is not None:
        part = conditionals[:, view.value]
        conditionals = np.stack([part, 1.0 - part], axis=1)
    return _ratio_of(view, conditionals, seen)


def _ratio_of(view: _View, conditionals: Floats, seen: NDArray[np.bool_]) -> float:
    most = np.einsum("bsu,su->bs", view.rows, conditionals)
    least = np.einsum("bsu,su->bs", view.against, conditionals)
    first, second = view.region.pairs
    both = seen[first] & seen[second]
    upper, lower = most[:, first[both]], least[:, second[both]]
    if np.any((upper > 0) & (lower <= 0)):
        return float("inf")
    ratios = np.where(upper > 0, upper, 1.0) / np.where(lower > 0, lower, 1.0)
    return max(0.0, float(np.log(ratios.max()))) if ratios.size else 0.0


def _joint_law(
    witness: tuple[_View, int, int, Floats],
    joint: JointDistribution,
    alpha: float,
    radius: float,
) -> Floats:
    """The law of the ball that has the worst pair of conditionals, pulled inside if need be."""
    view, first, second, pair = witness
    conditionals = joint.conditionals.copy()
    for s, conditional in ((first, pair[0]), (second, pair[1])):
        if view.value is None:
            conditionals[s] = conditional
        else:  # the other values keep their proportions
            rest = np.delete(conditionals[s], view.value)
            spread = rest / rest.sum() if rest.sum() > 0 else np.full(len(rest), 1.0 / len(rest))
            conditionals[s] = np.insert(spread * conditional[1], view.value, conditional[0])
    marginal = joint.marginal.copy()
    for s in (first, second):
        if marginal[s] <= 0:
            marginal[s] = 1e-9  # stands for the limit in which an unseen secret costs nothing
    if np.isfinite(radius) and radius > 0 and alpha != 1.0:
        ratio = np.where(joint.conditionals > 0, joint.conditionals, 1.0)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            power = np.where(
                joint.conditionals > 0, ratio**alpha * conditionals ** (1.0 - alpha), 0.0
            ).sum(axis=1)
        scale = power ** (1.0 / alpha)
        marginal *= np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)
    marginal /= marginal.sum()
    law = marginal[:, None] * conditionals
    if np.isinf(radius):
        return law
    centre = joint.probabilities
    low, high = 0.0, 1.0
    if divergence(centre, law, alpha) <= radius:
        return law
    for _ in range(60):  # the divergence is quasi-convex along the way to the centre
        middle = (low + high) / 2.0
        inside = divergence(centre, middle * law + (1.0 - middle) * centre, alpha) <= radius
        low, high = (middle, high) if inside else (low, middle)
    return low * law + (1.0 - low) * centre


# -- repair ---------------------------------------------------------------------------------------


def repair(matrix: Floats, region: Region, eps: float, slack: float = 0.0) -> Floats:
    r"""Make any stochastic matrix private by mixing in a little of each report.

    If a row violates privacy by at most δ, adding :math:`\delta/(e^\epsilon - 1)` to all its
    entries makes it private; dividing by the new column sums keeps it so.

    Parameters
    ----------
    matrix : array of shape (b, a)
        Non-negative, with positive column sums.
    region : Region
        Conditionals that privacy must hold for.
    eps : float
        Privacy parameter, in nats.
    slack : float
        How far inside the privacy constraints to go, in probability.

    Returns
    -------
    array of shape (b, a)
        Columns sum to 1 up to rounding.
    """
    clean = np.clip(matrix, 0.0, None)
    clean = clean / clean.sum(axis=0)
    rows = clean.reshape(len(clean), region.n_secrets, -1)
    excess = region.worst(rows, eps, above=-slack)
    worst = np.zeros(len(rows))
    np.maximum.at(worst, excess.row, excess.bound + slack)
    lift = worst * (1.0 + 1e-9) / np.expm1(eps)
    return (clean + lift[:, None]) / (1.0 + lift.sum())


def release(
    matrix: Floats, joint: JointDistribution, alpha: float, radius: float, eps: float
) -> tuple[Mechanism, Certificate]:
    """Repair a design, round it to what will be sampled, and prove it private.

    Parameters
    ----------
    matrix : array of shape (b, a)
        A design; a solver's output will do.
    joint : JointDistribution
        The public law.
    alpha, radius : float
        Order and radius (nats) of the ball.
    eps : float
        Privacy parameter, in nats.

    Returns
    -------
    Mechanism, Certificate
        The certificate's ``eps`` is at most ``eps``.

    Raises
    ------
    CertificateError
        If no proof is found.
    """
    region = proof_region(joint, alpha, radius)
    unit = 2.0 ** -slot_bits(len(matrix))
    slack = 2.0 * (1.0 + np.exp(eps)) * unit
    for _ in range(_ATTEMPTS):
        repaired = repair(matrix, region, eps, slack)
        mechanism = _sampled(repaired, joint)
        certificate = prove(mechanism, joint, alpha, radius)
        if certificate.holds(eps):
            return mechanism, certificate
        slack *= 8.0
    raise CertificateError(_unproven(eps, certificate, mechanism, joint))


def _sampled(matrix: Floats, joint: JointDistribution) -> Mechanism:
    """Round to integer weights; reports that would never be sent are dropped."""
    mechanism = Mechanism.from_matrix(matrix, joint.secrets, joint.values)
    used = mechanism.weights.any(axis=1)
    if used.all():
        return mechanism
    return Mechanism.from_matrix(
        matrix[used] / matrix[used].sum(axis=0), joint.secrets, joint.values
    )


def _unproven(
    eps: float, certificate: Certificate, mechanism: Any, joint: JointDistribution
) -> str:
    a1, a2 = joint.counts.shape
    return (
        f"the mechanism could not be proven private at eps={eps:g}: the bound is "
        f"{certificate.eps:.9g} on {a1} secrets x {a2} values with {mechanism.shape[0]} reports "
        f"({certificate!r}). Nothing is released. Try a larger eps, a coarser alphabet or another "
        "region."
    )
