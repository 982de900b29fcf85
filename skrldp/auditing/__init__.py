"""Audits: a lower bound on what a black box leaks, from its reports alone.

An audit is not a proof of privacy; the certificate is. It tests whether the reports that are drawn
follow the certified mechanism.
"""

from skrldp.auditing._audit import audit
from skrldp.auditing._result import Audit, Check

__all__ = ["Audit", "Check", "audit"]
