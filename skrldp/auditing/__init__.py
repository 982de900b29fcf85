"""Audits: what a black box leaks, judged by nothing but its reports.

An audit is not a proof of privacy; the certificate is. It finds out whether what is sampled is what
was certified.
"""

from skrldp.auditing._audit import audit
from skrldp.auditing._result import Audit, Check

__all__ = ["Audit", "Check", "audit"]
