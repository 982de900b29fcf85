"""Several blocks of columns: what their reports tell together.

Margins of different blocks overlap: those of (age, sex) and of (age, job) both tell of age. They
are all linear functions of common parameters, so that the reports of every block count for all the
figures that they bear on.
"""

from skrldp.pooling._margins import BlockModel, CommonMargins
from skrldp.pooling._pool import Pool, Pooled, ReportInformation, information_of
from skrldp.pooling._shares import best_shares

__all__ = [
    "BlockModel",
    "CommonMargins",
    "Pool",
    "Pooled",
    "ReportInformation",
    "best_shares",
    "information_of",
]
