"""The privacy report: what a fitted sanitizer promises, and what it does not, on one page."""

from skrldp.statement._report import PrivacyReport
from skrldp.statement._state import privacy_report

__all__ = ["PrivacyReport", "privacy_report"]
