r"""A likelihood-ratio test of whether the population that was asked is in the confidence set.

The hypothesis is that the conditional of U given each secret is in the set by itself; the
distribution of S may be anything. With Λ the greatest likelihood of the reports over all
distributions and Λ₀ the greatest over those of the hypothesis, the statistic is
:math:`T = 2\log(\Lambda/\Lambda_0)`. Wherever in the set the true distribution π is, Λ₀ is at
least the likelihood at π, so T is at most the statistic of the simple hypothesis π, which is
asymptotically at most χ² distributed with as many degrees of freedom as the reports determine,
the rank of the mechanism minus 1. So the p-value is valid at every distribution of the set, and
conservative inside it.

Λ is replaced by a likelihood that is attained and Λ₀ by an upper bound that is proven: an inexact
maximisation makes the p-value greater, never smaller.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2
from sklearn.utils.validation import check_is_fitted

from skrldp._numbers import p_in_words
from skrldp._pages import page
from skrldp._typing import Floats
from skrldp.estimation._checks import check_names
from skrldp.estimation._threads import one_thread
from skrldp.estimation.channels import Channel
from skrldp.estimation.likelihood import maximise, maximum_over_set
from skrldp.estimation.reports import Source
from skrldp.joint import JointDistribution
from skrldp.sets import FittedSet, fitted_set

__all__ = ["DriftTest", "DriftTests", "set_around"]

_TOL = 1e-3  # nats in all by which the statistic may be too small
_STEPS = 10_000


@dataclass(frozen=True)
class DriftTest:
    """What reports say against a hypothesis about those who reported.

    Attributes
    ----------
    statistic : float
        Of a set, twice the logarithm of the likelihood ratio: a proven lower bound, not less than
        0. Of blocks of columns, the score statistic.
    p_value : float
        If the hypothesis is true, then for every p the probability of a p-value of at most p is at
        most p (of blocks, about p), as far as the approximation by the chi-squared distribution
        holds.
    degrees_of_freedom : int
        Those of the chi-squared distribution.
    n_reports : int
        Number of reports.
    within : str
        The set in words; empty of blocks, whose distributions are compared with the public ones.
    hypothesis : str
        What the reports may contradict, in words.
    """

    statistic: float
    p_value: float
    degrees_of_freedom: int
    n_reports: int
    within: str
    hypothesis: str = "each conditional of U is in the set"

    def __str__(self) -> str:
        verb = "do not contradict" if self.p_value > 0.05 else "contradict"
        return (
            f"{self.n_reports:,} reports {verb} that {self.hypothesis} "
            f"({p_in_words(self.p_value)}; {self._kind} {self.statistic:.4g} on "
            f"{self.degrees_of_freedom} degrees of freedom)."
            + (f" The set: {self.within}." if self.within else "")
        )

    @property
    def _kind(self) -> str:
        return "likelihood ratio" if self.within else "score statistic"

    def _repr_html_(self) -> str:
        rows = [
            ("within", self.within) if self.within else ("hypothesis", self.hypothesis),
            (self._kind, f"{self.statistic:.4g}"),
            ("degrees of freedom", f"{self.degrees_of_freedom:,}"),
            ("p-value", p_in_words(self.p_value)),
        ]
        return page(f"Test for drift: {self.n_reports:,} reports", rows)


def set_around(source: Source, within: Any, joint: Any) -> tuple[FittedSet, JointDistribution]:
    """Find the set that is asked for, and the public distribution that it is around."""
    joint = source.joint if joint is None else joint
    if not isinstance(joint, JointDistribution):
        raise ValueError(
            "the public distribution is not known: fit the estimator with the fitted sanitizer "
            "in place of its mechanism, or give joint=JointDistribution(counts, secrets, values)."
        )
    check_names("the public distribution", joint, source.mechanism)
    within = source.uncertainty if within is None else within
    if within is None:
        raise ValueError(
            "the set is not known: give within=LikelihoodRatioSet(), or fit the estimator with "
            "the fitted sanitizer in place of its mechanism."
        )
    return fitted_set(joint, within, "within"), joint


def _compared(
    channel: Channel,
    counts: Floats,
    around: FittedSet,
    joint: JointDistribution,
    time_limit: float | None,
) -> DriftTest:
    """Test whether reports fit a set."""
    n = float(counts.sum())
    with one_thread():
        free = maximise(channel, counts / n, _TOL / n, _STEPS, time_limit)
        best = maximum_over_set(channel, counts, around, joint, tol=_TOL, time_limit=time_limit)
    statistic = max(0.0, 2.0 * (n * free.log_likelihood - best.upper_bound))
    freedom = channel.rank - 1
    p_value = float(chi2.sf(statistic, freedom)) if freedom else 1.0
    return DriftTest(statistic, p_value, freedom, int(n), around.describe())


class DriftTests:
    """The test for drift, as a method of a fitted estimator."""

    n_reports_: int
    time_limit: float | None
    _channel: Channel
    counts_: NDArray[np.int64]
    _source: Source

    def drift_test(
        self, within: Any = None, *, joint: JointDistribution | None = None
    ) -> DriftTest:
        r"""Test whether the population that reported is in the confidence set.

        Privacy over a set is a promise for populations in that set. The public records may be
        old, or of other people. The reports tell whether that has become visible: this is the
        likelihood-ratio test of the hypothesis that the conditional of U given each secret is in
        the set. The distribution of S may be anything, as for privacy, and each conditional is
        tested by itself: what the set allows for two of them together is not.

        Parameters
        ----------
        within : LikelihoodRatioSet, RenyiBall or FittedSet, optional
            The set; the sanitizer's own one if None.
        joint : JointDistribution, optional
            The public distribution that the set is around; the sanitizer's if None.

        Returns
        -------
        DriftTest
            With ``statistic``, ``p_value`` and ``n_reports``; ``str`` of it is a sentence.

        Raises
        ------
        ValueError
            If the set or the public distribution is not known, or the set has all distributions.

        Notes
        -----
        The p-value is asymptotically valid at every distribution of the set, and conservative
        inside it. A large one does not prove that there is no drift: the reports may not show it.

        Examples
        --------
        >>> from skrldp import FrequencyEstimator, GRRSanitizer, LikelihoodRatioSet
        >>> cells = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
        >>> sanitizer = GRRSanitizer(eps=1.0, sensitive=0, random_state=0)
        >>> sanitizer = sanitizer.fit(cells, sample_weight=[700, 1000, 260, 570])
        >>> reports = sanitizer.transform(cells * 5000)    # "rare" was 41 % of "no", now 50 %
        >>> found = FrequencyEstimator(sanitizer).fit(reports).drift_test(LikelihoodRatioSet())
        >>> found.p_value < 0.05, found.n_reports
        (True, 20000)
        """
        check_is_fitted(self)
        around, joint = set_around(self._source, within, joint)
        if around.is_everything:
            raise ValueError(
                "the set has all distributions, so no reports can contradict it: give another "
                "one, such as within=LikelihoodRatioSet()."
            )
        return _compared(self._channel, self.counts_.astype(float), around, joint, self.time_limit)
