"""Displays in the style of scikit-learn: the object holds the data, and matplotlib draws it.

Colour-blind readers can distinguish the colours, and lines differ in markers and strokes too, so
that they can be read in grey. No global settings are changed: fonts and sizes are the user's.
"""

from skrldp.display._curves import PrivacyUtilityDisplay
from skrldp.display._estimation_errors import EstimationErrorDisplay
from skrldp.display._intervals import IntervalDisplay
from skrldp.display._mechanism import MechanismDisplay

__all__ = [
    "EstimationErrorDisplay",
    "IntervalDisplay",
    "MechanismDisplay",
    "PrivacyUtilityDisplay",
]
