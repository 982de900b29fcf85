"""All approaches, one line each, and those that are not compared, with the reason."""

from skrldp import (
    AOptimalSanitizer,
    GRRSanitizer,
    IRSanitizer,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
)

from .approaches import AT_PUBLIC, EVERYWHERE, RECORD, Approach, Ours, each_column, of_s, of_u
from .known import (
    PRAM,
    URR,
    CorrelationRemover,
    HighLow,
    LocalInformationPrivacy,
    PointwiseMaximalLeakage,
    PrivacyFunnel,
    Raw,
    UnseenSecret,
)
from .plain import OLH, OUE, RSFD, RSRFD, SMP, SPL, CorrRR

APPROACHES: list[Approach | Ours] = [
    Ours("A-optimal", AOptimalSanitizer),
    Ours("A-optimal, crosstab", lambda eps: AOptimalSanitizer(eps, targets="all")),
    Ours("A-optimal, columns", AOptimalSanitizer, targets=each_column),
    Ours("A-optimal, S", lambda eps: AOptimalSanitizer(eps, targets="sensitive")),
    Ours("PolyOpt", PolyOptSanitizer),
    Ours("RobustMSE", RobustMSESanitizer),
    Ours("IR", IRSanitizer),
    Ours("PolyOpt, eps_all = 4ε", lambda eps: PolyOptSanitizer(eps, eps_all=4.0 * eps)),
    Ours("A-optimal, eps_all = ε", lambda eps: AOptimalSanitizer(eps, eps_all=eps), EVERYWHERE),
    Ours(
        "A-optimal, columns, eps_all = ε",
        lambda eps: AOptimalSanitizer(eps, eps_all=eps),
        EVERYWHERE,
        each_column,
    ),
    Ours(
        "A-optimal, S, eps_all = ε",
        lambda eps: AOptimalSanitizer(eps, eps_all=eps, targets="sensitive"),
        EVERYWHERE,
    ),
    Ours(
        "A-optimal, crosstab, eps_all = ε",
        lambda eps: AOptimalSanitizer(eps, eps_all=eps, targets="all"),
        EVERYWHERE,
    ),
    Ours("SRR", SRRSanitizer, EVERYWHERE),
    Ours("A-optimal, crosstab, records", AOptimalSanitizer, RECORD),
    Ours("A-optimal, records", AOptimalSanitizer, RECORD, of_u),
    Ours("A-optimal, columns, records", AOptimalSanitizer, RECORD, each_column),
    Ours("A-optimal, S, records", AOptimalSanitizer, RECORD, of_s),
    Ours("PolyOpt, records", PolyOptSanitizer, RECORD),
    Ours("GRR", GRRSanitizer, RECORD),
    Ours("Non-robust", NonRobustSanitizer, AT_PUBLIC),
    OUE(),
    OLH(),
    SPL(),
    SMP(),
    RSFD(),
    RSRFD(),
    CorrRR(),
    PointwiseMaximalLeakage(),
    LocalInformationPrivacy(),
    PrivacyFunnel(),
    UnseenSecret(),
    URR(),
    HighLow(),
    PRAM(),
    CorrelationRemover(),
    Raw(),
]

# Others, and why they are not here.
NOT_COMPARED = {
    "block designs of arXiv 2509.24173": "not written: binomially many reports at these numbers of "
    "cells; uRR and high-low LDP have this promise",
    "maximal leakage with sets from samples, arXiv 2509.22428": "not written yet: its posteriors "
    "are those of X = S, and a set for S inside (S, U) is another one",
    "arXiv 2605.19474": "the worst utility under maximal leakage: another objective",
    "Corr-RR where columns have different numbers of categories": "it is not defined there",
    "aif360's OptimPreproc": "its transform fails on current pandas, and no ε is promised",
    "diffprivlib, OpenDP": "central differential privacy: somebody is trusted with the records",
    "multi-freq-ldpy, pure-ldp, ldp-toolbox": "the same mechanisms as GRR, OUE, OLH, SPL, SMP and "
    "RS+FD here; `compare_packages.py` draws from them and compares",
    "trasgodp": "not tried",
}
