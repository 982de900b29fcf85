"""Mechanisms: what is sampled, to the last bit.

A mechanism's probabilities are integers over a power of two, so that the matrix that is certified
and the matrix that is sampled are the same. A :class:`Mechanism` has the names and holds its
weights in one of three forms: dense (any matrix), blind (any that does not depend on the secret)
and block (the closed forms, whose matrix on thousands of cells nobody wants to store). Only NumPy
is imported here: clients read with this.
"""

from skrldp.mechanism._base import Mechanism
from skrldp.mechanism._forms import BlindForm, BlockForm, DenseForm, Form
from skrldp.mechanism._guarantee import RULES, Guarantee
from skrldp.mechanism._rounding import slot_bits

__all__ = [
    "RULES",
    "BlindForm",
    "BlockForm",
    "DenseForm",
    "Form",
    "Guarantee",
    "Mechanism",
    "slot_bits",
]
