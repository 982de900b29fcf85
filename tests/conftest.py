"""What tests share: fixtures, and the definitions, written plainly and without the package."""

import gc
import itertools
import json
import os
import runpy
import sys
import time
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from scipy.optimize import brentq

settings.register_profile(
    "skrldp",
    deadline=None,
    derandomize=True,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow],  # it counts seconds, and other programs' too
)
settings.load_profile("skrldp")

ROOT = Path(__file__).resolve().parents[1]
# Programs that tests start import this tree, whatever is installed, and find what these tests find.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.getenv("PYTHONPATH")]))
# Optima of small tables, found by independent prototypes: lists "mi" and "mse".
REFERENCE = json.loads((ROOT / "tests" / "reference_cases.json").read_text("utf-8"))

# Entropy Examples 1-5: 100 public records over two secrets and two values.
EXAMPLE = np.array([[7, 10], [26, 57]])
EXAMPLE_DISTRIBUTION = np.array([[0.1, 0.1], [0.2, 0.6]])  # P* of Entropy (10)

ADULT_COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status"),
    *("occupation", "relationship", "race", "sex", "capital-gain", "capital-loss"),
    *("hours-per-week", "native-country", "income"),
]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Run the garbage collector seldom, and not while tests are collected, because they stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.set_threshold(50_000)
        gc.enable()


def pairwise(*choices):
    """Few combinations of the choices, in which every pair of options occurs."""
    rows = itertools.product(*(range(len(options)) for options in choices))
    pairs = {row: set(itertools.combinations(enumerate(row), 2)) for row in rows}
    missing, chosen = set().union(*pairs.values()), []
    while missing:
        best = max(pairs, key=lambda row: len(pairs[row] & missing))
        missing -= pairs[best]
        chosen.append(tuple(options[i] for options, i in zip(choices, best, strict=True)))
    return chosen


def few_iterations(number=2):
    """Let designs end after a few iterations, to save time, because they are private anyway."""
    return mock.patch("skrldp.design.engine._MOST_ITERATIONS", number)


@contextmanager
def clock_of_designs(read):
    """Let time limits of designs read this clock."""
    clock = SimpleNamespace(perf_counter=read)
    rooms = "skrldp.design.limits", "skrldp.design.a_optimality"
    with mock.patch(f"{rooms[0]}.time", clock), mock.patch(f"{rooms[1]}.time", clock):
        yield


@pytest.fixture(scope="session", autouse=True)
def processor_time():
    """Count processor time towards time limits, because other programs must not end a search."""
    with clock_of_designs(time.process_time):
        yield


def slow_clock(seconds):
    """Let the clock of designs advance by so much whenever it is read, on every machine."""
    return clock_of_designs(itertools.count(0.0, seconds).__next__)


def renyi(centre, distribution, alpha):
    """Rényi divergence D_alpha(centre || distribution) over the last axis (Entropy (21))."""
    centre, distribution = np.broadcast_arrays(
        np.asarray(centre, float), np.asarray(distribution, float)
    )
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if alpha == 1.0:
            terms = np.where(centre > 0, centre * (np.log(centre) - np.log(distribution)), 0.0)
            return terms.sum(axis=-1)
        logs = alpha * np.log(centre) + (1.0 - alpha) * np.log(distribution)
        terms = np.where(centre > 0, np.exp(logs), 0.0)
        return np.log(terms.sum(axis=-1)) / (alpha - 1.0)


