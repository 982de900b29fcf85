"""ISIT section V at full size: 1,000 true distributions, five sizes of the public table.

Run it with ``python benchmarks/bench_isit.py [--quick] [--jobs N]``. It designs for four problems:
20,000 certified designs through the public estimator, in less than ten minutes on two cores.
``--quick`` makes 400. ``examples/isit_section_v.py`` says what is measured, and
``examples/plot_isit_section_v.py`` draws it.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from isit_section_v import EPS, PROBLEMS, SIZES, findings, run, summary


def spread(values):
    mean, deviation, kept = summary(values)
    return f"{mean:8.4f} ± {deviation:6.4f} {len(values) - kept:5d}"


def means(experiment):
    print("Mean ± standard deviation without outliers (1.5 interquartile ranges), and how many")
    print("those are; all other columns are over all instances. Processor time is that of a fit.\n")
    print(
        f"{'n':>7}  {'problem':<8} {'ε*':>17} {'out':>5} {'ε* = ∞':>7} {'ε* > ε':>7} {'most':>6} "
        f"{'D*':>18} {'out':>5} {'ms':>5}"
    )
    for n in SIZES:
        for place, problem in enumerate(PROBLEMS):
            eps, distortion = experiment.at(n, problem)
            cpu = experiment.cpu[:, SIZES.index(n), place].mean()
            print(
                f"{n:>7,}  {problem:<8} {spread(eps)} {np.isinf(eps).sum():7d} "
                f"{np.mean(eps > EPS):7.1%} {eps.max():6.2f} {spread(distortion)} {cpu * 1e3:5.0f}"
            )
    print(f"\nThe same report for all: D* = {summary(experiment.silence)[0]:.4f}.")


def what_the_paper_found(experiment):
    print(
        f"\n{'n':>7}  {'NUNP > ε':>8} {'RUNP > ε':>8} {'NUNP, ε*/ε':>10} {'price':>7} "
        f"{'robust utility':>14} {'P* outside':>10} {'NURP > ε':>8} {'RURP > ε':>8} {'inside':>7}"
    )
    for n in SIZES:
        found = findings(experiment, n)
        above = found["above"]
        print(
            f"{n:>7,}  {above['NUNP']:8.1%} {above['RUNP']:8.1%} {found['excess']['NUNP']:10.2f} "
            f"{found['price']:7.4f} {found['utility']:+14.5f} {found['outside']:10.1%} "
            f"{above['NURP']:8.1%} {above['RURP']:8.1%} {found['worst_inside']:7.4f}"
        )
    print(
        "Median of ε*/ε; price: by how much robust privacy raises the mean of D*; robust utility: "
        "by how\nmuch that raises it further; inside: greatest ε* of NURP and RURP where P* is in "
        "the confidence\nset, at most ε = 0.5 if the proofs are right."
    )


def omitted(experiment):
    print("\nOf the first 30 instances, with infinite ε* and so not in a scatter plot:")
    for n in (75, 15_000):
        counts = {name: np.isinf(experiment.at(n, name)[0][:30]).sum() for name in PROBLEMS}
        print(f"{n:>7,}  " + ", ".join(f"{name} {count}" for name, count in counts.items()))


def main(instances, jobs):
    start = time.perf_counter()
    experiment = run(instances, SIZES, jobs=jobs)
    wall = time.perf_counter() - start
    means(experiment)
    what_the_paper_found(experiment)
    omitted(experiment)
    print(
        f"\n{experiment.cpu.size:,} designs: {wall:.0f} s by the clock, {experiment.cpu.sum():.0f} "
        f"s of processors; greatest gap to a proven bound {experiment.gap.max():.1e}."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="20 instances instead of 1,000")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1 for one on each core")
    options = parser.parse_args()
    main(20 if options.quick else 1_000, options.jobs)
