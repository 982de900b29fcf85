r"""Privacy regions: the conditionals that privacy must hold for, and the worst pair of them.

A *row* of a mechanism is :math:`v = (Q_{y|s,u})_{s,u}`. It is private when, for all distinct
secrets :math:`s_1, s_2` and all conditionals :math:`(R_1, R_2)` of the region,
:math:`R_1 \cdot v_{s_1} \le e^\epsilon R_2 \cdot v_{s_2}`. The regions are nested, each safe for
those before it: ``"joint"`` (exactly what the ball of distributions allows) ⊂ ``"product"`` (each
conditional in its own ball) ⊂ ``"box"`` (bounds on each probability) ⊂ ``"lower"`` (lower bounds,
the paper's PolyOpt) ⊂ all conditionals.

A region's :class:`Layout` says which entries of a row belong to which secret. With
``observe="nonsensitive"`` a mechanism sees U alone: its rows are functions :math:`(Q_{y|u})_u` of
U, private under the same condition with :math:`v_s = Q_y` for every secret.
"""

from skrldp.row_privacy._balls import JointRegion, ProductRegion
from skrldp.row_privacy._build import REGIONS, privacy_region
from skrldp.row_privacy._layout import Layout
from skrldp.row_privacy._polyhedra import BoxRegion, LowerRegion, PointRegion, SimplexRegion
from skrldp.row_privacy._region import Region
from skrldp.row_privacy._screened import Screened
from skrldp.row_privacy._screened_maximum import screened_maxima
from skrldp.row_privacy._worst_pairs import WorstPairs, odds_factor

__all__ = [
    "REGIONS",
    "BoxRegion",
    "JointRegion",
    "Layout",
    "LowerRegion",
    "PointRegion",
    "ProductRegion",
    "Region",
    "Screened",
    "SimplexRegion",
    "WorstPairs",
    "odds_factor",
    "privacy_region",
    "screened_maxima",
]
