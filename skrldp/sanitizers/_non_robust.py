"""The optimum for the public distribution alone."""

from typing import Any

from skrldp.alphabet import Record
from skrldp.privacy import Promise
from skrldp.sanitizers._fitted_state import Designed
from skrldp.sanitizers._optimal_base import OptimalSanitizer
from skrldp.sets import RenyiBall

__all__ = ["NonRobustSanitizer"]


class NonRobustSanitizer(OptimalSanitizer):
    r"""The optimum at the public distribution: a baseline, not private at other distributions.

    Parameters
    ----------
    eps : float, array of shape (a1, a1) or mapping, default=1.0
        Privacy parameter ε, in nats: no report may be more than exp(ε) times as probable under one
        secret as under another. A symmetric array states it for each two secrets, in the order of
        ``joint_.secrets``; so does a mapping of all pairs, ``{(s, t): 0.5, ...}``. ``np.inf``: two
        secrets are not compared.
    eps_all : float, optional
        Privacy parameter over all distributions, at least `eps`, in nats. It bounds what further
        reports about a person add, and what a report tells somebody who knows U, or a part of it: k
        reports leak at most ``eps + (k - 1) * eps_all``, and to such a person k times `eps_all`.
        None: nothing is required, and two reports, or a report together with U, may reveal S.
    sensitive : str, int, list or callable, default=None
        The columns of the secret S, by name or position, as in
        :class:`~sklearn.compose.ColumnTransformer`. All other columns together are U. None is the
        first column; if the columns have names, a warning then states which one is protected.
    survey : SurveyDesign, optional
        How the public records were drawn, if they are those of a survey: columns of weights, strata
        and clusters, which are neither S nor U; positions of `sensitive` and `known` are those of
        the other columns. None: the records are independent and alike.
    known : str, int, list or callable, optional
        Columns of U that observers know of a person, selected as `sensitive` is. Privacy then holds
        within each of their values as well, over the set of the conditionals of the rest of U.
        Values that are grouped as "other" are one known value.
    eps_known : float, optional
        Privacy parameter within known values, in nats; None is `eps`.
    protect : {"jointly", "each"}, default="jointly"
        How several sensitive columns are protected: "jointly", as one secret, or "each" for itself
        at `eps`, with the others among U. "each" promises less, since it bounds nothing that a
        report says about two of the columns together, and leaves more utility.
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
        Ignored: the only distribution is the public one.
    solver : {"auto", "vertices", "columns", "alternation"}, default="auto"
        "auto" takes the optimum from its formula (see the notes): nothing is searched but the best
        report of S alone. The others search among all mechanisms, as "auto" does if `eps_all`,
        `known` or ``protect="each"`` ask for more; they are there for comparisons. "vertices"
        enumerates the vertices of the region, for about ten cells. "columns" generates vertices as
        they are needed, for some dozens of cells. "alternation" improves decoder and mechanism in
        turn, for up to a thousand cells.
    max_iter : int or None, default=10_000
        Iterations that the solver may take: Newton steps and rounds of linear programs; None for no
        limit. The best solution found by then is repaired, certified and used.
    time_limit : float, optional
        Seconds that a search may take; None for no limit. Without it, `fit` is a function of its
        input: two fits give the same mechanism on one machine with one version of each library.
        With it, the mechanism depends on how fast the machine is, and how busy.
    n_jobs : int, optional
        Number of threads or processes; -1 for one for each processor. None is 1, unless in a
        :func:`joblib.parallel_config` context. The mechanism does not depend on it.
    warm_start : bool or Mechanism, default=False
        Where the search begins. False: from scratch, so that `fit` is a function of its input.
        True, as in scikit-learn: at the mechanism of the last `fit` of this object, if there is
        one. A mechanism, such as ``mechanism_`` of another fit: there; copies by
        :func:`~sklearn.base.clone` have it too, and `fit` stays a function of its input. Its
        secrets and values must be those of the public table, whatever it promises: what is found
        is repaired, certified and bounded as in any fit. The closed form does not need it.
    encode : {"symbol", "onehot", "posterior", "cells"}, optional
        Form of the reports. "symbol": one column of integers from 0 to b − 1, where b is the number
        of different reports. "onehot": b columns of 0 and 1. "posterior": the probability of each
        category of each column given the report, at the public distribution. "cells": the columns
        of X, filled with the most probable cell given the report. None is "symbol".
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
        If positive, `fit` shows a progress bar and prints what it did.

    Attributes
    ----------
    joint_ : JointDistribution
        The public distribution: counts, probabilities, secrets and values.
    uncertainty_ : RenyiBall of radius 0
        The distributions that privacy holds for; ``B_`` is the radius, in nats.
    mechanism_ : Mechanism
        The mechanism that is sampled; ``mechanism_.to_json()`` is all that a client needs.
    certificate_ : Certificate
        Proof that ``mechanism_`` leaks at most ``certificate_.eps <= eps`` at all those
        distributions.
    solution_ : Solution
        How the mechanism was found: solver, status, objective and its bound, time.
        ``solution_.gap_in_words`` says how far the objective is from the bound.
    mutual_information_ : float
        I(X; Y) at the public distribution, in nats, of the mechanism as it is sampled.
    normalized_mutual_information_ : float
        The same divided by H(X).
    information_by_secret_, normalized_information_by_secret_ : ndarray of shape (a1,)
        I(U; Y | S=s) for each secret, in nats, and divided by H(U | S=s); NaN where there is
        nothing to tell.
    n_iter_ : int
        Iterations that the solver took.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns, if all are strings.

    Raises
    ------
    ValueError
        By `fit` and `transform`, for parameters and tables that are not as described; by `fit`, if
        a warm start has other secrets or values than the table.
    CertificateError
        By `fit`, if the mechanism cannot be proven private.
    SolverError
        By `fit`, if the solver fails.

    Warns
    -----
    PrivacyLeakWarning
        By every `fit`: privacy holds for the public distribution alone. Also if the table's columns
        have names and `sensitive` is None.
    ConvergenceWarning
        By `fit`, if the solver met a limit of iterations or time.

    See Also
    --------
    PolyOptSanitizer : Maximal mutual information, private at every distribution of a set.
    GRRSanitizer : The baseline: protects the whole record, at every distribution.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    The promise: if the private records follow exactly the public distribution, a report changes the
    odds of any two secrets by a factor of at most exp(eps). In practice they never follow it
    exactly, so this sanitizer serves to measure what robustness costs, and protects nobody. Use
    :class:`PolyOptSanitizer` to protect people.

    The optimum is :math:`H(U|S) + C_\epsilon(S)`, with :math:`C_\epsilon(S)` the most that a local
    report of S alone tells about S. It is attained: for each secret, the probabilities of that
    report's symbols are laid on an interval, which is cut into the values of U; a report is a part
    of the common refinement, so that S and the report determine U. ``solution_.bound`` proves the
    optimum to a millionth, and bounds every mechanism that is private over a set of distributions:
    see :doc:`the mathematics </mathematics>`, section 7.4.

    The promise is for **one report about each person**, to somebody who knows nothing else about
    them. `eps_all` bounds what further reports add and what a report tells somebody who knows U:
    ``certify(..., reports=k)`` gives the number for k reports. Without it two reports, or one and
    U, may even determine S, since the distribution of U is then outside the set.

    Read more in the guide: :doc:`which sanitizer to take </guide/sanitizers>` and
    :doc:`what a report looks like </guide/reports>`.

    References
    ----------
    Mechanisms for Robust Local Differential Privacy, Entropy 2024, section 8 (the baseline NR).

    P. Kairouz, S. Oh and P. Viswanath, *Extremal mechanisms for local differential privacy*,
    Journal of Machine Learning Research 17, 2016 (the report of S alone).

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
    >>> sanitizer.solution_.status, sanitizer.solution_.bound_by
    ('optimal', 'the optimum for the public distribution alone')
    """

    def __init__(
        self,
        eps: Any = 1.0,
        *,
        eps_all: float | None = None,
        sensitive: Any = None,
        survey: Any = None,
        known: Any = None,
        eps_known: float | None = None,
        protect: str = "jointly",
        categories: Any = "auto",
        min_frequency: float | str | None = None,
        max_categories: int | None = None,
        alphabet_fraction: float | None = None,
        uncertainty: Any = None,
        solver: str = "auto",
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        warm_start: Any = False,
        encode: str | None = None,
        handle_unknown: str = "error",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            eps,
            sensitive=sensitive,
            survey=survey,
            categories=categories,
            min_frequency=min_frequency,
            max_categories=max_categories,
            alphabet_fraction=alphabet_fraction,
            uncertainty=uncertainty,
            encode=encode,
            handle_unknown=handle_unknown,
            random_state=random_state,
            verbose=verbose,
        )
        self.eps_all = eps_all
        self.known = known
        self.eps_known = eps_known
        self.protect = protect
        self.solver = solver
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start

    def _uncertainty_set(self) -> Any:
        return RenyiBall(radius=0.0)

    def _design(self, promise: Promise, record: Record) -> Designed:
        return self._optimum(promise, promise.requirements())
