"""Mechanisms: what is sampled, to the last bit.

A mechanism's probabilities are integers over a power of two, so that the matrix that is certified
and the matrix that is sampled are the same. Two forms share one interface: dense (any matrix) and
block (the closed forms, whose matrix on thousands of cells nobody wants to store).
"""

from skrldp.mechanism._base import Mechanism
from skrldp.mechanism._forms import BlockMechanism, DenseMechanism
from skrldp.mechanism._rounding import slot_bits

__all__ = ["BlockMechanism", "DenseMechanism", "Mechanism", "slot_bits"]
