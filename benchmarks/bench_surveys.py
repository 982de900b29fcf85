"""How often the sets of surveys hold the true distribution, how wide they are, and what they cost.

Tables of 18 designs are drawn: clusters whose own distributions are Dirichlet's, with an intraclass
correlation; strata with distributions of their own; people of two or three kinds, whose weights
differ and who answer differently. Everybody is in the sample with a probability inverse to their
weight. Beside the set that takes all records for independent stand the one corrected for the design
and the exact one. At the end, finite populations, and the time of a million records. ``--quick``
draws 100 tables a design, and makes no mechanisms; ``--tables 2000`` says how many to draw.
"""

import argparse
import time
import warnings
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from skrldp import (
    JointDistribution,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    SurveyDesign,
)
from skrldp.surveys import SurveyRecords, SurveyTotals, independent_part

ASYMPTOTIC = LikelihoodRatioSet(radius="asymptotic")


@dataclass(frozen=True)
class Case:
    """A design: `size` people are expected of each cluster, or `clusters` records in all."""

    shape: tuple[int, int]
    clusters: int
    size: int = 1
    correlation: float = 0.0
    weights: tuple[float, ...] = (1.0,)
    strata: int = 1
    rare: str = ""  # "some" cells are rare, or "most": all but one value of each secret

    def __str__(self):
        words = f"{self.clusters:,} records" if self.size == 1 else ""
        if self.size > 1:
            words = f"{self.clusters} clusters of {self.size}, correlation {self.correlation:g}"
        if self.strata > 1:
            words += f", {self.strata} strata"
        if len(self.weights) > 1:
            words += ", weights " + ":".join(f"{w:g}" for w in self.weights)
        words += f", {self.rare} cells rare" if self.rare else ""
        return f"{words}, {self.shape[0]} x {self.shape[1]}"


CASES = (
    Case((2, 5), 100, 20, 0.05),
    Case((2, 5), 100, 20, 0.1),
    Case((2, 5), 30, 50, 0.1),
    Case((2, 5), 20, 50, 0.05),
    Case((2, 4), 12, 100, 0.05),
    Case((2, 20), 60, 40, 0.1),
    Case((4, 6), 100, 20, 0.05),
    Case((6, 6), 300, 10, 0.2),
    Case((3, 4), 50, 40, 0.3),
    Case((2, 5), 2_000, weights=(1.0, 4.0)),
    Case((6, 4), 5_000, weights=(1.0, 3.0, 10.0)),
    Case((3, 8), 1_000),
    Case((2, 5), 100, 20, 0.05, (1.0, 4.0)),
    Case((2, 20), 60, 40, 0.1, (1.0, 4.0), rare="some"),
    Case((2, 10), 200, 15, 0.05, (1.0, 4.0), rare="some"),
    Case((3, 5), 100, 20, 0.05, (1.0, 2.0, 4.0), strata=4),
    Case((2, 20), 100, 20, 0.1, rare="most"),
    Case((2, 20), 60, 40, 0.5, rare="most"),
)


