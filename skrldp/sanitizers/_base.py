"""What all sanitizers share: the way from a table to private reports, and the output forms."""

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from skrldp.information import entropy
from skrldp.joint import JointDistribution
from skrldp.sanitizers._checks import (
    check_choice,
    check_eps,
    check_uncertainty,
    check_verbose,
    larger_designs,
    warn_of_weak_sets,
)
from skrldp.sanitizers._designed import Fitted, FromFit, columns_of
from skrldp.sanitizers._guarantee import guarantee_of
from skrldp.sanitizers._records import check_columns, impute
from skrldp.sanitizers._reports import (
    CONTAINERS,
    ENCODINGS,
    as_frame,
    posterior,
    report_names,
    to_container,
)
from skrldp.table import learn
from skrldp.uncertainty import RenyiBall

__all__ = ["BaseSanitizer"]

_MOST_EPS = 36.0  # weights have at most 53 bits, so no ratio of two can pass exp(36.7)


class BaseSanitizer(TransformerMixin, BaseEstimator, ABC, auto_wrap_output_keys=None):
    """Base class of all sanitizers; a subclass says how Q is designed.

    scikit-learn's own wrapping of outputs is switched off (``auto_wrap_output_keys=None``): it
    would turn frames into arrays and back, which loses dtypes and the order of categories.
    """

    _default_encode = "cells"  # what encode=None stands for
    _most_cells = 1_000_000  # what a design of this kind can hold

    # What `fit` leaves behind is one object, `_fitted`; these read it.
    joint_ = FromFit("joint")
    uncertainty_ = FromFit("uncertainty")
    mechanism_ = FromFit("mechanism")
    certificate_ = FromFit("certificate")
    solution_ = FromFit("solution")
    mutual_information_ = FromFit("figures.mutual_information_")
    normalized_mutual_information_ = FromFit("figures.normalized_mutual_information_")
    n_features_in_ = FromFit("columns.n_features_in_")
    feature_names_in_ = FromFit("columns.feature_names_in_")
    _codec = FromFit("codec")

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)

    def __init__(
        self,
        eps=1.0,
        *,
        sensitive=0,
        categories="auto",
        uncertainty=None,
        encode=None,
        handle_unknown="error",
        random_state=None,
        verbose=0,
    ):
        self.eps = eps
        self.sensitive = sensitive
        self.categories = categories
        self.uncertainty = uncertainty
        self.encode = encode
        self.handle_unknown = handle_unknown
        self.random_state = random_state
        self.verbose = verbose

    # -- what a subclass decides ------------------------------------------------------------------

    @abstractmethod
    def _design(self, joint, uncertainty):
        """Return a Designed: a mechanism, the proof that it is private at `eps`, and how it came.

        `uncertainty` is a FittedSet.
        """

    def _uncertainty_set(self):
        """Return the laws that privacy must hold for, as an object of this estimator's own."""
        if self.uncertainty is None:
            return RenyiBall()
        check_uncertainty(self.uncertainty)
        return clone(self.uncertainty, safe=False)

    def _check_parameters(self):
        check_eps(self.eps)
        if self.encode is not None:
            check_choice("encode", self.encode, ENCODINGS)
        check_choice("handle_unknown", self.handle_unknown, ("error", "impute"))
        check_verbose(self.verbose)

    def _public_values(self, joint):
        """Law of U that a blind mechanism draws unknown values from; None if it never does."""
        return joint.probabilities.sum(axis=0) if self.handle_unknown == "impute" else None

    def _budget(self):
        """Return the ε to design for, in nats."""
        return min(float(self.eps), _MOST_EPS)

    # -- from a public table to a mechanism -------------------------------------------------------

    def fit(self, X, y=None, sample_weight=None):
        """Estimate the public law, then design, round and certify a mechanism.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            The public table: pandas, polars, pyarrow or numpy.
        y : ignored
            For scikit-learn's sake.
        sample_weight : array of shape (n,), optional
            How many records each row stands for: whole numbers, zero allowed.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter or the table is not as described.
        CertificateError
            If the mechanism cannot be proven private; nothing can be transformed then.

        Warns
        -----
        PrivacyLeakWarning
            If privacy holds for fewer laws than one may think.
        """
        self._check_parameters()
        codec, codes = learn(
            X,
            sensitive=self.sensitive,
            categories=self.categories,
            max_cells=self._most_cells,
            advice=larger_designs(self._most_cells),
        )
        joint = JointDistribution.from_codes(
            codes.secrets, codes.values, (codec.secrets, codec.values), sample_weight
        )
        uncertainty = self._uncertainty_set()
        around = uncertainty.fit_set(joint)
        uncertainty.B_ = around.joint_radius
        warn_of_weak_sets(uncertainty, joint, uncertainty.B_)
        design = self._design(joint, around)
        names = [(c.name, place in codec.sensitive) for place, c in enumerate(codec.columns)]
        guarantee = guarantee_of(design.certificate, self.eps)
        mechanism = replace(design.mechanism.named(None, names), guarantee=guarantee)
        design = replace(design, mechanism=mechanism)
        figures, words = self._summarise(joint, around, design)
        fitted = Fitted(
            columns=columns_of(self, X),
            codec=codec,
            joint=joint,
            uncertainty=uncertainty,
            design=design,
            may_impute=self.handle_unknown == "impute",
            figures=figures,
        )
        if self.verbose:
            print(
                f"{type(self).__name__}: {joint!r}, {mechanism.shape[0]} reports, "
                f"{design.solution.status} in {design.solution.seconds:.2f} s, "
                f"{words}, {design.certificate!r}"
            )
        # The only change: a fit that fails or is interrupted leaves the estimator as it was.
        self._fitted = fitted
        return self

    def _summarise(self, joint, uncertainty, design):
        """Return what the mechanism is worth: public attributes by name, and the same in words."""
        information, share = _information(design.mechanism, joint)
        figures = {"mutual_information_": information, "normalized_mutual_information_": share}
        return figures, f"I(X;Y)={information:.4f} nats"

    def _information(self, joint):
        """Mutual information at a distribution, in nats and as a share of the entropy of X."""
        return _information(self.mechanism_, joint)

    # -- from private records to reports ----------------------------------------------------------

    def transform(self, X):
        """Report each record.

        Every call draws anew (unless `random_state` is an int). The guarantee is for one report
        about each person: keep it, rather than call again. Two reports of GRR or SRR are together
        private at 2·eps; two of a mechanism that is private over a smaller set of laws may reveal
        the secret.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            Private records, with the columns of the public table. With
            ``observe="nonsensitive"``, where a sanitizer has it, the columns of U alone will do,
            and columns of S are not looked at.

        Returns
        -------
        array or data frame of n rows
            In the form that `encode` says and the container of X, unless `set_output` asks for
            another.

        Raises
        ------
        ValueError
            If the columns are not those seen in `fit`, or a value is unknown. No record is
            reported then.
        """
        fitted = self._state()
        codes = self._encode(X, fitted)
        cells = codes.cells(fitted.codec.n_values)
        reports = fitted.mechanism.sample(cells, self.random_state)
        return self._emitted(reports, X, fitted)

    def _state(self):
        """Return what `fit` left behind. Whoever needs it reads it once."""
        check_is_fitted(self)
        return self._fitted

    def __sklearn_is_fitted__(self):
        return "_fitted" in vars(self)

    def _emitted(self, reports, X, fitted=None):
        """Return the reports, given by their symbols, about the rows of X as `transform` does."""
        fitted = self._state() if fitted is None else fitted
        names = self._report_names(fitted, getattr(fitted.columns, "feature_names_in_", None))
        return to_container(self._written(reports, names, X, fitted), names, self._container())

    def _encode(self, X, fitted=None, *, secrets=False):
        """Return the records' codes; unknown values of U are drawn from the law given the secret.

        The draw depends on the secret alone, in a way that the public law already has. A blind
        mechanism has no secret to go by: the draw is from the public law of U, which `fit` has
        proven harmless. S is read for it only where it is there and asked for (`secrets`).
        """
        fitted = self._state() if fitted is None else fitted
        codec, blind = fitted.codec, fitted.mechanism.observe == "nonsensitive"
        alone = check_columns(fitted.columns, X, codec, blind=blind)
        encode = codec.encode_values if alone or (blind and not secrets) else codec.encode
        if self.handle_unknown == "error":
            return encode(X)
        codes, counts = encode(X, unknown="mark"), fitted.joint.counts
        if blind:
            if not fitted.may_impute and codes.values.min(initial=0) < 0:
                raise ValueError(
                    "X has values of U unseen in fit, and handle_unknown='impute' was set after "
                    "fit: with observe='nonsensitive' a mechanism is made for it, so fit again."
                )
            counts = np.broadcast_to(counts.sum(axis=0), counts.shape)
        impute(codes, counts, self.random_state)
        return codes

    def _written(self, reports, names, X, fitted):
        encode = self._encoding()
        if encode == "cells":
            return fitted.codec.decode(fitted.design.reported_cells[reports], like=X)
        if encode == "symbol":
            numbers = reports.astype(np.int64)[:, None]
        elif encode == "onehot":
            numbers = np.zeros((len(reports), fitted.mechanism.shape[0]))
            numbers[np.arange(len(reports)), reports] = 1.0
        else:
            numbers = posterior(fitted.mechanism, fitted.joint, fitted.codec)[reports]
        return as_frame(numbers, names, X)

    def _encoding(self):
        if self.encode is None:
            return self._default_encode
        check_choice("encode", self.encode, ENCODINGS)
        return self.encode

    def score(self, X, y=None, sample_weight=None):
        """Normalised mutual information I(X; Y) / H(X) at the law of a table.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            Records; nothing is reported about them. Of a table with the columns of U alone
            (``observe="nonsensitive"``) the score is I(U; Y) / H(U).
        y : ignored
            For scikit-learn's sake.
        sample_weight : array of shape (n,), optional
            How many records each row stands for.

        Returns
        -------
        float
            Between 0 and 1; 0 where X is constant. It is not private: it depends on X.
        """
        fitted = self._state()
        return _information(fitted.mechanism, self._law_of(X, sample_weight, fitted))[1]

    def _law_of(self, X, sample_weight, fitted):
        codes = self._encode(X, fitted, secrets=True)
        names = fitted.codec.secrets, fitted.codec.values
        return JointDistribution.from_codes(codes.secrets, codes.values, names, sample_weight)

    # -- scikit-learn's conventions ---------------------------------------------------------------

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of `transform`'s output.

        Parameters
        ----------
        input_features : array-like of str, optional
            Must be the names seen in `fit` if there were any; else the names to use.

        Returns
        -------
        ndarray of str objects
        """
        fitted = self._state()
        seen = getattr(fitted.columns, "feature_names_in_", None)
        names = seen if input_features is None else np.asarray(input_features, dtype=object)
        if names is not None and len(names) != fitted.columns.n_features_in_:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({fitted.columns.n_features_in_}), got {len(names)}"
            )
        if seen is not None and not np.array_equal(seen, names):
            raise ValueError("input_features is not equal to feature_names_in_")
        return np.array(self._report_names(fitted, names), dtype=object)

    def _report_names(self, fitted, columns):
        if columns is None:
            columns = [f"x{place}" for place in range(fitted.columns.n_features_in_)]
        return report_names(self._encoding(), fitted.codec, fitted.mechanism.shape[0], columns)

    def set_output(self, *, transform=None):
        """Set the container of `transform`'s output.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None
            "default" is the container of the input; None changes nothing. It goes before
            scikit-learn's global setting ``transform_output``.

        Returns
        -------
        self
        """
        if transform is not None:
            check_choice("transform", transform, CONTAINERS)
            self._output_container = transform
        return self

    def _container(self):
        chosen = getattr(self, "_output_container", None)
        return sklearn.get_config()["transform_output"] if chosen is None else chosen

    def __sklearn_clone__(self):
        copy = super().__sklearn_clone__()
        return copy.set_output(transform=getattr(self, "_output_container", None))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True  # missing is a category where the public table has it
        tags.transformer_tags.preserves_dtype = []
        return tags


def _information(mechanism, joint):
    """Mutual information at a distribution, in nats and as a share of the entropy of X."""
    information = mechanism.mutual_information(joint.probabilities)
    whole = entropy(joint.probabilities)
    return information, (min(1.0, information / whole) if whole > 0 else 0.0)
