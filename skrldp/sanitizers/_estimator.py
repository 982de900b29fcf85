"""scikit-learn's estimator, with a word on parameters of sets that are not stated."""

from typing import Any, Self

from sklearn.base import BaseEstimator

__all__ = ["Estimator"]

# Parameters that may be None, which has no parameters, and a set to state instead.
_SETS = {"uncertainty": "LikelihoodRatioSet()", "utility_uncertainty": "RenyiBall()"}


class Estimator(BaseEstimator):
    """An estimator that says which set to state where a parameter of a default is to be set."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the sets of distributions: ``uncertainty__beta=0.01``.

        Parameters
        ----------
        **params
            Values by name. A set must be stated, here or before, to have parameters: None, which
            stands for the default, has none.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        for name in params:
            outer, _, inner = name.partition("__")
            if inner and outer in _SETS and params.get(outer, getattr(self, outer, "")) is None:
                raise ValueError(
                    f"{name} cannot be set where {outer} is None. State a set, as in "
                    f"{type(self).__name__}({outer}={_SETS[outer]})."
                )
        found: Self = super().set_params(**params)
        return found
