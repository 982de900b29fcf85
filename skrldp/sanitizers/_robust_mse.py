"""The private mechanism whose reports are closest to U."""

from typing import Any

from skrldp._params import OBSERVED, check_choice, check_flag
from skrldp.design.objectives import SOLVERS_OF_DISTANCES
from skrldp.sanitizers._checks import check_limits, check_tolerance
from skrldp.sanitizers._distortion_base import DistortionSanitizer
from skrldp.sanitizers._utility_set import check_utility_uncertainty
from skrldp.sanitizers._warm_start import check_warm_start

__all__ = ["RobustMSESanitizer"]


class RobustMSESanitizer(DistortionSanitizer):
    """The private mechanism with the least expected distance of the report from U.

    Utility and privacy can each be required at every distribution of an uncertainty set, or at the
    public distribution alone. These are the four problems of the paper, where both have one set:

    ================  =====================  ======================
    ISIT              ``robust_utility``     ``robust_privacy``
    ================  =====================  ======================
    RURP              True                   True
    NURP              False                  True
    RUNP              True                   False
    NUNP              False                  False
    ================  =====================  ======================

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
    uncertainty : LikelihoodRatioSet, RenyiBall or AllDistributions, optional
        The distributions that privacy must hold for; None is ``LikelihoodRatioSet()``. A parameter
        search reaches the parameters of a set that is stated as ``uncertainty__beta`` and so on.
    utility_uncertainty : RenyiBall or AllDistributions, optional
        The set for the worst expected distance. That depends on the marginal of S, so the set is
        one of joint distributions, with a beta of its own: **each of the two statements may be
        false**. None is the privacy set if that is a RenyiBall or AllDistributions. For a
        LikelihoodRatioSet it is the ball ``RenyiBall(alpha=1, radius="finite-sample")`` with the
        same beta, or ``radius="chi2"`` for ``"asymptotic"``, or the same number; drift is added.
    robust_utility : bool, default=True
        Whether to minimise the expected distance at the worst distribution of
        `utility_uncertainty`, rather than at the public distribution. If False, the mechanism does
        not depend on `utility_uncertainty`.
    robust_privacy : bool, default=True
        Whether to be private at every distribution of `uncertainty`. False is private at the public
        distribution alone: **for comparisons, not to protect people**.
    distance : {"auto", "squared", "absolute", "hamming"}, callable or array, default="auto"
        Distance d(u, y) of an output y from a value u. "squared" and "absolute" need numbers in one
        column. "hamming" is 1 for different values; if U has several columns, the number that
        differ. "auto" is "squared" where U is one column of numbers alone (of at most 1e100; truth
        values and missing ones are none) and "hamming" elsewhere; ``distance_`` tells which. A
        callable is given u and y (tuples if U has several columns). An array has shape (a2, b):
        values of U in the order of ``joint_.values`` by outputs.
    outputs : list, optional
        The values that a report may have, such as midpoints of bins; None: those of U. Numbers
        where the distance needs them; tuples if U has several columns.
    observe : {"all", "nonsensitive"}, default="all"
        What the mechanism sees of a person. "nonsensitive" is U alone: `transform` then needs the
        columns of U only, in the order of the public table, and does not look at those of S where a
        table has them. (Arrays have no names: one with as many columns as U has is taken for U.)
        The promise is the same, but there are fewer mechanisms to choose from, so the utility is
        smaller.
    solver : {"auto"}, default="auto"
        "auto" follows a central path. Where a region has none, or rounding ends the path early,
        violated constraints join a linear program until its value is close to a proven lower bound.
    tol : float, default=1e-4
        Relative gap between the distance and its proven lower bound at which the search stops. It
        also stops at an absolute gap of 1e-9 times the least expected distance that a constant
        report has, and when it makes no progress for long.
    max_iter : int or None, default=10_000
        Iterations that the solver may take: Newton steps and rounds of linear programs; None for no
        limit. The best solution found by then is repaired, certified and used.
    time_limit : float, optional
        Seconds that the solver may take; None for no limit. Without it, `fit` is a function of its
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
        is repaired, certified and bounded as in any fit. It saves little time, since the
        bound is computed from scratch.
    encode : {"symbol", "onehot", "posterior", "cells"}, optional
        Form of the reports. "symbol": one column of integers, which number the outputs that are in
        use. "onehot": a column of 0 and 1 for each of these outputs. "posterior": the probability
        of each category of each column given the report, at the public distribution. "cells": the
        outputs themselves, as columns of U. None is "cells".
    handle_unknown : {"error", "impute", "infrequent_if_exist"}, default="error"
        With "impute", an unknown value of U is replaced by a draw from the public distribution of U
        given S (uniform for a secret that the public table lacks). With ``observe="nonsensitive"``
        the draw is from the public distribution of U, and "impute" must be set before `fit`, since
        the mechanism is then designed and proven private for it. An unknown secret is always an
        error, unless the mechanism does not observe S.
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
    uncertainty_ : LikelihoodRatioSet, RenyiBall or AllDistributions
        The distributions that privacy holds for, with what was fitted, in nats: the radius ``B_``
        of a ball, or the bounds ``single_`` and ``pair_`` of log likelihood ratios.
    utility_uncertainty_ : RenyiBall or AllDistributions
        The set for the worst expected distance; ``B_`` is its radius, in nats.
    mechanism_ : Mechanism
        The mechanism that is sampled; its ``symbols`` are the outputs in use.
        ``mechanism_.to_json()`` is all that a client needs.
    certificate_ : Certificate
        Proof that ``mechanism_`` leaks at most ``certificate_.eps <= eps``, at all distributions of
        the set or, without robust privacy, at the public distribution.
    solution_ : Solution
        How the mechanism was found: solver, status, distance with its lower bound and gap, time.
    information_by_secret_, normalized_information_by_secret_ : ndarray of shape (a1,)
        I(U; Y | S=s) for each secret, in nats, and divided by H(U | S=s); NaN where there is
        nothing to tell.
    distance_ : str, callable or array
        The distance that was taken: "squared" or "hamming" for "auto", and else `distance`.
    distortion_ : float
        Expected distance at the public distribution of the mechanism as it is sampled.
    worst_case_distortion_ : float
        Upper bound on the expected distance at every distribution of ``utility_uncertainty_``,
        whether the design asked for it or not. It holds for the true distribution except with
        probability ``utility_uncertainty_.beta``, as far as the radius comes from a beta.
    worst_case_distribution_ : array of shape (a1, a2)
        A distribution of that set that (nearly) attains it.
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
        By `fit`, if there are too few public records for the asymptotic radius of the set to be
        reliable, if privacy holds at the public distribution alone, or if the table's columns have
        names and `sensitive` is None.
    ConvergenceWarning
        By `fit`, if the solver met a limit of iterations or time.

    See Also
    --------
    PolyOptSanitizer : Maximal mutual information, private at every distribution of a set.
    IRSanitizer : Reports S and U independently, by a closed form or optimised.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    The promise: a report changes the odds of any two secrets by a factor of at most exp(eps),
    whichever distribution of the uncertainty set is the true one. Nothing is promised about U
    beyond what it reveals about S. The solver is not trusted: its result is repaired, rounded to
    what will be sampled and proven private, or else nothing is released.

    The promise is for **one report about each person**, to somebody who knows nothing else about
    them. `eps_all` bounds what further reports add and what a report tells somebody who knows U:
    ``certify(..., reports=k)`` gives the number for k reports. Without it two reports, or one and
    U, may even determine S, since the distribution of U is then outside the set.

    Read more in the guide: :doc:`which sanitizer to take </guide/sanitizers>` and
    :doc:`what a report looks like </guide/reports>`.

    References
    ----------
    J. Goseling and M. Lopuhaä-Zwakenberg, Robust Optimization for Local Differential Privacy,
    ISIT 2022: problems (7)-(10), Theorems 2 and 4.

    Examples
    --------
    >>> from skrldp import RobustMSESanitizer
    >>> X = [[s, u] for s in ("no", "yes") for u in (0, 1, 2)]
    >>> counts = [300, 200, 100, 150, 250, 500]
    >>> sanitizer = RobustMSESanitizer(eps=0.5).fit(X, sample_weight=counts)
    >>> sanitizer.certificate_.holds(0.5)
    True
    >>> round(sanitizer.distortion_, 3), round(sanitizer.worst_case_distortion_, 3)
    (0.225, 0.263)
    >>> sanitizer.transform([["yes", 2], ["no", 0]]).shape
    (2, 1)
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
        utility_uncertainty: Any = None,
        robust_utility: bool = True,
        robust_privacy: bool = True,
        distance: Any = "auto",
        outputs: Any = None,
        observe: str = "all",
        solver: str = "auto",
        tol: float = 1e-4,
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
        self.utility_uncertainty = utility_uncertainty
        self.robust_utility = robust_utility
        self.robust_privacy = robust_privacy
        self.distance = distance
        self.outputs = outputs
        self.observe = observe
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_utility_uncertainty(self.utility_uncertainty)
        check_flag("robust_utility", self.robust_utility)
        check_flag("robust_privacy", self.robust_privacy)
        check_choice("observe", self.observe, OBSERVED)
        check_choice("solver", self.solver, SOLVERS_OF_DISTANCES)
        check_tolerance(self.tol)
        check_limits(self)
        check_warm_start(self)
