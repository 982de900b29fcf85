"""Reports that are drawn anew in every run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skrldp._arrays import smallest_dtype
from skrldp.batches import arrow_numbers
from skrldp.cli._errors import CommandError
from skrldp.cli._mechanism import values_of
from skrldp.client import Client
from skrldp.mechanism import Mechanism

__all__ = ["REPORT", "Fresh"]

REPORT = "report"  # the column of the reports


class Fresh:
    """Draws reports anew; the shape of `skrldp.batches.Reporter`.

    Parameters
    ----------
    mechanism : Mechanism
    columns : sequence of str
        Those that the mechanism reads.
    keep : sequence of str
        Those that are passed on.
    """

    def __init__(self, mechanism: Mechanism, columns: Sequence[str], keep: Sequence[str]) -> None:
        self._client, self._columns, self._keep = Client(mechanism), columns, list(keep)
        self._type = smallest_dtype(len(self._client.symbols))
        own = {name for name, _ in self._client.columns}
        for name in keep:
            if name in own or name == REPORT:
                why = "is reported" if name in own else "is the column of the reports"
                raise CommandError(
                    f"--keep {name}: this column {why}, so it cannot be passed on as it is."
                )

    def output_schema(self, schema: Any) -> Any:
        """Return the columns of the reports."""
        import pyarrow as pa

        kept = [schema.field(name) for name in self._keep]
        return pa.schema([pa.field(REPORT, pa.from_numpy_dtype(self._type)), *kept])

    def report_batch(self, batch: Any) -> Any:
        """Report the records of a batch."""
        import pyarrow as pa

        made = self._client.report_many(values_of(batch, self._columns))
        numbers = arrow_numbers(made.astype(self._type, copy=False))
        columns = [numbers, *(batch.column(name) for name in self._keep)]
        return pa.RecordBatch.from_arrays(columns, schema=self.output_schema(batch.schema))
