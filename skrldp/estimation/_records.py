"""Weighted records that have the estimated distribution, for other tools."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skrldp._params import generator_of, is_whole
from skrldp.alphabet import group_cells
from skrldp.estimation._checks import read_prior, read_restriction
from skrldp.estimation._fit import Fit, most_likely
from skrldp.estimation._threads import one_thread
from skrldp.estimation.channels import Channel
from skrldp.estimation.reports import Source
from skrldp.mechanism import Mechanism
from skrldp.table import category_series

__all__ = ["PseudoRecords"]


class PseudoRecords:
    """Records for other tools, as a method of a fitted estimator."""

    mechanism_: Mechanism
    counts_: NDArray[np.int64]
    n_reports_: int
    method: str
    prior: Any
    time_limit: float | None
    _fit: Fit
    _channel: Channel
    _source: Source

    def to_records(self, n_replicates: int = 0, *, random_state: Any = None) -> Any:
        """Write weighted records that have the estimated distribution.

        Any tool that takes weights finds the estimated figures from them. **Its own errors, tests
        and intervals are wrong**: it takes the weights for records that somebody saw, and the noise
        of the reports is often ten times what it states. Compute the figure with each of the
        replicate weights in place of the weights; the standard deviation of the figures is the
        standard error. Nor is a row a person: do not join the rows with other tables.

        Parameters
        ----------
        n_replicates : int, default=0
            Number of sets of replicate weights: the estimates from reports that are drawn anew from
            the reports (bootstrap). A prior stays as it is.
        random_state : None, int or Generator
            Of the bootstrap.

        Returns
        -------
        pandas.DataFrame
            A row for each combination of categories that has a weight; the columns of the table,
            "weight", whose sum is the number of reports, and "replicate_1", "replicate_2", …

        Raises
        ------
        ValueError
            If the estimate is by least squares, whose weights would be negative, or a column of the
            table has one of these names.

        Warns
        -----
        UserWarning
            If the reports do not determine the distribution, so that it is one among many.

        Examples
        --------
        >>> import numpy as np
        >>> from skrldp import FrequencyEstimator, SRRSanitizer
        >>> X = [["no", 0], ["no", 1], ["yes", 0], ["yes", 1]]
        >>> sanitizer = SRRSanitizer(eps=2.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
        >>> counts = [200, 300, 200, 300]
        >>> estimator = FrequencyEstimator(sanitizer).fit(range(4), sample_weight=counts)
        >>> records = estimator.to_records(200, random_state=0)
        >>> records.columns[:4].tolist()
        [0, 1, 'weight', 'replicate_1']
        >>> mean = lambda weight: float(np.average(records[1], weights=weight))
        >>> error = np.std([mean(records[name]) for name in records.columns[3:]])
        >>> stated = estimator.mean(1)
        >>> bool(0.8 < error / stated.std_error < 1.25)
        True
        """
        import pandas as pd

        check_is_fitted(self)
        if not (is_whole(n_replicates) and n_replicates >= 0):
            raise ValueError(f"n_replicates={n_replicates!r} must be a whole number >= 0.")
        if self.method != "ml":
            raise ValueError(
                "estimates by least squares may be negative, and records cannot have such weights: "
                'use FrequencyEstimator(method="ml").'
            )
        names = [name for name, _ in self.mechanism_.columns]
        cells = group_cells(self.mechanism_, names or None, "all")
        weights = ["weight", *(f"replicate_{k + 1}" for k in range(int(n_replicates)))]
        taken = [name for name in weights if name in names]
        if taken:
            raise ValueError(f"the table has a column {taken[0]!r} already: rename that column.")
        if self.prior is None and not self._fit.channel.identifiable.all():
            warnings.warn(
                "the reports do not determine the distribution of the records: these weights are "
                "those of one distribution among many that explain the reports equally well.",
                UserWarning,
                stacklevel=2,
            )
        found = np.stack([self._fit.distribution, *self._redrawn(int(n_replicates), random_state)])
        found = self.n_reports_ * found[:, np.argsort(cells.labels)]
        kept = np.flatnonzero((found > 0).any(axis=0))
        rows = [c if len(cells.name) > 1 else (c,) for c in (cells.categories[k] for k in kept)]
        own = [category_series(values) for values in zip(*rows, strict=True)]
        table = pd.DataFrame(dict(zip(cells.name, own, strict=True)))
        return pd.concat([table, pd.DataFrame(found[:, kept].T, columns=weights)], axis=1)

    def _redrawn(self, n_replicates: int, random_state: Any) -> list[NDArray[np.float64]]:
        """Return the estimates from reports that are drawn from the reports."""
        rng = generator_of(random_state)
        prior = read_prior(self, self.mechanism_, self._channel)
        within = read_restriction(self, self._source, self._channel)
        shares = self.counts_ / self.n_reports_
        found = []
        with one_thread():
            for _ in range(n_replicates):
                drawn = rng.multinomial(self.n_reports_, shares).astype(float)
                fit, _ = most_likely(
                    self._channel, drawn, prior, within, time_limit=self.time_limit
                )
                found.append(fit.distribution)
        return found
