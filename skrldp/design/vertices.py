r"""PolyOpt by vertex enumeration: the global optimum for polyhedral regions (Entropy Theorem 3).

The mutual information of a mechanism is a sum over its rows of a convex function, so some optimal
mechanism has only vertices of the polytope of private rows of unit sum. Enumeration is by the
double description method in floating point, which now and then fails or silently drops vertices;
both are detected, and then the enumeration is not trusted.
"""

import numpy as np
from numpy.typing import NDArray

from skrldp.design._lp import LinearProgram
from skrldp.design.cone import Deadline
from skrldp.design.solution import Solution
from skrldp.exceptions import InfeasibleError, SolverError
from skrldp.information import mutual_information, row_information
from skrldp.joint import JointDistribution
from skrldp.region import BoxRegion, LowerRegion, PointRegion, Region, SimplexRegion

__all__ = ["enumerate_vertices", "facet_count", "facets", "is_polyhedral"]

Floats = NDArray[np.float64]

_PROBES = 200
_ORDERS = 4
_PROBE_TOLERANCE = 1e-6


def is_polyhedral(region: Region) -> bool:
    """Whether the conditionals of the region form polytopes with few vertices.

    Parameters
    ----------
    region : Region
        Any.

    Returns
    -------
    bool
    """
    if isinstance(region, BoxRegion):
        return region.conditionals.shape[1] <= 6
    return isinstance(region, SimplexRegion | PointRegion | LowerRegion)


def extreme_conditionals(region: Region, secret: int) -> Floats:
    """Vertices of the conditionals that a polyhedral region allows for one secret.

    Parameters
    ----------
    region : Region
        A polyhedral region.
    secret : int
        Position of the secret.

    Returns
    -------
    array of shape (m, a2)
    """
    size = region.conditionals.shape[1]
    if isinstance(region, LowerRegion):
        lower = region.lower[secret]
        return lower + max(1.0 - float(lower.sum()), 0.0) * np.eye(size)
    if isinstance(region, BoxRegion):
        return _box_vertices(region.lower[secret], region.upper[secret])
    if isinstance(region, PointRegion) and region.marginal[secret] > 0:
        return region.conditionals[[secret]]
    return np.eye(size)


def _box_vertices(lower: Floats, upper: Floats) -> Floats:
    """Vertices of {lower <= R <= upper, sum R = 1}: all entries but one are at a bound."""
    size = len(lower)
    found = []
    for free in range(size):
        others = np.delete(np.arange(size), free)
        for pattern in range(2 ** (size - 1)):
            high = (pattern >> np.arange(size - 1)) & 1
            vertex = np.empty(size)
            vertex[others] = np.where(high == 1, upper[others], lower[others])
            vertex[free] = 1.0 - vertex[others].sum()
            if lower[free] - 1e-15 <= vertex[free] <= upper[free] + 1e-15:
                found.append(vertex)
    return np.unique(np.round(np.array(found), 15), axis=0)


def facets(region: Region, eps: float) -> Floats:
    r"""Inequalities ``row @ v <= 0`` of the private rows v, for a polyhedral region.

    One for each pair of secrets and of extreme conditionals (Entropy (43)).

    Parameters
    ----------
    region : Region
        A polyhedral region.
    eps : float
        Privacy parameter, in nats.

    Returns
    -------
    array of shape (m, number of cells of a row)
    """
    parts, a2 = region.row_shape
    extremes = [extreme_conditionals(region, s) for s in range(region.n_secrets)]
    rows = [np.zeros((0, parts * a2))]
    for first, second in zip(*region.pairs, strict=True):
        most, least = extremes[first], extremes[second]
        block = np.zeros((len(most), len(least), parts, a2))
        block[:, :, region.place(first)] += np.exp(-eps) * most[:, None]
        block[:, :, region.place(second)] -= least[None]
        rows.append(block.reshape(-1, parts * a2))
    table = np.concatenate(rows)
    return np.unique(table, axis=0) if region.blind else table  # pairs may say the same


def facet_count(region: Region) -> int:
    """Count the facets of :func:`facets` without building them.

    Parameters
    ----------
    region : Region
        A polyhedral region.

    Returns
    -------
    int
    """
    extremes = [len(extreme_conditionals(region, s)) for s in range(region.n_secrets)]
    first, second = region.pairs
    return sum(extremes[s] * extremes[t] for s, t in zip(first, second, strict=True))


def enumerate_vertices(
    joint: JointDistribution,
    region: Region,
    eps: float,
    *,
    deadline: Deadline,
    law: Floats | None = None,
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

    Returns
    -------
    Solution
        With status ``"optimal"``.

    Raises
    ------
    SolverError
        If the region is not polyhedral, or the enumeration failed or lost vertices.
    """
    if not is_polyhedral(region):
        raise SolverError(
            f"{type(region).__name__} has no finite list of vertices: solver='vertices' needs "
            "region='lower' (or 'box' with at most 6 values), all laws, or the public law alone."
        )
    inequalities = facets(region, eps)
    public = region.fold(joint.probabilities)
    law = public if law is None else law
    vertices, weights, value = _best_mixture(inequalities, law)
    used = weights > 1e-12
    matrix = vertices[used] * weights[used, None]
    # Information is concave in the law: where `law` has at least a share of each probability, it
    # has at least that share of the information.
    share = float((law[public > 0] / public[public > 0]).min())
    return Solution(
        status="optimal",
        solver="vertices",
        objective=mutual_information(matrix, public),
        bound=value / share,
        iterations=1,
        seconds=deadline.elapsed,
        message=f"{len(vertices)} vertices of {len(inequalities)} facets.",
        matrix=matrix,
    )


def _best_mixture(inequalities: Floats, law: Floats) -> tuple[Floats, Floats, float]:
    """Enumerate the vertices and mix them for the most information.

    Whether the enumeration fails depends on the order in which the cells come, so a few are tried.
    """
    rng = np.random.default_rng(0)
    order = np.arange(len(law))
    for attempt in range(_ORDERS):
        try:
            vertices = _vertices(inequalities[:, order])[:, np.argsort(order)]
            weights, value = _mix(vertices, law)
            _probe(vertices, inequalities)
            return vertices, weights, value
        except SolverError:
            if attempt == _ORDERS - 1:
                raise
            order = rng.permutation(len(law))
    raise AssertionError("the last attempt returns or raises")


def _mix(vertices: Floats, law: Floats) -> tuple[Floats, float]:
    master = LinearProgram(np.zeros(0))
    master.add_rows(np.zeros((len(law), 0)), 1.0, 1.0)
    master.add_columns(row_information(vertices, law), vertices)
    try:
        weights, _, value = master.solve()
    except InfeasibleError as error:
        raise SolverError(
            "cddlib lost vertices: those it found cannot make a mechanism."
        ) from error
    return weights, value


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
            raise SolverError(
                "cddlib lost vertices: a linear program reaches further than they do."
            )
