r"""PolyOpt by vertex enumeration: the global optimum for polyhedral regions (Entropy Theorem 3).

The mutual information of a mechanism is a sum over its rows of a convex function, so some optimal
mechanism has only vertices of the polytope of private rows of unit sum. They are among the products
of the secrets' own vertices, which are quickly listed. Where that list would be too long, the
double description method in floating point is used; it now and then fails or silently drops
vertices. Whatever the list, it is compared with a linear program before it is trusted.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from skrldp._highs import LinearProgram
from skrldp._typing import Floats
from skrldp.design._run import Deadline, Solution
from skrldp.design.rows._facets import facet_count, facets, is_polyhedral
from skrldp.design.rows._product_cone import product_cone
from skrldp.exceptions import SolverError
from skrldp.information import mutual_information, row_information
from skrldp.joint import JointDistribution
from skrldp.region import Region

__all__ = ["enumerate_vertices"]


_MOST_ENTRIES = 8_000_000  # of a list of rows
_MOST_PRODUCT_CELLS = 16  # beyond, the list is too long whatever the region
# Double description takes a second or two at these sizes; beyond, its time explodes.
_MOST_CELLS, _MOST_FACETS = 10, 400
_MOST_WORK = 40_000  # facets times 2**cells, where rows of few cells may have facets of many pairs
_PROBES = 200
_ORDERS = 4
_PROBE_TOLERANCE = 1e-6
_PRICED = 100  # rows added to the mixture at once
_LEAST_GAIN = 1e-10  # nats, of a row of unit sum


def enumerate_vertices(
    joint: JointDistribution,
    region: Region,
    eps: float,
    *,
    deadline: Deadline,
    law: Floats | None = None,
    quick: bool = False,
) -> Solution:
    """Maximise the mutual information over a polyhedral region, globally.

    Parameters
    ----------
    joint : JointDistribution
        The public law.
    region : Region
        A polyhedral region.
    eps : float
        Privacy parameter, in nats.
    deadline : Deadline
        For the time taken; an enumeration cannot be interrupted.
    law : array, optional
        Law of a row's cells by which information counts; None is the public one.
    quick : bool
        Refuse what takes more than a second or two.

    Returns
    -------
    Solution
        With status ``"optimal"``.

    Raises
    ------
    SolverError
        If the region is not polyhedral, the list too long to be quick, or the enumeration failed
        or lost vertices.
    """
    if not is_polyhedral(region):
        raise SolverError(
            f"{type(region).__name__} has no finite list of vertices: solver='vertices' needs "
            "region='lower' (or 'box' with at most 6 values), all laws, or the public law alone."
        )
    lists = _lists(region, eps, quick)
    inequalities = facets(region, eps)
    public = region.fold(joint.probabilities)
    law = public if law is None else law
    vertices, weights, value = _best_mixture(lists, inequalities, law)
    used = weights > 1e-12
    matrix = vertices[used] * weights[used, None]
    # Information is concave in the law: where `law` has at least a share of each probability, it
    # has at least that share of the information.
    share = float((law[public > 0] / public[public > 0]).min())
    objective = mutual_information(matrix, public)
    return Solution(
        status="optimal",
        solver="vertices",
        objective=objective,
        bound=max(value / share, objective),  # they may differ in the last digit
        iterations=1,
        seconds=deadline.elapsed,
        message=f"{len(vertices)} rows, among them the vertices of {len(inequalities)} facets.",
        matrix=matrix,
    )


def _lists(region: Region, eps: float, quick: bool) -> list[Callable[[], Floats]]:
    """Ways to list the vertices, to be tried in turn."""
    cells, count = math.prod(region.row_shape), facet_count(region)
    small = cells <= _MOST_CELLS and count <= _MOST_FACETS
    small = small and not (region.blind and count << cells > _MOST_WORK)
    ways: list[Callable[[], Floats]] = []
    cone = product_cone(region, eps) if cells <= _MOST_PRODUCT_CELLS else None
    if cone is not None and cone.size * cells <= _MOST_ENTRIES:
        ways.append(cone.rows)
    if small or not (ways or quick):
        rng = np.random.default_rng(0)
        orders = [np.arange(cells), *(rng.permutation(cells) for _ in range(_ORDERS - 1))]
        ways += [partial(_double_description, region, eps, order) for order in orders]
    if not ways:
        raise SolverError("there are too many vertices to list them quickly.")
    return ways


def _best_mixture(
    lists: list[Callable[[], Floats]], inequalities: Floats, law: Floats
) -> tuple[Floats, Floats, float]:
    """Mix the vertices for the most information, from the first list that can be trusted."""
    failure = None
    for vertices_of in lists:
        try:
            vertices = vertices_of()
            weights, value = _mix(vertices, law)
            _probe(vertices, inequalities)
            return vertices, weights, value
        except SolverError as error:
            failure = error
    assert failure is not None
    raise failure


def _mix(vertices: Floats, law: Floats) -> tuple[Floats, float]:
    """Weigh the rows; a long list is not put into one program, but priced as a whole."""
    profits = row_information(vertices, law)
    master = LinearProgram(np.zeros(0))
    master.add_rows(np.zeros((len(law), 0)), 1.0, 1.0)
    # The row that says nothing makes some mechanism, at a loss: the optimum cannot want it.
    master.add_columns(np.array([-1.0]), np.ones((1, len(law))))
    known = np.zeros(0, dtype=int)
    left = profits.copy()
    while True:
        weights, prices, value = master.solve()
        gain = left - vertices @ prices
        best = np.argpartition(-gain, min(_PRICED, len(gain) - 1))[:_PRICED]
        best = best[gain[best] > _LEAST_GAIN]
        if len(best) == 0:
            break
        master.add_columns(profits[best], vertices[best])
        known = np.append(known, best)
        left[best] = -np.inf
    if weights[0] > 1e-9:
        raise SolverError("vertices were lost: those found cannot make a mechanism.")
    spread = np.zeros(len(vertices))
    spread[known] = weights[1:]
    return spread, value


def _double_description(region: Region, eps: float, order: NDArray[np.intp]) -> Floats:
    """Vertices by cddlib; whether it fails depends on the order of the cells."""
    return _vertices(facets(region, eps)[:, order])[:, np.argsort(order)]


def _vertices(inequalities: Floats) -> Floats:
    """Vertices of {v >= 0, sum v = 1, inequalities @ v <= 0}."""
    import cdd  # loaded when needed

    cells = inequalities.shape[1]
    rows = np.concatenate(
        [
            np.hstack([[-1.0], np.ones(cells)])[None],
            np.hstack([np.zeros((len(inequalities), 1)), -inequalities]),
            np.hstack([np.zeros((cells, 1)), np.eye(cells)]),
        ]
    )
    try:
        matrix = cdd.matrix_from_array(rows.tolist(), lin_set=[0], rep_type=cdd.RepType.INEQUALITY)
        generators = cdd.copy_generators(cdd.polyhedron_from_matrix(matrix))
    except (RuntimeError, ArithmeticError, ValueError) as error:
        raise SolverError(f"cddlib failed: {' '.join(str(error).split())}") from error
    table = np.array(generators.array, dtype=float).reshape(-1, cells + 1)
    if generators.lin_set or len(table) == 0 or np.any(np.abs(table[:, 0] - 1.0) > 1e-9):
        raise SolverError("cddlib lost vertices: what it returned is not a polytope.")
    vertices = table[:, 1:]
    outside = max(-vertices.min(), float((vertices @ inequalities.T).max(initial=0.0)))
    if outside > 1e-7 or np.abs(vertices.sum(axis=1) - 1.0).max() > 1e-7:
        raise SolverError(f"cddlib returned points that are not vertices ({outside:.1e} outside).")
    return np.maximum(vertices, 0.0)


def _probe(vertices: Floats, inequalities: Floats) -> None:
    """Compare maxima of random linear functions with a linear program's: a lost vertex shows."""
    cells = vertices.shape[1]
    program = LinearProgram(np.zeros(cells), upper=1.0)
    program.add_rows(np.ones((1, cells)), 1.0, 1.0)
    program.add_rows(inequalities, -np.inf, 0.0)
    directions = np.random.default_rng(0).normal(size=(_PROBES, cells))
    directions[:cells] = np.eye(cells)[: min(cells, _PROBES)]
    for direction in directions:
        program.set_cost(direction)
        _, _, reach = program.solve()
        if reach > float((vertices @ direction).max()) + _PROBE_TOLERANCE:
            raise SolverError("vertices were lost: a linear program reaches further than they do.")
