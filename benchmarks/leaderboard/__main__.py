"""Run the comparison, or what is left of it, and write the table and the pages.

``make leaderboard`` (from the folder ``benchmarks``: ``python -m leaderboard``). Results are kept
in ``leaderboard/kept.jsonl``, so an interrupted run goes on, and a new approach is computed alone.
"""

import argparse
import csv
import sys
from pathlib import Path

from tqdm import tqdm

from .page import CSV
from .page import main as draw
from .phases import BLOCK_PHASES
from .registry import APPROACHES
from .runs import Kept, Run, results, row_of
from .tables import TASKS, AbsentError
from .wide import WIDE, WideTask

HERE = Path(__file__).parent
WIDE_TASK = "adult_wide"
# 1 is first, because only there all approaches run, and the pages list them in the order of the
# rows. An interrupted run is then of use, too.
EPSILONS = (1.0, 4.0, 0.25, 0.5, 2.0)


def tasks_of(names):
    """Tasks and their approaches, of those whose data are there."""
    found = []
    for name in names:
        try:
            wide = name == WIDE_TASK
            found.append(
                (WideTask(), [*WIDE, BLOCK_PHASES]) if wide else (TASKS[name](), APPROACHES)
            )
        except AbsentError as problem:
            print(f"{name}: {problem}", file=sys.stderr)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--task", choices=[*TASKS, WIDE_TASK], action="append", help="these tasks alone"
    )
    parser.add_argument("--eps", type=float, action="append", help="these ε alone")
    parser.add_argument("--approach", action="append", help="these approaches alone")
    parser.add_argument("--again", action="store_true", help="compute what is kept again")
    parser.add_argument("--seconds", type=int, default=400, help="processor time of each run")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kept", type=Path, default=HERE / "kept.jsonl")
    parser.add_argument("--csv", type=Path, default=CSV, help="the default one draws the pages")
    asked = parser.parse_args()
    kept, epsilons = Kept(asked.kept), asked.eps or EPSILONS
    runs = [
        Run(approach, task, eps)
        for task, approaches in tasks_of(asked.task or [*TASKS, WIDE_TASK])
        for eps in epsilons
        for approach in approaches
        if asked.approach is None or approach.name in asked.approach
        if approach.epsilons is None or eps in approach.epsilons
    ]
    todo = [run for run in runs if asked.again or kept.of(run) is None]
    todo.sort(key=lambda run: epsilons.index(run.eps))
    with tqdm(total=len(runs), initial=len(runs) - len(todo), unit="run", disable=None) as bar:
        for run, found in results(todo, asked.processes, asked.seconds):
            kept.keep(run, found)
            bar.set_description(f"{run.task.name}, {run.approach.name}, ε = {run.eps:g}")
            bar.update()
    write(asked.csv, [row_of(run, kept.of(run)) for run in runs])
    if asked.csv == CSV:
        draw()


def write(path, rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    names.sort(key="failed".__eq__)  # last
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
