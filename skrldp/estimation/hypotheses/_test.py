"""The likelihood-ratio test of a hypothesis, and its power before anybody is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2, ncx2
from sklearn.utils.validation import check_is_fitted

from skrldp._pages import page
from skrldp._params import is_finite, is_whole
from skrldp._typing import Floats
from skrldp.estimation._estimator import FrequencyEstimator
from skrldp.estimation._fit import Fit
from skrldp.estimation._plan import checked_n, distribution_of
from skrldp.estimation._threads import one_thread
from skrldp.estimation.channels import MOST_DENSE, Channel, channel_of
from skrldp.estimation.hypotheses._factors import Factor, Sample, greatest_likelihood
from skrldp.estimation.hypotheses._hypotheses import Hypothesis, Model
from skrldp.estimation.likelihood import maximise
from skrldp.estimation.reports import read_mechanism

__all__ = ["HypothesisTest", "expected_power", "likelihood_ratio_test"]

_TOL, _STEPS = 1e-4, 20_000  # nats in all, and steps, of the maximum without the hypothesis
_FAR = 4.0  # standard errors from 0 where a share is no boundary
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
        Number of reports.
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
            f"{self.n_reports:,} reports {verb} that {self.hypothesis} (p = {self.p_value:.2g}; "
            f"likelihood ratio {self.statistic:.4g}, {self._distribution})."
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
            ("p-value", f"{self.p_value:.2g}, by {self._distribution}"),
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
    reports : FrequencyEstimator
        Fitted to the reports, by maximum likelihood, without a prior and `restrict_to`.
    others : FrequencyEstimator, optional
        The same of the second population, which consists of other persons. Its mechanism may be
        another one with the same cells.
    n_simulations : int or "auto", default="auto"
        0 compares the statistic with the chi-squared distribution; a number compares it with those
        of so many sets of reports that are drawn under the hypothesis. "auto" is 200 where shares
        of the table are so near 0 that the chi-squared distribution may be wrong (within four
        standard errors), else 0.
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
        If there are no such columns, the reports do not determine the table, an estimator has a
        prior or a set, or the number of populations is another.

    Notes
    -----
    The statistic is :math:`2(\ell(\hat\pi) - \ell(\hat\pi_0))` with ℓ the log-likelihood of the
    reports, :math:`\hat\pi` its maximum and :math:`\hat\pi_0` its maximum under the hypothesis.
    The latter is over products of conditional distributions, which is not convex for independence:
    it is searched from the estimate's own products.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp import FrequencyEstimator, SRRSanitizer
    >>> from skrldp.estimation import Independence, likelihood_ratio_test
    >>> X = [["no", 0], ["no", 1], ["yes", 0], ["yes", 1]]
    >>> sanitizer = SRRSanitizer(eps=1.0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> counts = 20_000 * sanitizer.mechanism_.matrix @ [0.1, 0.2, 0.4, 0.3]
    >>> estimator = FrequencyEstimator(sanitizer).fit(range(4), sample_weight=counts.round())
    >>> test = likelihood_ratio_test(Independence(0, 1), estimator)
    >>> test.degrees_of_freedom, test.p_value < 0.01
    (1, True)
    """
    estimators = [_checked(one) for one in ([reports] if others is None else [reports, others])]
    if n_simulations != "auto" and not (is_whole(n_simulations) and n_simulations >= 0):
        raise ValueError(f"n_simulations={n_simulations!r} must be a whole number, or 'auto'.")
    if not is_whole(random_state):
        raise ValueError("random_state must be a whole number: p-values are to be repeatable.")
    models = _models(hypothesis, [one.mechanism_ for one in estimators])
    fits = [one._fit for one in estimators]
    for own, model in zip(fits, models, strict=True):
        _check_determined(hypothesis, own.channel, model)
    factors, numbers = _together(models)
    counts = [one.counts_.astype(float) for one in estimators]
    channels = [one._channel for one in estimators]
    statistic, under = _statistic(channels, counts, factors, numbers)
    n_drawn = n_simulations
    if n_simulations == "auto":
        n_drawn = 0 if all(map(_is_inside, fits, models, under)) else _SIMULATIONS
    freedom = models[0].degrees_of_freedom
    if n_drawn:
        p_value = _simulated(
            statistic, channels, counts, factors, numbers, under, int(n_drawn), random_state
        )
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
    mechanism : Mechanism, str, fitted sanitizer or Pipeline
        What will make the reports.
    n : int, or two of them
        Number of reports; of each population for two.
    distribution : JointDistribution or array of shape (a1, a2), or two of them, optional
        What the records follow; of each population for two. None is the public distribution of a
        fitted sanitizer.
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
    reports.

    Examples
    --------
    >>> from skrldp import SRRSanitizer
    >>> from skrldp.estimation import Independence, expected_power
    >>> X = [["no", 0], ["no", 1], ["yes", 0], ["yes", 1]]
    >>> sanitizer = SRRSanitizer(eps=1.0).fit(X, sample_weight=[700, 1000, 2600, 5700])
    >>> round(expected_power(Independence(0, 1), sanitizer, 20_000), 2)
    0.79
    """
    if not (is_finite(level) and 0.0 < level < 1.0):
        raise ValueError(f"level={level!r} must be between 0 and 1.")
    own, sanitizer = read_mechanism(mechanism)
    sizes = [checked_n(one) for one in (n if isinstance(n, list | tuple) else [n])]
    several = isinstance(distribution, list | tuple) and hypothesis.n_populations > 1
    given = list(distribution) if several else [distribution] * len(sizes)
    if len(given) != len(sizes):
        raise ValueError(f"n has {len(sizes)} numbers of reports for {len(given)} distributions.")
    models = _models(hypothesis, [own] * len(sizes))
    channel = channel_of(own, most_dense=MOST_DENSE)
    _check_determined(hypothesis, channel, models[0])
    factors, numbers = _together(models)
    cells = [distribution_of(own, sanitizer, one).ravel() for one in given]
    expected = [size * channel.forward(one) for size, one in zip(sizes, cells, strict=True)]
    samples = [
        Sample(channel, own_counts, numbers_of)
        for own_counts, numbers_of in zip(expected, numbers, strict=True)
    ]
    with one_thread():
        restricted, _ = greatest_likelihood(samples, factors, cells)
    free = sum(float(own @ np.log(own / own.sum())) for own in expected)
    freedom = models[0].degrees_of_freedom
    most = chi2.isf(level, freedom)
    return float(ncx2.sf(most, freedom, max(2.0 * (free - restricted), 1e-9)))


# -- how ------------------------------------------------------------------------------------------


def _checked(estimator: Any) -> FrequencyEstimator:
    if not isinstance(estimator, FrequencyEstimator):
        raise TypeError(
            f"the reports must come as fitted FrequencyEstimators, got {type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    if estimator.prior is not None or estimator.restrict_to is not None:
        raise ValueError(
            "a prior or restrict_to adds to what the reports say: fit an estimator without them."
        )
    return estimator


def _models(hypothesis: Hypothesis, mechanisms: Sequence[Any]) -> list[Model]:
    if len(mechanisms) != hypothesis.n_populations:
        raise ValueError(
            f"{hypothesis}: this is about {hypothesis.n_populations} populations, but there are "
            f"reports of {len(mechanisms)}."
        )
    models = [hypothesis.model(one) for one in mechanisms]
    for model in models[1:]:
        if model.groups.categories != models[0].groups.categories:
            raise ValueError(
                f"{hypothesis}: the two mechanisms have other categories of these columns. Declare "
                "the same for both."
            )
    return models


def _check_determined(hypothesis: Hypothesis, channel: Channel, model: Model) -> None:
    if not channel.determines(model.groups.indicators).all():
        raise ValueError(
            f"{hypothesis}: the reports do not determine the shares of "
            f"{', '.join(map(repr, model.groups.name))}, however many there are."
        )


def _together(models: Sequence[Model]) -> tuple[list[Factor], list[tuple[int, ...]]]:
    """List the factors of all populations, and which each has; shared ones stand once."""
    factors = list(models[0].factors)
    numbers = [tuple(range(len(factors)))]
    for model in models[1:]:
        own = []
        for place, (factor, shared) in enumerate(zip(model.factors, model.shared, strict=True)):
            if not shared:
                factors.append(factor)
            own.append(place if shared else len(factors) - 1)
        numbers.append(tuple(own))
    return factors, numbers


def _statistic(
    channels: Sequence[Channel],
    counts: Sequence[Floats],
    factors: Sequence[Factor],
    numbers: Sequence[tuple[int, ...]],
) -> tuple[float, list[Floats]]:
    """Twice the log-likelihood ratio, and the likeliest distributions under the hypothesis."""
    free, starts = 0.0, []
    with one_thread():
        for channel, own in zip(channels, counts, strict=True):
            n = float(own.sum())
            best = maximise(channel, own / n, _TOL / n, _STEPS)
            free += n * best.log_likelihood
            starts.append(best.distribution)
        samples = [Sample(*parts) for parts in zip(channels, counts, numbers, strict=True)]
        restricted, under = greatest_likelihood(samples, factors, starts)
    return max(0.0, 2.0 * (free - restricted)), under


def _is_inside(fit: Fit, model: Model, under: Floats) -> bool:
    """Whether all shares of the table are some standard errors above 0, under the hypothesis."""
    functions = model.groups.indicators
    errors = np.sqrt(np.maximum(np.diag(fit.covariance(functions, free=True)), 0.0))
    return bool((functions @ under > _FAR * errors).all())


def _simulated(
    statistic: float,
    channels: Sequence[Channel],
    counts: Sequence[Floats],
    factors: Sequence[Factor],
    numbers: Sequence[tuple[int, ...]],
    under: Sequence[Floats],
    n_simulations: int,
    seed: int,
) -> float:
    """Share of simulated sets of reports with a statistic at least as large, with this one."""
    rng = np.random.default_rng(seed)
    reports = [channel.forward(one) for channel, one in zip(channels, under, strict=True)]
    reached = 1
    for _ in range(n_simulations):
        drawn = [
            rng.multinomial(int(own.sum()), report / report.sum()).astype(float)
            for own, report in zip(counts, reports, strict=True)
        ]
        reached += _statistic(channels, drawn, factors, numbers)[0] >= statistic
    return reached / (n_simulations + 1)
