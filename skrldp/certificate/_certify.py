"""The certificate: a proven bound, and the worst distribution found."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from skrldp._arrays import real_numbers
from skrldp._html import page
from skrldp._numbers import at_least, at_most
from skrldp._typing import Floats
from skrldp.alphabet import source_in_words
from skrldp.certificate._alphabets import order_in_table
from skrldp.certificate._views import (
    View,
    dense_view,
    leakage_at,
    leakage_at_centre,
    least_provable,
    mechanism_views,
)
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism
from skrldp.row_privacy import Region, privacy_region
from skrldp.uncertainty_set import FittedSet, RenyiSet, chance_of_missing

if TYPE_CHECKING:
    from skrldp.uncertainty_set import AllDistributions, LikelihoodRatioSet, RenyiBall

__all__ = ["Certificate", "certify", "proof_region", "prove"]

# Sums of b probabilities that were divided by their sum are 1 up to about b units of rounding, and
# a few more. Twice as many would let pass sums that are off by some 1e-15 more.
_LAST_DIGITS = 4


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proven about a mechanism's leakage over an uncertainty set.

    Attributes
    ----------
    eps : float
        Upper bound on the leakage at every distribution of the set, in nats.
    eps_attained : float
        Leakage at ``distribution``: no smaller bound is true.
    distribution : array of shape (a1, a2)
        The worst distribution found, inside the set.
    uncertainty : FittedSet
        The set of distributions that it holds for.
    alphabet : {"declared", "split", "learned"} or None
        Where the values of U come from; the set's confidence level depends on it.
    """

    eps: float
    eps_attained: float
    distribution: Floats
    uncertainty: FittedSet
    alphabet: str | None = None

    @property
    def alpha(self) -> float:
        """Order of the divergence that the set limits."""
        return self.uncertainty.alpha

    @property
    def radius(self) -> float:
        """Radius of a Rényi ball, in nats; infinite for all distributions."""
        if isinstance(self.uncertainty, RenyiSet):
            return self.uncertainty.radius
        raise AttributeError("the set is no ball and has no radius: see `uncertainty`.")

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
        over, attained = self.uncertainty.brief(), at_least(self.eps_attained)
        return f"Certificate(eps<={at_most(self.eps)}, attained {attained}, {over})"

    def _repr_html_(self) -> str:
        a1, a2 = self.distribution.shape
        attained = at_least(self.eps_attained)
        rows = [
            ("proven", f"eps <= {at_most(self.eps)} nats"),
            ("attained", f"eps = {attained} nats, at the worst distribution found"),
            ("holds for", self.uncertainty.describe()),
            *self._confidence(),
            ("cells", f"{a1:,} secrets x {a2:,} values"),
        ]
        return page("Certificate", rows)

    def _confidence(self) -> list[tuple[str, str]]:
        """State how often the set misses, and on what that is conditional."""
        beta = self.uncertainty.beta
        if beta is None:
            return []
        misses = f"misses the true distribution {chance_of_missing(self.uncertainty.rule, beta)}"
        return [("this set", f"{misses}; {source_in_words(self.alphabet)}")]


def certify(
    mechanism: Mechanism | ArrayLike,
    uncertainty: "LikelihoodRatioSet | RenyiBall | AllDistributions | FittedSet",
    joint: JointDistribution,
) -> Certificate:
    """Prove a bound on any mechanism's leakage over an uncertainty set.

    Parameters
    ----------
    mechanism : Mechanism or array of shape (b, a1 * a2)
        A mechanism, ours or hand-written. A `Mechanism` names its secrets and values: they must be
        those of ``joint``, in any order. An array holds probabilities with columns that sum to 1 up
        to the last digits, cells in the order ``s * a2 + u`` of ``joint``.
    uncertainty : RenyiBall, AllDistributions or FittedSet
        The set of distributions.
    joint : JointDistribution
        The public distribution the set is around.

    Returns
    -------
    Certificate
        ``eps`` is infinite if a report rules out a secret at some distribution of the set.

    Raises
    ------
    ValueError
        If the matrix is not a mechanism on the cells of ``joint``, or if a `Mechanism` has other
        secrets or values than ``joint``.

    Examples
    --------
    >>> from skrldp import RenyiBall
    >>> joint = JointDistribution([[7, 10], [26, 57]])
    >>> response = [[0.4, 0.4, 0.2, 0.2], [0.6, 0.6, 0.8, 0.8]]
    >>> certify(response, RenyiBall(), joint)
    Certificate(eps<=0.693147181, attained 0.69314718, alpha=2, B=0.07524)
    """
    fitted = uncertainty if isinstance(uncertainty, FittedSet) else uncertainty.fit_set(joint)
    if not isinstance(mechanism, Mechanism):
        matrix = _checked(mechanism, joint)
        return _certificate([dense_view(matrix, proof_region(joint, fitted))], joint, fitted)
    # The proof is in the mechanism's order; the worst distribution is told in the table's.
    cells = np.ix_(*order_in_table(joint, mechanism))
    reordered = JointDistribution(
        joint.counts[cells], mechanism.secrets, mechanism.values, alphabet=joint.alphabet
    )
    certificate = prove(mechanism, reordered, fitted)
    distribution = np.empty_like(certificate.distribution)
    distribution[cells] = certificate.distribution
    return replace(certificate, distribution=distribution)


