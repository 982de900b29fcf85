"""Generalised randomised response on the whole record."""

from typing import Any

from skrldp.alphabet import Record
from skrldp.design.closed_form import grr
from skrldp.privacy import Promise
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._blocks import release_blocks
from skrldp.sanitizers._fitted_state import Designed
from skrldp.sets import AllDistributions

__all__ = ["GRRSanitizer"]


class GRRSanitizer(BaseSanitizer):
    """Generalised randomised response: report the record, or any other one, all equally likely.

    It is the baseline: local differential privacy for the whole record, S and U alike.

    Parameters
    ----------
    eps : float, default=1.0
        Privacy parameter ε, in nats: no report may be more than exp(ε) times as probable under one
        secret as under another.
    sensitive : str, int, list or callable, default=None
        The columns of the secret S, by name or position, as in
        :class:`~sklearn.compose.ColumnTransformer`. All other columns together are U. None is the
        first column; if the columns have names, a warning then states which one is protected.
    survey : SurveyDesign, optional
        How the public records were drawn, if they are those of a survey: columns of weights, strata
        and clusters, which are neither S nor U; positions of `sensitive` and `known` are those of
        the other columns. None: the records are independent and alike.
    categories : "auto", "product", list or dict, default="auto"
        Alphabets of the columns: a list with one for each column in the table's order, or a dict
        that names some of the columns. They may hold values that the public table lacks. "auto"
        takes the levels that a column's dtype declares (category, Enum, bool), used or not, or else
        the values that occur. If S (or U) has several columns, only the combinations that occur in
        the public table are known; with "product", or if the alphabet of one of these columns is
        given, all combinations are.
    min_frequency : int, float or "auto", optional
        As in :class:`~sklearn.preprocessing.OneHotEncoder`: the values of a column of U that have
        fewer records than this (a float: a smaller share of the records) are reported as one value,
        "other". Secrets are never grouped. "auto" takes the least number for which the confidence
        level of `uncertainty` holds although the values are learned from the counted records, some
        40 to 70; "other" then stands for unknown values as well.
    max_categories : int, optional
        As in :class:`~sklearn.preprocessing.OneHotEncoder`: most values that a column of U may
        have, "other" included; the most frequent ones are kept.
    alphabet_fraction : float, optional
        Share of the records to set aside, drawn at random. The values of U are learned from them,
        and they are not counted. Where the values are learned from the counted records instead, the
        confidence level of `uncertainty` is only guaranteed if each has many records: see
        :doc:`the guide </guide/pipelines>`. Values that the records set aside lack are counted as
        "other", so ``handle_unknown="infrequent_if_exist"`` is needed. Nothing is set aside where
        all columns of U are declared.
    uncertainty : optional
        Ignored: the mechanism is private at all distributions.
    encode : {"symbol", "onehot", "posterior", "cells"}, optional
        Form of the reports. "symbol": one column of integers from 0 to b − 1, where b is the number
        of different reports. "onehot": b columns of 0 and 1. "posterior": the probability of each
        category of each column given the report, at the public distribution. "cells": the columns
        of X, filled with the cell that the mechanism drew. None is "cells".
    handle_unknown : {"error", "impute", "infrequent_if_exist"}, default="error"
        With "impute", an unknown value of U is replaced by a draw from the public distribution of U
        given S (uniform for a secret that the public table lacks). An unknown secret is always an
        error.
        With "infrequent_if_exist", values of U that the alphabet lacks are "other", in `fit` as in
        `transform` and in clients; it must be set before `fit`. A combination of values that it
        lacks is "other" in every column of U.
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
    uncertainty_ : AllDistributions
        The distributions that privacy holds for; ``B_`` is the radius, in nats.
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

    Warns
    -----
    PrivacyLeakWarning
        By `fit`, if the table's columns have names and `sensitive` is None.

    See Also
    --------
    SRRSanitizer : A closed form that is private at every distribution.
    IRSanitizer : Reports S and U independently, by a closed form or optimised.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    The promise: a report changes the odds of any two records by a factor of at most exp(eps),
    whatever is known about the population and whatever its distribution. Two reports about the same
    person are together private at 2·eps.

    Read more in the guide: :doc:`which sanitizer to take </guide/sanitizers>` and
    :doc:`what a report looks like </guide/reports>`.

    References
    ----------
    Mechanisms for Robust Local Differential Privacy, Entropy 2024, (56).

    Examples
    --------
    >>> from skrldp import GRRSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = GRRSanitizer(eps=1.0).fit(X, sample_weight=[7, 10, 26, 57])
    >>> round(sanitizer.mutual_information_, 4)
    0.0908
    >>> sanitizer.certificate_.holds(1.0)
    True
    >>> sanitizer.transform([["yes", "often"], ["no", "rare"]]).shape
    (2, 2)
    """

    def _uncertainty_set(self) -> Any:
        return AllDistributions()

    def _design(self, promise: Promise, record: Record) -> Designed:
        eps = promise.requirements().least_eps
        return release_blocks(lambda: grr(eps, promise.joint.counts.size), "grr", promise)
