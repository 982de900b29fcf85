"""A formula's columns, over the combinations of categories that the estimated records have."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats
from skrldp.alphabet.combinations import Record, group_cells
from skrldp.estimation.blocks import EstimatedCells, estimated_cells

if TYPE_CHECKING:
    import pandas as pd

_EXACT = 2.0**53  # whole numbers below are floats
# formulaic's functions of whole columns: here a column has each combination of categories once
_OF_COLUMNS = ("bs", "cc", "center", "cr", "cs", "hashed", "lag", "poly", "scale", "standardize")


@dataclass(frozen=True, eq=False)
class Regression:
    """A formula's matrices, with a row for each combination of categories.

    Attributes
    ----------
    formula : str
    cells : EstimatedCells
    frame : DataFrame of g rows
        The combinations without missing values.
    rows : array of shape (a,)
        The combination that each cell has; g for cells with a missing value.
    outcomes : array of shape (g, j)
    responses : tuple of length j
        What each outcome is.
    regressors : array of shape (g, p)
    names : tuple of length p
        Names of the regressors.
    spec : formulaic.ModelSpec
        Makes the regressors of other records.
    """

    formula: str
    cells: EstimatedCells
    frame: "pd.DataFrame"
    rows: NDArray[np.intp]
    outcomes: Floats
    responses: tuple[str, ...]
    regressors: Floats
    names: tuple[str, ...]
    spec: Any

    @property
    def coefficients(self) -> list[str]:
        """Names of the coefficients, those of one response side by side."""
        if len(self.responses) == 1:
            return list(self.names)
        return [f"{response}:{name}" for response in self.responses for name in self.names]

    def shares(self, frequencies: Floats) -> Floats:
        """Shares of the combinations, (g,), in records with frequencies (a,)."""
        found = np.bincount(self.rows, frequencies, len(self.frame) + 1)
        return found[:-1].astype(np.float64)

    def on_cells(self, functions: Floats) -> Floats:
        """Write functions of the combinations, (m, g), as functions of the cells, (m, a)."""
        return np.pad(functions, ((0, 0), (0, 1)))[:, self.rows]


def read_formula(formula: Any, estimator: Any, kind: str) -> Regression:
    """Make the matrices of a formula from the categories of an estimator's columns.

    Raises TypeError or ValueError if the formula cannot be read, has unknown columns, or its left
    side is no response of the family.
    """
    formulaic = _formulaic()
    if not isinstance(formula, str):
        raise TypeError(f"formula must be a text such as 'y ~ x', got {type(formula).__name__}.")
    with _refused(formula, "cannot be read"):
        parsed = formulaic.Formula(formula)
        wanted = sorted(map(str, parsed.required_variables))
    if not (hasattr(parsed, "lhs") and hasattr(parsed, "rhs")):
        raise ValueError(f"formula {formula!r} has no response: write it as 'y ~ x'.")
    if isinstance(parsed.lhs, tuple) or isinstance(parsed.rhs, tuple) or len(parsed.lhs) > 1:
        raise ValueError(
            f"formula {formula!r} has several responses or right sides: fit a model for each."
        )
    plain = re.sub(r"`[^`]*`|'[^']*'|\"[^\"]*\"", "_", formula)
    for name in re.findall(r"(?<![\w.])(\w+)\s*\(", plain):
        if name in _OF_COLUMNS:
            raise ValueError(
                f"formula {formula!r}: {name}() computes with the records of a table, and here "
                "are estimated probabilities. Use functions of single records, such as np.log(x) "
                "or {np.maximum(x - 40, 0)}."
            )
    if not wanted:
        raise ValueError(f"formula {formula!r} names no column.")
    cells = estimated_cells(estimator, wanted)
    frame, rows = _frame(cells.cells.record, wanted)
    with _refused(formula, "cannot be computed"), np.errstate(all="ignore"):
        left, right = formulaic.model_matrix(parsed, frame, na_action="ignore", context={})
    regressors = right.to_numpy(dtype=float)
    both = np.hstack([left.to_numpy(dtype=float), regressors])
    wrong = np.flatnonzero(~np.isfinite(both).all(axis=1))
    if len(wrong):
        record = ", ".join(f"{name}={value}" for name, value in frame.iloc[wrong[0]].items())
        raise ValueError(
            f"formula {formula!r} has no finite value where {record}. Use functions that have one "
            "for all categories, such as np.log(x + 1)."
        )
    outcomes, responses = _outcomes(left, formula, kind)
    if not right.shape[1]:
        raise ValueError(f"formula {formula!r} has no regressor.")
    names, spec = tuple(map(str, right.columns)), right.model_spec
    return Regression(formula, cells, frame, rows, outcomes, responses, regressors, names, spec)


@contextmanager
def _refused(formula: str, what: str) -> Iterator[None]:
    """Say in one line why formulaic does not take a formula."""
    own = _formulaic().errors.FormulaicError, SyntaxError
    try:
        yield
    except (*own, TypeError, ValueError, NameError, AttributeError) as error:
        plain = re.sub(r"\x1b\[[0-9;]*m|⧛[^⧚]*⧚", "", str(error)).strip() or type(error).__name__
        why = re.split(r"\n|(?<=\.) ", plain)[0].rstrip(".")
        raise ValueError(
            f"formula {formula!r} {what}: {why}. Write it as 'y ~ x + C(z)', with other names "
            "between backticks: `my column`."
        ) from error


def _formulaic() -> Any:
    try:
        import formulaic
    except ImportError as error:
        raise ImportError(
            "formulas are read by formulaic, which is not installed: pip install skrldp[models]."
        ) from error
    return formulaic


def _frame(record: Record, names: Sequence[str]) -> tuple["pd.DataFrame", NDArray[np.intp]]:
    """Return the combinations without missing values, and which of them each cell has.

    Numbers are numbers, and others are categories.
    """
    import pandas as pd

    groups = group_cells(record, names, "all")
    found = [one if len(names) > 1 else (one,) for one in groups.categories]
    whole = np.array([None not in one for one in found])
    kept = [one for one in found if None not in one]
    columns = {}
    for name, values in zip(names, np.array(kept, object).reshape(-1, len(names)).T, strict=True):
        own = [one for one in group_cells(record, [name], "all").categories if one is not None]
        columns[name] = pd.Series(pd.Categorical(values, own))
        if all(isinstance(one, Real) for one in own):
            numbers = values.astype(float)
            exact = (numbers == np.rint(numbers)).all() and (np.abs(numbers) < _EXACT).all()
            columns[name] = pd.Series(numbers.astype(np.int64) if exact else numbers)
    rows = np.where(whole, np.cumsum(whole) - 1, len(kept))
    return pd.DataFrame(columns), rows[groups.labels]


def _outcomes(left: "pd.DataFrame", formula: str, kind: str) -> tuple[Floats, tuple[str, ...]]:
    """Return the outcomes (g, j) of a kind of model, and what each is."""
    numbers, names = left.to_numpy(dtype=float), tuple(map(_category, left.columns))
    if kind in ("ols", "poisson"):
        if len(names) > 1:
            raise ValueError(
                f"formula {formula!r}: the response has categories, {list(left.columns)}, and no "
                "numbers. logit and mnlogit are models of categories. Write numbers that are "
                "texts as {y.astype('float')} ~ x."
            )
        if kind == "poisson" and (numbers < 0).any():
            raise ValueError(f"formula {formula!r}: a Poisson response has no negative numbers.")
        return numbers, names
    if len(names) == 1:
        values = np.array([0.0, 1.0]) if kind == "logit" else np.unique(numbers)
        numbers, names = (numbers == values).astype(float), tuple(f"{one:g}" for one in values)
    if kind == "logit" and not (len(names) == 2 and numbers.any(axis=1).all()):
        raise ValueError(
            f"formula {formula!r}: the response of a logistic model has two categories, or the "
            "numbers 0 and 1. Write a condition in braces, such as {y == 'a'} ~ x, or use mnlogit."
        )
    return numbers[:, 1:], names[1:]


def _category(name: Any) -> str:
    """Return the category in a column's name, such as 'y[T.no]'."""
    found = re.search(r"\[(?:T\.)?(.*)\]$", str(name))
    return found.group(1) if found else str(name)
