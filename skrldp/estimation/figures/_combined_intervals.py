"""Intervals of sums and quotients of figures, from the intervals of the figures.

They exist where there is no standard error (Zou and Donner 2008).
"""

import numpy as np

from skrldp._typing import Floats

__all__ = ["ends_of_quotients", "ends_of_sums", "quotients"]


def ends_of_sums(coefficients: Floats, values: Floats, ends: Floats, correlation: Floats) -> Floats:
    """Intervals of weighted sums from those of the figures and their correlations.

    Each side has the variance that the length of the intervals shows there. Figures whose
    correlation is not known may move so that the sum moves most.

    Shapes: `coefficients` (k,), `values` (k, m), `ends` (k, m, 2), `correlation` (k, k, m).
    """
    signs = np.sign(coefficients)
    both = signs[:, None, None] * signs[None, :, None]
    correlation = np.where(np.isnan(correlation), both, np.clip(correlation, -1.0, 1.0))
    found = np.empty((values.shape[1], 2))
    for side, sign in ((0, -1.0), (1, 1.0)):
        lower = np.abs(values - ends[..., 0])
        upper = np.abs(values - ends[..., 1])
        lengths = np.where((signs > 0)[:, None] == bool(side), upper, lower)
        moves = coefficients[:, None] * lengths
        square = np.einsum("im,jm,ijm->m", moves, moves, correlation)
        found[:, side] = coefficients @ values + sign * np.sqrt(np.maximum(square, 0.0))
    return found


def ends_of_quotients(values: Floats, ends: Floats, correlation: Floats) -> Floats:
    """Intervals of quotients, from those of two figures: of the difference of their logarithms.

    Shapes: `values` (2, m), `ends` (2, m, 2), `correlation` (m,).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs, log_ends = np.log(values), np.log(np.maximum(ends, 0.0))
        own = np.ones(len(correlation))
        between = np.array([[own, correlation], [correlation, own]])
        found = np.exp(ends_of_sums(np.array([1.0, -1.0]), logs, log_ends, between))
    none = [~np.isfinite(log_ends[0, :, 0]), ~np.isfinite(log_ends[1, :, 0])]
    found[none[0], 0], found[none[1], 1] = 0.0, np.inf
    return found


def quotients(first: Floats, second: Floats) -> Floats:
    """Divide positive figures; raise ValueError if one is not positive."""
    if not ((np.asarray(first) > 0).all() and (np.asarray(second) > 0).all()):
        raise ValueError("a ratio is of two positive figures; take the difference.")
    return np.asarray(first) / np.asarray(second)
