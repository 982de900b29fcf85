"""Independent reporting of S and of U."""

import time

from skrldp._params import check_choice
from skrldp.alphabet import Record
from skrldp.certificate import release
from skrldp.design import Limits, Progress, Solution, information_bound
from skrldp.design.closed_form import independent_reporting
from skrldp.design.subset import optimal_reporting
from skrldp.information import Blocks
from skrldp.privacy import Promise, Requirements
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._checks import MOST_CELLS_OF_IR
from skrldp.sanitizers._closed_forms import release_closed_form
from skrldp.sanitizers._fitted_state import Designed
from skrldp.sanitizers._texts import with_parameters
from skrldp.sets import FittedSet

__all__ = ["IRSanitizer"]

_MOST_OPTIMAL = 2_000  # cells, as for other dense designs


@with_parameters
class IRSanitizer(BaseSanitizer):
    """Independent reporting: S and U are each reported by their own mechanism.

    ε is split between the two in the best proportion. The report of U may be more exact than ε
    alone would allow, since it reveals S only as far as the two are dependent. With randomised
    response there is no solver, and up to 4,000 cells are possible; optimised mechanisms have a
    larger mutual information, often several times as large.

    Parameters
    ----------
    {eps, sensitive, survey, categories, min_frequency}
    {uncertainty}
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
    {handle_unknown, random_state, verbose}

    Attributes
    ----------
    {joint_, uncertainty_, mechanism_, certificate_, solution_, mutual_information_}
    {normalized_mutual_information_, information_by_secret_, n_features_in_, feature_names_in_}

    Raises
    ------
    {ValueError, CertificateError}
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
    them. Two reports, or one and U, may even determine S: ``certify(..., reports=k)`` gives the
    number for k reports, and `eps_all` of :class:`PolyOptSanitizer` bounds it.

    {Read more in the guide}

    References
    ----------
    Mechanisms for Robust Local Differential Privacy, Entropy 2024, Theorem 5, (82) and section 9
    (optimal mechanisms in place of randomised response).

    Examples
    --------
    >>> from skrldp import IRSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> n = [70, 100, 260, 570]
    >>> sanitizer = IRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=n)
    >>> round(sanitizer.mutual_information_, 4)
    0.6432
    >>> sanitizer.certificate_.holds(1.0)
    True
    >>> better = IRSanitizer(eps=1.0, sensitive=0, underlying="optimal").fit(X, sample_weight=n)
    >>> better.certificate_.holds(1.0)
    True
    """

    _most_cells = MOST_CELLS_OF_IR

    budget: str = "tight"
    underlying: str = "grr"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("budget", self.budget, ("tight", "theorem5"))
        check_choice("underlying", self.underlying, ("grr", "optimal"))

    def _design(self, promise: Promise, around: FittedSet, record: Record) -> Designed:
        joint, requirements = promise.joint, promise.requirements()
        if self.underlying == "optimal":
            return self._optimal(promise, requirements)

        def blocks() -> Blocks:
            return independent_reporting(joint, requirements, self.budget).blocks

        return release_closed_form(blocks, "independent reporting", promise)

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
            return release_closed_form(lambda: blocks, name, promise)
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
        return Designed(mechanism, certificate, solution).numbered(joint)