class Population:
    """Distributions of strata and of the kinds of people, and their mean: the truth."""

    def __init__(self, case, rng):
        cells = case.shape[0] * case.shape[1]
        base = np.linspace(1.0, 4.0, cells)
        if case.rare == "most":
            base = np.where(np.arange(cells) % case.shape[1] > 0, 0.001, 0.481)
        if case.rare == "some":
            base = np.where(np.arange(cells) % 4 == 3, 0.02, base)
        self.case = case
        mix = np.array if case.rare == "most" else rng.permutation
        self.strata = np.array([mix(base) for _ in range(case.strata)])
        self.strata /= self.strata.sum(axis=1, keepdims=True)
        self.kinds = rng.dirichlet(np.full(len(case.weights), 4.0), size=cells)
        self.truth = self.strata.mean(axis=0).reshape(case.shape)

    def draw(self, rng):
        """Draw a sample: the design of its records, and their cells."""
        case = self.case
        stratum = np.arange(case.clusters) * case.strata // case.clusters
        own = self.strata[stratum]
        if case.correlation:
            spread = (1.0 - case.correlation) / case.correlation
            gammas = rng.gamma(np.maximum(own * spread, 1e-12))
            own = gammas / gammas.sum(axis=1, keepdims=True)
        weights = np.array(case.weights)
        chance = self.kinds / weights  # of being drawn, for each cell and kind
        chance = chance / chance.sum(axis=1).mean()
        mean = case.size * own[:, :, None] * chance
        if case.size == 1:  # one stratum, records one by one
            mean = case.clusters * own[:1, :, None] * chance
        counts = rng.poisson(mean)
        found = np.stack(np.nonzero(counts))
        cluster, cell, kind = np.repeat(found, counts[tuple(found)], axis=1)
        if case.size == 1:
            cluster = np.arange(len(cell))
            stratum = np.zeros(len(cell), dtype=int)
        present, code = np.unique(cluster, return_inverse=True)
        own = np.full(case.strata, self.max_weight())
        return SurveyRecords(weights[kind], stratum[present][code], code, max_weights=own), cell

    def max_weight(self):
        """The greatest sum of weights of a cluster that is to be expected, or of a record."""
        case = self.case
        if case.size == 1:
            return max(case.weights)
        return 4.0 * case.size * max(case.weights)


def joint_of(records, cells, shape):
    counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    return JointDistribution(counts, survey=SurveyTotals.of(records, cells, counts.size))


def kept_of(population, records, cells, rng):
    """The independent part of a sample, if any record is left."""
    content = [one.tobytes() for one in rng.integers(2**62, size=len(cells))]
    kept = independent_part(records, content)
    counts = np.bincount(cells[kept], minlength=population.truth.size)
    return JointDistribution(counts.reshape(population.case.shape)) if kept.any() else None


def coverage(population, tables, rng):
    """Shares of tables whose set holds the truth, and median bounds of pairs, in nats a record."""
    held, widths = np.zeros(3), []
    has_exact = population.case.strata == 1  # the sizes of strata are not drawn
    for _ in range(tables):
        records, cells = population.draw(rng)
        joint = joint_of(records, cells, population.case.shape)
        sets = [(JointDistribution(joint.counts), ASYMPTOTIC), (joint, ASYMPTOTIC)]
        if has_exact:
            sets.append((kept_of(population, records, cells, rng), LikelihoodRatioSet()))
        row = []
        for place, (table, rule) in enumerate(sets):
            if table is None:  # no record is left, and nothing is claimed
                held[place] += 1.0
                row.append(np.inf)
                continue
            around = rule.fit_set(table)
            held[place] += around.contains(table, population.truth)
            row.append(around.pair)
        widths.append(row)
    without = [] if has_exact else [np.nan]
    shares = held[: len(sets)] / tables
    return [*shares, *without], [*np.median(widths, axis=0), *without]


def utility(population, rng, seconds):
    """Normalised mutual information at eps=1 of one table, for each of the three sets."""
    case = population.case
    records, cells = population.draw(rng)
    secret, value = np.divmod(cells, case.shape[1])
    frame = pd.DataFrame(
        {
            "s": secret,
            "u": value,
            "weight": records.weights,
            "stratum": records.strata,
            "cluster": records.clusters,
        }
    )
    values = {"s": list(range(case.shape[0])), "u": list(range(case.shape[1]))}
    clusters = None if case.size == 1 else "cluster"
    strata = "stratum" if case.strata > 1 else None
    stated = {"weights": "weight", "strata": strata, "clusters": clusters}
    of_design = SurveyDesign(**stated)
    exact = SurveyDesign(**stated, max_weight=population.max_weight())
    found = []
    for survey, rule in (None, ASYMPTOTIC), (of_design, ASYMPTOTIC), (exact, LikelihoodRatioSet()):
        if rule is not ASYMPTOTIC and case.strata > 1:
            found.append(np.nan)
            continue
        table = frame if survey else frame[["s", "u"]]
        if survey:
            table = frame[["s", "u", *survey.columns]]
        made = PolyOptSanitizer(
            1.0,
            sensitive="s",
            survey=survey,
            categories=values,
            uncertainty=rule,
            time_limit=seconds,
        ).fit(table)
        told = made.mechanism_.mutual_information(population.truth)
        found.append(told / entropy(population.truth))
    return found


