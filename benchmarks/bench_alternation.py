"""What helps in PolyOpt's alternation: one path each, with one thing changed at a time.

Run it with ``python benchmarks/bench_alternation.py [--quick]``: a quarter of an hour, or half a
minute. Information is I(X;Y)/H(X) at the public distribution, of mechanisms that are private over
the exact ball (β = 0.05, α = 2) at ε = 1.5, the mean of two starts. Seconds are those of a path.
"""

import argparse
from contextlib import contextmanager
from unittest import mock

import numpy as np
from bench_large import ADULT, adult_file, counts_of
from threadpoolctl import threadpool_limits

from skrldp import JointDistribution, RenyiBall
from skrldp.design.alternation import Annealing, Run, starts
from skrldp.design.alternation import _alternate as alternation
from skrldp.design.alternation import _annealing as annealing
from skrldp.design.alternation import _starts as first_mechanisms
from skrldp.design.alternation._alternate import gather
from skrldp.design.criteria import Information
from skrldp.design.criteria import _information as decoders
from skrldp.design.interior_point import _central_path as central_path
from skrldp.design.interior_point import _part as parts
from skrldp.design.interior_point._pair_block import PairBlock
from skrldp.design.least_cost import minimise
from skrldp.design.programs import ExpectedCost
from skrldp.design.run import Limits
from skrldp.information import entropy, mutual_information
from skrldp.privacy import Requirements, privacy_region, repair
from skrldp.sets import RenyiSet

EPS = 1.5
FACTOR, REPORTS = 0.9, 16


@contextmanager
def changed(module, **constants):
    """A module with other constants."""
    former = {name: getattr(module, name) for name in constants}
    vars(module).update(constants)
    try:
        yield
    finally:
        vars(module).update(former)


class Case:
    """A table with what is asked for."""

    def __init__(self, name):
        self.joint = JointDistribution(counts_of(name))
        radius = RenyiBall().radius_for(self.joint.n, self.joint.counts.size)
        self.asked = Requirements.of(privacy_region(self.joint, RenyiSet(2.0, radius)), EPS)
        self.distribution = self.joint.probabilities.ravel()
        self.whole = entropy(self.distribution)

    def start(self, b, seed, kind="both"):
        """A fixed start, with its noise, its report for each value, or both."""
        shape = self.joint.counts.shape
        if kind == "both":
            return starts(shape, b, seed)
        if kind == "noise":
            with changed(first_mechanisms, _BIAS=0.0):
                return starts(shape, b, seed)
        start = np.full((b, *shape), 1.0 + 1e-3 * seed)
        start[np.arange(b), :, np.arange(b) % shape[1]] *= 5.0
        return (start / start.sum(axis=0)).reshape(b, -1)

    def path(self, b=REPORTS, factor=FACTOR, seed=0, kind="both"):
        limits = Limits(None)
        start = self.start(b, seed, kind)
        run = Annealing(Information(self.distribution), self.asked, start)
        run.anneal(factor, limits)
        return run.value / self.whole, limits.elapsed, run.steps

    def gathered(self, runs, update=True):
        """What comes of the decoders of two paths; seconds and steps without those of the paths."""
        limits = Limits(None)
        rows = gather(runs, self.distribution, self.asked.shape)
        joined = Annealing(Information(self.distribution), self.asked, rows)
        joined.solve_fixed(limits)
        if update:
            joined.anneal(FACTOR, limits, alternation._GATHERED_GAP)
        else:
            joined._offer()
        return joined.value / self.whole, limits.elapsed, joined.steps

    def run(self, seed):
        """A path as it is."""
        found = Annealing(Information(self.distribution), self.asked, self.start(REPORTS, seed))
        found.anneal(FACTOR, Limits(None))
        return Run.of(found)

    def to_the_end(self, b, seconds, seed=0):
        """Plain alternation: each decoder's program solved to a gap of 1e-3."""
        limits, best, rounds = Limits(seconds), 0.0, 0
        matrix = self.start(b, seed, "value")
        while not limits.met:
            cost = ExpectedCost(
                Information(self.distribution).expand(matrix, 0.0).cost, self.distribution
            )
            matrix = minimise(cost, self.asked, gap=1e-3, limits=limits).matrix
            value = mutual_information(repair(matrix, self.asked), self.distribution)
            rounds += 1
            if value <= best * (1.0 + 1e-5):
                break
            best = value
        return best / self.whole, limits.elapsed, rounds


