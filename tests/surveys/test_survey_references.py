"""Covariances give the statistics of a real survey that other packages print.

Pearson's statistic of independence, corrected by Rao and Scott's second order, as R's ``svychisq``
and the package svy print it.
"""

import numpy as np
import pandas as pd
from scipy import stats

from skrldp import SurveyDesign
from skrldp.surveys.records import SurveyTotals


def dclus1():
    """183 schools in 15 of 757 districts of California, `apiclus1` of R's survey, without a weight.

    Of each district the schools that met no school-wide target, or met it, by types E, H and M.
    """
    counts = """
        0 0 2 10 0 1   3 0 0 31 0 0   0 0 1 2 1 0    1 0 2 9 0 1    1 0 0 12 0 3
        0 0 0 2 0 0    0 0 0 1 0 0    0 0 0 2 1 1    0 0 0 9 1 2    1 1 1 15 1 2
        1 1 0 3 3 1    0 0 0 8 1 2    5 0 0 25 3 4   0 0 1 1 0 0    0 1 1 2 0 0"""
    counts = np.array(counts.split(), dtype=int).reshape(15, 2, 3)
    district, wide, kind = np.repeat(np.indices((15, 2, 3)).reshape(3, -1), counts.ravel(), axis=1)
    return pd.DataFrame({"dnum": district, "sch.wide": wide, "stype": kind})


def corrected_pearson(table, design, rows, columns, drawn=0.0):
    """Pearson's statistic of independence of two columns, its mean effect, F, and F's numbers.

    `drawn` is the share of all clusters that were drawn, without replacement.
    """
    records = design.read(table.get)
    codes = [pd.factorize(table[name], sort=True) for name in (rows, columns)]
    a, b = (len(names) for _, names in codes)
    totals = SurveyTotals.of(records, codes[0][0] * b + codes[1][0], a * b)
    p, n = totals.totals / totals.totals.sum(), records.n_records
    apart = (np.eye(a * b) - p[:, None]) / totals.totals.sum()
    covariance = (1 - drawn) * apart @ totals.covariance @ apart.T
    expected = np.outer(p.reshape(a, b).sum(axis=1), p.reshape(a, b).sum(axis=0)).ravel()
    pearson = n * ((p - expected) ** 2 / expected).sum()
    of_row, of_column = np.repeat(np.eye(a), b, axis=0), np.tile(np.eye(b), (a, 1))
    main = np.hstack([of_row, of_column[:, 1:]])
    both = np.einsum("ij,ik->ijk", of_row[:, 1:], of_column[:, 1:]).reshape(a * b, -1)
    contrasts = both - main @ np.linalg.lstsq(main, both, rcond=None)[0]
    scaled = np.divide(contrasts, p[:, None], out=np.zeros_like(contrasts), where=p[:, None] > 0)
    effects = np.linalg.solve(contrasts.T @ scaled / n, scaled.T @ covariance @ scaled)
    trace = np.trace(effects)
    freedom = trace**2 / np.trace(effects @ effects)
    statistic, rest = pearson / trace, freedom * totals.degrees
    numbers = statistic, freedom, rest, stats.f.sf(statistic, freedom, rest)
    return pearson, trace / len(effects), numbers


def test_statistics_are_those_that_are_printed():
    """As R's svychisq prints them for apiclus1, of the second order and of the first."""
    design = SurveyDesign(clusters="dnum")
    pearson, effect, found = corrected_pearson(dclus1(), design, "sch.wide", "stype", 15 / 757)
    printed = [f"{found[0]:.4f}", f"{found[1]:.3f}", f"{found[2]:.3f}", f"{found[3]:.5f}"]
    assert printed == ["5.1934", "1.495", "20.925", "0.02175"]
    assert f"{pearson:.4f}" == "11.9409"
    assert f"{stats.chi2.sf(pearson / effect, 2):.6f}" == "0.005553"
