"""Estimates of the distribution of records from reports, as a scikit-learn estimator."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from skrldp._arrays import ReadOnlyFit, read_only
from skrldp._params import as_list, check_beta, check_choice
from skrldp._typing import Floats, Indices
from skrldp.alphabet.combinations import group_cells
from skrldp.estimation.channels import Channel, StructuredChannel, channel_of
from skrldp.estimation.errors_and_intervals import LEAST_REPORTS, Sample
from skrldp.estimation.hypotheses import (
    DriftTest,
    drift_of,
    leakage_bound,
    warn_of_broken_bounds,
    warn_of_contradiction,
    warn_of_drift,
)
from skrldp.estimation.report_weights import WeightedStatistic
from skrldp.estimation.reports import (
    ENCODINGS,
    Source,
    read_reports,
    read_source,
    samples_of,
    summary_for,
)
from skrldp.estimation.shares_and_means import Cells, FigureMethods, check_size
from skrldp.joint import JointDistribution
from skrldp.mechanism.mechanism import Mechanism
from skrldp.public_summary import PublicSummary
from skrldp.surveys.design import SurveyDesign
from skrldp.table.read import lazy_frame

if TYPE_CHECKING:
    import pandas as pd

_FEW = 5  # minimum number of reports without a warning

METHODS = ("unbiased", "em")


class FrequencyEstimator(ReadOnlyFit, FigureMethods, BaseEstimator):
    """Shares, means and quantiles of the records, estimated from the reports of a mechanism.

    A report about a record in cell x has the distribution Q_x, the column x of the mechanism's
    matrix Q. Each estimate is the mean of a weight for each report, with weights chosen so that it
    is exactly unbiased for every population.

    Parameters
    ----------
    mechanism : Mechanism, str, fitted sanitizer or Pipeline
        Source of the reports: a mechanism, its JSON, or the sanitizer (or a Pipeline that ends in
        it), which also determines how symbols are written as cells. To clone this estimator, wrap a
        sanitizer in :class:`~sklearn.frozen.FrozenEstimator`, because scikit-learn's ``clone``
        would also unfit the sanitizer.
    method : {"unbiased", "em"}, default="unbiased"
        Method for point estimates. "unbiased": unbiased estimates, except that the shares of a
        table are moved to the closest distribution. "em": estimates of the most likely distribution
        of all cells. Errors and intervals are the same for both.
    public : JointDistribution, optional
        The distribution for which the weights have the smallest variance, and with which the
        respondents' population is compared; by default, the distribution that the mechanism or its
        JSON contains. If there is none, for example after ``to_json(public=False)``, the weights
        are best for the uniform distribution, and the population is not tested.
    encode : {"auto", "symbol", "onehot", "cells"}, default="auto"
        Form of the reports, as in the sanitizers. Clients and :meth:`Mechanism.sample` return
        "symbol". "auto" detects the form by the names of the columns. Without names, it uses the
        only form that the reports can have, and raises an error if several are possible.
    survey : SurveyDesign, optional
        Columns of `Y` with the weights, strata and clusters of the respondents. **The collector of
        the reports sees the weights**, so they must depend only on facts about each person that
        need no protection.
    groups : str or list of str, optional
        Columns of `Y` that are not reports, such as a region that is collected without noise.
        Everything is estimated for each group that they define.

    Attributes
    ----------
    frequencies_ : array of shape (a1, a2)
        Estimated distribution of X, for all groups together: secrets in rows, values of U in
        columns. NaN in cells that the reports do not determine, unless the method is "em".
    identifiable_ : array of bool, shape (a1, a2)
        Whether the distribution of reports determines the cell's probability; if not, more reports
        do not help.
    counts_ : array of shape (b,)
        Number of reports of each symbol or, for reports in the form of cells, of each distinct
        cell.
    n_reports_ : int
        Number of reports.
    mechanism_ : Mechanism
        The mechanism that produced the reports.
    drift_ : DriftTest or None
        Test of whether the respondents come from the public table's population; None if there are
        no public records to compare.
    n_features_in_ : int
        Number of columns of the reports.
    feature_names_in_ : ndarray of str
        Their names, if all are strings.

    Raises
    ------
    TypeError, ValueError
        By `fit`, if parameters or reports are invalid; the estimator is then unchanged.
    RuntimeError
        By `fit`, if an engine fails to count the reports of a lazy frame.

    Warns
    -----
    UserWarning
        By `fit`, if no distribution of records explains the reports, for example because they are
        raw records (a false alarm in at most one of a million samples); if the respondents'
        population is not that of the public table (p < 0.001), unless privacy is guaranteed for all
        distributions; and if there are fewer than five reports, in total or in a group, so that
        estimates have no standard errors.

    Notes
    -----
    Intervals contain all values within z standard errors of the estimate. The variance is the
    larger of two: that of the reports, and that at the distribution which has the value and is
    closest to the public one. Hypothetical reports allow for symbols with a large weight that
    nobody sent. These are Wilson's and Fieller's intervals with the mechanism's noise included.
    If the reports do not determine an estimate, or effectively fewer than 30 reports do, its
    interval allows for a bias (Donoho 1994).

    Reports must be about different people, because repeated reports about one person are not
    independent and the standard errors would be too small.

    References
    ----------
    E. B. Wilson, Probable inference, the law of succession, and statistical inference, J. American
    Statistical Association 22, 1927.

    D. L. Donoho, Statistical estimation and optimal recovery, Annals of Statistics 22, 1994.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp import FrequencyEstimator, GRRSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = GRRSanitizer(eps=1.0, sensitive=0, random_state=0)
    >>> sanitizer = sanitizer.fit(X, sample_weight=[70, 100, 260, 570])
    >>> private = np.repeat(np.array(X, dtype=object), [700, 1000, 2600, 5700], axis=0)
    >>> estimator = FrequencyEstimator(sanitizer).fit(sanitizer.transform(private))
    >>> estimator.frequencies_.round(2)
    array([[0.11, 0.04],
           [0.57, 0.27]])
    >>> estimator.marginal(part="sensitive").confidence_interval().round(2)
    array([[0.13, 0.19],
           [0.81, 0.87]])
    """

    _own: "Cells"
    _kinds: Indices  # (b,), the same for symbols that are written identically
    _source: Source

    def __init__(
        self,
        mechanism: Any,
        method: str = "unbiased",
        *,
        public: JointDistribution | None = None,
        encode: str = "auto",
        survey: SurveyDesign | None = None,
        groups: str | Sequence[str] | None = None,
    ) -> None:
        self.mechanism = mechanism
        self.method = method
        self.public = public
        self.encode = encode
        self.survey = survey
        self.groups = groups

    # -- fitting ----------------------------------------------------------------------------------

    def fit(
        self, Y: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "FrequencyEstimator":
        """Count the reports.

        Parameters
        ----------
        Y : array, list, series, data frame or lazy frame of n rows
            Reports, each about a different person: a column of symbols, a column of 0 and 1 for
            each symbol, or cells; in addition, the columns of `survey` and `groups`. The reports of
            a lazy frame (of Polars, DuckDB, Dask, PySpark, Ibis or SQLFrame) are counted by its
            engine.
        y : ignored
            Not used; present for API consistency.
        sample_weight : array of shape (n,), optional
            How many reports each row represents: integers, including zero. To fit counts, use
            ``fit(range(b), sample_weight=counts)``. Not available for lazy frames, because their
            rows have no order.

        Returns
        -------
        self
        """
        check_choice("method", self.method, METHODS)
        check_choice("encode", self.encode, ENCODINGS)
        survey, groups = self.survey, as_list(self.groups)
        if not (survey is None or isinstance(survey, SurveyDesign)):
            raise TypeError(f"survey must be a SurveyDesign or None, got {type(survey).__name__}.")
        if survey is not None and sample_weight is not None:
            raise ValueError("survey= contains the weights of the reports. Omit sample_weight.")
        if survey is not None and lazy_frame(Y) is not None:
            raise ValueError(
                "survey weights apply to single rows, but this is a lazy frame. Collect it."
            )
        source = read_source(self.mechanism)
        public = _public_of(self.public, source.mechanism)
        columns = list(dict.fromkeys([*groups, *(() if survey is None else survey.columns)]))
        reports = read_reports(Y, source, self.encode, sample_weight, columns)
        samples = samples_of(reports, groups, survey)
        channel = _channel(source.mechanism, reports.kinds, public)
        fitted = object.__new__(type(self))
        validate_data(fitted, reports.table, skip_check_array=True, reset=True)
        fitted._own = Cells(source.mechanism, channel, samples, tuple(groups), self.method)
        fitted._kinds, fitted._source, fitted.mechanism_ = reports.kinds, source, source.mechanism
        counts = fitted._own.counts
        _check_possible(counts, channel)
        warn_of_contradiction(channel, counts)
        few = min(sample.n for _, sample in samples)
        if few < _FEW:
            warnings.warn(
                f"only {round(few)} reports{' of a group' if groups else ''}: standard errors need "
                f"{LEAST_REPORTS:g} and are NaN, and intervals are hardly shorter than the whole "
                f"range. Fit more reports{', or coarser groups' if groups else ''}.",
                stacklevel=2,
            )
        fitted.counts_ = np.rint(counts).astype(np.int64)
        fitted.n_reports_ = round(counts.sum())
        fitted.drift_ = None
        is_tested = self.survey is None and len(source.mechanism.values) > 1
        is_tested = is_tested and not isinstance(channel, StructuredChannel)
        if is_tested and public is not None and public.size is not None:
            fitted.drift_ = drift_of(channel, counts, public, source.mechanism)
            warn_of_drift(fitted.drift_, source.mechanism.claims)
        if self.survey is None and not isinstance(channel, StructuredChannel):
            warn_of_broken_bounds(source.mechanism, channel.matrix, counts)
        frequencies, known = fitted._own.frequencies()
        shape = len(source.mechanism.secrets), len(source.mechanism.values)
        fitted.frequencies_, fitted.identifiable_ = frequencies.reshape(shape), known.reshape(shape)
        # The estimator changes only here, so that a failed fit leaves it unchanged.
        attributes = {name: read_only(value) for name, value in vars(fitted).items()}
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(attributes)
        return self

    # -- beside the estimates ----------------------------------------------------------------------

    def _cells(self, columns: Any, by: Any, part: str = "all") -> Cells:
        check_is_fitted(self)
        return self._own

    def drift_test(self) -> DriftTest:
        """Test whether the respondents come from the public table's population.

        Privacy over a set is guaranteed for populations in that set. The test compares the
        distributions of U given S, and allows for the sampling errors of both tables; P(S) is
        unrestricted. `fit` always runs it.

        Returns
        -------
        DriftTest

        Raises
        ------
        ValueError
            If the public distribution is unknown, or the mechanism has too many cells.

        Notes
        -----
        A large p-value does not prove that there is no drift, because the reports may contain too
        little information. A small p-value does not mean that the guarantee fails, because the
        confidence set also contains distributions other than the public one.

        Examples
        --------
        >>> from skrldp import FrequencyEstimator, SRRSanitizer
        >>> cells = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
        >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0, random_state=0)
        >>> sanitizer = sanitizer.fit(cells, sample_weight=[700, 1000, 260, 570])
        >>> reports = sanitizer.transform(cells * 300)  # "rare" was 31 % of "yes", now 50 %
        >>> print(FrequencyEstimator(sanitizer).fit(reports).drift_test())
        1,200 reports contradict that U given S is distributed as in the public table (p = ...
        """
        check_is_fitted(self)
        if self.drift_ is None:
            raise ValueError(
                "the drift test needs a public distribution (pass public= if the mechanism has "
                "none). It is not available for surveys, for claims for all distributions and for "
                "mechanisms with too many cells."
            )
        return self.drift_

    def leakage_bound(self, beta: float = 0.05) -> float:
        """Bound the leakage of the mechanism for the respondents' population, from their reports.

        The bound is valid with probability at least 1 − beta for every number of reports, whatever
        the public table is, because it is the certificate over all distributions that the reports
        do not rule out.

        Parameters
        ----------
        beta : float, default=0.05
            Probability with which the bound may be wrong.

        Returns
        -------
        float
            In nats; infinite if the reports do not bound the leakage. At most the mechanism's claim
            for all distributions.

        Raises
        ------
        ValueError
            If the reports are weighted.

        Examples
        --------
        >>> from skrldp import FrequencyEstimator, IRSanitizer
        >>> cells = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
        >>> counts = [700, 1000, 2600, 5700]
        >>> sanitizer = IRSanitizer(eps=1.0, sensitive=0, random_state=0)
        >>> sanitizer = sanitizer.fit(cells, sample_weight=counts)
        >>> private = [cell for cell, n in zip(cells, counts) for _ in range(10 * n)]
        >>> estimator = FrequencyEstimator(sanitizer).fit(sanitizer.transform(private))
        >>> round(estimator.leakage_bound(), 1)
        1.1
        """
        check_is_fitted(self)
        if self.survey is not None:
            raise ValueError("no exact bound is known for reports with survey weights.")
        channel = self._own.channel
        is_structured = isinstance(channel, StructuredChannel)
        matrix = self.mechanism_.matrix if is_structured else channel.matrix
        return leakage_bound(self.mechanism_, matrix, self._own.counts, check_beta("beta", beta))

    def to_training_data(
        self, features: Any, label: Any
    ) -> "tuple[pd.DataFrame, pd.Series, Floats]":
        """Rows and weights for training any model that takes ``sample_weight``.

        Each combination of categories of the features and the label is a row, weighted by its
        frequency in the most likely distribution. The model learns about the population, which
        costs no privacy if **the label was a column of the reported records**. Labels that are
        collected separately are not covered by the guarantee.

        Parameters
        ----------
        features : name, position or list of them
            Columns from which the model predicts.
        label : name or position
            The column to predict.

        Returns
        -------
        X : pandas.DataFrame of shape (k, n_features)
            The combinations of categories with a positive frequency.
        y : pandas.Series of length k
            Their labels.
        sample_weight : array of shape (k,)
            Positive weights. Their sum is the *effective number of records*: the number of raw
            records that would estimate these frequencies as precisely. Penalties, such as that of
            :class:`~sklearn.linear_model.LogisticRegression`, are relative to it.

        Raises
        ------
        ValueError
            If the mechanism has no such columns, or a column is named twice.

        Warns
        -----
        UserWarning
            If the reports do not determine the frequencies, so that other models fit equally well.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from skrldp import FrequencyEstimator, SRRSanitizer
        >>> cells = [[ill, age, buys] for ill in (0, 1) for age in (20, 60) for buys in (0, 1)]
        >>> counts = [2500, 500, 500, 2500, 1500, 500, 500, 1500]
        >>> sanitizer = SRRSanitizer(eps=2.0, sensitive=0, random_state=0)
        >>> sanitizer = sanitizer.fit(cells, sample_weight=counts)
        >>> reports = sanitizer.transform(np.repeat(cells, counts, axis=0))
        >>> X, y, weight = FrequencyEstimator(sanitizer).fit(reports).to_training_data([1], 2)
        >>> model = DecisionTreeClassifier().fit(X.to_numpy(), y, weight)
        >>> model.predict_proba([[20], [60]]).round(1)
        array([[0.8, 0.2],
               [0.2, 0.8]])
        """
        import pandas as pd

        check_is_fitted(self)
        named = as_list(features)
        if not named:
            raise ValueError("features is empty: name at least one column to predict from.")
        cells, sample = self._own, self._own.one_sample("training rows")
        group = group_cells(self.mechanism_, [*named, label], "all")
        check_size(len(group.categories), cells.channel.n_cells)
        shares = WeightedStatistic.of(cells.channel, group.indicators)
        if not shares.determined.all():
            warnings.warn(
                f"{int((~shares.determined).sum())} of {len(group.categories)} frequencies of "
                "features and label are not identifiable from these reports, so other models fit "
                "as well. Design with AOptimalSanitizer(targets='all') or SRRSanitizer.",
                stacklevel=2,
            )
        frequencies = cells.most_likely(sample)
        weights = np.bincount(group.labels, frequencies, len(group.categories)).astype(np.float64)
        weights = weights * _effective_number(shares, sample, weights)
        rows = np.flatnonzero(weights > 0)
        table = pd.DataFrame([group.categories[k] for k in rows], columns=list(group.name))
        return table.iloc[:, :-1], table.iloc[:, -1], weights[rows]


def _effective_number(shares: WeightedStatistic, sample: Sample, frequencies: Floats) -> float:
    """Return the number of raw records that would estimate the determined shares equally well.

    n raw records estimate a share f with variance f (1 - f) / n. If no share is determined, return
    the number of reports.
    """
    known = shares.determined
    influence = shares.influence(sample)[known]
    variance = float(sample.products(influence, influence).sum())
    of_one = float((frequencies * (1.0 - frequencies))[known].sum())
    return of_one / variance if variance else sample.n


# -- the mechanism and its reports ----------------------------------------------------------------


def _public_of(public: Any, mechanism: Mechanism) -> PublicSummary | None:
    if public is None:
        return mechanism.public
    if not isinstance(public, JointDistribution):
        raise TypeError(
            "public must be a JointDistribution (a sanitizer's joint_) or None, got "
            f"{type(public).__name__}."
        )
    return summary_for("public", public, mechanism)


def _channel(
    mechanism: Mechanism, kinds: NDArray[np.intp], public: PublicSummary | None
) -> Channel:
    """Return the channel to reports as written, with best weights at the public distribution."""
    n_kinds, a = int(kinds.max()) + 1, mechanism.shape[1]
    cells = np.full(a, 1.0 / a) if public is None else public.smoothed().ravel()
    if n_kinds == len(kinds):
        return channel_of(mechanism, cells)
    merged = np.zeros((n_kinds, a))
    np.add.at(merged, kinds, mechanism.matrix)
    return Channel(merged, cells)


def _check_possible(counts: Floats, channel: Channel) -> None:
    wrong = np.flatnonzero((counts > 0) & ~channel.possible)
    if wrong.size:
        raise ValueError(
            f"there are {int(counts[wrong[0]]):,} reports of symbol {wrong[0]}, which "
            "this mechanism never sends: these are reports of a different mechanism."
        )
