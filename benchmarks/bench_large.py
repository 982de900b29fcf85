"""PolyOpt at hundreds of cells, on the exact set, compared with the other mechanisms.

Run it with ``python benchmarks/bench_large.py [--quick]``: half an hour, or half a minute. Each
line is a process of its own, so that its peak memory is its own: that of the interpreter with all
libraries loaded is printed first. The information is that of the mechanism as it is sampled, at the
public distribution, divided by H(X). Every mechanism is certified at ε over one set:
``--set renyi``, the papers' ball of β = 0.05 and α = 2, or ``--set likelihood-ratio``, the default
of the sanitizers.
The tables of Adult need its file: ``SKRLDP_ADULT``, or ``../shared/data/adult/adult.data``.
"""

import argparse
import multiprocessing
import os
import resource
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from joblib.externals.loky import get_reusable_executor

from skrldp import (
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    SRRSanitizer,
)
from skrldp.information import entropy

COLUMNS = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
]  # fmt: skip
ADULT = {
    "occupation x education": ("occupation", "education"),
    "native-country x relationship": ("native-country", "relationship"),
}
JEFFREYS = {"Jeffreys 25x40, n=1e6": (25, 40, 1_000_000), "Jeffreys 8x12, n=1e5": (8, 12, 100_000)}
BASELINES = {"GRR": GRRSanitizer, "SRR": SRRSanitizer, "IR": IRSanitizer}
SETS = {"renyi": RenyiBall, "likelihood-ratio": LikelihoodRatioSet}
_HEADER = (
    f"{'table':<30} {'cells':>5} {'region':<8} {'eps':>4} {'fit':>6} {'peak':>6} "
    f"{'GRR':>6} {'SRR':>6} {'IR':>6} {'PolyOpt':>7} {'of IR':>6} {'bound':>6} {'proven':>7}"
)


def adult_file():
    here = Path(__file__).resolve().parents[1]
    path = Path(os.environ.get("SKRLDP_ADULT", here.parent / "shared/data/adult/adult.data"))
    return path if path.exists() else None


def counts_of(name):
    """The table of counts, secrets in rows."""
    return jeffreys(*JEFFREYS[name]) if name in JEFFREYS else adult(*ADULT[name])


def jeffreys(a1, a2, n):
    """Counts of n records whose distribution is drawn from Jeffreys' prior."""
    rng = np.random.default_rng(0)
    return rng.multinomial(n, rng.dirichlet(np.full(a1 * a2, 0.5))).reshape(a1, a2)


def adult(secret, value):
    """Counts of two columns of UCI Adult."""
    records = pd.read_csv(adult_file(), names=COLUMNS, skipinitialspace=True)
    return pd.crosstab(records[secret], records[value]).to_numpy()


def rows_of(counts):
    """A row for each cell, and how many records it stands for."""
    return np.argwhere(counts >= 0), counts.ravel()


def fitted(sanitizer, counts):
    rows, weights = rows_of(counts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        start = time.perf_counter()
        sanitizer.set_params(sensitive=0).fit(rows, sample_weight=weights)
        return sanitizer, time.perf_counter() - start


def peak():
    """Most memory that this process has used, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def design(name, eps, kind, region="joint", **limits):
    """Fit PolyOpt in this process."""
    counts = counts_of(name)
    sanitizer = PolyOptSanitizer(eps, uncertainty=SETS[kind](region=region), **limits)
    sanitizer, seconds = fitted(sanitizer, counts)
    joint = sanitizer.joint_
    return {
        "cells": counts.size,
        "seconds": seconds,
        "peak": peak(),
        "nmi": sanitizer.normalized_mutual_information_,
        "bound": min(1.0, sanitizer.solution_.bound / entropy(joint.probabilities)),
        "proven": sanitizer.certificate_.eps,
        "reports": sanitizer.mechanism_.shape[0],
    }


def baselines(name, eps, kind):
    counts = counts_of(name)
    return {
        key: fitted(cls(eps, uncertainty=SETS[kind]()), counts)[0] for key, cls in BASELINES.items()
    }


def alone(function, *arguments, **options):
    """Call in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        found = pool.submit(function, *arguments, **options).result()
        pool.submit(end_workers).result()
    return found


def end_workers():
    """End this process's workers, or it would wait five minutes for them when it ends."""
    get_reusable_executor().shutdown()


def line(name, eps, kind, region="joint", **limits):
    others = baselines(name, eps, kind)
    known = {key: other.normalized_mutual_information_ for key, other in others.items()}
    found = alone(design, name, eps, kind, region, **limits)
    best = max(known["IR"], known["SRR"])
    print(
        f"{name:<30} {found['cells']:>5} {region:<8} {eps:>4} {found['seconds']:>5.0f}s "
        f"{found['peak']:>5.2f}G {known['GRR']:>6.4f} {known['SRR']:>6.4f} {known['IR']:>6.4f} "
        f"{found['nmi']:>7.4f} {found['nmi'] / best:>5.1f}x {found['bound']:>6.4f} "
        f"{found['proven']:>7.4f}",
        flush=True,
    )


def lines(name, kind, epsilons, **limits):
    """All lines of a table."""
    if name in ADULT:
        for eps in epsilons:
            line(name, eps, kind, **limits)
    elif name.startswith("Jeffreys 25x40"):
        line(name, 1.5, kind, **limits)
    else:
        for region in ("joint", "product", "box", "lower"):
            line(name, 1.5, kind, region, **limits)


if __name__ == "__main__":
    names = [*(ADULT if adult_file() else ()), *JEFFREYS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one small table, half a minute")
    parser.add_argument("--set", choices=SETS, default="renyi", help="that all are private for")
    parser.add_argument("--table", choices=names, help="this table alone")
    parser.add_argument("--seconds", type=float, help="limit of time of a design")
    parser.add_argument("--jobs", type=int, default=2, help="n_jobs of each design")
    parser.add_argument("--eps", type=float, nargs="*", default=(0.1, 0.5, 1.0, 1.5, 2.5))
    options = parser.parse_args()
    names = [options.table] if options.table else names
    limits = {"n_jobs": options.jobs, "time_limit": options.seconds}
    print(f"Before any design: {alone(peak):.2f} GiB.\n\n{_HEADER}")
    if options.quick:
        line("Jeffreys 8x12, n=1e5", 1.5, options.set, **limits)
    else:
        for name in names:
            lines(name, options.set, options.eps, **limits)
