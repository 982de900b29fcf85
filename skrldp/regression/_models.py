"""Regressions of a column of the records on others, from reports."""

import warnings
from typing import Any

import numpy as np

from skrldp._typing import Booleans, Floats
from skrldp.regression._families import FAMILIES, Family
from skrldp.regression._formula import Regression, read_formula
from skrldp.regression._results import RegressionResults
from skrldp.regression._solve import check_collinear, check_separated, solve

__all__ = ["logit", "mnlogit", "ols", "poisson"]

_NO_RECORD = 1e-9  # probability below which the estimate has no such record


def logit(formula: str, estimator: Any) -> RegressionResults:
    r"""Logistic regression of a column of the records on others.

    Parameters
    ----------
    formula : str
        As statsmodels takes it, with names of columns: ``"income ~ age + C(education)"``. The
        response has two categories, of which the model gives the probability of the second, or it
        is a condition in braces: ``{income == ">50K"} ~ age``.
    estimator : FrequencyEstimator or BlockEstimator
        Fitted to the reports.

    Returns
    -------
    RegressionResults

    Raises
    ------
    TypeError
        If the formula is no text or the estimator of another kind.
    ValueError
        If the formula has unknown columns or another response, regressors are collinear, or
        coefficients are infinite (separation).
    ImportError
        If formulaic is not installed.

    Warns
    -----
    UserWarning
        If the reports do not determine some coefficients.

    Notes
    -----
    With π the estimated distribution of the records and ψ the score of one record, the coefficients
    solve :math:`\sum_x \pi_x \psi(x, \theta) = 0`. Their covariance is the sandwich
    :math:`A^{-1} \Psi \operatorname{Cov}(\hat\pi) \Psi^T A^{-T}`, with the scores of all cells in Ψ
    and :math:`A = \sum_x \pi_x \partial \psi / \partial \theta`: no model has to be true, and the
    noise of the reports is in it. Records with a missing value in one of the columns are left out.

    A model that is fitted to reports as if they were records, or to the most probable record of
    each report, finds the prior's relation and not that of the records.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skrldp import FrequencyEstimator, GRRSanitizer
    >>> from skrldp.regression import logit
    >>> rng = np.random.default_rng(0)
    >>> age = rng.integers(2, 7, 40_000) * 10
    >>> ill = rng.random(40_000) < 1 / (1 + np.exp(4 - 0.07 * age))
    >>> people = pd.DataFrame({"ill": np.where(ill, "yes", "no"), "age": age})
    >>> sanitizer = GRRSanitizer(eps=2.0, sensitive="ill", random_state=0).fit(people)
    >>> reports = sanitizer.transform(people)
    >>> logit("ill ~ age", FrequencyEstimator(sanitizer).fit(reports)).params.round(2).tolist()
    [-4.12, 0.07]
    """
    return _fitted("logit", formula, estimator)


def mnlogit(formula: str, estimator: Any) -> RegressionResults:
    """Multinomial logistic regression: a predictor for each category but the first.

    Parameters
    ----------
    formula : str
        As for :func:`logit`; the response has two categories or more.
    estimator : FrequencyEstimator or BlockEstimator
        Fitted to the reports.

    Returns
    -------
    RegressionResults

    Raises
    ------
    TypeError, ValueError, ImportError
        As by :func:`logit`.

    Warns
    -----
    UserWarning
        If the reports do not determine some coefficients.

    Examples
    --------
    >>> import pandas as pd
    >>> from skrldp import FrequencyEstimator, SRRSanitizer
    >>> from skrldp.regression import mnlogit
    >>> X = pd.DataFrame({"ill": ["no", "no", "yes", "yes"], "visits": [0, 2, 0, 2]})
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive="ill").fit(X, sample_weight=[40, 20, 10, 30])
    >>> reports = sanitizer.mechanism_.matrix @ [4000, 2000, 1000, 3000]
    >>> estimator = FrequencyEstimator(sanitizer).fit(range(4), sample_weight=reports.round())
    >>> mnlogit("ill ~ visits", estimator).params.round(2).tolist()
    [-1.39, 0.9]
    """
    return _fitted("mnlogit", formula, estimator)


