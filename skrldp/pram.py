"""Matrices of the post-randomisation method (PRAM): mechanisms on U in the words of statistics.

Such a matrix has a row for each original category and a column for each released one, and rows sum
to 1, as in sdcMicro. A :class:`~skrldp.Mechanism` has them the other way round.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skrldp._arrays import real_numbers
from skrldp._params import check_choice
from skrldp.alphabet import brief, listed
from skrldp.mechanism import Mechanism

__all__ = ["from_matrix", "to_matrix"]

_SUM = 1e-6  # by which printed probabilities may miss a sum of 1
_ORIENTATIONS = ("rows", "columns")


def to_matrix(mechanism: Mechanism, secret: Any = None) -> Any:
    """Write a mechanism as a matrix of PRAM.

    Parameters
    ----------
    mechanism : Mechanism
        Its reports are values of U, as those of :class:`~skrldp.RobustMSESanitizer`.
    secret : object, optional
        The secret whose matrix is wanted, of a mechanism that sees S: there is one for each.

    Returns
    -------
    DataFrame of pandas, shape (a2, a2)
        Original categories in rows, released ones in columns, in the order of ``values``.

    Raises
    ------
    ValueError
        If a report is no value of U, or the mechanism sees S and `secret` is none of its secrets.

    Examples
    --------
    >>> from skrldp import RobustMSESanitizer, pram
    >>> X = [[s, u] for s in ("no", "yes") for u in ("low", "middle", "high")]
    >>> sanitizer = RobustMSESanitizer(1.0, observe="nonsensitive", invariant=True)
    >>> sanitizer = sanitizer.fit(X, sample_weight=[300, 200, 100, 150, 250, 500])
    >>> matrix = pram.to_matrix(sanitizer.mechanism_)
    >>> matrix.index.tolist() == matrix.columns.tolist() == list(sanitizer.mechanism_.values)
    True
    >>> bool((matrix.sum(axis=1) == 1.0).all())
    True
    """
    import pandas as pd

    a2 = len(mechanism.values)
    others = [symbol for symbol in mechanism.symbols if symbol not in mechanism.values]
    if others:
        raise ValueError(
            f"the report {brief(repr(others[0]))} is no value of U: a matrix of PRAM is of "
            "mechanisms whose reports are, such as those of RobustMSESanitizer."
        )
    if mechanism.observe == "nonsensitive":
        place = 0
    elif secret in mechanism.secrets:
        place = mechanism.secrets.index(secret)
    else:
        raise ValueError(
            f"the mechanism sees S, so that each secret has a matrix: give secret=, one of "
            f"{listed(mechanism.secrets)}, not {brief(repr(secret))}."
        )
    matrix = np.zeros((a2, a2))
    reported = [mechanism.values.index(symbol) for symbol in mechanism.symbols]
    matrix[:, reported] = mechanism.matrix[:, place * a2 : (place + 1) * a2].T
    names = pd.Index(mechanism.values, tupleize_cols=False)
    return pd.DataFrame(matrix, index=names, columns=names)


def from_matrix(
    matrix: Any,
    secrets: Sequence[Any],
    values: Sequence[Any] | None = None,
    *,
    orientation: str | None = None,
) -> Mechanism:
    """Read a matrix of PRAM as a mechanism that sees U alone.

    Parameters
    ----------
    matrix : DataFrame or array of shape (a2, a2)
        Probabilities. A frame's index and columns name the same categories, in any order.
    secrets : sequence of length a1
        The secrets that the proof is about; they do not matter for the reports.
    values : sequence of length a2, optional
        The categories, of an array.
    orientation : {"rows", "columns"}, optional
        Where the original categories are: these sum to 1. None: where they do; of a matrix of which
        both do, and that is not symmetric, it must be said.

    Returns
    -------
    Mechanism
        Rounded to what is sampled. :func:`~skrldp.certify` says what ε it has: PRAM promises none.

    Raises
    ------
    ValueError
        If it is no such matrix, the names do not fit, or the orientation is not clear.

    Examples
    --------
    >>> import pandas as pd
    >>> from skrldp import AllDistributions, JointDistribution, certify, pram
    >>> table = pd.DataFrame([[0.8, 0.2], [0.3, 0.7]], index=["a", "b"], columns=["a", "b"])
    >>> mechanism = pram.from_matrix(table, secrets=("no", "yes"))
    >>> joint = JointDistribution([[30, 70], [60, 40]], ("no", "yes"), ("a", "b"))
    >>> print(f"eps = {certify(mechanism, AllDistributions(), joint).eps:.3f}")
    eps = 1.253
    """
    if orientation is not None:
        check_choice("orientation", orientation, _ORIENTATIONS)
    if hasattr(matrix, "index") and hasattr(matrix, "columns"):
        rows, columns = list(matrix.index), list(matrix.columns)
        if values is not None:
            raise ValueError("a frame names its categories: leave out values=.")
        if len(set(rows)) < len(rows) or set(rows) != set(columns) or len(rows) != len(columns):
            apart = [name for name in {*rows, *columns} if rows.count(name) != columns.count(name)]
            raise ValueError(
                "index and columns must name the same categories, each once, but differ in or "
                f"repeat {listed(sorted(apart or rows, key=str))}."
            )
        matrix, values = matrix.to_numpy()[:, [columns.index(name) for name in rows]], rows
    if values is None:
        raise ValueError("an array does not name its categories: give values=.")
    table = real_numbers(matrix, "the matrix").astype(float)
    if table.shape != (len(values),) * 2:
        raise ValueError(
            f"the matrix must have a row and a column for each of {len(values)} categories, got "
            f"shape {table.shape}."
        )
    if not np.all(np.isfinite(table)) or table.min() < 0.0:
        raise ValueError("the matrix must hold probabilities, got negative or non-finite entries.")
    fits = {
        name: bool(np.abs(table.sum(axis=axis) - 1.0).max() <= _SUM)
        for name, axis in (("rows", 1), ("columns", 0))
    }
    if orientation is None and all(fits.values()) and not np.array_equal(table, table.T):
        raise ValueError(
            "rows and columns of the matrix sum to 1: say where the original categories are, by "
            "orientation='rows' or orientation='columns'."
        )
    found = orientation or max(fits, key=fits.__getitem__)
    if not fits[found]:
        raise ValueError(f"the {orientation or 'rows or columns'} of the matrix must sum to 1.")
    given = table.T if found == "rows" else table
    return Mechanism.from_matrix(
        given / given.sum(axis=0), secrets, values, values, observe="nonsensitive"
    )
