"""Regressions of one column of the records on others, from reports."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.special import softmax
from scipy.stats import norm

from skrldp._arrays import ReadOnly, real_numbers
from skrldp._pages import printable
from skrldp._params import in_digits, is_finite
from skrldp._typing import Floats
from skrldp.alphabet.categories import listed
from skrldp.estimation.hypotheses import HypothesisTest
from skrldp.regression.formula import Regression, read_formula

if TYPE_CHECKING:
    import pandas as pd

# -- families -------------------------------------------------------------------------------------


class Family(NamedTuple):
    """The mean of a response as a function of linear predictors.

    Attributes
    ----------
    name : str
    mean : callable
        (g, j) to (g, j).
    variance : callable
        Derivatives of the means with respect to the predictors, (g, j) to (g, j, j).
    """

    name: str
    mean: Callable[[Floats], Floats]
    variance: Callable[[Floats], Floats]


def _probabilities(predictors: Floats) -> Floats:
    """Return the probabilities of all categories except the first, whose predictor is 0."""
    return softmax(np.pad(predictors, ((0, 0), (1, 0))), axis=1)[:, 1:]


def _variances(predictors: Floats) -> Floats:
    mean = _probabilities(predictors)
    return mean[:, :, None] * (np.eye(mean.shape[1]) - mean[:, None, :])


FAMILIES = {
    "ols": Family("linear", lambda eta: eta, lambda eta: np.ones((*eta.shape, 1))),
    "poisson": Family("Poisson", np.exp, lambda eta: np.exp(eta)[:, :, None]),
    "logit": Family("logistic", _probabilities, _variances),
    "mnlogit": Family("multinomial logistic", _probabilities, _variances),
}


# -- coefficients ---------------------------------------------------------------------------------

_STEPS, _HALVINGS = 100, 40
_DONE = 1e-22  # tolerance for the squared length of a Newton step, in the metric of the information
# Diverging coefficients take steps of 1, for regressors of at most 1, with decreasing gains. At
# this gain, the steps of other coefficients are below 0.01.
_ENDLESS, _NO_GAIN = 0.1, 1e-13
_DEPENDENT = 1e-9  # relative to the largest diagonal entry of R


def solve(
    regressors: Floats, outcomes: Floats, weights: Floats, family: Family, names: Sequence[str]
) -> tuple[Floats, Floats]:
    """Solve ``sum_i w_i x_i (y_i - mean(x_i' b)) = 0`` by Newton's method with halved steps.

    Shapes: regressors (g, p), outcomes (g, j), weights (g,) with sum 1. Returns the coefficients
    (p, j), and the inverse of minus the derivative of the score, (j * p, j * p), grouped by
    predictor in the order of `names`. Raises a ValueError that names the coefficients that diverge
    because the data are separated.
    """
    scale = np.abs(regressors).max(axis=0)
    scaled, n_outcomes = regressors / scale, outcomes.shape[1]

    def score_of(coefficients: Floats) -> Floats:
        residuals = weights[:, None] * (outcomes - family.mean(scaled @ coefficients))
        return np.asarray(scaled.T @ residuals).T.ravel()

    solution = np.zeros((scaled.shape[1], n_outcomes))
    for _ in range(_STEPS):
        score, variance = score_of(solution), family.variance(scaled @ solution)
        information = _information(scaled, weights, variance)
        step = np.linalg.solve(information, score)
        gain, move = step @ score, step.reshape(n_outcomes, -1).T
        endless = np.abs(step) > _ENDLESS
        if gain <= (_NO_GAIN if endless.any() else _DONE):
            break
        with np.errstate(over="ignore", invalid="ignore"):
            sizes = (0.5**halving for halving in range(_HALVINGS))
            # the likelihood is concave, so that its slope decreases along the step; at most to
            # minus itself
            by = next((t for t in sizes if step @ score_of(solution + t * move) >= -gain), 0.0)
        solution = solution + by * move
    if endless.any():
        raise ValueError(
            "separation: the estimated records are fitted best by infinite coefficients of "
            f"{_listed(np.array(names)[endless])}. Omit them, or merge categories with few records."
        )
    scales = np.tile(scale, n_outcomes)
    return solution / scale[:, None], np.linalg.inv(information) / np.outer(scales, scales)


def _information(regressors: Floats, weights: Floats, variance: Floats) -> Floats:
    weighted = weights[:, None, None] * variance
    blocks = np.einsum("gi,gjk,gl->jikl", regressors, weighted, regressors, optimize=True)
    size = regressors.shape[1] * variance.shape[1]
    return np.asarray(blocks).reshape(size, size)


def _check_collinear(regressors: Floats, weights: Floats, names: Sequence[str]) -> None:
    """Raise a ValueError that names collinear columns.

    Shapes: regressors (g, p), weights (g,) positive.
    """
    largest = np.abs(regressors).max(axis=0)
    scaled = regressors / np.where(largest > 0, largest, 1.0)
    diagonal, order = qr(np.sqrt(weights)[:, None] * scaled, mode="r", pivoting=True)
    size = np.zeros(len(names))
    known = np.abs(np.diag(diagonal))
    size[: len(known)] = known
    dependent = sorted(order[size <= _DEPENDENT * size.max()])
    if dependent:
        raise ValueError(
            f"the columns are collinear: {_listed([names[k] for k in dependent])} follows from the "
            "others, or is 0 in every record that the reports suggest. Omit it, or merge its "
            "category with a different one."
        )


def _listed(names: Iterable[str]) -> str:
    return listed([str(name) for name in names])


# -- results --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class RegressionResults(ReadOnly):
    """Estimated coefficients of a regression, with errors that include the noise of the reports.

    Attributes
    ----------
    formula : str
        The formula.
    nobs : int
        Number of reports.
    params : pandas.Series
        The coefficients; NaN if the reports do not determine them. For multinomial models, the
        index has two levels, the category and the regressor.
    bse : pandas.Series
        Standard errors.
    tvalues : pandas.Series
        Coefficients divided by standard errors; approximately normal if there are many reports.
    pvalues : pandas.Series
        Probability of an estimate at least as far from 0, if the true coefficient is 0.

    See Also
    --------
    skrldp.regression.logit : An example.
    """

    formula: str
    nobs: int
    params: "pd.Series"
    _family: Family
    _regression: Regression
    _values: Floats  # (p, j)
    _covariance: "pd.DataFrame"  # NaN if not determined

    @property
    def bse(self) -> "pd.Series":
        """Standard errors of the coefficients."""
        return self._like(np.sqrt(np.diag(self._covariance)))

    @property
    def tvalues(self) -> "pd.Series":
        """Coefficients divided by standard errors."""
        return self.params / self.bse

    @property
    def pvalues(self) -> "pd.Series":
        """Two-sided p-values."""
        return self._like(2.0 * norm.sf(np.abs(self.tvalues)))

    def conf_int(self, alpha: float = 0.05) -> "pd.DataFrame":
        """Confidence intervals of the coefficients.

        Parameters
        ----------
        alpha : float, default=0.05
            One minus the confidence level.

        Returns
        -------
        pandas.DataFrame
            Columns 0 and 1 contain the lower and upper ends.
        """
        import pandas as pd

        if not (is_finite(alpha) and 0.0 < alpha < 1.0):
            raise ValueError(f"alpha={alpha!r} must be between 0 and 1.")
        width = norm.ppf(1.0 - alpha / 2.0) * self.bse
        return pd.DataFrame({0: self.params - width, 1: self.params + width})

    def cov_params(self) -> "pd.DataFrame":
        """Covariance matrix of the coefficients.

        Returns
        -------
        pandas.DataFrame
        """
        return self._covariance.copy()

    def summary(self, alpha: float = 0.05) -> "pd.DataFrame":
        """Table of coefficients, errors, tests and intervals.

        Parameters
        ----------
        alpha : float, default=0.05
            One minus the level of the intervals.

        Returns
        -------
        pandas.DataFrame
            The table, with the same column names as in statsmodels.
        """
        import pandas as pd

        ends = self.conf_int(alpha)
        return pd.DataFrame(
            {
                "coef": self.params,
                "std err": self.bse,
                "z": self.tvalues,
                "P>|z|": self.pvalues,
                f"[{alpha / 2:g}": ends[0],
                f"{1 - alpha / 2:g}]": ends[1],
            }
        )

    def predict(self, exog: Any = None) -> Any:
        """Predict responses, or probabilities of categories.

        Parameters
        ----------
        exog : data frame, optional
            Records with the columns of the right-hand side, in pandas, polars or pyarrow. By
            default, all combinations of categories of the formula's columns.

        Returns
        -------
        pandas.Series or pandas.DataFrame
            Predictions. For multinomial models, there is a column for each category except the
            first. They are NaN for records with a missing value.

        Raises
        ------
        TypeError
            If `exog` is not a table.
        ValueError
            If a column is missing, contains a category that the mechanism does not have, or
            contains strings instead of numbers.
        """
        import pandas as pd

        regressors, index = self._regression.regressors, None
        if exog is not None:
            regressors, index = self._regression.regressors_of(exog)
        mean = self._family.mean(regressors @ self._values)
        if len(self._regression.responses) == 1:
            return pd.Series(mean[:, 0], index)
        return pd.DataFrame(mean, index, list(self._regression.responses))

    def wald_test(self, r_matrix: Any) -> HypothesisTest:
        """Test whether linear functions of the coefficients are 0.

        Parameters
        ----------
        r_matrix : array of shape (k, m)
            The functions, with coefficients in the order of ``params``. The matrix must have full
            rank.

        Returns
        -------
        HypothesisTest

        Raises
        ------
        ValueError
            If the entries are not numbers, if there is not one for each coefficient, or if the
            matrix does not have full rank.
        """
        functions = np.atleast_2d(real_numbers(r_matrix, "r_matrix").astype(float))
        if functions.shape[1] != self._values.size:
            raise ValueError(
                f"r_matrix has {functions.shape[1]} columns, but there are {self._values.size} "
                "coefficients."
            )
        if np.linalg.matrix_rank(functions) < len(functions):
            raise ValueError(
                "r_matrix must have linearly independent rows, none of zeros: drop redundant rows."
            )
        values, spread = functions @ self.params.to_numpy(), self._covariance.to_numpy()
        statistic = values @ np.linalg.solve(functions @ spread @ functions.T, values)
        hypothesis = f"{len(functions)} functions of the coefficients are 0"
        return HypothesisTest.of(hypothesis, float(statistic), len(functions), self.nobs)

    def _like(self, values: NDArray[Any]) -> "pd.Series":
        import pandas as pd

        return pd.Series(values, self.params.index)

    def __repr__(self) -> str:
        return (
            f"{self._family.name} regression {self.formula}, from {self.nobs:,} reports\n"
            f"{printable(self.summary().to_string(float_format=in_digits))}"
        )


# -- models ---------------------------------------------------------------------------------------

_NO_RECORD = 1e-9  # probability below which a record counts as absent


def logit(formula: str, estimator: Any) -> RegressionResults:
    r"""Logistic regression of one column of the records on others.

    Parameters
    ----------
    formula : str
        As in statsmodels, with names of columns: ``"income ~ age + C(education)"``. The response
        has two categories, the second of which is predicted, or it is a condition: ``I(income ==
        ">50K") ~ age``. No part of the formula is run as Python.
    estimator : FrequencyEstimator or BlockEstimator
        Fitted to the reports.

    Returns
    -------
    RegressionResults

    Raises
    ------
    TypeError
        If the formula is not a string, or the estimator has a different type.
    ValueError
        If the formula has unknown columns or an unsuitable response, if regressors are collinear,
        or if coefficients are infinite (separation).
    ImportError
        If formulaic is not installed.

    Warns
    -----
    UserWarning
        If the reports do not determine some coefficients.

    Notes
    -----
    If π is the estimated distribution of the records and ψ the score of a record, the coefficients
    solve :math:`\sum_x \pi_x \psi(x, \theta) = 0`. Their covariance is the sandwich estimator
    :math:`A^{-1} \Psi \operatorname{Cov}(\hat\pi) \Psi^T A^{-T}`, with the scores of all cells in Ψ
    and :math:`A = \sum_x \pi_x \partial \psi / \partial \theta`. It does not assume that the model
    is true, and it includes the noise of the reports. Records with a missing value in one of the
    columns are ignored.

    A model that is fitted to the reports as if they were records, or to the most probable record of
    each report, reproduces the relationship in the prior rather than that in the records.

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
    """Multinomial logistic regression: a predictor for each category except the first.

    Parameters
    ----------
    formula : str
        As for :func:`logit`, but the response has two or more categories.
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
        As for :func:`logit`, but the response is a number.
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
    """Poisson regression: the logarithm of the mean is a linear function of the regressors.

    Parameters
    ----------
    formula : str
        As for :func:`logit`, but the response is a number of at least 0.
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
    regression = read_formula(formula, estimator, kind)
    names, responses = regression.names, regression.responses
    shares = regression.shares(regression.frequencies)
    weights = shares / shares.sum()
    seen = weights > _NO_RECORD
    outcomes = regression.outcomes[seen]
    if (outcomes == outcomes[0]).all():
        raise ValueError(
            f"formula {formula!r}: the response is the same in all estimated records, so there is "
            "nothing to explain."
        )
    if set(names).intersection(responses):
        raise ValueError(f"formula {formula!r}: the response is also on the right side.")
    _check_collinear(regression.regressors[seen], weights[seen], names)
    coefficients, influence = _solution(regression, family, weights)
    covariance, known = regression.cells.covariance(influence / shares.sum())
    # A derivative may be determined at one distribution by accident, for example at an estimate
    # with independent S and U. At random distributions this has probability 0.
    anywhere = np.random.default_rng(0).exponential(size=influence.shape[1:])
    there = _solution(regression, family, regression.shares(anywhere / anywhere.sum()))[1]
    unknown = ~(known & regression.cells.covariance(there)[1])
    covariance[unknown, :] = covariance[:, unknown] = np.nan
    if unknown.any():
        missing = _listed([regression.coefficients[k] for k in np.flatnonzero(unknown)])
        warnings.warn(
            f"the coefficients of {missing} are not identifiable from these reports: they are NaN. "
            "Design with targets='all', or leave columns out.",
            stacklevel=3,
        )
    import pandas as pd

    index: Any = pd.Index(names)
    if len(responses) > 1:
        index = pd.MultiIndex.from_product([responses, names])
    params = pd.Series(np.where(unknown, np.nan, coefficients.T.ravel()), index)
    n_reports = round(regression.cells.samples[0][1].n)
    model = family, regression, coefficients, pd.DataFrame(covariance, index, index)
    return RegressionResults(formula, n_reports, params, *model)


def _solution(regression: Regression, family: Family, weights: Floats) -> tuple[Floats, Floats]:
    """Return the coefficients, and their derivatives with respect to the cells' frequencies.

    Shapes: weights (g,); returns (p, j) and (j * p, a). Only complete records have derivatives.
    """
    seen = weights > _NO_RECORD
    regressors, outcomes = regression.regressors, regression.outcomes
    names = regression.coefficients
    coefficients, inverse = solve(regressors[seen], outcomes[seen], weights[seen], family, names)
    residuals = outcomes - family.mean(regressors @ coefficients)
    scores = np.einsum("gj,gp->jpg", residuals, regressors)
    return coefficients, regression.on_cells(inverse @ scores.reshape(-1, len(weights)))
