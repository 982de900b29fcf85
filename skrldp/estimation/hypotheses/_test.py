"""The likelihood-ratio test of a hypothesis, and its power before anybody is asked."""

from dataclasses import dataclass
from typing import Any

from scipy.stats import chi2, ncx2

from skrldp._numbers import p_in_words
from skrldp._pages import page
from skrldp._params import is_finite, is_whole
from skrldp.estimation._plan import checked_n
from skrldp.estimation.hypotheses._hypotheses import Hypothesis, columns_of
from skrldp.estimation.hypotheses._problem import Problem, Reports, planned, samples_of

__all__ = ["HypothesisTest", "expected_power", "likelihood_ratio_test"]

_SIMULATIONS = 200


@dataclass(frozen=True)
class HypothesisTest:
    """What reports say against a hypothesis.

    Attributes
    ----------
    hypothesis : Independence, StatedDistribution or SameDistribution
        The hypothesis.
    statistic : float
        Twice the logarithm of the likelihood ratio.
    p_value : float
        Probability of a statistic at least as large, if the hypothesis is true.
    degrees_of_freedom : int
        Those of the chi-squared distribution.
    n_simulations : int
        Number of simulated sets of reports that the p-value is from; 0 if from the chi-squared
        distribution.
    n_reports : int
        Number of reports that the statistic is of: of blocks, those of the blocks that have all
        columns.
    """

    hypothesis: Hypothesis
    statistic: float
    p_value: float
    degrees_of_freedom: int
    n_simulations: int
    n_reports: int

    def __str__(self) -> str:
        verb = "do not contradict" if self.p_value > 0.05 else "contradict"
        return (
            f"{self.n_reports:,} reports {verb} that {self.hypothesis} "
            f"({p_in_words(self.p_value)}; likelihood ratio {self.statistic:.4g}, "
            f"{self._distribution})."
        )

    @property
    def _distribution(self) -> str:
        if self.n_simulations:
            return f"{self.n_simulations} simulations"
        return f"{self.degrees_of_freedom} degrees of freedom"

    def _repr_html_(self) -> str:
        rows = [
            ("hypothesis", str(self.hypothesis)),
            ("likelihood ratio", f"{self.statistic:.4g}"),
            ("p-value", f"{p_in_words(self.p_value)}, by {self._distribution}"),
        ]
        return page(f"Test of a hypothesis: {self.n_reports:,} reports", rows)


def likelihood_ratio_test(
    hypothesis: Hypothesis,
    reports: Any,
    others: Any = None,
    *,
    n_simulations: int | str = "auto",
    random_state: int = 0,
) -> HypothesisTest:
    r"""Test a hypothesis about the records by the likelihood ratio of their reports.

    Parameters
    ----------
    hypothesis : Independence, StatedDistribution or SameDistribution
        The hypothesis.
    reports : FrequencyEstimator or BlockEstimator
        Fitted to the reports, without a prior and `restrict_to`. Of blocks the reports of those are
        compared that have all columns of the hypothesis.
    others : FrequencyEstimator or BlockEstimator, optional
        The same of the second population, which consists of other persons. Its mechanism may be
        another one with the same categories of these columns. (Of the same persons,
        ``difference(..., paired=...)`` has a :meth:`~Figures.wald_test`.)
    n_simulations : int or "auto", default="auto"
        0 compares the statistic with the chi-squared distribution; a number compares it with those
        of so many sets of reports that are drawn under the hypothesis, or fewer: drawing ends once
        a tenth of them reach the statistic (Besag and Clifford 1991), so that p-values below .1
        are from all. "auto" is 200 where probabilities are so near 0 that the chi-squared
        distribution may be wrong (shares of the table within four standard errors, or without a
        standard error as zeros of cells leave them less room), else 0.
    random_state : int, default=0
        Seed of the simulation.

    Returns
    -------
    HypothesisTest

    Raises
    ------
    TypeError
        If the estimators are of another kind.
    ValueError
        If there are no such columns, no block has all of them, the reports do not determine the
        table, an estimator has a prior or a set, or the number of populations is another.

    Notes
    -----
    The statistic is :math:`2(\ell(\hat\pi) - \ell(\hat\pi_0))` with ℓ the log-likelihood of the
    reports, :math:`\hat\pi` its maximum and :math:`\hat\pi_0` its maximum under the hypothesis.
    The latter is over products of conditional distributions, which is not convex for independence:
    it is searched from the estimate's own products. Several blocks that have the columns have one
    distribution of these in common.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp import FrequencyEstimator, SRRSanitizer
    >>> from skrldp.estimation import Independence, likelihood_ratio_test
    >>> X = [["no", 0], ["no", 1], ["yes", 0], ["yes", 1]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> counts = 20_000 * sanitizer.mechanism_.matrix @ [0.1, 0.2, 0.4, 0.3]
    >>> estimator = FrequencyEstimator(sanitizer).fit(range(4), sample_weight=counts.round())
    >>> test = likelihood_ratio_test(Independence(0, 1), estimator)
    >>> test.degrees_of_freedom, test.p_value < 0.01
    (1, True)
    """
    given = [reports] if others is None else [reports, others]
    populations = [samples_of(one, columns_of(hypothesis)) for one in given]
    if n_simulations != "auto" and not (is_whole(n_simulations) and n_simulations >= 0):
        raise ValueError(f"n_simulations={n_simulations!r} must be a whole number, or 'auto'.")
    if not (is_whole(random_state) and random_state >= 0):
        raise ValueError("random_state must be a whole number >= 0: p-values are to be repeatable.")
    problem = Problem.of(hypothesis, populations)
    counts = problem.counts()
    statistic, under = problem.statistic(counts)
    n_drawn = n_simulations
    if n_simulations == "auto":
        n_drawn = 0 if problem.is_inside(under) else _SIMULATIONS
    freedom = problem.degrees_of_freedom
    if n_drawn:
        p_value, n_drawn = problem.simulated(statistic, under, int(n_drawn), random_state)
    else:
        p_value = float(chi2.sf(statistic, freedom)) if freedom else 1.0
    n = int(sum(own.sum() for own in counts))
    return HypothesisTest(hypothesis, statistic, p_value, freedom, int(n_drawn), n)


