"""What the engine asks of a problem: who solves it, and how."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from skrldp.design.run import Limits, Progress, Quantity, Solution
from skrldp.privacy import Requirements

__all__ = ["Problem", "Search", "Task"]


@dataclass(frozen=True, eq=False)
class Task:
    """What is asked of a search."""

    requirements: Requirements  # what every row must satisfy
    solver: str  # name of the solver
    limits: Limits  # time, iterations and threads
    progress: Progress  # where the stage and the best mechanism so far are shown
    verbose: int = 0  # how much is printed


class Search(ABC):
    """A problem under some requirements, on its way to a solution."""

    @abstractmethod
    def run(self) -> Solution:
        """Search until the search ends by itself, or a limit ends it."""

    @abstractmethod
    def at_least_simple(self, solution: Solution) -> Solution:
        """Return what a search was too short for, if that is better: a mechanism without search."""

    def bounded(self, solution: Solution) -> Solution:
        """Improve the bound, where that is quick."""
        return solution


class Problem(ABC):
    """What is optimised.

    Attributes
    ----------
    solvers : tuple of str
        Names of its solvers.
    others : tuple of str
        Solvers to try where one fails, the first that is another.
    size : str
        Size of the problem, in words.
    quantity : Quantity
        What is maximised or minimised, for readers.
    """

    solvers: tuple[str, ...]
    others: tuple[str, ...] = ()
    size: str
    quantity: Quantity

    @abstractmethod
    def begin(self, task: Task) -> Search:
        """Begin a search."""
