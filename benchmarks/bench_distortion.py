"""RobustMSE: the central path and cuts against conic programs, and how time grows with the table.

Run it with ``python benchmarks/bench_distortion.py [--quick]``. Tables are drawn from
Jeffreys priors, n = 20,000, squared distance, eps = 0.5, exact region of ``RenyiBall()``. A problem
is solved to a certified gap of 1e-4. The conic programs are solved by Clarabel: the one that we
write, and the one that ISIT Theorems 2 and 4 print (with the sign of (30) corrected), which the
tests have.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from skrldp import JointDistribution, RenyiBall, SolverError
from skrldp.certificate import certify
from skrldp.design import least_cost as search
from skrldp.design.distance_problem import distance_matrix, expected_distance
from skrldp.design.least_cost import minimise
from skrldp.design.run import Limits
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements, repair
from skrldp.sets.fitted_sets import RenyiSet

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from conic_program import solve_conic
from published_conic import solve_published

CONIC = {"reduced": solve_conic, "published": solve_published}
EPS, N, GAP = 0.5, 20_000, 1e-4
PROBLEMS = {  # robust utility, robust privacy
    "NUNP": (False, False),
    "NURP": (False, True),
    "RUNP": (True, False),
    "RURP": (True, True),
}


def draw(a1, a2, seed=0):
    rng = np.random.default_rng(seed)
    distribution = rng.dirichlet(np.full(a1 * a2, 0.5))
    return JointDistribution(rng.multinomial(N, distribution).reshape(a1, a2))


def program(joint, problem):
    """Cost and requirements of one of the four problems."""
    robust_utility, robust_privacy = PROBLEMS[problem]
    radius = RenyiBall().radius_for(joint.n, joint.counts.size)
    distance = distance_matrix("squared", joint.values)
    cost = expected_distance(joint, distance, RenyiSet(2.0, radius if robust_utility else 0.0))
    around = RenyiSet(2.0, radius if robust_privacy else 0.0)
    return cost, Requirements.of(privacy_region(joint, around), EPS)


def solved(joint, problem, seconds=None):
    return minimise(*program(joint, problem), gap=GAP, limits=Limits(seconds))


def by_cuts_alone(joint, problem):
    """As where a region has no central path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "path_blocks", lambda *_: None)
        return solved(joint, problem)


def against_conic(repeat):
    print("5 x 10, seconds; the ratio is to the same problem by the central path\n")
    head = f"{'problem':<8} {'path':>7} {'gap':>8} {'cuts alone':>11} {'ratio':>6}"
    for form in CONIC:
        head += f" {'conic, ' + form:>17} {'status':>19} {'ratio':>6}"
    print(head)
    joint = draw(5, 10)
    for problem in ("NURP", "RURP"):
        runs = [solved(joint, problem) for _ in range(repeat)]
        ours = statistics.median(run.seconds for run in runs)
        cuts = by_cuts_alone(joint, problem)
        text = f"{problem:<8} {ours:>7.3f} {runs[0].gap:>8.1e} {cuts.seconds:>11.2f}"
        text += f" {cuts.seconds / ours:>6.0f}"
        for form in CONIC:
            start = time.perf_counter()
            try:
                status = CONIC[form](*program(joint, problem)).status
            except SolverError:
                status = "failed"
            seconds = time.perf_counter() - start
            text += f" {seconds:>17.2f} {status:>19} {seconds / ours:>6.0f}"
        print(text, flush=True)


def hidden(shapes, seeds):
    """What a conic solution looks like to its solver, and what it is."""
    print(
        "\nConic solutions as the solver leaves them (clipped, columns sum to 1), NURP.\n"
        "violation: the greatest P(y|s1) - exp(eps) P(y|s2) at a distribution of the set;\n"
        "leaks: the eps that is proven for it; better than possible: its cost below the proven\n"
        "lower bound, relative; after repair: its cost above that bound\n"
    )
    print(
        f"{'table':<8} {'seed':>4} {'form':<10} {'status':<19} {'violation':>9} {'leaks':>8} "
        f"{'better than possible':>20} {'after repair':>12}"
    )
    for (a1, a2), seed in ((shape, seed) for shape in shapes for seed in range(seeds)):
        joint = draw(a1, a2, seed)
        cost, asked = program(joint, "NURP")
        best = solved(joint, "NURP")
        for form in reversed(CONIC):
            start = f"{f'{a1} x {a2}':<8} {seed:>4} {form:<10} "
            try:
                found = CONIC[form](cost, asked)
            except SolverError as error:
                print(f"{start}{str(error)[:70]}")
                continue
            matrix = np.clip(found.matrix, 0.0, None)
            matrix /= matrix.sum(axis=0)
            worst = asked.only.region.worst(matrix, EPS).bound.max()
            leaks = certify(matrix, RenyiBall(), joint).eps
            short = (best.bound - cost.worst(matrix)[0]) / best.bound
            after = cost.worst(repair(matrix, asked))[0] / best.bound - 1.0
            print(
                f"{start}{found.status:<19} {max(worst, 0.0):>9.1e} {leaks:>8.4f} "
                f"{max(short, 0.0):>19.3%} {after:>12.3%}",
                flush=True,
            )


def growth(sizes, limit):
    """Seconds for each problem and size."""
    print("\nSeconds to a gap of 1e-4\n")
    print(f"{'table':<8} {'cells':>6} " + " ".join(f"{problem:>8}" for problem in PROBLEMS))
    for a1, a2 in sizes:
        joint = draw(a1, a2)
        row = []
        for problem in PROBLEMS:
            found = solved(joint, problem, limit)
            row.append(f"{found.seconds:>8.2f}" if found.status == "optimal" else f"{'>':>8}")
        print(f"{f'{a1} x {a2}':<8} {a1 * a2:>6} " + " ".join(row), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, some ten seconds")
    options = parser.parse_args()
    quick = options.quick
    print(f"eps = {EPS}, n = {N:,}\n")
    against_conic(1 if quick else 5)
    hidden([(3, 5)] if quick else [(3, 5), (4, 8), (5, 10)], 2 if quick else 3)
    rows = [(a1, 10) for a1 in ((2, 5) if quick else (2, 3, 5, 8, 12, 16))]
    columns = [(5, a2) for a2 in ((5, 10) if quick else (5, 10, 15, 20, 30, 40))]
    others = [] if quick else [(8, 16), (10, 20)]
    growth(sorted({*rows, *columns, *others}, key=np.prod), 300.0)


if __name__ == "__main__":
    main()
