"""Reports inside data engines: Arrow record batches in, Arrow record batches out.

Engines such as Spark, Dask, Ray, DuckDB and Polars run a function on batches of rows, possibly
several times on the same rows. Therefore a report here is a function of a secret key, the record's
id and the record, so that it is the same however often and wherever it is computed.
`docs/guide/batches.md` describes it. The import loads only NumPy; ``pyarrow`` and ``cryptography``
are needed later, and narwhals for tables of libraries other than pyarrow.
"""

from skrldp.batches.arrow import check_ids
from skrldp.batches.keys import KeyFile, KeyVariable, key_check
from skrldp.batches.ledger_reporter import LedgerReporter
from skrldp.batches.reporter import BlockReporter, Reporter

__all__ = [
    "BlockReporter",
    "KeyFile",
    "KeyVariable",
    "LedgerReporter",
    "Reporter",
    "check_ids",
    "key_check",
]
