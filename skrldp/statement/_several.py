"""What is proven besides one report to somebody who knows nothing else about a person."""

from collections.abc import Iterable
from typing import Any

from skrldp._params import at_most
from skrldp._sentences import chance_of_missing, holds_for
from skrldp.alphabet.values import source_in_words
from skrldp.certificate import Certificate, prove_reports
from skrldp.mechanism.guarantee import beta_together
from skrldp.mechanism.messages import REPORTS
from skrldp.sets.fitted_sets import FittedSet
from skrldp.statement._parts import Beyond

__all__ = ["beyond_one_report", "sets_in_words", "uncertain_sets"]

# Products enumerated for each number of reports: a few seconds at most.
_WORK = 1 << 22


def beyond_one_report(fitted: Any) -> Beyond:
    """Return the figures about further reports, and about observers and secrets of all kinds."""
    certificate = fitted.certificate_
    eps, attained, sums = _of_reports(fitted)
    within = certificate.known
    everything = [certificate] if within is None else [certificate, within]
    uncertain = uncertain_sets(everything)
    together = beta_together(uncertain) if uncertain else None
    return Beyond(
        eps_all=float(certificate.eps_all),
        eps_given_u=float(certificate.eps_given_u),
        eps_of_reports=eps,
        attained_of_reports=attained,
        summed_reports=sums,
        adds_up=certificate.uncertainty.is_everything
        or bool(certificate.eps_all <= certificate.eps),
        eps_known=None if within is None else float(within.eps),
        known_set=None if within is None else holds_for(within.uncertainty),
        beta_together=together,
        sets=sets_in_words(uncertain, len(everything), together, fitted.joint_.alphabet),
    )


def _of_reports(fitted: Any) -> tuple[dict[int, float], dict[int, float], tuple[int, ...]]:
    """Bound several reports, from above and from below; say which bounds are sums."""
    certificate, around = fitted.certificate_, fitted.certificate_.uncertainty
    proofs = prove_reports(
        fitted.mechanism_, fitted.joint_, around, REPORTS, first=certificate, work=_WORK
    )
    numbered = dict(zip(REPORTS, proofs, strict=True))
    return (
        {k: float(one.eps) for k, one in numbered.items()},
        {k: float(one.eps_attained) for k, one in numbered.items()},
        tuple(k for k, one in numbered.items() if not one.enumerated),
    )


def uncertain_sets(proofs: Iterable[Certificate]) -> list[FittedSet]:
    """List the sets that may miss; statements that hold in the same event have the same set."""
    sets = {id(one.uncertainty): one.uncertainty for one in proofs}
    return [one for one in sets.values() if not (one.is_everything or one.is_point)]


def sets_in_words(
    sets: list[FittedSet], n_statements: int, together: float | None, alphabet: str | None
) -> str:
    """Say how often the statements hold together, where there are several.

    `alphabet` is where the values of U come from.
    """
    if n_statements == 1 or not sets:
        return ""
    if len(sets) == 1:
        return f"one for all {n_statements} statements: they hold together unless it misses"
    if together is None:
        return f"{len(sets)} for {n_statements} statements; how often they miss is not known"
    said = {chance_of_missing(one.rule, one.beta or 0.0) for one in sets}
    kind = "at most" if all(one.rule == "finite-sample" for one in sets) else "about"
    condition = f"; {source_in_words(alphabet)}" if alphabet in ("learned", None) else ""
    return (
        f"{len(sets)} for {n_statements} statements; each misses "
        f"{' or '.join(sorted(said))}, some one of them with probability {kind} "
        f"{at_most(together, '.4g')}{condition}"
    )
