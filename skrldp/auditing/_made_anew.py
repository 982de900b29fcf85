"""The black box made anew: as copies in this process, and in new processes."""

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from types import CellType, FunctionType
from typing import Any

__all__ = ["copies_of", "in_a_new_process"]


_CHILD = """
import pickle, sys
read, write = sys.stdin.buffer, sys.stdout.buffer
sys.stdout = sys.stderr
sys.path[:] = pickle.load(read)
report, tables = pickle.load(read)
pickle.dump([report(table) for table in tables], write)
"""


def copies_of(report: Callable[[Any], Any]) -> list[Callable[[Any], Any]]:
    """Return two copies of a black box that share nothing with it; none if it has no copies.

    Returns list of callable: of length 2 or 0. A function with variables of an outer function is
    copied with these.
    """
    if isinstance(report, FunctionType) and not report.__closure__:
        return []  # what it remembers is in its module
    try:
        return [_copy(report), _copy(report)]
    except Exception:  # an object that cannot be copied may raise anything
        return []


def _copy(report: Callable[[Any], Any]) -> Callable[[Any], Any]:
    if not isinstance(report, FunctionType):
        return copy.deepcopy(report)
    known: dict[int, Any] = {}  # what two variables share, their copies share
    held = [copy.deepcopy(cell.cell_contents, known) for cell in report.__closure__ or ()]
    defaults = copy.deepcopy((report.__defaults__, report.__kwdefaults__), known)
    cells = tuple(map(CellType, held))
    made = FunctionType(report.__code__, report.__globals__, report.__name__, defaults[0], cells)
    made.__kwdefaults__ = defaults[1]
    return made


def in_a_new_process(report: Callable[[Any], Any], tables: Sequence[Any]) -> list[Any]:
    """Have tables of records reported one after the other by a new Python process.

    Returns list of tables: the reports.
    """
    try:
        sent = pickle.dumps(sys.path) + pickle.dumps((report, list(tables)))
    except Exception as error:
        raise ValueError(
            "processes=True passes the function or sanitizer to new processes, and it cannot be "
            f"pickled: {error}. Define it in a module, outside of other functions."
        ) from error
    done = subprocess.run([sys.executable, "-c", _CHILD], input=sent, capture_output=True)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise ValueError(
            f"processes=True: a new process could not make the reports: {said}. It must be able to "
            "import the module that defines the function or sanitizer."
        )
    reports: list[Any] = pickle.loads(done.stdout)
    return reports
