"""A run of a design: its limits, its progress, its solution, and bounds on solutions."""

from skrldp.design.run._bound import ObjectiveBound, least
from skrldp.design.run._limits import LIMITS, Limits, ended_by
from skrldp.design.run._progress import Progress, Quantity
from skrldp.design.run._solution import Solution
from skrldp.design.run._workers import Workers

__all__ = [
    "LIMITS",
    "Limits",
    "ObjectiveBound",
    "Progress",
    "Quantity",
    "Solution",
    "Workers",
    "ended_by",
    "least",
]
