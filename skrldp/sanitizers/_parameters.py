"""The parameters that all sanitizers have."""

from dataclasses import field
from typing import Any, Self

from sklearn.base import BaseEstimator, clone

from skrldp._params import check_choice, check_seed
from skrldp.sanitizers._checks import check_uncertainty, check_verbose, default_uncertainty
from skrldp.sanitizers._promised import check_promise
from skrldp.sanitizers._records import UNKNOWN
from skrldp.sanitizers._surveys import check_survey
from skrldp.sanitizers._texts import with_parameters
from skrldp.sanitizers._write_reports import ENCODINGS

__all__ = ["Parameters"]

# Parameters that may be None, which has no parameters, and a set to state instead.
_SETS = {"uncertainty": "LikelihoodRatioSet()", "utility_uncertainty": "RenyiBall()"}


@with_parameters
class Parameters(BaseEstimator):
    """The parameters that all sanitizers have, and what their docstrings share.

    Parameters
    ----------
    eps : float, default=1.0
        Privacy parameter ε, in nats: no report may be more than exp(ε) times as probable under one
        secret as under another.
    sensitive : str, int, list or callable, default=None
        The columns of the secret S, by name or position, as in
        :class:`~sklearn.compose.ColumnTransformer`. All other columns together are U. None is the
        first column; a warning then says which columns are not protected.
    survey : SurveyDesign, optional
        How the public records were drawn, if they are those of a survey: columns of weights, strata
        and clusters, which are neither S nor U; positions of `sensitive` and `known` are those of
        the other columns. None: the records are independent and alike.
    categories : "auto", "dtype", "product", list or dict, default="auto"
        Alphabets of the columns: a list with one for each column in the table's order, or a dict
        that names some of the columns. They may hold values that the public table lacks. "auto"
        learns them from the table: the levels that a column's dtype lists (category, Enum, bool,
        ordered Arrow dictionary), in their order, used or not, or else the values that occur. Only
        bool and a Polars Enum count as given, since other levels may have been made of the table.
        "dtype" says that the levels of all these dtypes, and of unordered Arrow dictionaries, were
        fixed before the table was seen: they count as given. Columns without levels are learned.
        Lists may have "auto" and "dtype" in place of an alphabet. If S (or U) has several columns,
        only the combinations that occur in the public table are known with "auto". With "product"
        or "dtype", or if the alphabet of one of these columns is given, all combinations are.
    min_frequency : int, float or "auto", optional
        As in :class:`~sklearn.preprocessing.OneHotEncoder`: the values of a column of U that have
        fewer records than this (a float: a smaller share of the records) are reported as one value,
        "other". Secrets are never grouped. "auto" takes the least number for which the confidence
        level of `uncertainty` holds although the values are learned from the counted records, some
        40 to 70; "other" then stands for unknown values as well.
    uncertainty : LikelihoodRatioSet, RenyiBall or AllDistributions, optional
        The distributions that privacy must hold for; None is ``LikelihoodRatioSet()``. A parameter
        search reaches the parameters of a set that is stated as ``uncertainty__beta`` and so on.
    encode : {"symbol", "onehot", "posterior", "cells"}, optional
        Form of the reports. "symbol": one column of integers from 0 to b − 1, where b is the number
        of different reports. "onehot": b columns of 0 and 1. "posterior": the probability of each
        category of each column given the report, at the public distribution. "cells": the columns
        of X, filled with the cell that the mechanism drew. None is "cells".
    handle_unknown : {"error", "infrequent_if_exist"}, default="error"
        Values of U that the alphabet lacks are an error, or "infrequent_if_exist": they are
        "other", in `fit` as in `transform` and in clients; it must be set before `fit`. A
        combination of values that it lacks is then "other" in every column of U. An unknown secret
        is always an error, unless the mechanism does not observe S.
    random_state : None, int, Generator or RandomState, default=None
        None takes entropy from the operating system. An int makes `transform` repeatable and is for
        tests: **it voids the guarantee**, since whoever knows it can undo the randomness. `fit` is
        deterministic and does not use it.
    verbose : int, default=0
        If positive, `fit` prints what it does.

    Attributes
    ----------
    joint_ : JointDistribution
        The public distribution: counts, probabilities, secrets and values.
    uncertainty_ : LikelihoodRatioSet, RenyiBall or AllDistributions
        The distributions that privacy holds for, with what was fitted, in nats: the radius ``B_``
        of a ball, or the bounds ``single_`` and ``pair_`` of log likelihood ratios.
    mechanism_ : Mechanism
        The mechanism that is sampled; ``mechanism_.to_json()`` is all that a client needs.
    certificate_ : Certificate
        Proof that ``mechanism_`` leaks at most ``certificate_.eps <= eps`` at all those
        distributions.
    solution_ : Solution
        How the mechanism was found: solver, status, objective and its bound, time.
    mutual_information_ : float
        I(X; Y) at the public distribution, in nats, of the mechanism as it is sampled.
    normalized_mutual_information_ : float
        The same divided by H(X).
    information_by_secret_, normalized_information_by_secret_ : ndarray of shape (a1,)
        I(U; Y | S=s) for each secret, in nats, and divided by H(U | S=s); NaN where there is
        nothing to tell.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns, if all are strings.

    Raises
    ------
    ValueError
        By `fit` and `transform`, for parameters and tables that are not as described.
    CertificateError
        By `fit`, if the mechanism cannot be proven private.

    Notes
    -----
    Read more in the guide: :doc:`which sanitizer to take </guide/sanitizers>` and
    :doc:`what a report looks like </guide/reports>`.
    """

    eps: float = field(default=1.0, kw_only=False)
    sensitive: Any = None
    survey: Any = None
    categories: Any = "auto"
    min_frequency: float | str | None = None
    uncertainty: Any = None
    encode: str | None = None
    handle_unknown: str = "error"
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_promise(self)
        if self.encode is not None:
            check_choice("encode", self.encode, ENCODINGS)
        check_choice("handle_unknown", self.handle_unknown, UNKNOWN)
        if self.uncertainty is not None:
            check_uncertainty(self.uncertainty)
        check_survey(self)
        check_seed(self.random_state)
        check_verbose(self.verbose)

    def _uncertainty_set(self) -> Any:
        """Return a copy of the uncertainty set, which `fit` may change."""
        if self.uncertainty is None:
            return default_uncertainty()
        return clone(self.uncertainty, safe=False)

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
