"""What a design by rows maximises: information, that of the least informed, or small variances."""

from skrldp.design.criteria._criterion import (
    TINY,
    Criterion,
    Expandable,
    Expansion,
    Mixture,
    Optimum,
)
from skrldp.design.criteria._information import Information
from skrldp.design.criteria._least_information import LeastInformation
from skrldp.design.criteria._variance import Variance

__all__ = [
    "TINY",
    "Criterion",
    "Expandable",
    "Expansion",
    "Information",
    "LeastInformation",
    "Mixture",
    "Optimum",
    "Variance",
]
