"""The leakage of a mechanism at given distributions, from its definition (ISIT (32))."""

import itertools

import numpy as np


def leak(matrix, distributions, n_reports=1):
    """Leakage at distributions (N, a1, a2): all ordered combinations of reports, one by one."""
    conditionals = distributions / distributions.sum(axis=2, keepdims=True)
    rows = np.reshape(matrix, (-1, *distributions.shape[1:]))
    worst = np.zeros(len(distributions))
    for chosen in itertools.product(range(len(rows)), repeat=n_reports):
        report = np.einsum("su,nsu->ns", np.prod(rows[list(chosen)], axis=0), conditionals)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(report.any(axis=1), report.max(axis=1) / report.min(axis=1), 1.0)
            worst = np.maximum(worst, np.log(ratio))
    return worst
