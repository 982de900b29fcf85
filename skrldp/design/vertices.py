"""PolyOpt by vertex enumeration: the global optimum for polyhedral regions (Entropy Theorem 3).

The mutual information of a mechanism is a sum over its rows of a convex function, so some optimal
mechanism has only vertices of the polytope of private rows of unit sum. They are among the
products of the secrets' own vertices, which are quickly listed. Where that list would be too
long, the double description method in floating point is used; it now and then fails or silently
drops vertices. Whatever the list, it is compared with a linear program before it is trusted.

The double description method is cddlib's. It is an optional dependency, which no default needs:
``solver="auto"`` goes on by columns where it is absent.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from skrldp._typing import Floats, Indices
from skrldp.design.cone import (
    MOST_LISTED_CELLS,
    Cones,
    facet_count,
    facets,
    is_polyhedral,
    unit_rows,
)
from skrldp.design.criteria import Criterion, Information
from skrldp.design.programs import LEAST_GAIN, RowMixture, used
from skrldp.design.run import Limits, Solution
from skrldp.exceptions import InfeasibleError, SolverError
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirements

# Double description takes a second or two at these sizes; beyond, its time explodes. The last is
# of facets times 2**cells, where U alone is observed: there rows of few cells have facets of many
# pairs.
_MOST_CELLS, _MOST_FACETS, _MOST_WORK = 10, 400, 40_000
_ORDERS = 4  # of the cells, that are tried in turn: on which of them it fails is chance
# Directions in which a list is compared with a linear program, and by how much that may reach
# further: a lost vertex shows if it is the farthest in one of them.
_PROBES, _PROBE_TOLERANCE = 200, 1e-6
_MOST_ADDED = 100  # rows that join the mixture at once
_LOST = 1e-9  # weight of the row that says nothing from which vertices must have been lost
_OUTSIDE = 1e-7  # by how much cddlib's vertices may miss the polytope, and 1


def enumerate_vertices(
    joint: JointDistribution,
    requirements: Requirements,
    *,
    limits: Limits,
    criterion: Criterion | None = None,
    quick: bool = False,
    cones: Cones | None = None,
) -> Solution:
    """Maximise a criterion over polyhedral regions, globally.

    Returns Solution: with status ``"optimal"``. Raises SolverError if the region is not polyhedral,
    the list too long to be quick, the enumeration failed or lost vertices, or it needs cddlib and
    that is not installed.
    """
    if not is_polyhedral(requirements):
        names = {type(one.region).__name__ for one in requirements}
        raise SolverError(
            f"{' and '.join(sorted(names))} has no finite list of vertices: solver='vertices' "
            "needs region='lower' (or 'box' with at most 6 values), all distributions, or the "
            "public one alone."
        )
    lists = _lists(cones or Cones(requirements, limits), quick)
    inequalities = facets(requirements)
    public = requirements.fold(joint.probabilities)
    criterion = criterion or Information(public)
    n_vertices, matrix, value = _best_mixture(lists, inequalities, criterion)
    objective = criterion.at(public).stated(matrix)
    bound = criterion.bound_at(public, value)
    return Solution(
        status="optimal",
        solver="vertices",
        objective=objective,
        # They may differ in the last digit.
        bound=max(bound, objective) if criterion.sense > 0 else min(bound, objective),
        bound_by="the optimum over all vertices of the region",
        message=f"{n_vertices} rows, among them the vertices of {len(inequalities)} facets.",
        matrix=matrix,
    )


def _lists(cones: Cones, quick: bool) -> list[Callable[[], Floats]]:
    """Ways to list the vertices, to be tried in turn."""
    requirements = cones.requirements
    cells, count = requirements.n_cells, facet_count(requirements)
    small = cells <= _MOST_CELLS and count <= _MOST_FACETS
    shared = any(one.region.rows.shared for one in requirements)
    small = small and not (shared and count << cells > _MOST_WORK)
    ways: list[Callable[[], Floats]] = []
    cone = cones.product if cells <= MOST_LISTED_CELLS else None
    if cone is not None and cone.listable:
        ways.append(cone.rows)
    if small or not (ways or quick):
        rng = np.random.default_rng(0)
        orders = [np.arange(cells), *(rng.permutation(cells) for _ in range(_ORDERS - 1))]
        ways += [partial(_double_description, requirements, order) for order in orders]
    if not ways:
        raise SolverError("there are too many vertices to list them quickly.")
    return ways


def _best_mixture(
    lists: list[Callable[[], Floats]], inequalities: Floats, criterion: Criterion
) -> tuple[int, Floats, float]:
    """Mix the vertices as is best, from the first list that can be trusted.

    Returns their number, the mechanism, and what no mechanism has a greater value than.
    """
    failure: SolverError | None = None
    for vertices_of in lists:
        try:
            vertices = vertices_of()
            some = _complete(vertices)
            matrix, value = _mix(vertices, some, criterion)
            _probe(vertices, inequalities)
            return len(vertices), matrix, value
        except InfeasibleError as error:  # in exact arithmetic all vertices make a mechanism
            failure = SolverError(f"the vertices are too close to each other to be mixed: {error}")
        except SolverError as error:
            failure = error
    assert failure is not None
    raise failure


def _complete(vertices: Floats) -> Indices:
    """Find rows that make a mechanism; where there are none, vertices were lost."""
    cells = vertices.shape[1]
    program = RowMixture(np.ones(cells))
    # The row that says nothing makes a mechanism, at a loss: with the others it is not needed.
    program.add(np.ones((1, cells)), np.array([-1.0]))
    known = np.zeros(0, dtype=np.intp)
    new = np.ones(len(vertices), dtype=bool)
    while True:
        weights, duals, _ = program.solve()
        best = _greatest(np.where(new, -(vertices @ duals), -np.inf))
        if len(best) == 0:
            break
        program.add(vertices[best], np.zeros(len(best)))
        known = np.append(known, best)
        new[best] = False
    if weights[0] > _LOST:
        raise SolverError("vertices were lost: those found cannot make a mechanism.")
    return known[used(weights[1:])]


def _mix(vertices: Floats, some: Indices, criterion: Criterion) -> tuple[Floats, float]:
    """Weigh the rows; those of a long list join when they have a reduced cost."""
    mixture = criterion.mixture()
    new = np.ones(len(vertices), dtype=bool)
    best, dropped = some, 0
    while len(best):
        mixture.add(vertices[best])
        if mixture.dropped > dropped:
            dropped, new[:] = mixture.dropped, True
        new[best] = False
        weights, _, value = mixture.solve()
        best = _greatest(np.where(new, mixture.reduced_costs(vertices), -np.inf))
    return mixture.mechanism(weights), mixture.at_most(vertices, value)


def _greatest(gains: Floats) -> Indices:
    """Places of the greatest gains that count."""
    best = np.argpartition(-gains, min(_MOST_ADDED, len(gains) - 1))[:_MOST_ADDED]
    return best[gains[best] > LEAST_GAIN]


def _double_description(requirements: Requirements, order: Indices) -> Floats:
    """Vertices by cddlib; whether it fails depends on the order of the cells."""
    return _vertices(facets(requirements)[:, order])[:, np.argsort(order)]


def _cddlib() -> Any:
    """Load cddlib, which need not be installed."""
    try:
        import cdd
    except ImportError as error:
        raise SolverError(
            "these vertices are listed by cddlib, which is not installed: pip install "
            "'skrldp[vertices]'."
        ) from error
    return cdd


def _vertices(inequalities: Floats) -> Floats:
    """Vertices of {v >= 0, sum v = 1, inequalities @ v <= 0}."""
    cdd = _cddlib()
    cells = inequalities.shape[1]
    rows = np.block(
        [
            [-np.ones((1, 1)), np.ones((1, cells))],
            [np.zeros((len(inequalities), 1)), -inequalities],
            [np.zeros((cells, 1)), np.eye(cells)],
        ]
    )
    try:
        matrix = cdd.matrix_from_array(rows.tolist(), lin_set=[0], rep_type=cdd.RepType.INEQUALITY)
        generators = cdd.copy_generators(cdd.polyhedron_from_matrix(matrix))
    except (RuntimeError, ArithmeticError, ValueError) as error:
        raise SolverError(f"cddlib failed: {' '.join(str(error).split())}") from error
    table = np.array(generators.array, dtype=float).reshape(-1, cells + 1)
    if generators.lin_set or len(table) == 0 or np.any(np.abs(table[:, 0] - 1.0) > _OUTSIDE):
        raise SolverError("cddlib lost vertices: what it returned is not a polytope.")
    vertices = table[:, 1:]
    outside = max(-vertices.min(), float((vertices @ inequalities.T).max(initial=0.0)))
    if outside > _OUTSIDE or np.abs(vertices.sum(axis=1) - 1.0).max() > _OUTSIDE:
        raise SolverError(f"cddlib returned points that are not vertices ({outside:.1e} outside).")
    return np.maximum(vertices, 0.0)


def _probe(vertices: Floats, inequalities: Floats) -> None:
    """Compare maxima of random linear functions with a linear program's: a lost vertex shows."""
    cells = vertices.shape[1]
    program = unit_rows(cells)
    program.add_rows(inequalities, -np.inf, 0.0)
    directions = np.random.default_rng(0).normal(size=(_PROBES, cells))
    directions[:cells] = np.eye(cells)[: min(cells, _PROBES)]
    for direction in directions:
        program.set_cost(direction)
        _, _, reach = program.solve()
        if reach > float((vertices @ direction).max()) + _PROBE_TOLERANCE:
            raise SolverError("vertices were lost: a linear program reaches further than they do.")
