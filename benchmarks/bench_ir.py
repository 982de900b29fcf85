"""Independent reporting by randomised response and by optimised mechanisms.

Run it with ``python benchmarks/bench_ir.py [--quick]``. It prints normalised mutual information,
I / H(X), at the public distribution, of mechanisms that are certified as they are sampled, and the
seconds of a whole `fit`. Tables: pairs of columns of UCI Adult (left out if there is no file; the
environment variable SKRLDP_ADULT has its path), and tables of 20,000 records drawn from Jeffreys
priors. The confidence set is the papers' ball: ``RenyiBall()``, beta = 0.05, alpha = 2.
"""

import argparse
import os
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from skrldp import IRSanitizer, PrivacyLeakWarning, RenyiBall

EPS = (0.1, 0.5, 1.0, 1.5, 2.5)
COLUMNS = {"education": 3, "occupation": 6, "relationship": 7, "race": 8, "sex": 9}
COLUMNS["native-country"] = 13
PAIRS = [
    ("sex", "race"),
    ("race", "sex"),
    ("occupation", "education"),
    ("native-country", "relationship"),
]
SHAPES = [(3, 5), (2, 8), (6, 4), (2, 12)]


def adult():
    root = Path(__file__).resolve().parents[1]
    path = Path(os.environ.get("SKRLDP_ADULT", root.parent / "shared/data/adult/adult.data"))
    if not path.is_file():
        return
    rows = [line.split(", ") for line in path.read_text("utf-8").splitlines() if line.strip()]
    for sensitive, other in PAIRS:
        first, second = COLUMNS[sensitive], COLUMNS[other]
        counts = Counter((row[first], row[second]) for row in rows)
        secrets, values = (sorted({pair[i] for pair in counts}) for i in (0, 1))
        table = np.array([[counts[s, u] for u in values] for s in secrets])
        yield f"{sensitive} × {other}", table


def jeffreys(shapes):
    for shape in shapes:
        rng = np.random.default_rng(0)
        distribution = rng.dirichlet(np.full(np.prod(shape), 0.5))
        yield "Jeffreys", rng.multinomial(20_000, distribution).reshape(shape)


def fitted(table, eps, underlying):
    cells = np.indices(table.shape).reshape(2, -1).T
    sanitizer = IRSanitizer(eps=eps, underlying=underlying, uncertainty=RenyiBall())
    start = time.perf_counter()
    sanitizer.set_params(sensitive=0).fit(cells, sample_weight=table.ravel())
    assert sanitizer.certificate_.holds(eps)
    return sanitizer, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small tables and two budgets only")
    options = parser.parse_args()
    tables = [*adult(), *jeffreys(SHAPES)]
    if options.quick:
        tables = [(name, table) for name, table in tables if table.size <= 16]
    print("| S × U | size | ε | GRR | optimal | ratio | reports | seconds, GRR | optimal |")
    print("|---|---|---|---|---|---|---|---|---|")
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    for name, table in tables:
        size = "{} × {}".format(*table.shape)
        for eps in (0.5, 1.5) if options.quick else EPS:
            (plain, fast), (best, slow) = (
                fitted(table, eps, underlying) for underlying in ("grr", "optimal")
            )
            before, after = (s.normalized_mutual_information_ for s in (plain, best))
            print(
                f"| {name} | {size} | {eps} | {before:.4f} | {after:.4f} | {after / before:.2f} | "
                f"{best.mechanism_.shape[0]} | {fast:.2f} | {slow:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
