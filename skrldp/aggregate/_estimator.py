"""The distribution of X estimated from reports, as a scikit-learn estimator."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from skrldp._typing import Floats
from skrldp.aggregate._bounds import extremes
from skrldp.aggregate._channels import Channel, DenseChannel, channel_of
from skrldp.aggregate._checks import (
    MOST_DENSE,
    check_parameters,
    check_possible,
    check_prior,
    warn_of_gap,
)
from skrldp.aggregate._drift import DriftTests
from skrldp.aggregate._estimate import Estimate, wald
from skrldp.aggregate._fit import least_squares, most_likely, one_thread
from skrldp.aggregate._numeric import NumericSummaries
from skrldp.aggregate._reports import as_rows, count_reports
from skrldp.aggregate._source import read_source
from skrldp.aggregate._training import TrainingRows
from skrldp.alphabet import CellGroups, group_cells
from skrldp.mechanism import Mechanism

__all__ = ["FrequencyEstimator"]


_MOST_COVARIANCE = 25_000_000  # categories by cells: some hundred megabytes


class FrequencyEstimator(DriftTests, NumericSummaries, TrainingRows, BaseEstimator):
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
    method : {"least-squares", "ml"}, default="least-squares"
        "least-squares" is unbiased, and estimates may be negative. "ml" is maximum likelihood.
    prior : JointDistribution, optional
        Public records to count beside the reports, if both come from one distribution: the estimate
        is the mode of the posterior under a Dirichlet distribution with parameters ``counts + 1``.
        Needs ``method="ml"``.
    encode : {"auto", "symbol", "onehot", "cells"}, default="auto"
        Form of the reports, as in the sanitizers. Clients and :meth:`Mechanism.sample` make
        "symbol", the numbers of the mechanism's ``symbols``. "auto" uses the names of the columns;
        if there are none, it takes the only form that the reports can have, and raises an error if
        there are several, as when the values of U are numbers and could be numbers of symbols.
    tol : float, default=1e-10
        With "ml": the iteration stops when the log-likelihood is proven to be at most this much
        below its maximum, in nats per report.
    max_iter : int, default=10_000
        With "ml": greatest number of steps.
    time_limit : float or None, default=60.0
        With "ml": seconds after which no step is begun; None for no limit. A step takes some 0.2 s
        for a million cells.

    Attributes
    ----------
    frequencies_ : array of shape (a1, a2)
        Estimated distribution of X: secrets in rows, values of U in columns. With least squares it
        is NaN in cells that the reports do not determine; with "ml" it is a distribution of maximal
        likelihood, of which there may be several.
    std_error_ : array of shape (a1, a2)
        Standard errors; NaN where the reports (and the prior) do not determine the cell.
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

    Warns
    -----
    ConvergenceWarning
        By `fit`, if `max_iter` steps, the time (or the numerical precision) do not suffice for
        `tol`.

    Notes
    -----
    *Least squares* minimises the sum of squared deviations of the shares of the reports from Qπ,
    each divided by the probability of the report if X were uniform. These weights are fixed, so the
    estimate is exactly unbiased; splitting a symbol into two proportional ones changes nothing. The
    covariance is that of a multinomial at the observed shares, where a symbol that was never seen
    counts as one report, since its variance would otherwise be 0.

    *Maximum likelihood* uses accelerated EM, and then Newton's method. Its standard errors are
    those of the Fisher information at the estimate, for a distribution in the interior of the
    simplex; if the estimate is at the boundary, they tend to be too large.

    Reports must be about different persons: repeated reports about one person are not independent,
    and the standard errors would be too small. (Nor would they be private at ε: with GRR and SRR, k
    reports leak at most k·ε; with mechanisms private over a confidence set, possibly far more.)

    References
    ----------
    R. Varadhan and C. Roland, Simple and globally convergent methods for accelerating the
    convergence of any EM algorithm, Scandinavian Journal of Statistics 35, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp import FrequencyEstimator, GRRSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = GRRSanitizer(eps=1.0, random_state=0).fit(X, sample_weight=[7, 10, 26, 57])
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
        method: str = "least-squares",
        *,
        prior: Any = None,
        encode: str = "auto",
        tol: float = 1e-10,
        max_iter: int = 10_000,
        time_limit: float | None = 60.0,
    ) -> None:
        self.mechanism = mechanism
        self.method = method
        self.prior = prior
        self.encode = encode
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit

    # -- fitting ----------------------------------------------------------------------------------

    def fit(
        self, Y: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "FrequencyEstimator":
        """Count reports and estimate the distribution of the records.

        Parameters
        ----------
        Y : array, list, series or data frame of n rows
            Reports, each about another person: a column of symbols, a column of 0 and 1 for each
            symbol, or cells.
        y : ignored
            Not used; present for API consistency.
        sample_weight : array of shape (n,), optional
            How many reports each row stands for: whole numbers, zero allowed. To fit counts, use
            ``fit(range(b), sample_weight=counts)``.

        Returns
        -------
        self
        """
        check_parameters(self)
        source = read_source(self.mechanism)
        rows = as_rows(Y)
        counts, kinds = count_reports(rows, source, self.encode, sample_weight)
        channel = self._channel_of(source.mechanism, kinds)
        check_possible(counts, channel)
        prior = None if self.prior is None else check_prior(self.prior, source.mechanism, channel)
        best = None
        with one_thread():
            if self.method == "ml":
                fit, best = most_likely(
                    channel, counts, prior, self.tol, self.max_iter, self.time_limit
                )
            else:
                fit = least_squares(channel, counts)
            frequencies, errors = fit.cells()
            identifiable = channel.identifiable

        gap, n_iter = (0.0, 0) if best is None else (best.gap, best.iterations)
        if gap > self.tol:
            warn_of_gap(gap, n_iter, fit.n, self)
        found = object.__new__(type(self))
        validate_data(found, rows, skip_check_array=True, reset=True)
        found._channel, found._kinds, found._source, found._fit = channel, kinds, source, fit
        found.mechanism_ = source.mechanism
        found.counts_ = counts.astype(np.int64)
        found.n_reports_ = int(counts.sum())
        shape = len(source.mechanism.secrets), len(source.mechanism.values)
        found.rank_ = channel.rank
        found.identifiable_ = identifiable.reshape(shape).copy()
        found.frequencies_, found.std_error_ = frequencies.reshape(shape), errors.reshape(shape)
        found.gap_, found.n_iter_ = gap, n_iter
        # The only assignment: a fit that fails or is interrupted leaves the estimator as it was.
        kept = {name: value for name, value in vars(self).items() if name != "feature_names_in_"}
        self.__dict__ = {**kept, **vars(found)}
        return self

    def _channel_of(self, mechanism: Mechanism, kinds: NDArray[np.intp]) -> Channel:
        n_kinds = int(kinds.max()) + 1
        if n_kinds < len(kinds):  # several symbols are written alike
            merged = np.zeros((n_kinds, mechanism.shape[1]))
            np.add.at(merged, kinds, mechanism.matrix)
            return DenseChannel(merged)
        return channel_of(mechanism, most_dense=MOST_DENSE if self.method == "ml" else 0)

    # -- what was estimated -----------------------------------------------------------------------

    def confidence_interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Floats:
        """Wald intervals of the probabilities of the cells.

        Parameters
        ----------
        level : float, default=0.95
            Probability that an interval contains the true probability.
        simultaneous : bool, default=False
            Whether `level` is the probability that all intervals do so at once (by Šidák's bound,
            so the true probability is somewhat higher).

        Returns
        -------
        array of shape (a1, a2, 2)
            Not cut off at 0 and 1; NaN where the cell is not identifiable. They are normal
            approximations, which are unreliable for cells with few expected reports.
        """
        check_is_fitted(self)
        return wald(self.frequencies_, self.std_error_, level, simultaneous)

    def marginal(self, columns: Any = None, *, part: str = "all") -> Estimate:
        """Estimate the distribution of some columns.

        Parameters
        ----------
        columns : name, position, list of them, or None
            Columns of the table; None for a part of the record.
        part : {"all", "sensitive", "nonsensitive"}, default="all"
            The part: X, S or U.

        Returns
        -------
        Estimate
            Estimate for all combinations of the columns' categories that occur in cells. A marginal
            can be identifiable where the cells are not.

        Raises
        ------
        ValueError
            If the mechanism has no such columns.
        """
        check_is_fitted(self)
        group = group_cells(self.mechanism_, columns, part)
        values, errors, known = self._by_category(group)
        return Estimate(
            group.name, group.categories, values, errors, known, n_reports=self.n_reports_
        )

    def covariance(self, columns: Any = None, *, part: str = "all") -> Floats:
        """Covariance matrix of the estimates of :meth:`marginal`.

        Parameters
        ----------
        columns : name, position, list of them, or None
            Columns of the table; None for a part of the record.
        part : {"all", "sensitive", "nonsensitive"}, default="all"
            The part: X, S or U.

        Returns
        -------
        array of shape (k, k)
            NaN where the reports do not determine a category's probability.

        Raises
        ------
        ValueError
            If the mechanism has no such columns, or there are too many categories.
        """
        check_is_fitted(self)
        group = group_cells(self.mechanism_, columns, part)
        if len(group.categories) * self._channel.n_cells > _MOST_COVARIANCE:
            raise ValueError(
                f"the covariance of {len(group.categories):,} categories is too large; take fewer "
                "columns."
            )
        functions = (group.labels == np.arange(len(group.categories))[:, None]).astype(float)
        return self._fit.covariance(functions)

    def bounds(self, columns: Any = None, *, part: str = "all") -> Floats:
        """Least and greatest frequencies over all distributions with the same likelihood.

        If frequencies are not identifiable, :meth:`marginal` gives one of many distributions of
        maximal likelihood, and this method gives their range. More reports do not narrow it.

        Parameters
        ----------
        columns : name, position, list of them, or None
            Columns of the table; None for a part of the record.
        part : {"all", "sensitive", "nonsensitive"}, default="all"
            The part: X, S or U.

        Returns
        -------
        array of shape (k, 2)
            Both are the estimate if that is identifiable. Sampling error is not included.

        Raises
        ------
        ValueError
            If the mechanism has no such columns, or the method is not "ml".
        """
        check_is_fitted(self)
        if self._fit.unbiased or not isinstance(self._channel, DenseChannel):
            raise ValueError(
                "bounds are over distributions that explain the reports, which least squares does "
                f"not find: use method='ml' (and at most {MOST_DENSE:,} cells)."
            )
        group = group_cells(self.mechanism_, columns, part)
        values, _, known = self._by_category(group)
        found = np.stack([values, values], axis=1)
        for rows, functions in self._channel.indicators(group.labels, len(group.categories)):
            left = np.flatnonzero(~known[rows])
            if left.size:
                ends = extremes(self._channel.basis, self._fit.distribution, functions[left])
                found[rows.start + left] = ends
        return found

    def score(self, Y: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Average log-likelihood of reports at the estimated distribution.

        Parameters
        ----------
        Y : array, list, series or data frame of n rows
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
        counts, kinds = count_reports(as_rows(Y), self._source, self.encode, sample_weight)
        channel = self._channel
        if not np.array_equal(kinds, self._kinds):
            channel = self._channel_of(self.mechanism_, kinds)
        check_possible(counts, channel)
        seen = counts > 0
        report = channel.forward(self._fit.probable)[seen]
        with np.errstate(divide="ignore"):
            return float(counts[seen] @ np.log(np.maximum(report, 0.0)) / counts.sum())

    def _by_category(self, group: CellGroups) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        k = len(group.categories)
        if k == self._channel.n_cells:  # each is a cell: known from the fit
            order = np.argsort(group.labels)
            values, errors = (found[order] for found in self._fit.cells())
            return values, errors, self._channel.identifiable[order]
        values, errors, known = np.empty(k), np.empty(k), np.empty(k, dtype=bool)
        for rows, functions in self._channel.indicators(group.labels, k):
            values[rows], errors[rows] = self._fit.evaluate(functions)
            known[rows] = self._channel.determines(functions)
        return values, errors, known
