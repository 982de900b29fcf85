"""A formula's columns, over the combinations of categories that the estimated records have."""

import re
from collections.abc import Sequence
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
        The combinations.
    rows : array of shape (a,)
        The combination that each cell has; -1 for cells with a missing value.
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

    def weights(self, frequencies: Floats | None = None) -> Floats:
        """Probabilities of the combinations, (g,), with sum 1; of those of cells, (a,)."""
        of_cells = self.cells.frequencies if frequencies is None else frequencies
        kept = self.rows >= 0
        found = np.bincount(self.rows[kept], of_cells[kept], minlength=len(self.regressors))
        return np.asarray(found / found.sum())

    def share(self) -> float:
        """Share of the records that have no missing value."""
        return float(self.cells.frequencies[self.rows >= 0].sum())

    def on_cells(self, functions: Floats) -> Floats:
        """Write functions of the combinations, (m, g), as functions of the cells, (m, a)."""
        padded = np.concatenate([functions, np.zeros((len(functions), 1))], axis=1)
        return padded[:, self.rows]


def read_formula(formula: Any, estimator: Any, kind: str) -> Regression:
    """Make the matrices of a formula from the categories of an estimator's columns.

    Raises TypeError or ValueError if the formula cannot be read, has unknown columns, or its left
    side is no response of the family.
    """
    formulaic = _formulaic()
    if not isinstance(formula, str):
        raise TypeError(f"formula must be a text such as 'y ~ x', got {type(formula).__name__}.")
    try:
        parsed = formulaic.Formula(formula)
        wanted = sorted(map(str, parsed.required_variables))
    except (formulaic.errors.FormulaicError, SyntaxError) as error:
        what = re.split(r"\n|(?<=\.) ", _plain(error))[0]
        raise ValueError(
            f"formula {formula!r} cannot be read: {what.rstrip('.')}. Write it as 'y ~ x + C(z)', "
            "with other names between backticks: `my column`."
        ) from error
    if not (hasattr(parsed, "lhs") and hasattr(parsed, "rhs")):
        raise ValueError(f"formula {formula!r} has no response: write it as 'y ~ x'.")
    if isinstance(parsed.lhs, tuple) or isinstance(parsed.rhs, tuple) or len(parsed.lhs) > 1:
        raise ValueError(
            f"formula {formula!r} has several responses or right sides: fit a model for each."
        )
    calls = re.findall(r"(?<![\w.])(\w+)\s*\(", re.sub(r"`[^`]*`|'[^']*'|\"[^\"]*\"", "_", formula))
    for name in calls:
        if name in _OF_COLUMNS:
            raise ValueError(
                f"formula {formula!r}: {name}() computes with the records of a table, and here "
                "are estimated probabilities. Use functions of single records, such as np.log(x) "
                "or {np.maximum(x - 40, 0)}."
            )
        if name in wanted:
            raise ValueError(
                f"formula {formula!r}: there is no function {name}(). Functions are NumPy's, such "
                "as np.log(x), and C() for categories."
            )
    if not wanted:
        raise ValueError(f"formula {formula!r} names no column.")
    cells = estimated_cells(estimator, wanted)
    frame, labels = _frame(cells.cells.record, wanted)
    try:
        with np.errstate(all="ignore"):
            matrices = formulaic.model_matrix(parsed, frame, na_action="drop", context={})
    except (
        formulaic.errors.FormulaicError,
        TypeError,
        ValueError,
        NameError,
        AttributeError,
    ) as error:
        raise ValueError(f"formula {formula!r} cannot be computed: {_plain(error)}") from error
    left, right = matrices.lhs, matrices.rhs
    _check_finite(formula, frame, left, right)
    place = np.full(len(frame) + 1, -1)
    place[right.index] = np.arange(len(right))
    outcomes, responses = _outcomes(left, formula, kind)
    if not right.shape[1]:
        raise ValueError(f"formula {formula!r} has no regressor.")
    return Regression(
        formula,
        cells,
        frame.iloc[right.index].reset_index(drop=True),
        place[labels],
        outcomes,
        responses,
        right.to_numpy(dtype=float),
        tuple(map(str, right.columns)),
        right.model_spec,
    )


def _check_finite(
    formula: str, frame: "pd.DataFrame", left: "pd.DataFrame", right: "pd.DataFrame"
) -> None:
    """Refuse a formula that has no number for a combination without missing values."""
    finite = np.zeros(len(frame), dtype=bool)
    both = np.hstack([left.to_numpy(dtype=float), right.to_numpy(dtype=float)])
    finite[right.index] = np.isfinite(both).all(axis=1)
    wrong = np.flatnonzero(frame.notna().all(axis=1) & ~finite)
    if len(wrong):
        record = ", ".join(f"{name}={value}" for name, value in frame.iloc[wrong[0]].items())
        raise ValueError(
            f"formula {formula!r} has no finite value where {record}. Use functions that have one "
            "for all categories, such as np.log(x + 1)."
        )


def _formulaic() -> Any:
    try:
        import formulaic
    except ImportError as error:
        raise ImportError(
            "formulas are read by formulaic, which is not installed: pip install skrldp[models]."
        ) from error
    return formulaic


def _frame(record: Record, names: Sequence[str]) -> tuple["pd.DataFrame", NDArray[np.intp]]:
    """Return the combinations, numbers as numbers and others as categories, and each cell's."""
    import pandas as pd

    groups = group_cells(record, names, "all")
    columns = {}
    for k, name in enumerate(names):
        found = [one[k] if len(names) > 1 else one for one in groups.categories]
        own = group_cells(record, [name], "all").categories
        in_order = [one for one in own if one is not None]
        if all(isinstance(one, Real) for one in in_order):
            numbers = np.array([np.nan if one is None else float(one) for one in found])
            whole = (numbers == np.rint(numbers)).all() and (np.abs(numbers) < _EXACT).all()
            columns[name] = pd.Series(numbers.astype(np.int64) if whole else numbers)
        else:
            columns[name] = pd.Series(pd.Categorical(found, in_order))
    return pd.DataFrame(columns), groups.labels


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
    known = True
    if len(names) == 1:
        values = [0.0, 1.0] if kind == "logit" else np.unique(numbers)
        if len(values) < 2:
            raise ValueError(f"formula {formula!r}: the response has one category.")
        known = bool(np.isin(numbers, values).all())
        names = names * 2 if kind == "logit" else tuple(f"{one:g}" for one in values)
        numbers = (numbers == values).astype(float)
    if kind == "logit" and not (len(names) == 2 and known):
        raise ValueError(
            f"formula {formula!r}: the response of a logistic model has two categories, or the "
            "numbers 0 and 1. Write a condition in braces, such as {y == 'a'} ~ x, or use mnlogit."
        )
    return numbers[:, 1:], names[1:]


def _category(name: Any) -> str:
    """Return the category in a column's name, such as 'y[T.no]'."""
    found = re.search(r"\[(?:T\.)?(.*)\]$", str(name))
    return found.group(1) if found else str(name)


def _plain(error: Exception) -> str:
    """Return an error's text without the marks of colours."""
    return re.sub(r"\x1b\[[0-9;]*m|⧛[^⧚]*⧚", "", str(error)).strip() or type(error).__name__
