"""The speed and size targets: designs, repair and proof, large closed forms, encoding, import.

Run it with ``python benchmarks/bench_core.py``. Each line names what is done and the target that
it is compared with. The targets are those of the project for two cores. Designs are over the
papers' ball, ``RenyiBall()``.
"""

import statistics
import subprocess
import sys
import time
import tracemalloc
import warnings
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import polars as pl

from skrldp import (
    GRRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    SRRSanitizer,
)
from skrldp.certificate import release
from skrldp.design.closed_form import block_matrix, independent_reporting
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.privacy.regions import privacy_region
from skrldp.privacy.requirements import Promise, Requirements
from skrldp.sets.fitted_sets import RenyiSet
from skrldp.table.learning import learn

# Counts of the reference cases, made by drawing from Jeffreys priors, and their shapes of interest.
TABLES = {
    "2 x 5, n=32,561": [[4, 240, 691, 5340, 774], [1191, 7789, 1305, 9272, 5955]],
    "5 x 2, n=32,561": [[2713, 14662], [4168, 199], [3108, 325], [1091, 3912], [1017, 1366]],
}


def median_time(function, repeat=5):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def line(what, measured, target):
    print(f"{what:<62} {measured:>16}   {target}")


def distinct_rows(counts):
    """Return a table with one row for each cell, and how often each occurs."""
    counts = np.asarray(counts)
    s, u = np.indices(counts.shape)
    return np.column_stack([s.ravel(), u.ravel()]), counts.ravel()


def designs():
    for name, counts in TABLES.items():
        rows, weights = distinct_rows(counts)
        for eps in (0.5, 1.5):
            sanitizer = PolyOptSanitizer(eps=eps, sensitive=0, uncertainty=RenyiBall())
            seconds = median_time(partial(sanitizer.fit, rows, sample_weight=weights), 3)
            line(f"PolyOpt fit, joint, {name}, eps={eps}", f"{seconds:.2f} s", "<= 2 s")
        joint = JointDistribution(counts)
        radius = RenyiBall().radius_for(joint.n, joint.counts.size)
        lower = privacy_region(joint, RenyiSet(2.0, radius), region="lower")
        for solver in ("vertices", "columns"):
            solution = solve(CriterionProblem(joint), Requirements.of(lower, 0.75), solver=solver)
            what = f"PolyOpt {solver}, lower bounds, {name}, eps=0.75"
            line(what, f"{solution.seconds:.2f} s", f"I = {solution.objective:.6f}")


def support_function():
    rng = np.random.default_rng(0)
    joint = JointDistribution(rng.integers(0, 50, (15, 16)) * 100)
    region = privacy_region(joint, RenyiSet(2.0, 0.01))
    row = rng.random((1, 15, 16))
    seconds = median_time(lambda: region.worst(row, 0.5), 51)
    line("support function, all 210 pairs of one 15 x 16 row", f"{seconds * 1e3:.2f} ms", "<= 5 ms")
    rows = rng.random((24, 15, 16))
    seconds = median_time(lambda: region.worst(rows, 0.5), 11)
    line("support function, all pairs of 24 such rows", f"{seconds * 1e3:.2f} ms", "")


def proofs():
    """Repair and proof of independent reporting, and what a search for each pair would take."""
    rng = np.random.default_rng(0)
    for shape, uncertainty in product(
        ((15, 16), (42, 6), (100, 10), (200, 5), (25, 40)), (LikelihoodRatioSet(), RenyiBall())
    ):
        counts = rng.multinomial(10**6, rng.dirichlet(np.full(np.prod(shape), 0.5)))
        joint = JointDistribution(counts.reshape(shape))
        promise = Promise.of(joint, uncertainty.fit_set(joint), 1.0)
        requirements = promise.requirements()
        form = block_matrix(independent_reporting(joint, requirements).blocks, shape)
        start = time.process_time()
        release(form, promise)
        seconds = time.process_time() - start
        region, some = requirements.items[0].region, form[:8]
        start = time.process_time()
        for row in some:  # all pairs of each, as if nothing were screened
            region.worst(row[None], 1.0)
        every = (time.process_time() - start) * len(form) / len(some)
        what = f"repair and proof, {shape[0]} x {shape[1]}, {type(uncertainty).__name__}"
        line(what, f"{seconds:.2f} s", f"{2.0 * every / seconds:.0f} times as fast as every pair")


