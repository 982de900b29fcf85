"""The reports that bear on a hypothesis, by mechanism, and the ratio of their likelihoods."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skrldp._typing import Floats
from skrldp.estimation._estimator import FrequencyEstimator
from skrldp.estimation._fit import Fit, most_likely
from skrldp.estimation._fitted import by_reports_alone
from skrldp.estimation._plan import distribution_of
from skrldp.estimation._threads import one_thread
from skrldp.estimation.channels import MOST_DENSE, Channel, channel_of
from skrldp.estimation.hypotheses._factors import Factor, Sample, greatest_likelihood
from skrldp.estimation.hypotheses._hypotheses import Hypothesis, Model, SameDistribution
from skrldp.estimation.likelihood import maximise
from skrldp.estimation.reports import read_mechanism
from skrldp.estimation.wide import BlockEstimator, blocks_with, expected_blocks
from skrldp.mechanism import Manifest, Mechanism
from skrldp.sanitizers import as_block_sanitizer

__all__ = ["Problem", "Reports", "planned", "samples_of"]

_TOL, _STEPS = 1e-4, 20_000  # nats in all, and steps, of the maximum without the hypothesis
_FAR = 4.0  # standard errors from 0 where a share is no boundary
_ENOUGH = 0.1  # of the simulations: no more are drawn once so many reach the statistic


class Reports(NamedTuple):
    """Reports of one mechanism about one population."""

    record: Mechanism
    channel: Channel
    counts: Floats  # (b,)
    fit: Fit | None = None  # None for expected reports

    @staticmethod
    def expected(record: Mechanism, cells: Floats, n: float) -> "Reports":
        """Expect n reports about records with a distribution (a,)."""
        channel = channel_of(record, most_dense=MOST_DENSE)
        return Reports(record, channel, n * channel.forward(cells))


def samples_of(estimator: Any, wanted: Sequence[Any]) -> list[Reports]:
    """Return the reports that tell how some columns go together, by mechanism."""
    if not isinstance(estimator, FrequencyEstimator | BlockEstimator):
        raise TypeError(
            "the reports must come as fitted FrequencyEstimators or BlockEstimators, got "
            f"{type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    if isinstance(estimator, BlockEstimator):
        return _of_blocks(estimator, wanted)
    by_reports_alone(estimator)
    counts = estimator.counts_.astype(float)
    return [Reports(estimator.mechanism_, estimator._channel, counts, estimator._fit)]


def _of_blocks(estimator: BlockEstimator, wanted: Sequence[Any]) -> list[Reports]:
    manifest, found = estimator.manifest_, []
    numbers = blocks_with(manifest, wanted)
    for number in numbers:
        record, counts = manifest.mechanisms[number], estimator.counts_[number].astype(float)
        if counts.any():
            channel = channel_of(record, most_dense=MOST_DENSE)
            with one_thread():
                fit, _ = most_likely(channel, counts, None, None, _TOL / counts.sum(), _STEPS)
            found.append(Reports(record, channel, counts, fit))
    if not found:
        blocks = ", ".join(f"({', '.join(map(repr, manifest.blocks[k]))})" for k in numbers)
        raise ValueError(
            f"no report is of a block that has the columns {list(wanted)}: these are {blocks}. "
            "Wait for reports of them."
        )
    return found


def planned(
    mechanism: Any, n: float, distribution: Any, wanted: Sequence[Any]
) -> list[tuple[Mechanism, Floats, float]]:
    """Give the mechanisms that tell how columns go together, the cells' distributions, reports."""
    if isinstance(mechanism, Manifest) or as_block_sanitizer(mechanism) is not None:
        return expected_blocks(mechanism, n, distribution, wanted)
    own, sanitizer = read_mechanism(mechanism)
    return [(own, distribution_of(own, sanitizer, distribution).ravel(), n)]


