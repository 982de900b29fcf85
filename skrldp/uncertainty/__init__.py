"""Uncertainty sets: for which laws of X the privacy must hold."""

from skrldp.uncertainty._renyi import AllDistributions, RenyiBall

__all__ = ["AllDistributions", "RenyiBall"]
