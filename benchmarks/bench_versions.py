"""Default fits of this version and of an earlier one: time, information, distance from the bound.

Run it with ``python benchmarks/bench_versions.py COMMIT [--quick]`` in a clone with its history:
twenty minutes, or two. Each fit is a process of its own, and the two versions take turns. Printed
are seconds and I(X;Y)/H(X) of the mechanism as it is sampled, before and after, with the ratio of
the seconds, and how far the design is from the bound that it states.
The tables of Adult need its file: ``SKRLDP_ADULT``, or ``../shared/data/adult/adult.data``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_large import adult, adult_file, jeffreys

ADULT = {
    "sex x race": ("sex", "race"),
    "race x sex": ("race", "sex"),
    "relationship x race": ("relationship", "race"),
    "relationship x occupation": ("relationship", "occupation"),
    "occupation x education": ("occupation", "education"),
    "native-country x relationship": ("native-country", "relationship"),
}
QUICK = [
    ("sex x race", "PolyOptSanitizer", 0.1),
    ("sex x race", "PolyOptSanitizer", 1.0),
    ("race x sex", "PolyOptSanitizer", 0.1),
    ("Jeffreys 5x8", "PolyOptSanitizer", 1.0),
]
ALL = [
    *QUICK,
    ("race x sex", "PolyOptSanitizer", 1.0),
    ("relationship x race", "PolyOptSanitizer", 1.0),
    ("relationship x occupation", "PolyOptSanitizer", 1.0),
    ("occupation x education", "PolyOptSanitizer", 1.5),
    ("native-country x relationship", "PolyOptSanitizer", 1.5),
    ("occupation x education", "NonRobustSanitizer", 1.5),
    ("native-country x relationship", "NonRobustSanitizer", 4.0),
]
_HEADER = (
    f"{'table':<30} {'sanitizer':<19} {'eps':>4} {'before':>8} {'after':>8} {'ratio':>6} "
    f"{'before':>7} {'after':>7} {'gap before':>11} {'after':>8}"
)
FIT = """
import json, sys, time, warnings
import numpy as np
import skrldp
warnings.simplefilter("ignore")
if __name__ == "__main__":
    name, eps, options, counts = json.load(sys.stdin)
    counts = np.array(counts)
    rows = [["a", 0], ["b", 1], ["a", 1], ["b", 0]] * 9
    skrldp.PolyOptSanitizer(1.0, sensitive=0).fit(rows)  # imports
    start = time.perf_counter()
    fitted = getattr(skrldp, name)(eps, sensitive=0, **options)
    fitted.fit(np.argwhere(counts >= 0), sample_weight=counts.ravel())
    seconds = time.perf_counter() - start
    found = [seconds, fitted.normalized_mutual_information_, fitted.solution_.gap]
    print(json.dumps(found))
"""


def fit(package, script, case, counts, options):
    """Fit with the package in a folder: seconds, information, gap."""
    name, eps = case[1:]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, script],
        input=json.dumps([name, eps, options, counts.tolist()]),
        env={**os.environ, **threads, "PYTHONPATH": str(package)},
        cwd=script.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def line(case, before, after):
    """A line of the table."""
    name, sanitizer, eps = case
    seconds, information, gap = zip(before, after, strict=True)
    return (
        f"{name:<30} {sanitizer:<19} {eps:>4} {seconds[0]:>7.1f}s {seconds[1]:>7.1f}s "
        f"{seconds[0] / seconds[1]:>5.2f}x {information[0]:>7.4f} {information[1]:>7.4f} "
        f"{gap[0]:>10.2%} {gap[1]:>8.2%}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the earlier version")
    parser.add_argument("--quick", action="store_true", help="small tables alone, two minutes")
    parser.add_argument("--jobs", type=int, default=2, help="n_jobs of this version")
    options = parser.parse_args()
    here = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        old, script = Path(folder, "before"), Path(folder, "fit.py")
        script.write_text(FIT)
        git = ["git", "-C", str(here), "worktree"]
        subprocess.run([*git, "add", "--detach", "-q", str(old), options.commit], check=True)
        try:
            print(_HEADER)
            for case in QUICK if options.quick else ALL:
                if case[0] in ADULT and not adult_file():
                    continue
                counts = adult(*ADULT[case[0]]) if case[0] in ADULT else jeffreys(5, 8, 100_000)
                before = fit(old, script, case, counts, {})
                after = fit(here, script, case, counts, {"n_jobs": options.jobs})
                print(line(case, before, after), flush=True)
        finally:
            subprocess.run([*git, "remove", "--force", str(old)], check=True)
