"""Entropy and mutual information, in nats, and the conditionals of a joint distribution.

A mechanism is a matrix ``Q`` of shape (b, a), ``Q[y, x] = P(Y=y | X=x)``; a distribution of X is a
vector ``distribution`` of shape (a,).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats

Blocks = tuple[float, float, float, float]  # same, same_secret, same_value, other


def _xlogx(x: Floats) -> Floats:
    return x * np.log(np.where(x > 0, x, 1.0))


def entropy(distribution: Floats) -> float:
    """Shannon entropy of a distribution, in nats.

    Shapes: `distribution` of any shape, with sum 1.

    Examples
    --------
    >>> import numpy as np
    >>> round(entropy(np.array([0.5, 0.5])), 4)
    0.6931
    """
    return float(-_xlogx(np.asarray(distribution, dtype=float)).sum())


def conditionals_of(distribution: NDArray[Any], unseen: float = 0.0) -> Floats:
    """Conditional distributions of U given each secret.

    Shapes: a distribution of (S, U), or counts, (a1, a2) to (a1, a2). `unseen` is the entry for
    secrets of probability 0, whose conditionals are not defined.

    Examples
    --------
    >>> import numpy as np
    >>> conditionals_of(np.array([[1, 3], [0, 0]]), unseen=0.5)
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    mass = distribution.sum(axis=1, keepdims=True)
    seen = mass > 0
    return np.where(seen, distribution / np.where(seen, mass, 1), unseen)


def row_information(rows: Floats, distribution: Floats) -> Floats:
    r"""Return what each row of a mechanism contributes to the mutual information.

    :math:`\mu(v) = \sum_x P_x v_x \log(v_x / P \cdot v)`, convex and homogeneous of degree 1
    (Entropy (45)).

    Shapes: `rows` (..., a), not negative, and `distribution` (a,) to (...), in nats.
    """
    rows = np.asarray(rows, dtype=float)
    mean = rows @ distribution
    return _xlogx(rows) @ distribution - _xlogx(mean)


def row_information_gradient(rows: Floats, distribution: Floats, floor: float = 1e-12) -> Floats:
    r"""Gradient of :func:`row_information`: :math:`P_x \log(v_x / P \cdot v)`.

    Ratios below `floor` are raised to it, so that a zero entry has a steep but finite slope.

    Shapes: `rows` (..., a), not negative, and `distribution` (a,) to (..., a).
    """
    mean = np.maximum(rows @ distribution, np.finfo(float).tiny)
    return distribution * np.log(np.maximum(rows / mean[..., None], floor))


def mutual_information(matrix: Floats, distribution: Floats) -> float:
    """Mutual information I(X; Y) between a record and its report.

    Shapes: `matrix` (b, a), columns summing to 1; `distribution` (a,). Returns float: in nats.

    Examples
    --------
    >>> import numpy as np
    >>> round(mutual_information(np.eye(2), np.array([0.5, 0.5])), 4)
    0.6931
    """
    return max(0.0, float(row_information(matrix, distribution).sum()))


def entropy_by_secret(distribution: NDArray[Any]) -> Floats:
    """Entropy H(U | S=s) of the values of each secret.

    Shapes: a distribution of (S, U), or counts, (a1, a2) to (a1,), in nats; NaN for a secret of
    probability 0.

    Examples
    --------
    >>> import numpy as np
    >>> entropy_by_secret(np.array([[1, 1], [3, 0], [0, 0]])).round(4)
    array([0.6931, 0.    ,    nan])
    """
    table = conditionals_of(distribution, unseen=np.nan)
    return 0.0 - _xlogx(table).sum(axis=1)  # and not -0.0


