"""What programs are made of: expected costs, linear constraints, and mixtures of rows."""

from skrldp.design.programs._constraints import Cuts, column_sums
from skrldp.design.programs._expected_cost import ExpectedCost
from skrldp.design.programs._master_program import LEAST_GAIN, RowMixture, used

__all__ = [
    "LEAST_GAIN",
    "Cuts",
    "ExpectedCost",
    "RowMixture",
    "column_sums",
    "used",
]
