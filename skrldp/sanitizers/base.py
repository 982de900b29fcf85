"""The base class of the sanitizers: from a public table to a mechanism, and then to reports."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cache, partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skrldp._frames import refuse_index
from skrldp._lists_in_words import protected
from skrldp._params import check_choice, check_eps, check_seed
from skrldp.alphabet.combinations import Record
from skrldp.alphabet.numbers import Draws
from skrldp.joint import JointDistribution, as_counts
from skrldp.privacy.requirements import Requirements
from skrldp.sampling.random_bits import RandomStream, fresh_draws
from skrldp.sanitizers.fitted_state import (
    Designed,
    Fitted,
    FromFit,
    columns_of,
    information_of,
    named_record,
    snapshot,
)
from skrldp.sanitizers.parameters import (
    MOST_CELLS,
    Categories,
    Check,
    Columns,
    Seed,
    UncertaintySet,
    asked_of,
    check_verbose,
    default_uncertainty,
    grouping_of,
    known_places,
    larger_designs,
    one_of,
    or_none,
    set_such_as,
    with_parameters,
)
from skrldp.sanitizers.private_reports import estimated_joint, in_place_of_table
from skrldp.sanitizers.public_table import (
    UNKNOWN,
    WEIGHTED,
    check_columns,
    check_survey,
    public_joint,
    public_numbers,
    read_survey,
    records_of,
    told_of_survey,
)
from skrldp.sanitizers.reports import (
    ENCODINGS,
    TableTransformer,
    as_categories,
    as_frame,
    blank_table,
    posterior,
    read_symbols,
    to_container,
    with_index_of,
)
from skrldp.sanitizers.warnings import (
    warn_before_design,
    warn_of_first_column,
    warn_of_limits,
    warn_of_rare_values,
)
from skrldp.sets.fitted_sets import FittedSet
from skrldp.sets.parameter_objects import AllDistributions
from skrldp.sets.survey_effects import summary_of
from skrldp.surveys.design import SurveyDesign
from skrldp.table.codec import Codes
from skrldp.table.learned_categories import learn
from skrldp.table.read import Table, lazy_frame, read_table

# Parameters that may be None, which has no parameters, and a set to state instead.
_SETS = {"uncertainty": "LikelihoodRatioSet()", "utility_uncertainty": "RenyiBall()"}


@with_parameters
class BaseSanitizer(TableTransformer):
    """Base class of all sanitizers; a subclass designs the mechanism.

    Parameters
    ----------
    eps : float, default=1.0
        One report changes the odds of two secrets by a factor of at most exp(eps). Smaller values
        protect better; 1 is a strong guarantee, 3 a weak one.
    sensitive : str, int, list or callable, default=None
        The columns of the secret S, selected as in :class:`~sklearn.compose.ColumnTransformer`; all
        others together are U. None is the first column, with a warning. With ``slice(None)`` the
        whole record is the secret, and privacy holds for all distributions.
    survey : SurveyDesign, optional
        How the public records were drawn: columns of weights, strata and clusters, which are part
        of neither S nor U. None if the records are independent and identically distributed.
    categories : "auto", "dtype", "product", list or dict, default="auto"
        The values of the columns: a list for each column in order, or a dict for selected columns.
        Declare them without looking at the table, because otherwise beta does not hold. "auto"
        learns values and combinations; "dtype" states that the levels of dtypes were fixed in
        advance; "product" allows all combinations. More: :doc:`values </guide/values>`.
    min_frequency : int, float or "auto", optional
        Values of a column of U with fewer records than this (for a float: a smaller share) are
        reported as "other". "auto" uses the smallest number for which beta holds for learned
        values, about 40 to 70, and also reports unknown values as "other". Secrets are never
        grouped.
    uncertainty : LikelihoodRatioSet, RenyiBall or AllDistributions, optional
        The distributions for which privacy must hold; None is ``LikelihoodRatioSet()``. Pass one
        with ``drift=`` if the population may have changed. More: :doc:`sets </guide/sets>`.
    encode : {"symbol", "onehot", "posterior", "cells"}, optional
        Form of the reports: an integer, columns of 0 and 1, probabilities of each category given
        the report, or a record, the cell that was drawn (None).
    handle_unknown : {"error", "infrequent_if_exist"}, default="error"
        Whether unknown values of U are an error, or "other" in `fit`, in `transform` and on
        devices, in which case an unknown combination is "other" in each column. Unknown secrets are
        always an error.
    random_state : None, int, Generator or RandomState, default=None
        None uses the operating system's entropy. An int makes reports repeatable, for tests: **it
        voids the guarantee**, because whoever knows it can remove the noise. `fit` does not use it.
    verbose : int, default=0
        If positive, `fit` prints its progress.

    Attributes
    ----------
    joint_ : JointDistribution
        The public distribution: counts, probabilities, secrets and values.
    uncertainty_ : LikelihoodRatioSet, RenyiBall or AllDistributions
        The distributions for which privacy holds, with the fitted sizes in nats: the radius ``B_``
        of a ball, or the bounds ``single_`` and ``pair_`` of log likelihood ratios.
    mechanism_ : Mechanism
        The sampled mechanism; a client needs only ``mechanism_.to_json()``.
    certificate_ : Certificate
        Proof that ``mechanism_`` leaks at most ``certificate_.eps <= eps`` at all those
        distributions.
    solution_ : Solution
        How the mechanism was found: solver, status, objective and its bound, time.
    mutual_information_ : float
        I(X; Y) of the sampled mechanism at the public distribution, in nats.
    normalized_mutual_information_ : float
        The same divided by H(X).
    information_by_secret_, normalized_information_by_secret_ : ndarray of shape (a1,)
        I(U; Y | S=s) for each secret, in nats, and divided by H(U | S=s); NaN if H(U | S=s) is 0 or
        undefined.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns, if all are strings.

    Raises
    ------
    ValueError
        By `fit` and `transform`, for invalid parameters and tables.
    CertificateError
        By `fit`, if the mechanism cannot be proved private.

    Notes
    -----
    Read more in the guide: :doc:`which sanitizer to take </guide/designs>` and
    :doc:`what a report looks like </guide/reports>`.
    """

    eps: float = field(default=1.0, kw_only=False)
    sensitive: Columns = None
    survey: SurveyDesign | None = None
    categories: Categories = "auto"
    min_frequency: float | str | None = None
    uncertainty: UncertaintySet | None = None
    encode: str | None = None
    handle_unknown: str = "error"
    random_state: Seed = None
    verbose: int = 0

    # The check of each parameter that needs no table; `fit` runs these first.
    _checks: ClassVar[Mapping[str, Check]] = {
        "eps": check_eps,
        "encode": or_none(one_of(ENCODINGS)),
        "handle_unknown": one_of(UNKNOWN),
        "uncertainty": or_none(
            set_such_as("LikelihoodRatioSet(), RenyiBall() or AllDistributions()")
        ),
        "survey": check_survey,
        "random_state": lambda _, value: check_seed(value),
        "verbose": check_verbose,
    }

    _default_encode = "cells"  # the meaning of encode=None
    _most_cells = MOST_CELLS  # the maximum size of such a design
    _slow_from = math.inf  # cells beyond which a design takes long; None for closed forms

    # `fit` stores its results in one object, `_fitted`, which these attributes read.
    joint_ = FromFit("joint")
    survey_ = FromFit("survey")
    uncertainty_ = FromFit("uncertainty")
    mechanism_ = FromFit("mechanism")
    certificate_ = FromFit("certificate")
    solution_ = FromFit("solution")
    mutual_information_ = FromFit("figures.mutual_information_")
    normalized_mutual_information_ = FromFit("figures.normalized_mutual_information_")
    information_by_secret_ = FromFit("information_by_secret")  # computed on first access
    normalized_information_by_secret_ = FromFit("normalized_information_by_secret")
    n_features_in_ = FromFit("columns.n_features_in_")
    feature_names_in_ = FromFit("columns.feature_names_in_")

    # -- what a subclass decides ------------------------------------------------------------------

    def _design(self, promise: Requirements, confidence_set: FittedSet, record: Record) -> Designed:
        """Return a mechanism, its proof, and the solution behind it.

        `around` is the set of the parameter `uncertainty`; `record` names the columns.
        """
        raise NotImplementedError

    def _why_u(self) -> str:
        """State why some columns must not be sensitive; None if all may be."""
        if self.min_frequency is None:
            return ""
        return "min_frequency groups only values of U, because secrets are never grouped: omit it"

    def _private_set(self, uncertainty: FittedSet) -> FittedSet:
        """Return the set for which privacy must hold, given that of the parameter."""
        return uncertainty

    def _uncertainty_set(self) -> Any:
        """Return a copy of the uncertainty set that `fit` may modify."""
        if self.uncertainty is None:
            return default_uncertainty()
        return clone(self.uncertainty, safe=False)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including those of the sets of distributions: ``uncertainty__beta=0.01``.

        Parameters
        ----------
        **params
            Values by name. To set the parameters of a set, pass the set itself here or before,
            because the default None has no parameters.

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
                    f"{name} cannot be set, because {outer} is None. Pass a set, as in "
                    f"{type(self).__name__}({outer}={_SETS[outer]})."
                )
        changed: Self = super().set_params(**params)
        return changed

    # -- from a public table to a mechanism -------------------------------------------------------

    def fit(self, X: Any = None, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the public distribution, then design, round and certify a mechanism.

        Parameters
        ----------
        X : array, list of rows, data frame or lazy frame of shape (n, n_columns), optional
            The public table: pandas, polars, pyarrow or numpy; or a table in an engine: a lazy
            frame of Polars, a DuckDB relation, or a frame of Dask, PySpark, Ibis or SQLFrame. The
            engine counts equal rows, at most one row for each cell is fetched, and the result is
            that of the same rows in a data frame. Alternatively, private reports: a fitted
            :class:`FrequencyEstimator`, or a list of them, about different people. None needs no
            data, as if all combinations of `categories` were equally likely, and is for whole
            records or `AllDistributions`.
        y : ignored
            Not used; present for API consistency.
        sample_weight : array of shape (n,), optional
            How many records each row represents: integers, including zero, so that a table may be
            given by its distinct rows and their counts. Survey weights, the number of people whom a
            record represents, are not counts, and privacy depends on the number of records.
            Therefore weights are rejected if rows repeat and the weights exceed three per row on
            average: sum the counts of equal rows first. Lazy frames cannot have weights, because
            their rows have no order: collect the distinct rows and their counts.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, the table or the weights are invalid, or if a column of U has too many
            distinct values for a search.
        TypeError
            If the table has values of a type that clients do not support, such as bytes.
        RuntimeError
            If an engine fails to count the rows of a lazy frame.
        CertificateError
            If the mechanism cannot be proved private; then `transform` is not possible.

        Warns
        -----
        PrivacyLeakWarning
            If privacy holds for fewer distributions than a user may expect, or if `sensitive` is
            None, so that only the first column is protected.
        ConvergenceWarning
            If the design stopped at a limit on iterations or time.
        UserWarning
            If a column of U looks like an identifier; before a long design, if `transform` will
            reject combinations of values that do not occur in the table. In scikit-learn's
            searches, these warnings and those about rare values appear only at the final fit, not
            for each fold.
        """
        for name, check in self._checks.items():
            check(name, getattr(self, name))
        uncertainty = self._uncertainty_set()

        # The table: its alphabets, the cell of each row, and the distribution of the cells.
        X, reports = in_place_of_table(self, X, sample_weight, uncertainty)
        X, survey = read_survey(self, X, sample_weight, uncertainty)
        weights = None
        if sample_weight is not None:
            weights = cache(partial(as_counts, sample_weight, table=X, weighted=WEIGHTED))
        codec, codes = learn(
            X,
            sensitive=slice(1) if self.sensitive is None else self.sensitive,
            categories=self.categories,
            max_cells=self._most_cells,
            advice=larger_designs(self._most_cells),
            grouping=grouping_of(self, uncertainty),
            weights=weights,
            by_row=survey is not None and survey.records is not None,
            is_searched=math.isfinite(self._slow_from),
        )
        if not codec.nonsensitive:
            if reason := self._why_u():
                n = len(codec.columns)
                raise ValueError(f"the table has {n} feature(s), all sensitive, but {reason}.")
            uncertainty = AllDistributions()
        if self.sensitive is None:
            warn_of_first_column([column.name for column in codec.columns])
        joint = public_joint(codec, codes, weights, survey)
        numbers = public_numbers(X, codec, weights, survey)
        if reports is not None:
            joint = estimated_joint(joint, codes.cells(codec.n_values), reports)
        names = [(c.name, position in codec.sensitive) for position, c in enumerate(codec.columns)]

        # The set of distributions, and the requirements for them.
        confidence_set = uncertainty.fit_set(joint)
        joint = confidence_set.centred(joint)
        for name, figure in confidence_set.fitted_attributes.items():
            setattr(uncertainty, name, figure)
        known = known_places(self, X)
        promise = asked_of(
            self,
            joint,
            self._private_set(confidence_set),
            lambda table: self._private_set(uncertainty.fit_set(table)),
            codec,
            known,
        )
        tables = [(item.region.uncertainty, item.joint or joint) for item in promise]
        survey_told = told_of_survey(survey, joint, confidence_set, codes)
        warned = warn_before_design(self, uncertainty, confidence_set, joint, tables, codec)

        # The design: solved, rounded to integers and proved; then the mechanism with its claims.
        design = self._design(promise, confidence_set, named_record(joint, names, codec, numbers))
        if design.utility is not None and not warned:
            warn_of_rare_values(joint, design.utility[1:], codec, self._most_cells)
        warn_of_limits(design.solution)
        mechanism = design.mechanism.named(
            design.symbols,
            names,
            claims=design.certificate.claims,
            others=codec.others,
            public=replace(summary_of(joint), numbers=numbers),
            numbers=[column.numbers for column in codec.columns],
        )
        certificate = design.certificate.about(mechanism, joint)
        design = replace(design, mechanism=mechanism, certificate=certificate)

        # The results, in a single assignment, so that a failed or interrupted fit leaves the
        # estimator unchanged.
        figures, words = self._summarise(joint, design)
        is_elsewhere = isinstance(X, Table) or lazy_frame(X) is not None
        fitted = Fitted(
            columns=columns_of(self, blank_table(codec) if is_elsewhere else X),
            codec=codec,
            joint=joint,
            uncertainty=uncertainty,
            design=design,
            known=tuple(codec.columns[position].name for position in known),
            figures=figures,
            asked=snapshot(self),
            survey=survey_told,
        )
        if self.verbose:
            named = ([n for n, flag in names if flag is kind] for kind in (True, False))
            print(f"{type(self).__name__}: {protected(*named)}; {fitted.in_words}, {words}")
        self._fitted = fitted
        return self

    def _summarise(self, joint: JointDistribution, design: Designed) -> tuple[dict[str, Any], str]:
        """Return the mechanism's utility: public attributes by name, and the same in words."""
        information, share = information_of(design.mechanism, joint)
        figures = {"mutual_information_": information, "normalized_mutual_information_": share}
        return figures, f"I(X;Y)={information:.4f} nats"

    # -- from private records to reports ----------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Report each record.

        Every call draws again, unless `random_state` is an int; workers with copies of one
        generator repeat each other's draws. The guarantee is for one report about each person: keep
        the report instead of calling again. Two reports of GRR or SRR are together private at
        2·eps, two of a mechanism with `eps_worst_case` at eps + eps_worst_case; without it, two of
        a mechanism that is private over a smaller set of distributions may reveal the secret.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            Private records, with the columns of the public table. With ``observe="nonsensitive"``,
            for the sanitizers that have this parameter, the columns of U are sufficient, and
            columns of S are ignored.

        Returns
        -------
        array or data frame of n rows
            In the form specified by `encode`, and in the container of X unless `set_output`
            specifies a different one.

        Raises
        ------
        ValueError
            If the columns are not those seen in `fit`, or a value is unknown, or a column is the
            index of X, too, which the output keeps. No record is reported then.
        """
        fitted = self._state()
        X = records_of(self, X)
        table = read_table(X)
        # Columns have no names if the public table was an array.
        refuse_index(X, [*(column.name for column in fitted.codec.columns), *table.names])
        stream = RandomStream(self.random_state)
        codes = self._encode(X, table, fitted, draws=fresh_draws(stream))
        cells = codes.cells(fitted.codec.n_values)
        reports = fitted.mechanism.sample(cells, stream)
        return self._emitted(reports, table, fitted, self._encoding())

    def decode(self, reports: Any, encode: str = "cells") -> Any:
        """Write reports that were drawn earlier in a different form, without drawing again.

        Privacy is unchanged, because the result is computed from the symbols alone. Calling
        `transform` again would make a second report about each person.

        Parameters
        ----------
        reports : array or list of shape (n,) or (n, 1), series, or data frame of one column
            Symbols, from 0 to b − 1, as returned by `transform` with ``encode="symbol"`` or sent by
            clients with this ``mechanism_``.
        encode : {"symbol", "onehot", "posterior", "cells"}, default="cells"
            The form of the result, as in the parameter `encode`.

        Returns
        -------
        array or data frame of n rows
            What `transform` would have returned with this `encode`. It is in the container of
            `reports` (for a series, a data frame), unless `set_output` specifies a different one.

        Raises
        ------
        NotFittedError
            If the sanitizer has not been fitted.
        ValueError
            If `reports` has more than one column, or a value is not a symbol of ``mechanism_``.

        Examples
        --------
        >>> from skrldp import SRRSanitizer
        >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
        >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[7, 10, 26, 57])
        >>> sanitizer.decode([3, 0])
        array([['yes', 'rare'],
               ['no', 'often']], dtype=object)
        >>> sanitizer.decode([3, 0], encode="onehot")
        array([[0., 0., 0., 1.],
               [1., 0., 0., 0.]])
        """
        fitted = self._state()
        check_choice("encode", encode, ENCODINGS)
        table, symbols = read_symbols(reports, fitted.mechanism.shape[0])
        if encode != "cells":
            return self._emitted(symbols, table, fitted, encode)
        names = self._report_names(fitted, fitted.names, encode)
        written = self._written(symbols, encode, names, blank_table(fitted.codec, table), fitted)
        return to_container(with_index_of(written, table), names, self._container())

    def _emitted(self, symbols: NDArray[Any], X: Any, fitted: Fitted, encode: str) -> Any:
        """Return the reports about the rows of X, given by their symbols, as `transform` does."""
        names = self._report_names(fitted, fitted.names, encode)
        written = self._written(symbols, encode, names, X, fitted)
        written = to_container(written, names, chosen := self._container())
        if encode != "symbol":
            return written
        return as_categories(written, dict.fromkeys(names, fitted.mechanism.shape[0]), chosen)

    def _written(
        self, symbols: NDArray[Any], encode: str, names: Sequence[str], like: Any, fitted: Fitted
    ) -> Any:
        if encode == "cells":
            return fitted.codec.decode(fitted.design.reported_cells[symbols], like=like)
        if encode == "symbol":
            numbers: NDArray[Any] = symbols.astype(np.int64)[:, None]
        elif encode == "onehot":
            numbers = np.zeros((len(symbols), fitted.mechanism.shape[0]))
            numbers[np.arange(len(symbols)), symbols] = 1.0
        else:
            numbers = posterior(fitted.mechanism, fitted.joint, fitted.codec)[symbols]
        return as_frame(numbers, names, like)

    def _encoding(self) -> str:
        if self.encode is None:
            return self._default_encode
        check_choice("encode", self.encode, ENCODINGS)
        return self.encode

    def _state(self) -> Fitted:
        """Return the results of `fit`, to be read once per call: another `fit` may replace them."""
        check_is_fitted(self)
        return self._fitted

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    def _encode(
        self,
        X: Any,
        table: Table,
        fitted: Fitted,
        *,
        secrets: bool = False,
        draws: Draws | None = None,
    ) -> Codes:
        """Return the codes of X, read as `table`; draws from a fixed seed round if none are given.

        For a mechanism that observes only U, S is read only if X contains it and `secrets` is true.
        """
        codec, observe = fitted.codec, fitted.mechanism.observe
        alone = check_columns(fitted.columns, X, table, codec, observe=observe)
        of_u = alone or (observe == "nonsensitive" and not secrets)
        group = self.handle_unknown == "infrequent_if_exist" or self.min_frequency == "auto"
        return codec.encode(table, unknown="other" if group else "error", of_u=of_u, draws=draws)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Normalised mutual information I(X; Y) / H(X) at the distribution of a table.

        It measures how much information one report contains about one record, not how precisely
        shares are estimated from many reports. For the latter, search with the scorer of
        :func:`~skrldp.model_selection.neg_std_error_scorer`.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            Records; nothing is reported about them. For a table with the columns of U alone
            (``observe="nonsensitive"``) the score is I(U; Y) / H(U).
        y : ignored
            Not used; present for API consistency.
        sample_weight : array of shape (n,), optional
            How many records each row stands for.

        Returns
        -------
        float
            Between 0 and 1; 0 if X is constant. It is not private, because it depends on X.
        """
        fitted = self._state()
        return information_of(fitted.mechanism, self._distribution_of(X, sample_weight, fitted))[1]

    def _distribution_of(
        self, X: Any, sample_weight: ArrayLike | None, fitted: Fitted
    ) -> JointDistribution:
        X = records_of(self, X)
        codes = self._encode(X, read_table(X), fitted, secrets=True)
        names = fitted.codec.secrets, fitted.codec.values
        if sample_weight is not None:
            sample_weight = as_counts(sample_weight, len(codes.secrets), table=X, weighted=WEIGHTED)
        return JointDistribution.from_codes(codes.secrets, codes.values, names, sample_weight)

    # -- scikit-learn's conventions ---------------------------------------------------------------

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of `transform`'s output.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names seen in `fit`, if the table had names; otherwise the names to use.

        Returns
        -------
        ndarray of str objects
        """
        fitted = self._state()
        seen, n_columns = fitted.names, len(fitted.codec.columns)
        names: Any = seen
        if input_features is not None:
            names = np.asarray(input_features, dtype=object)
        if names is not None and len(names) != n_columns:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({n_columns}), got {len(names)}"
            )
        if seen is not None and not np.array_equal(seen, names):
            raise ValueError("input_features is not equal to feature_names_in_")
        return np.array(self._report_names(fitted, names, self._encoding()), dtype=object)

    def _report_names(
        self, fitted: Fitted, columns: Sequence[Any] | None, encode: str
    ) -> list[str]:
        """Names of the columns that hold the reports."""
        if encode == "symbol":
            return ["report"]
        if encode == "onehot":
            return [f"report_{symbol}" for symbol in range(fitted.mechanism.shape[0])]
        if columns is None:
            columns = [f"x{position}" for position in range(len(fitted.codec.columns))]
        if encode == "cells":
            return list(columns)
        return [
            f"{name}_{category}"
            for name, column in zip(columns, fitted.codec.columns, strict=True)
            for category in column.categories
        ]
