"""The distribution of X estimated from reports, as a scikit-learn estimator."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from skrldp._arrays import ReadOnlyFit, read_only
from skrldp.estimation._categories import CategorySummaries
from skrldp.estimation._checks import (
    check_parameters,
    check_possible,
    read_prior,
    read_restriction,
    warn_of_gap,
)
from skrldp.estimation._contradiction import warn_of_contradiction
from skrldp.estimation._drift import DriftTests
from skrldp.estimation._fit import least_squares, most_likely
from skrldp.estimation._numeric import NumericSummaries
from skrldp.estimation._records import PseudoRecords
from skrldp.estimation._threads import one_thread
from skrldp.estimation._training import TrainingRows
from skrldp.estimation.channels import MOST_DENSE, Channel, DenseChannel, channel_of
from skrldp.estimation.likelihood import TOL, TOL_RESTRICTED
from skrldp.estimation.reports import count_reports, read_rows, read_source
from skrldp.mechanism import Mechanism

__all__ = ["FrequencyEstimator"]


class FrequencyEstimator(
    ReadOnlyFit,
    CategorySummaries,
    DriftTests,
    NumericSummaries,
    PseudoRecords,
    TrainingRows,
    BaseEstimator,
):
    """Distribution of X and of its columns, estimated from the reports of a mechanism.

    A report about a record with cell x has distribution Q_x, the column x of the mechanism's matrix
    Q. If the records have distribution π, the reports have distribution Qπ. The estimator finds π
    from the observed shares of the reports.

    Parameters
    ----------
    mechanism : Mechanism, str, fitted sanitizer or Pipeline
        What made the reports: a mechanism, its JSON, or the sanitizer (or a Pipeline that ends in
        it), which also knows how it writes symbols as cells. (scikit-learn's ``clone`` unfits a
        sanitizer; wrap it in :class:`~sklearn.frozen.FrozenEstimator` if this estimator is to be
        cloned.)
    method : {"ml", "least-squares"}, default="ml"
        "ml" is maximum likelihood: a distribution, and never less exact with many reports.
        "least-squares" is exactly unbiased; estimates may be negative, and their errors many times
        larger where symbols are rare.
    prior : JointDistribution, optional
        Public records to count beside the reports, if both come from one distribution: the estimate
        is the mode of the posterior under a Dirichlet distribution with parameters ``prior_weight *
        counts + 1``. Only with ``method="ml"``.
    prior_weight : float, default=1.0
        Between 0 and 1: how much of a report each public record counts for (a *power prior*,
        Ibrahim and Chen 2000); of a survey, each of its effective records. Less than 1 if the
        public records come from a similar distribution rather than the same one; 0 is no prior.
    restrict_to : LikelihoodRatioSet, RenyiBall, fitted set or None, default=None
        Maximise the likelihood only over an uncertainty set around the public distribution, such
        as the sanitizer's ``uncertainty_``, which its privacy rests on anyway. Intervals then lie
        in it too. If the set misses the true distribution, as it may with its probability beta,
        they may be wrong: a 95 % interval may hold in 95 % less beta only. Only with
        ``method="ml"``.
    public : JointDistribution, optional
        The public distribution that `restrict_to` is around; that of the sanitizer if `mechanism`
        is one.
    encode : {"auto", "symbol", "onehot", "cells"}, default="auto"
        Form of the reports, as in the sanitizers. Clients and :meth:`Mechanism.sample` make
        "symbol", the numbers of the mechanism's ``symbols``. "auto" uses the names of the columns;
        if there are none, it takes the only form that the reports can have, and raises an error if
        there are several, as when the values of U are numbers and could be numbers of symbols.
    time_limit : float, optional
        With "ml": seconds after which no step is begun; None for no limit but 10,000 steps. A step
        takes some 0.2 s for a million cells. With `restrict_to` it plays no part.

    Attributes
    ----------
    frequencies_ : array of shape (a1, a2)
        Estimated distribution of X: secrets in rows, values of U in columns. With least squares it
        is NaN in cells that the reports do not determine; with "ml" it is a distribution of maximal
        likelihood, of which there may be several.
    std_error_ : array of shape (a1, a2)
        Standard errors; NaN where the reports (and the prior) do not determine the cell, or are too
        few for an error.
    identifiable_ : array of bool, shape (a1, a2)
        Whether the distribution of the report determines the cell's probability; if not, more
        reports do not help.
    rank_ : int
        Rank of Q; the distribution as a whole is identifiable if this is the number of cells.
    counts_ : array
        Number of reports of each symbol. For reports in the form of cells, of each different cell,
        in the order of their first symbols.
    n_reports_ : int
        Number of reports.
    mechanism_ : Mechanism
        The mechanism that made the reports.
    gap_ : float
        With "ml": upper bound on the difference between the greatest log-likelihood and that of the
        estimate, in nats per report (or public record of the prior). 0 for least squares.
    n_iter_ : int
        Steps taken; 0 for least squares.
    n_features_in_ : int
        Number of columns of the reports.
    feature_names_in_ : ndarray of str
        Their names, if all are strings.

    Raises
    ------
    TypeError, ValueError
        By `fit`, for parameters and reports that are not as described; nothing is changed then.
    RuntimeError
        By `fit` and `score`, if an engine fails to count the reports of a lazy frame.

    Warns
    -----
    ConvergenceWarning
        By `fit`, if the log-likelihood is not proven to be within 1e-10 nats per report of its
        greatest value: 10,000 steps, the time or the numerical precision did not suffice.
    UserWarning
        By `fit`, if no distribution of records explains the reports, as if they were raw records:
        a false alarm in at most one of a million samples.

    Notes
    -----
    *Least squares* minimises the sum of squared deviations of the shares of the reports from Qπ,
    each divided by the probability of the report if X were uniform. These weights are fixed, so the
    estimate is exactly unbiased; splitting a symbol into two proportional ones changes nothing. The
    covariance is that of a multinomial at the distribution of the report that the mechanism makes
    of the most likely distribution of records. An error is stated if its variance rests on the
    equivalent of five reports or more.

    *Maximum likelihood* uses accelerated EM, and then Newton's method. Its standard errors are
    those of the Fisher information at the estimate, for a distribution in the interior of the
    simplex. An error is stated if one record more of each cell would leave nine tenths of it or
    more: near a zero the estimate spreads less. Intervals are by the likelihood ratio and exist
    everywhere: see :meth:`confidence_interval`.

    Reports must be about different persons: repeated reports about one person are not independent,
    and the standard errors would be too small. (Nor would they be private at ε: with GRR and SRR, k
    reports leak at most k·ε; with mechanisms private over a confidence set, possibly far more.)

    References
    ----------
    R. Varadhan and C. Roland, Simple and globally convergent methods for accelerating the
    convergence of any EM algorithm, Scandinavian Journal of Statistics 35, 2008.

    J. G. Ibrahim and M.-H. Chen, Power prior distributions for regression models, Statistical
    Science 15, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp import FrequencyEstimator, GRRSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = GRRSanitizer(eps=1.0, sensitive=0, random_state=0)
    >>> _ = sanitizer.fit(X, sample_weight=[7, 10, 26, 57])
    >>> private = np.repeat(np.array(X, dtype=object), [1000, 1000, 2000, 6000], axis=0)
    >>> estimator = FrequencyEstimator(sanitizer).fit(sanitizer.transform(private))
    >>> estimator.frequencies_.round(2)
    array([[0.12, 0.07],
           [0.6 , 0.21]])
    >>> estimator.std_error_.round(3)
    array([[0.014, 0.013],
           [0.016, 0.014]])
    >>> estimator.marginal(part="sensitive").confidence_interval().round(3)
    array([[0.157, 0.221],
           [0.779, 0.843]])
    """

    def __init__(
        self,
        mechanism: Any,
        method: str = "ml",
        *,
        prior: Any = None,
        prior_weight: float = 1.0,
        restrict_to: Any = None,
        public: Any = None,
        encode: str = "auto",
        time_limit: float | None = None,
    ) -> None:
        self.mechanism = mechanism
        self.method = method
        self.prior = prior
        self.prior_weight = prior_weight
        self.restrict_to = restrict_to
        self.public = public
        self.encode = encode
        self.time_limit = time_limit

    # -- fitting ----------------------------------------------------------------------------------

    def fit(
        self, Y: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "FrequencyEstimator":
        """Count reports and estimate the distribution of the records.

        Parameters
        ----------
        Y : array, list, series, data frame or lazy frame of n rows
            Reports, each about another person: a column of symbols, a column of 0 and 1 for each
            symbol, or cells. Those of a lazy frame (of Polars, DuckDB, Dask, PySpark, Ibis or
            SQLFrame) are counted where they are.
        y : ignored
            Not used; present for API consistency.
        sample_weight : array of shape (n,), optional
            How many reports each row stands for: whole numbers, zero allowed. To fit counts, use
            ``fit(range(b), sample_weight=counts)``. Not for lazy frames, whose rows have no order.

        Returns
        -------
        self
        """
        check_parameters(self)
        source = read_source(self.mechanism)
        rows = read_rows(Y, source, self.encode, sample_weight)
        counts, kinds = count_reports(rows, source, self.encode)
        channel = self._channel_of(source.mechanism, kinds)
        check_possible(counts, channel)
        prior = read_prior(self, source.mechanism, channel)
        within = read_restriction(self, source, channel)
        best = None
        with one_thread():
            if self.method == "ml":
                fit, best = most_likely(channel, counts, prior, within, time_limit=self.time_limit)
            else:
                fit = least_squares(channel, counts, time_limit=self.time_limit)
            frequencies, errors = fit.cells()
            identifiable = channel.identifiable
            warn_of_contradiction(channel, counts, fit.likely, self.time_limit)

        gap, n_iter = (0.0, 0) if best is None else (best.gap, best.iterations)
        if gap > (TOL if within is None else TOL_RESTRICTED):
            warn_of_gap(gap, n_iter, fit.n, self.time_limit)
        found = object.__new__(type(self))
        validate_data(found, rows.table, skip_check_array=True, reset=True)
        found._channel, found._kinds, found._source, found._fit = channel, kinds, source, fit
        found.mechanism_ = source.mechanism
        found.counts_ = counts.astype(np.int64)
        found.n_reports_ = int(counts.sum())
        shape = len(source.mechanism.secrets), len(source.mechanism.values)
        found.rank_ = channel.rank
        found.identifiable_ = identifiable.reshape(shape).copy()
        found.frequencies_, found.std_error_ = frequencies.reshape(shape), errors.reshape(shape)
        found.gap_, found.n_iter_ = gap, n_iter
        # Only here does the estimator change: a fit that fails leaves it as it was.
        fitted = {name: read_only(value) for name, value in vars(found).items()}
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(fitted)
        return self

    def _channel_of(self, mechanism: Mechanism, kinds: NDArray[np.intp]) -> Channel:
        n_kinds = int(kinds.max()) + 1
        if n_kinds < len(kinds):  # several symbols are written alike
            merged = np.zeros((n_kinds, mechanism.shape[1]))
            np.add.at(merged, kinds, mechanism.matrix)
            return DenseChannel(merged)
        return channel_of(mechanism, most_dense=MOST_DENSE if self.method == "ml" else 0)

    def score(self, Y: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Average log-likelihood of reports at the estimated distribution.

        Parameters
        ----------
        Y : array, list, series, data frame or lazy frame of n rows
            Reports, in a form that `fit` takes.
        y : ignored
            Not used; present for API consistency.
        sample_weight : array of shape (n,), optional
            How many reports each row stands for.

        Returns
        -------
        float
            In nats per report. A least-squares estimate is first projected to the closest
            distribution. Minus infinity if a report has probability 0 under the estimate.
        """
        check_is_fitted(self)
        rows = read_rows(Y, self._source, self.encode, sample_weight)
        counts, kinds = count_reports(rows, self._source, self.encode)
        channel = self._channel
        if not np.array_equal(kinds, self._kinds):
            channel = self._channel_of(self.mechanism_, kinds)
        check_possible(counts, channel)
        seen = counts > 0
        report = channel.forward(self._fit.probable)[seen]
        with np.errstate(divide="ignore"):
            return float(counts[seen] @ np.log(np.maximum(report, 0.0)) / counts.sum())
