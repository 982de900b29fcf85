"""The designs: how a mechanism is chosen.

The doors are :mod:`skrldp.design.polyopt` (most information), :mod:`skrldp.design.distortion`
(least distance) and :mod:`skrldp.design.closed_form`.
"""

from skrldp.design._run import Solution

__all__ = ["Solution"]
