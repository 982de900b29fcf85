"""The designs: how a mechanism is chosen.

What is optimised stands in :mod:`skrldp.design.objectives`, mechanisms by formula in
:mod:`skrldp.design.closed_form`, and the methods in the folders beside them.
"""

from skrldp.design._information_bound import information_bound
from skrldp.design._run import Limits, Progress, Solution

__all__ = ["Limits", "Progress", "Solution", "information_bound"]