def large_closed_forms():
    dense = 10_000**2 * 8 / 2**20
    for cls, shape in product((SRRSanitizer, GRRSanitizer), ((100, 100), (5000, 2))):
        table = np.indices(shape).reshape(2, -1).T
        tracemalloc.start()
        start = time.perf_counter()
        cls(eps=1.0, sensitive=0).fit(table)
        seconds = time.perf_counter() - start
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        what = f"{cls.__name__} fit, {shape[0]} x {shape[1]} (a dense matrix: {dense:,.0f} MiB)"
        line(what, f"{seconds:.2f} s {peak:.0f} MiB", "no dense matrix")


def encoding():
    rng = np.random.default_rng(0)
    rows = 10_000_000
    table = pd.DataFrame(
        {
            "s": pd.Categorical.from_codes(
                rng.integers(0, 15, rows, dtype=np.int8), list("abcdefghijklmno")
            ),
            "u": pd.Categorical.from_codes(
                rng.integers(0, 16, rows, dtype=np.int8), list("ABCDEFGHIJKLMNOP")
            ),
        }
    )
    codec, _ = learn(table, sensitive="s")
    seconds = median_time(lambda: codec.encode(table).cells(codec.n_values), 3)
    line("encode 1e7 rows of two pandas categories into cells", f"{seconds:.2f} s", "<= 2 s")


def reports_of_texts():
    """Reports of texts by library, compared with those of pandas' categories, in the same run."""
    rng, rows = np.random.default_rng(0), 1_000_000
    words = {"s": ["no", "perhaps", "yes"], "u": ["primary", "secondary", "bachelor", "master"]}
    base = pd.DataFrame({name: rng.choice(own, rows) for name, own in words.items()})
    texts = pl.from_pandas(base)
    frames = {
        "pandas categories": base.astype("category"),
        "pandas texts": base.astype("string[pyarrow]"),
        "polars texts": texts,
        "polars Categorical": texts.cast(pl.Categorical),
        "polars Enum": texts.cast({name: pl.Enum(own) for name, own in words.items()}),
        "pyarrow texts": texts.to_arrow(),
    }
    sanitizer = GRRSanitizer(sensitive="s", encode="symbol").fit(frames["pandas categories"])
    first = None
    for name, frame in frames.items():
        least = []
        for _ in range(5):
            start = time.process_time()
            sanitizer.transform(frame)
            least.append(time.process_time() - start)
        first = first or min(least)
        found = f"{min(least) / first:.1f} times ({rows / min(least) / 1e6:.0f} M/s)"
        line(f"transform two columns of {name}", found, "<= 5 times")


def imports():
    def seconds(statement):
        script = (
            f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
        )
        runs = [
            float(
                subprocess.run(
                    [sys.executable, "-c", script], capture_output=True, check=True
                ).stdout
            )
            for _ in range(7)
        ]
        return statistics.median(runs)

    sklearn = seconds("import sklearn")
    line(
        "import skrldp",
        f"{seconds('import skrldp') * 1e3:.0f} ms",
        f"sklearn: {sklearn * 1e3:.0f} ms",
    )
    both = seconds("import sklearn, skrldp") - sklearn
    line("import skrldp, over import sklearn", f"{both * 1e3:.0f} ms", "<= 150 ms")
    base = seconds("import sklearn.base, sklearn.utils.validation")
    every = seconds("import skrldp; [getattr(skrldp, name) for name in skrldp.__all__]") - base
    line("every public name, over scikit-learn's base", f"{every * 1e3:.0f} ms", "")


def main():
    print(f"{'what':<62} {'measured':>16}   target or value")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        for part in (
            designs,
            support_function,
            proofs,
            large_closed_forms,
            encoding,
            reports_of_texts,
            imports,
        ):
            part()


if __name__ == "__main__":
    main()
