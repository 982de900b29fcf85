"""Sanitizers: scikit-learn transformers that replace each record by a private report."""

from skrldp.sanitizers._a_optimal import AOptimalSanitizer
from skrldp.sanitizers._as_sanitizer import (
    as_block_sanitizer,
    as_sanitizer,
    blank_record,
    changes_since_fit,
    codec_of,
    fitted_sanitizer,
    joint_of,
    known_columns,
    reported_its_own_table,
    write_reports,
)
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._block_records import encode_records
from skrldp.sanitizers._block_sanitizer import BlockSanitizer
from skrldp.sanitizers._checks import check_uncertainty, default_uncertainty
from skrldp.sanitizers._grr import GRRSanitizer
from skrldp.sanitizers._independent_reporting import IRSanitizer
from skrldp.sanitizers._non_robust import NonRobustSanitizer
from skrldp.sanitizers._polyopt import PolyOptSanitizer
from skrldp.sanitizers._pooled_blocks import margins_of, smoothed_cells
from skrldp.sanitizers._robust_mse import RobustMSESanitizer
from skrldp.sanitizers._srr import SRRSanitizer
from skrldp.sanitizers._warnings import explain_limit, explain_rare_cells

__all__ = [
    "AOptimalSanitizer",
    "BaseSanitizer",
    "BlockSanitizer",
    "GRRSanitizer",
    "IRSanitizer",
    "NonRobustSanitizer",
    "PolyOptSanitizer",
    "RobustMSESanitizer",
    "SRRSanitizer",
    "as_block_sanitizer",
    "as_sanitizer",
    "blank_record",
    "changes_since_fit",
    "check_uncertainty",
    "codec_of",
    "default_uncertainty",
    "encode_records",
    "explain_limit",
    "explain_rare_cells",
    "fitted_sanitizer",
    "joint_of",
    "known_columns",
    "margins_of",
    "reported_its_own_table",
    "smoothed_cells",
    "write_reports",
]
