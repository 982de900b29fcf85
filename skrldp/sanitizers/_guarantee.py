"""The figures of a certificate that are stored with a mechanism."""

from typing import Literal

from skrldp.certificate import Certificate
from skrldp.mechanism import Guarantee, StatedLikelihoodRatioSet, StatedRenyiSet
from skrldp.uncertainty_set import ConditionalsSet, FittedSet, RenyiSet

__all__ = ["guarantee_of"]


def guarantee_of(certificate: Certificate, eps: float) -> Guarantee:
    """Make the guarantee of a mechanism from its certificate.

    Parameters
    ----------
    certificate : Certificate
        The proof, with the set that it holds for.
    eps : float
        The ε that was asked for, in nats.

    Returns
    -------
    Guarantee

    Raises
    ------
    TypeError
        If a guarantee cannot state such a set.
    """
    return Guarantee(
        eps_requested=float(eps),
        eps=float(certificate.eps),
        eps_attained=float(certificate.eps_attained),
        distributions=_stated(certificate.uncertainty),
        n_records=certificate.uncertainty.n_records,
        alphabet=None if certificate.uncertainty.is_everything else certificate.alphabet,
    )


def _stated(around: FittedSet) -> StatedRenyiSet | StatedLikelihoodRatioSet | Literal["all"]:
    """Write down a set."""
    if around.is_everything:
        return "all"
    rule, beta = str(around.rule), around.beta
    if isinstance(around, RenyiSet):
        return StatedRenyiSet(float(around.alpha), float(around.radius), rule, beta)
    if isinstance(around, ConditionalsSet):
        single = float(around.single)
        pair = min(float(around.pair), 2.0 * single)  # two never take more than that
        return StatedLikelihoodRatioSet(single, pair, float(around.drift), rule, beta)
    raise TypeError(f"a guarantee cannot state a {type(around).__name__}.")
