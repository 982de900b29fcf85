"""Weighted rows to train a model on: all records there can be, with their estimated frequencies."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._typing import Floats
from skrldp.estimation.figures import Estimate

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TrainingRows"]


class TrainingRows:
    """What other estimators are trained on, from a fitted estimate of frequencies."""

    if TYPE_CHECKING:
        prior: Any

        def marginal(self, columns: Any = None, *, part: str = "all") -> Estimate: ...

        def _free_errors(self, columns: Any) -> Floats: ...

    def training_rows(self, features: Any, label: Any) -> "tuple[pd.DataFrame, pd.Series, Floats]":
        """Rows and weights on which any model with ``sample_weight`` can be trained.

        Each combination of the features' and the label's categories is one row, and its weight is
        its estimated frequency. What the reports' noise adds is thus taken away before the model
        sees anything. The model learns about the people as a whole; that is post-processing of
        reports and costs no privacy, as long as **the label was a column of the records that were
        reported**. Labels that are collected beside the reports are not covered by any promise.

        Parameters
        ----------
        features : name, position or list of them
            Columns that the model is to predict from.
        label : name or position
            The column that it is to predict.

        Returns
        -------
        X : pandas.DataFrame of shape (k, n_features)
            The combinations of categories with a positive estimate.
        y : pandas.Series of length k
            Their labels.
        sample_weight : array of shape (k,)
            Positive. The sum is the *effective number of records*: so many raw records would have
            estimated these frequencies as precisely. It is what a penalty such as that of
            :class:`~sklearn.linear_model.LogisticRegression` is weighed against. Least-squares
            estimates are projected to the closest distribution first.

        Raises
        ------
        ValueError
            If the mechanism has no such columns, one is named twice, or the reports do not
            determine the frequencies and the method is "least-squares".

        Warns
        -----
        UserWarning
            If the reports do not determine the frequencies and there is no prior: those of "ml" are
            then one of many equally likely distributions, and so is the model.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from skrldp import FrequencyEstimator, SRRSanitizer
        >>> cells = [[ill, age, buys] for ill in (0, 1) for age in (20, 60) for buys in (0, 1)]
        >>> counts = [2500, 500, 500, 2500, 1500, 500, 500, 1500]
        >>> sanitizer = SRRSanitizer(eps=2.0, sensitive=0, random_state=0)
        >>> _ = sanitizer.fit(cells, sample_weight=counts)
        >>> reports = sanitizer.transform(np.repeat(cells, counts, axis=0))
        >>> X, y, weight = FrequencyEstimator(sanitizer, "ml").fit(reports).training_rows([1], 2)
        >>> model = DecisionTreeClassifier().fit(X.to_numpy(), y, weight)
        >>> model.predict_proba([[20], [60]]).round(1)
        array([[0.8, 0.2],
               [0.2, 0.8]])
        >>> len(reports), int(weight.sum())
        (10000, 3468)
        """
        import pandas as pd

        named = list(features) if isinstance(features, list | tuple) else [features]
        if not named:
            raise ValueError("features is empty: name at least one column to predict from.")
        estimate = self.marginal([*named, label])
        weights = estimate.projected()
        unknown = int((~estimate.identifiable).sum())
        if unknown and self.prior is None:
            warnings.warn(
                f"the reports do not determine the frequencies of {unknown} of {len(weights)} "
                "combinations of features and label. These weights are those of one distribution "
                "among many that explain the reports equally well, and a model that is trained on "
                "them may be arbitrary. Give a prior, or design a mechanism that determines them "
                "(IR, SRR and GRR do).",
                UserWarning,
                stacklevel=2,
            )
        free = self._free_errors([*named, label])
        weights = weights * _effective_number(free, weights, estimate.n_reports)
        kept = np.flatnonzero(weights > 0)
        rows = [estimate.categories[place] for place in kept]
        table = pd.DataFrame(rows, columns=list(estimate.columns))
        return table.iloc[:, :-1], table.iloc[:, -1], weights[kept]


def _effective_number(errors: Floats, shares: Floats, n_reports: int) -> float:
    """How many raw records would estimate the categories that are determined as precisely.

    n raw records estimate a share f with variance f (1 - f) / n. Where nothing is determined, it is
    the number of reports.
    """
    known = np.isfinite(errors)
    variance = float(np.sum(errors[known] ** 2))
    if variance == 0.0:
        return float(n_reports)
    return float(np.sum((shares * (1.0 - shares))[known])) / variance