def row(name, results):
    values, seconds, steps = np.mean(results, axis=0)
    spread = np.ptp([value for value, _, _ in results])
    print(f"{name:<44} {values:.4f} {spread:>8.4f} {seconds:>8.1f} {steps:>6.0f}", flush=True)


def table(name, quick):
    case, seeds = Case(name), (0, 1)
    print(f"\n{name}\n{'':<44} {'NMI':>6} {'range':>8} {'seconds':>8} {'steps':>6}")
    row(f"as it is: {REPORTS} reports, factor {FACTOR}", [case.path(seed=s) for s in seeds])
    for factor in (0.5, 0.8, 0.95, 0.97) if not quick else (0.8,):
        row(f"factor {factor}", [case.path(factor=factor, seed=s) for s in seeds])
    if quick:
        return
    for kind, label in (("noise", "starts of noise alone"), ("value", "a report for each value")):
        row(label, [case.path(seed=s, kind=kind) for s in seeds])
    for most in (0, 1, 3, 10):
        with changed(central_path, _MOST_CORRECTIONS=most):
            row(f"{most} corrections of a direction", [case.path(seed=s) for s in seeds])
    with (
        mock.patch.object(PairBlock, "correct"),
        mock.patch.object(PairBlock, "undo_correction"),
    ):
        row("no second-order corrections", [case.path(seed=s) for s in seeds])
    with changed(parts, _PRODUCTS=(0.1, 10.0)):
        row("corrections to .1 to 10 of the barrier", [case.path(seed=s) for s in seeds])
    with changed(annealing, _MOST_FACTOR=0.0):
        row("cooling where steps are short, too", [case.path(seed=s) for s in seeds])
    for gap in (1.0, 3.0, 10.0, 100.0):
        with changed(annealing, _FIRST_GAP=gap):
            row(f"first gap {gap:g} H(X)", [case.path(seed=s) for s in seeds])
    for smoothing in (1e-3, 1e-7):
        with changed(decoders, SMOOTHING=smoothing):
            row(f"decoders smoothed by {smoothing:g}", [case.path(seed=s) for s in seeds])
    for b in (8, 12, 24, 32, 48):
        row(f"{b} reports", [case.path(b=b, seed=s) for s in seeds])
    runs = [case.run(seed) for seed in (0, 1, 2, 3)]
    pairs = runs[:2], runs[2:]
    for gap in (1e-1, 3e-2, 1e-2, 3e-3, 1e-3):
        with changed(annealing, _FIXED_GAP=gap):
            row(f"two gathered, fixed until a gap of {gap:g}", [case.gathered(p) for p in pairs])
    row("decoders fixed", [case.gathered(p, update=False) for p in pairs])
    with changed(alternation, _FILL=0):
        row("gathered without perturbed copies", [case.gathered(p) for p in pairs])
    row("one path alone, followed on", [case.gathered(runs[:1]), case.gathered(runs[2:3])])
    row("programs solved to the end, in 60 s", [case.to_the_end(REPORTS, 60.0)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one small table")
    parser.add_argument("--table", choices=list(ADULT), help="this table alone")
    options = parser.parse_args()
    with threadpool_limits(limits=1, user_api="blas"):
        if options.quick or not adult_file():
            table("Jeffreys 8x12, n=1e5", options.quick)
        else:
            for adult in [options.table] if options.table else ADULT:
                table(adult, False)