def expected_power(
    hypothesis: Hypothesis,
    mechanism: Any,
    n: Any,
    *,
    distribution: Any = None,
    level: float = 0.05,
) -> float:
    """Probability that n reports will contradict a hypothesis that is not true.

    Parameters
    ----------
    hypothesis : Independence, StatedDistribution or SameDistribution
        The hypothesis that will be tested.
    mechanism : Mechanism, str, Manifest, fitted sanitizer, BlockSanitizer or Pipeline
        What will make the reports.
    n : int, or two of them
        Number of reports, of all blocks; of each population for two.
    distribution : JointDistribution or array of shape (a1, a2), or two of them, optional
        What the records follow; of each population for two. None is the public distribution of a
        fitted sanitizer. For blocks a list of a JointDistribution for each block.
    level : float, default=0.05
        A p-value of at most this contradicts the hypothesis.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        As by :func:`~skrldp.expected_std_error`, and for a hypothesis as by
        :func:`likelihood_ratio_test`.

    Notes
    -----
    By the noncentral chi-squared distribution, whose noncentrality is the statistic of the expected
    reports. Where many samples give cells an estimated probability of 0, as few or noisy reports
    do, the statistic follows another distribution, and the power is nearly known only: within .05
    of the plan in most cases of ``benchmarks/bench_statistics.py``, .11 above in the furthest.

    Examples
    --------
    >>> from skrldp import SRRSanitizer
    >>> from skrldp.estimation import Independence, expected_power
    >>> X = [["no", 0], ["no", 1], ["yes", 0], ["yes", 1]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[700, 1000, 2600, 5700])
    >>> round(expected_power(Independence(0, 1), sanitizer, 20_000), 2)
    0.79
    """
    if not (is_finite(level) and 0.0 < level < 1.0):
        raise ValueError(f"level={level!r} must be between 0 and 1.")
    wanted = columns_of(hypothesis)
    sizes = [checked_n(one) for one in (n if isinstance(n, list | tuple) else [n])]
    several = isinstance(distribution, list | tuple) and hypothesis.n_populations > 1
    given = list(distribution) if several else [distribution] * len(sizes)
    if len(given) != len(sizes):
        raise ValueError(f"n has {len(sizes)} numbers of reports for {len(given)} distributions.")
    problem = Problem.of(
        hypothesis,
        [
            [Reports.expected(*part) for part in planned(mechanism, size, one, wanted)]
            for size, one in zip(sizes, given, strict=True)
        ],
    )
    noncentrality, _ = problem.statistic(problem.counts())
    freedom = problem.degrees_of_freedom
    most = chi2.isf(level, freedom)
    return float(ncx2.sf(most, freedom, max(noncentrality, 1e-9)))
