"""Enumerated vertices: against the paper and patterns, and where cddlib fails or is missing."""

import itertools
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog

from skrldp import (
    JointDistribution,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    RenyiBall,
    RobustMSESanitizer,
)
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.vertices import facets
from skrldp.exceptions import SolverError
from skrldp.privacy.private_rows import BoxRegion, privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet

SMALL = JointDistribution([[10, 7, 101], [161, 144, 30]])


def region_of(joint, kind="lower", same_secret=False, radius=None):
    if radius is None:
        radius = RenyiBall().radius_for(joint.n, joint.counts.size)
    return privacy_region(joint, RenyiSet(2.0, radius), region=kind, same_secret=same_secret)


def in_order(table):
    return table[np.lexsort(np.round(table, 6).T)]


@pytest.mark.parametrize("same_secret", [False, True])
def test_facets_of_the_lower_region(same_secret):
    """Entropy (43), with and without a secret against itself."""
    region, eps = region_of(SMALL, same_secret=same_secret), 0.6
    lower, expected = region.lower, []
    for s1, s2, u1, u2 in itertools.product(range(2), range(2), range(3), range(3)):
        if s1 == s2 and not same_secret:
            continue
        row = np.zeros((2, 3))
        row[s1] += lower[s1]
        row[s1, u1] += 1.0 - lower[s1].sum()
        row[s2] -= np.exp(eps) * lower[s2]
        row[s2, u2] -= np.exp(eps) * (1.0 - lower[s2].sum())
        expected.append(row.ravel())
    found = facets(Requirements.of(region, eps))
    assert found.shape == (36 if same_secret else 18, 6)
    np.testing.assert_allclose(in_order(found * np.exp(eps)), in_order(np.array(expected)))


@pytest.mark.parametrize("size", [2, 3, 5])
def test_vertices_of_a_box(size):
    rng = np.random.default_rng([0, size])
    centre = rng.dirichlet(np.ones(size))
    lower = centre * rng.random(size)
    upper = centre + (1.0 - centre) * rng.random(size) * 0.5
    region = BoxRegion(centre[None], np.ones(1), np.ones(1), lower=lower[None], upper=upper[None])
    found = region.vertices(0)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-14)
    assert np.all(found >= lower - 1e-14) and np.all(found <= upper + 1e-14)
    free = (found > lower + 1e-9) & (found < upper - 1e-9)
    assert np.all(free.sum(axis=1) <= 1)
    assert len(np.unique(np.round(found, 9), axis=0)) == len(found)
    for direction in rng.normal(size=(40, size)):
        bounds = list(zip(lower, upper, strict=True))
        best = -linprog(-direction, A_eq=np.ones((1, size)), b_eq=[1.0], bounds=bounds).fun
        assert (found @ direction).max() == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(("values", "kind"), [(3, "joint"), (3, "product"), (7, "box")])
def test_regions_without_a_short_list_of_vertices_are_refused(values, kind):
    joint = JointDistribution(np.arange(1, 2 * values + 1).reshape(2, values))
    required = Requirements.of(region_of(joint, kind), 0.5)
    with pytest.raises(SolverError, match="has no finite list of vertices") as refused:
        solve(CriterionProblem(joint), required, solver="vertices")
    assert f"2 secrets x {values} values" in str(refused.value)


# -- when cddlib fails ----------------------------------------------------------------------------


TROUBLE = "*Error: Numerical inconsistency is found.  Use the GMP exact arithmetic."


def in_trouble(*_):
    raise RuntimeError(f"\n{TROUBLE}\n")


def losing(cdd, keep):
    """A cdd.copy_generators that keeps some of the vertices."""
    copy = cdd.copy_generators

    def lossy(polyhedron):
        generators = copy(polyhedron)
        rows = np.array(generators.array)
        return SimpleNamespace(array=rows[keep(rows)].tolist(), lin_set=generators.lin_set)

    return lossy


def test_cddlib_in_trouble(cdd, monkeypatch):
    monkeypatch.setattr(cdd, "polyhedron_from_matrix", in_trouble)
    with pytest.raises(SolverError, match=r"cddlib failed: \*Error: Numerical inconsistency"):
        solve(CriterionProblem(SMALL), Requirements.of(region_of(SMALL), 0.5), solver="vertices")


def test_lost_vertices_are_missed(cdd, monkeypatch):
    """Each vertex that the optimum uses, lost in turn, is noticed."""
    region, eps = region_of(SMALL), 0.5
    expected = solve(CriterionProblem(SMALL), Requirements.of(region, eps), solver="vertices")
    used = expected.matrix / expected.matrix.sum(axis=1, keepdims=True)
    assert len(used) >= 3
    for vertex in used:
        with monkeypatch.context() as patch:
            known = np.sort(vertex)  # whichever order the cells are in
            kept = losing(
                cdd,
                lambda rows, v=known: np.abs(np.sort(rows[:, 1:], axis=1) - v).max(axis=1) > 1e-7,
            )
            patch.setattr(cdd, "copy_generators", kept)
            with pytest.raises(SolverError, match="vertices were lost"):
                solve(CriterionProblem(SMALL), Requirements.of(region, eps), solver="vertices")


@pytest.mark.parametrize("fault", ["ray", "line", "outside", "sum"])
def test_what_is_not_a_vertex_is_refused(cdd, monkeypatch, fault):
    copy = cdd.copy_generators

    def faulty(polyhedron):
        generators = copy(polyhedron)
        rows, lines = np.array(generators.array), set(generators.lin_set)
        if fault == "ray":
            rows[0, 0] = 0.0
        elif fault == "line":
            lines = {0}
        elif fault == "outside":
            rows[0, 1:] = np.eye(rows.shape[1] - 1)[0]
        else:
            rows[0, 1:] *= 1.001
        return SimpleNamespace(array=rows.tolist(), lin_set=lines)

    monkeypatch.setattr(cdd, "copy_generators", faulty)
    with pytest.raises(SolverError, match="cddlib"):
        solve(CriterionProblem(SMALL), Requirements.of(region_of(SMALL), 0.5), solver="vertices")


COUNTS = np.array([[46, 11, 8], [43, 2, 30]])
ROWS = np.column_stack([index.ravel() for index in np.indices(COUNTS.shape)])
FITS = {
    "joint": PolyOptSanitizer(1.0, sensitive=0),
    "blind": PolyOptSanitizer(
        1.0, sensitive=0, uncertainty=LikelihoodRatioSet(region="lower"), observe="nonsensitive"
    ),
    "mse": RobustMSESanitizer(1.0, sensitive=0),
}


@pytest.fixture
def no_cddlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "cdd", None)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skrldp.exceptions.PrivacyLeakWarning")
@pytest.mark.parametrize("name", FITS)
def test_defaults_need_no_cddlib(no_cddlib, name):
    found = FITS[name].fit(ROWS, sample_weight=COUNTS.ravel())
    assert found.mutual_information_ > 0.0 if name != "mse" else found.distortion_ > 0.0
    assert found.solution_.status in ("optimal", "converged")


@pytest.mark.filterwarnings("ignore::skrldp.exceptions.PrivacyLeakWarning")
def test_vertices_need_it(no_cddlib):
    sanitizer = PolyOptSanitizer(
        1.0, sensitive=0, uncertainty=LikelihoodRatioSet(region="lower"), solver="vertices"
    )
    with pytest.raises(SolverError, match=r"pip install 'skrldp\[vertices\]'"):
        sanitizer.fit(ROWS, sample_weight=COUNTS.ravel())
