r"""PolyOpt for large alphabets: annealing from several starts, and what they found put together.

Where a way down the central path ends depends on its start, so it is repeated from another start,
with more reports, always the same ones. Then the decoders of the runs are gathered: a program with
all of them that differ, fixed, finds the best mechanism for these, in which each run's reports make
room for those of the others. Near the end of the path the decoders are updated again.
"""

from collections.abc import Sequence

import numpy as np

from skrldp._typing import Floats
from skrldp.design.alternation._annealing import Annealing, Callback, distinct_reports
from skrldp.design.alternation._runs import FEWEST_REPORTS, Run, RunPlan, affordable, anneal_each
from skrldp.design.alternation._starts import PERTURBATION
from skrldp.design.criteria import Information
from skrldp.design.run import Limits
from skrldp.privacy import Requirements

__all__ = ["alternate", "gather"]


# Chosen on two tables of 240 and 252 cells: docs/large_alphabets.md, sections 2 and 5.

# Runs: numbers of reports, and cooling factor, the part of the gap that a step leaves.
_RUNS = ((16, 0.9), (16, 0.9), (40, 0.8))
_SHORT = ((16, 0.8),)
# From so many cells times pairs of secrets on, a step takes a quarter of a second and more. Privacy
# over all distributions costs little: it is about the extremes of each secret's entries.
_COSTLY = 200_000
_COSTLY_RUNS = ((12, 0.9), (16, 0.9))
# Where memory leaves no room for more reports than one run takes, and time is not limited.
_WIDEST_RUN = ((64, 0.8),)
# Cooling factor once the decoders that were gathered are updated, and duality gap where that ends.
_GATHERED_FACTOR, _GATHERED_GAP = 0.9, 3e-4

# Numbers of reports.
_MOST, _FEW = 64, 20  # no more than cells are of use in the end, but a few more on the way
# Entries of the matrices of all reports, of which some five sets are kept at a time: 1.3 GB. More
# reports are what helps most at a thousand cells, where this is room for 32.
_ENTRIES = 32_000_000

_FILL = 36  # gathered reports up to which perturbed copies join them


def alternate(
    criterion: Information,
    requirements: Requirements,
    *,
    limits: Limits,
    callback: Callback | None = None,
    short: bool = False,
) -> tuple[list[Run], str]:
    """Anneal from several starts, and gather what was found.

    Returns `runs`: at least one; `status`: ``"converged"``, ``"iteration_limit"``
    or ``"time_limit"``.
    """
    distribution = criterion.distribution
    if not requirements.any_pair:  # nothing is secret, so records are reported as they are
        whole = np.eye(distribution.size)
        return [Run(whole, criterion.value(whole))], "converged"
    most = _most(distribution)
    pairs = sum(one.n_pairs for one in requirements if not one.everywhere)
    costly = distribution.size * pairs >= _COSTLY
    widest = most < min(_MOST, distribution.size) and limits.left is None
    usual = _WIDEST_RUN if widest else _COSTLY_RUNS if costly else _RUNS
    planned: tuple[tuple[int, float], ...] = _SHORT if short else usual
    plans = [RunPlan(min(b, most), factor, seed) for seed, (b, factor) in enumerate(planned)]
    gathers = not (short or widest)
    reserved = _FEW if gathers else 0
    runs = anneal_each(criterion, requirements, plans, limits, callback, reserved)
    complete = sum(len(run.matrix) for run in runs) == sum(plan.reports for plan in plans)
    if gathers:
        rows = gather(runs, distribution, requirements.shape)
        room = affordable(len(rows), runs, limits)
        complete = complete and room == len(rows)
        if room >= min(len(rows), FEWEST_REPORTS):
            joined = Annealing(criterion, requirements, rows[:room], callback, limits.workers)
            joined.solve_fixed(limits)
            joined.anneal(_GATHERED_FACTOR, limits, _GATHERED_GAP)
            runs.append(Run.of(joined))
    return runs, limits.status if complete else "time_limit"


def _most(distribution: Floats) -> int:
    """As many reports as are of use and have room."""
    room = max(_ENTRIES // distribution.size**2, FEWEST_REPORTS)
    return min(_MOST, max(distribution.size, _FEW), room)


def gather(runs: Sequence[Run], distribution: Floats, shape: tuple[int, int]) -> Floats:
    """Take the reports of several runs whose posteriors differ, the best run's first.

    If they are few, perturbed copies join them: those of no use will not be sent.

    Shapes: `distribution` (number of cells of a row,). Returns (m, number of cells of a row): rows
    of mean 1, no more than there may be reports.
    """
    ranked = sorted(runs, key=lambda run: -run.value)
    rows = np.concatenate([run.matrix for run in ranked])
    rows = rows[distinct_reports(rows, distribution)[: _most(distribution)]]
    missing = max(min(_FILL, _most(distribution)) - len(rows), 0)
    noise = np.random.default_rng(len(runs)).normal(scale=PERTURBATION, size=(2, missing, *shape))
    perturbed = rows[np.arange(missing) % len(rows)]
    perturbed *= np.exp(noise[0] + noise[1, :, :, :1]).reshape(missing, distribution.size)
    rows = np.concatenate([rows, perturbed])
    unit: Floats = rows / rows.mean(axis=1, keepdims=True)
    return unit
