"""Reports that are drawn anew in every run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skrldp.batches import arrow_numbers, on_its_own, own_type
from skrldp.cli._errors import CommandError
from skrldp.cli._mechanism import values_of
from skrldp.client import BlockClient, Client
from skrldp.mechanism import Manifest, Mechanism

__all__ = ["BLOCK", "REPORT", "Fresh"]

REPORT = "report"  # the column of the reports
BLOCK = "block"  # that of the blocks, if they are those of a manifest


class Fresh:
    """Draws reports anew; the shape of `skrldp.batches.Reporter`.

    Parameters
    ----------
    mechanism : Mechanism or Manifest
    columns : sequence of str
        Those that the mechanism reads.
    keep : sequence of str
        Those that are passed on.
    """

    def __init__(
        self, mechanism: Mechanism | Manifest, columns: Sequence[str], keep: Sequence[str]
    ) -> None:
        self._client: Any
        if isinstance(mechanism, Manifest):
            self._client, self._names = BlockClient(mechanism), [BLOCK, REPORT]
        else:
            self._client, self._names = Client(mechanism), [REPORT]
        self._columns, self._keep = columns, list(keep)
        self._types = [own.dtype for own in self._made({name: [] for name in columns})]
        own = {name for name, _ in self._client.columns}
        for name in keep:
            if name in own or name in self._names:
                why = "is reported" if name in own else "is a column of the reports"
                raise CommandError(
                    f"--keep {name}: this column {why}, so it cannot be passed on as it is."
                )

    def output_schema(self, schema: Any) -> Any:
        """Return the columns of the reports."""
        import pyarrow as pa

        kept = [(name, own_type(schema.field(name).type)) for name in self._keep]
        own = zip(self._names, self._types, strict=True)
        return pa.schema([*((name, pa.from_numpy_dtype(one)) for name, one in own), *kept])

    def report_batch(self, batch: Any) -> Any:
        """Report the records of a batch."""
        import pyarrow as pa

        made = self._made(values_of(batch, self._columns))
        kept = (on_its_own(batch.column(name)) for name in self._keep)
        columns = [*map(arrow_numbers, made), *kept]
        return pa.RecordBatch.from_arrays(columns, schema=self.output_schema(batch.schema))

    def _made(self, records: Any) -> list[Any]:
        """Return the numbers of records' reports, and before them those of the blocks."""
        made = self._client.report_many(records)
        return list(made) if len(self._names) > 1 else [made]
