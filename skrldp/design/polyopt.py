"""PolyOpt: the mechanism that says most about X, by whichever solver fits."""

from dataclasses import replace

from skrldp.design.columns import generate_columns
from skrldp.design.cone import Deadline
from skrldp.design.facets import is_polyhedral
from skrldp.design.solution import Solution
from skrldp.design.vertices import enumerate_vertices
from skrldp.exceptions import InfeasibleError, SolverError
from skrldp.joint import JointDistribution
from skrldp.region import Region

__all__ = ["SOLVERS", "solve"]

SOLVERS = ("auto", "vertices", "columns")
# The design's exponentials stay in range; reports of a rarer cell than exp(-40) are never sent.
_LARGEST_EPS = 40.0


def solve(
    joint: JointDistribution,
    region: Region,
    eps: float,
    *,
    solver: str = "auto",
    time_limit: float | None = 60.0,
    verbose: int = 0,
) -> Solution:
    """Maximise I(X; Y) at the public law over mechanisms private for the region.

    Parameters
    ----------
    joint : JointDistribution
        The public law.
    region : Region
        Conditionals that privacy must hold for.
    eps : float
        Privacy parameter, in nats.
    solver : {"auto", "vertices", "columns"}
        ``"auto"`` enumerates vertices where that is the global optimum and fast, and generates
        columns otherwise, or if the enumeration fails.
    time_limit : float or None
        Seconds after which the best mechanism found is returned; None for no limit.
    verbose : int
        Print a line on what was done if positive.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        If the solver is unknown.
    SolverError
        If it fails; the message names ε, the region and the alphabets, and what to try.
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver={solver!r} must be one of {', '.join(map(repr, SOLVERS))}.")
    deadline = Deadline(time_limit)
    eps = min(eps, _LARGEST_EPS)
    try:
        solution = _solve(joint, region, eps, solver, deadline)
    except (SolverError, InfeasibleError) as error:
        a1, a2 = joint.counts.shape
        raise type(error)(
            f"no mechanism was designed for eps={eps:g} over {type(region).__name__} with {a1} "
            f"secrets x {a2} values (solver={solver!r}): {error} Try solver='columns', another "
            "region, or fewer categories."
        ) from error
    if verbose:
        print(
            f"[skrldp] {solution.solver}: {solution.objective:.5f} nats ({solution.status}) after "
            f"{solution.seconds:.1f} s. {solution.message}"
        )
    return solution


def _solve(
    joint: JointDistribution, region: Region, eps: float, solver: str, deadline: Deadline
) -> Solution:
    if solver == "vertices":
        return enumerate_vertices(joint, region, eps, deadline=deadline)
    note = ""
    if solver == "auto" and is_polyhedral(region):
        try:
            return enumerate_vertices(joint, region, eps, deadline=deadline, quick=True)
        except SolverError as error:
            note = f"Vertices were not used: {error} "
    solution = generate_columns(joint, region, eps, deadline=deadline)
    return replace(solution, message=note + solution.message)
