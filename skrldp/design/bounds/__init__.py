"""How far a mechanism is from the best one: upper bounds by entropies, and by pricing of rows."""

from skrldp.design.bounds._everywhere import everywhere_bound
from skrldp.design.bounds._information_bound import AT_PUBLIC, NEAR_PUBLIC, information_bound
from skrldp.design.bounds._priced_bound import MOST_PRICED_CELLS, PricedBound, priced_bound

__all__ = [
    "AT_PUBLIC",
    "MOST_PRICED_CELLS",
    "NEAR_PUBLIC",
    "PricedBound",
    "everywhere_bound",
    "information_bound",
    "priced_bound",
]
