"""The client: how long its import takes, and how fast it reports.

Imports are timed in fresh processes, NumPy's and the client's in turn. The medians are shown, and
their excess over NumPy's. Imports read this package as bytecode, as an installation has it. The
client loads NumPy, and most of itself, when a mechanism is loaded, so the sum is what counts.

Run it with ``python benchmarks/bench_client.py [--quick]``.
"""

import argparse
import compileall
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import skrldp
from skrldp import client

SETUPS = {
    "import numpy": "import numpy",
    "import skrldp.client": "import skrldp.client",
    "  and load and report": "import skrldp.client as c; c.load(TEXT).report(('no', 1, 'x'))",
}


def mechanism():
    """30 cells and 20 reports; U has two columns."""
    values = tuple((age, size) for age in range(5) for size in "xyz")
    matrix = np.random.default_rng(0).dirichlet(np.ones(20), size=30).T
    columns = [("ill", True), ("age", False), ("size", False)]
    return skrldp.Mechanism.from_matrix(matrix, ("no", "yes"), values).named(None, columns)


def import_times(text, runs):
    """Median seconds of each setup, in turn so that all share the machine's moods."""
    times = {name: [] for name in SETUPS}
    for _ in range(runs):
        for name, action in SETUPS.items():
            code = f"import time; TEXT = {text!r}; start = time.perf_counter(); {action}; "
            code += "print(time.perf_counter() - start)"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
            times[name].append(float(done.stdout))
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def rate(function, count, repeat=3):
    """Records per second in the best of several runs."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return count / best


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    compileall.compile_dir(str(Path(skrldp.__file__).parent), quiet=2)

    text = mechanism().to_json()
    times = import_times(text, 7 if quick else 31)
    for name, seconds in times.items():
        extra = seconds - times["import numpy"]
        print(f"{name:<34}{1e3 * seconds:>10.1f} ms{1e3 * extra:>+10.1f} ms")

    n = 10**5 if quick else 10**6
    rng = np.random.default_rng(0)
    table = {
        "ill": np.array(["no", "yes"], dtype=object)[rng.integers(0, 2, n)],
        "age": rng.integers(0, 5, n),
        "size": np.array(["x", "y", "z"], dtype=object)[rng.integers(0, 3, n)],
    }
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    few, one = range(2000), {"ill": "no", "age": 1, "size": "x"}
    fresh, permanent = client.load(text), client.load(text, memoize=bytes(32))
    print(f"{'':<34}{'records/s':>13}")
    for name, count, run in (
        ("report", len(few), lambda: [fresh.report(one) for _ in few]),
        ("report, permanent", len(few), lambda: [permanent.report(one, id=i) for i in few]),
        ("report_many, columns", n, lambda: fresh.report_many(table)),
        ("report_many, dicts", n, lambda: fresh.report_many(rows)),
        ("report_many, columns, permanent", n, lambda: permanent.report_many(table, ids=range(n))),
    ):
        print(f"{name:<34}{rate(run, count):>13,.0f}")


if __name__ == "__main__":
    main()
