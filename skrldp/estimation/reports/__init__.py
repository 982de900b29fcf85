"""Reports of any form, read and counted."""

from skrldp.estimation.reports._read_reports import (
    ENCODINGS,
    count_reports,
    number_reports,
    read_rows,
)
from skrldp.estimation.reports._source import Source, read_mechanism, read_source

__all__ = [
    "ENCODINGS",
    "Source",
    "count_reports",
    "number_reports",
    "read_mechanism",
    "read_rows",
    "read_source",
]
