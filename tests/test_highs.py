"""Linear programs are solved, as their duals prove, through every way in which they can change."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

from skrldp._highs import LinearProgram
from skrldp.exceptions import InfeasibleError, SolverError


class Mirror:
    """A linear program kept twice: in ours, and as plain arrays."""

    def __init__(self, cost, upper=np.inf, write=np.asarray):
        self.ours, self.write = LinearProgram(cost, upper), write
        self.cost = np.array(cost, dtype=float)
        self.top = np.full(len(cost), upper)
        self.rows = np.zeros((0, len(cost)))
        self.low, self.high = np.zeros(0), np.zeros(0)

    def add_rows(self, rows, lower, upper):
        self.ours.add_rows(self.write(rows), lower, upper)
        self.rows = np.concatenate([self.rows, rows])
        self.low = np.append(self.low, np.full(len(rows), lower))
        self.high = np.append(self.high, np.full(len(rows), upper))

    def add_columns(self, cost, columns):
        self.ours.add_columns(cost, columns)
        self.cost = np.append(self.cost, cost)
        self.top = np.append(self.top, np.full(len(cost), np.inf))
        self.rows = np.hstack([self.rows, columns.T])

    def set_cost(self, cost):
        self.ours.set_cost(cost)
        self.cost = np.array(cost, dtype=float)

    def check(self):
        assert self.ours.n_rows == len(self.rows)
        assert self.ours.n_columns == len(self.cost)
        x, duals, value = self.ours.solve()
        scale = 1.0 + abs(value)
        # feasible, and worth what it says
        assert x.shape == self.cost.shape
        assert np.all(x >= -1e-8) and np.all(x <= self.top + 1e-8)
        reach = self.rows @ x
        assert np.all(reach >= self.low - 1e-7) and np.all(reach <= self.high + 1e-7)
        assert self.cost @ x == pytest.approx(value, abs=1e-8 * scale)
        # strong duality, with the sign that the duals promise: a larger right side pays
        assert duals.shape == (len(self.rows),)
        assert np.all(duals[np.isinf(self.low)] >= -1e-9)
        assert np.all(duals[np.isinf(self.high)] <= 1e-9)
        side = np.where(duals > 0, self.high, self.low)
        reduced = self.cost - duals @ self.rows
        assert np.all(reduced[np.isinf(self.top)] <= 1e-7)
        boxed = np.isfinite(self.top)
        bought = np.maximum(reduced[boxed], 0.0) @ self.top[boxed]
        used = duals != 0
        assert duals[used] @ side[used] + bought == pytest.approx(value, abs=1e-6 * scale)


@pytest.mark.parametrize(("write", "seed"), [(np.asarray, 0), (csr_array, 1)])
@pytest.mark.parametrize("upper", [1.0, np.inf])
def test_duals_prove_the_optimum_as_the_program_changes(seed, upper, write):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    program = Mirror(rng.normal(size=n), upper, write)
    program.add_rows(np.ones((1, n)), 1.0, 1.0)  # bounded and feasible whatever follows
    program.check()
    cuts = rng.normal(size=(5, n))
    program.add_rows(cuts - cuts.mean(axis=1, keepdims=True), -np.inf, 0.0)  # 1/n stays feasible
    program.check()
    program.set_cost(rng.normal(size=n))
    program.check()
    floors = np.where(rng.random((3, n)) < 0.5, rng.random((3, n)), 0.0)
    program.add_rows(floors, float(floors.mean(axis=1).min()) - 0.05, np.inf)
    program.check()
    columns = rng.normal(size=(4, program.ours.n_rows))
    columns[:, 0] = rng.random(4) + 0.5
    program.add_columns(rng.normal(size=4), columns)
    program.check()
    program.add_rows(rng.random((2, n + 4)), -1.0, 2.0)
    program.set_cost(rng.normal(size=n + 4))
    program.check()


@pytest.mark.parametrize("cost", [0.0, 1.0])  # with 1, the relaxation is unbounded besides
def test_an_infeasible_program_says_so(cost):
    program = LinearProgram(np.array([0.0, 0.0, cost]))
    program.add_rows(np.array([[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]]), -np.inf, np.array([1.0, -2.0]))
    with pytest.raises(InfeasibleError, match="2 rows x 3 variables infeasible"):
        program.solve()


def test_an_unbounded_program_says_so_and_can_be_mended():
    program = LinearProgram(np.array([1.0, 0.0]))
    program.add_rows(np.array([[1.0, -1.0]]), -np.inf, 1.0)
    with pytest.raises(SolverError, match=r"status .* 1 rows x 2 variables") as found:
        program.solve()
    assert not isinstance(found.value, InfeasibleError)
    program.set_cost(np.array([1.0, -2.0]))
    assert program.solve()[2] == pytest.approx(1.0)


@pytest.mark.parametrize("write", [np.asarray, csr_array])
@pytest.mark.parametrize("wrong", [1e16, np.inf, np.nan])
def test_numbers_that_highs_cannot_take_are_refused(wrong, write):
    """HiGHS leaves out all columns of a call for one number, and never ends on NaN."""
    program = LinearProgram(np.zeros(0))
    program.add_rows(np.zeros((2, 0)), 1.0, 1.0)
    with pytest.raises(SolverError, match=r"HiGHS|NaN"):
        program.add_columns(np.ones(1), write([[wrong, 1.0]]))
    with pytest.raises(SolverError, match="NaN"):
        program.add_columns(np.array([np.nan]), write([[1.0, 1.0]]))
    if not np.isnan(wrong):
        program = LinearProgram(np.ones(2), 2.0)
        with pytest.raises(SolverError, match="HiGHS"):
            program.add_rows(write([[1.0, 1.0], [wrong, 1.0]]), -np.inf, 1.0)


def test_no_time():
    """However quickly HiGHS would solve, and whatever was solved before."""
    program = LinearProgram(np.ones(2), 1.0)
    for seconds in (0.0, -1.0):
        with pytest.raises(TimeoutError):
            program.solve(seconds)
    assert program.solve(600.0)[2] == 2.0
    with pytest.raises(TimeoutError):
        program.solve(0.0)
    assert program.solve()[2] == 2.0  # and no limit stays behind


def test_time_that_runs_out(monkeypatch):
    """It is not taken for a failure, after which a program is solved once more."""
    program = LinearProgram(np.ones(2), 1.0)
    with monkeypatch.context() as patch:
        out_of_time = program._highspy.HighsModelStatus.kTimeLimit
        patch.setattr(program._solver, "getModelStatus", lambda: out_of_time)
        patch.setattr(program._solver, "clearSolver", lambda: pytest.fail("solved once more"))
        with pytest.raises(TimeoutError):
            program.solve(600.0)
    for seconds in (600.0, None):  # each call has its own time
        x, _, value = program.solve(seconds)
        assert value == x.sum() == 2.0


def test_a_program_that_presolve_calls_infeasible():
    """Presolve of HiGHS 1.16 does, at a range as wide as the tolerance; any x fits some c5, c6."""
    p, most = np.array([4.0, 7.0, 2.0]) / 13.0, 1.0 + 1e-9
    program = LinearProgram(np.array([*(1e-9 * p), 1.0, -100.0, -100.0, -100.0]))
    lower, upper = [0, 0, 0, 2.0 - most, 0, 0, 0], [*(most / p), most, *[np.inf] * 3]
    program._solver.changeColsBounds(
        7, np.arange(7, dtype=np.int32), np.array(lower), np.array(upper)
    )
    program.add_rows(np.array([[*p, 0, 0, 0, 0]]), 1.0, 1.0)
    program.add_rows(np.array([[*p, -1.0, 0, 1.0, -1.0]]), 0.0, 0.0)
    high = np.column_stack([np.eye(3), -most / p, -np.ones(3), np.zeros((3, 2))])
    low = np.column_stack([-np.eye(3), np.zeros(3), -np.ones(3), np.zeros((3, 2))])
    program.add_rows(np.concatenate([high, low]), -np.inf, 0.0)
    x, _, value = program.solve()
    assert p @ x[:3] == pytest.approx(1.0) and value == pytest.approx(1.0, abs=1e-6)


def test_nothing_is_printed():
    """In a process of its own: HiGHS 1.16 prints its version once, before it can be asked not to.

    What a command writes to its standard output may be read by another.
    """
    program = """
import numpy as np
from skrldp._highs import LinearProgram
x, _, _ = LinearProgram(np.ones(2), 1.0).solve()
assert x.sum() == 2.0
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
