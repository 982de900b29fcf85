"""Entropy and mutual information, in nats, and the conditionals of a joint distribution.

A mechanism is a matrix ``Q`` of shape (b, a), ``Q[y, x] = P(Y=y | X=x)``; a distribution of X is a
vector ``distribution`` of shape (a,).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats

__all__ = [
    "Blocks",
    "block_information",
    "conditionals_of",
    "entropy",
    "mutual_information",
    "mutual_information_bound",
    "product_information",
    "row_information",
    "row_information_gradient",
]

Blocks = tuple[float, float, float, float]  # same, same_secret, same_value, other


def _xlogx(x: Floats) -> Floats:
    return x * np.log(np.where(x > 0, x, 1.0))


def entropy(distribution: Floats) -> float:
    """Shannon entropy of a distribution, in nats.

    Parameters
    ----------
    distribution : array of any shape
        Probabilities, summing to 1.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> round(entropy(np.array([0.5, 0.5])), 4)
    0.6931
    """
    return float(-_xlogx(np.asarray(distribution, dtype=float)).sum())


def conditionals_of(distribution: NDArray[Any], unseen: float = 0.0) -> Floats:
    """Conditional distributions of U given each secret.

    Parameters
    ----------
    distribution : array of shape (a1, a2)
        Joint distribution of (S, U), or counts of records.
    unseen : float
        Entry for secrets of probability 0, whose conditional distribution is not defined.

    Returns
    -------
    array of shape (a1, a2)

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

    Parameters
    ----------
    rows : array of shape (..., a)
        Non-negative rows.
    distribution : array of shape (a,)
        Distribution of X.

    Returns
    -------
    array of shape (...)
        In nats.
    """
    rows = np.asarray(rows, dtype=float)
    mean = rows @ distribution
    return _xlogx(rows) @ distribution - _xlogx(mean)


def row_information_gradient(rows: Floats, distribution: Floats, floor: float = 1e-12) -> Floats:
    r"""Gradient of :func:`row_information`: :math:`P_x \log(v_x / P \cdot v)`.

    Parameters
    ----------
    rows : array of shape (..., a)
        Non-negative rows.
    distribution : array of shape (a,)
        Distribution of X.
    floor : float
        Ratios below it are raised to it, so that a zero entry has a steep but finite slope.

    Returns
    -------
    array of shape (..., a)
    """
    mean = np.maximum(rows @ distribution, np.finfo(float).tiny)
    return distribution * np.log(np.maximum(rows / mean[..., None], floor))


def mutual_information(matrix: Floats, distribution: Floats) -> float:
    """Mutual information I(X; Y) between a record and its report.

    Parameters
    ----------
    matrix : array of shape (b, a)
        Mechanism, columns summing to 1.
    distribution : array of shape (a,)
        Distribution of X.

    Returns
    -------
    float
        In nats.

    Examples
    --------
    >>> import numpy as np
    >>> round(mutual_information(np.eye(2), np.array([0.5, 0.5])), 4)
    0.6931
    """
    return max(0.0, float(row_information(matrix, distribution).sum()))


def mutual_information_bound(joint: Floats, eps: float, marginal: Floats | None = None) -> float:
    r"""Upper bound on I(X; Y) for every mechanism that is private at the distribution ``joint``.

    :math:`H(U|S) + \min(H(S), (1-\sum_s P_s^2)\,\epsilon\tanh(\epsilon/2))`: the report reveals
    about U at most its entropy given S, and about S at most what the bound on the odds ratio
    allows.

    Parameters
    ----------
    joint : array of shape (a1, a2)
        Distribution of (S, U).
    eps : float
        Privacy parameter, in nats.
    marginal : array of shape (n_secrets,), optional
        Distribution of what is protected, if that is not S but another function of X.

    Returns
    -------
    float
        In nats.
    """
    marginal = joint.sum(axis=1) if marginal is None else marginal
    secret = entropy(marginal)
    odds = (1.0 - float(marginal @ marginal)) * eps * np.tanh(eps / 2.0)
    return entropy(joint) - secret + min(secret, float(odds))


def block_information(blocks: Blocks, distribution: Floats) -> float:
    """Mutual information of a block mechanism.

    Parameters
    ----------
    blocks : Blocks
        The four probabilities.
    distribution : array of shape (a1, a2)
        Distribution of (S, U).

    Returns
    -------
    float
        In nats.
    """
    same, same_secret, same_value, other = blocks
    a1, a2 = distribution.shape
    report = (
        other
        + (same_secret - other) * distribution.sum(axis=1, keepdims=True)
        + (same_value - other) * distribution.sum(axis=0, keepdims=True)
        + (same - same_secret - same_value + other) * distribution
    )
    counts = np.array([1.0, a2 - 1.0, a1 - 1.0, (a1 - 1.0) * (a2 - 1.0)])
    noise = sum(n * entropy(np.array([p])) for n, p in zip(counts, blocks, strict=True))
    return max(0.0, entropy(np.maximum(report, 0.0)) - float(noise))


def product_information(first: Floats, second: Floats, distribution: Floats) -> float:
    """Mutual information of two independent reports, one of S and one of U.

    Parameters
    ----------
    first : array of shape (b1, a1)
        Mechanism for S, columns summing to 1.
    second : array of shape (b2, a2)
        Mechanism for U.
    distribution : array of shape (a1, a2)
        Distribution of (S, U).

    Returns
    -------
    float
        In nats; equal to that of the mechanism ``numpy.kron(first, second)``.

    Examples
    --------
    >>> import numpy as np
    >>> round(product_information(np.eye(2), np.eye(2), np.full((2, 2), 0.25)), 4)
    1.3863
    """
    noise = _xlogx(first).sum(axis=0) @ distribution.sum(axis=1)
    noise += _xlogx(second).sum(axis=0) @ distribution.sum(axis=0)
    return max(0.0, entropy(first @ distribution @ second.T) + float(noise))
