"""The repair of rows that are not quite private: mix in a little of the all-ones row.

If a row violates privacy by at most δ, adding δ/(exp(ε) − 1) to all its entries makes it private
(docs/proofs.md, the repair lemma), and so does any multiple of the result.
"""

import numpy as np

from skrldp._typing import Floats
from skrldp.row_privacy._region import MOST_EPS, Region

__all__ = ["constant_rows", "lift", "repair"]


# By how much more than needed rows are lifted, relatively: covers rounding. Twice as much costs
# utility of the same order.
_MARGIN = 1e-9


def _height(excess: Floats, eps: float) -> Floats:
    """Return what to add to rows, given upper bounds on their violations."""
    return excess * (1.0 + _MARGIN) / np.expm1(min(eps, MOST_EPS))


def lift(rows: Floats, excess: Floats, eps: float) -> Floats:
    """Lift rows of unit sum into the cone, given by how much each violates privacy at most.

    Parameters
    ----------
    rows : array of shape (b, a)
        Non-negative rows of unit sum.
    excess : array of shape (b,)
        Upper bounds on their violations.
    eps : float
        Privacy parameter, in nats.

    Returns
    -------
    array of shape (b, a)
        Private rows of unit sum.
    """
    lifted = rows + _height(excess, eps)[:, None]
    return lifted / lifted.sum(axis=1, keepdims=True)


def repair(
    matrix: Floats,
    region: Region,
    eps: float,
    slack: float = 0.0,
    stand_in: Floats | None = None,
) -> Floats:
    r"""Make any stochastic matrix private by mixing in a little of each report.

    If a row violates privacy by at most δ, adding :math:`\delta/(e^\epsilon - 1)` to all its
    entries makes it private; dividing by the new column sums keeps it so.

    Parameters
    ----------
    matrix : array of shape (b, cells of a row)
        Non-negative, with positive column sums.
    region : Region
        Conditionals that privacy must hold for.
    eps : float
        Privacy parameter, in nats.
    slack : float
        How far inside the privacy constraints to go, in probability.
    stand_in : array of shape (a2,), optional
        A distribution of U that reports about unknown values are made from; see
        :func:`skrldp.certificate.may_stand_in`. The
        region must be one where U alone is observed.

    Returns
    -------
    array of the same shape
        Columns sum to 1 up to rounding.
    """
    clean = np.clip(matrix, 0.0, None)
    clean = clean / clean.sum(axis=0)
    rows = clean.reshape(len(clean), *region.row_shape)
    compared = [(rows, rows)]
    if stand_in is not None:
        constant = constant_rows(rows, stand_in)
        compared += [(rows, constant), (constant, rows)]
    worst = np.zeros(len(rows))
    for first, second in compared:
        for part in region.parts(len(rows)):
            excess = region.worst(first[part], eps, against=second[part], above=-slack)
            np.maximum.at(worst[part], excess.row, excess.bound + slack)
    worst[~clean.any(axis=1)] = 0.0  # a report that is never sent tells nothing
    height = _height(worst, eps)
    return (clean + height[:, None]) / (1.0 + height.sum())


def constant_rows(rows: Floats, distribution: Floats) -> Floats:
    """Rows whose entries are all what a distribution of U makes of the first part of each row."""
    return np.broadcast_to((rows[:, 0] @ distribution)[:, None, None], rows.shape)
