"""What is proven besides one report to an observer who knows nothing else about a person."""

from typing import Any

from skrldp.certificate import prove_reports
from skrldp.claims import REPORTS, Claims

__all__ = ["claims_of"]

# Products enumerated for each number of reports: a few seconds at most.
_WORK = 1 << 22


def claims_of(fitted: Any) -> Claims:
    """Return the claims of a sanitizer, and what is proven of several reports."""
    certificate = fitted.certificate_
    proofs = prove_reports(
        fitted.mechanism_,
        fitted.joint_,
        certificate.uncertainty,
        REPORTS[1:],
        first=certificate,
        work=_WORK,
    )
    return certificate.claims.with_more([one.claim for one in proofs])
