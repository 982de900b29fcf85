"""PolyOpt by vertex enumeration: the global optimum for polyhedral regions (Entropy Theorem 3).

The mutual information of a mechanism is a sum over its rows of a convex function, so some optimal
mechanism has only vertices of the polytope of private rows of unit sum. The double description
method lists them in floating point. It occasionally fails or silently drops vertices, so its list
is compared with a linear program before it is used.

The double description method is that of cddlib, an optional dependency. ``solver="auto"`` always
searches for rows instead, which loses less than 0.01 % on the benchmark's ten tables.
"""

import numpy as np

from skrldp._highs import LinearProgram
from skrldp._typing import Floats
from skrldp.design.criteria import Criterion
from skrldp.design.limits import EQUAL
from skrldp.design.programs import LEAST_GAIN, Cuts
from skrldp.design.solution import Solution
from skrldp.exceptions import SolverError
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirement, Requirements

# Number of directions in which a list is compared with a linear program. A lost vertex is detected
# if it is the farthest in one of these directions. Doubling the number detects no more.
_PROBES = 200


def enumerate_vertices(
    joint: JointDistribution, requirements: Requirements, criterion: Criterion
) -> Solution:
    """Maximise a criterion over polyhedral regions, globally.

    Returns Solution: with status ``"optimal"``. Raises SolverError if the region is not polyhedral,
    the enumeration failed or lost vertices, or cddlib is not installed.
    """
    if not all(item.region.few_vertices for item in requirements):
        names = {type(one.region).__name__ for one in requirements}
        raise SolverError(
            f"{' and '.join(sorted(names))} has no finite list of vertices: solver='vertices' "
            "needs region='lower' (or 'box' with at most 6 values), all distributions, or the "
            "public one alone."
        )
    inequalities = facets(requirements)
    vertices = _listed(inequalities)
    public = requirements.fold(joint.probabilities)
    # The shifted unit rows put the all-ones vector inside the cone of the rows, so that a mixture
    # exists.
    master = criterion.master(requirements.shift(np.eye(requirements.n_cells)))
    new, n_removals = np.ones(len(vertices), dtype=bool), 0
    while True:
        weights, _, value = master.solve()
        gains = np.where(new, master.reduced_costs(vertices), -np.inf)
        best = np.argsort(-gains, kind="stable")[:_PROBES]
        best = best[gains[best] > LEAST_GAIN]
        if len(best) == 0:
            break
        master.add(vertices[best])
        if master.n_removals > n_removals:
            n_removals, new[:] = master.n_removals, True
        new[best] = False
    matrix = master.mechanism(weights)
    objective = criterion.at(public).stated(matrix)
    bound = criterion.bound_at(public, master.at_most(vertices, value))
    return Solution(
        status="optimal",
        solver="vertices",
        objective=objective,
        # The two may differ in the last digit.
        bound=max(bound, objective) if criterion.sense > 0 else min(bound, objective),
        bound_by="the optimum over all vertices of the region",
        message=f"{len(vertices)} vertices of {len(inequalities)} facets.",
        matrix=matrix,
    )


def facets(requirements: Requirements) -> Floats:
    r"""Inequalities ``row @ v <= 0`` of the private rows v, for polyhedral regions.

    There is one for each pair of secrets and each pair of extreme conditionals (Entropy (43)).

    Shapes: returns (m, n_cells).
    """
    tables = [_facets_of(one, requirements.n_cells) for one in requirements]
    table = np.concatenate(tables)
    # If parts are shared, pairs may have the same inequalities, and so may several requirements.
    alike = len(tables) > 1 or requirements.items[0].region.rows.shared
    return np.unique(table, axis=0) if alike else table


def _facets_of(one: Requirement, n_cells: int) -> Floats:
    region = one.region
    extremes = [region.vertices(s) for s in range(region.n_secrets)]
    pairs, conditionals = [np.zeros((0, 2), dtype=np.intp)], []
    counts = []
    for pair in np.stack(region.pairs, axis=1):
        first, second = (extremes[secret] for secret in pair)
        most, least = (part.ravel() for part in np.indices((len(first), len(second))))
        conditionals.append(np.stack([first[most], second[least]], axis=1))
        pairs.append(np.tile(pair, (len(most), 1)))
        counts.append(len(most))
    if not conditionals:
        return np.zeros((0, n_cells))
    eps = np.full(sum(counts), one.eps)
    first, second = np.concatenate(pairs).T
    row = np.zeros(len(first), dtype=np.intp)
    cuts = Cuts.of(region, row, first, second, np.concatenate(conditionals), eps)
    table: Floats = cuts.coefficients(1, n_cells).toarray()
    return table


def _listed(inequalities: Floats) -> Floats:
    """List the vertices; whether cddlib fails depends on the order of the cells.

    Up to four orders are tried in turn; with one alone, cddlib fails for a table of 2 x 5 cells.
    """
    rng, cells = np.random.default_rng(0), inequalities.shape[1]
    for left in reversed(range(4)):
        order = rng.permutation(cells)
        try:
            vertices = _vertices(inequalities[:, order])[:, np.argsort(order)]
            _probe(vertices, inequalities)
            break
        except SolverError:
            if not left:
                raise
    return vertices


def _vertices(inequalities: Floats) -> Floats:
    """Vertices of {v >= 0, sum v = 1, inequalities @ v <= 0}."""
    try:
        import cdd  # an optional dependency
    except ImportError as error:
        raise SolverError(
            "solver='vertices' needs cddlib, which is not installed: pip install "
            "'skrldp[vertices]'."
        ) from error
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
    if generators.lin_set or len(table) == 0 or np.any(np.abs(table[:, 0] - 1.0) > EQUAL):
        raise SolverError("cddlib lost vertices, because its result is not a polytope.")
    vertices = table[:, 1:]
    outside = max(-vertices.min(), float((vertices @ inequalities.T).max(initial=0.0)))
    if outside > EQUAL or np.abs(vertices.sum(axis=1) - 1.0).max() > EQUAL:
        raise SolverError(f"cddlib returned points that are not vertices ({outside:.1e} outside).")
    return np.maximum(vertices, 0.0)


def _probe(vertices: Floats, inequalities: Floats) -> None:
    """Detect lost vertices: compare maxima of random linear functions with a linear program."""
    cells = vertices.shape[1]
    program = LinearProgram(np.zeros(cells), upper=1.0)
    program.add_rows(np.ones((1, cells)), 1.0, 1.0)
    program.add_rows(inequalities, -np.inf, 0.0)
    directions = np.random.default_rng(0).normal(size=(_PROBES, cells))
    directions[:cells] = np.eye(cells)[: min(cells, _PROBES)]
    for direction in directions:
        program.set_cost(direction)
        _, _, reach = program.solve()
        if reach > float((vertices @ direction).max()) + EQUAL:
            raise SolverError(
                "vertices were lost, because a linear program attains more than any of them."
            )
