"""AOptimal: sums of variances after 2, 5, 10, 30 and 60 s of a processor, and the best known.

Run it with ``python benchmarks/bench_anytime.py [--quick] [--only WORD ...] [--write]``: fifteen
minutes of one core, or half a minute. Each line is one search at ε = 1 for the shares of U, with
how far it is above the best value in ``best_values.json``. With ``--write`` lower values replace
those, so they only fall. Values are from the search; "sampled" is the mechanism's own.
The tables of Adult need its file: ``SKRLDP_ADULT``, or ``../shared/data/adult/adult.data``.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from bench_large import adult_file
from bench_solvers import TABLES, adult, drawn

from skrldp import AOptimalSanitizer
from skrldp.design.progress import Progress

MOMENTS = (2, 5, 10, 30, 60)  # seconds of a processor
LARGER = {
    "6x15": lambda: adult("relationship", "occupation"),
    "7x16": lambda: adult("marital-status", "education"),
    "2x73": lambda: adult("sex", "age"),
    "2x300": lambda: drawn(2, 300, 30_000, 0.5, 8),
    "15x16": lambda: adult("occupation", "education"),
}
OF_ADULT = {*LARGER} - {"2x300"}
QUICK = ("2x3 dense", "2x9 dense", "6x4 dense")
BEST = Path(__file__).with_name("best_values.json")


def values_over_time(counts, seconds):
    """Return the values of a search with their times, and the sampled mechanism's last."""
    secrets, values = np.nonzero(counts)
    categories = [list(range(size)) for size in counts.shape]
    design = AOptimalSanitizer(1.0, sensitive=0, categories=categories, time_limit=seconds)
    start, reached = time.process_time(), []

    def show(self, value):
        reached.append((time.process_time() - start, value))

    with warnings.catch_warnings(), mock.patch.object(Progress, "show", show):
        warnings.simplefilter("ignore")
        design.fit(np.column_stack([secrets, values]), sample_weight=counts[secrets, values])
    return [*reached, (time.process_time() - start, float(design.variances_.sum()))]


def line(name, counts, seconds, best):
    reached = values_over_time(counts, seconds)
    end, last = reached[-1]
    shown = []
    for moment in MOMENTS:
        by_then = [value for at, value in reached if at <= moment]
        over = min(by_then) / best - 1.0 if by_then and best else np.nan
        shown.append(f"{min(by_then, default=np.nan):>9.4f} {over:>6.1%}")
    print(
        f"{name:<25} {best or np.nan:>9.4f} {' '.join(shown)} {last:>9.4f} {end:>6.1f}", flush=True
    )
    return last


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="three small tables")
    parser.add_argument("--only", nargs="*", default=[""], help="parts of tables' names")
    parser.add_argument("--write", action="store_true", help="keep values that are lower")
    options = parser.parse_args()
    time.perf_counter = time.process_time  # what the time limit is measured with
    best = json.loads(BEST.read_text()) if BEST.exists() else {}
    head = " ".join(f"{f'at {moment} s':>9} {'over':>6}" for moment in MOMENTS)
    print(f"{'table':<25} {'best':>9} {head} {'sampled':>9} {'ends':>6}")
    for name, table in {**TABLES, **LARGER}.items():
        chosen = name in QUICK if options.quick else any(word in name for word in options.only)
        if not chosen or ((" x " in name or name in OF_ADULT) and adult_file() is None):
            continue
        value = line(name, table(), float(MOMENTS[-1]), best.get(name))
        best[name] = min(round(value, 6), best.get(name, np.inf))
        if options.write:
            BEST.write_text(json.dumps(best, indent=2) + "\n")


if __name__ == "__main__":
    main()
