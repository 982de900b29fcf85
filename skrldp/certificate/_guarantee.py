"""The figures of a certificate that are stored with a mechanism."""

import math
from collections.abc import Sequence
from typing import Any, Literal

from skrldp.certificate._certify import Certificate
from skrldp.mechanism.guarantee import FurtherBound, Guarantee
from skrldp.mechanism.stated_sets import STATED_SETS, StatedSet
from skrldp.sets.fitted_sets import FittedSet

__all__ = ["guarantee_of"]


def guarantee_of(
    certificate: Certificate,
    eps: float,
    *,
    columns: Sequence[tuple[Any, bool]] = (),
    known: Sequence[int] = (),
) -> Guarantee:
    """Make the guarantee of a mechanism from its certificate.

    Raises ValueError if the certificate is about several reports. Raises TypeError if a guarantee
    cannot state such a set.
    """
    if certificate.reports != 1:
        raise ValueError("a guarantee is made from the certificate of one report.")
    # Over all distributions `eps` is that bound.
    eps_all = math.inf if certificate.uncertainty.is_everything else certificate.eps_all
    given_u = min(certificate.eps_given_u, eps_all)
    if columns and all(flag for _, flag in columns):  # nothing is left of U that could be known
        given_u = math.inf
    further: tuple[FurtherBound, ...] = ()
    if certificate.known is not None:
        if not known:
            raise ValueError("the certificate is about known columns; say which (known).")
        secret = tuple(place for place, (_, flag) in enumerate(columns) if flag)
        figures = _figures(certificate.known, float(eps), eps_all)
        further = (FurtherBound(**figures, secret=secret, known=tuple(sorted(known))),)
    return Guarantee(
        **_figures(certificate, float(eps), eps_all),
        n_records=certificate.uncertainty.n_records,
        eps_all=None if math.isinf(eps_all) else float(eps_all),
        eps_given_u=None if math.isinf(given_u) else float(given_u),
        further=further,
    )


def _figures(proof: Certificate, asked: float, eps_all: float) -> dict[str, Any]:
    """Return what a guarantee and its further statements have in common."""
    around = proof.uncertainty
    # The bound at all distributions is one over the set as well, and may be less by its last digit.
    eps = float(min(proof.eps, eps_all))
    return {
        "eps_requested": asked,
        "eps": eps,
        "eps_attained": min(float(proof.eps_attained), eps),
        "distributions": _stated(around),
        "alphabet": None if around.is_everything else proof.alphabet,
    }


def _stated(around: FittedSet) -> StatedSet | Literal["all"]:
    """Write down a set."""
    if around.is_everything:
        return "all"
    rule, beta = str(around.rule), around.beta
    if rule == "survey":  # the counts alone do not determine a survey's set
        rule, beta = "given", None
    if around.kind not in STATED_SETS:
        raise TypeError(f"a guarantee cannot state a {type(around).__name__}.")
    figures: dict[str, Any] = dict(around.figures, n_values=around.n_values)
    return STATED_SETS[around.kind](rule=rule, beta=beta, **figures)
