"""Reports where the records are: Arrow record batches in, Arrow record batches out.

Engines such as Spark, Dask, Ray, DuckDB and Polars run a function on batches of rows, and may run
it twice on the same rows. Here a report is a function of a secret key, the record's id and the
record, so that it is the same whenever, wherever and however often it is computed.
`docs/guide/batches.md` describes it. NumPy is all that the import loads; ``pyarrow`` and
``cryptography`` are needed later, and narwhals for tables of other libraries than pyarrow.
"""

from skrldp.batches._arrow import arrow_numbers as arrow_numbers  # for the command line
from skrldp.batches._arrow import bare as bare
from skrldp.batches._arrow import numbers_of as numbers_of
from skrldp.batches._arrow import on_its_own as on_its_own
from skrldp.batches._arrow import own_type as own_type
from skrldp.batches._arrow import read_values as read_values
from skrldp.batches._block_reporter import BlockReporter
from skrldp.batches._check_ids import check_ids
from skrldp.batches._keys import KeyFile, KeyVariable, key_check
from skrldp.batches._ledger import LedgerReporter
from skrldp.batches._reporter import Reporter

__all__ = [
    "BlockReporter",
    "KeyFile",
    "KeyVariable",
    "LedgerReporter",
    "Reporter",
    "check_ids",
    "key_check",
]
