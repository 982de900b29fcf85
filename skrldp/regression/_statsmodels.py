"""The coefficients as a result of statsmodels, which other tools know by its class."""

from typing import Any

import numpy as np

from skrldp._typing import Floats
from skrldp.regression._formula import Regression

__all__ = ["as_statsmodels"]

_FAMILIES = {"linear": "Gaussian", "logistic": "Binomial", "Poisson": "Poisson"}


def as_statsmodels(name: str, regression: Regression, values: Floats, covariance: Floats) -> Any:
    """Make a GLM of the estimated records, with coefficients (p,) and covariance from the reports.

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
    left, _, right = (part.strip() for part in regression.formula.partition("~"))
    response = left if left in regression.frame else "response"
    weights = regression.weights() * regression.cells.n_reports
    outcomes = regression.outcomes[:, 0]
    if (outcomes == np.rint(outcomes)).all():  # marginaleffects compares with whole numbers
        outcomes = outcomes.astype(int)
    frame = regression.frame.assign(**{response: outcomes, "weight": weights})
    family = getattr(sm.families, _FAMILIES[name])()
    model = smf.glm(f"{response} ~ {right}", frame, family=family, freq_weights=weights)
    places = [regression.names.index(own) for own in model.exog_names if own in regression.names]
    if not np.array_equal(np.asarray(model.exog, dtype=float), regression.regressors[:, places]):
        raise ValueError(
            f"statsmodels reads the formula {regression.formula!r} as other columns, "
            f"{model.exog_names}: use terms that both know."
        )
    covariance = covariance[np.ix_(places, places)]
    # with a scale of 1, the covariance of the coefficients is the one that is given
    return GLMResultsWrapper(GLMResults(model, values[places], covariance, 1.0))
