r"""PolyOpt for large alphabets: annealing from several starts, and what they found put together.

Where a way down the central path ends depends on its start, so it is repeated, with more reports,
more slowly, and from another start, always the same ones. Once reports turn out alike, more of them
are of no use, and only the starts change. Then the decoders of all runs are gathered: a program
with all of them that differ, fixed, finds the best mechanism for these, in which each run's reports
make room for those of the others, and from there the decoders are updated again.
"""

import numpy as np

from skrldp._typing import Floats
from skrldp.design._run import Deadline
from skrldp.design.alternation._annealing import Annealing, Callback, distinct_reports
from skrldp.design.criteria import Expandable
from skrldp.requirements import Requirements

__all__ = ["alternate", "gather", "starts"]


# Chosen as the numbers of _annealing.py were; "doubled" means the same as there.

# The runs: numbers of reports, and cooling factor, the part of the gap that a step leaves.
_RUNS = ((16, 0.8), (24, 0.95), (24, 0.95), (32, 0.95), (32, 0.95), (48, 0.97))
# Runs before what they found is gathered: fewer are too much alike. Doubled: 1e-3, in less time.
_GATHERED = 3
# Runs where columns follow. With two, six of Adult's tables of 10 to 40 cells differ by up to 2e-3
# either way; 9x9 cells with 27 records lose 9e-2; and the runs take five times as long.
_RUNS_ONLY = 1
_GAIN = 2e-4  # relative gain of two runs together below which there is no third
_DISTINCT = 0.75  # part of a run's reports that must differ for the next run to have more

# Numbers of reports.
_FEWEST = 8  # that are worth another run
_FEWEST_STEPS = 20  # Newton steps that are
_MOST = 64  # that are gathered
# Entries of the matrices of all reports, of which some five sets are kept at a time: 1.6 GB.
_ENTRIES = 40_000_000
_PLANNED_TIME = 0.7  # of the run before, for each report, that a run must have time for
_LEAST_SECONDS = 1e-300  # of a run that took no time at all

# Starts: gamma noise of shape 1/2, times 1 + _BIAS where report y stands for value y. Noise alone
# leaves values without a report of their own, and values alone leave S out. The bias doubled: 1e-4;
# shape 0.75: 1e-4 better. One table decides neither.
_BIAS = 4.0
_GAMMA_SHAPE = 0.5
_LEAST_NOISE = 1e-9

# Perturbed copies join the gathered reports up to _FILL of them; logarithms of what they are
# multiplied by have this standard deviation.
_FILL = 36
_PERTURBATION = 0.7


def alternate(
    criterion: Expandable,
    requirements: Requirements,
    *,
    deadline: Deadline,
    callback: Callback | None = None,
    runs_only: bool = False,
) -> tuple[list[Annealing], str]:
    """Anneal again and again, and gather what was found.

    Parameters
    ----------
    criterion : Expandable
        What is maximised.
    requirements : Requirements
        What a row must satisfy.
    deadline : Deadline
        When to stop.
    callback : callable, optional
        Gets each private mechanism.
    runs_only : bool
        Take but the first runs, and do not gather what they found: columns mix their rows anyway,
        and find others.

    Returns
    -------
    runs : list of Annealing
        At least one.
    status : str
        ``"converged"``, ``"max_iter"`` or ``"time_limit"``.
    """
    distribution, workers = criterion.distribution, deadline.workers
    if not requirements.any_pair:  # nothing is secret, so records are reported as they are
        whole = np.eye(distribution.size)
        run = Annealing(criterion, requirements, whole, callback)
        run.matrix, run.value, run.finished = whole, criterion.value(whole), True
        return [run], "converged"
    runs: list[Annealing] = []
    gathered: list[Annealing] = []
    best: list[float] = []
    for seed, (wanted, factor) in enumerate(_RUNS):
        b = min(wanted, _most(distribution))
        if len(runs) > 1:
            differ = len(distinct_reports(runs[-1].matrix, distribution))
            if differ < _DISTINCT * len(runs[-1].matrix):
                b = min(b, len(runs[-1].matrix))
        b = _affordable(b, runs[-1:], deadline)
        if b < min(_FEWEST, 2 * distribution.size):
            break
        start = starts(requirements.shape, b, seed)
        run = Annealing(criterion, requirements, start, callback, workers)
        run.anneal(factor, deadline)
        runs.append(run)
        if runs_only and len(runs) == _RUNS_ONLY:
            return runs, "converged"
        if len(runs) >= _GATHERED:
            rows = gather([*runs, *gathered[-1:]], distribution, requirements.shape)
            if _affordable(len(rows), runs[-1:], deadline) == len(rows):
                joined = Annealing(criterion, requirements, rows, callback, workers)
                joined.solve_fixed(deadline)
                joined.refine(deadline)
                gathered.append(joined)
        if deadline.passed:
            break
        best.append(max(run.value for run in (*runs, *gathered)))
        if len(best) > 2 and best[-1] <= best[-3] + _GAIN * abs(best[-3]):
            return [*runs, *gathered], "converged"
    else:
        return [*runs, *gathered], "converged"
    return [*runs, *gathered], deadline.met


