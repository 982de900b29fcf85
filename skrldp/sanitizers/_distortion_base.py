"""What the sanitizer with the least distance needs besides its parameters."""

import warnings
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

from skrldp._numbers import at_most
from skrldp.alphabet import Record
from skrldp.certificate import expected_seconds, release
from skrldp.design.closed_form import closed_forms
from skrldp.design.engine import solve
from skrldp.design.objectives import (
    DistanceProblem,
    distance_matrix,
    expected_distance,
    suited_distance,
)
from skrldp.exceptions import PrivacyLeakWarning
from skrldp.joint import JointDistribution
from skrldp.privacy import Promise
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._checks import check_outputs
from skrldp.sanitizers._fitted_state import Designed, Fitted, FromFit
from skrldp.sanitizers._promised import design_requirements, drawn_from
from skrldp.sanitizers._utility_set import (
    PUBLIC_ALONE,
    fit_utility_set,
    over_set,
    worst_distance,
)
from skrldp.sanitizers._warm_start import known_mechanism, known_rows
from skrldp.sanitizers._warnings import say_if_slow
from skrldp.sets import FittedSet, RenyiSet

__all__ = ["DistortionSanitizer"]


class DistortionSanitizer(BaseSanitizer):
    """Base class: least expected distance over a region, and reports that are values of U."""

    _most_cells = 2_000  # a design and its proof take minutes there
    _slow_from = 80  # cells, by measurement

    distance_ = FromFit("figures.distance_")
    n_iter_ = FromFit("solution.iterations")
    distortion_ = FromFit("figures.distortion_")
    utility_uncertainty_ = FromFit("figures.utility_uncertainty_")
    worst_case_distortion_ = FromFit("figures.worst_case_distortion_")
    worst_case_distribution_ = FromFit("figures.worst_case_distribution_")

    def _utility_set(
        self, joint: JointDistribution, uncertainty: FittedSet
    ) -> tuple[Any, RenyiSet]:
        """Return the set for the worst expected distance: a parameter object, and its value."""
        private = self._uncertainty_set()
        return fit_utility_set(self.utility_uncertainty, private, uncertainty, joint)

    def _private_set(self, uncertainty: FittedSet) -> FittedSet:
        return uncertainty if self.robust_privacy else uncertainty.public_alone

    def _design(self, promise: Promise, record: Record) -> Designed:
        joint = promise.joint
        say_if_slow(self, joint)
        outputs = check_outputs(self.outputs, joint.values)
        known = known_mechanism(self, joint)
        distance = distance_matrix(self.distance, joint.values, outputs)
        uncertainty = self._uncertainty_set().fit_set(joint)
        _, useful = self._utility_set(joint, uncertainty)
        useful = useful if self.robust_utility else useful.public_alone
        requirements, limit = design_requirements(promise, self.uncertainty), self.time_limit
        if limit is not None:  # leave time for repair and proof, but no more than half
            limit = max(limit - expected_seconds(requirements), limit / 2.0)
        solution = solve(
            DistanceProblem(
                expected_distance(joint, distance, useful, observe=self.observe),
                gap=self.tol,
                simple=lambda: closed_forms(joint, requirements),
            ),
            requirements,
            solver=self.solver,
            time_limit=limit,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            warm=None if known is None else known_rows(known, joint, self.observe),
        )
        assert solution.matrix is not None  # only closed forms have none
        stand_in = drawn_from(self, promise)
        mechanism, certificate = release(
            solution.matrix, promise, stand_in=stand_in, verbose=self.verbose
        )
        if not self.robust_privacy and not uncertainty.is_point:
            warnings.warn(
                "robust_privacy=False: privacy holds for the public distribution alone, not for "
                "the unknown true distribution of the private data.",
                PrivacyLeakWarning,
                stacklevel=3,
            )
        used = list(mechanism.symbols)
        mechanism = mechanism.named([outputs[y] for y in used], ())
        return Designed(mechanism, certificate, solution, distance=distance[:, used])

    def _summarise(
        self, joint: JointDistribution, uncertainty: FittedSet, design: Designed
    ) -> tuple[dict[str, Any], str]:
        own, useful = self._utility_set(joint, uncertainty)
        mean, _ = worst_distance(joint, design, useful.public_alone)
        worst, distribution = worst_distance(joint, design, useful)
        auto = isinstance(self.distance, str) and self.distance == "auto"
        figures = {
            "distance_": suited_distance(joint.values) if auto else self.distance,
            "utility_uncertainty_": own,
            "distortion_": mean,
            "worst_case_distortion_": worst,
            "worst_case_distribution_": distribution.reshape(joint.counts.shape),
        }
        over = over_set(useful, design.certificate.uncertainty)
        worst_case = at_most(worst, ".5g")
        return figures, f"distortion {mean:.5g} (at worst {worst_case} over {over})"

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the expected distance of the report from U at the distribution of a table.

        It says how close one report is to the value of one record. It does not say how well shares
        or means are estimated from many reports: for that, give a search the scorer of
        :func:`~skrldp.model_selection.neg_std_error_scorer`.

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
            At most 0. It is not private: it depends on X.
        """
        fitted = self._state()
        distribution = self._distribution_of(X, sample_weight, fitted)
        return -worst_distance(distribution, fitted.design, PUBLIC_ALONE)[0]

    def _written(
        self, symbols: NDArray[Any], encode: str, names: Sequence[str], like: Any, fitted: Fitted
    ) -> Any:
        if encode == "cells":
            return fitted.codec.write_values(fitted.mechanism.symbols, symbols, like=like)
        return super()._written(symbols, encode, names, like, fitted)

    def _report_names(
        self, fitted: Fitted, columns: Sequence[Any] | None, encode: str
    ) -> list[str]:
        names = super()._report_names(fitted, columns, encode)
        if encode == "cells":
            return [names[place] for place in fitted.codec.nonsensitive]
        return names
