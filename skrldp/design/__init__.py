"""The designs: how a mechanism is chosen.

:mod:`skrldp.design.engine` solves the problems of :mod:`skrldp.design.objectives`; mechanisms by
formula stand in :mod:`skrldp.design.closed_form`, and the methods in the folders beside them.
"""

from skrldp.design.bounds import information_bound
from skrldp.design.run import Limits, Progress, Solution

__all__ = ["Limits", "Progress", "Solution", "information_bound"]