def _checked(matrix: ArrayLike, joint: JointDistribution) -> Floats:
    """Check that an array is a mechanism as it stands, so that what is proven is about it."""
    numbers = real_numbers(matrix, "the mechanism")
    Mechanism.from_matrix(numbers, joint.secrets, joint.values)  # checks shape and signs
    table = numbers.astype(float)
    off = np.abs(table.sum(axis=0) - 1.0)
    if off.max() > (len(table) + _LAST_DIGITS) * np.finfo(float).eps:
        raise ValueError(
            f"column {int(off.argmax())} of the mechanism sums to 1 only up to {off.max():.1g}, so "
            "it is not clear what would be sampled. Divide by the sums, matrix / "
            "matrix.sum(axis=0), or certify Mechanism.from_matrix(matrix, secrets, values), which "
            "is exact."
        )
    return table


def prove(mechanism: Mechanism, joint: JointDistribution, uncertainty: FittedSet) -> Certificate:
    """Certify a mechanism over a set that is fitted already; see :func:`certify`.

    Parameters
    ----------
    mechanism : Mechanism
        On the cells of ``joint``, in its order, which is not checked.
    joint : JointDistribution
        The public distribution.
    uncertainty : FittedSet
        The set of distributions.

    Returns
    -------
    Certificate
    """
    views = list(mechanism_views(mechanism, proof_region(joint, uncertainty)))
    return _certificate(views, joint, uncertainty)


def proof_region(joint: JointDistribution, uncertainty: FittedSet) -> Region:
    """Return the tightest region that proofs can use: the exact one where that is convex.

    Parameters
    ----------
    joint : JointDistribution
        The public distribution.
    uncertainty : FittedSet
        The set of distributions.

    Returns
    -------
    Region
    """
    exact = "joint" if uncertainty.joint_is_convex else "product"
    return privacy_region(joint, uncertainty, region=exact)


def _certificate(
    views: list[View], joint: JointDistribution, uncertainty: FittedSet
) -> Certificate:
    attained = max(leakage_at_centre(view) for view in views)
    witness: tuple[View, int, int, Floats] | None = None
    proven = attained
    for view in views:
        bound, found = least_provable(view, proven)
        proven = max(proven, bound)
        if found is not None:
            witness = (view, *found)
    distribution = joint.probabilities
    if witness is not None:
        distribution = _distribution_of(witness, joint, uncertainty)
        attained = max(attained, *(leakage_at(view, distribution) for view in views))
    attained = min(attained, proven)
    return Certificate(proven, attained, distribution, uncertainty, joint.alphabet)


def _distribution_of(
    witness: tuple[View, int, int, Floats], joint: JointDistribution, uncertainty: FittedSet
) -> Floats:
    """Complete the worst pair of conditionals to a distribution of the set."""
    view, first, second, pair = witness
    conditionals = joint.conditionals.copy()
    for s, conditional in ((first, pair[0]), (second, pair[1])):
        if view.value is None:
            conditionals[s] = conditional
        else:  # the other values keep their proportions
            rest = np.delete(conditionals[s], view.value)
            spread = rest / rest.sum() if rest.sum() > 0 else np.full(len(rest), 1.0 / len(rest))
            conditionals[s] = np.insert(spread * conditional[1], view.value, conditional[0])
    return uncertainty.distribution_with(joint, conditionals, np.array([first, second]))
