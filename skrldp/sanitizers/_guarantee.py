"""The figures of a certificate that are stored with a mechanism."""

from skrldp.certificate import Certificate
from skrldp.mechanism import Guarantee

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
    """
    around = certificate.uncertainty
    return Guarantee(
        eps_requested=float(eps),
        eps=float(certificate.eps),
        eps_attained=float(certificate.eps_attained),
        radius=float(around.joint_radius),
        alpha=None if around.is_everything else float(around.alpha),
        rule=None if around.is_everything else around.rule,
        beta=None if around.is_everything else around.beta,
        n_records=around.n_records,
        alphabet=None if around.is_everything else certificate.alphabet,
    )
