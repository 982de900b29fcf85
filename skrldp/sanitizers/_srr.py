"""Secret randomised response."""

from typing import Any

from skrldp.design.closed_form import srr
from skrldp.joint import JointDistribution
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._blocks import release_blocks
from skrldp.sanitizers._designed import Designed
from skrldp.uncertainty import AllDistributions, FittedSet

__all__ = ["SRRSanitizer"]


class SRRSanitizer(BaseSanitizer):
    """Secret randomised response: as much of U as privacy of S at every distribution allows.

    Records that share the secret may be told apart by exp(2ε), others by exp(ε) only.

    Parameters
    ----------
    eps : float, default=1.0
        Privacy parameter ε, in nats: between any two secrets, no report may be more than exp(ε)
        times as probable.
    sensitive : str, int, list or callable, optional
        The columns of S, by name or position, as in
        :class:`~sklearn.compose.ColumnTransformer`. All other columns together are U. None is the
        first column; where columns have names, a warning then says which one that is.
    categories : "auto", "product", list or dict, default="auto"
        Alphabets of the columns, one for each in the table's order, or by name for some of them;
        they may hold values that the public table lacks. "auto": the levels that a column's dtype
        declares (category, Enum, bool), used or not, else the values that it has. Of several
        columns of S, or of U, the combinations that the public table has are known; all are with
        "product", or if a column's alphabet is given.
    uncertainty : optional
        Ignored: the mechanism is private at all distributions.
    encode : {"symbol", "onehot", "posterior", "cells"}, optional
        Form of the reports: one column of integers from 0 to b − 1; b columns of 0 and 1; the
        probability of each category of each column given the report, at the public distribution; or
        the columns of X again, a cell drawn by the mechanism. None is "cells".
    handle_unknown : {"error", "impute"}, default="error"
        With "impute", an unknown value of U is replaced by a draw from the public distribution of U
        given S (uniform for a secret the public table lacks). An unknown secret is always an error.
    random_state : None, int, Generator or RandomState, default=None
        None takes entropy from the operating system. An int makes `transform` repeatable and is
        for tests: **it voids the guarantee**, since whoever knows it can undo the randomness. It
        does not matter for `fit`, which is deterministic.
    verbose : int, default=0
        If positive, `fit` prints what it does.

    Attributes
    ----------
    joint_ : JointDistribution
        The public distribution: counts, probabilities, secrets and values.
    uncertainty_ : AllDistributions
        The distributions that privacy holds for; ``B_`` is the radius, in nats.
    mechanism_ : Mechanism
        What is sampled; ``mechanism_.to_json()`` is all that a client needs.
    certificate_ : Certificate
        Proof that ``mechanism_`` leaks at most ``certificate_.eps <= eps`` at all those
        distributions.
    solution_ : Solution
        How the design came about.
    mutual_information_ : float
        I(X; Y) at the public distribution, in nats, of the mechanism as it is sampled.
    normalized_mutual_information_ : float
        The same divided by H(X).
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
        By `fit`, if the table's columns have names and `sensitive` says none of them.

    See Also
    --------
    GRRSanitizer : The baseline: protects the whole record, at every distribution.
    IRSanitizer : Reports S and U apart; a closed form or optimised.
    PolyOptSanitizer : Tells most of the whole record, at every distribution of a set.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    What is promised: whoever sees the report can tell hardly more about S than before, whatever
    the distribution of the population. Nothing is promised about U beyond what it says about S.
    Two reports about the same person add up: together they are private at 2·eps.

    Read more in the guide: :doc:`which sanitizer to take </guide/sanitizers>` and
    :doc:`what a report looks like </guide/reports>`.

    References
    ----------
    Mechanisms for Robust Local Differential Privacy, Entropy 2024, Definition 4 and (58).

    Examples
    --------
    >>> from skrldp import SRRSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = SRRSanitizer(eps=1.0).fit(X, sample_weight=[7, 10, 26, 57])
    >>> round(sanitizer.mutual_information_, 4)
    0.1936
    >>> sanitizer.certificate_.holds(1.0)
    True
    """

    def _uncertainty_set(self) -> Any:
        return AllDistributions()

    def _design(self, joint: JointDistribution, uncertainty: FittedSet) -> Designed:
        eps, sizes = self._budget(), joint.counts.shape
        return release_blocks(lambda: srr(eps, *sizes), "srr", joint, uncertainty, eps)
