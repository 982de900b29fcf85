"""The private mechanism from whose reports named shares and means are estimated best."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skrldp._params import OBSERVED, check_choice
from skrldp._typing import Floats
from skrldp.alphabet import Record
from skrldp.design.criteria import Variance
from skrldp.design.objectives import SOLVERS_OF_MIXTURES
from skrldp.exceptions import InfeasibleError
from skrldp.joint import JointDistribution
from skrldp.privacy import Promise, Requirements
from skrldp.sanitizers._checks import check_smoothing
from skrldp.sanitizers._fitted_state import Designed, FromFit
from skrldp.sanitizers._optimal_base import OptimalSanitizer
from skrldp.sanitizers._promised import design_requirements
from skrldp.sets import FittedSet
from skrldp.targets import WeightedFunctions, functions_of

__all__ = ["AOptimalSanitizer"]


class AOptimalSanitizer(OptimalSanitizer):
    r"""The private mechanism with the least variance of named estimates: an A-optimal design.

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
    targets : {"nonsensitive", "sensitive", "all"}, Marginal, Mean, Linear or list of these
        What is to be estimated from the reports: the distribution of U, of S, the crosstab of both,
        or the targets of :mod:`skrldp.targets`: shares of some columns, means of numeric columns,
        any linear functions, each with a weight.
    observe : {"all", "nonsensitive"}, default="all"
        What the mechanism sees of a person. "nonsensitive" is U alone: `transform` then needs the
        columns of U only, in the order of the public table, and does not look at those of S where a
        table has them. (Arrays have no names: one with as many columns as U has is taken for U.)
        The promise is the same, but there are fewer mechanisms to choose from, so the utility is
        smaller.
    solver : {"auto", "vertices", "columns", "decomposition"}, default="auto"
        How the optimum is searched. "vertices" enumerates the vertices of the region and finds the
        global optimum, for about ten cells and polyhedral regions. "decomposition" solves linear
        programs over mechanisms and mixes all of their rows, for up to some hundreds of cells.
        "columns" generates vertices as they are needed. "auto" takes "vertices" where that is fast;
        otherwise it takes "decomposition", followed by "columns" where that can help.
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
        is repaired, certified and bounded as in any fit. A proven optimum, by ``solver="vertices"``
        for example, does not need it.
    smoothing : float, default=0.5
        Number of records added to the public table, spread evenly over all cells, for the objective
        only. Privacy, ``variances_`` and ``mutual_information_`` refer to the public distribution
        without them. 0 adds nothing; it needs public records in every cell.
    encode : {"symbol", "onehot", "posterior", "cells"}, optional
        Form of the reports. "symbol": one column of integers from 0 to b − 1, where b is the number
        of different reports. "onehot": b columns of 0 and 1. "posterior": the probability of each
        category of each column given the report, at the public distribution. "cells": the columns
        of X, filled with the most probable cell given the report. None is "symbol". Each of these
        forms reveals about S whatever the report reveals, whether the mechanism sees S or not.
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
        If positive, `fit` shows a progress bar and prints what it did.

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
        How the mechanism was found: solver, status, time, and as objective the weighted sum of the
        variances, with a bound that no mechanism passes.
    variances_ : array of shape (m,)
        Asymptotic variance of each estimate by maximum likelihood at the public distribution, times
        the number of reports: the standard error from n reports is ``sqrt(variances_ / n)``.
    targets_ : tuple of length m
        What each estimate is: (columns, category) for a share, ("mean", column) for a mean,
        ("linear", number) for another function.
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
    InfeasibleError
        By `fit`, if no mechanism was found whose reports determine the targets.
    CertificateError
        By `fit`, if the mechanism cannot be proven private.
    SolverError
        By `fit`, if the solver fails.

    Warns
    -----
    PrivacyLeakWarning
        By `fit`, if there are too few public records for the asymptotic radius of the set to be
        reliable, if the radius is 0, or if the table's columns have names and `sensitive` is None.
    ConvergenceWarning
        By `fit`, if the solver met a limit of iterations or time.

    See Also
    --------
    PolyOptSanitizer : Maximal mutual information.
    FrequencyEstimator : Estimates from reports; ``method="ml"`` reaches these variances.
    IRSanitizer : Reports S and U independently, by a closed form or optimised.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    The mechanism minimises the weighted sum of the asymptotic variances of the estimates at the
    public distribution, over all mechanisms that keep the promise. It is an A-optimal design: with
    the information matrix :math:`M = \sum_y q_y q_y^T / (q_y \cdot \pi)` of one report and
    linear functions C it minimises :math:`\operatorname{tr} C M^{-1} C^T`, which is convex in the
    weights of private rows.

    The promise: a report changes the odds of any two secrets by a factor of at most exp(eps),
    whichever distribution of the uncertainty set is the true one. Nothing is promised about U
    beyond what it reveals about S. The solver is not trusted: its result is repaired, rounded to
    what will be sampled and proven private, or else nothing is released.

    The promise is for **one report about each person**, to somebody who knows nothing else about
    them. `eps_all` bounds what further reports add and what a report tells somebody who knows U:
    ``certify(..., reports=k)`` gives the number for k reports. Without it two reports, or one and
    U, may even determine S, since the distribution of U is then outside the set.

    Read more in the guide: :doc:`which sanitizer to take </guide/sanitizers>`, :doc:`what a region
    is </guide/regions>`, and
    :doc:`what a report looks like </guide/reports>`.

    References
    ----------
    F. Pukelsheim, Optimal Design of Experiments, Wiley 1993 (A-optimality).

    Examples
    --------
    >>> from skrldp import AOptimalSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = AOptimalSanitizer(eps=1.0).fit(X, sample_weight=[700, 1000, 2600, 5700])
    >>> sanitizer.certificate_.holds(1.0)
    True
    >>> sanitizer.targets_
    (((1,), 'often'), ((1,), 'rare'))
    """

    _solvers = SOLVERS_OF_MIXTURES
    _slow_from = 30

    variances_ = FromFit("figures.variances_")
    targets_ = FromFit("figures.targets_")

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
        targets: Any = "nonsensitive",
        observe: str = "all",
        solver: str = "auto",
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        warm_start: Any = False,
        smoothing: float = 0.5,
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
        self.observe = observe
        self.solver = solver
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.smoothing = smoothing
        self.targets = targets

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("observe", self.observe, OBSERVED)
        check_smoothing(self.smoothing)

    def _design(self, promise: Promise, record: Record) -> Designed:
        requirements = design_requirements(promise, self.uncertainty)
        criterion = self._criterion(promise.joint, requirements, record)
        design = self._optimum(promise, requirements, criterion)
        if not np.isfinite(design.solution.objective):
            raise InfeasibleError(
                "no mechanism was found whose reports determine all targets: they ask for more "
                f"than may be told at eps={self.eps}. Use a larger eps, or other targets."
            )
        return design

    def _criterion(
        self, joint: JointDistribution, requirements: Requirements, record: Record
    ) -> Variance:
        asked = self._asked(joint, record)
        scaled = asked.functions * np.sqrt(asked.weights)[:, None]
        distribution = requirements.fold(joint.smoothed(self.smoothing))
        if not distribution.all():
            raise ValueError(
                "smoothing=0 needs records in every cell: without them, an estimate has no least "
                "variance. Use a positive smoothing, or fewer categories."
            )
        if self.observe == "nonsensitive":
            scaled = _of_u_alone(scaled, joint, asked)
        return Variance(distribution, scaled)

    def _asked(self, joint: JointDistribution, record: Record) -> WeightedFunctions:
        smooth = joint.smoothed(self.smoothing).ravel()
        return functions_of(self.targets, record, smooth)

    def _summarise(
        self, joint: JointDistribution, uncertainty: FittedSet, design: Designed
    ) -> tuple[dict[str, Any], str]:
        figures, words = super()._summarise(joint, uncertainty, design)
        asked = self._asked(joint, design.mechanism)
        variances = self._variances(design, joint.probabilities, asked)
        figures |= {"variances_": variances, "targets_": asked.names}
        total = float(variances @ asked.weights)
        return figures, f"{words}, sum of variances {total:.5g} / n"

    def _variances(
        self, design: Designed, probabilities: Floats, asked: WeightedFunctions
    ) -> Floats:
        criterion = Variance(probabilities.ravel(), asked.functions)
        return criterion.variances(design.mechanism.matrix)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the weighted sum of the variances at the distribution of a table.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            Records; nothing is reported about them.
        y : ignored
            Not used; present for API consistency.
        sample_weight : array of shape (n,), optional
            How many records each row stands for.

        Returns
        -------
        float
            At most 0, times the number of reports: see ``variances_``. It is not private: it
            depends on X.
        """
        fitted = self._state()
        joint = self._distribution_of(X, sample_weight, fitted)
        asked = self._asked(fitted.joint, fitted.mechanism)
        return -float(self._variances(fitted.design, joint.probabilities, asked) @ asked.weights)


def _of_u_alone(functions: Floats, joint: JointDistribution, asked: WeightedFunctions) -> Floats:
    """Write functions of X that depend on U alone as functions of U."""
    by_secret = functions.reshape(-1, *joint.counts.shape)
    differ = np.flatnonzero((by_secret != by_secret[:, :1]).any(axis=(1, 2)))
    if len(differ):
        raise ValueError(
            "observe='nonsensitive' tells nothing about S beyond U, so targets must be functions "
            f"of U; this is none: {asked.names[differ[0]]!r}."
        )
    return by_secret[:, 0]