class Problem(NamedTuple):
    """A hypothesis about the reports of one or two populations.

    Those of blocks are several samples of one population, which have the table in common.
    """

    populations: list[list[Reports]]
    models: list[list[Model]]  # of each
    factors: list[Factor]  # of all; those in common stand once
    numbers: list[list[tuple[int, ...]]]  # which each sample has

    @classmethod
    def of(cls, hypothesis: Hypothesis, populations: Sequence[list[Reports]]) -> "Problem":
        """Check that the reports determine the table, and list the factors."""
        if len(populations) != hypothesis.n_populations:
            raise ValueError(
                f"{hypothesis}: this is about {hypothesis.n_populations} populations, but there "
                f"are reports of {len(populations)}. Two are given as likelihood_ratio_test("
                "hypothesis, reports, others) and expected_power(hypothesis, mechanism, [n1, n2])."
            )
        used, models = [], []
        for samples in populations:
            both = [(one, hypothesis.model(one.record)) for one in samples]
            kept = [
                (one, model)
                for one, model in both
                if one.channel.determines(model.groups.indicators).all()
            ]
            if not kept:
                raise ValueError(
                    f"{hypothesis}: the reports do not determine the shares of "
                    f"{', '.join(map(repr, both[0][1].groups.name))}, however many there are."
                )
            used.append([one for one, _ in kept])
            models.append([model for _, model in kept])
        table = models[0][0].groups.categories
        if any(model.groups.categories != table for own in models for model in own):
            raise ValueError(
                f"{hypothesis}: the mechanisms have other categories of these columns. Declare "
                "the same for all."
            )
        return cls(used, models, *_together(models))

    @property
    def degrees_of_freedom(self) -> int:
        return self.models[0][0].degrees_of_freedom

    def counts(self) -> list[Floats]:
        """Return the counts of all samples."""
        return [one.counts for samples in self.populations for one in samples]

    def samples(self, counts: Sequence[Floats]) -> tuple[list[Sample], list[Factor]]:
        """Return samples with these counts in place of theirs, under the hypothesis; factors."""
        channels = [one.channel for samples in self.populations for one in samples]
        factors = [model.factors for models in self.models for model in models]
        numbers = [number for own in self.numbers for number in own]
        found = zip(channels, counts, factors, numbers, strict=True)
        return [Sample(*parts) for parts in found], self.factors

    def statistic(self, counts: Sequence[Floats]) -> tuple[float, list[Floats]]:
        """Twice the log-likelihood ratio, and the likeliest distributions under the hypothesis."""
        free, starts = 0.0, list[Floats]()
        with one_thread():
            for samples, models in zip(self.populations, self.models, strict=True):
                own = counts[len(starts) : len(starts) + len(samples)]
                likely, cells = _without_hypothesis(samples, models, own)
                free += likely
                starts += cells
            restricted, under = greatest_likelihood(*self.samples(counts), starts)
        return max(0.0, 2.0 * (free - restricted)), under

    def is_inside(self, under: Sequence[Floats]) -> bool:
        """Whether all shares of the tables are some standard errors above 0.

        And have standard errors: zeros of cells leave them less room even if the shares are large.
        """
        place, inside = 0, True
        for samples, models in zip(self.populations, self.models, strict=True):
            functions = models[0].groups.indicators
            errors = np.full(len(functions), np.inf)
            for one, model in zip(samples, models, strict=True):
                assert one.fit is not None
                errors = np.fmin(errors, one.fit.evaluate(model.groups.indicators)[1])
            inside &= bool((functions @ under[place] > _FAR * errors).all())
            place += len(samples)
        return inside

    def simulated(
        self, statistic: float, under: Sequence[Floats], n_simulations: int, seed: int
    ) -> tuple[float, int]:
        """Share of simulated sets of reports with a statistic at least as large, and their number.

        The share counts the reports themselves as well, unless drawing ended early (Besag and
        Clifford 1991): either way it is at most α in at most a part α of samples.
        """
        rng = np.random.default_rng(seed)
        counts = self.counts()
        samples, _ = self.samples(counts)
        reports = [one.channel.forward(cells) for one, cells in zip(samples, under, strict=True)]
        reached, enough = 0, int(np.ceil(_ENOUGH * n_simulations))
        for number in range(1, n_simulations + 1):
            drawn = [
                rng.multinomial(int(own.sum()), report / report.sum()).astype(float)
                for own, report in zip(counts, reports, strict=True)
            ]
            reached += self.statistic(drawn)[0] >= statistic
            if reached == enough:
                return reached / number, number
        return (reached + 1) / (n_simulations + 1), n_simulations


def _together(
    populations: Sequence[Sequence[Model]],
) -> tuple[list[Factor], list[list[tuple[int, ...]]]]:
    """List the factors of all samples, and which each has; those in common stand once."""
    factors: list[Factor] = []
    numbers: list[list[tuple[int, ...]]] = []
    for models in populations:
        of_population: list[tuple[int, ...]] = []
        for model in models:
            own = []
            for place, (factor, shared) in enumerate(zip(model.factors, model.shared, strict=True)):
                if of_population and place < len(model.factors) - 1:  # the last is the sample's own
                    own.append(of_population[0][place])
                elif numbers and shared:
                    own.append(numbers[0][0][place])
                else:
                    factors.append(factor)
                    own.append(len(factors) - 1)
            of_population.append(tuple(own))
        numbers.append(of_population)
    return factors, numbers


def _without_hypothesis(
    samples: Sequence[Reports], models: Sequence[Model], counts: Sequence[Floats]
) -> tuple[float, list[Floats]]:
    """Return the greatest log-likelihood of a population's reports, and the distributions."""
    total, cells = 0.0, []
    for one, own in zip(samples, counts, strict=True):
        n = float(own.sum())
        best = maximise(one.channel, own / n, _TOL / n, _STEPS)
        total += n * best.log_likelihood
        cells.append(best.distribution)
    if len(samples) == 1:
        return total, cells
    same = SameDistribution(list(models[0].groups.name))
    tables = [same.model(one.record) for one in samples]
    factors, (numbers,) = _together([tables])
    parts = [
        Sample(one.channel, own, table.factors, number)
        for one, own, table, number in zip(samples, counts, tables, numbers, strict=True)
    ]
    return greatest_likelihood(parts, factors, cells)
