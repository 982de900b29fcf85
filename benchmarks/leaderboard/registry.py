"""All approaches, one line each."""

from skrldp import (
    AOptimalSanitizer,
    GRRSanitizer,
    IRSanitizer,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
)

from .approaches import (
    AT_PUBLIC,
    EVERYWHERE,
    RECORD,
    Approach,
    Ours,
    each_column,
    mean_by_s,
    of_s,
    of_u,
)
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
from .phases import ThreePhases
from .plain import OLH, OUE, RSFD, RSRFD, SMP, SPL, CorrRR, SubsetSelection

APPROACHES: list[Approach | Ours] = [
    Ours("A-optimal", AOptimalSanitizer),
    Ours("A-optimal, crosstab", lambda eps: AOptimalSanitizer(eps, targets="all")),
    Ours("A-optimal, columns", AOptimalSanitizer, targets=each_column),
    Ours("A-optimal, S", lambda eps: AOptimalSanitizer(eps, targets="sensitive")),
    ThreePhases("A-optimal in three phases, no public table"),
    Ours("PolyOpt", PolyOptSanitizer),
    Ours("RobustMSE", RobustMSESanitizer),
    Ours("IR", IRSanitizer),
    Ours(
        "PolyOpt, eps_worst_case = 4ε", lambda eps: PolyOptSanitizer(eps, eps_worst_case=4.0 * eps)
    ),
    Ours(
        "A-optimal, eps_worst_case = ε",
        lambda eps: AOptimalSanitizer(eps, eps_worst_case=eps),
        EVERYWHERE,
    ),
    Ours(
        "A-optimal, columns, eps_worst_case = ε",
        lambda eps: AOptimalSanitizer(eps, eps_worst_case=eps),
        EVERYWHERE,
        each_column,
    ),
    Ours(
        "A-optimal, S, eps_worst_case = ε",
        lambda eps: AOptimalSanitizer(eps, eps_worst_case=eps, targets="sensitive"),
        EVERYWHERE,
    ),
    Ours(
        "A-optimal, crosstab, eps_worst_case = ε",
        lambda eps: AOptimalSanitizer(eps, eps_worst_case=eps, targets="all"),
        EVERYWHERE,
    ),
    Ours("SRR", SRRSanitizer, EVERYWHERE),
    Ours("A-optimal, crosstab, records", AOptimalSanitizer, RECORD),
    Ours("A-optimal, records", AOptimalSanitizer, RECORD, of_u),
    Ours("A-optimal, columns, records", AOptimalSanitizer, RECORD, each_column),
    Ours("A-optimal, S, records", AOptimalSanitizer, RECORD, of_s),
    Ours("A-optimal, means by S, records", AOptimalSanitizer, RECORD, mean_by_s),
    Ours("PolyOpt, records", PolyOptSanitizer, RECORD),
    Ours("GRR", GRRSanitizer, RECORD),
    Ours("Non-robust", NonRobustSanitizer, AT_PUBLIC),
    Ours(
        "A-optimal, columns, public alone",
        lambda eps: AOptimalSanitizer(eps, uncertainty=RenyiBall(radius=0.0)),
        AT_PUBLIC,
        each_column,
    ),
    Ours(
        "PolyOpt of U, public alone",
        lambda eps: PolyOptSanitizer(eps, uncertainty=RenyiBall(radius=0.0), objective="I(U;Y)"),
        AT_PUBLIC,
    ),
    OUE(),
    OLH(),
    SubsetSelection(),
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
