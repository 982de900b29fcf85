"""Which solver is worth its code: PolyOpt's and RobustMSE's on ten tables, alone and together.

Run it with ``python benchmarks/bench_solvers.py [--quick] [--only WORD ...]``: half an hour of one
core, or a minute. The tables have 6 to 200 cells, many records or few, two secrets or many. Each
line has the objective of the mechanism as it is sampled, at ε = 1: I(X;Y) in nats, or the expected
distance; its distance from the best of the table's lines; and the processor's seconds. Solvers that
people cannot choose are made by leaving out the others:
*path* is the central path without cuts, *cuts* the other way round. The tables of Adult need its
file: ``SKRLDP_ADULT``, or ``../shared/data/adult/adult.data``.
"""

import argparse
import time
import warnings
from unittest import mock

import numpy as np
import pandas as pd
from bench_large import COLUMNS, adult_file

from skrldp import LikelihoodRatioSet, PolyOptSanitizer, RenyiBall, RobustMSESanitizer
from skrldp.design import least_cost as by_path

SETS = {"default": LikelihoodRatioSet(), "lower": RenyiBall(region="lower")}
INFORMATION = {"default": ("auto",), "lower": ("auto", "vertices")}
DISTANCE = ("auto", "path", "cuts")


def drawn(a1, a2, n, concentration, seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(a1 * a2, concentration))
    return rng.multinomial(n, shares).reshape(a1, a2)


def adult(secret, value):
    records = pd.read_csv(adult_file(), names=COLUMNS, skipinitialspace=True)
    return pd.crosstab(records[secret], records[value]).to_numpy()


TABLES = {
    "2x3 dense": lambda: drawn(2, 3, 20_000, 1.0, 1),
    "sex x race": lambda: adult("sex", "race"),
    "race x sex": lambda: adult("race", "sex"),
    "3x4 sparse": lambda: drawn(3, 4, 300, 0.3, 2),
    "2x9 dense": lambda: drawn(2, 9, 20_000, 0.5, 3),
    "6x4 dense": lambda: drawn(6, 4, 20_000, 1.0, 4),
    "4x8 sparse": lambda: drawn(4, 8, 200, 0.5, 5),
    "race x relationship": lambda: adult("race", "relationship"),
    "relationship x education": lambda: adult("relationship", "education"),
    "10x20 sparse": lambda: drawn(10, 20, 4_000, 0.3, 6),
}
QUICK = ("2x3 dense", "3x4 sparse")
LARGEST_LOWER, MOST_LISTED = 40, 12  # cells


def fitted(sanitizer, counts):
    """Fit; return the sanitizer, and the seconds it took."""
    secrets, values = np.nonzero(counts)
    records = np.column_stack([secrets, values])
    sanitizer.set_params(categories=[list(range(size)) for size in counts.shape])
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sanitizer.fit(records, sample_weight=counts[secrets, values])
    return sanitizer, time.process_time() - start


def informative(counts, around, solver):
    design = PolyOptSanitizer(1.0, uncertainty=SETS[around], solver=solver)
    design, seconds = fitted(design, counts)
    return design.mutual_information_, design.solution_, seconds


def near(counts, around, solver):
    design = RobustMSESanitizer(0.5, uncertainty=SETS[around])
    without = {
        "auto": mock.patch.object(by_path, "TIGHT", by_path.TIGHT),
        "path": mock.patch.object(by_path._Search, "add_cuts", lambda self: "converged"),
        "cuts": mock.patch.object(by_path, "has_path", lambda _: False),
    }[solver]
    with without:
        design, seconds = fitted(design, counts)
    return -design.distortion_, design.solution_, seconds


def lines(name, counts, around, what, design, solvers):
    found = []
    for solver in solvers:
        if solver == "vertices" and counts.size > MOST_LISTED:
            continue
        try:
            found.append(
                (solver, *(informative if what == "I(X;Y)" else near)(counts, around, solver))
            )
        except Exception as error:  # a solver that is not for this table
            print(f"{name:<25} {around:<8} {what:<9} {solver:<12} {str(error)[-60:]}", flush=True)
            continue
    best = max(value for _, value, *_ in found)
    for solver, value, solution, seconds in found:
        short = (best - value) / abs(best) if best else 0.0
        print(
            f"{name:<25} {around:<8} {what:<9} {solver:<12} {abs(value):>9.6f} {short:>8.3%} "
            f"{seconds:>8.2f} {solution.gap:>8.1e}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two small tables")
    parser.add_argument("--only", nargs="*", default=[""], help="parts of tables' names")
    parser.add_argument("--what", nargs="*", default=["information", "distance"])
    options = parser.parse_args()
    print(
        f"{'table':<25} {'set':<8} {'objective':<9} {'solver':<12} {'value':>9} {'short':>8} "
        f"{'seconds':>8} {'gap':>8}"
    )
    for name, table in TABLES.items():
        chosen = name in QUICK if options.quick else any(word in name for word in options.only)
        if not chosen or (" x " in name and adult_file() is None):
            continue
        counts = table()
        for around in SETS:
            if around == "lower" and counts.size > LARGEST_LOWER:
                continue
            if "distance" in options.what:
                lines(name, counts, around, "distance", near, DISTANCE)
            if "information" in options.what:
                lines(name, counts, around, "I(X;Y)", informative, INFORMATION[around])