def cost(p, distribution, alpha):
    """The budget that one conditional uses, before the weight of its secret (section 3)."""
    if alpha == 1.0:
        return renyi(p, distribution, 1.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        terms = np.where(
            p > 0, np.asarray(p) ** alpha * np.asarray(distribution) ** (1.0 - alpha), 0.0
        )
    mean = terms.sum(axis=-1) ** (1.0 / alpha)
    return mean - 1.0 if alpha > 1.0 else 1.0 - mean


def budget(alpha, radius):
    """The right side of section 3."""
    return radius if alpha == 1.0 else abs(float(np.expm1((alpha - 1.0) * radius / alpha)))


def completed(conditionals, joint, alpha):
    """The distribution closest to `joint` (a1, a2) with these conditionals (..., a1, a2)."""
    marginal = joint.sum(axis=1)
    p = joint / marginal[:, None]
    scale = np.ones(np.shape(conditionals)[:-1])
    if alpha != 1.0:
        sign = 1.0 if alpha > 1.0 else -1.0
        scale = 1.0 + sign * cost(p, conditionals, alpha)
    weights = marginal * scale
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights[..., None] * conditionals


def on_the_boundary(centre, towards, alpha, radius, steps=70):
    """Go from `centre` (m,) towards each distribution (N, m) until the divergence is the radius."""
    low, high = np.zeros(len(towards)), np.ones(len(towards))
    low[renyi(centre, towards, alpha) <= radius] = 1.0
    for _ in range(steps):
        middle = (low + high) / 2.0
        distribution = (1.0 - middle[:, None]) * centre + middle[:, None] * towards
        inside = renyi(centre, distribution, alpha) <= radius
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return (1.0 - low[:, None]) * centre + low[:, None] * towards


def excess(region, rows, eps):
    """The largest violation of privacy by each row, as the region bounds it: (b,)."""
    violations = region.worst(rows, eps, above=0.0)
    largest = np.zeros(len(rows))
    np.maximum.at(largest, violations.row, violations.bound)
    return largest


def random_directions(rng, count, size):
    """Distributions of all kinds: flat, spiky, and on few cells."""
    distributions = [rng.dirichlet(np.full(size, c), size=count // 3) for c in (1.0, 0.3, 0.05)]
    distributions = np.concatenate(distributions)
    return distributions[np.all(np.isfinite(distributions), axis=1)]


def optimum(problem):
    """Solve with Clarabel, whatever cvxpy says about writing powers as cones."""
    import cvxpy as cp

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        value = problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    if problem.status == cp.OPTIMAL_INACCURATE:
        pytest.skip("the reference solver is not sure of its answer")
    assert problem.status == cp.OPTIMAL
    return float(value)


def convex_solve(q, p, weight, alpha, radius):
    """Solve max R1.q1 + R2.q2 under the budget of section 3 directly (alpha > 1/2)."""
    import cvxpy as cp

    distributions = [cp.Variable(q.shape[1], nonneg=True) for _ in q]
    theta, used = (alpha - 1.0) / alpha, 0.0
    for w, centre, distribution in zip(weight, p, distributions, strict=True):
        seen = np.flatnonzero(centre > 0)
        held, mass = distribution[seen], centre[seen]
        if alpha == 1.0:
            used += w * (mass @ np.log(mass) - mass @ cp.log(held))
            continue
        mean = cp.pnorm(cp.multiply(mass, cp.power(held, -theta)), alpha)
        used += w * (mean - 1.0 if alpha > 1.0 else 1.0 - mean)
    limits = [used <= budget(alpha, radius)] + [
        cp.sum(distribution) == 1 for distribution in distributions
    ]
    problem = cp.Problem(
        cp.Maximize(
            sum(c @ distribution for c, distribution in zip(q, distributions, strict=True))
        ),
        limits,
    )
    return optimum(problem)


def set_probability(rho, alpha, radius_of_secret, sign):
    """Greatest (sign=1) or least (-1) probability of a set of public probability rho.

    Entropy Proposition 1's scalar equation with MATH's ends, solved by bracketing. The divergence
    is that of two distributions on {the set, the rest}.
    """
    end = 1.0 if sign > 0 else 0.0

    def excess(x):
        divergence = float(renyi([rho, 1.0 - rho], [x, 1.0 - x], alpha))
        return min(divergence, 1e6) - radius_of_secret

    if rho == end or excess(end) <= 0.0:
        return end
    return brentq(excess, rho, end, xtol=1e-15, rtol=8.9e-16)


def radius_of_secret(weight, alpha, radius):
    """B_s of Entropy Theorem 1, infinite where the conditional is free."""
    if weight == 0:
        return np.inf
    if alpha == 1.0:
        return radius / weight
    inside = np.exp((alpha - 1.0) * radius / alpha) - (1.0 - weight)
    return alpha / (alpha - 1.0) * np.log(inside / weight) if inside > 0 else np.inf


@pytest.fixture
def cdd():
    """cddlib's module; skips where the extra `vertices` is not installed."""
    return pytest.importorskip("cdd", reason="pycddlib-standalone (extra: vertices) is missing")


@pytest.fixture(scope="session")
def adult():
    """Count a pair of columns of UCI Adult; skips where the file is not at hand."""
    path = Path(os.environ.get("SKRLDP_ADULT", ROOT.parent / "shared/data/adult/adult.data"))
    if not path.is_file():
        pytest.skip("adult.data is not at hand (set SKRLDP_ADULT to its path)")
    rows = [line.split(", ") for line in path.read_text("utf-8").splitlines() if line.strip()]

    def table(sensitive, other):
        first, second = ADULT_COLUMNS.index(sensitive), ADULT_COLUMNS.index(other)
        pairs = Counter((row[first], row[second]) for row in rows)
        secrets, values = (sorted({pair[i] for pair in pairs}) for i in (0, 1))
        return np.array([[pairs[s, u] for u in values] for s in secrets])

    return table


@pytest.fixture
def run_example(monkeypatch):
    """Run a script of examples/ without a screen or a time limit, and return its variables."""
    matplotlib = pytest.importorskip("matplotlib")
    plt = pytest.importorskip("matplotlib.pyplot")
    before = matplotlib.get_backend()
    monkeypatch.syspath_prepend(ROOT / "examples")

    def run(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        return runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")

    with matplotlib.rc_context(), warnings.catch_warnings(), slow_clock(0.0):
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        matplotlib.use("Agg")
        yield run
        plt.close("all")
    matplotlib.use(before)


@pytest.fixture
def fixed_entropy(monkeypatch):
    """Have a fixed generator stand for the operating system, so that a test is deterministic."""
    generator = np.random.default_rng(20240229)
    monkeypatch.setattr(os, "urandom", generator.bytes)


@pytest.fixture(scope="module")
def few_reports():
    """Have privacy reports bound two reports about one person, from few combinations."""
    from skrldp import report

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "_WORK", 1 << 9)
        patch.setattr(report, "REPORTS", (1, 2))
        yield
