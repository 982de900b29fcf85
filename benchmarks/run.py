"""All benchmarks, one table after the other.

``--full`` runs everything at full size, including ISIT section V and PolyOpt on large tables, which
takes two hours. Without it, each takes a minute or less. All other options are for
``bench_sampling.py``.
"""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    here = Path(__file__).parent
    full = "--full" in sys.argv
    arguments = [option for option in sys.argv[1:] if option != "--full"]
    scripts = {
        "bench_sampling.py": arguments,
        "bench_batches.py": [] if full else ["--quick"],
        "bench_solvers.py": [] if full else ["--quick"],
        "bench_distortion.py": [] if full else ["--quick"],
        "bench_isit.py": [] if full else ["--quick"],
        "bench_large.py": [] if full else ["--quick"],
        "bench_set_coverage.py": [] if full else ["--quick"],
        "bench_surveys.py": [] if full else ["--quick"],
        "bench_eps_all.py": [] if full else ["--quick"],
        "bench_alphabet.py": [] if full else ["--quick"],
        "bench_a_optimal.py": [] if full else ["--quick"],
        "bench_whole_records.py": ["--large"] if full else [],
        "bench_choice.py": [] if full else ["--quick"],
        "bench_blocks.py": [] if full else ["--quick"],
    }
    for script, options in scripts.items():
        print(f"== {script}")
        sys.argv = [script, *options]
        runpy.run_path(str(here / script), run_name="__main__")
        print()
