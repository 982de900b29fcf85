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
    names = (
        "sampling batches solvers isit large set_coverage surveys eps_worst_case alphabet "
        "a_optimal whole_records choice blocks anytime"
    )
    for name in names.split():
        print(f"== bench_{name}.py")
        sys.argv = [name, *(arguments if name == "sampling" else [] if full else ["--quick"])]
        runpy.run_path(str(here / f"bench_{name}.py"), run_name="__main__")
