"""Errors of designs after a pilot of private reports, for the page "No public table".

Errors of the shares of U at ε = 1 are relative to those of raw records, and root mean squares over
populations and samples of reports. Each population has conditionals of U drawn from a Dirichlet
distribution (``--concentration``, 1 for uniform) and equally likely secrets. "Known" is the design
for the population itself, which no table or pilot can beat.
"""

import argparse
import time
import warnings

import numpy as np
from leaderboard.approaches import reordered
from leaderboard.measures import Spread, mean_square, sample

from skrldp import AOptimalSanitizer, FrequencyEstimator, RenyiBall
from skrldp.targets import Marginal

SHAPES = (2, 4), (2, 8), (3, 6)
SIZES = 2_000, 5_000, 20_000, 100_000, 500_000
PHASES = (5_000, 15_000), (10_000, 10_000)  # whole records, then all cells
POPULATIONS, SAMPLES = 3, 2
WHOLE = {"sensitive": slice(None), "targets": "all"}


class Population:
    """A distribution of (S, U) with the designs and errors that it has."""

    def __init__(self, shape, concentration, rng):
        self.shape = shape
        self.categories = [list(range(size)) for size in shape]
        self.truth = rng.dirichlet(np.full(shape[1], concentration), size=shape[0]) / shape[0]
        self.rows = np.stack([*np.indices(shape)], axis=-1).reshape(-1, 2)

    def fitted(self, X=None, sample_weight=None, **options):
        """Fit a sanitizer."""
        options = {"sensitive": 0, "categories": self.categories, **options}
        return AOptimalSanitizer(**options).fit(X, sample_weight=sample_weight)

    def knowing(self, **options):
        """Design for the population itself."""
        return self.fitted(self.rows, np.rint(1e9 * self.truth).ravel(), **options)

    def matrix(self, sanitizer):
        """Probabilities of the reports given the cells, (b, a)."""
        return reordered(
            sanitizer.mechanism_, [(s,) for s in range(self.shape[0])],
            [(u,) for u in range(self.shape[1])],
        )  # fmt: skip

    def error(self, sanitizer):
        """Error of the shares of U relative to that of raw records."""
        own = np.tile(np.eye(self.shape[1]), self.shape[0])
        raw = Spread(np.eye(self.truth.size), self.truth).errors(own)
        return mean_square(Spread(self.matrix(sanitizer), self.truth).errors(own)) / mean_square(
            raw
        )

    def reports(self, sanitizer, n, rng):
        """Draw reports of n people."""
        counts = sample(self.matrix(sanitizer), self.truth, n, rng)
        estimator = FrequencyEstimator(sanitizer, encode="symbol")
        return estimator.fit(range(len(counts)), sample_weight=counts)


def errors_of(population, rng):
    """Errors by name, and the largest optimality gap of a design."""
    pilot, found, gaps = population.fitted(**WHOLE), {}, [0.0]
    best = population.knowing(sensitive=slice(None), targets=[Marginal(1)])
    found["whole records"] = [population.error(best)]
    known = population.knowing(uncertainty=RenyiBall(radius=0.0))
    found["known"] = [population.error(known)]
    for n in SIZES:
        for _ in range(SAMPLES):
            design = population.fitted(population.reports(pilot, n, rng))
            found.setdefault(f"{n:,}", []).append(population.error(design))
            gaps.append(abs(design.solution_.objective / design.solution_.bound - 1.0))
    for first, second in PHASES:
        for _ in range(SAMPLES):
            waves = [population.reports(pilot, first, rng)]
            middle = population.fitted(waves, targets="all")
            waves.append(population.reports(middle, second, rng))
            design = population.fitted(waves)
            found.setdefault(f"{first:,} + {second:,}", []).append(population.error(design))
    return found, max(gaps)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--concentration", type=float, default=1.0)
    concentration = parser.parse_args().concentration
    warnings.simplefilter("ignore")
    for shape in SHAPES:
        start, total, largest = time.process_time(), {}, 0.0
        for seed in range(POPULATIONS):
            rng = np.random.default_rng(seed)
            found, gap = errors_of(Population(shape, concentration, rng), rng)
            largest = max(largest, gap)
            for name, errors in found.items():
                total.setdefault(name, []).extend(errors)
        shown = (f"{name}: {mean_square(errors):.2f}" for name, errors in total.items())
        print(f"{shape[0]} x {shape[1]}:", ", ".join(shown), f"(gap {largest:.3f},",
              f"{time.process_time() - start:.0f} s)", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
