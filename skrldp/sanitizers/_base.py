"""What all sanitizers share: the way from a table to private reports, and the output forms."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from skrldp._params import check_choice
from skrldp.certificate import Certificate
from skrldp.design import Solution
from skrldp.information import entropy
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism
from skrldp.sanitizers._checks import (
    check_eps,
    check_uncertainty,
    check_verbose,
    check_weights,
    explain_names,
    parts_of,
    warn_of_first_column,
    warn_of_time_limit,
    warn_of_weak_sets,
)
from skrldp.sanitizers._guarantee import guarantee_of
from skrldp.sanitizers._output import ReportsMixin
from skrldp.sanitizers._records import check_columns, impute
from skrldp.sanitizers._reports import ENCODINGS
from skrldp.sanitizers._snapshot import snapshot
from skrldp.table import CellCodec, Codes, learn_codec
from skrldp.uncertainty import RenyiBall

__all__ = ["BaseSanitizer"]

_MOST_EPS = 36.0  # weights have at most 53 bits, so no ratio of two can pass exp(36.7)


class BaseSanitizer(ReportsMixin, TransformerMixin, BaseEstimator, ABC, auto_wrap_output_keys=None):
    """Base class of all sanitizers; a subclass says how Q is designed.

    scikit-learn's own wrapping of outputs is switched off (``auto_wrap_output_keys=None``): it
    would turn frames into arrays and back, which loses dtypes and the order of categories.
    """

    _default_encode = "cells"  # what encode=None stands for
    _most_cells = 1_000_000  # what a design of this kind can hold

    joint_: JointDistribution
    uncertainty_: Any
    mechanism_: Mechanism
    certificate_: Certificate
    solution_: Solution
    _codec: CellCodec

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = explain_names(cls.__init__)  # type: ignore[method-assign]

    @explain_names
    def __init__(
        self,
        eps: float = 1.0,
        *,
        sensitive: Any = None,
        categories: Any = "auto",
        uncertainty: Any = None,
        encode: str | None = None,
        handle_unknown: str = "error",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
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
    def _design(self, joint, alpha, radius):
        """Return a mechanism, the certificate that it is private at `eps`, and the solution.

        A fourth item, a dict, holds private attributes to set if the fit succeeds.
        """

    def _uncertainty_set(self) -> Any:
        """Return the laws that privacy must hold for, as an object of this estimator's own."""
        if self.uncertainty is None:
            return RenyiBall()
        check_uncertainty(self.uncertainty)
        return clone(self.uncertainty, safe=False)

    def _check_parameters(self) -> None:
        check_eps(self.eps)
        if self.encode is not None:
            check_choice("encode", self.encode, ENCODINGS)
        check_choice("handle_unknown", self.handle_unknown, ("error", "impute"))
        check_verbose(self.verbose)

    def _public_values(self, joint: JointDistribution) -> NDArray[np.float64] | None:
        """Law of U that a blind mechanism draws unknown values from; None if it never does."""
        return joint.probabilities.sum(axis=0) if self.handle_unknown == "impute" else None

    def _budget(self) -> float:
        """Return the ε to design for, in nats."""
        return min(float(self.eps), _MOST_EPS)

    # -- from a public table to a mechanism -------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the public law, then design, round and certify a mechanism.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            The public table: pandas, polars, pyarrow or numpy.
        y : ignored
            For scikit-learn's sake.
        sample_weight : array of shape (n,), optional
            How many records each row stands for: whole numbers, zero allowed. So a table that was
            counted elsewhere is fitted from its distinct rows. Survey weights, which say how many
            people a record speaks for, are no counts: privacy depends on how many records there
            are. So where equal rows stand apart and the weights are more than three a row on
            average, they are refused: add up the counts of equal rows first.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, the table or the weights are not as described.
        CertificateError
            If the mechanism cannot be proven private; nothing can be transformed then.

        Warns
        -----
        PrivacyLeakWarning
            If privacy holds for fewer laws than one may think, or if the table's columns have names
            and `sensitive` says none of them.
        ConvergenceWarning
            If the design stopped at its time limit.
        """
        self._check_parameters()
        codec = learn_codec(
            X,
            sensitive=0 if self.sensitive is None else self.sensitive,
            categories=self.categories,
            max_cells=self._most_cells,
        )
        if self.sensitive is None:
            warn_of_first_column([column.name for column in codec.columns])
        codes = codec.encode(X)
        check_weights(sample_weight, codes.cells(codec.n_values))
        joint = JointDistribution.from_codes(
            codes.secrets, codes.values, (codec.secrets, codec.values), sample_weight
        )
        uncertainty = self._uncertainty_set()
        uncertainty.B_ = uncertainty.radius_for(joint.n, joint.counts.size)
        warn_of_weak_sets(uncertainty, joint, uncertainty.B_)
        design = self._design(joint, uncertainty.alpha, uncertainty.B_)
        mechanism, certificate, solution, *private = design
        warn_of_time_limit(solution)
        columns = [(c.name, place in codec.sensitive) for place, c in enumerate(codec.columns)]
        guarantee = guarantee_of(certificate, self.eps, uncertainty, joint.n)

        # Only now does anything change: a fit that fails leaves the estimator as it was.
        validate_data(self, X, skip_check_array=True, reset=True)
        self._codec = codec
        self.joint_ = joint
        self.uncertainty_ = uncertainty
        self.mechanism_ = replace(mechanism.named(None, columns), guarantee=guarantee)
        self.certificate_ = certificate
        self.solution_ = solution
        self._may_impute = self.handle_unknown == "impute"
        self._asked, self._reported_itself = snapshot(self), False
        vars(self).update(*private)
        figures = self._summarise()
        if self.verbose:
            print(
                f"{type(self).__name__}: {parts_of(columns)}, {joint!r}, "
                f"{self.mechanism_.shape[0]} reports, "
                f"{solution.status} in {solution.seconds:.2f} s, "
                f"{figures}, {certificate!r}"
            )
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit on a table and report the very same records: an experiment, not a protection.

        The design depends on every record that `fit` is given, and none of that is private. To
        protect people, `fit` on public records and `transform` the private ones.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            The table.
        y : ignored
            For scikit-learn's sake.
        **fit_params
            Given to `fit`: ``sample_weight``.

        Returns
        -------
        array or data frame of n rows
            As `transform` returns it.
        """
        reports = self.fit(X, y, **fit_params).transform(X)
        self._reported_itself = True
        return reports

    def _summarise(self) -> str:
        """Set the attributes that say what the mechanism is worth, and return them in words."""
        self.mutual_information_, self.normalized_mutual_information_ = self._information(
            self.joint_
        )
        return f"I(X;Y)={self.mutual_information_:.4f} nats"

    def _information(self, joint: JointDistribution) -> tuple[float, float]:
        """Mutual information at a law, in nats and as a share of the entropy of X."""
        information = self.mechanism_.mutual_information(joint.probabilities)
        whole = entropy(joint.probabilities)
        return information, (min(1.0, information / whole) if whole > 0 else 0.0)

    # -- from private records to reports ----------------------------------------------------------

    def transform(self, X: Any) -> Any:
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
        codes = self._encode(X)
        reports = self.mechanism_.sample(codes.cells(self._codec.n_values), self.random_state)
        return self._emitted(reports, X)

    @property
    def _blind(self) -> bool:
        """Whether S is not looked at when records are reported."""
        return self.mechanism_.observe == "nonsensitive"

    def _encode(self, X: Any, *, secrets: bool = False) -> Codes:
        """Return the records' codes; unknown values of U are drawn from the law given the secret.

        The draw depends on the secret alone, in a way that the public law already has. A blind
        mechanism has no secret to go by: the draw is from the public law of U, which `fit` has
        proven harmless. S is read for it only where it is there and asked for (`secrets`).
        """
        check_is_fitted(self)
        blind = self._blind
        alone = check_columns(self, X, self._codec, blind=blind)
        codec = self._codec
        encode = codec.encode_values if alone or (blind and not secrets) else codec.encode
        if self.handle_unknown == "error":
            return encode(X)
        codes, counts = encode(X, unknown="mark"), self.joint_.counts
        if blind:
            if not self._may_impute and codes.values.min(initial=0) < 0:
                raise ValueError(
                    "X has values of U unseen in fit, and handle_unknown='impute' was set after "
                    "fit: with observe='nonsensitive' a mechanism is made for it, so fit again."
                )
            counts = np.broadcast_to(counts.sum(axis=0), counts.shape)
        impute(codes, counts, self.random_state)
        return codes

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
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
        return self._information(self._law_of(X, sample_weight))[1]

    def _law_of(self, X: Any, sample_weight: ArrayLike | None) -> JointDistribution:
        codes = self._encode(X, secrets=True)
        names = self._codec.secrets, self._codec.values
        return JointDistribution.from_codes(codes.secrets, codes.values, names, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True  # missing is a category where the public table has it
        tags.transformer_tags.preserves_dtype = []
        return tags
