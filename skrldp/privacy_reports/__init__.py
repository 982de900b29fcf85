"""The privacy report: what a fitted sanitizer promises, and what it does not, on one page."""

from skrldp.privacy_reports._report import PrivacyReport
from skrldp.privacy_reports._state import privacy_report

__all__ = ["PrivacyReport", "privacy_report"]
