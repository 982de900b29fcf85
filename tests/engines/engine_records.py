"""What the tests of engines share: a mechanism, records, a key, and the reports of one process."""

import base64
import os
import signal
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from skrldp import Mechanism, batches

N = 20_000
KEY = bytes(range(7, 39))
SECRETS, VALUES = ("no", "yes"), ("0", "1-2", "3+")


@cache
def mechanism():
    """Six cells and five reports."""
    matrix = np.random.default_rng(5).dirichlet(np.ones(5), size=6).T
    columns = [("ill", True), ("visits", False)]
    return Mechanism.from_matrix(matrix, SECRETS, VALUES).named(None, columns)


def records(kind="integer", n=N):
    """Return a table with the columns person, note, ill and visits; no id comes twice."""
    rng = np.random.default_rng(17)
    numbers = rng.permutation(n) - n // 3
    ids = {
        "integer": lambda: pa.array(numbers, pa.int64()),
        "string": lambda: pa.array([f"person {i} ß" for i in numbers]),
        "uuid": lambda: pa.array(
            [
                ((int(i) + n) * 0x9E3779B97F4A7C15F39CC0605CEDC835).to_bytes(40)[-16:]
                for i in numbers
            ],
            pa.binary(16),
        ),
    }[kind]()
    return pa.table(
        {
            "person": ids,
            "note": pa.array(rng.normal(size=n)),
            "ill": pa.array(np.array(SECRETS)[rng.integers(0, 2, n)]),
            "visits": pa.array(np.array(VALUES)[rng.integers(0, 3, n)]),
        }
    )


def write(folder, kind="integer", files=3):
    """Write the records as several Parquet files of several row groups; return the folder."""
    table = records(kind)
    folder = Path(folder) / kind
    folder.mkdir()
    for i in range(files):
        part = table.take(np.arange(i, len(table), files))
        pq.write_table(part, folder / f"part-{i}.parquet", row_group_size=2_000)
    return folder


def reporter(key=KEY, **options):
    return batches.Reporter(mechanism(), id="person", key=key, **options)


def key_file(folder):
    """Write the key into a file; return the reference to it."""
    path = Path(folder) / "key"
    path.touch(0o600)
    path.write_text(KEY.hex())
    return batches.KeyFile(path)


@cache
def in_one_process(kind):
    """Return the reports of all records, made in one go: (ids, reports), ordered by id."""
    return in_order(pa.Table.from_batches(reporter()(records(kind).to_batches())))


def in_order(reports):
    """Return (ids, reports) of a table of reports as lists, ordered by id."""
    assert set(reports.column_names) == {"person", "report"}
    ids = reports["person"]
    if not pa.types.is_integer(ids.type):
        ids = ids.cast(pa.large_binary())
    table = pa.table({"person": ids, "report": reports["report"].cast(pa.int64())})
    table = table.take(pc.sort_indices(table, [("person", "ascending")]))
    return table["person"].to_pylist(), table["report"].to_pylist()


def holds_key(data):
    """Tell whether bytes hold the key, as it is or written in one of the usual ways."""
    ways = [
        KEY,
        *(text.encode() for text in (KEY.hex(), KEY.hex().upper(), repr(KEY)[2:-1])),
        *(encode(KEY)[:40] for encode in (base64.b64encode, base64.urlsafe_b64encode)),
        str(list(KEY))[1:-1].encode(),
    ]
    return any(way in data for way in ways)


class DiesOnce:
    """A reporter whose process ends, as for want of memory, in the middle of its first task."""

    def __init__(self, work, folder):
        self.work, self.trouble = work, Path(folder) / "trouble"

    def __call__(self, given):
        if isinstance(given, pa.Table):
            reports = self.work(given)
            self.die()
            return reports
        return self.in_parts(given)

    def in_parts(self, given):
        for reports in self.work(given):
            yield reports
            self.die()

    def die(self):
        """End this process, unless any process has been ended before."""
        if not self.trouble.exists():
            self.trouble.touch()
            os.kill(os.getpid(), signal.SIGKILL)
