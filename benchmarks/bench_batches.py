"""Reports of record batches: how fast they are computed from a key, compared with one HMAC per row.

The first table is the keyed sampling alone, from ids and cells in memory. The second is end to end,
from Arrow record batches (three columns of strings and numbers, in dictionaries or plain) and from
data frames of texts to reports. Ratios are to one HMAC-SHA256 of each id in a loop, in the same
run; BLAKE2 is Python's fastest keyed hash. Everything runs on one core, and times are the process's
own.

Run it with ``python benchmarks/bench_batches.py [--quick]``.
"""

import argparse
import hashlib
import hmac
import time

import numpy as np
import polars as pl
import pyarrow as pa

import skrldp
from skrldp import batches
from skrldp.sampling.random_bits import (
    IntegerIds,
    KeyedStream,
    OctetIds,
    RandomStream,
)

KEY = bytes(range(32))
ROWS = 1 << 16  # of a batch


def mechanism():
    """30 cells and 20 reports; U has two columns."""
    values = tuple((age, size) for age in range(5) for size in "xyz")
    matrix = np.random.default_rng(0).dirichlet(np.ones(20), size=30).T
    columns = [("ill", True), ("age", False), ("size", False)]
    return skrldp.Mechanism.from_matrix(matrix, ("no", "yes"), values).named(None, columns)


def rate(function, count, repeat=3):
    """Rows per second in the best of several runs."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return count / best


def ids_of(n, rng):
    """Ids as Arrow arrays."""
    texts = [f"person {number}" for number in rng.permutation(n).tolist()]
    octets = [rng.bytes(16) for _ in range(n)]
    return {
        "integers": pa.array(rng.permutation(n)),
        "16 bytes (UUID)": pa.array(octets, pa.binary(16)),
        "bytes": pa.array(octets, pa.binary()),
        "strings": pa.array(texts),
        "UUIDs as strings": pa.array([f"{octet.hex():-<36}" for octet in octets]),
    }


def in_memory(column):
    """Ids as the sampling takes them."""
    if pa.types.is_integer(column.type):
        return IntegerIds(column.to_numpy())
    column = column.cast(pa.binary()) if pa.types.is_fixed_size_binary(column.type) else column
    ends, octets = (np.frombuffer(buffer, kind) for buffer, kind in zip(
        column.buffers()[1:], (np.int32, np.uint8), strict=True
    ))  # fmt: skip
    return OctetIds(octets, ends[: len(column) + 1], pa.types.is_string(column.type))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    n = 10**5 if parser.parse_args().quick else 10**6

    rng, own = np.random.default_rng(0), mechanism()
    columns = ids_of(n, rng)
    few = [str(person).encode() for person in columns["strings"].to_pylist()[: n // 10]]
    one = rate(lambda: [hmac.digest(KEY, person, "sha256") for person in few], len(few))
    blake = rate(
        lambda: [hashlib.blake2b(p, key=KEY, digest_size=16).digest() for p in few], len(few)
    )

    def show(name, found):
        print(f"{name:<44}{found / 1e6:>9.2f} M rows/s{found / one:>9.1f} times HMAC")

    show("HMAC-SHA256 per row, hash alone", one)
    show("BLAKE2 with a key per row, hash alone", blake)
    cells = rng.integers(0, 30, n).astype(np.uint8)
    table, stream = own.form.sampler, KeyedStream(KEY, own.digest)
    show("fresh reports", rate(lambda: table.sample(cells, RandomStream()), n))
    for name, column in columns.items():
        found = rate(lambda own=column: stream.sample(table, cells, in_memory(own)), n)
        show(f"sampling, {name}", found)

    s, a, z = rng.integers(0, 2, n), rng.integers(0, 5, n), rng.integers(0, 3, n)
    dictionary = pa.DictionaryArray.from_arrays
    encoded = {
        "ill": dictionary(pa.array(s, pa.int32()), ["no", "yes"]),
        "age": pa.array(a),
        "size": dictionary(pa.array(z, pa.int32()), ["x", "y", "z"]),
    }
    plain = {name: c if name == "age" else c.cast(pa.string()) for name, c in encoded.items()}
    reporter = batches.Reporter(own, id="person", key=KEY)
    for form, record in (("dictionaries", encoded), ("plain", plain)):
        for name, column in columns.items():
            given = pa.table({"person": column, **record}).to_batches(max_chunksize=ROWS)
            found = rate(lambda given=given: [None for _ in reporter(given)], n)
            show(f"batches, {form}, {name}", found)
    for name in ("integers", "strings"):
        texts = pl.from_arrow(pa.table({"person": columns[name], **plain}))
        categories = {"ill": "category", "size": "category"}
        frames = {
            "polars, texts": texts,
            "polars, Categorical": texts.with_columns(pl.col("ill", "size").cast(pl.Categorical)),
            "pandas, texts": texts.to_pandas().convert_dtypes(dtype_backend="numpy_nullable"),
            "pandas, categories": texts.to_pandas().astype(categories),
        }
        for form, frame in frames.items():
            show(f"{form}, {name}", rate(lambda frame=frame: reporter(frame), n))


if __name__ == "__main__":
    main()
