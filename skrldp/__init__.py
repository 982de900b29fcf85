"""Robust local differential privacy for tables, as scikit-learn transformers.

The names are loaded when they are first used, so that ``import skrldp`` costs nothing and a client
that only samples need not load the solvers.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "AOptimalSanitizer": "sanitizers",
    "AllDistributions": "sets",
    "Audit": "auditing",
    "BlockEstimator": "estimation",
    "BlockSanitizer": "sanitizers",
    "Calibrator": "estimation",
    "Certificate": "certificate",
    "CertificateError": "exceptions",
    "CoefficientDisplay": "display",
    "DifferenceDisplay": "display",
    "EstimationErrorDisplay": "display",
    "FrequencyEstimator": "estimation",
    "GRRSanitizer": "sanitizers",
    "GroupUtilityDisplay": "display",
    "IRSanitizer": "sanitizers",
    "InfeasibleError": "exceptions",
    "JointDistribution": "joint",
    "LeakageDisplay": "display",
    "LikelihoodRatioSet": "sets",
    "Manifest": "mechanism",
    "Mechanism": "mechanism",
    "MechanismDisplay": "display",
    "NonRobustSanitizer": "sanitizers",
    "PolyOptSanitizer": "sanitizers",
    "PriceDisplay": "display",
    "PrivacyLeakWarning": "exceptions",
    "PrivacyReport": "statement",
    "PrivacyUtilityDisplay": "display",
    "RenyiBall": "sets",
    "ReportLimitError": "exceptions",
    "RobustMSESanitizer": "sanitizers",
    "SRRSanitizer": "sanitizers",
    "SkrldpError": "exceptions",
    "SolverError": "exceptions",
    "SurveyDesign": "surveys",
    "UncertaintyDisplay": "display",
    "audit": "auditing",
    "certify": "certificate",
    "expected_std_error": "estimation",
    "privacy_report": "statement",
    "rank_columns": "sanitizers",
}

__all__ = [
    "AOptimalSanitizer",
    "AllDistributions",
    "Audit",
    "BlockEstimator",
    "BlockSanitizer",
    "Calibrator",
    "Certificate",
    "CertificateError",
    "CoefficientDisplay",
    "DifferenceDisplay",
    "EstimationErrorDisplay",
    "FrequencyEstimator",
    "GRRSanitizer",
    "GroupUtilityDisplay",
    "IRSanitizer",
    "InfeasibleError",
    "JointDistribution",
    "LeakageDisplay",
    "LikelihoodRatioSet",
    "Manifest",
    "Mechanism",
    "MechanismDisplay",
    "NonRobustSanitizer",
    "PolyOptSanitizer",
    "PriceDisplay",
    "PrivacyLeakWarning",
    "PrivacyReport",
    "PrivacyUtilityDisplay",
    "RenyiBall",
    "ReportLimitError",
    "RobustMSESanitizer",
    "SRRSanitizer",
    "SkrldpError",
    "SolverError",
    "SurveyDesign",
    "UncertaintyDisplay",
    "audit",
    "certify",
    "expected_std_error",
    "privacy_report",
    "rank_columns",
]

# Rooms that need no import of their own: `skrldp.auditing.Check` works after `import skrldp`.
_ROOMS = {*_HOMES.values(), "batches", "client", "model_selection", "pram", "regression", "targets"}

if TYPE_CHECKING:
    from skrldp.auditing import Audit, audit
    from skrldp.certificate import Certificate, certify
    from skrldp.display import (
        CoefficientDisplay,
        DifferenceDisplay,
        EstimationErrorDisplay,
        GroupUtilityDisplay,
        LeakageDisplay,
        MechanismDisplay,
        PriceDisplay,
        PrivacyUtilityDisplay,
        UncertaintyDisplay,
    )
    from skrldp.estimation import (
        BlockEstimator,
        Calibrator,
        FrequencyEstimator,
        expected_std_error,
    )
    from skrldp.exceptions import (
        CertificateError,
        InfeasibleError,
        PrivacyLeakWarning,
        ReportLimitError,
        SkrldpError,
        SolverError,
    )
    from skrldp.joint import JointDistribution
    from skrldp.mechanism import Manifest, Mechanism
    from skrldp.sanitizers import (
        AOptimalSanitizer,
        BlockSanitizer,
        GRRSanitizer,
        IRSanitizer,
        NonRobustSanitizer,
        PolyOptSanitizer,
        RobustMSESanitizer,
        SRRSanitizer,
        rank_columns,
    )
    from skrldp.sets import AllDistributions, LikelihoodRatioSet, RenyiBall
    from skrldp.statement import PrivacyReport, privacy_report
    from skrldp.surveys import SurveyDesign


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
