r"""RobustMSE: the mechanism whose reports are closest to U among the private ones.

Utility and privacy may each be robust or not, which makes ISIT's four problems: NUNP, NURP, RUNP
and RURP (ISIT (7)-(10)). All minimise :math:`\max_P \mathbb E_P\, d(U, Y)`, over distributions
P of a ball if the utility is robust and at the public one alone if not, under the same for privacy.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import refuse_masked
from skrldp._params import OBSERVED, check_choice
from skrldp._typing import Floats
from skrldp.design._constraints import Cuts
from skrldp.design._expected_cost import ExpectedCost
from skrldp.design._run import Limits, Progress, Solution
from skrldp.design._workers import Workers
from skrldp.design.cutting_planes import CutProgram, cheapest, minimise
from skrldp.exceptions import InfeasibleError, SolverError
from skrldp.joint import JointDistribution
from skrldp.privacy import Requirements, repair
from skrldp.sets import RenyiSet

__all__ = [
    "DISTANCES",
    "SOLVERS",
    "ExpectedCost",
    "distance_matrix",
    "expected_distance",
    "solve",
    "suited_distance",
]


DISTANCES = ("auto", "squared", "absolute", "hamming")
SOLVERS = ("auto", "cuts", "conic")
_OTHER = {"auto": "solver='conic'", "cuts": "solver='conic'", "conic": "solver='cuts'"}
_LARGEST = 1e100  # greatest size of numbers whose squares are taken: those stay finite


def distance_matrix(
    distance: str | Callable[[Any, Any], float] | Sequence[Sequence[float]] | Floats,
    values: Sequence[Any],
    outputs: Sequence[Any],
) -> Floats:
    """Tabulate the distance of each output from each value.

    Shapes: `distance` (a2, b); returns (a2, b). Raises ValueError if the distance is unknown, is
    not a table of that shape, or is not made of finite non-negative numbers; if it is a numeric one
    and values or outputs are not numbers.

    Examples
    --------
    >>> distance_matrix("squared", (1, 2, 4), (1, 3))
    array([[0., 4.],
           [1., 1.],
           [9., 1.]])
    """
    if isinstance(distance, str):
        table = _named(distance, values, outputs)
    elif callable(distance):
        table = np.array([[_measured(distance, u, y) for y in outputs] for u in values])
    else:
        table = _as_table(distance)
        if table.shape != (len(values), len(outputs)):
            raise ValueError(
                f"the table `distance` has shape {table.shape}, but there are {len(values)} values "
                f"of U and {len(outputs)} outputs: it needs shape {(len(values), len(outputs))}, "
                "values of U in rows, in the order of `joint_.values`."
            )
    wrong = ~np.isfinite(table) | (table < 0)
    if wrong.any():
        u, y = np.argwhere(wrong)[0]
        raise ValueError(
            f"distances must be finite and not negative, but that from value {values[u]!r} to "
            f"output {outputs[y]!r} is {table[u, y]}."
        )
    return table


def suited_distance(values: Sequence[Any]) -> str:
    """Name the distance that suits some values of U.

    Returns {"squared", "hamming"}: "squared" if all are real numbers of moderate size. Truth values
    are no numbers here; of two of them both distances are the same.

    Examples
    --------
    >>> suited_distance((1, 2.5)), suited_distance((1, None)), suited_distance((1, "other"))
    ('squared', 'hamming', 'hamming')
    """
    for value in values:
        if isinstance(value, bool) or not isinstance(value, Real):
            return "hamming"
        if not abs(value) <= _LARGEST:  # type: ignore[operator]
            return "hamming"
    return "squared"


def _as_table(distance: Any) -> Floats:
    refuse_masked(distance, "the table `distance`")
    try:
        table = np.asarray(distance)
        if table.ndim == 2 and not np.iscomplexobj(table):
            return table.astype(float)
    except (TypeError, ValueError):  # rows of different lengths, or words
        pass
    kind = f"a {type(distance).__name__}" if hasattr(distance, "__len__") else repr(distance)
    raise ValueError(
        "distance must be 'auto', 'squared', 'absolute', 'hamming', a function of a value and an "
        f"output, or a table of numbers (real, values by outputs), got {kind}."
    )


def _named(name: str, values: Sequence[Any], outputs: Sequence[Any]) -> Floats:
    if name not in DISTANCES:
        raise ValueError(
            f"distance={name!r} must be one of {', '.join(map(repr, DISTANCES))}, a function of a "
            "value and an output, or a table."
        )
    if name == "auto":
        name = suited_distance(values)
    if name == "hamming":
        return np.array([[_hamming(u, y) for y in outputs] for u in values])
    gap = np.subtract.outer(_numbers(name, values, "U"), _numbers(name, outputs, "outputs"))
    return np.abs(gap) if name == "absolute" else gap * gap


def _numbers(name: str, values: Sequence[Any], label: str) -> Floats:
    """Values of U, or outputs, as floats."""
    for value in values:
        if not isinstance(value, Real):
            found = "several columns" if isinstance(value, tuple) else f"the value {value!r}"
            found = "missing values" if value is None else found
            raise ValueError(
                f"distance={name!r} needs numbers, but {label} has {found}; use "
                "distance='hamming', a function of two values, or a table of distances."
            )
        if abs(value) > _LARGEST:  # type: ignore[operator]
            raise ValueError(
                f"distance={name!r} needs numbers of moderate size, but {label} has one beyond "
                f"{_LARGEST:g}."
            )
    return np.array(values, dtype=float)


def _hamming(value: Any, output: Any) -> float:
    if isinstance(value, tuple) and isinstance(output, tuple):
        return float(sum(u != y for u, y in zip(value, output, strict=True)))
    return float(value != output)


def _measured(distance: Callable[[Any, Any], float], value: Any, output: Any) -> float:
    found = distance(value, output)
    try:
        return float(found)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"distance({value!r}, {output!r}) must be a number, got {found!r}."
        ) from error


def expected_distance(
    joint: JointDistribution,
    distance: Floats,
    uncertainty: RenyiSet,
    *,
    observe: str = "all",
) -> ExpectedCost:
    """Make the distance of reports from U the cost of a design.

    Shapes: `distance` (a2, b).
    """
    alpha, radius = uncertainty.alpha, uncertainty.radius
    check_choice("observe", observe, OBSERVED)
    if observe == "nonsensitive":
        return ExpectedCost(distance.T, joint.probabilities.sum(axis=0), alpha, radius)
    cost = np.tile(distance.T, (1, len(joint.secrets)))
    return ExpectedCost(cost, joint.probabilities.ravel(), alpha, radius)


def solve(
    cost: ExpectedCost,
    requirements: Requirements,
    *,
    solver: str = "auto",
    gap: float = 1e-4,
    time_limit: float | None = None,
    max_iter: int | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    simple: Callable[[], Sequence[Floats]] | None = None,
    warm: Floats | None = None,
) -> Solution:
    """Minimise the expected distance over private mechanisms.

    Shapes: `warm` (m, n_cells). Returns Solution: its matrix is private. Raises ValueError if the
    solver is unknown, or is "conic" and the region is not for it. Raises SolverError if it fails;
    the message names ε, the region and the alphabets.
    """
    check_choice("solver", solver, SOLVERS)
    limits = Limits(time_limit, max_iter, Workers(n_jobs))
    # Sending an output that is nowhere nearer than another instead of that one is no use: to merge
    # the two is private as well.
    useful = _undominated(cost.cost)
    some = replace(cost, cost=cost.cost[useful])
    try:
        with Progress(verbose, limits):
            if solver == "conic":
                solution = _conic(some, requirements, limits, verbose)
            else:
                first = None if warm is None else _as_outputs(warm, some)
                solution = minimise(
                    some, requirements, gap=gap, limits=limits, verbose=verbose, first=first
                )
    except (SolverError, InfeasibleError) as error:
        raise type(error)(
            f"no mechanism was designed for {requirements.describe()} with {len(cost.cost)} "
            f"outputs x {cost.cost.shape[1]} cells (solver={solver!r}): {error} Try "
            f"{_OTHER[solver]}, another region, or fewer categories."
        ) from error
    finally:
        limits.workers.close()
    assert solution.matrix is not None
    matrix = np.zeros(cost.cost.shape)
    matrix[useful] = solution.matrix
    solution = replace(
        solution, matrix=matrix, iterations=max(solution.iterations, limits.iterations, 1)
    )
    if simple is not None and solution.unfinished:
        solution = _at_least(simple(), solution, cost, requirements)
    if verbose:
        print(
            f"[skrldp] {solution.solver}: {solution.objective:.6g} ({solution.status}, gap "
            f"{solution.gap:.1e}) after {solution.seconds:.1f} s. {solution.message}"
        )
    return solution


def _at_least(
    simple: Sequence[Floats], solution: Solution, cost: ExpectedCost, requirements: Requirements
) -> Solution:
    """Return the best of a solution and mechanisms whose reports are taken for outputs."""
    message = f"{solution.message} A mechanism that takes no search was better."
    for form in simple:
        private = repair(_as_outputs(form, cost), requirements)
        value = cost.worst(private)[0]
        if value < solution.objective:
            solution = replace(solution, objective=value, matrix=private, message=message)
    return solution


def _as_outputs(form: Floats, cost: ExpectedCost) -> Floats:
    """Take each report of a mechanism for the output that is nearest on average."""
    nearest = ((form * cost.distribution) @ cost.cost.T).argmin(axis=1)
    merged = np.zeros(cost.cost.shape)
    np.add.at(merged, nearest, form)
    return merged


def _undominated(cost: Floats) -> NDArray[np.intp]:
    """Find the outputs to which no other is preferable for every value; of equals the first."""
    kept: list[int] = []
    for y in np.lexsort((np.arange(len(cost)), cost.sum(axis=1))):
        if not np.any(np.all(cost[kept] <= cost[y], axis=1)):
            kept.append(int(y))
    return np.sort(kept)


def _conic(
    cost: ExpectedCost, requirements: Requirements, limits: Limits, verbose: int
) -> Solution:
    """Solve the conic program; repair what it finds, and bound it by cuts it nearly violates."""
    from skrldp.design._conic import solve_conic

    found = solve_conic(cost, requirements, seconds=limits.left, verbose=max(verbose - 1, 0))
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


# What was left to do when the conic solver, or the program of its bound, did not end by itself.
_LEFT = {
    "time_limit": "The time limit ended the conic solver before its optimum. ",
    "optimal_inaccurate": "The conic solver stopped near its optimum, short of its tolerances. ",
    "bound": (
        "The time limit ended the linear program of the lower bound; the bound stated is that of "
        "mechanisms without privacy. "
    ),
}
