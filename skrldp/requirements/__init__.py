r"""The promise as a list: what every row of a mechanism must satisfy.

A *requirement* names pairs of secrets, an ε for each, and a region of conditionals, over which
:math:`R_1 \cdot v_{s_1} \le e^\epsilon R_2 \cdot v_{s_2}` must hold for a row v. Designs, repair,
release and proof take a list of them, so whatever is promised besides the privacy of S over a set
of distributions is one more entry: privacy over all distributions at a larger ε, towards somebody
who knows some columns of U, or of each sensitive column by itself.
"""

from skrldp.requirements._promise import Promise, Statement
from skrldp.requirements._repair import constant_rows, repair
from skrldp.requirements._requirements import Requirement, Requirements, lifted

__all__ = [
    "Promise",
    "Requirement",
    "Requirements",
    "Statement",
    "constant_rows",
    "lifted",
    "repair",
]
