"""What a design optimises: problems, each a value that the engine solves."""

from skrldp.design.objectives._criterion_problem import (
    SOLVERS,
    SOLVERS_OF_MIXTURES,
    TOL,
    CriterionProblem,
)
from skrldp.design.objectives._distance_problem import SOLVERS_OF_DISTANCES, DistanceProblem
from skrldp.design.objectives._distances import (
    distance_matrix,
    expected_distance,
    suited_distance,
)
from skrldp.design.objectives._problem import Problem, Search, Task

__all__ = [
    "SOLVERS",
    "SOLVERS_OF_DISTANCES",
    "SOLVERS_OF_MIXTURES",
    "TOL",
    "CriterionProblem",
    "DistanceProblem",
    "Problem",
    "Search",
    "Task",
    "distance_matrix",
    "expected_distance",
    "suited_distance",
]
