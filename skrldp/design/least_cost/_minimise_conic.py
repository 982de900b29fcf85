"""The cheapest private mechanism by one conic program, with a bound of its own."""

import numpy as np

from skrldp.design.least_cost._conic import solve_conic
from skrldp.design.least_cost._program import CutProgram, cheapest
from skrldp.design.programs import Cuts, ExpectedCost
from skrldp.design.run import Limits, Solution
from skrldp.privacy import Requirements, repair

__all__ = ["minimise_conic"]

# What was left to do when the conic solver, or the program of its bound, did not end by itself.
_LEFT = {
    "time_limit": "The time limit ended the conic solver before its optimum. ",
    "optimal_inaccurate": "The conic solver stopped near its optimum, short of its tolerances. ",
    "bound": (
        "The time limit ended the linear program of the lower bound; the bound stated is that of "
        "mechanisms without privacy. "
    ),
}


def minimise_conic(
    cost: ExpectedCost, requirements: Requirements, limits: Limits, verbose: int
) -> Solution:
    """Solve the conic program; repair what it finds, bound it by cuts that are nearly violated."""
    found = solve_conic(cost, requirements, seconds=limits.left, verbose=max(verbose - 1, 0))
    limits.count(found.iterations)
    clean = np.clip(found.matrix, 0.0, None)
    clean /= clean.sum(axis=0)
    program = CutProgram(cost)
    violated = 0.0
    for one in requirements:
        worst = one.region.worst(clean, one.pair_eps, conditionals=True)
        violated = max(violated, worst.bound.max(initial=0.0))
        program.add(Cuts.worst(one.region, worst))
    if cost.robust:
        program.add_distribution(cost.worst(clean)[1])
    status, left = found.status, _LEFT.get(found.status, "")
    try:
        _, bound = program.solve(limits.left)
        bound_by = "a linear program of some of the constraints"
    except TimeoutError:
        bound, bound_by = cheapest(cost)[1], "mechanisms without privacy"
        if status == "optimal":
            status, left = "time_limit", _LEFT["bound"]
    matrix = repair(clean, requirements)
    return Solution(
        status=status,
        solver="conic",
        objective=cost.worst(matrix)[0],
        bound=bound,
        bound_by=bound_by,
        iterations=found.iterations,
        seconds=limits.elapsed,
        message=(
            f"{left}Clarabel reports {found.value:.7g}; its solution violates privacy by up to "
            f"{violated:.1e} before repair."
        ),
        matrix=matrix,
    )
