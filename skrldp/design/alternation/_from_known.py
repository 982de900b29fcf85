r"""Alternation that begins at a known mechanism: the way of a warm start.

A mechanism that was best for other requirements, or another distribution, tells where reports are
to be. Its posteriors are decoders, as those of several runs are when they are put together: a
program with decoders that are fixed finds the best mechanism for them, and from there they are
updated. Alone they would keep the reports where they are, so a run from scratch joins them, unless
columns follow, which find others anyway: with more to gain the reports must part further.
"""

from skrldp._typing import Floats
from skrldp.design._run import Deadline
from skrldp.design.alternation._alternate import gather, starts
from skrldp.design.alternation._annealing import Annealing, Callback
from skrldp.design.criteria import Expandable
from skrldp.requirements import Requirements, repair

__all__ = ["alternate_from"]

_FROM_SCRATCH = 24, 0.95  # reports of the run from scratch, and its cooling factor


def alternate_from(
    known: Floats,
    criterion: Expandable,
    requirements: Requirements,
    *,
    deadline: Deadline,
    callback: Callback | None = None,
    alone: bool = False,
) -> tuple[list[Annealing], str]:
    """Improve a known mechanism.

    Parameters
    ----------
    known : array of shape (b, a)
        A mechanism, private or not.
    criterion : Expandable
        What is maximised.
    requirements : Requirements
        What a row must satisfy.
    deadline : Deadline
        When to stop.
    callback : callable, optional
        Gets each private mechanism.
    alone : bool
        Whether to leave out the run from scratch, and the updates of the decoders: columns follow.

    Returns
    -------
    runs : list of Annealing
        The known mechanism, repaired, the run from scratch, and what was made of them.
    status : str
        ``"converged"``, ``"max_iter"`` or ``"time_limit"``.
    """
    workers = deadline.workers
    before = Annealing(criterion, requirements, known, callback, workers)
    before.matrix = repair(known, requirements)
    before.value, before.finished = criterion.value(before.matrix), True
    runs = [before]
    if not alone:
        b, factor = _FROM_SCRATCH
        b = min(b, 2 * criterion.distribution.size)
        fresh = Annealing(
            criterion, requirements, starts(requirements.shape, b, 0), callback, workers
        )
        fresh.anneal(factor, deadline)
        runs.append(fresh)
    if not deadline.passed:
        rows = gather(runs, criterion.distribution, requirements.shape)
        joined = Annealing(criterion, requirements, rows, callback, workers)
        joined.solve_fixed(deadline)
        if not alone:
            joined.refine(deadline)
        runs.append(joined)
    return runs, deadline.met if deadline.passed else "converged"