def information_by_secret(matrix: Floats, distribution: NDArray[Any]) -> Floats:
    r"""Return the report's information about U given each secret.

    :math:`I(U;Y|S=s) = \sum_u P(u|s) \sum_y Q(y|s,u) \log(Q(y|s,u) / P(y|s))`, where
    :math:`P(y|s) = \sum_u P(u|s) Q(y|s,u)`. It is at most H(U | S=s), see
    :func:`entropy_by_secret`. By the chain rule :math:`\sum_s P(s) I(U;Y|S=s) = I(X;Y) - I(S;Y)`.

    Shapes: `matrix` (b, a), columns summing to 1, cells in the order ``s * a2 + u``; `distribution`
    (a1, a2), or counts. Returns (a1,): in nats; 0 for a secret with a single value, NaN for one of
    probability 0. Raises ValueError if the shapes do not match.

    Examples
    --------
    >>> import numpy as np
    >>> information_by_secret(np.eye(4), np.array([[0.3, 0.3], [0.1, 0.3]])).round(4)
    array([0.6931, 0.5623])
    """
    matrix, distribution = np.asarray(matrix), np.asarray(distribution)
    if distribution.ndim != 2 or matrix.ndim != 2 or matrix.shape[1] != distribution.size:
        raise ValueError(
            f"a mechanism of shape {matrix.shape} does not fit a distribution of shape "
            f"{distribution.shape}: the mechanism needs a column for each cell."
        )
    table = conditionals_of(distribution, unseen=np.nan)
    blocks = np.split(matrix, len(table), axis=1)
    information = [row_information(block, p).sum() for block, p in zip(blocks, table, strict=True)]
    return np.maximum(information, 0.0)


def shares_of_entropy(information: Floats, distribution: NDArray[Any]) -> tuple[Floats, float]:
    """Divide :func:`information_by_secret` by its maximum, for each secret and overall.

    Shapes: `told` (a1,), I(U; Y | S=s) in nats; `distribution` (a1, a2), or counts. Returns
    `shares` (a1,), I(U; Y | S=s) / H(U | S=s), NaN for secrets with one value or none; `whole`,
    I(U; Y | S) / H(U | S), NaN if no secret has two values. All are at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> shares, whole = shares_of_entropy(np.log([2, 1, 1]), np.array([[2, 2], [1, 1], [1, 0]]))
    >>> shares, round(whole, 4)
    (array([ 1.,  0., nan]), 0.6667)
    """
    possible, mass = entropy_by_secret(distribution), distribution.sum(axis=1)
    positive = possible > 0
    shares = np.full(possible.shape, np.nan)
    np.divide(information, possible, out=shares, where=positive)
    if not positive.any():
        return shares, float("nan")
    share = float(mass[positive] @ information[positive]) / float(
        mass[positive] @ possible[positive]
    )
    return np.minimum(shares, 1.0), min(1.0, share)


def block_information(blocks: Blocks, distribution: Floats) -> float:
    """Mutual information of a block mechanism.

    Shapes: `distribution` (a1, a2). Returns float: in nats.
    """
    same, same_secret, same_value, different = blocks
    a1, a2 = distribution.shape
    report = (
        different
        + (same_secret - different) * distribution.sum(axis=1, keepdims=True)
        + (same_value - different) * distribution.sum(axis=0, keepdims=True)
        + (same - same_secret - same_value + different) * distribution
    )
    counts = np.array([1.0, a2 - 1.0, a1 - 1.0, (a1 - 1.0) * (a2 - 1.0)])
    noise = sum(n * entropy(np.array([p])) for n, p in zip(counts, blocks, strict=True))
    return max(0.0, entropy(np.maximum(report, 0.0)) - float(noise))


def block_information_by_secret(blocks: Blocks, distribution: NDArray[Any]) -> Floats:
    """:func:`information_by_secret` of a block mechanism, without its matrix.

    Shapes: `distribution` (a1, a2), or counts. Returns (a1,): in nats; NaN for a secret of
    probability 0.

    Examples
    --------
    >>> import numpy as np
    >>> identity = (1.0, 0.0, 0.0, 0.0)
    >>> block_information_by_secret(identity, np.array([[0.3, 0.3], [0.1, 0.3]])).round(4)
    array([0.6931, 0.5623])
    """
    same, same_secret, same_value, different = blocks
    table = conditionals_of(np.asarray(distribution), unseen=np.nan)

    def of_reports(alike: float, unlike: float) -> Floats:
        """Sum over a2 reports: all with the record's secret, or all with one different secret."""
        first, second = _xlogx(np.array([alike, unlike]))
        report = alike * table + unlike * (1.0 - table)
        return (first * table + second * (1.0 - table) - _xlogx(report)).sum(axis=1)

    information = of_reports(same, same_secret) + (len(table) - 1) * of_reports(
        same_value, different
    )
    return np.maximum(information, 0.0)
