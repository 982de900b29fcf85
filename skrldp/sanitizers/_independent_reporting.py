"""Independent reporting of S and of U."""

import time
from typing import Any

from skrldp._params import check_choice
from skrldp.alphabet import Record
from skrldp.certificate import release
from skrldp.design import Limits, Progress, Solution, information_bound
from skrldp.design.closed_form import independent_reporting
from skrldp.design.subset import optimal_reporting
from skrldp.information import Blocks
from skrldp.privacy import Promise, Requirements
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._blocks import release_blocks
from skrldp.sanitizers._checks import MOST_CELLS_OF_IR
from skrldp.sanitizers._fitted_state import Designed

__all__ = ["IRSanitizer"]

_MOST_OPTIMAL = 2_000  # cells, as for other dense designs


class IRSanitizer(BaseSanitizer):
    """Independent reporting: S and U are each reported by their own mechanism.

    ε is split between the two in the best proportion. The report of U may be more exact than ε
    alone would allow, since it reveals S only as far as the two are dependent. With randomised
    response there is no solver, and up to 4,000 cells are possible; optimised mechanisms have a
    larger mutual information, often several times as large.

    Parameters
    ----------
    eps : float, default=1.0
        Privacy parameter ε, in nats: no report may be more than exp(ε) times as probable under one
        secret as under another.
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
    budget : {"tight", "theorem5"}, default="tight"
        How the parameter of the mechanism for U is computed: "tight" takes the largest that is
        private, by the exact worst case over the set; "theorem5" takes the bound of the paper, from
        an ℓ1 distance.
    underlying : {"grr", "optimal"}, default="grr"
        How S and U are reported: "grr" is randomised response; "optimal" the best of randomised
        response and mechanisms optimised for the public distribution, for at most 2,000 cells (and
        a `fit` of a minute or two rather than a second). Their reports state in which of a few sets
        the value is.
    encode : {"symbol", "onehot", "posterior", "cells"}, optional
        Form of the reports. "symbol": one column of integers from 0 to b − 1, where b is the number
        of different reports. "onehot": b columns of 0 and 1. "posterior": the probability of each
        category of each column given the report, at the public distribution. "cells": the columns
        of X, filled with the cell that randomised response drew or, for optimised mechanisms, with
        the most probable cell given the report. None is "cells".
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
    SolverError
        By `fit` with ``underlying="optimal"``, if the solver fails.

    Warns
    -----
    PrivacyLeakWarning
        By `fit`, if there are too few public records for the asymptotic radius of the set to be
        reliable, or if the table's columns have names and `sensitive` is None.

    See Also
    --------
    PolyOptSanitizer : Maximal mutual information, private at every distribution of a set.
    SRRSanitizer : A closed form that is private at every distribution.
    privacy_report : What a fitted sanitizer promises, and what it does not.

    Notes
    -----
    The promise: a report changes the odds of any two secrets by a factor of at most exp(eps),
    whichever distribution of the uncertainty set is the true one. Nothing is promised about U
    beyond what it reveals about S.

    The promise is for **one report about each person**, to somebody who knows nothing else about
    them. `eps_all` bounds what further reports add and what a report tells somebody who knows U:
    ``certify(..., reports=k)`` gives the number for k reports. Without it two reports, or one and
    U, may even determine S, since the distribution of U is then outside the set.

    Read more in the guide: :doc:`which sanitizer to take </guide/sanitizers>` and
    :doc:`what a report looks like </guide/reports>`.

    References
    ----------
    Mechanisms for Robust Local Differential Privacy, Entropy 2024, Theorem 5, (82) and section 9
    (optimal mechanisms in place of randomised response).

    Examples
    --------
    >>> from skrldp import IRSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> n = [70, 100, 260, 570]
    >>> sanitizer = IRSanitizer(eps=1.0).fit(X, sample_weight=n)
    >>> round(sanitizer.mutual_information_, 4)
    0.6432
    >>> sanitizer.certificate_.holds(1.0)
    True
    >>> better = IRSanitizer(eps=1.0, underlying="optimal").fit(X, sample_weight=n)
    >>> better.certificate_.holds(1.0)
    True
    """

    _most_cells = MOST_CELLS_OF_IR

    def __init__(
        self,
        eps: float = 1.0,
        *,
        eps_all: float | None = None,
        sensitive: Any = None,
        survey: Any = None,
        known: Any = None,
        eps_known: float | None = None,
        categories: Any = "auto",
        min_frequency: float | str | None = None,
        max_categories: int | None = None,
        alphabet_fraction: float | None = None,
        uncertainty: Any = None,
        budget: str = "tight",
        underlying: str = "grr",
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
        self.budget = budget
        self.underlying = underlying

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("budget", self.budget, ("tight", "theorem5"))
        check_choice("underlying", self.underlying, ("grr", "optimal"))

    def _design(self, promise: Promise, record: Record) -> Designed:
        joint, requirements = promise.joint, promise.requirements()
        if self.underlying == "optimal":
            return self._optimal(promise, requirements)

        def blocks() -> Blocks:
            return independent_reporting(joint, requirements, self.budget).blocks

        return release_blocks(blocks, "independent reporting", promise)

    def _optimal(self, promise: Promise, requirements: Requirements) -> Designed:
        joint = promise.joint
        if joint.counts.size > _MOST_OPTIMAL:
            raise ValueError(
                f"underlying='optimal' holds at most {_MOST_OPTIMAL:,} cells, but "
                f"{len(joint.secrets):,} secrets x {len(joint.values):,} values make "
                f"{joint.counts.size:,}. Use underlying='grr', or fewer categories (for numbers, "
                "KBinsDiscretizer)."
            )
        start = time.perf_counter()
        with Progress(self.verbose, Limits()):
            best = optimal_reporting(joint, requirements, self.budget)
        blocks = best.blocks
        if blocks is not None:
            name = "independent reporting"
            return release_blocks(lambda: blocks, name, promise)
        mechanism, certificate = release(best.matrix, promise, verbose=self.verbose)
        bound = information_bound(joint, requirements, quick=True)
        solution = Solution(
            status="converged",
            solver="independent reporting",
            objective=best.information,
            bound=bound.value,
            bound_by=bound.by,
            iterations=best.splits,
            seconds=time.perf_counter() - start,
            message=best.describe(),
            matrix=best.matrix,
        )
        mechanism = mechanism.named(range(mechanism.shape[0]), ())
        likely = mechanism.likely_cells(joint.probabilities)
        return Designed(mechanism, certificate, solution, cells=likely)