def _most(distribution: Floats) -> int:
    """As many reports as are of use and have room."""
    return min(_MOST, 2 * distribution.size, max(_ENTRIES // distribution.size**2, _FEWEST))


def _affordable(b: int, before: list[Annealing], deadline: Deadline) -> int:
    """As many reports as there is time for, judging by the run before; 0 without steps left."""
    left, steps = deadline.left, deadline.iterations_left
    if not before:
        return b
    if steps is not None and steps < _FEWEST_STEPS:
        return 0
    if left is None:
        return b
    (run,) = before
    needed = max(_PLANNED_TIME * run.seconds, _LEAST_SECONDS)
    return min(b, int(left * len(run.matrix) / needed))


def gather(runs: list[Annealing], distribution: Floats, shape: tuple[int, int]) -> Floats:
    """Take the reports of several runs whose posteriors differ, the best run's first.

    If they are few, perturbed copies join them: those of no use will not be sent.

    Parameters
    ----------
    runs : list of Annealing
        At least one.
    distribution : array of shape (number of cells of a row,)
        Distribution of X, or of U.
    shape : tuple (parts, a2)
        Shape of a row.

    Returns
    -------
    array of shape (m, number of cells of a row)
        Rows of mean 1, no more than there may be reports.
    """
    ranked = sorted(runs, key=lambda run: -run.value)
    rows = np.concatenate([run.matrix for run in ranked])
    rows = rows[distinct_reports(rows, distribution)[: _most(distribution)]]
    missing = max(min(_FILL, _most(distribution)) - len(rows), 0)
    noise = np.random.default_rng(len(runs)).normal(scale=_PERTURBATION, size=(2, missing, *shape))
    perturbed = rows[np.arange(missing) % len(rows)]
    perturbed *= np.exp(noise[0] + noise[1, :, :, :1]).reshape(missing, distribution.size)
    rows = np.concatenate([rows, perturbed])
    unit: Floats = rows / rows.mean(axis=1, keepdims=True)
    return unit


def starts(shape: tuple[int, int], b: int, seed: int) -> Floats:
    """Draw a mechanism to start from: noise, with a report for each value in turn.

    Parameters
    ----------
    shape : tuple (parts, a2)
        Shape of a row; see :attr:`skrldp.requirements.Requirements.shape`.
    b : int
        Number of reports.
    seed : int
        Which of the fixed starts.

    Returns
    -------
    array of shape (b, a)
    """
    noise = np.random.default_rng(seed).gamma(_GAMMA_SHAPE, size=(b, *shape)) + _LEAST_NOISE
    report = np.arange(b)
    noise[report, :, report % shape[1]] *= 1.0 + _BIAS
    return (noise / noise.sum(axis=0)).reshape(b, -1)
