"""Displays in the style of scikit-learn: objects with the data of a plot, drawn by matplotlib.

Colour-blind readers can distinguish the colours, and lines also differ in markers and strokes, so
that they can be read in grey. Global settings, fonts and sizes remain the user's.
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
