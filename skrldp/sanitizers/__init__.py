"""Sanitizers: scikit-learn transformers that replace each record by a private report."""

from skrldp.sanitizers.a_optimal import AOptimalSanitizer
from skrldp.sanitizers.block_sanitizer import BlockSanitizer
from skrldp.sanitizers.closed_forms import GRRSanitizer, IRSanitizer, SRRSanitizer
from skrldp.sanitizers.non_robust import NonRobustSanitizer
from skrldp.sanitizers.polyopt import PolyOptSanitizer
from skrldp.sanitizers.robust_mse import RobustMSESanitizer

__all__ = [
    "AOptimalSanitizer",
    "BlockSanitizer",
    "GRRSanitizer",
    "IRSanitizer",
    "NonRobustSanitizer",
    "PolyOptSanitizer",
    "RobustMSESanitizer",
    "SRRSanitizer",
]
