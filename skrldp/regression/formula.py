"""A formula's design matrix for the combinations of categories in the estimated records."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skrldp._frames import own_index
from skrldp._typing import Floats
from skrldp.alphabet.categories import Column, listed, numbered
from skrldp.alphabet.combinations import group_cells
from skrldp.alphabet.numbers import Bins, Knots
from skrldp.alphabet.values import brief
from skrldp.estimation.blocks import estimated_cells
from skrldp.estimation.shares_and_means import Cells
from skrldp.regression.expressions import FormulaError, Terms, coded_columns, column_of, read_terms
from skrldp.table.read import read_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Regression:
    """A formula's matrices, with a row for each combination of categories.

    Attributes
    ----------
    formula : str
    terms : Terms
    cells : Cells
    frequencies : array of shape (a,)
        The estimated distribution of the cells.
    levels : dict
        The categories of each column, missing values excluded.
    bins : dict
        The bins of the columns that have bins.
    values : dict of arrays of shape (g,)
        The combinations without missing values, by column.
    rows : array of shape (a,)
        The combination of each cell; g for cells with a missing value.
    outcomes : array of shape (g, j)
    responses : tuple of length j
        The category or number of each outcome.
    regressors : array of shape (g, p)
    names : tuple of length p
        Names of the regressors.
    spec : formulaic.ModelSpec
        Specification that computes the regressors of other records.
    """

    formula: str
    terms: Terms
    cells: Cells
    frequencies: Floats
    levels: Mapping[str, Column]
    bins: Mapping[str, Bins]
    values: Mapping[str, NDArray[Any]]
    rows: NDArray[np.intp]
    outcomes: Floats
    responses: tuple[str, ...]
    regressors: Floats
    names: tuple[str, ...]
    spec: Any

    @property
    def coefficients(self) -> list[str]:
        """Names of the coefficients, grouped by response."""
        if len(self.responses) == 1:
            return list(self.names)
        return [f"{response}:{name}" for response in self.responses for name in self.names]

    def shares(self, frequencies: Floats) -> Floats:
        """Return the shares of the combinations, (g,), in records with frequencies (a,)."""
        sums = np.bincount(self.rows, frequencies, len(self.outcomes) + 1)
        return sums[:-1].astype(np.float64)

    def on_cells(self, functions: Floats) -> Floats:
        """Convert functions of the combinations, (m, g), to functions of the cells, (m, a)."""
        return np.pad(functions, ((0, 0), (0, 1)))[:, self.rows]

    def regressors_of(self, exog: Any) -> tuple[Floats, Any]:
        """Return records' regressors, (n, p), NaN if a value is missing, and the frame's index."""
        factors = {factor.expr for term in self.spec.formula for factor in term.factors}
        used = sorted(factors.intersection(self.terms.calls))
        columns = self.terms.columns(used)
        table = read_table(exog)
        lacking = [name for name in columns if name not in table.names]
        if lacking:
            raise ValueError(
                f"exog must be a data frame with the columns {columns}; it lacks {lacking}."
            )
        coded = coded_columns(used, self.terms, self.levels)
        is_missing = np.zeros(table.n_rows, dtype=bool)
        values = {}
        for name in columns:
            positions, distinct = table.factorize(table.names.index(name), slice(None))
            values[name] = np.array([*distinct, None], object)[positions]
            is_missing |= np.array([value is None for value in values[name]])
        for name in columns:
            values[name] = values[name][~is_missing]
            if name in self.bins and not any(isinstance(value, str) for value in values[name]):
                binned = replace(self.levels[name], numbers=self.bins[name])
                codes = binned.codes(list(values[name]))
                values[name] = np.array(binned.categories, object)[codes]
                is_strange, expected = codes < 0, f"outside of {self.bins[name].range}"
            elif name in coded:
                is_strange = self.levels[name].codes(values[name]) < 0
                expected = f"not one of [{listed(self.levels[name].categories)}]"
            else:
                is_strange = ~np.array(
                    [isinstance(value, Real | Decimal) for value in values[name]], bool
                )
                expected = "not a number"
            if is_strange.any():
                rows = numbered(np.flatnonzero(~is_missing)[is_strange])
                raise ValueError(f"exog: column {name!r} has in {rows} a value that is {expected}.")
        regressors = np.full((table.n_rows, len(self.names)), np.nan)
        frame = _frame(used, self.terms, values, self.levels)
        regressors[~is_missing] = self.spec.get_model_matrix(frame, context={})
        return regressors, own_index(exog.index) if table.library == "pandas" else None


def read_formula(formula: Any, estimator: Any, kind: str) -> Regression:
    """Make the matrices of a formula from the categories of an estimator's columns.

    Raises TypeError or ValueError if the formula cannot be read, if it has unknown columns, or if
    its left side is not a response of the family.
    """
    formulaic = _formulaic()
    if not isinstance(formula, str):
        raise TypeError(f"formula must be a string such as 'y ~ x', got {type(formula).__name__}.")
    with _refused(formula, "cannot be read"):
        terms = read_terms(formula)
        parsed = formulaic.Formula(terms.formula)
    if not (hasattr(parsed, "lhs") and hasattr(parsed, "rhs")):
        raise ValueError(f"formula {formula!r} has no response: write it as 'y ~ x'.")
    if isinstance(parsed.lhs, tuple) or isinstance(parsed.rhs, tuple) or len(parsed.lhs) > 1:
        raise ValueError(
            f"formula {formula!r} has several responses or right-hand sides: split it."
        )
    if not terms.calls:
        raise ValueError(f"formula {formula!r} names no column.")
    columns = terms.columns(terms.calls)
    cells, frequencies = estimated_cells(estimator, columns)
    numbers = getattr(cells.record, "numbers_by_name", {})
    _refuse_knots(parsed, terms, numbers, kind)
    levels, values, rows = _combinations(cells, columns)
    with _refused(formula, "cannot be computed"), np.errstate(all="ignore"):
        frame = _frame(terms.calls, terms, values, levels)
        left, right = formulaic.model_matrix(parsed, frame, na_action="ignore", context={})
    regressors = right.to_numpy(dtype=float)
    matrices = np.hstack([left.to_numpy(dtype=float), regressors])
    wrong = np.flatnonzero(~np.isfinite(matrices).all(axis=1))
    if len(wrong):
        record = ", ".join(f"{name}={column[wrong[0]]}" for name, column in values.items())
        raise ValueError(
            f"formula {formula!r} has no finite value where {record}. Use functions that have one "
            "for all categories, such as log(x + 1)."
        )
    outcomes, responses = _outcomes(left, formula, kind)
    if not right.shape[1]:
        raise ValueError(f"formula {formula!r} has no regressor.")
    names = tuple(map(str, right.columns))
    bins = {name: cut for name, cut in numbers.items() if isinstance(cut, Bins)}
    shared = formula, terms, cells, frequencies, levels, bins, values, rows
    return Regression(*shared, outcomes, responses, regressors, names, right.model_spec)


@contextmanager
def _refused(formula: str, problem: str) -> Iterator[None]:
    """State in one line why a formula is rejected."""
    errors = (_formulaic().errors.FormulaicError, TypeError, ValueError, NameError, AttributeError)
    try:
        yield
    except FormulaError as error:
        raise ValueError(f"formula {brief(formula)!r} {problem}: {error}.") from None
    except (*errors, RecursionError, OverflowError) as error:
        plain = re.sub(r"\x1b\[[0-9;]*m|⧛[^⧚]*⧚", "", str(error)).strip() or type(error).__name__
        why = re.split(r"\n|(?<=\.) ", plain)[0].rstrip(".")
        raise ValueError(
            f"formula {brief(formula)!r} {problem}: {why}. Write it as 'y ~ x + C(z)', with other "
            "names between backticks: `my column`."
        ) from error


def _refuse_knots(
    parsed: Any, terms: Terms, numbers: Mapping[Any, Bins | Knots], kind: str
) -> None:
    """Reject columns with knots, except as the response of a linear regression."""
    for side in (parsed.lhs, parsed.rhs):
        names = {factor.expr for term in side for factor in term.factors} & {*terms.calls}
        for name in sorted(names):
            is_response = side is parsed.lhs and kind == "ols" and name in numbers
            for column in terms.columns([name]):
                if isinstance(numbers.get(column), Knots) and not is_response:
                    raise ValueError(
                        f"column {column!r} has Knots: rounding flattens slopes and biases "
                        "functions of the column, so it can only be the response of ols. "
                        "Design with Bins."
                    )


def _formulaic() -> Any:
    try:
        import formulaic
    except ImportError as error:
        raise ImportError(
            "formulas are read by formulaic, which is not installed: pip install skrldp[models]."
        ) from error
    return formulaic


def _combinations(
    cells: Cells, names: Sequence[str]
) -> tuple[dict[str, Column], dict[str, NDArray[Any]], NDArray[np.intp]]:
    """Return categories and combinations without missing values, and each cell's combination."""
    record = cells.record
    groups = group_cells(record, names, "all")
    rows = [row if len(names) > 1 else (row,) for row in groups.categories]
    is_whole = np.array([None not in row for row in rows])
    complete = np.array([row for row in rows if None not in row], object).reshape(-1, len(names))
    levels = {}
    for name in names:
        categories = group_cells(record, [name], "all").categories
        levels[name] = Column(name, tuple(level for level in categories if level is not None))
    indices = np.where(is_whole, np.cumsum(is_whole) - 1, len(complete))
    return levels, dict(zip(names, complete.T, strict=True)), indices[groups.labels]


