"""AOptimal where all columns are sensitive: errors, relative to protocols that treat cells alike.

Run it with ``python benchmarks/bench_whole_records.py [--quick]``: seven minutes, or two without
240 cells. Each line has, for ε = .5, 1 and 2, the root of the summed variances of all cells' shares
over that of the best of GRR, OUE, OLH and subset selection, the name of this one, processor
seconds, and the number of reports. Mechanisms are rounded and certified. Blocks: twelve columns of
which each person reports one, or a pair, relative to a random one by the best protocol for each
(SMP), and by OUE. It needs the file of Adult: ``SKRLDP_ADULT``, or
``../shared/data/adult/adult.data``.
"""

import argparse
import time
from itertools import combinations

import numpy as np
import pandas as pd
from bench_blocks import twelve_columns
from bench_large import COLUMNS, adult_file

from skrldp import AOptimalSanitizer, BlockSanitizer

EPSILONS = (0.5, 1.0, 2.0)
TABLES = (
    ("race",), ("relationship",), ("occupation",), ("education",), ("sex", "occupation"),
    ("relationship", "race"),
)  # fmt: skip
LARGE = (("occupation", "education"),)


def plain(shares, eps):
    """Sums of variances for one report of the protocols that treat all cells alike."""
    k, odds = len(shares), np.exp(eps)
    hashed = max(2, round(1.0 + odds))

    def total(p, q):
        reported = (p - q) * shares + q
        return float((reported * (1.0 - reported)).sum() / (p - q) ** 2)

    def subsets(d):
        every = d * odds + k - d
        return total(d * odds / every, d / (k - 1) * ((d - 1) * odds + k - d) / every)

    return {
        "GRR": total(odds / (odds + k - 1), 1.0 / (odds + k - 1)),
        "OUE": total(0.5, 1.0 / (odds + 1)),
        "OLH": total(odds / (odds + hashed - 1), 1.0 / hashed),
        "SS": min(subsets(d) for d in range(1, k)),
    }


def ratio(rows, eps):
    start = time.process_time()
    design = AOptimalSanitizer(eps, sensitive=slice(None), categories="product").fit(rows)
    seconds, joint = time.process_time() - start, design.joint_
    peers = plain(joint.probabilities.ravel(), eps)
    best = min(peers, key=peers.get)
    found = np.sqrt(design.variances_.sum() / peers[best])
    return f"{found:.4f} {best:<3} {seconds:5.1f} s {len(design.mechanism_.symbols):4}"


def blocks(kind, records, eps):
    start = time.process_time()
    known = {name: sorted(records[name].unique().tolist()) for name in records}
    design = BlockSanitizer(eps, sensitive=slice(None), blocks=kind, categories=known).fit(records)
    seconds = time.process_time() - start
    peers = [plain(one.joint_.probabilities.ravel(), eps) for one in design.sanitizers_]
    of_smp = {
        "the best": sum(min(one.values()) for one in peers),
        "OUE": sum(one["OUE"] for one in peers),
    }
    ours = (design.std_error_**2).sum()
    found = [f"{np.sqrt(ours / (v * len(peers))):.3f} of {name}" for name, v in of_smp.items()]
    return f"{', '.join(found)}, {seconds:.1f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without 240 cells")
    asked = parser.parse_args()
    if adult_file() is None:
        print("no file of Adult: set SKRLDP_ADULT")
        return
    table = pd.read_csv(adult_file(), names=COLUMNS, skipinitialspace=True)
    for names in TABLES + LARGE * (not asked.quick):
        found = [ratio(table[list(names)], eps) for eps in EPSILONS]
        print(f"{' x '.join(names):<24}", " | ".join(found), flush=True)
    wide = twelve_columns().drop(columns="sex").sample(16_280, replace=True, random_state=0)
    for kind, number in (("singles", 12), ("pairs", len([*combinations(wide, 2)]))):
        for eps in EPSILONS:
            print(f"{number} blocks, ε = {eps:g}:", blocks(kind, wide, eps), flush=True)


if __name__ == "__main__":
    main()
