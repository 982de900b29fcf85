"""Coefficients of a regression with the names that statsmodels gives them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from skrldp._arrays import ReadOnly, real_numbers
from skrldp._params import is_finite
from skrldp._typing import Floats
from skrldp.regression._families import Family
from skrldp.regression._formula import Regression
from skrldp.regression._statsmodels import as_statsmodels

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RegressionResults"]


@dataclass(frozen=True, eq=False, repr=False)
class RegressionResults(ReadOnly):
    """Estimated coefficients of a regression, with errors that know the noise of the reports.

    Attributes
    ----------
    formula : str
        The formula.
    nobs : int
        Number of reports.
    params : pandas.Series
        The coefficients; NaN where the reports do not determine them. Of a multinomial model the
        index has two levels, the category and the regressor.
    bse : pandas.Series
        Standard errors.
    tvalues : pandas.Series
        Coefficients over standard errors, which are normal for large numbers of reports.
    pvalues : pandas.Series
        Probability of a coefficient at least as far from 0, if the true one is 0.

    See Also
    --------
    skrldp.regression.logit : An example.
    """

    _family: Family = field(repr=False)
    _regression: Regression = field(repr=False)
    _values: Floats = field(repr=False)  # (j, p)
    _covariance: Floats = field(repr=False)  # (j * p, j * p), NaN where not determined

    @property
    def formula(self) -> str:
        """The formula."""
        return self._regression.formula

    @property
    def nobs(self) -> int:
        """Number of reports."""
        return self._regression.cells.n_reports

    @property
    def params(self) -> "pd.Series":
        """The coefficients."""
        known = np.isfinite(np.diag(self._covariance))
        return self._series(np.where(known, self._values.ravel(), np.nan))

    @property
    def bse(self) -> "pd.Series":
        """Standard errors of the coefficients."""
        return self._series(np.sqrt(np.diag(self._covariance)))

    @property
    def tvalues(self) -> "pd.Series":
        """Coefficients over standard errors."""
        return self.params / self.bse

    @property
    def pvalues(self) -> "pd.Series":
        """Two-sided p-values."""
        return self._series(2.0 * norm.sf(np.abs(self.tvalues.to_numpy())))

    def conf_int(self, alpha: float = 0.05) -> "pd.DataFrame":
        """Confidence intervals of the coefficients.

        Parameters
        ----------
        alpha : float, default=0.05
            One less the level.

        Returns
        -------
        pandas.DataFrame
            Columns 0 and 1: lower and upper ends.
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
        import pandas as pd

        return pd.DataFrame(self._covariance, self._index(), self._index())

    def summary(self, alpha: float = 0.05) -> "pd.DataFrame":
        """Table of coefficients, errors, tests and intervals.

        Parameters
        ----------
        alpha : float, default=0.05
            One less the level of the intervals.

        Returns
        -------
        pandas.DataFrame
            With the names of columns that statsmodels prints.
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
            Records with the columns of the right side; None for each combination of categories that
            the formula's columns have.

        Returns
        -------
        pandas.Series or pandas.DataFrame
            Of a multinomial model a column for each category but the first.

        Raises
        ------
        ValueError
            If a column is missing, or has a category that the mechanism does not have.
        """
        import pandas as pd

        spec = self._regression.spec
        if exog is None:
            exog = self._regression.frame
        self._check_records(exog)
        matrix = spec.get_model_matrix(exog, context={})
        mean = self._family.mean(matrix.to_numpy(dtype=float) @ self._values.T)
        if len(self._regression.responses) == 1:
            return pd.Series(mean[:, 0], matrix.index)
        return pd.DataFrame(mean, matrix.index, list(self._regression.responses))

    def _check_records(self, exog: Any) -> None:
        """Refuse records that lack columns of the right side, or have other categories."""
        known = self._regression.frame
        wanted = sorted(map(str, self._regression.spec.required_variables))
        lacking = [name for name in wanted if name not in getattr(exog, "columns", ())]
        if lacking:
            raise ValueError(
                f"exog must be a data frame with the columns {wanted}; it lacks {lacking}."
            )
        for name in wanted:
            if known[name].dtype == "category":
                categories = list(known[name].cat.categories)
                strange = set(exog[name].dropna()).difference(categories)
                if strange:
                    raise ValueError(
                        f"exog: {strange.pop()!r} is no category of {name!r}; the categories are "
                        f"{categories}."
                    )

    def wald_test(self, r_matrix: Any) -> tuple[float, float, int]:
        """Test whether linear functions of the coefficients are 0.

        Parameters
        ----------
        r_matrix : array of shape (k, m)
            The functions, in the order of ``params``; of full rank.

        Returns
        -------
        statistic : float
        pvalue : float
        df : int
            Degrees of freedom of the χ² distribution.

        Raises
        ------
        ValueError
            If these are no numbers, not one for each coefficient, or not of full rank.
        """
        from scipy.stats import chi2

        functions = np.atleast_2d(real_numbers(r_matrix, "r_matrix").astype(float))
        if functions.shape[1] != self._values.size:
            raise ValueError(
                f"r_matrix has {functions.shape[1]} columns, but there are {self._values.size} "
                "coefficients."
            )
        if np.linalg.matrix_rank(functions) < len(functions):
            raise ValueError(
                "r_matrix must have rows that do not follow from one another, and none of zeros."
            )
        values = functions @ self.params.to_numpy()
        statistic = float(
            values @ np.linalg.solve(functions @ self._covariance @ functions.T, values)
        )
        return statistic, float(chi2.sf(statistic, len(functions))), len(functions)

    def to_statsmodels(self) -> Any:
        """Return the result as one of statsmodels, for tools that go by its classes.

        Its coefficients and their covariance are those here; its likelihoods, residuals and tests
        of fit are those of the estimated records and **mean nothing**. Predictions, contrasts and
        marginal effects, such as those of the package marginaleffects, are right.

        Returns
        -------
        statsmodels.genmod.generalized_linear_model.GLMResultsWrapper

        Raises
        ------
        ValueError
            For multinomial models, which statsmodels does not weigh.
        """
        values = self.params.to_numpy()
        return as_statsmodels(self._family.name, self._regression, values, self._covariance)

    def _index(self) -> "pd.Index":
        import pandas as pd

        names, responses = self._regression.names, self._regression.responses
        if len(responses) == 1:
            return pd.Index(names)
        return pd.MultiIndex.from_product([responses, names])

    def _series(self, values: NDArray[Any]) -> "pd.Series":
        import pandas as pd

        return pd.Series(values, self._index())

    def __repr__(self) -> str:
        return (
            f"{self._family.name} regression {self.formula}, from {self.nobs:,} reports\n"
            f"{self.summary().to_string(float_format='{:.4g}'.format)}"
        )
