"""The optimum for the public distribution alone."""

from typing import Any

from skrldp.joint import JointDistribution
from skrldp.region import privacy_region
from skrldp.sanitizers._designed import Designed
from skrldp.sanitizers._optimal import OptimalSanitizer
from skrldp.uncertainty import FittedSet, RenyiBall

__all__ = ["NonRobustSanitizer"]


class NonRobustSanitizer(OptimalSanitizer):
    """The optimum at the public distribution: a baseline, not private at any other.

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
        Ignored: the only distribution is the public one.
    solver : {"auto", "vertices", "columns", "alternation"}, default="auto"
        How the optimum is found. "vertices" enumerates the vertices of the region: the global
        optimum, for some ten cells and polyhedral regions. "columns" generates them as needed: the
        best for some dozens of cells. "alternation" improves decoder and mechanism in turn, for
        up to a thousand cells. "auto" enumerates where that is fast; otherwise it alternates, and
        goes on with columns where they are of use.
    time_limit : float or None, default=60.0
        Seconds that the solver may take; None for no limit. What it has by then is repaired,
        certified and used, so a `fit` that meets the limit may not be repeatable.
    encode : {"symbol", "onehot", "posterior", "cells"}, optional
        Form of the reports: one column of integers from 0 to b − 1; b columns of 0 and 1; the
        probability of each category of each column given the report, at the public distribution; or
        the columns of X again, the most probable cell given the report. None is "symbol".
    handle_unknown : {"error", "impute"}, default="error"
        With "impute", an unknown value of U is replaced by a draw from the public distribution of U
        given S (uniform for a secret the public table lacks). An unknown secret is always an error.
    random_state : None, int, Generator or RandomState, default=None
        None takes entropy from the operating system. An int makes `transform` repeatable and is
        for tests: **it voids the guarantee**, since whoever knows it can undo the randomness. It
        does not matter for `fit`, which is deterministic.
    verbose : int, default=0
        If positive, `fit` shows a progress bar and prints what it did.

    Attributes
    ----------
    joint_ : JointDistribution
        The public distribution: counts, probabilities, secrets and values.
    uncertainty_ : RenyiBall of radius 0
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
    SolverError
        By `fit`, if the solver fails.

    Warns
    -----
    PrivacyLeakWarning
        By every `fit`: privacy holds for the public distribution alone. Also if the table's columns
        have names and `sensitive` says none of them.
    ConvergenceWarning
        By `fit`, if the solver met its time limit.

    See Also
    --------
    PolyOptSanitizer : Tells most of the whole record, at every distribution of a set.
    GRRSanitizer : The baseline: protects the whole record, at every distribution.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    What is promised: if the private records follow exactly the public distribution, whoever sees a
    report can tell hardly more about S than before. They never do exactly, so this is a yardstick
    for what robustness costs and no protection. Use :class:`PolyOptSanitizer` to protect people.

    The promise is for **one report about each person**. Reports about the same record do not just
    add up to 2·eps, as they do for mechanisms that are private at all distributions: what the first
    tells of U leads out of the uncertainty set, and two together may reveal S altogether.

    Read more in the guide: :doc:`which sanitizer to take </guide/sanitizers>` and
    :doc:`what a report looks like </guide/reports>`.

    References
    ----------
    Mechanisms for Robust Local Differential Privacy, Entropy 2024, section 8 (the baseline NR).

    Examples
    --------
    >>> import warnings
    >>> from skrldp import NonRobustSanitizer, PrivacyLeakWarning
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", PrivacyLeakWarning)
    ...     sanitizer = NonRobustSanitizer(eps=1.0).fit(X, sample_weight=[7, 10, 26, 57])
    >>> sanitizer.certificate_.holds(1.0), sanitizer.certificate_.radius
    (True, 0.0)
    """

    def __init__(
        self,
        eps: float = 1.0,
        *,
        sensitive: Any = None,
        categories: Any = "auto",
        uncertainty: Any = None,
        solver: str = "auto",
        time_limit: float | None = 60.0,
        encode: str | None = None,
        handle_unknown: str = "error",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            eps,
            sensitive=sensitive,
            categories=categories,
            uncertainty=uncertainty,
            encode=encode,
            handle_unknown=handle_unknown,
            random_state=random_state,
            verbose=verbose,
        )
        self.solver = solver
        self.time_limit = time_limit

    def _uncertainty_set(self) -> Any:
        return RenyiBall(radius=0.0)

    def _design(self, joint: JointDistribution, uncertainty: FittedSet) -> Designed:
        return self._optimum(joint, privacy_region(joint, uncertainty))