def _frame(
    names: Collection[str],
    terms: Terms,
    values: Mapping[str, NDArray[Any]],
    levels: Mapping[str, Column],
) -> "pd.DataFrame":
    """Evaluate columns and calls of a formula."""
    import pandas as pd

    return pd.DataFrame({name: column_of(name, terms, values, levels) for name in names})


def _outcomes(left: "pd.DataFrame", formula: str, kind: str) -> tuple[Floats, tuple[str, ...]]:
    """Return the outcomes (g, j) of a family, with their names."""
    numbers, names = left.to_numpy(dtype=float), tuple(map(_category, left.columns))
    if kind in ("ols", "poisson"):
        if len(names) > 1:
            raise ValueError(
                f"formula {formula!r}: the response has categories, {list(left.columns)}, and no "
                "numbers. logit and mnlogit are models of categories. Write numbers that are "
                "strings as float(y) ~ x."
            )
        if kind == "poisson" and (numbers < 0).any():
            raise ValueError(f"formula {formula!r}: a Poisson response must not be negative.")
        return numbers, names
    if len(names) == 1:
        values = np.array([0.0, 1.0]) if kind == "logit" else np.unique(numbers)
        numbers, names = (numbers == values).astype(float), tuple(f"{value:g}" for value in values)
    if kind == "logit" and not (len(names) == 2 and numbers.any(axis=1).all()):
        raise ValueError(
            f"formula {formula!r}: the response of a logistic model has two categories, or the "
            "numbers 0 and 1. Write a condition, such as I(y == 'a') ~ x, or use mnlogit."
        )
    return numbers[:, 1:], names[1:]


def _category(name: Any) -> str:
    """Return the category in a column's name, such as 'y[T.no]'."""
    match = re.search(r"\[(?:T\.)?(.*)\]$", str(name))
    return match.group(1) if match else str(name)
