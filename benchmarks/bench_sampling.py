"""Rows per second of sampling, compared with other packages.

Every sampler performs generalised randomised response on ``k`` values at epsilon = 1, one report
for each row, on one core. Ours takes its randomness from AES-256 keyed by the operating system.
The others, and the line of plain NumPy, use generators that are not meant for secrets.

Run it with ``python benchmarks/bench_sampling.py [--rows N] [--peer-rows N]``. The other packages
are measured where they import: ``pip install pure-ldp multi-freq-ldpy``. pure-ldp 1.2 also needs
scikit-learn and statsmodels, which it does not declare.
"""

import argparse
import importlib
import math
import platform
import time

import numpy as np

from skrldp.sampling.draws import AliasTable, BlockTable
from skrldp.sampling.random_bits import RandomStream

EPS = 1.0


def best_time(function, repeat=5):
    """Shortest of several runs, in seconds: the others were disturbed."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def other_weight(k, bits):
    """Weight of each symbol but the record's own, over 2**bits."""
    return int((1 << bits) / (math.exp(EPS) + k - 1))


def alias_table(k):
    bits = 32 + (k - 1).bit_length()
    weights = np.full((k, k), other_weight(k, bits), dtype=np.int64)
    np.fill_diagonal(weights, (1 << bits) - (k - 1) * weights[0, 0])
    return AliasTable.from_weights(weights, bits)


def block_table(n_secrets, n_values):
    k, bits = n_secrets * n_values, 63
    other = other_weight(k, bits)
    same = (1 << bits) - (k - 1) * other
    return BlockTable(n_secrets, n_values, same, other, other, other, bits)


def four_weights_table(n_secrets, n_values):
    """Weights that all differ, the slowest case: the product of two randomised responses."""
    secret, value = other_weight(n_secrets, 31), other_weight(n_values, 32)
    own_secret = (1 << 31) - (n_secrets - 1) * secret
    own_value = (1 << 32) - (n_values - 1) * value
    weights = own_secret * own_value, own_secret * value, secret * own_value, secret * value
    return BlockTable(n_secrets, n_values, *weights, bits=63)


def records(k, n):
    dtype = np.min_scalar_type(k - 1)
    return np.random.default_rng(0).integers(k, size=n, dtype=dtype)


def keystream(rows, octets):
    """Fill blocks with the keystream that so many rows need: a floor for every sampler."""
    block = np.empty(1 << 15, dtype=np.uint8)
    stream = RandomStream()
    return lambda: [stream.fill(block) for _ in range(math.ceil(rows * octets / block.size))]


def plain_numpy(k, codes):
    generator = np.random.default_rng()
    own = math.exp(EPS) / (math.exp(EPS) + k - 1)

    def run():
        shift = generator.integers(1, k, size=codes.size, dtype=np.uint16)
        shift[generator.random(codes.size) < own] = 0
        shift += codes
        return shift % k

    return run


def pure_ldp(k, codes):
    module = importlib.import_module("pure_ldp.frequency_oracles.direct_encoding")
    client = module.DEClient(EPS, k, index_mapper=lambda value: value)
    values = codes.tolist()
    return lambda: [client.privatise(value) for value in values]


def multi_freq_ldpy(k, codes):
    module = importlib.import_module("multi_freq_ldpy.pure_frequency_oracles.GRR")
    client = module.GRR_Client
    values = codes.tolist()
    client(values[0], k, EPS)  # compile
    return lambda: [client(value, k, EPS) for value in values]


def report(name, k, rows, rate, ours=None):
    ratio = "" if ours is None else f"{ours / rate:,.1f}"
    print(f"{name:<34}{k:>7}{rows:>12,}{rate:>16,.0f}{ratio:>14}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--peer-rows", type=int, default=2 * 10**5)
    arguments = parser.parse_args()
    n = arguments.rows

    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"{'sampler':<34}{'k':>7}{'rows':>12}{'rows/s':>16}{'ours is x':>14}")
    for k in (16, 240):
        table, codes, stream = alias_table(k), records(k, n), RandomStream()
        ours = n / best_time(lambda t=table, c=codes, s=stream: t.sample(c, s))
        report("AliasTable, AES-256-CTR", k, n, ours)
        floor = n / best_time(keystream(n, octets=5))
        report("  (its keystream alone, 5 bytes)", k, n, floor)
        report("NumPy, PCG64", k, n, n / best_time(plain_numpy(k, codes)), ours)
        for name, peer in (("pure-ldp", pure_ldp), ("multi-freq-ldpy", multi_freq_ldpy)):
            few = codes[: arguments.peer_rows]
            try:
                run = peer(k, few)
            except Exception as error:  # peers fail to import in many ways
                print(f"{name:<34}{k:>7}{'n/a':>12}  {type(error).__name__}: {error}")
                continue
            report(name, k, few.size, few.size / best_time(run, repeat=3), ours)
    for n_secrets, n_values in ((1, 10_000), (100, 100)):
        table, codes, stream = block_table(n_secrets, n_values), records(10_000, n), RandomStream()
        rate = n / best_time(lambda t=table, c=codes, s=stream: t.sample(c, s))
        report(f"BlockTable {n_secrets} x {n_values}, GRR", 10_000, n, rate)
    table = four_weights_table(100, 100)
    rate = n / best_time(lambda: table.sample(codes, stream))
    report("BlockTable 100 x 100, four weights", 10_000, n, rate)
    report("  (its keystream alone, 8 bytes)", 10_000, n, n / best_time(keystream(n, octets=8)))


if __name__ == "__main__":
    main()
