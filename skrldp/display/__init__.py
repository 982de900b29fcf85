"""Displays in the style of scikit-learn: the object holds the data, and matplotlib draws it.

Colour-blind readers can distinguish the colours, and lines differ in markers and strokes too, so
that they can be read in grey. No global settings are changed: fonts and sizes are the user's.
"""

from skrldp.display._coefficients import CoefficientDisplay
from skrldp.display._differences import DifferenceDisplay
from skrldp.display._estimation_errors import EstimationErrorDisplay
from skrldp.display._group_utility import GroupUtilityDisplay
from skrldp.display._leakage import LeakageDisplay
from skrldp.display._mechanism import MechanismDisplay
from skrldp.display._price import PriceDisplay
from skrldp.display._uncertainty import UncertaintyDisplay
from skrldp.display._utility import PrivacyUtilityDisplay

__all__ = [
    "CoefficientDisplay",
    "DifferenceDisplay",
    "EstimationErrorDisplay",
    "GroupUtilityDisplay",
    "LeakageDisplay",
    "MechanismDisplay",
    "PriceDisplay",
    "PrivacyUtilityDisplay",
    "UncertaintyDisplay",
]
