"""The coefficients as a result of statsmodels, which other tools know by its class."""

from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp.regression._formula import Regression

if TYPE_CHECKING:
    from skrldp.regression._results import RegressionResults

__all__ = ["as_statsmodels"]

_FAMILIES = {"linear": "Gaussian", "logistic": "Binomial", "Poisson": "Poisson"}


def as_statsmodels(results: "RegressionResults", name: str, regression: Regression) -> Any:
    """Make a GLM of the estimated records, with coefficients and covariance from the reports.

    Raises ImportError without statsmodels, and ValueError for a family or a formula that it does
    not read alike.
    """
    try:
        import statsmodels.api as sm
        import statsmodels.formula.api as smf
        from statsmodels.genmod.generalized_linear_model import GLMResults, GLMResultsWrapper
    except ImportError as error:
        raise ImportError(
            "this result needs statsmodels, which is not installed: pip install statsmodels."
        ) from error
    if name not in _FAMILIES:
        raise ValueError("statsmodels has no weighted multinomial model: use logit for each two.")
    left, _, right = (part.strip() for part in results.formula.partition("~"))
    response = left if left in regression.frame else "response"
    weights = regression.weights() * results.nobs
    outcomes = regression.outcomes[:, 0]
    if (outcomes == np.rint(outcomes)).all():  # marginaleffects compares with whole numbers
        outcomes = outcomes.astype(int)
    frame = regression.frame.assign(**{response: outcomes, "weight": weights})
    family = getattr(sm.families, _FAMILIES[name])()
    model = smf.glm(f"{response} ~ {right}", frame, family=family, freq_weights=weights)
    places = [regression.names.index(own) for own in model.exog_names if own in regression.names]
    if not np.array_equal(np.asarray(model.exog, dtype=float), regression.regressors[:, places]):
        raise ValueError(
            f"statsmodels reads the formula {results.formula!r} as other columns, "
            f"{model.exog_names}: use terms that both know."
        )
    values = results.params.to_numpy()[places]
    covariance = results.cov_params().to_numpy()[np.ix_(places, places)]
    # with a scale of 1, the covariance of the coefficients is the one that is given
    return GLMResultsWrapper(GLMResults(model, values, covariance, 1.0))
