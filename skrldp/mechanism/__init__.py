"""Mechanisms: what is sampled, to the last bit.

A mechanism's probabilities are integers over a power of two, so that the matrix that is certified
and the matrix that is sampled are the same. Three forms share one interface: dense (any matrix),
blind (any that does not depend on the secret) and block (the closed forms, whose matrix on
thousands of cells nobody wants to store).
"""

from skrldp.mechanism._base import Mechanism
from skrldp.mechanism._document import Document, digest, read, write
from skrldp.mechanism._forms import BlindMechanism, BlockMechanism, DenseMechanism
from skrldp.mechanism._guarantee import RULES, Guarantee
from skrldp.mechanism._rounding import slot_bits

__all__ = [
    "RULES",
    "BlindMechanism",
    "BlockMechanism",
    "DenseMechanism",
    "Document",
    "Guarantee",
    "Mechanism",
    "digest",
    "read",
    "slot_bits",
    "write",
]
