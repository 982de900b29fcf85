"""The entry point of designs: from a problem, requirements and limits to a solution.

A :class:`Problem` defines its solvers.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from skrldp._params import check_choice
from skrldp.design.limits import Limits, Workers
from skrldp.design.progress import Progress, Quantity
from skrldp.design.solution import Solution
from skrldp.exceptions import InfeasibleError, SolverError
from skrldp.privacy.requirements import Requirements


@dataclass(frozen=True, eq=False)
class Task:
    """The inputs of a search."""

    requirements: Requirements  # the requirements on every row
    solver: str  # name of the solver
    limits: Limits  # time, iterations and threads
    progress: Progress  # the display of the stage and the best mechanism so far


class Problem(ABC):
    """An optimisation problem.

    Attributes
    ----------
    solvers : tuple of str
        Names of the problem's solvers.
    others : tuple of str
        Solvers to try in order if one fails.
    size : str
        Size of the problem, in words.
    quantity : Quantity
        The optimised quantity, for progress and messages.
    """

    solvers: tuple[str, ...]
    others: tuple[str, ...] = ()
    size: str
    quantity: Quantity

    @abstractmethod
    def solve(self, task: Task) -> Solution:
        """Search until convergence or a limit."""


# Maximum number of Newton steps and linear programs of a search, which take hours at hundreds of
# cells. Doubling it doubles the time there, and has no effect on searches that converge.
_MOST_ITERATIONS = 10_000


def solve(
    problem: Problem,
    requirements: Requirements,
    *,
    solver: str = "auto",
    time_limit: float | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Solution:
    """Find the best private mechanism with a suitable solver.

    Solvers use a single thread for linear algebra. Their matrices are so small that a second thread
    gains little, is hundreds of times slower if the cores are busy, and would change the last
    digits.

    Returns Solution: its matrix is private up to a solver's tolerance. Raises ValueError if the
    solver is unknown or does not support these requirements. Raises SolverError if the solver
    fails, with ε, the region, the size and a remedy in the message.
    """
    check_choice("solver", solver, problem.solvers)
    # Once glibc has freed an array of 16 MB, it keeps freed memory. Otherwise, each step returns
    # its memory to the system and requests it again, which takes a third of the time at 90 cells.
    np.empty(1 << 21)
    limits = Limits(time_limit, _MOST_ITERATIONS, Workers(n_jobs))
    progress = Progress(limits, problem.quantity)
    task = Task(requirements, solver, limits, progress)
    try:
        with progress, threadpool_limits(limits=1, user_api="blas"):
            solution = problem.solve(task)
    except (SolverError, InfeasibleError) as error:
        others = [f"solver={other!r}" for other in problem.others if other != solver]
        hints = ", ".join([*others[:1], "another region"])
        raise type(error)(
            f"no mechanism was designed for {requirements.describe()} with {problem.size} "
            f"(solver={solver!r}): {error} Try {hints}, or fewer categories."
        ) from error
    finally:
        limits.workers.close()
    iterations, seconds = max(limits.iterations, 1), limits.elapsed
    solution = replace(solution, iterations=iterations, seconds=seconds)
    if verbose:
        print(
            f"[skrldp] {solution.solver}: {progress.words(solution.objective)} ({solution.status}, "
            f"{solution.gap_in_words}) after {solution.seconds:.1f} s. {solution.message}"
        )
    return solution
