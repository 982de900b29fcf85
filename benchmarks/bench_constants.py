"""What the solvers' constants do: each is doubled in turn, and small designs are made again.

Run it with ``python benchmarks/bench_constants.py [--only WORD] [--factor F]``: some five minutes
of one core. A constant is a number, or an entry of a tuple of numbers, with a name in capitals in
a module of ``skrldp.design``. For each it prints the greatest relative changes of a design's
objective, for the worse and for the better, and the ratio of the times. Whole numbers stay whole,
and what lies between 1/2 and 1 goes half of the way to 1. The designs are those of solvers that the
module is part of, on tables of 4 to 18 cells: of constants about size or memory this says nothing.
"""

import argparse
import importlib
import pkgutil
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import skrldp.design
from skrldp import JointDistribution, RenyiBall
from skrldp.design import least_cost as search
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.distance_problem import (
    DistanceProblem,
    distance_matrix,
    expected_distance,
)
from skrldp.design.engine import solve
from skrldp.design.subset_search import quick_reporting
from skrldp.information import mutual_information
from skrldp.privacy.regions import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet


def draw(a1, a2, seed=0, n=20_000):
    rng = np.random.default_rng(seed)
    distribution = rng.dirichlet(np.full(a1 * a2, 0.5))
    return JointDistribution(rng.multinomial(n, distribution).reshape(a1, a2))


def ball(joint):
    return RenyiSet(2.0, RenyiBall(2.0).radius_for(joint.n, joint.counts.size))


def region_of(joint, kind="joint"):
    return privacy_region(joint, ball(joint), region=kind)


def asked(joint, kind="joint", eps=1.0):
    return Requirements.of(region_of(joint, kind), eps)


def information(joint, kind, solver):
    found = solve(CriterionProblem(joint), asked(joint, kind), solver=solver, time_limit=None)
    return found.objective


def distance(joint, kind, robust=True):
    table = distance_matrix("squared", joint.values)
    cost = expected_distance(joint, table, ball(joint) if robust else RenyiSet(2.0, 0.0))
    return -solve(DistanceProblem(cost), asked(joint, kind, 0.5), time_limit=None).objective


def by_cuts(joint):
    former, search.path_blocks = search.path_blocks, lambda *_: None
    try:
        return distance(joint, "joint")
    finally:
        search.path_blocks = former


def quick(joint):
    found = quick_reporting(joint, asked(joint, eps=0.5))
    return mutual_information(found, joint.probabilities.ravel())


CASES = {
    "columns": lambda: information(draw(2, 2), "joint", "columns"),
    "lower": lambda: information(draw(2, 9), "lower", "columns"),
    "vertices": lambda: information(draw(2, 3), "lower", "vertices"),
    "alternation": lambda: information(draw(3, 4), "joint", "alternation"),
    "path": lambda: distance(draw(3, 6), "joint"),
    "public": lambda: distance(draw(4, 4), "joint", robust=False),
    "cuts": lambda: by_cuts(draw(2, 4)),
    "subset": lambda: quick(draw(3, 5)),
}
# Which of them a module has a part in; all, if it is not named.
CONCERNED = {
    "alternation": ["alternation"],
    "central_path": ["alternation", "path", "public"],
    "constraint_blocks": ["alternation", "path", "public"],
    "newton_system": ["alternation", "path", "public"],
    "least_cost": ["path", "public", "cuts"],
    "cone": ["columns", "lower", "vertices"],
    "columns": ["columns", "lower", "vertices"],
    "vertices": ["columns", "lower", "vertices"],
    "subset_optimum": ["subset"],
    "subset_search": ["subset"],
    "closed_form": ["subset"],
    "distance_problem": ["path"],
    "run": [],
}


def constants():
    """Yield module, name, value and the place in a tuple, or None."""
    for info in pkgutil.walk_packages(skrldp.design.__path__, "skrldp.design."):
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if name.strip("_").isupper() and isinstance(value, int | float):
                yield module, name, value, None
            elif name.strip("_").isupper() and isinstance(value, tuple):
                for place, entry in enumerate(value):
                    if isinstance(entry, int | float):
                        yield module, name, value, place


def changed(value, factor):
    if isinstance(value, int):
        return max(int(value * factor), 1)
    if 0.5 <= value < 1.0 and factor > 1:
        return 1.0 - (1.0 - value) / factor
    return value * factor


def run(cases):
    found, start = {}, time.process_time()
    for name in cases:
        try:
            found[name] = CASES[name]()
        except Exception as error:  # what a constant breaks is part of what is asked
            found[name] = f"{type(error).__name__}: {error}"[:60]
    return found, time.process_time() - start


def with_entry(value, place, entry):
    if place is None:
        return entry
    parts = list(value)
    parts[place] = entry
    return tuple(parts) if type(value) is tuple else type(value)(*parts)


def main(only, factor):
    base = {name: run([name]) for name in CASES}
    print({name: (found[name], round(took, 2)) for name, (found, took) in base.items()}, "\n")
    print(f"{'constant':<54} {'value':>8} {'as':>8} {'worse':>7} {'better':>7} {'time':>5}")
    for module, name, value, place in list(constants()):
        path = module.__name__.removeprefix("skrldp.design.")
        label = f"{path}.{name}" + ("" if place is None else f"[{place}]")
        cases = CONCERNED.get(path.split(".")[0], list(CASES))
        if not cases or (only and only not in label):
            continue
        entry = value if place is None else value[place]
        new = changed(entry, factor)
        setattr(module, name, with_entry(value, place, new))
        try:
            found, took = run(cases)
        finally:
            setattr(module, name, value)
        before = {case: base[case][0][case] for case in cases}
        failed = [case for case in cases if isinstance(found[case], str)]
        change = [
            (found[case] - before[case]) / abs(before[case]) for case in cases if case not in failed
        ]
        print(
            f"{label:<54} {entry:>8.3g} {new:>8.3g} {max(0.0, *(-c for c in change), 0.0):>7.0e} "
            f"{max(0.0, *change, 0.0):>7.0e} {took / sum(base[c][1] for c in cases):>5.2f} "
            f"{' '.join(f'{case}: {found[case]}' for case in failed)}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="WORD", help="constants whose name has this word")
    parser.add_argument("--factor", type=float, default=2.0, help="by which each is multiplied")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1, user_api="blas"):
        main(options.only, options.factor)
