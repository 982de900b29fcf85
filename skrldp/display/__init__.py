"""Displays in scikit-learn's way: the data is in the object, and matplotlib only draws it.

The colours are told apart by colour-blind readers, and lines by their markers and strokes too, so
that a print in grey can be read. Nothing global is changed: fonts and sizes are the reader's own.
"""

from skrldp.display._leakage import LeakageDisplay
from skrldp.display._mechanism import MechanismDisplay
from skrldp.display._uncertainty import UncertaintyDisplay
from skrldp.display._utility import PrivacyUtilityDisplay

__all__ = ["LeakageDisplay", "MechanismDisplay", "PrivacyUtilityDisplay", "UncertaintyDisplay"]
