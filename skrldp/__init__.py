"""Robust local differential privacy for tables, as scikit-learn transformers.

Names are loaded on first use, so that ``import skrldp`` is fast and a client that only samples need
not load the solvers.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "AOptimalSanitizer": "sanitizers.a_optimal",
    "AllDistributions": "sets.parameter_objects",
    "Audit": "auditing",
    "Bins": "alphabet.numbers",
    "BlockEstimator": "estimation",
    "BlockSanitizer": "sanitizers.block_sanitizer",
    "RakingWeights": "estimation",
    "Certificate": "certificate",
    "CertificateError": "exceptions",
    "EstimationErrorDisplay": "display",
    "FrequencyEstimator": "estimation",
    "GRRSanitizer": "sanitizers.closed_forms",
    "IRSanitizer": "sanitizers.closed_forms",
    "InfeasibleError": "exceptions",
    "IntervalDisplay": "display",
    "JointDistribution": "joint",
    "Knots": "alphabet.numbers",
    "LikelihoodRatioSet": "sets.parameter_objects",
    "Manifest": "mechanism.manifest",
    "Mechanism": "mechanism.mechanism",
    "MechanismDisplay": "display",
    "NonRobustSanitizer": "sanitizers.non_robust",
    "PolyOptSanitizer": "sanitizers.polyopt",
    "PrivacyLeakWarning": "exceptions",
    "PrivacyReport": "report",
    "PrivacyUtilityDisplay": "display",
    "RenyiBall": "sets.parameter_objects",
    "ReportLimitError": "exceptions",
    "RobustMSESanitizer": "sanitizers.robust_mse",
    "SRRSanitizer": "sanitizers.closed_forms",
    "SkrldpError": "exceptions",
    "SolverError": "exceptions",
    "SurveyDesign": "surveys.design",
    "audit": "auditing",
    "certify": "certificate",
    "expected_std_error": "estimation",
    "privacy_report": "report",
}

__all__ = [
    "AOptimalSanitizer",
    "AllDistributions",
    "Audit",
    "Bins",
    "BlockEstimator",
    "BlockSanitizer",
    "Certificate",
    "CertificateError",
    "EstimationErrorDisplay",
    "FrequencyEstimator",
    "GRRSanitizer",
    "IRSanitizer",
    "InfeasibleError",
    "IntervalDisplay",
    "JointDistribution",
    "Knots",
    "LikelihoodRatioSet",
    "Manifest",
    "Mechanism",
    "MechanismDisplay",
    "NonRobustSanitizer",
    "PolyOptSanitizer",
    "PrivacyLeakWarning",
    "PrivacyReport",
    "PrivacyUtilityDisplay",
    "RakingWeights",
    "RenyiBall",
    "ReportLimitError",
    "RobustMSESanitizer",
    "SRRSanitizer",
    "SkrldpError",
    "SolverError",
    "SurveyDesign",
    "audit",
    "certify",
    "expected_std_error",
    "privacy_report",
]

# Modules that are loaded on access: `skrldp.auditing.Check` works after `import skrldp`.
_ROOMS = {home.partition(".")[0] for home in _HOMES.values()}
_ROOMS |= {"batches", "claims", "client", "datasets", "model_selection", "regression", "targets"}

if TYPE_CHECKING:
    from skrldp.alphabet.numbers import Bins, Knots
    from skrldp.auditing import Audit, audit
    from skrldp.certificate import Certificate, certify
    from skrldp.display import (
        EstimationErrorDisplay,
        IntervalDisplay,
        MechanismDisplay,
        PrivacyUtilityDisplay,
    )
    from skrldp.estimation import (
        BlockEstimator,
        FrequencyEstimator,
        RakingWeights,
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
    from skrldp.mechanism.manifest import Manifest
    from skrldp.mechanism.mechanism import Mechanism
    from skrldp.report import PrivacyReport, privacy_report
    from skrldp.sanitizers.a_optimal import AOptimalSanitizer
    from skrldp.sanitizers.block_sanitizer import BlockSanitizer
    from skrldp.sanitizers.closed_forms import GRRSanitizer, IRSanitizer, SRRSanitizer
    from skrldp.sanitizers.non_robust import NonRobustSanitizer
    from skrldp.sanitizers.polyopt import PolyOptSanitizer
    from skrldp.sanitizers.robust_mse import RobustMSESanitizer
    from skrldp.sets.parameter_objects import AllDistributions, LikelihoodRatioSet, RenyiBall
    from skrldp.surveys.design import SurveyDesign


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
