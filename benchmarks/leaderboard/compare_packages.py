"""Do packages report as our matrices say? ``python -m leaderboard.compare_packages`` asks them.

It needs multi-freq-ldpy and pure-ldp, in the environment of ``make bench``. For each protocol one
record reports many times; shown is the greatest difference of a report's share from its
probability, in standard errors. Among some hundred reports, 4 is a chance of about 1 %.
"""

import importlib

import numpy as np

from .plain import RSFD, SMP, grr, oue
from .tables import Task

REPORTS = 20_000
EPS = 1.0
SIZES = (2, 3, 4)
RECORD = (1, 2, 0)


def task():
    categories = tuple(tuple(range(size)) for size in SIZES)
    truth = np.full((SIZES[0], SIZES[1] * SIZES[2]), 1.0 / np.prod(SIZES))
    return Task("three columns", ("s", "u", "v"), categories, truth, 1_000, "u", "v")


def farthest(shares, probabilities):
    probabilities = probabilities / probabilities.sum()
    error = np.sqrt(probabilities * (1.0 - probabilities) / REPORTS)
    return float(np.abs((shares - probabilities)[error > 0] / error[error > 0]).max())


def shares_of(codes, size):
    return np.bincount(codes, minlength=size) / REPORTS


def multi_freq(module):
    return importlib.import_module(f"multi_freq_ldpy.{module}")


def main():
    np.random.seed(0)  # noqa: NPY002  what the packages draw from
    table, cell = task(), int(np.ravel_multi_index(RECORD, SIZES))
    found = {}

    client = multi_freq("pure_frequency_oracles.GRR").GRR_Client
    drawn = [int(client(cell, table.cells, EPS)) for _ in range(REPORTS)]
    found["multi-freq-ldpy, GRR"] = shares_of(drawn, table.cells), grr(table.cells, EPS)[:, cell]

    client, k = multi_freq("pure_frequency_oracles.UE").UE_Client, 6
    powers = 1 << np.arange(k)
    drawn = [int(np.asarray(client(2, k, EPS, True), int) @ powers) for _ in range(REPORTS)]
    found["multi-freq-ldpy, OUE"] = shares_of(drawn, 1 << k), oue(k, EPS)[:, 2]

    client = multi_freq("mdim_freq_est.RSpFD_solution").RSpFD_GRR_Client
    drawn = [
        int(np.ravel_multi_index([int(v) for v in client(RECORD, SIZES, 3, EPS)], SIZES))
        for _ in range(REPORTS)
    ]
    found["multi-freq-ldpy, RS+FD"] = (
        shares_of(drawn, table.cells),
        RSFD().matrix(table, EPS)[:, cell],
    )

    client, starts = multi_freq("mdim_freq_est.SMP_solution").SMP_GRR_Client, np.cumsum((0, *SIZES))
    pairs = [client(RECORD, SIZES, 3, EPS) for _ in range(REPORTS)]
    drawn = [int(starts[int(place)] + int(value)) for place, value in pairs]
    found["multi-freq-ldpy, SMP"] = shares_of(drawn, sum(SIZES)), SMP().matrix(table, EPS)[:, cell]

    module = importlib.import_module("pure_ldp.frequency_oracles.direct_encoding")
    one = module.DEClient(EPS, table.cells, index_mapper=lambda value: value)
    drawn = [int(one.privatise(cell)) for _ in range(REPORTS)]
    found["pure-ldp, direct encoding"] = (
        shares_of(drawn, table.cells),
        grr(table.cells, EPS)[:, cell],
    )

    for name, pair in found.items():
        print(f"{name:<28} {farthest(*pair):.1f}")


if __name__ == "__main__":
    main()
