"""How far a robust mechanism is from the best one: upper bounds that are proven by pricing."""

from skrldp.design.bounds._merged_bound import merged_bound
from skrldp.design.bounds._priced_bound import MOST_PRICED_CELLS, PricedBound, priced_bound

__all__ = ["MOST_PRICED_CELLS", "PricedBound", "merged_bound", "priced_bound"]
