"""Displays in the style of scikit-learn: objects with a plot's data, drawn with matplotlib.

Colour-blind readers can distinguish the colours, and lines also differ in markers and strokes, so
that plots remain readable in greyscale. Global settings, fonts and sizes are left to the user.
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
