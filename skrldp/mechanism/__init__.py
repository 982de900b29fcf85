"""Mechanisms: what is sampled, to the last bit.

A mechanism's probabilities are integers over a power of two, so that the matrix that is certified
and the matrix that is sampled are the same. A :class:`Mechanism` has the names and holds its
weights in one of three forms: dense (any matrix), of values (any that observes U alone)
and block (the closed forms, whose matrix on thousands of cells nobody wants to store). Only NumPy
is imported here: clients read with this.
"""

from skrldp.mechanism._base import Mechanism
from skrldp.mechanism._forms import BlockForm, DenseForm, Form, ValuesForm
from skrldp.mechanism._guarantee import RULES, Guarantee
from skrldp.mechanism._rounding import slot_bits

__all__ = [
    "RULES",
    "BlockForm",
    "DenseForm",
    "Form",
    "Guarantee",
    "Mechanism",
    "ValuesForm",
    "slot_bits",
]