def entropy(distribution):
    return -(distribution * np.log(distribution)).sum()


def large():
    """Print the processor time of a million records in 5,000 clusters and 240 cells."""
    rng, n = np.random.default_rng(0), 10**6
    cells = rng.integers(240, size=n)
    records = SurveyRecords(rng.choice([1.0, 2.5], n), np.zeros(n, int), np.arange(n) // 200)
    start = time.process_time()
    joint = joint_of(records, cells, (15, 16))
    ASYMPTOTIC.fit_set(joint)
    print(f"\n10^6 records, 5,000 clusters, 240 cells: {time.process_time() - start:.2f} s")


def finite(tables, population=2_000):
    """Print how often sets hold a finite population's distribution, and that of its other people.

    Samples are drawn without replacement. The set that is widened has the bound of pairs, times
    N / (N - n), for each secret and each two.
    """
    truth = np.array([[1, 2, 3, 4, 5], [5, 3, 3, 2, 2]]) / 30
    print(f"\nSamples without replacement from {population:,} people, 2 x 5: sets that hold")
    print(f"{'rule':<15}{'n':>6}{'all':>9}{'the rest':>10}{'the rest, widened':>19}")
    for rule, n in product(("finite-sample", "asymptotic"), (200, 1_000, 1_800)):
        rng, held = np.random.default_rng(n), np.zeros(3)
        for _ in range(tables):
            people = rng.multinomial(population, truth.ravel())
            sample = rng.multivariate_hypergeometric(people, n)
            people, sample = people.reshape(2, 5), sample.reshape(2, 5)
            joint = JointDistribution(sample)
            around = LikelihoodRatioSet(radius=rule).fit_set(joint)
            factor = population / (population - n)
            wider = LikelihoodRatioSet(radius=around.pair * factor).fit_set(joint)
            rest = (people - sample) / (population - n)
            held[0] += around.contains(joint, people / population)
            held[1] += around.contains(joint, rest)
            held[2] += wider.contains(joint, rest)
        shares = held / tables
        print(f"{rule:<15}{n:>6,}{shares[0]:>9.4f}{shares[1]:>10.4f}{shares[2]:>19.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tables", type=int, default=2_000)
    parser.add_argument("--only", type=int, help="the number of one design, from 0")
    asked = parser.parse_args()
    tables = 100 if asked.quick else asked.tables
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    warnings.filterwarnings("ignore", message="the design stopped")
    print(f"{tables:,} tables a design; beta = .05; bounds of pairs in 1/1000 nats; NMI at eps=1")
    print(f"{'design':<64}{'coverage':^24}{'bound':^24}{'NMI':^24}")
    names = "".join(f"{name:>8}" for name in ("naive", "design", "exact"))
    print(f"{'':<64}{names}{names}{names}")
    for place, case in enumerate(CASES):
        if asked.only not in (None, place):
            continue
        rng = np.random.default_rng(place)
        population = Population(case, rng)
        held, widths = coverage(population, tables, rng)
        told = [np.nan] * 3 if asked.quick else utility(population, rng, 10.0)
        shares = "".join(f"{share:>8.4f}" for share in held)
        print(
            f"{case!s:<64}{shares}{''.join(f'{1e3 * w:>8.2f}' for w in widths)}"
            f"{''.join(f'{t:>8.3f}' for t in told)}",
            flush=True,
        )
    finite(tables)
    large()


if __name__ == "__main__":
    main()
