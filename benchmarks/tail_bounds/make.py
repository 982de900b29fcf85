"""Compute the bounds of skrldp/sets/tail_bounds.json, and check those that are kept.

``python benchmarks/tail_bounds/make.py`` fails if a kept value is below what is computed, and
prints by how much the kept ones exceed it; ``--write`` first replaces them. Some ten minutes of one
core and 2 GB.
"""

import json
import sys
from pathlib import Path

import numpy as np
from knots import DIGITS, SPACING, conditions, majorant, round_up
from moments import ORDERS, bound
from tails import LAST, WIDTH, tables

KEPT = Path(__file__).parents[2] / "skrldp" / "sets" / "tail_bounds.json"
CLASSES = {"any": 1, "large": 100}  # a step has at least so many draws
STEPS = 12


def line(values, digits):
    """One row of numbers."""
    return "[" + ", ".join(f"{value:.{digits}f}" for value in values) + "]"


def text(moments, found):
    """The file: JSON with a row of numbers in a line."""
    knots = np.arange(0.0, LAST + SPACING, SPACING)
    parts = [f'"orders": {line(ORDERS, 4)}', f'"knots": {line(knots, 1)}']
    for name in CLASSES:
        logs = line(round_up(np.log(moments[name]), 6), 6)
        rows = ",\n".join(line(majorant(table, WIDTH), DIGITS) for table in found[name])
        parts.append(f'"{name}": {{\n"moments": {logs},\n"tails": [\n{rows}\n]}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def require(holds):
    """Fail; not an assert, which Python may leave out."""
    if not holds:
        raise ArithmeticError("what is kept is not what was computed, rounded up")


def check(kept, moments, found):
    """Print how far what is kept lies above what was computed; fail if it is below anywhere."""
    knots = np.arange(0.0, LAST + SPACING, SPACING)
    require(kept["orders"] == ORDERS.tolist() and kept["knots"] == knots.tolist())
    for name in CLASSES:
        gap = np.array(kept[name]["moments"]) - np.log(moments[name])
        print(f"{name}: log moments are {gap.min():.1e} to {gap.max():.1e} above the computed ones")
        require(gap.min() > 0.0)
        for steps, (values, table) in enumerate(zip(kept[name]["tails"], found[name], strict=True)):
            matrix, wanted = conditions(table, WIDTH)
            gap = matrix @ np.array(values) - wanted
            print(f"{name}: log tail of {steps + 1}: {gap.min():.1e} to {gap.max():.1e} above")
            require(gap.min() > 0.0)


if __name__ == "__main__":
    moments = {name: [bound(order, least) for order in ORDERS] for name, least in CLASSES.items()}
    found = {name: tables(least, STEPS) for name, least in CLASSES.items()}
    if "--write" in sys.argv:
        KEPT.write_text(text(moments, found), encoding="utf-8")
    check(json.loads(KEPT.read_text(encoding="utf-8")), moments, found)