def ols(formula: str, estimator: Any) -> RegressionResults:
    """Linear regression, by least squares over the estimated records.

    Parameters
    ----------
    formula : str
        As for :func:`logit`; the response is a number.
    estimator : FrequencyEstimator or BlockEstimator
        Fitted to the reports.

    Returns
    -------
    RegressionResults

    Raises
    ------
    TypeError, ValueError, ImportError
        As by :func:`logit`.

    Warns
    -----
    UserWarning
        If the reports do not determine some coefficients.

    Examples
    --------
    >>> import pandas as pd
    >>> from skrldp import FrequencyEstimator, SRRSanitizer
    >>> from skrldp.regression import ols
    >>> X = pd.DataFrame({"ill": ["no", "no", "yes", "yes"], "visits": [0, 2, 0, 2]})
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive="ill").fit(X, sample_weight=[40, 20, 10, 30])
    >>> reports = sanitizer.mechanism_.matrix @ [4000, 2000, 1000, 3000]
    >>> estimator = FrequencyEstimator(sanitizer).fit(range(4), sample_weight=reports.round())
    >>> ols("visits ~ ill", estimator).params.round(2).tolist()
    [0.67, 0.83]
    """
    return _fitted("ols", formula, estimator)


def poisson(formula: str, estimator: Any) -> RegressionResults:
    """Poisson regression: the logarithm of the mean is a linear function.

    Parameters
    ----------
    formula : str
        As for :func:`logit`; the response is a number, at least 0.
    estimator : FrequencyEstimator or BlockEstimator
        Fitted to the reports.

    Returns
    -------
    RegressionResults

    Raises
    ------
    TypeError, ValueError, ImportError
        As by :func:`logit`.

    Warns
    -----
    UserWarning
        If the reports do not determine some coefficients.

    Examples
    --------
    >>> import pandas as pd
    >>> from skrldp import FrequencyEstimator, SRRSanitizer
    >>> from skrldp.regression import poisson
    >>> X = pd.DataFrame({"ill": ["no", "no", "yes", "yes"], "visits": [0, 2, 0, 2]})
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive="ill").fit(X, sample_weight=[40, 20, 10, 30])
    >>> reports = sanitizer.mechanism_.matrix @ [4000, 2000, 1000, 3000]
    >>> estimator = FrequencyEstimator(sanitizer).fit(range(4), sample_weight=reports.round())
    >>> poisson("visits ~ ill", estimator).params.round(2).tolist()
    [-0.41, 0.81]
    """
    return _fitted("poisson", formula, estimator)


def _fitted(kind: str, formula: str, estimator: Any) -> RegressionResults:
    family = FAMILIES[kind]
    regression = read_formula(formula, estimator, family, kind)
    weights, names = regression.weights(), regression.names
    of_coefficients = [
        (name,) if len(regression.responses) == 1 else (response, name)
        for response in regression.responses
        for name in names
    ]
    seen = weights > _NO_RECORD
    regressors, outcomes = regression.regressors[seen], regression.outcomes[seen]
    if (outcomes == outcomes[0]).all():
        raise ValueError(
            f"formula {formula!r}: the response is the same in all records that the reports let "
            "expect, so there is nothing to explain."
        )
    if set(names).intersection(regression.responses):
        raise ValueError(f"formula {formula!r}: the response stands on the right side too.")
    check_collinear(regressors, weights[seen], names)
    if kind != "ols":
        check_separated(regressors, outcomes, family, of_coefficients)
    coefficients, influence = _solution(regression, family, weights)
    functions = influence / regression.share()
    covariance, known = regression.cells.covariance(functions)
    determined = known & _determined(regression, family, functions.shape[1])
    covariance[~determined, :] = covariance[:, ~determined] = np.nan
    if not determined.all():
        missing = [":".join(of_coefficients[k]) for k in np.flatnonzero(~determined)]
        warnings.warn(
            f"the reports do not determine the coefficients of {', '.join(map(repr, missing))}: "
            "they are NaN. More reports do not help; a mechanism with more symbols, or a model "
            "with fewer columns, does.",
            UserWarning,
            stacklevel=3,
        )
    return RegressionResults(family, regression, coefficients.T, covariance)


def _solution(regression: Regression, family: Family, weights: Floats) -> tuple[Floats, Floats]:
    """Coefficients (p, j), and their derivatives by the frequencies of cells, (j * p, a).

    Shapes: weights (g,). The derivatives are those of complete records alone.
    """
    seen = weights > _NO_RECORD
    regressors, outcomes = regression.regressors, regression.outcomes
    coefficients, inverse = solve(regressors[seen], outcomes[seen], weights[seen], family)
    residuals = outcomes - family.mean(regressors @ coefficients)
    scores = np.einsum("gj,gp->jpg", residuals, regressors)
    return coefficients, regression.on_cells(inverse @ scores.reshape(-1, len(weights)))


def _determined(regression: Regression, family: Family, n_cells: int) -> Booleans:
    """Whether the reports determine the coefficients at a random distribution, (m,).

    A derivative may be determined at one distribution by accident, such as at an estimate that
    takes S and U for independent as nothing denies it. At random ones that has probability 0.
    """
    anywhere = np.random.default_rng(0).exponential(size=n_cells)
    there = _solution(regression, family, regression.weights(anywhere))[1]
    return regression.cells.covariance(there)[1]
