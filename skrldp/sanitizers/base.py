"""The base class of the sanitizers: from a public table to a mechanism, and on to reports."""

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cache, partial
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skrldp._frames import refuse_index
from skrldp._lists_in_words import protected
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
    Parameters,
    asked_of,
    grouping_of,
    known_places,
    larger_designs,
)
from skrldp.sanitizers.private_reports import estimated_joint, in_place_of_table
from skrldp.sanitizers.public_table import (
    WEIGHTED,
    check_columns,
    public_joint,
    public_numbers,
    read_survey,
    records_of,
    told_of_survey,
)
from skrldp.sanitizers.reports import ReportsMixin, blank_table
from skrldp.sanitizers.warnings import (
    warn_of_combinations,
    warn_of_empty_values,
    warn_of_first_column,
    warn_of_identifiers,
    warn_of_limits,
    warn_of_rare_values,
    warn_of_weak_sets,
)
from skrldp.sets.fitted_sets import FittedSet
from skrldp.sets.parameter_objects import AllDistributions
from skrldp.sets.radii import summary_of
from skrldp.table.codec import Codes
from skrldp.table.learned_categories import learn
from skrldp.table.read import Table, lazy_frame, read_table


class BaseSanitizer(  # type: ignore[call-arg]  # scikit-learn's keyword, but it has no types
    ReportsMixin, TransformerMixin, Parameters, ABC, auto_wrap_output_keys=None
):
    """Base class of all sanitizers; a subclass designs the mechanism.

    scikit-learn's own wrapping of outputs is switched off (``auto_wrap_output_keys=None``): it
    would turn frames into arrays and back, which loses dtypes and the order of categories.
    """

    _default_encode = "cells"  # what encode=None stands for
    _most_cells = MOST_CELLS  # what a design of this kind can hold
    _slow_from = math.inf  # cells, beyond which a design takes long; closed forms do not

    # `fit` stores its results in one object, `_fitted`; these attributes read it.
    joint_ = FromFit("joint")
    survey_ = FromFit("survey")
    uncertainty_ = FromFit("uncertainty")
    mechanism_ = FromFit("mechanism")
    certificate_ = FromFit("certificate")
    solution_ = FromFit("solution")
    mutual_information_ = FromFit("figures.mutual_information_")
    normalized_mutual_information_ = FromFit("figures.normalized_mutual_information_")
    information_by_secret_ = FromFit("information_by_secret")  # computed when first read
    normalized_information_by_secret_ = FromFit("normalized_information_by_secret")
    n_features_in_ = FromFit("columns.n_features_in_")
    feature_names_in_ = FromFit("columns.feature_names_in_")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)

    # -- what a subclass decides ------------------------------------------------------------------

    @abstractmethod
    def _design(self, asked: Requirements, around: FittedSet, record: Record) -> Designed:
        """Return a mechanism, its proof, and the solution behind it.

        `around` is the set of the parameter `uncertainty`; `record` names the columns.
        """

    def _why_u(self) -> str:
        """Say why some columns must not be sensitive; nothing if all may be."""
        if self.min_frequency is None:
            return ""
        return "min_frequency groups values of U, and secrets are never grouped: leave it out"

    def _private_set(self, uncertainty: FittedSet) -> FittedSet:
        """Return the set that privacy must hold for, given that of the parameter."""
        return uncertainty

    # -- from a public table to a mechanism -------------------------------------------------------

    def fit(self, X: Any = None, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the public distribution, then design, round and certify a mechanism.

        Parameters
        ----------
        X : array, list of rows, data frame or lazy frame of shape (n, n_columns), optional
            The public table: pandas, polars, pyarrow or numpy. Or private reports in its place: a
            fitted :class:`FrequencyEstimator`, or a list of them, about different people. None
            designs whole records, or for `AllDistributions`, without any data, as if all
            combinations of `categories` were equally likely. Or a table that is elsewhere: a lazy
            frame of Polars, a DuckDB relation, or a frame of Dask, PySpark, Ibis or SQLFrame. Its
            equal rows are counted there, and at most one row for each cell is brought. The result
            is that of the same rows in a data frame.
        y : ignored
            Not used; present for API consistency.
        sample_weight : array of shape (n,), optional
            How many records each row stands for: integers, zero allowed. A table can thus be
            given by its distinct rows and their counts. Survey weights, which state how many people
            a record represents, are not counts, and privacy depends on the number of records.
            Weights are therefore refused where rows repeat and the weights are more than three a
            row on average: add up the counts of equal rows first. Lazy frames have no weights, as
            their rows have no order: collect the distinct rows and their counts.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, the table or the weights are not as described, or if, before a search, a
            column of U has too many distinct values.
        TypeError
            If the table has values of a type that no client could have, such as bytes.
        RuntimeError
            If an engine fails to count the rows of a lazy frame.
        CertificateError
            If the mechanism cannot be proved private; nothing can be transformed then.

        Warns
        -----
        PrivacyLeakWarning
            If privacy holds for fewer distributions than a user may think, or if `sensitive` is
            None, so that the first column alone is protected.
        ConvergenceWarning
            If the design stopped at a limit of iterations or time.
        UserWarning
            If a column of U looks like an identifier, and, before a design that takes long, if
            `transform` will refuse combinations of values that the table lacks. Of these, and of
            rare values, scikit-learn's searches warn at the last fit, not for each fold.
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
        names = [(c.name, place in codec.sensitive) for place, c in enumerate(codec.columns)]

        # The set of distributions, and what is promised for them.
        around = uncertainty.fit_set(joint)
        joint = around.centred(joint)
        for name, figure in around.fitted_attributes.items():
            setattr(uncertainty, name, figure)
        known = known_places(self, X)
        asked = asked_of(
            self,
            joint,
            self._private_set(around),
            lambda table: self._private_set(uncertainty.fit_set(table)),
            codec,
            known,
        )
        tables = [(one.region.uncertainty, one.joint or joint) for one in asked]
        sets = [own for own, _ in tables]
        warn_of_weak_sets(around, joint, tables)
        survey_told = told_of_survey(survey, joint, around, codes)
        warn_of_identifiers(codec, joint)
        if not getattr(uncertainty, "drift", 0.0):
            warn_of_empty_values(joint, sets)
        warned = warn_of_rare_values(joint, sets, codec, self._most_cells)
        if joint.counts.size > self._slow_from and self.handle_unknown == "error":
            warn_of_combinations(codec, self._most_cells)

        # The design: solved, rounded to integers and proven; then the mechanism with its claims.
        design = self._design(asked, around, named_record(joint, names, codec, numbers))
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

        # The results. One assignment: a fit that fails or stops leaves the estimator as it was.
        figures, words = self._summarise(joint, design)
        is_elsewhere = isinstance(X, Table) or lazy_frame(X) is not None
        fitted = Fitted(
            columns=columns_of(self, blank_table(codec) if is_elsewhere else X),
            codec=codec,
            joint=joint,
            uncertainty=uncertainty,
            design=design,
            known=tuple(codec.columns[place].name for place in known),
            figures=figures,
            asked=snapshot(self),
            survey=survey_told,
        )
        if self.verbose:
            parts = ([n for n, flag in names if flag is kind] for kind in (True, False))
            print(f"{type(self).__name__}: {protected(*parts)}; {fitted.in_words}, {words}")
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
            for the sanitizers that have this parameter, the columns of U alone suffice, and columns
            of S are not looked at.

        Returns
        -------
        array or data frame of n rows
            In the form that `encode` states, and in the container of X unless `set_output` asks for
            another.

        Raises
        ------
        ValueError
            If the columns are not those seen in `fit`, or a value is unknown, or a column is the
            index of X, too, which the output keeps. No record is reported then.
        """
        fitted = self._state()
        X = records_of(self, X)
        table = read_table(X)
        # Columns have no names where the public table was an array.
        refuse_index(X, [*(column.name for column in fitted.codec.columns), *table.names])
        stream = RandomStream(self.random_state)
        codes = self._encode(X, table, fitted, draws=fresh_draws(stream))
        cells = codes.cells(fitted.codec.n_values)
        reports = fitted.mechanism.sample(cells, stream)
        return self._emitted(reports, table, fitted, self._encoding())

    def _state(self) -> Fitted:
        """Return the results of `fit`. Read them once per call: another `fit` may replace them."""
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

        S is read of a mechanism that observes U alone only if X has it and `secrets` is true.
        """
        codec, observe = fitted.codec, fitted.mechanism.observe
        alone = check_columns(fitted.columns, X, table, codec, observe=observe)
        of_u = alone or (observe == "nonsensitive" and not secrets)
        group = self.handle_unknown == "infrequent_if_exist" or self.min_frequency == "auto"
        return codec.encode(table, unknown="other" if group else "error", of_u=of_u, draws=draws)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Normalised mutual information I(X; Y) / H(X) at the distribution of a table.

        It measures how much information one report contains about one record, not how well shares
        are estimated from many reports: for that, give a search the scorer of
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
            Between 0 and 1; 0 where X is constant. It is not private: it depends on X.
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
