"""All approaches, one line each."""

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
