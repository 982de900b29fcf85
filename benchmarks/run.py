"""All benchmarks, one table after the other."""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    here = Path(__file__).parent
    arguments, sys.argv = sys.argv[1:], sys.argv[:1]
    for script in ("bench_core.py", "bench_sampling.py"):
        print(f"== {script}")
        sys.argv = [script, *(arguments if script == "bench_sampling.py" else [])]
        runpy.run_path(str(here / script), run_name="__main__")
        print()
