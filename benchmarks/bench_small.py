"""Tables of ten cells: how near to the optimum, and how fast.

Run it with ``python benchmarks/bench_small.py``. The tables are drawn as in the papers' examples,
from a Jeffreys prior: 2 x 5 and 5 x 2 in turn, with 1,000 to 100,000 records, over lower bounds of
the conditionals in ``RenyiBall()``.
The designs are compared with the best mixture of the vertices that cddlib finds.
"""

import sys
import time

import numpy as np

from skrldp import JointDistribution, RenyiBall
from skrldp.design.engine import solve
from skrldp.design.objectives import CriterionProblem
from skrldp.design.rows import _choose_cone as choice
from skrldp.exceptions import SolverError
from skrldp.privacy import Requirements, privacy_region
from skrldp.sets import RenyiSet

EPS = (0.1, 0.5, 1.0, 1.5, 2.5)


def tables(count):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        shape = (2, 5) if seed % 2 == 0 else (5, 2)
        n = int(10 ** rng.uniform(3, 5))
        counts = rng.multinomial(n, rng.dirichlet(np.full(10, 0.5))).reshape(shape)
        joint = JointDistribution(counts)
        radius = RenyiBall().radius_for(joint.n, 10)
        region = privacy_region(joint, RenyiSet(2.0, radius), region="lower")
        yield joint, Requirements.of(region, EPS[seed % 5])


def timed(joint, requirements, **options):
    start = time.process_time()
    value = solve(CriterionProblem(joint), requirements, time_limit=None, **options).objective
    return value, time.process_time() - start


def by_cddlib(joint, requirements):
    product_cone = choice.product_cone
    choice.product_cone = lambda *_: None
    try:
        return timed(joint, requirements, solver="vertices")
    except SolverError:
        return np.nan, np.nan
    finally:
        choice.product_cone = product_cone


def main(count):
    solvers = ("auto", "vertices", "columns")
    found = np.array(
        [
            [by_cddlib(*case), *(timed(*case, solver=solver) for solver in solvers)]
            for case in tables(count)
        ]
    )
    values, seconds = found[:, :, 0], found[:, :, 1]
    error = np.abs(1.0 - values / values[:, :1])
    print(f"{count} tables; cddlib failed on {np.isnan(values[:, 0]).sum()}")
    print(f"{'':<10} {'error: max':>12} {'median':>9} {'CPU s: max':>12} {'median':>9}")
    for i, name in enumerate(("cddlib", *solvers)):
        print(
            f"{name:<10} {np.nanmax(error[:, i]):12.1e} {np.nanmedian(error[:, i]):9.1e} "
            f"{np.nanmax(seconds[:, i]):12.2f} {np.nanmedian(seconds[:, i]):9.2f}"
        )
    print("target: every error at most 1e-4, every time at most 0.5 s")


if __name__ == "__main__":
    main(20 if "--quick" in sys.argv else 100)
