"""How far PolyOpt is from the proven optimum of robust mechanisms, and what the proof takes.

Run it with ``python benchmarks/bench_bounds.py``: some minutes on one core. *General* is the gap
from the bound that only knows that mechanisms are private at the public distribution, *proven* that
from pricing all private rows. *Gain* is what the rows found by pricing add to the information. The
tables of Adult need its file: ``SKRLDP_ADULT``, or ``../shared/data/adult/adult.data``.
"""

import argparse
import time

import numpy as np
import pandas as pd
from bench_large import COLUMNS, adult_file

from skrldp import JointDistribution, LikelihoodRatioSet, RenyiBall
from skrldp.design.bounds import priced_bound
from skrldp.design.criteria import Information
from skrldp.design.engine import solve
from skrldp.design.objectives import CriterionProblem
from skrldp.design.objectives import _criterion_problem as problems
from skrldp.privacy import Requirements, privacy_region

SMALL = [("sex", "race"), ("race", "sex")]
SETS = {"default": LikelihoodRatioSet, "ball": RenyiBall}


def adult(secret, value):
    records = pd.read_csv(adult_file(), names=COLUMNS, skipinitialspace=True)
    return pd.crosstab(records[secret], records[value]).to_numpy()


def line(name, counts, eps, kind, solves, seconds):
    joint = JointDistribution(counts)
    around = SETS[kind]().fit_set(joint)
    requirements = Requirements.of(privacy_region(joint, around), eps)
    general = Information(joint.probabilities.ravel()).bound(joint, requirements).value
    problems.MOST_PRICED_CELLS = 0  # the design alone, first
    start = time.process_time()
    design = solve(CriterionProblem(joint), requirements, time_limit=seconds)
    fit = time.process_time() - start
    start = time.process_time()
    found = priced_bound(joint, requirements, design.matrix, solves=solves)
    value, reached = found.value, max(found.reached, design.objective)
    proof = time.process_time() - start
    print(
        f"{name:<22} {kind:<8} {eps:4} {design.objective:8.5f} "
        f"{1 - design.objective / general:8.2%} {1 - reached / min(value, general):7.2%} "
        f"{reached / design.objective - 1:8.0e} "
        f"{fit:6.1f} {proof:6.1f}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solves", type=int, default=1_000, help="linear programs for a proof")
    parser.add_argument("--seconds", type=float, default=20.0, help="limit of each design")
    options = parser.parse_args()
    print(
        f"{'table':<22} {'set':<8} {'eps':>4} {'I(X;Y)':>8} {'general':>8} {'proven':>7} "
        f"{'gain':>8} {'fit s':>6} {'proof s':>7}"
    )
    np.seterr(all="raise", under="ignore")
    for secret, value in SMALL:
        for kind in SETS:
            for eps in (0.1, 0.5, 1.0, 2.5):
                counts = adult(secret, value)
                line(f"{secret} x {value}", counts, eps, kind, options.solves, options.seconds)
