"""What a design by rows maximises: information, or small variances."""

from skrldp.design.criteria._criterion import (
    TINY,
    Criterion,
    Mixture,
    Optimum,
)
from skrldp.design.criteria._information import Information
from skrldp.design.criteria._variance import Variance

__all__ = [
    "TINY",
    "Criterion",
    "Information",
    "Mixture",
    "Optimum",
    "Variance",
]
