"""The interface to HiGHS: linear programs that grow and are solved repeatedly.

A *warm start* begins with the basis of the last solution. HiGHS does so by itself after changes to
rows, columns or costs of a solved program.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skrldp._typing import Floats
from skrldp.exceptions import InfeasibleError, SolverError

_INFINITY = float("inf")
# Primal and dual feasibility tolerance. HiGHS's default is 1e-7, its minimum 1e-10. Cuts are found
# to be violated from about 4e-9 on (design/cone.py), so it must be below that.
_FEASIBILITY = 1e-9
# Minimum time limit of a call, in seconds, so that small programs are solved even on a busy
# machine.
_LEAST_SECONDS = 0.02


class LinearProgram:
    """Maximise a linear function of non-negative variables under rows added as needed.

    Parameters
    ----------
    cost : array of shape (n,)
        Objective coefficients; more variables can be added later.
    upper : float
        Upper bound of each of these variables.

    Notes
    -----
    Statuses are mapped explicitly: only "optimal" counts as a solution.
    """

    def __init__(self, cost: Floats, upper: float = _INFINITY) -> None:
        import highspy

        self._highspy = highspy
        self._solver = _silent_solver()()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("random_seed", 0),
            ("primal_feasibility_tolerance", _FEASIBILITY),
            ("dual_feasibility_tolerance", _FEASIBILITY),
        ):
            self._solver.setOptionValue(option, value)
        self._solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
        self._columns = len(cost)
        self._solver.addVars(self._columns, np.zeros(self._columns), np.full(self._columns, upper))
        self.set_cost(cost)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self._solver.getNumRow())

    @property
    def n_columns(self) -> int:
        """Number of variables."""
        return self._columns

    def set_cost(self, cost: Floats) -> None:
        """Change the objective.

        Shapes: `cost` (n,).
        """
        indices = np.arange(self._columns, dtype=np.int32)
        self._solver.changeColsCost(self._columns, indices, np.asarray(cost, dtype=float))

    def add_rows(
        self, rows: Floats | csr_array, lower: float | Floats, upper: float | Floats
    ) -> None:
        """Add constraints ``lower <= rows @ x <= upper``.

        Shapes: `rows` (m, n); `lower` and `upper` (m,). Raises SolverError if a coefficient is too
        large for HiGHS, which would ignore all of the rows.
        """
        index, values, starts = _sparse(rows)
        count = rows.shape[0]
        status = self._solver.addRows(
            count,
            np.full(count, lower, dtype=float),
            np.full(count, upper, dtype=float),
            len(values),
            starts,
            index,
            values,
        )
        self._check_accepted(status, values)

    def add_columns(self, cost: Floats, columns: Floats | csr_array) -> None:
        """Add non-negative variables.

        Shapes: `cost` (m,); `columns` (m, n_rows). Raises SolverError if a coefficient is not
        finite or too large for HiGHS, which would ignore all of the variables.
        """
        index, values, starts = _sparse(columns)
        if not (np.all(np.isfinite(values)) and np.all(np.isfinite(cost))):
            raise SolverError("a linear program has NaN or infinite coefficients.")  # HiGHS cycles
        count = columns.shape[0]
        status = self._solver.addCols(
            count,
            np.asarray(cost, dtype=float),
            np.zeros(count),
            np.full(count, _INFINITY),
            len(values),
            starts,
            index,
            values,
        )
        self._check_accepted(status, values)
        self._columns += count

    def _check_accepted(self, status: Any, values: Floats) -> None:
        if status == self._highspy.HighsStatus.kError:
            raise SolverError(
                f"HiGHS refused coefficients of up to {np.abs(values).max(initial=0.0):g} in size."
            )

    def solve(self, seconds: float | None = None) -> tuple[Floats, Floats, float]:
        """Solve the program, starting from the basis of the last solution if there is one.

        Shapes: returns `x` (n,). Returns `duals` (n_rows,): dual variable of each row, the
        derivative of the objective by its right-hand side; `value`: the objective. Raises
        InfeasibleError if no point satisfies the rows. Raises SolverError if HiGHS ends without an
        optimum; ``TimeoutError`` if no time is left.
        """
        # Checked here, because HiGHS may solve before it checks
        if seconds is not None and seconds <= 0.0:
            raise TimeoutError("the time limit was reached before this linear program")
        limit = _INFINITY
        if seconds is not None:  # HiGHS counts time from the first run of this object
            limit = float(self._solver.getRunTime()) + max(seconds, _LEAST_SECONDS)
        self._solver.setOptionValue("time_limit", limit)
        self._solver.run()
        status = self._solver.getModelStatus()
        if status != self._highspy.HighsModelStatus.kOptimal:
            status = self._retry(status)
        solution = self._solver.getSolution()
        value = float(self._solver.getInfo().objective_function_value)
        return np.array(solution.col_value), np.array(solution.row_dual), value

    def _retry(self, status: Any) -> Any:
        """Solve again, without the basis and presolve; raise an error if that fails too.

        Presolve of HiGHS 1.16 declares some feasible programs infeasible.
        """
        kinds = self._highspy.HighsModelStatus
        if status == kinds.kTimeLimit:
            raise TimeoutError("the time limit of this linear program was reached")
        self._solver.clearSolver()
        self._solver.setOptionValue("presolve", "off")
        self._solver.run()
        self._solver.setOptionValue("presolve", "choose")
        status = self._solver.getModelStatus()
        if status == kinds.kOptimal:
            return status
        name = self._solver.modelStatusToString(status)
        if status == kinds.kTimeLimit:
            raise TimeoutError("the time limit of this linear program was reached")
        size = f"{self.n_rows} rows x {self._columns} variables"
        if status == kinds.kInfeasible:
            raise InfeasibleError(f"no solution: HiGHS found the {size} infeasible.")
        raise SolverError(f"HiGHS ended with status {name!r} on {size}.")


def _sparse(rows: Floats | csr_array) -> tuple[NDArray[np.int32], Floats, NDArray[np.int32]]:
    """Row-wise sparse form: indices, values and the start of each row."""
    if not isinstance(rows, csr_array):
        table = np.asarray(rows, dtype=float)
        position, index = np.nonzero(table)
        starts = np.searchsorted(position, np.arange(len(table))).astype(np.int32)
        return index.astype(np.int32), table[position, index], starts
    return rows.indices.astype(np.int32), rows.data, rows.indptr[:-1].astype(np.int32)


@cache
def _silent_solver() -> type:
    """Return a solver that prints nothing.

    Since 1.16, HiGHS prints its version when callbacks are enabled, which ``highspy.Highs()`` does
    before any option can be set.
    """
    import highspy

    class SilentSolver(highspy.Highs):
        def enableCallbacks(self) -> None:
            self.silent()
            super().enableCallbacks()

    return SilentSolver
